"""The members of an ensemble: how much each counts, and how well it does alone."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, is_regressor

from kernel_learn.ensemble.summary import member_name
from kernel_learn.inspection.drawing import Axes, Option, bar_height, draw_bars, make_axes
from kernel_learn.inspection.reading import find_fitted

LONGEST_MEMBER = 40  # letters


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
