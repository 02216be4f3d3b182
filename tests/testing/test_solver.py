"""check_solver passes the solvers of the package and names what a broken one breaks."""

from dataclasses import replace

import numpy as np
import pytest

from kernel_learn.solvers.bundle import solve_bundle
from kernel_learn.solvers.choice import solve_simplex
from kernel_learn.solvers.silp import solve_silp
from kernel_learn.solvers.simplex_newton import solve_simplex_newton
from kernel_learn.testing import check_solver


@pytest.mark.parametrize("solve", [solve_bundle, solve_silp], ids=["bundle", "silp"])
def test_cutting_planes_pass_kinks_included(solve):
    check_solver(solve, kinks=True)


def test_newton_passes_where_there_is_a_hessian():
    check_solver(solve_simplex_newton)
    with pytest.raises(ValueError, match="has no Hessian"):
        check_solver(solve_simplex_newton, kinks=True)


def good(problem, *, tol, max_iter):
    return solve_simplex(problem, solver="newton", tol=tol, max_iter=max_iter)


def bare_point(problem, **options):
    return good(problem, **options).point


def off_the_simplex(problem, **options):
    result = good(problem, **options)
    return replace(result, point=result.point * 1.1)


def other_value(problem, **options):
    result = good(problem, **options)
    return replace(result, value=result.value * 0.99)


def false_gap(problem, **options):
    """Stops at the start and says that nothing is left to gain."""
    d = problem.start()
    value = problem.value(d)
    result = good(problem, **options)
    return replace(result, point=d, value=value, gap=0.0)


def negative_gap(problem, **options):
    return replace(good(problem, **options), gap=-1e-12)


def gives_up(problem, **options):
    """An honest bound, never closed."""
    d = problem.start()
    tangent = problem.evaluate(d)
    gap = float(tangent.gradient @ d - tangent.gradient.min())
    result = good(problem, **options)
    return replace(result, point=d, value=tangent.value, gap=gap, status="stopped")


def overconfident(problem, **options):
    return replace(gives_up(problem, **options), status="optimal")


def talkative(problem, **options):
    return replace(good(problem, **options), history=({"value": 1.0, "mood": 1.0},))


def forgetful(problem, **options):
    return replace(good(problem, **options), history=({"lower": 1.0}, {"lower": 0.5}))


def by_chance(problem, *, tol, max_iter):
    result = good(problem, tol=tol, max_iter=max_iter)
    d = result.point + 1e-13 * np.random.default_rng().uniform(size=len(result.point))
    d /= d.sum()
    return replace(result, point=d, value=problem.value(d), gap=result.gap + 1e-9 * result.value)


def never_stopped(problem, *, tol, max_iter):
    return replace(good(problem, tol=tol, max_iter=max_iter), status="optimal")


@pytest.mark.parametrize(
    "solve, sentence",
    [
        (bare_point, "must give a Result"),
        (off_the_simplex, "point must lie on the simplex"),
        (other_value, "value must be J at the point"),
        (false_gap, "must be a lower bound on the optimum"),
        (negative_gap, "gap must not be negative"),
        (gives_up, 'must be solved, and it says "stopped"'),
        (overconfident, '"optimal" must mean a relative gap of at most'),
        (talkative, "it says .*mood"),
        (forgetful, "lower bound must not fall"),
        (by_chance, "must give one answer"),
        (never_stopped, 'must say "stopped"'),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_broken_promises_are_named(solve, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_solver(solve)
