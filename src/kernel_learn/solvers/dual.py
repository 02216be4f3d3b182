"""Maximise a smooth concave function over z >= 0, with a primal value at hand.

    max over z >= 0 of D(z)

``evaluate(z)`` gives D, its gradient and the value P of a primal point, or None
where D is minus infinity. P - D bounds what is missing to the optimum from
either side, and every solver here stops on (P - D) / |P| <= tol.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.solvers.quasi_newton import two_loop
from kernel_learn.solvers.result import Result


class Point(Protocol):
    """A dual point: value, gradient, and the primal value at what it gives."""

    @property
    def value(self) -> float: ...
    @property
    def gradient(self) -> Array: ...
    @property
    def primal(self) -> float: ...


class ConcaveDual(Protocol):
    """max over z >= 0 of a smooth concave function."""

    @property
    def n(self) -> int: ...

    def evaluate(self, z: Array) -> Point | None: ...

    def newton_step(self, z: Array, gradient: Array, free: Array) -> Array | None:
        """The Newton step on the free variables, or None if it is not to be had."""
        ...


class DualProgress:
    """The points so far, and the one with the least gap between its own primal and dual value.

    The dual rises from step to step; the primal value of what its points give need not fall.
    """

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self.history: list[dict[str, float]] = []
        self.gaps: list[float] = []  # the least one so far, after each point
        self.best: tuple[Array, Point] | None = None

    def add(self, z: Array, point: Point) -> bool:
        """Record a point; True if its gap is within the tolerance."""
        gap = point.primal - point.value
        if self.best is None or gap < self.gaps[-1]:
            self.best = z, point
        self.gaps.append(min([gap, *self.gaps[-1:]]))
        self.history.append({"value": point.primal, "lower": point.value})
        return gap <= self.tol * abs(point.primal)

    def stalls(self, steps_left: int, window: int = 40) -> bool:
        """Whether at the rate of the last steps the gap stays above the tolerance to the end."""
        if len(self.gaps) <= window:
            return False
        now, before = self.gaps[-1], self.gaps[-1 - window]
        if not 0 < now < before:
            return True
        wanted = self.tol * abs(self.history[-1]["value"])
        return bool(window * np.log(now / wanted) / np.log(before / now) > steps_left)

    def result(self, *, optimal: bool) -> Result:
        assert self.best is not None
        z, point = self.best
        return Result(
            point=z,
            value=point.primal,
            gap=self.gaps[-1],
            n_iter=len(self.history),  # points whose gap was taken
            status="optimal" if optimal else "stopped",
            grad_norm=projected_norm(z, point.gradient),
            history=tuple(self.history),
        )


def projected_norm(z: Array, g: Array) -> float:
    """Largest entry of the gradient that may still be followed."""
    return float(np.max(np.abs(np.where((z <= 0) & (g < 0), 0.0, g)), initial=0.0))


def start(dual: ConcaveDual, z: Array | None = None) -> tuple[Array, Point]:
    """A point and the dual there: z if it is given and has a value, else 0."""
    point = None if z is None else dual.evaluate(z)
    if z is None or point is None:
        z = np.zeros(dual.n)
        point = dual.evaluate(z)
    if point is None:
        raise ValueError("The dual has no value at z = 0; the regulariser is not defined there.")
    return z, point


def solve_quasi_newton(
    dual: ConcaveDual,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    memory: int = 20,
    patience: int = 40,
    begin: Array | None = None,  # (n,) z to start from
) -> Result:
    """Projected L-BFGS: a two-metric projection with backtracking along the projection arc.

    Multipliers at zero whose gradient points outwards are held; on the others
    the step is the limited-memory quasi-Newton one. A trial point outside the
    domain of D counts as one without ascent, so the path stays inside it.
    What is not done after ``patience`` steps is badly conditioned (constraints
    that cannot all be met, at a high price): from there on it takes Newton
    steps if the dual offers them.
    """
    z, point = start(dual, begin)
    progress = DualProgress(tol)
    pairs: list[tuple[Array, Array]] = []
    for i in range(max_iter):
        if progress.add(z, point):
            return progress.result(optimal=True)
        g = point.gradient
        free = (z > 0) | (g > 0)
        step = dual.newton_step(z, g, free) if i >= patience else None
        if step is None:
            step = quasi_newton_step(g, free, pairs)
        found = search_arc(dual, z, point, step, 1.0 if pairs else first_step(g, free))
        if found is None:  # no ascent that way: the gradient itself, and no memory
            pairs.clear()
            found = search_arc(dual, z, point, np.where(free, g, 0.0), first_step(g, free))
        if found is None:
            break
        z_new, point_new = found
        s, y = z_new - z, g - point_new.gradient
        if s @ y > 1e-12 * np.sqrt((s @ s) * (y @ y)):
            pairs.append((s, y))
            del pairs[:-memory]
        z, point = z_new, point_new
    return progress.result(optimal=progress.add(z, point))


def first_step(g: Array, free: Array) -> float:
    """The length of a step when nothing is known of the curvature."""
    return 1.0 / max(float(np.linalg.norm(g[free])), 1e-300)


def quasi_newton_step(g: Array, free: Array, pairs: list[tuple[Array, Array]]) -> Array:
    """H g on the free variables."""
    masked = [(np.where(free, s, 0.0), np.where(free, y, 0.0)) for s, y in pairs]
    return two_loop(np.where(free, g, 0.0), masked)


def search_arc(
    dual: ConcaveDual, z: Array, point: Point, step: Array, length: float
) -> tuple[Array, Point] | None:
    """The first of z + length 2^-i step, projected on z >= 0, with sufficient ascent."""
    for _ in range(60):
        z_new = np.maximum(z + length * step, 0.0)
        found = dual.evaluate(z_new)
        if found is not None:
            ascent = float(point.gradient @ (z_new - z))
            if ascent <= 0:
                return None
            rounding = 1e-14 * (abs(point.value) + abs(point.primal))
            rises = found.value >= point.value + 1e-4 * ascent - rounding
            # a slope as steep downwards as it was upwards: past the top, next to the boundary
            if rises and float(found.gradient @ (z_new - z)) >= -0.9 * ascent - rounding:
                return z_new, found
        length *= 0.5 if found is not None else 0.25
    return None


def solve_uzawa(
    dual: ConcaveDual,
    curvature: float,  # L: bounds the curvature of D
    *,
    tol: float = 1e-6,
    max_iter: int = 20_000,
) -> Result:
    """Uzawa's z <- max(z + g(z)/L, 0): Algorithm 1 of Jain et al. with the multiplier clipped.

    (Printed there: the violation is clipped in place of the multiplier, which
    stops elsewhere; and steps need L.) With Nesterov's momentum
    and restart it is proximal gradient on the dual at its best rate.
    """
    z, point = start(dual)
    progress = DualProgress(tol)
    v, at_v, t = z, point, 1.0
    for _ in range(max_iter):
        z_new = np.maximum(v + at_v.gradient / curvature, 0.0)
        if at_v.gradient @ (z_new - z) < 0:
            t = 1.0  # the momentum points downhill: start anew
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        v, z, t = z_new + (t - 1) / t_new * (z_new - z), z_new, t_new
        v = np.maximum(v, 0.0)
        at_v = _evaluate(dual, v)
        if progress.add(v, at_v):
            return progress.result(optimal=True)
    return progress.result(optimal=False)


def _evaluate(dual: ConcaveDual, z: Array) -> Point:
    point = dual.evaluate(z)
    if point is None:
        raise ValueError(
            "A fixed step left the domain of the dual; this regulariser needs a line search."
        )
    return point


def solve_bregman(
    dual: ConcaveDual,
    A_of: Callable[[Any], Array],  # the primal point of a dual point
    factors: list[tuple[Array, Array]],  # (F, J) with C_c = F J F'
    sign: Array,
    bound: Array,
    gamma: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> Result:
    """Cyclic Bregman projections for LogDet: each multiplier in turn to its optimum.

    With A^{-1} = I + sum_c z_c sg_c C_c, raising z_c by t changes F'AF = G to
    (G^{-1} + t sg J)^{-1}; with mu the eigenvalues of sg G^{1/2} J G^{1/2} the
    optimal t solves

        sum_i mu_i / (1 + t mu_i) - b_c - (z_c + t)/gamma = 0,   t >= -z_c,

    and A is updated in M^2 operations. After each sweep A is computed afresh
    from z, so rounding does not build up, and the gap is taken. It ends as soon as
    the sweeps that are left would not close the gap at the present rate.
    """
    z, point = start(dual)
    progress = DualProgress(tol)
    for i in range(max_iter):
        if progress.add(z, point):
            return progress.result(optimal=True)
        if progress.stalls(max_iter - i):
            return progress.result(optimal=False)
        A, z = A_of(point).copy(), z.copy()
        for c, (F, J) in enumerate(factors):
            A_F = A @ F
            G = F.T @ A_F
            t = project_one(G, sign[c] * J, bound[c], z[c], gamma)
            if t != 0.0:
                z[c] += t
                B = t * sign[c] * J
                A -= A_F @ np.linalg.solve(np.eye(len(J)) + B @ G, B @ A_F.T)
        refreshed = dual.evaluate(z)
        if refreshed is None:  # rounding alone can do that: the steps keep A positive definite
            break
        point = refreshed
    return progress.result(optimal=progress.add(z, point))


def project_one(G: Array, J: Array, b: float, z: float, gamma: float) -> float:
    """The root t >= -z of sum mu/(1 + t mu) - b - (z + t)/gamma, decreasing in t."""
    if len(G) == 1:
        mu = np.array([G[0, 0] * J[0, 0]])
    else:
        w, V = np.linalg.eigh((G + G.T) / 2)
        root = (V * np.sqrt(np.maximum(w, 0))) @ V.T
        mu = np.linalg.eigvalsh(root @ J @ root)

    def slope(t: float) -> float:
        return float(np.sum(mu / (1 + t * mu))) - b - (z + t) / gamma

    low, high = -z, np.inf
    if mu.max() > 0:
        low = max(low, -1 / mu.max())
    if mu.min() < 0:
        high = -1 / mu.min()
    if low == -z and 1 + low * mu.max() > 0 and slope(low) <= 0:
        return low
    t = 0.0
    for _ in range(200):
        value = slope(t)
        if value > 0:
            low = max(low, t)
        else:
            high = min(high, t)
        curvature = float(np.sum((mu / (1 + t * mu)) ** 2)) + 1 / gamma
        t_new = t + value / curvature
        if not low < t_new < high:
            t_new = (low + high) / 2 if np.isfinite(high) else 2 * abs(t) + 1.0
        if abs(t_new - t) <= 1e-14 * (1.0 + abs(t) + z):
            return t_new
        t = t_new
    return t
