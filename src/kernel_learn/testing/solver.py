"""Whether a solver of problems on the simplex finds planted optima and certifies them truly."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.evaluation import Evaluation
from kernel_learn.solvers.result import Result
from kernel_learn.testing.promise import Promise

Solve = Callable[..., Result]

KNOWN = {"value", "lower", "upper", "grad_norm"}  # what a step of a history may say


def check_solver(
    solve: Solve, *, kinks: bool = False, tol: float = 1e-6, max_iter: int = 500
) -> None:
    """Raise AssertionError with a sentence that names the first promise the solver breaks.

    A solver takes min J(d) over the simplex (an object with ``size``, ``start`` and ``evaluate``)
    and gives a :class:`~kernel_learn.solvers.result.Result`. Here J is made so that its optimum
    is known: inside the simplex, on a face, at a vertex, badly scaled, with one weight only.

    Parameters
    ----------
    solve : function of problem, tol and max_iter, the last two by name, that gives a Result
        What is checked.
    kinks : bool
        Whether J without a Hessian and with kinks is asked for too.
    tol : float
        The certified relative gap that is asked for.
    max_iter : int
        Steps within which it must be reached.

    Examples
    --------
    >>> from kernel_learn.solvers.bundle import solve_bundle
    >>> from kernel_learn.testing import check_solver
    >>> check_solver(solve_bundle, kinks=True)
    """
    promise = Promise(getattr(solve, "__name__", type(solve).__name__), tol)
    problems: list[Planted] = [
        Planted(size, zeros, scale)
        for size, zeros, scale in [(1, 0, 1.0), (4, 0, 1.0), (6, 3, 1.0), (5, 4, 1.0), (6, 2, 1e-6)]
    ]
    for problem in [*problems, *([Kinked(5, 0, 1.0)] if kinks else [])]:
        result = solve(problem, tol=tol, max_iter=max_iter)
        promise(isinstance(result, Result), "it must give a Result", f"it gave {result!r}")
        check_point(promise, problem, result)
        check_certificate(promise, problem, result)
        check_optimum(promise, problem, result, tol)
        check_history(promise, result)
        again = solve(problem, tol=tol, max_iter=max_iter)
        promise(np.array_equal(again.point, result.point), "the same problem must give one answer")
    check_stopped(promise, solve, tol)


class Planted:
    """J(d) = scale (1 + |R(d - e)|^2 / 2 + c'd) with c >= 0 and c'e = 0: e is optimal."""

    def __init__(self, size: int, zeros: int, scale: float, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        e = rng.dirichlet(np.ones(size))
        e[:zeros] = 0.0
        self.e = e / e.sum()
        R = rng.normal(size=(size, size)) + 2 * np.eye(size)
        self.H = scale * R.T @ R
        self.c = scale * np.where(self.e == 0, rng.uniform(0.1, 1.0, size), 0.0)
        self.size, self.scale = size, scale

    @property
    def optimum(self) -> float:
        """J(e)."""
        return self.scale

    def start(self) -> Array:
        """The middle of the simplex."""
        return np.full(self.size, 1 / self.size)

    def value(self, d: Array) -> float:
        """J(d)."""
        s = d - self.e
        return float(self.scale + s @ self.H @ s / 2 + self.c @ d)

    def evaluate(self, d: Array) -> Evaluation:
        """J, gradient and Hessian at d."""
        value = self.value(d)
        return Evaluation(value, self.H @ (d - self.e) + self.c, value, lambda: self.H)


class Kinked(Planted):
    """J(d) = 1 + max_i |d_i - e_i|: a kink at its optimum, and no Hessian."""

    def value(self, d: Array) -> float:
        """J(d)."""
        return 1.0 + float(np.abs(d - self.e).max())

    def evaluate(self, d: Array) -> Evaluation:
        """J and one of its subgradients at d."""
        i = int(np.argmax(np.abs(d - self.e)))
        gradient = np.zeros(self.size)
        gradient[i] = np.sign(d[i] - self.e[i])
        return Evaluation(self.value(d), gradient, self.value(d))


def check_point(promise: Promise, problem: Planted, result: Result) -> None:
    """The point lies on the simplex, and the value is that of the point."""
    d = np.asarray(result.point)
    promise(
        d.shape == (problem.size,) and bool(np.all(d >= 0)) and abs(float(d.sum()) - 1) <= 1e-9,
        "the point must lie on the simplex",
        f"it is {d}",
    )
    value = problem.value(d)
    promise(
        abs(result.value - value) <= 1e-9 * abs(value),
        "the value must be J at the point",
        f"it says {result.value:.10g} where J is {value:.10g}",
    )


def check_certificate(promise: Promise, problem: Planted, result: Result) -> None:
    """value - gap is a lower bound, whatever the status."""
    promise(result.gap >= 0, "the gap must not be negative", f"it is {result.gap:.3g}")
    below = problem.optimum * (1 + 1e-9)
    promise(
        result.value - result.gap <= below,
        "value - gap must be a lower bound on the optimum",
        f"{result.value - result.gap:.10g} is above {problem.optimum:.10g}",
    )


def check_optimum(promise: Promise, problem: Planted, result: Result, tol: float) -> None:
    """With enough steps it says "optimal" with a gap of at most tol, and is there."""
    promise(
        result.status == "optimal",
        f"a convex problem of {problem.size} weights must be solved",
        f'it says "{result.status}" after {result.n_iter} steps',
    )
    promise(
        result.relative_gap <= tol,
        f'"optimal" must mean a relative gap of at most {tol:g}',
        f"it is {result.relative_gap:.3g}",
    )
    promise(
        result.value <= problem.optimum * (1 + 2 * tol),
        "it must find the optimum that was planted",
        f"it found {result.value:.10g} where {problem.optimum:.10g} can be had",
    )


def check_history(promise: Promise, result: Result) -> None:
    """Steps speak one language, and lower bounds do not fall."""
    strange = {key for step in result.history for key in step} - KNOWN
    promise(not strange, f"a history may say {sorted(KNOWN)}", f"it says {sorted(strange)} too")
    lower = [step["lower"] for step in result.history if "lower" in step]
    promise(
        all(b >= a for a, b in pairwise(lower)),
        "the best lower bound must not fall from one step to the next",
    )


def check_stopped(promise: Promise, solve: Solve, tol: float) -> None:
    """Out of steps it says so, and its gap is true all the same."""
    problem = Planted(12, 6, 1.0, seed=1)
    result = solve(problem, tol=1e-15, max_iter=1)
    check_point(promise, problem, result)
    check_certificate(promise, problem, result)
    unproven = result.relative_gap > 1e-15
    promise(
        result.status == "stopped" or not unproven,
        'a run that ends before its gap is closed must say "stopped"',
        f'it says "{result.status}" with a relative gap of {result.relative_gap:.3g}',
    )
