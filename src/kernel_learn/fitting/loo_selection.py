"""What leave-one-out chooses before a fit: reg, and the width of a kernel."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.ridge import RidgePath
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.fitting.target_codes import pool_targets
from kernel_learn.fitting.training import AnyTraining
from kernel_learn.kernels.bank import evaluate_bank
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.kernels.stationary import CHOICE_ROWS, Stationary
from kernel_learn.model_selection.leave_one_out import (
    cross_validate_generally,
    leave_one_out,
    search_leave_one_out,
)
from kernel_learn.representations.base import Combined
from kernel_learn.representations.gram import Gram
from kernel_learn.representations.linalg import LEAST_SLACK
from kernel_learn.representations.plan import Plan
from kernel_learn.representations.sources import ArraySource
from kernel_learn.rows.access import take_rows
from kernel_learn.rows.targets import TargetType

LOO_REGS = tuple(np.geomspace(1e-6, 1e2, 25))
# Up to so many rows an exact sample is decomposed to choose reg, and then for the fit; of a
# larger one some values are tried, downhill from the best of some rows.
EXACT_LOO_ROWS = 2000
# Rows of a sample of moments that are evaluated again for their leave-one-out errors: a
# tenth of them, within these bounds.
LEAST_LOO_ROWS, LOO_ROWS = 2000, 20_000
# gamma="loo": multiples of the median's gamma, and the rows, first by key, that choose.
WIDTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class LeaveOneOutChoice:
    """A mixin for estimators whose ``reg``, and ``gamma`` of one kernel, may be "loo".

    ``reg="gcv"`` takes generalised cross-validation in its place, which needs no row again;
    so does a source that is read once. Fitted: ``loo_regs_``, ``loo_errors_``, None unless
    several values were tried; ``reg_rule_``, by what they were compared.
    """

    reg: float | str | Sequence[float]
    plan_: Plan

    def _regs(self) -> list[float]:
        """The values to try; a word stands for the list of them."""
        if isinstance(self.reg, str):
            return list(LOO_REGS)
        return [float(reg) for reg in np.ravel(self.reg)]

    def _choose_reg(self, sample: Combined, regs: list[float], rewinds: bool = True) -> float:
        """lambda; ``rewinds``: whether the rows can be read again."""
        scale = sample.trace / sample.n
        self.loo_regs_: Array | None = None
        self.loo_errors_: Array | None = None
        self.reg_rule_: str | None = None
        if len(regs) == 1:
            return regs[0] * scale
        lams = [reg * scale for reg in regs]
        self.reg_rule_ = "loo" if rewinds and not _is_word(self.reg, "gcv") else "gcv"
        if self.reg_rule_ == "gcv":
            path = cross_validate_generally(sample, lams)
        elif isinstance(sample, Gram) and len(sample.operator) > EXACT_LOO_ROWS:
            path = search_leave_one_out(sample, lams)
        else:
            rows = max(LEAST_LOO_ROWS, min(LOO_ROWS, self.plan_.n_rows // 10))
            path = leave_one_out(sample, lams, at_most=rows)
        self.loo_regs_, self.loo_errors_ = path.lams / scale, path.errors
        return float(path.lams[path.best])

    def _settle(self, data: AnyTraining) -> AnyTraining:
        return self._choose_width(data, self._regs()).resolved()

    def _choose_width(self, data: AnyTraining, regs: Sequence[float]) -> AnyTraining:
        """gamma="loo" of the one kernel replaced by the width chosen; anything else as it is."""
        kernel = data.kernels[0]
        if data.names is not None or not (isinstance(kernel, Stationary) and kernel.gamma == "loo"):
            return data
        return replace(data, kernels=[choose_width(kernel, data.source, regs, data.kind)])


def _is_word(value: object, word: str) -> bool:
    return isinstance(value, str) and value == word


def choose_width(
    kernel: Stationary,
    source: ArraySource,
    regs: Sequence[float],
    kind: TargetType = "numbers",  # of values
) -> Stationary:
    """The width with the least leave-one-out squared error of ridge regression, at its best reg.

    Of ``WIDTHS`` times the median's gamma, on one-hot labels, or numbers of variance one, of at
    most ``CHOICE_ROWS`` distinct rows, with their weights: one table of distances for all widths,
    one decomposition for each. The wider one among equals.
    """
    summary = source.summary
    few = slice(0, min(CHOICE_ROWS, len(summary.rows)))
    targets = pool_targets(source, few.stop, standardize=kind == "numbers")
    median = kernel.with_gamma("median").resolve_on(summary.pool(source.X))
    kernels = [kernel.with_gamma(c * float(median.gamma)) for c in WIDTHS]
    X = to_double(take_rows(source.X, summary.rows[few]))
    errors = np.full(len(kernels), np.inf)
    for i, K in evaluate_bank(kernels, X):
        errors[i] = least_error(K, targets, regs)
    return kernels[int(np.flatnonzero(errors <= errors.min() * (1 + 1e-9))[0])]


def least_error(K: Array, targets: Targets, regs: Sequence[float]) -> float:
    """The least leave-one-out mean squared error, over the regs; inf if none is safe."""
    path = RidgePath(K, targets)
    if not len(path.w):
        return np.inf
    scores, least = path.held_out(np.asarray(regs))
    squares = np.sum((scores - targets.Y) ** 2, axis=2) @ targets.weight / targets.total
    return float(np.where(least > LEAST_SLACK, squares, np.inf).min())
