"""What all estimators that accept a bank of kernels share: from a bank to one kernel."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernel_learn.criteria.bank_alignment import align_weights
from kernel_learn.estimators.validation import Array, Training, check_count, check_positive
from kernel_learn.kernels.bank import Combination
from kernel_learn.representations import KernelBank, MomentBank
from kernel_learn.solvers.choice import check_solver, solve_simplex
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.simplex import SimplexProblem, Trace, best_vertex, solve_vertices

# Steps on the weights where an estimator leaves max_iter open.
WEIGHT_STEPS = 100

AnyTraining = TypeVar("AnyTraining", bound=Training)


@dataclass(frozen=True)
class WeightsReport:
    """Was it worth it? The criterion (smaller is better) at three choices of weights."""

    learned: float
    uniform: float
    best_single: float
    best_single_name: str

    def __str__(self) -> str:
        return (
            f"criterion {self.learned:.6g} with the weights chosen, {self.uniform:.6g} "
            f"({self._worse(self.uniform)}) with uniform weights, {self.best_single:.6g} "
            f"({self._worse(self.best_single)}) with {self.best_single_name!r} alone"
        )

    def _worse(self, value: float) -> str:
        share = 100 * (value - self.learned) / max(abs(self.learned), np.finfo(float).tiny)
        return f"{abs(share):.3g} % {'worse' if share >= 0 else 'better'}"


class WeightLearner:
    """A mixin for estimators whose ``kernel`` may be a bank.

    Parameters ``weights``, ``solver``, ``tol`` and ``max_iter``; fitted on a
    bank: ``kernel_weights_``, ``kernel_names_``, ``weights_report_``, ``gap_``,
    ``n_iter_``, ``history_``. One kernel alone has the last three: a closed
    form is one step without a gap.
    """

    accepts_banks = True

    weights: Any
    solver: str
    tol: float
    max_iter: int | None
    history_: Any

    def _check_weight_options(self) -> None:
        self.gap_, self.n_iter_ = 0.0, 1
        self.history_: tuple[dict[str, float], ...] = ()
        check_solver(self.solver, self)
        check_positive("tol", self.tol, self)
        if self.max_iter is not None:
            check_count("max_iter", self.max_iter, self)
        if isinstance(self.weights, str) and self.weights not in ("learn", "uniform", "alignment"):
            raise ValueError(
                f"{type(self).__name__}(weights={self.weights!r}): weights must be 'learn', "
                "'uniform', 'alignment' or one number per kernel."
            )

    def _weigh_bank(
        self,
        data: AnyTraining,
        bank: KernelBank,
        criterion: Any,
        align: Callable[[], KernelBank] | None = None,
    ) -> tuple[AnyTraining, Result]:
        """The training data with one kernel: the bank's, weighted; and the proof."""
        names = data.names
        assert names is not None and isinstance(data.kernel, Combination)
        check_alive(bank, names)
        trace = Trace(criterion)
        concave = getattr(criterion, "concave", False)
        if not (isinstance(self.weights, str) and self.weights == "learn"):
            trace.evaluate(lift(criterion, self._given_point(bank, names, align)))
            result = Result(trace.point, trace.value, gap=trace.gap, history=tuple(trace.history))
        elif concave:
            result = solve_vertices(trace, [np.eye(bank.p)[i] for i in np.flatnonzero(bank.alive)])
        else:
            steps = WEIGHT_STEPS if self.max_iter is None else self.max_iter
            result = solve_simplex(trace, solver=self.solver, tol=self.tol, max_iter=steps)
            self._warn_if_stopped(result)
        self._store_weights(bank.weights(inner_point(criterion, result.point)), names, result)
        self.weights_report_ = report(trace, bank, names, result)
        if concave:  # a vertex is optimal, and the report has tried them
            self.gap_ = max(result.value - self.weights_report_.best_single, 0.0)
        return self._combined(data, bank), result

    def _weigh_without_criterion(self, data: AnyTraining, bank: KernelBank) -> AnyTraining:
        """Weights that are given or aligned, where no convex criterion could judge them."""
        assert data.names is not None
        check_alive(bank, data.names)
        point = self._given_point(bank, data.names, None)
        result = Result(point, np.nan, gap=np.nan)
        self._store_weights(bank.weights(point), data.names, result)
        return self._combined(data, bank)

    def _combined(self, data: AnyTraining, bank: KernelBank) -> AnyTraining:
        assert isinstance(data.kernel, Combination)
        kernel = Combination(data.kernel.kernels, self.kernel_weights_)
        features = bank.stacked(self.kernel_weights_) if isinstance(bank, MomentBank) else None
        return replace(data, kernel=kernel, names=None, exact=features is None, features=features)

    def _store_weights(self, weights: Array, names: list[str], result: Result) -> None:
        self.kernel_weights_, self.kernel_names_ = weights, np.array(names, dtype=object)
        self.gap_, self.history_ = result.gap, result.history
        self.n_iter_ = max(1, result.n_iter)

    def _given_point(
        self, bank: KernelBank, names: list[str], align: Callable[[], KernelBank] | None
    ) -> Array:
        if not isinstance(self.weights, str):
            return bank.point(self._check_weights(names))
        if self.weights == "uniform":
            return bank.uniform()
        if align is None:
            return align_weights(bank)
        aligned = align()  # another scale: its traces are centred
        return bank.point(aligned.weights(align_weights(aligned)))

    def _check_weights(self, names: list[str]) -> Array:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (len(names),):
            raise ValueError(
                f"weights has shape {weights.shape}, and the bank has {len(names)} kernels."
            )
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise ValueError("weights must be finite, not negative, and not all zero.")
        return weights

    def _warn_if_stopped(self, result: Result) -> None:
        if result.status == "stopped":
            warnings.warn(
                f"The kernel weights are optimal to a relative gap of {result.relative_gap:.2g}, "
                f"and tol={self.tol:g} was asked for ({result.n_iter} steps). Raise max_iter or "
                "tol, or try another solver.",
                ConvergenceWarning,
                stacklevel=4,
            )


def inner_point(criterion: Any, point: Array) -> Array:
    """The point of the bank's simplex, where a criterion has one more coordinate."""
    return criterion.weights(point) if hasattr(criterion, "weights") else point


def lift(criterion: SimplexProblem, d: Array) -> Array:
    """A point of the criterion's simplex with the bank's weights d."""
    extra = criterion.start()[: criterion.size - len(d)]
    return np.concatenate([extra, (1 - extra.sum()) * d])


def report(trace: Trace, bank: KernelBank, names: list[str], result: Result) -> WeightsReport:
    """The criterion at the weights found, at uniform weights and at the best single kernel.

    A criterion that also learns its regularisation keeps the one it found.
    """
    extra = result.point[: trace.problem.size - bank.p]

    def place(d: Array) -> Array:
        return np.concatenate([extra, (1 - extra.sum()) * d])

    alive = np.flatnonzero(bank.alive)
    vertices = [place(np.eye(bank.p)[i]) for i in alive]
    best, best_value = best_vertex(trace, vertices)
    uniform = trace.problem.evaluate(place(bank.uniform())).value
    return WeightsReport(result.value, uniform, best_value, names[alive[best]])


def check_alive(bank: KernelBank, names: list[str]) -> None:
    """Refuse a bank in which no kernel varies; say which kernels get no weight because of it."""
    bank.uniform()
    dead = [name for name, alive in zip(names, bank.alive, strict=True) if not alive]
    if dead:
        warnings.warn(
            f"Kernels that take one value on all rows get weight zero: {', '.join(dead)}.",
            UserWarning,
            stacklevel=4,
        )
