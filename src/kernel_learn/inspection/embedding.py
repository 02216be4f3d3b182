"""Learned features: rows as points, coloured by class."""

from collections.abc import Hashable, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array, Rows
from kernel_learn.inspection.drawing import (
    DARK,
    QUIET,
    Axes,
    Option,
    Points,
    class_style,
    literal,
    make_axes,
    make_panels,
    remove_box,
)
from kernel_learn.inspection.reading import find_fitted, some_rows
from kernel_learn.rows.access import n_rows, take_rows
from kernel_learn.rows.named_columns import take_named
from kernel_learn.rows.short_names import LONGEST, shorten_all

Label = Hashable
Look = dict[str, Option]  # for Axes.scatter
MOST_LEGEND, MOST_NAMES = 16, 14  # classes in a legend; names in a picture of more
LETTER, LINE = 0.021, 0.06  # width and height of words, as shares of a picture
GOLDEN = 0.6180339887498949  # steps of this share of a period never meet: an even jitter


def labels_or_one(y: ArrayLike | None, n: int) -> Array:
    """The labels; empty ones where there are none."""
    labels = np.full(n, "") if y is None else np.asarray(y)
    if len(labels) != n:
        raise ValueError(f"There are {n} rows and {len(labels)} labels; each row needs one.")
    return labels


def groups_that_show(F: Array, labels: Array, classes: Sequence[Label]) -> dict[Label, Array]:
    """Where names of classes can stand in a plane of very many: those that lie most apart.

    A class lies apart by the distance of its median to the next one, over the spread of its
    rows; a name that would lie upon another is left out.
    """
    size = np.ptp(F, axis=0)
    places = F / np.where(size > 0, size, 1.0)
    known = [label for label in classes if np.any(labels == label)]
    middles = np.array([np.median(places[labels == label], axis=0) for label in known])
    spread = np.array([np.std(places[labels == label]) for label in known]) + 1e-3
    apart = np.linalg.norm(middles[:, None] - middles, axis=2)
    np.fill_diagonal(apart, np.inf)
    room = [0.5 * LETTER * min(len(str(label)), LONGEST) for label in known]
    chosen: list[int] = []
    for i in np.argsort(-apart.min(axis=1) / spread, kind="stable"):
        gaps = np.abs(middles[chosen] - middles[i]) if chosen else np.empty((0, 2))
        wide = gaps[:, 0] < room[i] + np.array([room[j] for j in chosen])
        if len(chosen) < MOST_NAMES and not np.any(wide & (gaps[:, 1] < LINE)):
            chosen.append(int(i))
    return {known[i]: middles[i] * np.where(size > 0, size, 1.0) for i in chosen}


class EmbeddingDisplay:
    """Rows in the learned features: one feature as strips, two as a plane, more as pairs.

    Parameters
    ----------
    features : ndarray of shape (n, d)
        Of the training rows.
    labels : array-like of shape (n,), optional
        Their classes, as colours.
    new_features : ndarray of shape (m, d), optional
        Of other rows; drawn as rings.
    new_labels : array-like of shape (m,), optional
        Their classes.
    names : list of str, optional
        Of the features.
    classes : sequence, optional
        All classes, in the order of their colours; by default those of the rows, sorted.

    Attributes
    ----------
    ax_ : matplotlib Axes, or for pairs an ndarray of them of shape (d - 1, d - 1)
    figure_ : matplotlib Figure
    points_ : list of (PathCollection, ndarray of int, bool)
        What was drawn, of which rows, and whether these are new.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn import HSICSubspace
    >>> from kernel_learn.inspection import EmbeddingDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HSICSubspace(uncorrelated=True).fit(X[::2], y[::2])
    >>> display = EmbeddingDisplay.from_estimator(model, X[::2], y[::2], X_new=X[1::2])
    """

    def __init__(
        self,
        *,
        features: Array,
        labels: ArrayLike | None = None,
        new_features: Array | None = None,
        new_labels: ArrayLike | None = None,
        names: list[str] | None = None,
        classes: Sequence[Label] | None = None,
    ) -> None:
        self.features = features
        self.labels = labels_or_one(labels, len(features))
        self.new_features = new_features
        n_new = 0 if new_features is None else len(new_features)
        self.new_labels = labels_or_one(new_labels, n_new)
        self.classes = classes
        count = features.shape[1]
        self.names = [f"feature {i + 1}" for i in range(count)] if names is None else names

    def plot(self, ax: Axes | None = None, *, max_components: int = 4, **options: Option) -> Self:
        """Draw the rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Is divided where there are more than two features.
        max_components : int
            At most so many features.
        **options
            For ``Axes.scatter``.
        """
        d = min(self.features.shape[1], max_components)
        self.points_: list[tuple[Points, Array, bool]] = []
        if d == 1:
            ax = make_axes(ax, 0.9 + 0.45 * max(len(self._classes()), 2))
            self._draw_strips(ax, options)
        elif d == 2:
            ax = make_axes(ax, 3.8)
            self._draw_plane(ax, 0, 1, options)
        else:
            return self._draw_pairs(ax, d, options)
        self._legend(ax)
        self.ax_: Option = ax  # for pairs an array of them
        self.figure_ = ax.figure
        return self

    def _classes(self) -> list[Label]:
        if self.classes is not None:
            return list(self.classes)
        labels = np.concatenate([self.labels.astype(object), self.new_labels.astype(object)])
        found = [label for label in set(labels.tolist()) if label != ""]
        return sorted(found, key=lambda label: (str(type(label)), label))

    def _groups(self) -> list[tuple[Array, Array, Look, str | None]]:
        """(features, which rows, look, name) of each class among old and among new rows."""
        found: list[tuple[Array, Array, Look, str | None]] = []
        classes = self._classes()
        size = 20 if len(self.features) < 500 else 8
        for label in dict.fromkeys(["", *classes]):
            look = class_style(classes.index(label)) if label in classes else {"color": QUIET}
            solid = {"s": size, "linewidths": 0, "alpha": 0.75, **look}
            ring = {**look, "s": size + 8, "facecolors": "none", "linewidths": 1.1}
            ring["edgecolors"] = ring.pop("color")
            name = str(label) if label in classes else None
            for F, labels, drawn in (
                (self.features, self.labels, solid),
                (self.new_features, self.new_labels, ring),
            ):
                rows = np.flatnonzero(np.array([one == label for one in labels], dtype=bool))
                if F is not None and len(rows):
                    found.append((F, rows, drawn, name))
                    name = None  # one entry of the legend for each class
        return found

    def _draw_plane(self, ax: Axes, i: int, j: int, options: Look) -> None:
        whole = [str(label) for label in self._classes()]
        short = dict(zip(whole, shorten_all(whole), strict=True))
        for F, rows, look, name in self._groups():
            label = "_none" if name is None else literal(short[name])
            points = ax.scatter(F[rows, i], F[rows, j], **{**look, "label": label, **options})
            self.points_.append((points, rows, F is self.new_features))
        ax.set_xlabel(literal(self.names[i]))
        ax.set_ylabel(literal(self.names[j]))
        ax.locator_params(nbins=5)
        remove_box(ax)

    def _draw_strips(self, ax: Axes, options: Look) -> None:
        classes = self._classes() or [""]
        for F, rows, look, _ in self._groups():
            labels = self.labels if F is self.features else self.new_labels
            label = labels[rows[0]]
            place = classes.index(label) if label in classes else len(classes) / 2 - 0.5
            heights = place + 0.6 * ((np.arange(len(rows)) * GOLDEN) % 1 - 0.5)
            points = ax.scatter(F[rows, 0], heights, **{**look, **options})
            self.points_.append((points, rows, F is self.new_features))
        names = [literal(name) for name in shorten_all([str(label) for label in classes])]
        ax.set_yticks(range(len(classes)), names)
        ax.set_ylim(len(classes) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(literal(self.names[0]))
        remove_box(ax)

    def _draw_pairs(self, ax: Axes | None, d: int, options: Look) -> Self:
        grid = make_panels(ax, d - 1, d - 1, (2.0, 1.9))
        for row in range(d - 1):
            for column in range(d - 1):
                panel = grid[row, column]
                if column > row:
                    panel.set_axis_off()
                    continue
                self._draw_plane(panel, column, row + 1, options)
                panel.locator_params(nbins=3)
                panel.tick_params(labelsize="small")
                if row < d - 2:
                    panel.set(xlabel="", xticklabels=[])
                if column > 0:
                    panel.set(ylabel="", yticklabels=[])
        self.ax_, self.figure_ = grid, grid[0, 0].figure
        self._legend(grid[0, d - 2], grid[0, 0], loc="upper right")
        return self

    def _legend(self, ax: Axes, drawn: Axes | None = None, **place: Option) -> None:
        handles, names = (ax if drawn is None else drawn).get_legend_handles_labels()
        if self.new_features is not None and len(self.new_features):
            dot, ring = (
                ax.scatter([], [], s=24, color=QUIET, linewidths=0),
                ax.scatter([], [], s=28, facecolors="none", edgecolors=QUIET),
            )
            handles, names = [*handles, dot, ring], [*names, "training", "new"]
        if len(handles) > MOST_LEGEND and self.features.shape[1] == 2:
            shown = groups_that_show(self.features, self.labels, self._classes())
            names = shorten_all([str(label) for label in shown])
            look = {"ha": "center", "va": "center", "fontsize": "small", "color": DARK}
            for at, name in zip(shown.values(), names, strict=True):
                ax.annotate(literal(name), at, **look)
        elif 0 < len(handles) <= MOST_LEGEND:
            ax.legend(handles, names, frameon=False, fontsize="small", handletextpad=0.2, **place)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Rows,
        y: ArrayLike | None = None,
        *,
        X_new: Rows = None,
        y_new: ArrayLike | None = None,
        max_components: int = 4,
        max_rows: int = 5000,
        ax: Axes | None = None,
        **options: Option,
    ) -> Self:
        """Draw rows as a fitted transformer sees them.

        Parameters
        ----------
        estimator : fitted transformer, Pipeline or search
            Of a Pipeline that ends in a classifier, the last step with ``kernel_``.
        X : rows
            As at fit.
        y : array-like, optional
            Labels that colour them.
        X_new : rows, optional
            Other rows, drawn as rings.
        y_new : array-like, optional
            Their labels.
        max_components : int
            At most so many features.
        max_rows : int
            At most so many rows, each class in its share.
        ax : matplotlib Axes, optional
            Where to draw; None: a new figure.
        **options
            For ``Axes.scatter``.
        """
        found = find_fitted(estimator, "kernel_", "n_components_", display=cls.__name__)

        def features(X: Rows, y: ArrayLike | None) -> tuple[Array, Array]:
            X, y = take_named({"X": X, "y": y}).values()
            labels = labels_or_one(y, n_rows(X))
            rows = some_rows(labels, max_rows)
            return found.transform(take_rows(X, rows)), labels[rows]

        old, labels = features(X, y)
        new, new_labels = (None, None) if X_new is None else features(X_new, y_new)
        display = cls(features=old, labels=labels, new_features=new, new_labels=new_labels)
        return display.plot(ax, max_components=max_components, **options)

    @classmethod
    def from_predictions(
        cls,
        features: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        max_components: int = 4,
        ax: Axes | None = None,
        **options: Option,
    ) -> Self:
        """Draw features that are there already."""
        display = cls(features=np.asarray(features, dtype=float), labels=labels)
        return display.plot(ax, max_components=max_components, **options)
