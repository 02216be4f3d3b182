"""Leave-one-out error along reg, and along widths of the kernel."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.ridge import RidgePath
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.fitting.loo_selection import LOO_REGS, WIDTHS
from kernel_learn.inspection.drawing import (
    COLORS,
    QUIET,
    Axes,
    Option,
    import_pyplot,
    make_axes,
    remove_box,
)
from kernel_learn.inspection.reading import find_fitted, some_rows
from kernel_learn.kernels.stationary import Stationary
from kernel_learn.representations.linalg import LEAST_SLACK
from kernel_learn.representations.sources import one_hot
from kernel_learn.rows.access import take_rows
from kernel_learn.rows.named_columns import take_named


def leave_one_out_errors(K: Array, labels: Array, regs: Array) -> Array:
    """Mean squared error of ridge regression on one-hot labels by leave-one-out, (n_regs,).

    nan where a row decides about itself alone.
    """
    classes, codes = np.unique(labels, return_inverse=True)
    targets = Targets(one_hot(codes, len(classes)))
    scores, least = RidgePath(np.array(K, dtype=np.float64), targets).held_out(regs)
    squares = np.mean(np.sum((scores - targets.Y) ** 2, axis=2), axis=1)
    return np.where(least > LEAST_SLACK, squares, np.nan)


class RegularizationPathDisplay:
    """Leave-one-out squared error for each reg, one curve for each width of the kernel.

    Parameters
    ----------
    regs : ndarray of shape (n_regs,)
        Values of reg along the path.
    errors : ndarray of shape (n_widths, n_regs)
        Leave-one-out squared error, a row for each width.
    gammas : ndarray of shape (n_widths,), optional
        The kernel's gamma of each curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure around it.
    best_ : tuple of int
        Position of the least error in ``errors``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn import KernelDiscriminant
    >>> from kernel_learn.inspection import RegularizationPathDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelDiscriminant().fit(X, y)
    >>> display = RegularizationPathDisplay.from_estimator(model, X, y)
    """

    def __init__(self, *, regs: Array, errors: Array, gammas: Array | None = None) -> None:
        self.regs = regs
        self.errors = np.atleast_2d(errors)
        self.gammas = gammas

    def plot(self, ax: Axes | None = None, **options: Option) -> Self:
        """Draw the curves; a ring marks the least error.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None: a new figure.
        **options
            For ``Axes.plot``.
        """
        plt = import_pyplot()
        ax = make_axes(ax)
        several = self.gammas is not None and len(self.errors) > 1
        shades = plt.get_cmap("viridis")(np.linspace(0.0, 0.88, len(self.errors)))
        finite = np.where(np.isfinite(self.errors), self.errors, np.inf)
        if not np.isfinite(finite).any():
            raise ValueError("At no reg can a row be left out: each decides about itself alone.")
        order = np.argsort(self.regs)
        for i, curve in enumerate(np.where(np.isfinite(self.errors), self.errors, np.nan)):
            look = {"color": shades[i] if several else COLORS[0], "linewidth": 1.5}
            look |= {"marker": "o", "markersize": 2.5}
            label = "_loo" if self.gammas is None else f"{self.gammas[i]:.2g}"
            ax.plot(self.regs[order], curve[order], **{**look, "label": label, **options})
        self.best_ = row, j = divmod(int(finite.argmin()), finite.shape[1])
        least = finite[row, j]
        ax.plot(self.regs[j], least, "o", ms=9, mfc="none", mec=COLORS[5], mew=1.8, label="_best")
        ax.axvline(self.regs[j], color=QUIET, linewidth=0.8, linestyle=":", zorder=0)
        ax.set_xscale("log")
        if np.nanmax(self.errors[np.isfinite(self.errors)]) > 10 * least > 0:
            ax.set_yscale("log")
        ax.set_xlabel("reg")
        ax.set_ylabel("leave-one-out squared error")
        if several:
            ax.legend(frameon=False, fontsize="small", title="gamma", title_fontsize="small")
        remove_box(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Rows = None,
        y: ArrayLike | None = None,
        *,
        regs: Sequence[float] = LOO_REGS,
        gamma_factors: Sequence[float] | None = None,
        max_rows: int = 1000,
        ax: Axes | None = None,
        **options: Option,
    ) -> Self:
        """Draw ``loo_errors_`` of the fit or, given rows, the whole path at several widths.

        Parameters
        ----------
        estimator : fitted estimator, Pipeline or search
            Fitted; a Pipeline or a search that holds one will do.
        X : rows, optional
            As at fit: the errors are then worked out anew, one decomposition for each width.
        y : array-like, optional
            Their labels.
        regs : sequence of float
            Values of reg along the path.
        gamma_factors : sequence of float, optional
            Multiples of the fitted kernel's gamma, a curve each; by default from 0.01 to 10 for
            kernels of a distance.
        max_rows : int
            Of more rows as many are used, each class in its share.
        ax : matplotlib Axes, optional
            Where to draw; None: a new figure.
        **options
            For ``Axes.plot``.
        """
        if X is None:
            step = find_fitted(estimator, "loo_errors_", display=cls.__name__).step
            display = cls(regs=np.asarray(step.loo_regs_), errors=np.asarray(step.loo_errors_))
            return display.plot(ax, **options)
        X, y = take_named({"X": X, "y": y}).values()
        found = find_fitted(estimator, "base_kernel_", display=cls.__name__)
        kernel, labels, at = found.step.base_kernel_, np.asarray(y), np.asarray(regs, dtype=float)
        rows = some_rows(labels, max_rows)
        seen, labels = found.see_checked(take_rows(X, rows)), labels[rows]
        if not isinstance(kernel, Stationary):
            if gamma_factors is not None:
                raise ValueError(
                    f"{type(kernel).__name__} has no width to vary. Leave out gamma_factors."
                )
            return cls(regs=at, errors=leave_one_out_errors(kernel(seen), labels, at)).plot(
                ax, **options
            )
        factors = WIDTHS if gamma_factors is None else gamma_factors
        gammas = float(kernel.gamma) * np.asarray(factors, dtype=float)
        errors = [
            leave_one_out_errors(kernel.with_gamma(float(gamma))(seen), labels, at)
            for gamma in gammas
        ]
        return cls(regs=at, errors=np.array(errors), gammas=gammas).plot(ax, **options)
