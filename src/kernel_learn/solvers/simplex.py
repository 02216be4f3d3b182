"""Convex problems on the simplex {d >= 0, sum d = 1}: what solvers need of them."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.special import softmax

from kernel_learn.arrays import Array
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.smooth import solve_smooth

# A weight below this share is dropped if the certificate stands without it.
NEGLIGIBLE = 1e-6
# Of a local search: the gain of a step that ends it, and where it starts beside a vertex (a share
# of 95 % among ten).
LOCAL_TOL, NEAR_VERTEX = 1e-8, 5.0


class Tangent(Protocol):
    """J(d) <= value; J(e) >= minorant + gradient'(e - d) for all e."""

    @property
    def value(self) -> float: ...
    @property
    def gradient(self) -> Array: ...
    @property
    def minorant(self) -> float: ...
    @property
    def hessian(self) -> Callable[[], Array] | None: ...


class SimplexProblem(Protocol):
    """min J(d) over the simplex, J convex."""

    @property
    def size(self) -> int: ...
    def start(self) -> Array: ...
    def evaluate(self, d: Array) -> Tangent: ...


class Search:
    """A problem that remembers: every evaluation, the best point, the best lower bound.

    Solvers evaluate through it, so all of them certify alike:
    gap = (smallest value seen) - (largest lower bound seen).
    """

    def __init__(self, problem: SimplexProblem) -> None:
        self.problem = problem
        self.point = problem.start()
        self.value, self.lower = np.inf, -np.inf
        self.intercepts: list[float] = []  # of the tangents, intercept + slope'e <= J(e)
        self.slopes: list[Array] = []
        self.history: list[dict[str, float]] = []

    @property
    def gap(self) -> float:
        return max(self.value - self.lower, 0.0)

    def evaluate(self, d: Array) -> Tangent:
        tangent = self.problem.evaluate(d)
        if np.isfinite(tangent.minorant):
            intercept = tangent.minorant - float(tangent.gradient @ d)
            self.intercepts.append(intercept)
            self.slopes.append(tangent.gradient)
            self.lower = max(self.lower, intercept + float(tangent.gradient.min()))
        if tangent.value < self.value:
            self.point, self.value = d, tangent.value
        self.history.append({"value": tangent.value, "lower": self.lower})
        return tangent

    def raise_lower(self, lower: float) -> None:
        """A better lower bound from elsewhere; the last entry of the history says so."""
        self.lower = max(self.lower, lower)
        self.history[-1]["lower"] = self.lower

    def bound(self, d: Array) -> float:
        """The best lower bound on J(d) that the tangents seen so far give."""
        return max(
            (c + float(g @ d) for c, g in zip(self.intercepts, self.slopes, strict=True)),
            default=-np.inf,
        )

    def converged(self, tol: float) -> bool:
        return self.gap <= tol * abs(self.value)

    def finish(self, n_iter: int, tol: float) -> Result:
        """The best point with its negligible weights at zero, certified."""
        self._prune(tol)
        return Result(
            point=self.point,
            value=self.value,
            gap=self.gap,
            n_iter=n_iter,
            status="optimal" if self.converged(tol) else "stopped",
            history=tuple(self.history),
        )

    def _prune(self, tol: float) -> None:
        small = (self.point > 0) & (self.point < NEGLIGIBLE)
        if not small.any():
            return
        pruned = np.where(small, 0.0, self.point)
        pruned /= pruned.sum()
        value = self.evaluate(pruned).value
        if value - self.lower <= max(tol * abs(value), self.gap):
            self.point, self.value = pruned, value


def solve_vertices(search: Search, vertices: list[Array]) -> Result:
    """min J(d) for *concave* J: at a vertex, so all of them are tried and the gap is zero."""
    for vertex in vertices:
        search.evaluate(vertex)
    search.lower = search.value
    return Result(search.point, search.value, n_iter=len(vertices), history=tuple(search.history))


def solve_local(search: Search, vertices: list[Array], *, max_iter: int) -> Result:
    """min J(d) where J is neither convex nor concave: no worse than the middle or any vertex.

    L-BFGS on d = softmax(u) over the vertices, from the middle and from near the best of them.
    """
    V, p = np.stack(vertices, axis=1), len(vertices)
    values = [search.evaluate(vertex).value for vertex in vertices]
    near = np.zeros(p)
    near[int(np.argmin(values))] = NEAR_VERTEX

    def objective(u: Array) -> tuple[float, Array]:
        share = softmax(u)
        found = search.evaluate(V @ share)
        slope = V.T @ found.gradient
        return found.value, share * (slope - share @ slope)

    box = [(-12.0, 12.0)] * p
    runs = [
        solve_smooth(objective, start, bounds=box, ftol=LOCAL_TOL, max_iter=max_iter)
        for start in ((np.zeros(p), near) if p > 1 else ())
    ]
    return Result(
        search.point,
        search.value,
        gap=np.nan,
        n_iter=max(1, sum(run.n_iter for run in runs)),
        status="stopped" if any(run.status == "stopped" for run in runs) else "optimal",
        history=tuple({"value": step["value"]} for step in search.history),
    )


def best_vertex(search: Search, vertices: list[Array]) -> tuple[int, float]:
    """The best of some points, exactly: tangents rule out those that need no evaluation."""
    bounds = np.array([search.bound(vertex) for vertex in vertices])
    best, best_value = -1, np.inf
    for i in np.argsort(bounds, kind="stable"):
        if bounds[i] >= best_value:
            break
        value = search.problem.evaluate(vertices[i]).value
        if value < best_value:
            best, best_value = int(i), value
    return best, best_value
