"""Which columns matter, and how surely."""

from typing import Any, Self

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.inspection.drawing import axes, bar_height, draw_bars
from kernel_learn.inspection.reading import column_names, find_part


def read_relevance(estimator: Any, display: str = "RelevanceDisplay") -> tuple[Any, Any, list[str]]:
    """Relevance or scale of each column, its spread (or None), the columns' names."""
    part, steps = find_part(estimator, "feature_relevance_", "scales_", display=display)
    if getattr(part, "feature_relevance_", None) is not None:
        values = np.asarray(part.feature_relevance_, dtype=float)
        spread = np.asarray(part.feature_relevance_std_, dtype=float)
    else:
        values, spread = np.abs(np.asarray(part.scales_, dtype=float)), None
    return values, spread, column_names(part, steps, len(values))


class RelevanceDisplay:
    """Relevance of columns, the largest on top, with the spread between parts of the rows.

    Parameters
    ----------
    relevance : ndarray of shape (n_features,)
        A number for each column.
    names : list of str
        Of the columns.
    spread : ndarray of shape (n_features,), optional
        Its standard deviation between parts of the rows.
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

    def plot(self, ax: Any = None, *, max_features: int = 15, **options: Any) -> Self:
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
        ax = axes(ax, bar_height(len(shown)))
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
        cls, estimator: Any, *, ax: Any = None, max_features: int = 15, **options: Any
    ) -> Self:
        """Draw ``feature_relevance_`` with its spread, or ``scales_`` of a ``FeatureScales``."""
        values, spread, names = read_relevance(estimator, cls.__name__)
        xlabel = "scale of the column" if spread is None else "share of the squared gradient"
        display = cls(relevance=values, names=names, spread=spread, xlabel=xlabel)
        return display.plot(ax, max_features=max_features, **options)
