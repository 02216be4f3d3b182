"""The members of a KernelClassifier: how much each counts, and how well it does alone."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.inspection.drawing import Axes, Option, bar_height, draw_bars, make_axes
from kernel_learn.inspection.reading import find_fitted

LONGEST_MEMBER = 40  # letters
VIEWS = {"z": "z-scores", "q": "normal scores", "u": "ranks", "c": "clipped scores"}


def member_name(member: Any) -> str:
    """``Gaussian 0.04, ranks``: the kernel, its width, and the view it sees."""
    view, _, scaled = member.view.partition(" ")
    source, _, kind = view.rpartition("/")
    gamma = getattr(member.kernel, "gamma", None)
    width = f" {gamma:.2g}" if isinstance(gamma, float) else ""
    words = [VIEWS.get(kind, kind)]
    words += [f"of {source}"] if source else []
    words += ["scaled"] if scaled else []
    return f"{type(member.kernel).__name__}{width}, {' '.join(words)}"


class MembersDisplay:
    """Weights of the averaged kernels, with the leave-one-out error of each.

    Parameters
    ----------
    members : sequence of Member
        ``members_`` of a fitted ``KernelClassifier``.

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

    def __init__(self, *, members: Sequence[Any]) -> None:
        self.members = members

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
        errors = [f"{100 * member.error:.1f} %" for member in shown]
        draw_bars(ax, weights, names, notes=errors, longest=LONGEST_MEMBER, **options)
        ax.set_xlabel("weight (beside it: held-out error)", loc="right")  # names leave little room
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
        """Draw ``members_`` of a fitted ``KernelClassifier``, alone or in a Pipeline or search."""
        found = find_fitted(estimator, "members_", display=cls.__name__)
        return cls(members=found.step.members_).plot(ax, max_members=max_members, **options)
