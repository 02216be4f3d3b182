"""Which solver for regularised kernel learning, and hard constraints for any regulariser."""

from typing import NamedTuple, TypedDict

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.criteria.general_forms.penalties import PricedPenalty
from kernel_learn.criteria.general_forms.proximal_solve import (
    PenalizedDual,
    solve_near_points,
    solve_penalized,
)
from kernel_learn.criteria.inductive import RegularizedDual
from kernel_learn.criteria.regularizers import LogDet
from kernel_learn.solvers.dual import solve_bregman, solve_quasi_newton, solve_uzawa
from kernel_learn.solvers.logdet_interior import LARGEST_TRACE, solve_logdet_interior
from kernel_learn.solvers.primal_newton import solve_primal_newton
from kernel_learn.solvers.result import Result

SOLVERS = ("auto", "quasi-newton", "bregman", "uzawa")
NEWTON_FEATURES = 500  # A Newton step factors some matrices of this size
NEWTON_SLACK = 10.0  # From here on the steps of Newton's method in A end at the boundary


class Options(TypedDict, total=False):
    """When to stop; what is not given is for each solver to say."""

    tol: float
    max_iter: int


class Solution(NamedTuple):
    """A, the multipliers z, and what certifies both."""

    A: Array  # (M, M)
    z: Array  # (m,)
    value: float
    lower: float
    result: Result
    infeasible: bool = False  # z proves that no A meets hard constraints


def solve_inductive(
    dual: RegularizedDual,
    *,
    solver: str,
    slack: float,
    tol: float,
    max_iter: int | None,
    price: PricedPenalty | None = None,  # None: the squared hinge of gamma
    begin: Array | None = None,  # (m,) multipliers of a problem nearby
) -> Solution:
    """min f(A) + (gamma/2) |s|^2 s.t. sg_c <C_c, A> <= b_c + s_c by the solver of that name.

    "auto", for LogDet: Newton's method on A where there are no fewer constraints than features, at
    most ``NEWTON_FEATURES`` features and a ``slack`` (gamma in units of the constraints) up to
    ``NEWTON_SLACK``; the interior-point method above that, for hard constraints (slack = inf) and
    where the former stops short. Else, and where both stop short, "quasi-newton", the projected
    quasi-Newton method on the dual, which hard constraints wrap in the method of multipliers.
    Other penalties are solved by proximal ascent, merely convex regularisers by proximal points.
    """
    options: Options = {"tol": tol}
    if max_iter is not None:
        options["max_iter"] = max_iter
    if not dual.regularizer.is_strictly_convex:
        result, A = solve_near_points(dual, price=price, **options)
        return Solution(A, result.point, result.value, result.value - result.gap, result)
    if price is not None:
        result, A, _ = solve_penalized(PenalizedDual(dual, price), **options)
        return Solution(A, result.point, result.value, result.value - result.gap, result)
    if solver == "auto" and isinstance(dual.regularizer, LogDet):
        solution = None
        if slack <= NEWTON_SLACK and dual.constraints.dimension <= min(dual.n, NEWTON_FEATURES):
            solution = solve_by_newton(dual, options)
        if slack > NEWTON_SLACK or (solution and solution.result.status != "optimal"):
            solution = solve_by_interior(dual, options)
        if solution and (solution.result.status == "optimal" or not np.isfinite(slack)):
            return solution
    if not np.isfinite(slack):
        return solve_multipliers(dual, **options)
    if solver == "uzawa":
        return of_dual(dual, solve_uzawa(dual, dual.curvature(), **options))
    if solver == "bregman":
        result = solve_bregman(
            dual,
            lambda point: point.A,
            dual.constraints.factors(),
            dual.sign,
            dual.bound,
            dual.gamma,
            **options,
        )
        return of_dual(dual, result)
    return of_dual(dual, solve_quasi_newton(dual, begin=begin, **options))


def of_dual(dual: RegularizedDual, result: Result) -> Solution:
    """The primal point A(z) of the dual one."""
    point = dual.evaluate(result.point)
    assert point is not None
    return Solution(point.A, result.point, point.primal, point.value, result)


def solve_by_newton(dual: RegularizedDual, options: Options) -> Solution:
    """Newton's method on A; the multipliers are the violations at their price."""
    result = solve_primal_newton(dual.constraints, dual.sign, dual.bound, dual.gamma, **options)
    excess = dual.sign * dual.constraints.inner(result.point) - dual.bound
    z = dual.gamma * np.maximum(excess, 0.0)
    return Solution(result.point, z, result.value, result.value - result.gap, result)


def solve_by_interior(dual: RegularizedDual, options: Options) -> Solution:
    """Interior points on A and the multipliers together."""
    sizes = dual.constraints.sizes()
    result, z, infeasible = solve_logdet_interior(
        dual.constraints, dual.sign, dual.bound, dual.gamma, sizes, **options
    )
    return Solution(result.point, z, result.value, result.value - result.gap, result, infeasible)


def solve_multipliers(
    dual: RegularizedDual, *, tol: float = 1e-6, max_iter: int = 1000
) -> Solution:
    """Hard constraints by the method of multipliers.

    z <- the multipliers of the problem with slack at a price g and the bounds b - z/g: a proximal
    step on the dual. The price grows where violations fall too slowly. Steps of z that prove that
    no A of moderate trace meets the constraints end it (see ``solve_logdet_interior``).
    """
    constraints, sizes = dual.constraints, dual.constraints.sizes()
    sizes = np.maximum(sizes, 1e-12 * float(sizes.max()))
    z, price, before = np.zeros(dual.n), 10.0 / float(np.mean(sizes)) ** 2, np.inf
    history: list[dict[str, float]] = []
    optimal = infeasible = False
    for _ in range(40):
        soft = RegularizedDual(dual.regularizer, constraints, price, dual.bound - z / price)
        inner = solve_quasi_newton(soft, tol=tol / 10, max_iter=max_iter)
        step, z = inner.point - z, inner.point
        minimum = dual.regularizer.minimize(-constraints.combine(z * dual.sign))
        assert minimum is not None
        A = minimum.A
        violation = np.maximum(dual.sign * constraints.inner(A) - dual.bound, 0.0)
        value = minimum.value + float(z @ violation)
        lower = minimum.infimum - float(z @ dual.bound)
        history.append({"value": value, "lower": lower})
        worst = float(np.max(violation / sizes))
        optimal = worst <= tol and value - lower <= tol * abs(value)
        y = np.maximum(step, 0.0)
        least = float(linalg.eigvalsh(constraints.combine(y * dual.sign), check_finite=False)[0])
        limit = LARGEST_TRACE * constraints.dimension * max(-least, 0.0)
        infeasible = not optimal and -float(y @ dual.bound) > limit
        if optimal or infeasible:
            break
        if worst > before / 4:
            price *= 10.0
        before = worst
    result = Result(
        point=z,
        value=value,
        gap=value - lower,
        n_iter=len(history),
        status="optimal" if optimal else "stopped",
        history=tuple(history),
    )
    return Solution(A, z if not infeasible else y, value, lower, result, infeasible)
