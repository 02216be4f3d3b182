"""The members of an ensemble: how much each counts, and how well it does alone."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, is_regressor

from kernel_learn.inspection.drawing import Axes, Option, bar_height, draw_bars, make_axes
from kernel_learn.inspection.reading import find_fitted
from kernel_learn.kernels import Combination
from kernel_learn.kernels.scaled import ScaledKernel

LONGEST_MEMBER = 40  # letters
VIEWS = {"z": "z-scores", "q": "normal scores", "u": "ranks", "c": "clipped scores"}


def member_name(member: Any) -> str:
    """``Gaussian 0.04, ranks``: the kernel, its width, and the view it sees."""
    view, _, scaled = member.view.partition(" ")
    source, _, kind = view.rpartition("/")
    words = [VIEWS.get(kind, kind)]
    words += [f"of {source}"] if source else []
    words += ["scaled"] if scaled or has_scales(member.kernel) else []
    return f"{kernel_name(member.kernel)}, {' '.join(words)}"


def kernel_name(kernel: Any) -> str:
    """``Gaussian 0.04``, ``Linear + Laplacian 0.1``: kernels and their widths."""
    if isinstance(kernel, Combination):
        return " + ".join(kernel_name(part) for part in kernel.kernels)
    if isinstance(kernel, ScaledKernel):  # its width is in the scales
        return type(kernel.base).__name__
    gamma = getattr(kernel, "gamma", None)
    width = f" {gamma:.2g}" if isinstance(gamma, float) else ""
    return f"{type(kernel).__name__}{width}"


def has_scales(kernel: Any) -> bool:
    """Whether a kernel has a scale for each column."""
    parts = kernel.kernels if isinstance(kernel, Combination) else [kernel]
    return any(isinstance(part, ScaledKernel) for part in parts)


class MembersDisplay:
    """Weights of the averaged kernels, with the leave-one-out error of each.

    Parameters
    ----------
    members : sequence of Member
        ``members_`` of a fitted ``KernelClassifier`` or ``KernelRegressor``.
    errors : {"share", "value"}
        Whether held-out errors are shares of rows, or root mean squares of numbers.

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
    >>> from kernel_learn.inspection import MembersDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = MembersDisplay.from_estimator(KernelClassifier(quality="fast").fit(X, y))
    """

    def __init__(self, *, members: Sequence[Any], errors: str = "share") -> None:
        self.members = members
        self.errors = errors

    def plot(self, ax: Axes | None = None, *, max_members: int = 12, **options: Option) -> Self:
        """Draw the heaviest members.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None: a new figure.
        max_members : int
            At most so many bars.
        **options
            For ``Axes.barh``.
        """
        shown = list(self.members)[:max_members]
        ax = make_axes(ax, bar_height(len(shown)))
        names = [member_name(member) for member in shown]
        weights = np.array([member.weight for member in shown])
        as_shares = self.errors == "share"
        errors = [f"{100 * m.error:.1f} %" if as_shares else f"{m.error:.4g}" for m in shown]
        draw_bars(ax, weights, names, notes=errors, longest=LONGEST_MEMBER, **options)
        what = "error" if as_shares else "RMSE"
        ax.set_xlabel(f"weight (beside it: held-out {what})", loc="right")  # names leave no room
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        ax: Axes | None = None,
        max_members: int = 12,
        **options: Option,
    ) -> Self:
        """Draw ``members_`` of a fitted estimator, alone or in a Pipeline or search."""
        found = find_fitted(estimator, "members_", display=cls.__name__)
        errors = "value" if is_regressor(found.step) else "share"
        display = cls(members=found.step.members_, errors=errors)
        return display.plot(ax, max_members=max_members, **options)
