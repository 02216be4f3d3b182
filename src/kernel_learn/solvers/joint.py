"""A subspace and its support vector machines, found together."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.solvers.interior import solve_linear_machine
from kernel_learn.solvers.margin import (
    LinearMargin,
    MarginSolution,
    solution_from_scores,
    solve_margin,
)
from kernel_learn.solvers.saddle import WIDTHS, SaddleProblem, descend_factors, solve_saddle

# The relaxed problem of n_components < n_classes is solved to this relative gap.
RELAXED_TOL = 1e-3
SADDLE_STEPS = 5000
ALTERNATING_ROUNDS = 10
STARTS = 8  # of the search for a subspace, beside those with a reason
# Where a step of the saddle costs so many products, it is content with a share of the gap.
DEAR_STEP = 10**6
START_TOL = 1e-2  # of machines that a descent starts from


class Gap(float):
    """upper - lower, and how much of it lies between the bound and the best subspace found.

    With n_components < n_classes the optimum over projectors of rank l can lie
    above that of the relaxed problem, whose lower bound is the only one known.
    ``structural`` is the distance from the best upper bound of the relaxed
    problem to the value of the subspace found: a descent from several starts found no better
    one, and how much of the distance a better one could close is not known.
    """

    structural: float

    def __new__(cls, value: float, structural: float = 0.0) -> "Gap":
        gap = super().__new__(cls, value)
        gap.structural = structural
        return gap

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]
        return float(self), self.structural

    def __repr__(self) -> str:
        if self.structural <= 0:
            return float.__repr__(self)
        return (
            f"{float(self):.6g} (structural: {self.structural:.6g} lie between the bound and the "
            "best subspace found)"
        )

    __str__ = __repr__


class ClosedProblem(Protocol):
    """Machines on the kernel matrix Khat, and how many directions are wanted of them."""

    signs: Array  # (n, m)
    boxes: Array  # (n,)
    Khat: Array | None  # (n, n)

    def frame(self, machines: MarginSolution) -> tuple[Array, Array]:
        """(directions of the best subspace for the machines, their weights in it (m, l))."""


class JointSaddle(SaddleProblem, ClosedProblem, Protocol):
    """Rows F with Khat = F F', signs and boxes; ``Khat`` is there if it is to be used."""

    F: Array  # (n, r)
    n_components: int

    def normals(self, alpha: Array) -> Array:
        """V = F'A, the weights of the machines, (r, m)."""

    def directions(self, V: Array) -> Array:
        """The best subspace for the alpha of V, orthonormal (r, l)."""


@dataclass(frozen=True)
class JointSolution:
    """A subspace, its machines, and the bounds around the optimal value."""

    directions: Array  # (r, l), orthonormal
    coef: Array  # (m, l), the machines' weights on the features F @ directions
    machines: MarginSolution
    lower: float
    upper: float  # the value of the machines on this subspace
    relaxed: float  # the best upper bound of the relaxed problem; upper where that is exact
    met: bool  # the bounds met as asked for
    subspace_fixed: bool  # the machines were solved on F @ directions, not on F
    n_iter: int = 1
    history: tuple[dict[str, float], ...] = ()

    @property
    def gap(self) -> Gap:
        return Gap(self.upper - self.lower, max(self.upper - self.relaxed, 0.0))


def solve_machines(problem: JointSaddle, tol: float, start: Array | None = None) -> MarginSolution:
    """The machines with the kernel matrix Khat: LIBSVM on it, or interior points on F."""
    if problem.Khat is not None:
        return solve_margin(problem.Khat, problem.signs, problem.boxes, tol=tol, start=start)
    return solve_linear(problem.F, problem.signs, problem.boxes, tol, start)


def solve_linear(
    F: Array, signs: Array, boxes: Array, tol: float, start: Array | None = None
) -> MarginSolution:
    """Linear machines on the rows F, one after the other."""
    alpha = np.stack(
        [
            solve_linear_machine(
                LinearMargin(F, y, boxes), None if start is None else start[:, j], tol=tol
            ).point
            for j, y in enumerate(signs.T)
        ],
        axis=1,
    )
    V = F.T @ (signs * alpha)
    lengths = np.einsum("ij,ij->j", V, V)
    dual = alpha.sum(axis=0) - 0.5 * lengths
    return solution_from_scores(alpha, signs, F @ V, lengths, dual, boxes)


def solve_exact(
    problem: JointSaddle,
    *,
    tol: float,
    max_iter: int | None = None,
    start: Array | None = None,
    bound: bool = True,
    L: Array | None = None,  # (n, q), a centred label factor
) -> JointSolution:
    """The saddle point: closed form for l >= m.

    For l < m a descent over subspaces and machines from the top l directions of the machines of
    l = m, from those of HSIC if L is given, from those of the relaxed problem and from
    ``STARTS`` others; what any subspace can reach is bounded from below by the relaxed problem,
    if ``bound``.
    """
    machines = solve_machines(problem, tol, start)
    if problem.n_components >= problem.signs.shape[1]:
        return closed_form(problem, machines, tol)
    V = problem.normals(machines.alpha)
    starts = [problem.directions(V)]
    if L is not None:
        starts.append(label_directions(problem.F, L)[:, : problem.n_components])
    if not bound:
        E, coef, fixed = descend_from(problem, starts, tol, WIDTHS[::2])
        lower, upper = problem.lower(machines.alpha), float(fixed.primal.sum())
        return JointSolution(E, coef, fixed, lower, upper, upper, True, True)
    is_dear = problem.F.size * problem.signs.shape[1] > DEAR_STEP
    widths = WIDTHS[::2] if is_dear else WIDTHS
    if not is_dear:
        starts += list(islice(other_starts(problem, V), STARTS))
    E, coef, fixed = descend_from(problem, starts, tol, widths)
    upper = float(fixed.primal.sum())
    steps = SADDLE_STEPS if max_iter is None else max_iter
    relaxed = solve_saddle(
        problem,
        machines.alpha,
        tol=max(RELAXED_TOL, tol),
        max_iter=steps,
        value=upper if is_dear else np.inf,
    )
    E_relaxed = problem.directions(problem.normals(relaxed.point))
    other = descend_from(problem, [E_relaxed], tol, widths)
    if float(other[2].primal.sum()) < upper:
        E, coef, fixed = other
        upper = float(fixed.primal.sum())
    return JointSolution(
        E,
        coef,
        fixed,
        lower=relaxed.value - relaxed.gap,
        upper=upper,
        relaxed=min(relaxed.value, upper),
        met=relaxed.status == "optimal",
        subspace_fixed=True,
        n_iter=relaxed.n_iter,
        history=relaxed.history,
    )


def closed_form(problem: ClosedProblem, machines: MarginSolution, tol: float) -> JointSolution:
    """l >= m: F'A spans the subspace, so the machines on it are these; nothing is solved again."""
    lower, upper = float(machines.dual.sum()), float(machines.primal.sum())
    met = machines.relative_gap <= tol
    return JointSolution(
        *problem.frame(machines),
        machines=machines,
        lower=lower,
        upper=upper,
        relaxed=upper,
        met=met,
        subspace_fixed=False,
        history=({"lower": lower, "upper": upper},),
    )


def solve_closed(problem: ClosedProblem, *, tol: float) -> JointSolution:
    """l >= m on the kernel matrix Khat alone."""
    assert problem.Khat is not None
    machines = solve_margin(problem.Khat, problem.signs, problem.boxes, tol=tol)
    return closed_form(problem, machines, tol)


def other_starts(problem: JointSaddle, V: Array) -> Iterator[Array]:
    """Subspaces to start from: F'R for waves R (n, l) in the scores F V of the rows.

    Of the scores and not of rows or of coordinates, whose order and signs must not matter.
    """
    rng = np.random.default_rng(0)
    scores, shape = problem.F @ V, (V.shape[1], problem.n_components)
    while True:
        waves = np.cos(2 * scores @ rng.normal(size=shape) + rng.uniform(0, 2 * np.pi, shape[1]))
        yield np.linalg.qr(problem.F.T @ waves)[0]


def descend_from(
    problem: JointSaddle,
    starts: list[Array],  # (r, l) each, orthonormal
    tol: float,
    widths: tuple[float, ...] = WIDTHS,
) -> tuple[Array, Array, MarginSolution]:
    """The best subspace of descents from some, or the first of these if that is better."""

    def solve(E: Array, tol: float) -> tuple[Array, Array, MarginSolution]:
        machines = solve_linear(problem.F @ E, problem.signs, problem.boxes, tol)
        return E, (E.T @ problem.normals(machines.alpha)).T, machines

    found = []
    for start in starts:
        E, coef, machines = solve(start, max(tol, START_TOL))
        rows = problem.F, problem.signs, problem.boxes
        found.append(descend_factors(*rows, E, coef, machines.intercept, widths))
    best = min(found, key=lambda result: result.value)
    ends = [solve(E, tol) for E in (best.point, starts[0])]
    return min(ends, key=lambda end: float(end[2].primal.sum()))


def alternate(
    problem: JointSaddle, start: Array, tol: float
) -> Iterator[tuple[Array, MarginSolution, float]]:
    """Chen et al.'s iteration: (E, machines on F E, D(alpha)), then E from alpha, for ever.

    Each half step is optimal for the other half as it was. That is no descent
    on anything, and it leaves the saddle point even when started there.
    """
    E = start
    while True:
        rows = problem.F @ E
        if problem.Khat is None:
            machines = solve_linear(rows, problem.signs, problem.boxes, tol)
        else:
            machines = solve_margin(rows @ rows.T, problem.signs, problem.boxes, tol=max(tol, 1e-4))
        yield E, machines, problem.lower(machines.alpha)
        E = problem.directions(problem.normals(machines.alpha))


def label_directions(F: Array, L: Array) -> Array:
    """Left singular vectors of F'L, (r, q'): the HSIC subspace that the alternation starts from.

    Centred labels have rank k - 1; their k-th vector, of singular value 1e-16, is a
    direction of rounding and no start.
    """
    left, s, _ = linalg.svd(F.T @ L, full_matrices=False)
    return np.asarray(left[:, s > 1e-8 * s[0]])


def solve_alternating(
    problem: JointSaddle,
    L: Array,  # (n, q), a centred label factor
    *,
    tol: float,
    max_iter: int | None = None,
) -> JointSolution:
    """Rounds of ``alternate`` from the HSIC subspace of L; the best bounds of all rounds."""
    start = label_directions(problem.F, L)[:, : problem.n_components]
    rounds = ALTERNATING_ROUNDS if max_iter is None else max_iter
    history: list[dict[str, float]] = []
    best: tuple[Array, MarginSolution] | None = None
    lower, upper = -np.inf, np.inf
    for E, machines, bound in islice(alternate(problem, start, tol), rounds):
        value = float(machines.primal.sum())
        history.append({"lower": bound, "upper": value})
        lower = max(lower, bound)
        if value < upper:
            best, upper = (E, machines), value
        if upper - lower <= tol * abs(upper):
            break
    if best is None:
        raise ValueError("The alternation needs at least one round, so max_iter >= 1.")
    E, machines = best
    coef = (E.T @ problem.normals(machines.alpha)).T
    met = upper - lower <= tol * abs(upper)
    return JointSolution(
        E, coef, machines, lower, upper, upper, met, True, len(history), tuple(history)
    )
