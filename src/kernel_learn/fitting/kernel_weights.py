"""What all estimators that accept a bank of kernels share: from a bank to one kernel."""

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from kernel_learn.arrays import Array
from kernel_learn.criteria.alignment import align_weights
from kernel_learn.criteria.evaluation import WeightCriterion
from kernel_learn.criteria.held_out.loo_weights import learn_bank_weights
from kernel_learn.fitting.training import Labelled
from kernel_learn.representations.base import Representation
from kernel_learn.representations.sources import ArraySource
from kernel_learn.solvers.choice import solve_simplex
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.simplex import Search, best_vertex, solve_local, solve_vertices
from kernel_learn.warn import warn_user

# Steps on the weights where an estimator leaves max_iter open.
WEIGHT_STEPS = 100

Judge = TypeVar("Judge", bound=WeightCriterion)  # of weights, made of a representation
Learner = TypeVar("Learner", bound="WeightLearner")


@dataclass(frozen=True)
class WeightsReport:
    """Was it worth it? The criterion (smaller is better) at three choices of weights.

    And the held-out error with all kernels and without each, the weights of the others chosen
    anew in the same way: a kernel of large weight without which nothing is lost explains nothing.
    A fit for every kernel, made when ``error_without`` is first asked for; empty where rows are
    not in memory, or the model was saved before it was asked for.
    """

    learned: float
    uniform: float
    best_single: float
    best_single_name: str
    names: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()  # shares of the trace, of sum one
    held_out_error: float | None = None  # with all kernels
    held_out_by: str = ""  # what the errors are by
    fit_without: Callable[[int], float] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def error_without(self) -> tuple[float, ...]:
        """The held-out error without each kernel."""
        if self.fit_without is None:
            return ()
        return tuple(self.fit_without(m) for m in range(len(self.names)))

    def __getstate__(self) -> dict[str, object]:
        known = {"error_without": ()} | vars(self)
        return known | {"fit_without": None}

    def __str__(self) -> str:
        lines = [
            f"criterion {self.learned:.6g} with the weights chosen, {self.uniform:.6g} "
            f"({self._worse(self.uniform)}) with uniform weights, {self.best_single:.6g} "
            f"({self._worse(self.best_single)}) with {self.best_single_name!r} alone"
        ]
        if self.error_without and self.held_out_error is not None:
            error = f"{in_percent(self.held_out_error)} by {self.held_out_by}"
            lines.append(f"error with all kernels {error}; without each:")
            wide = max(len(name) for name in self.names)
            lines += [
                f"  {name:<{wide}}  weight {weight:.3f}  error without it {in_percent(error)}"
                for name, weight, error in zip(
                    self.names, self.weights, self.error_without, strict=True
                )
            ]
        return "\n".join(lines)

    def _worse(self, value: float) -> str:
        share = 100 * (value - self.learned) / max(abs(self.learned), np.finfo(float).tiny)
        return f"{abs(share):.3g} % {'worse' if share >= 0 else 'better'}"


def in_percent(error: float) -> str:
    """NaN: no other kernel tells rows apart, or a row decides about itself alone."""
    return "not known" if np.isnan(error) else f"{100 * error:.1f} %"


class Weighed(NamedTuple, Generic[Judge]):
    """Weights of the kernels as given, the proof, and the criterion that chose them."""

    theta: Array
    result: Result
    criterion: Judge


class BankWeights:
    """A mixin for estimators whose ``kernel`` may be a bank, weighed before they learn from it.

    Parameter ``weights``; fitted on a bank: ``kernel_weights_``, ``kernel_names_``.
    """

    accepts_banks = True

    weights: str | ArrayLike

    @property
    def _weighs_by_loo(self) -> bool:
        return isinstance(self.weights, str) and self.weights == "loo"

    @property
    def _weight_steps(self) -> int:
        return WEIGHT_STEPS

    def _bank_weights(
        self,
        form: Representation,
        names: list[str] | None,  # None for one kernel
        loo_targets: Array | None = None,
    ) -> Array | None:
        """Weights of the kernels of a bank; None for one kernel, which stays what it is."""
        if names is None:
            return None
        check_alive(form, names)
        point, _ = self._given_point(form, names, loo_targets)
        self._name_weights(form.theta_at(point), names)
        return self.kernel_weights_

    def _name_weights(self, weights: Array, names: list[str]) -> None:
        self.kernel_weights_, self.kernel_names_ = weights, np.array(names, dtype=object)

    def _given_point(
        self, bank: Representation, names: list[str], loo_targets: Array | None
    ) -> tuple[Array, Result | None]:
        """A point that does not depend on a criterion, and the descent that led to it.

        Alignment and leave-one-out are those of the centred kernels.
        """
        if not isinstance(self.weights, str):
            return bank.point(self._check_weights(names)), None
        if self.weights == "uniform":
            return bank.uniform(), None
        if self.weights == "loo":
            steps = self._weight_steps
            theta, descent = learn_bank_weights(bank, loo_targets, max_iter=steps)
            if descent.status == "stopped":
                warn_user(
                    f"The descent of the leave-one-out error in the kernel weights was stopped "
                    f"after max_iter={steps} steps at a gradient of {descent.grad_norm:.2g}.",
                    ConvergenceWarning,
                )
            return bank.point(theta), descent
        centred = bank.centred()  # of another scale, if the bank is not
        return bank.point(centred.theta_at(align_weights(centred))), None

    def _check_weights(self, names: list[str]) -> Array:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (len(names),):
            raise ValueError(
                f"weights has shape {weights.shape}, and the bank has {len(names)} kernels."
            )
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise ValueError("weights must be finite, not negative, and not all zero.")
        return weights


class WeightLearner(BankWeights):
    """A mixin for estimators that learn the weights of a bank by a criterion of their own.

    Parameters ``weights``, ``solver``, ``tol`` and ``max_iter``; fitted on a
    bank: ``kernel_weights_``, ``kernel_names_``, ``weights_report_``, ``gap_``,
    ``n_iter_``, ``history_``. One kernel alone has the last three: a closed
    form is one step without a gap.
    """

    solver: str
    tol: float
    max_iter: int | None
    _held_out_error: float

    def _start_weights(self) -> None:
        self.gap_, self.n_iter_ = 0.0, 1
        self.history_: tuple[dict[str, float], ...] = ()

    @property
    def _weight_steps(self) -> int:
        return WEIGHT_STEPS if self.max_iter is None else self.max_iter

    def _weigh_bank(
        self,
        form: Representation,
        names: list[str],
        make_criterion: Callable[..., Judge],
        loo_targets: Array | None = None,
    ) -> Weighed[Judge]:
        """Weights of the kernels as given, and the proof.

        ``loo_targets`` are the one-hot labels where the form has other targets. What
        the weights were worth is worked out when ``weights_report_`` is asked for.
        """
        check_alive(form, names)
        criterion = make_criterion(form)
        search = Search(criterion)
        descent = None
        if not (isinstance(self.weights, str) and self.weights == "learn"):
            point, descent = self._given_point(form, names, loo_targets)
            search.evaluate(lift(criterion.start()[: criterion.size - len(point)], point))
            result = Result(
                search.point, search.value, gap=search.gap, history=tuple(search.history)
            )
        elif criterion.concave:
            result = solve_vertices(search, vertices_of(form))
        elif not criterion.convex:
            result = solve_local(search, vertices_of(form), max_iter=self._weight_steps)
            self._warn_if_local(result)
        else:
            result = solve_simplex(
                search, solver=self.solver, tol=self.tol, max_iter=self._weight_steps
            )
            self._warn_if_stopped(result)
        shares = criterion.shares(result.point)
        theta = form.theta_at(shares)
        self._shares = shares / shares.sum()
        self._store_weights(theta, names, result)
        if criterion.concave and result.n_iter < form.p:  # given weights: a vertex would be optimal
            best = min(criterion.evaluate(d).value for d in vertices_of(form))
            self.gap_ = max(result.value - best, 0.0)
        self._store_descent(descent)
        again, tangents = form.again, (search.intercepts, search.slopes)
        self._weights_report: WeightsReport | Callable[[], WeightsReport] | None = lambda: (
            report_weights(make_criterion, again(), names, result, tangents)
        )
        return Weighed(theta, result, criterion)

    def _weigh_without_criterion(self, form: Representation, names: list[str]) -> Array:
        """Weights that are given or aligned, where no convex criterion could choose them."""
        check_alive(form, names)
        point, descent = self._given_point(form, names, None)
        self._store_weights(form.theta_at(point), names, Result(point, np.nan, gap=np.nan))
        self._store_descent(descent)
        self._weights_report = None
        return self.kernel_weights_

    def _judge_without_each(
        self, data: Labelled, fit: Callable[[Self, Labelled], object], by: str
    ) -> None:
        """Has the report tell the held-out error without each kernel: a fit to the same rows.

        ``fit`` leaves it in ``_held_out_error``. Rows of a stream are not read again for it.
        """
        told = self.__dict__.get("_weights_report")
        if not callable(told) or data.names is None or not isinstance(data.source, ArraySource):
            return
        names, model = tuple(data.names), copy(self)  # a saved one has no report

        self._weights_report = lambda: replace(
            told(),
            names=names,
            weights=tuple(self._shares.tolist()),
            held_out_error=self._held_out_error,
            held_out_by=by,
            fit_without=partial(error_without, model, data, fit),
        )

    @property
    def weights_report_(self) -> WeightsReport:
        """Was it worth it? Worked out from the training rows when it is first asked for."""
        found = getattr(self, "_weights_report", None)
        if not hasattr(self, "kernel_weights_") or found is None:
            raise AttributeError(
                f"This {type(self).__name__} has no weights_report_: it was not fitted on several "
                "kernels with a criterion for their weights, or it was saved before the report was "
                "asked for (it needs the training rows, which a saved model does not keep)."
            )
        if not isinstance(found, WeightsReport):
            self._weights_report = found = found()
        return found

    def __getstate__(self) -> dict[str, object]:
        state = dict(super().__getstate__())  # type: ignore[call-overload]
        if callable(state.get("_weights_report")):
            state = {**state, "_weights_report": None}
        return state

    def _store_weights(self, weights: Array, names: list[str], result: Result) -> None:
        self._name_weights(weights, names)
        self.gap_, self.history_ = result.gap, result.history
        self.n_iter_ = max(1, result.n_iter)

    def _store_descent(self, descent: Result | None) -> None:
        """What leave-one-out weights have in the place of a gap: how they were found."""
        if descent is not None:
            self.gap_, self.history_, self.n_iter_ = np.nan, descent.history, descent.n_iter

    def _warn_if_local(self, result: Result) -> None:
        if result.status == "stopped":
            warn_user(
                f"The local search for kernel weights was stopped after {result.n_iter} steps "
                f"(max_iter={self._weight_steps} from each of two starts). Raise max_iter.",
                ConvergenceWarning,
            )

    def _warn_if_stopped(self, result: Result) -> None:
        if result.status == "stopped":
            warn_user(
                f"The kernel weights are optimal to a relative gap of {result.relative_gap:.2g}, "
                f"and tol={self.tol:g} was asked for ({result.n_iter} steps). Raise max_iter or "
                "tol, or try another solver.",
                ConvergenceWarning,
            )


def error_without(
    model: Learner, data: Labelled, fit: Callable[[Learner, Labelled], object], m: int
) -> float:
    """The held-out error of a fit without one kernel; NaN if no other tells rows apart."""
    if data.names is None or len(data.names) < 2:
        return np.nan
    worker = copy(model)
    if not isinstance(worker.weights, str):
        worker.weights = np.delete(np.asarray(worker.weights, dtype=np.float64), m)
    others = [i for i in range(len(data.names)) if i != m]
    some = replace(
        data,
        kernels=[data.kernels[i] for i in others],
        names=[data.names[i] for i in others],
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit(worker, some)
    except (ValueError, np.linalg.LinAlgError):
        return np.nan
    return float(worker._held_out_error)


def lift(extra: Array, d: Array) -> Array:
    """A point of a criterion's simplex: what it weighs beside the bank, and its weights d."""
    return np.concatenate([extra, (1 - extra.sum()) * d])


def vertices_of(form: Representation) -> list[Array]:
    """Each kernel that varies, alone."""
    return [np.eye(form.p)[i] for i in np.flatnonzero(form.alive)]


def report_weights(
    make_criterion: Callable[..., WeightCriterion],
    form: Representation,
    names: list[str],
    result: Result,
    tangents: tuple[list[float], list[Array]],
) -> WeightsReport:
    """The criterion at the weights found, at uniform weights and at the best single kernel.

    A criterion that also learns its regularisation keeps the one it found. The
    tangents of the search rule out most of the single kernels.
    """
    search = Search(make_criterion(form))
    search.intercepts, search.slopes = tangents
    extra = result.point[: search.problem.size - form.p]
    best, best_value = best_vertex(search, [lift(extra, d) for d in vertices_of(form)])
    uniform = search.problem.evaluate(lift(extra, form.uniform())).value
    name = names[int(np.flatnonzero(form.alive)[best])]
    return WeightsReport(result.value, uniform, best_value, name)


def check_alive(bank: Representation, names: list[str]) -> None:
    """Refuse a bank in which no kernel varies; say which kernels get no weight because of it."""
    bank.uniform()
    dead = [name for name, alive in zip(names, bank.alive, strict=True) if not alive]
    if dead:
        warn_user(
            f"Kernels that take one value on all rows get weight zero: {', '.join(dead)}.",
        )
