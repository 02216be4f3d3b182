"""What a solver proved, step by step."""

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array
from kernel_learn.inspection.drawing import COLORS, Axes, Option, literal, make_axes, remove_box
from kernel_learn.inspection.reading import find_fitted

KINDS = ("bounds", "gap", "gradient")
LINES = {  # key of a step: how it is drawn
    "value": {"label": "value", "color": COLORS[0], "marker": "o"},
    "upper": {"label": "upper bound", "color": COLORS[5], "marker": "v"},
    "lower": {"label": "lower bound", "color": COLORS[2], "marker": "^"},
}
LEAST_GAP = 1e-16  # a logarithmic axis has no zero


def track(history: Sequence[Mapping[str, float]], key: str) -> Array:
    """One key of all steps; nan where a step does not have it."""
    return np.array([step.get(key, np.nan) for step in history], dtype=float)


def relative_gaps(history: Sequence[Mapping[str, float]]) -> Array:
    """(upper - lower) / |value| after each step, with the best bounds so far; nan without both."""
    value, lower, upper = (track(history, key) for key in ("value", "lower", "upper"))
    best_upper = np.fmin.accumulate(np.where(np.isnan(upper), value, upper))
    best_lower = np.fmax.accumulate(np.where(np.isnan(lower), value, lower))
    known = ~(np.isnan(upper) & np.isnan(lower))
    size = np.maximum(np.abs(np.where(np.isnan(best_upper), best_lower, best_upper)), 1e-300)
    return np.where(known, np.maximum(best_upper - best_lower, 0.0) / size, np.nan)


class ConvergenceDisplay:
    """The value and its bounds, or the certified gap, along the steps of a solver.

    Parameters
    ----------
    history : sequence of dict
        Of each step ``value``, ``lower``, ``upper`` and ``grad_norm``, as far as it has them.
    name : str, optional
        For the legend, where several are drawn on the same axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure around it.
    lines_ : list of matplotlib lines

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn import HSICSubspace
    >>> from kernel_learn.inspection import ConvergenceDisplay
    >>> from kernel_learn.kernels import gaussian_bank
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HSICSubspace(gaussian_bank(5), uncorrelated=True).fit(X, y)
    >>> display = ConvergenceDisplay.from_estimator(model, kind="gap")
    """

    def __init__(self, *, history: Sequence[Mapping[str, float]], name: str | None = None) -> None:
        self.history = history
        self.name = name

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "bounds",
        name: str | None = None,
        **options: Option,
    ) -> Self:
        """Draw the steps.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None: a new figure.
        kind : {"bounds", "gap", "gradient"}
            Value and bounds; the certified relative gap; the norm of the gradient.
        name : str, optional
            Replaces the display's name.
        **options
            For ``Axes.plot``.
        """
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r}: choose one of {', '.join(map(repr, KINDS))}.")
        name = self.name if name is None else name
        lines = self._lines(kind, name)
        if not lines:
            raise ValueError(
                f"The history has nothing to draw for kind={kind!r}: its steps hold "
                f"{', '.join(sorted({key for step in self.history for key in step})) or 'nothing'}."
            )
        ax = make_axes(ax)
        steps = np.arange(1, len(self.history) + 1)
        self.lines_ = []
        for values, look in lines:
            drawn = {"markersize": 3.5, "linewidth": 1.4, **look, **options}
            self.lines_ += ax.plot(steps, values, **drawn)
        ax.set_xlabel("step")
        if kind != "bounds":
            ax.set_yscale("log")
            words = {"gap": "certified relative gap", "gradient": "norm of the gradient"}
            ax.set_ylabel(words[kind])
        ax.locator_params(axis="x", integer=True)
        if any(not str(line.get_label()).startswith("_") for line in ax.get_lines()):
            ax.legend(frameon=False, fontsize="small")
        remove_box(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _lines(self, kind: str, name: str | None) -> list[tuple[Array, dict[str, str]]]:
        """What is drawn and how; colours of single lines are left to the axes' cycle."""
        if kind == "bounds":
            found = [(track(self.history, key), dict(look)) for key, look in LINES.items()]
            for _, look in found:
                look["label"] = literal(f"{name}: {look['label']}" if name else look["label"])
        else:
            values = relative_gaps(self.history)
            if kind == "gap":
                values = np.maximum(values, LEAST_GAP)
            else:
                values = track(self.history, "grad_norm")
            found = [(values, {"marker": "o", "label": literal(name) if name else "_gap"})]
        return [(values, look) for values, look in found if np.isfinite(values).any()]

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        kind: str = "bounds",
        name: str | None = None,
        ax: Axes | None = None,
        **options: Option,
    ) -> Self:
        """Draw ``history_`` of a fitted estimator, Pipeline or search."""
        found = find_fitted(estimator, "history_", display=cls.__name__)
        return cls(history=found.step.history_, name=name).plot(ax, kind=kind, **options)
