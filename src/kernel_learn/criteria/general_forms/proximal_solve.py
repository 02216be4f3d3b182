"""Kernel learning beyond smooth duals: any convex penalty, and merely convex regularisers."""

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.criteria.general_forms.penalties import PricedPenalty
from kernel_learn.criteria.inductive import RegularizedDual
from kernel_learn.criteria.regularizers import Minimum, NearPoint
from kernel_learn.solvers.dual import solve_quasi_newton
from kernel_learn.solvers.result import Result


class PenalizedDual:
    """max over z of D(z) - P*(z), D(z) = inf_A [f(A) - <X(z), A>] - z'b, for any penalty P.

    Of P only its values and its proximal map are known. A step z of that map comes with the
    excess e whose slope it is, and P*(z) = z'e - P(e).
    """

    def __init__(self, dual: RegularizedDual, price: PricedPenalty) -> None:
        self.dual, self.price = dual, price
        sizes = dual.constraints.sizes()
        self.scale = np.maximum(sizes, 1e-6 * float(sizes.max())) ** 2

    def smooth(self, z: Array) -> tuple[float, Array, Minimum] | None:
        """D, its gradient and A(z); None outside the domain."""
        dual = self.dual
        minimum = dual.regularizer.minimize(-dual.constraints.combine(z * dual.sign))
        if minimum is None:
            return None
        excess = dual.sign * dual.constraints.inner(minimum.A) - dual.bound
        return minimum.infimum - float(z @ dual.bound), excess, minimum

    def ascend(self, z: Array, gradient: Array, length: float) -> tuple[Array, float]:
        """(prox of P* at z + step gradient, P* there), steps of ``length`` over |C_c|^2."""
        step = length / self.scale
        y = z / step + gradient
        e = self.price.proximal(y, 1 / step)
        z_new = step * (y - e)
        return z_new, float(z_new @ e) - self.price.value(e)


def solve_penalized(
    problem: PenalizedDual,
    *,
    tol: float = 1e-6,
    max_iter: int = 20_000,
    begin: Array | None = None,
) -> tuple[Result, Array, float]:
    """Accelerated proximal ascent with line search and restarts: (result at z, A, P*(z)).

    Every point has its own gap, f(A) + P(excess) - [D(z) - P*(z)]; the primal value of A(z) need
    not fall, so the best primal point and the best bound are kept, each by itself.
    """
    z = v = np.zeros(problem.dual.n) if begin is None else begin
    at_v = problem.smooth(v)
    if at_v is None:
        raise ValueError("The dual has no value at z = 0; the regulariser is not defined there.")
    length, t = 1.0, 1.0
    upper, lower, A, best, paid = np.inf, -np.inf, at_v[2].A, z, np.inf
    history: list[dict[str, float]] = []
    while len(history) < max_iter:
        found = search_step(problem, v, at_v, length)
        if found is None:
            break
        z_new, conjugate, at_new, length = found
        value, excess, minimum = at_new
        primal = minimum.value + problem.price.value(excess)
        if primal < upper:
            upper, A = primal, minimum.A
        dual = value - conjugate
        if dual > lower:
            lower, best, paid = dual, z_new, conjugate
        history.append({"value": upper, "lower": lower})
        if upper - lower <= tol * abs(upper):
            break
        if float((v - z_new) @ (problem.scale * (z_new - z))) > 0:
            t = 1.0  # the step goes back against the momentum: start anew
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        v_new = z_new + (t - 1) / t_new * (z_new - z)
        at_v_new = at_new if t == 1.0 else problem.smooth(v_new)
        if at_v_new is None:  # the momentum left the domain
            v_new, at_v_new, t_new = z_new, at_new, 1.0
        v, at_v, z, t = v_new, at_v_new, z_new, t_new
    return bracketed(best, upper, lower, tol, history), A, paid


def search_step(
    problem: PenalizedDual, v: Array, at_v: tuple[float, Array, Minimum], length: float
) -> tuple[Array, float, tuple[float, Array, Minimum], float] | None:
    """The first of the lengths 1.5 length 2^-i at which D is above its quadratic model."""
    length *= 1.5
    for _ in range(80):
        z, conjugate = problem.ascend(v, at_v[1], length)
        at_z = problem.smooth(z)
        if at_z is not None:
            d = z - v
            model = at_v[0] + float(at_v[1] @ d) - float(d @ (problem.scale * d)) / (2 * length)
            if at_z[0] >= model - 1e-14 * (abs(at_v[0]) + abs(at_z[2].value)):
                return z, conjugate, at_z, length
        length /= 2
    return None


def solve_near_points(
    dual: RegularizedDual,
    *,
    price: PricedPenalty | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,  # of each of them
) -> tuple[Result, Array]:
    """min f(A) + P(excess) for a merely convex f by proximal points: (result at z, A).

        A <- argmin f(A) + P(excess) + rho/2 |A - A_before|^2,   rho -> 0

    each by its dual; P is (gamma/2) |s|^2 where there is no ``price``. X(z) is linear, so that
    its multipliers, shrunk until X(z) lies in the domain of f's own dual, bound the problem
    itself from below.
    """
    f, M = dual.regularizer, dual.constraints.dimension
    A, z = np.zeros((M, M)), np.zeros(dual.n)
    rho = max(dual.zero_threshold(price), 1e-12)
    history: list[dict[str, float]] = []
    upper, lower, best, bound_at = np.inf, -np.inf, A, z
    for _ in range(60):
        near = RegularizedDual(NearPoint(f, rho, A), dual.constraints, dual.gamma, dual.bound)
        if price is None:
            z = solve_quasi_newton(near, tol=tol / 10, max_iter=max_iter or 1000, begin=z).point
            minimum = near.regularizer.minimize(-dual.constraints.combine(z * dual.sign))
            assert minimum is not None
            A = minimum.A
            value, bound, inside = bounds_of(dual, A, z)
            inner_done = True
        else:
            inner, A, paid = solve_penalized(
                PenalizedDual(near, price), tol=tol / 10, max_iter=max_iter or 2000, begin=z
            )
            z, inner_done = inner.point, inner.status == "optimal"
            value, bound, inside = penalized_bounds(PenalizedDual(dual, price), A, z, paid)
        if value < upper:
            upper, best = value, A
        if bound > lower:
            lower, bound_at = bound, inside
        history.append({"value": upper, "lower": lower})
        if upper - lower <= tol * abs(upper):
            break
        if inner_done:  # a problem that is too stiff already is not made stiffer
            rho /= 3
    return bracketed(bound_at, upper, lower, tol, history), best


def shrink_inside(dual: RegularizedDual, z: Array) -> float:
    """The share of z, at most 1, at which X(z) lies in the domain of f's dual."""
    top = float(linalg.eigvalsh(-dual.constraints.combine(z * dual.sign), check_finite=False)[-1])
    return dual.regularizer.domain / top * (1 - 1e-12) if top >= dual.regularizer.domain else 1.0


def regularizer_value(dual: RegularizedDual, A: Array) -> float:
    """f(A)."""
    w = np.maximum(linalg.eigvalsh(A, check_finite=False), 0)
    return float(dual.regularizer.value(w))


def bounds_of(dual: RegularizedDual, A: Array, z: Array) -> tuple[float, float, Array]:
    """(primal value at A, dual value at z shrunk into the domain, that z)."""
    slack = np.maximum(dual.sign * dual.constraints.inner(A) - dual.bound, 0)
    value = regularizer_value(dual, A) + dual.gamma / 2 * float(slack @ slack)
    z = shrink_inside(dual, z) * z
    point = dual.evaluate(z)
    return value, -np.inf if point is None else point.value, z


def penalized_bounds(
    problem: PenalizedDual,
    A: Array,
    z: Array,
    paid: float,  # P*(z)
) -> tuple[float, float, Array]:
    """The same for any penalty: P*(s z) <= s P*(z) + (1 - s) P*(0), P* being convex."""
    dual, price = problem.dual, problem.price
    excess = dual.sign * dual.constraints.inner(A) - dual.bound
    value = regularizer_value(dual, A) + price.value(excess)
    share = shrink_inside(dual, z)
    at = problem.smooth(share * z)
    most = share * paid - (1 - share) * price.least(dual.n)
    return value, -np.inf if at is None else at[0] - most, share * z


def bracketed(
    z: Array, upper: float, lower: float, tol: float, history: list[dict[str, float]]
) -> Result:
    """Multipliers z with bounds from both sides."""
    return Result(
        point=z,
        value=upper,
        gap=upper - lower,
        n_iter=len(history),
        status="optimal" if upper - lower <= tol * abs(upper) else "stopped",
        history=tuple(history),
    )
