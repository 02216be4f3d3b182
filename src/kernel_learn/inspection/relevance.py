"""Which columns matter, and how surely."""

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array
from kernel_learn.inspection.drawing import Axes, Option, bar_height, draw_bars, make_axes
from kernel_learn.inspection.reading import RELEVANCES, find_fitted, read_relevance


class RelevanceDisplay:
    """Relevance of columns, the largest on top, with the spread over cross-validation folds.

    Parameters
    ----------
    relevance : ndarray of shape (n_features,)
        A number for each column.
    names : list of str
        Of the columns.
    spread : ndarray of shape (n_features,), optional
        Its standard deviation over cross-validation folds.
    xlabel : str
        What the numbers are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn import KernelClassifier
    >>> from kernel_learn.inspection import RelevanceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = RelevanceDisplay.from_estimator(KernelClassifier(quality="fast").fit(X, y))
    """

    def __init__(
        self,
        *,
        relevance: Array,
        names: list[str],
        spread: Array | None = None,
        xlabel: str = "relevance",
    ) -> None:
        self.relevance = relevance
        self.spread = spread
        self.names = names
        self.xlabel = xlabel

    def plot(self, ax: Axes | None = None, *, max_features: int = 15, **options: Option) -> Self:
        """Draw the most relevant columns.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None: a new figure.
        max_features : int
            At most so many bars.
        **options
            For ``Axes.barh``.
        """
        shown = np.argsort(-self.relevance, kind="stable")[:max_features]
        ax = make_axes(ax, bar_height(len(shown)))
        spread = None if self.spread is None else self.spread[shown]
        names = [self.names[i] for i in shown]
        draw_bars(ax, self.relevance[shown], names, spread, **options)
        ax.set_xlabel(self.xlabel)
        if len(shown) < len(self.relevance):
            ax.set_title(f"{len(shown)} of {len(self.relevance)} columns", fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        ax: Axes | None = None,
        max_features: int = 15,
        **options: Option,
    ) -> Self:
        """Draw ``feature_relevance_`` with its spread, or ``scales_`` of a ``FeatureScales``."""
        found = read_relevance(find_fitted(estimator, *RELEVANCES, display=cls.__name__))
        xlabel = "scale of the column" if found.spread is None else "share of the squared gradient"
        display = cls(relevance=found.values, names=found.names, spread=found.spread, xlabel=xlabel)
        return display.plot(ax, max_features=max_features, **options)
