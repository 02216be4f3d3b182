"""A primal-dual interior-point method for LogDet, where slack is dear or not allowed at all.

    min over A > 0, s of  tr A - log det A + (gamma/2) |s|^2   s.t.  sg_c <C_c, A> <= b_c + s_c

gamma = inf: hard constraints, s = 0. With S = I + sum_c z_c sg_c C_c and the room
t_c = b_c + z_c/gamma - sg_c <C_c, A> the optimum has A S = I, z_c t_c = 0, z >= 0, t >= 0. It is
the point 1 of the central path A S = mu I of a semidefinite program, so one follows that path from
a large mu and stops at 1, while z_c t_c goes on to 0. Newton's method on A alone has no such path:
with gamma = 1e4 its steps end at the boundary of A > 0. Steps are Mehrotra's, in the scaling of
Nesterov and Todd.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.solvers.metric_system import MetricConstraints, Solver, prepare_system, symmetric
from kernel_learn.solvers.result import Result

SHORT_STEP = 0.3  # of the way to the boundary
WORSE = 1e3  # a gap so many times the best one: rounding has taken over
ACCURACY = 1e-3  # of conjugate gradients
# Constraints that only a metric of more than this many times the trace of the identity can meet
# are said to contradict each other.
LARGEST_TRACE = 1e6
LARGE_TRACE = 1e3  # and that many once no step gets further


class InteriorResult(NamedTuple):
    """A with its certificate, the multipliers, and whether these prove that no A exists."""

    result: Result
    z: Array  # (m,)
    infeasible: bool


@dataclass
class Iterate:
    """A point inside the cones."""

    A: Array
    S: Array
    z: Array
    t: Array

    def moved(self, step: "Iterate", length: float) -> "Iterate":
        return Iterate(
            symmetric(self.A + length * step.A),
            symmetric(self.S + length * step.S),
            self.z + length * step.z,
            self.t + length * step.t,
        )


class Program:
    """The problem above, in the letters of the code."""

    def __init__(
        self, constraints: MetricConstraints, sign: Array, bound: Array, gamma: float
    ) -> None:
        self.constraints, self.sign, self.bound = constraints, sign, bound
        self.gamma = gamma
        self.m, self.M = constraints.n, constraints.dimension
        self.identity = np.eye(self.M)

    def inner(self, A: Array) -> Array:
        return self.sign * self.constraints.inner(A)

    def combine(self, z: Array) -> Array:
        return self.constraints.combine(self.sign * z)

    def system(self, R: Array, d: Array) -> Solver:
        return prepare_system(self.constraints, R, d, direct=True, accuracy=ACCURACY)

    def start(self, sizes: Array) -> Iterate:
        """The least squares point with A = -S, t = -z in units of |C_c|, moved into the cones."""
        d = 1 / (1 / self.gamma + sizes**2)
        A = self.system(self.identity, d)(self.combine(d * self.bound) - self.identity)
        z = d * (self.inner(A) - self.bound) * sizes
        w = linalg.eigvalsh(A, check_finite=False)
        primal = max(-float(w[0]), float(z.max(initial=0.0)), -1.0) + 1.0
        dual = max(float(w[-1]), -float(z.min(initial=0.0)), -1.0) + 1.0
        return Iterate(
            A + primal * self.identity,
            dual * self.identity - A,
            (z + dual) / sizes,
            (primal - z) * sizes,
        )

    def excess(self, A: Array) -> Array:
        return self.inner(A) - self.bound

    def value(self, A: Array, z: Array) -> float:
        """P(A); under hard constraints what is left of a violation is paid at its multiplier."""
        violation = np.maximum(self.excess(A), 0.0)
        if np.isfinite(self.gamma):
            paid = self.gamma / 2 * float(violation @ violation)
        else:
            paid = float(z @ violation)
        return float(np.trace(A)) - log_det(A) + paid

    def lower(self, z: Array) -> float:
        """D(z), minus infinity outside of its domain."""
        determinant = log_det(self.identity + self.combine(z))
        return self.M + determinant - float(z @ self.bound) - float(z @ z) / (2 * self.gamma)

    def excludes_all(self, z: Array, trace: float) -> bool:
        """Whether z proves that no A with tr A <= trace tr I meets the constraints.

        Where it does, 0 >= sum_c z_c (sg_c <C_c, A> - b_c) >= tr A lambda_min(sum z_c sg_c C_c)
        - z'b.
        """
        least = float(linalg.eigvalsh(self.combine(z), check_finite=False)[0])
        return -float(z @ self.bound) > trace * self.M * max(-least, 0.0)


def solve_logdet_interior(
    constraints: MetricConstraints,
    sign: Array,
    bound: Array,
    gamma: float,
    sizes: Array,  # (m,) about |C_c|
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
) -> InteriorResult:
    """A of the problem above to a relative gap of ``tol``.

    Under hard constraints A also violates none by more than ``tol`` |C_c|; or the multipliers
    prove that there is no such A.
    """
    program = Program(constraints, sign, bound, gamma)
    sizes = np.maximum(sizes, 1e-12 * float(np.max(sizes, initial=1e-300)))
    at = best = program.start(sizes)
    history: list[dict[str, float]] = []
    optimal = infeasible = False
    least = np.inf
    for _ in range(max_iter):
        value, lower = program.value(at.A, at.z), program.lower(at.z)
        history.append({"value": value} | ({"lower": lower} if np.isfinite(lower) else {}))
        met = np.isfinite(gamma) or bool(np.all(program.excess(at.A) <= tol * sizes))
        if met and value - lower < least:
            best, least = at, value - lower
        optimal = met and value - lower <= tol * abs(value)
        infeasible = not (optimal or np.isfinite(gamma)) and program.excludes_all(
            at.z, LARGEST_TRACE
        )
        if optimal or infeasible or value - lower > WORSE * least:
            break
        try:
            step, length = find_step(program, at)
        except linalg.LinAlgError:  # rounding: nothing better is to be had
            break
        if length < 1e-10:
            break
        at = at.moved(step, length)
    if np.isfinite(least) and not infeasible:
        at = best
    elif not np.isfinite(gamma):  # no A was found: what is left of the proof when rounding ended it
        infeasible = program.excludes_all(at.z, LARGE_TRACE)
    value = program.value(at.A, at.z)
    result = Result(
        point=at.A,
        value=value,
        gap=value - program.lower(at.z),
        n_iter=len(history),
        status="optimal" if optimal else "stopped",
        history=tuple(history),
    )
    return InteriorResult(result, at.z, infeasible)


def find_step(program: Program, at: Iterate) -> tuple[Iterate, float]:
    """Mehrotra's step: how far the pure Newton step gets decides how much is centred."""
    gamma = program.gamma
    L = linalg.cholesky(at.A, lower=True, check_finite=False)
    w, Q = linalg.eigh(L.T @ at.S @ L, check_finite=False)
    if w[0] <= 0:
        raise linalg.LinAlgError("S is not positive definite.")
    # W = R R' takes S to A; R^{-1} A R^{-T} = R'S R = diag(sqrt(w))
    R = L @ Q * w**-0.25
    R_inv = w[:, None] ** 0.25 * linalg.solve_triangular(L, Q, lower=True, trans="T").T
    root = np.sqrt(w)
    unit = np.sqrt(np.outer(root, root))
    missing_A = program.identity + program.combine(at.z) - at.S
    missing_t = at.z / gamma - program.excess(at.A) - at.t
    h = at.t + at.z / gamma
    d = at.z / h
    solve = program.system(R, d)

    def direction(mu: float, nu: float, second_A: Array | float, second: Array | float) -> Iterate:
        k = (nu - second - at.z * (at.t + missing_t)) / h
        B = 2 * (np.diag(mu - w) - second_A) / (root[:, None] + root)
        V = solve(R_inv.T @ B @ R_inv - missing_A - program.combine(k))
        change = program.inner(V)
        dz = d * change + k
        return Iterate(V, program.combine(dz) + missing_A, dz, dz / gamma - change + missing_t)

    def scaled(step: Iterate) -> tuple[Array, Array]:
        return R_inv @ step.A @ R_inv.T, R.T @ step.S @ R

    def longest(step: Iterate, V: Array, dS: Array) -> float:
        least = min(
            float(linalg.eigvalsh(V / unit, check_finite=False)[0]),
            float(linalg.eigvalsh(dS / unit, check_finite=False)[0]),
            float(np.min(step.z / at.z)),
            float(np.min(step.t / at.t)),
        )
        return -1 / least if least < 0 else np.inf

    newton = direction(min(1.0, float(w.mean())), 0.0, 0.0, 0.0)
    V, dS = scaled(newton)
    reach = min(1.0, longest(newton, V, dS))
    path = (float(at.z @ at.t) + max(float(w.sum()) - program.M, 0.0)) / (program.m + program.M)
    target = max(1 - reach, 1e-2) ** 3 * path
    step = direction(max(1.0, target), target, (V @ dS + dS @ V) / 2, newton.z * newton.t)
    length = longest(step, *scaled(step))
    if length < SHORT_STEP:  # off the centre the second order misleads: go back there first
        centre = direction(max(1.0, path), path, 0.0, 0.0)
        to_centre = longest(centre, *scaled(centre))
        if to_centre > length:
            step, length = centre, to_centre
    return step, min(1.0, (0.9 + 0.09 * reach) * length)


def log_det(A: Array) -> float:
    """log det A, minus infinity where A is not positive definite."""
    try:
        L = linalg.cholesky(A, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return -np.inf
    return 2 * float(np.sum(np.log(np.diagonal(L))))
