"""Kernel matrices with rows in the order of their classes, before and after learning."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array, Rows
from kernel_learn.inspection.drawing import COLORS, Axes, Option, literal, make_panels
from kernel_learn.inspection.reading import find_fitted, some_rows
from kernel_learn.rows.access import take_rows
from kernel_learn.rows.named_columns import take_named
from kernel_learn.rows.short_names import shorten


class GramDisplay:
    """Kernel matrix ordered by class: light blocks on the diagonal are classes of similar rows.

    Parameters
    ----------
    matrices : dict of title to ndarray of shape (n, n)
        Kernel matrices of the same rows.
    labels : array-like of shape (n,)
        Classes, by which rows are ordered.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes, one for each matrix
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn import HSICSubspace
    >>> from kernel_learn.inspection import GramDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = GramDisplay.from_estimator(HSICSubspace().fit(X, y), X, y)
    """

    def __init__(self, *, matrices: dict[str, Array], labels: ArrayLike) -> None:
        self.matrices = matrices
        self.labels = np.asarray(labels)

    def plot(self, ax: Axes | None = None, **options: Option) -> Self:
        """Draw the matrices side by side.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Is divided where there are two matrices.
        **options
            For ``Axes.imshow``.
        """
        grid = make_panels(ax, 1, len(self.matrices), (2.6, 2.6))[0]
        classes, counts = np.unique(self.labels, return_counts=True)
        order = np.argsort(self.labels, kind="stable")
        ends = np.cumsum(counts)
        for panel, (title, K) in zip(grid, self.matrices.items(), strict=True):
            low, high = np.quantile(K, [0.01, 0.99])  # a few large values would dim all others
            look = {"cmap": "cividis", "vmin": low, "vmax": high, "interpolation": "nearest"}
            panel.imshow(K[np.ix_(order, order)], **{**look, **options})
            for end in ends[:-1]:
                panel.axhline(end - 0.5, color="white", linewidth=0.8)
                panel.axvline(end - 0.5, color="white", linewidth=0.8)
            panel.set_title(literal(title), fontsize="medium")
            panel.set_xticks([])
            panel.set_yticks([])
        if len(classes) <= 12:
            names = [literal(shorten(str(label), 12)) for label in classes]
            grid[0].set_yticks(ends - counts / 2 - 0.5, names, fontsize="small")
            grid[0].tick_params(axis="y", length=0, labelcolor=COLORS[-1])
        self.ax_, self.figure_ = grid, grid[0].figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Rows,
        y: ArrayLike,
        *,
        max_rows: int = 300,
        random_state: int | np.random.RandomState | None = 0,
        ax: Axes | None = None,
        **options: Option,
    ) -> Self:
        """Draw ``base_kernel_`` (where there is one) and ``kernel_`` on rows X.

        Parameters
        ----------
        estimator : fitted estimator, Pipeline or search
            Fitted; a Pipeline or a search that holds one will do.
        X : rows
            As at fit.
        y : array-like
            Their labels.
        max_rows : int
            Of more rows as many are drawn, each class in its share.
        random_state : int, RandomState instance or None
            Draws them.
        ax : matplotlib Axes, optional
            Where to draw; None: a new figure.
        **options
            For ``Axes.imshow``.
        """
        found = find_fitted(estimator, "kernel_", display=cls.__name__)
        X, y = take_named({"X": X, "y": y}).values()
        labels = np.asarray(y)
        rows = some_rows(labels, max_rows, random_state)
        seen = found.see_checked(take_rows(X, rows))
        matrices = {}
        if hasattr(found.step, "base_kernel_"):
            matrices["before learning"] = found.step.base_kernel_(seen)
        matrices["after learning" if matrices else "learned kernel"] = found.step.kernel_(seen)
        return cls(matrices=matrices, labels=labels[rows]).plot(ax, **options)
