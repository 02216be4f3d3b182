"""Interior points and working sets for a support vector machine with few columns."""

from typing import Any, Protocol

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.solvers.predictor_corrector import (
    QuadraticProgram,
    Residuals,
    Solve,
    factor_definite,
    inner_point,
    solve_predictor_corrector,
)
from kernel_learn.solvers.result import Result

# Rows of a first guess and of a working set, per column: the r x r systems then
# cost as much as forming them, and three in four rows need not be looked at.
ROWS_PER_COLUMN, LEAST_ROWS = 8, 4000
STEPS = 100


class LinearMachine(Protocol):
    """max over alpha of 1'alpha - 1/2 |F'(y alpha)|^2, 0 <= alpha <= boxes, y'alpha = 0."""

    F: Array  # (n, r)
    y: Array  # (n,)
    boxes: Array  # (n,)

    def normal(self, alpha: Array, rows: Any = ...) -> Array:
        """F'(y alpha) over some rows."""

    def feasible(self, alpha: Array) -> Array:
        """The nearest thing to alpha that keeps all constraints."""

    def bounds(self, alpha: Array) -> tuple[float, float, Array]:
        """(dual value, primal value, slacks) of a feasible alpha."""


def solve_linear_machine(
    problem: LinearMachine,
    start: Array | None = None,  # (n,), the alpha of a problem nearby
    *,
    tol: float = 1e-6,
    max_iter: int = 50,
) -> Result:
    """Interior points on working sets, until the bounds of the whole problem meet.

    A random part of the rows gives a first guess. Rows whose slack is then
    clearly positive or negative stay at their box or at zero; the others are
    solved for with these in place, and the set grows by the rows whose slack
    contradicts their place. The point is alpha.
    """
    n, r = problem.F.shape
    size = max(LEAST_ROWS, ROWS_PER_COLUMN * r)
    if n <= 2 * size:
        return _finish(problem, problem.feasible(_interior(problem, np.arange(n), tol)), tol, 1)
    if start is None:
        start = np.zeros(n)
        rows = np.random.default_rng(0).choice(n, size, replace=False)
        # each of these rows stands for n / size rows: the weights are of the size of the answer
        start[rows] = _interior(problem, rows, 1e-3, stands_for=n / size)
    _, _, slack = problem.bounds(start)
    working = np.zeros(n, dtype=bool)
    working[np.argsort(np.abs(slack))[:size]] = True
    history = []
    for _ in range(max_iter):
        fixed = np.where(slack > 0, problem.boxes, 0.0)
        alpha = np.where(working, 0.0, fixed)
        rows = np.flatnonzero(working)
        alpha[rows] = _interior(problem, rows, 0.3 * tol, fixed=alpha)
        alpha = problem.feasible(alpha)
        lower, upper, slack = problem.bounds(alpha)
        history.append({"lower": lower, "upper": upper})
        if upper - lower <= tol * abs(upper) or len(rows) == n:
            break
        wrong = ~working & ((slack > 0) != (fixed > 0))
        near = np.argsort(np.where(working, np.inf, np.abs(slack)))[: size // 2]
        working |= wrong
        working[near] = True
    return _finish(problem, alpha, tol, len(history), tuple(history))


def _finish(
    problem: LinearMachine,
    alpha: Array,
    tol: float,
    n_iter: int,
    history: tuple[dict[str, float], ...] = (),
) -> Result:
    lower, upper, _ = problem.bounds(alpha)
    met = upper - lower <= tol * abs(upper)
    return Result(
        point=alpha,
        value=upper,
        gap=upper - lower,
        n_iter=n_iter,
        status="optimal" if met else "stopped",
        history=history,
    )


def _interior(
    problem: LinearMachine,
    rows: Array,
    tol: float,
    *,
    fixed: Array | None = None,  # (n,), alpha outside the rows (zero on them)
    stands_for: float = 1.0,
) -> Array:
    """Interior points for the rows, the others fixed.

        min over a of 1/2 |F'(y a) + g|^2 - 1'a,  0 <= a <= c,  y'a = s

    A step solves with Fy Fy' + D by the r x r matrix I + Fy' D^{-1} Fy.
    """
    y, c = problem.y[rows], stands_for * problem.boxes[rows]
    Fy = np.asarray(problem.F[rows] * y[:, None], dtype=np.float64)
    if fixed is None:
        g, s = np.zeros(Fy.shape[1]), 0.0
    else:
        outside = np.flatnonzero(fixed)
        g = problem.normal(fixed, outside)
        s = -float(problem.y[outside] @ fixed[outside])
    identity, total = np.eye(Fy.shape[1]), float(c.sum())

    def factorise(D: Array) -> Solve:
        scaled = Fy / np.sqrt(D)[:, None]
        inner = factor_definite(identity + scaled.T @ scaled)

        def solve(R: Array) -> Array:
            R_D = R / D[:, None]
            return np.asarray(R_D - (Fy @ inner(Fy.T @ R_D)) / D[:, None])

        return solve

    def is_optimal(a: Array, left: Residuals) -> bool:
        w = Fy.T @ a + g
        value = float(a.sum()) - 0.5 * float(w @ w)
        even = np.abs(left.dual).max() < 1e-6 and np.abs(left.primal).max() < 1e-9 * total
        return bool(even and left.complementarity <= 0.1 * tol * abs(value))

    program = QuadraticProgram(
        lambda a: Fy @ (Fy.T @ a + g) - 1.0, factorise, y[None, :], np.array([s]), c
    )
    return solve_predictor_corrector(program, *inner_point(program), is_optimal, STEPS)
