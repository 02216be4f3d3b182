"""Whether a criterion on kernel weights is what it says: value, gradient, Hessian, lower bound."""

from itertools import pairwise

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.solvers.simplex import SimplexProblem
from kernel_learn.testing.promise import Promise

# Steps of the Taylor test: long enough to be above rounding, short enough to see the slope.
STEPS = 0.1 * 0.5 ** np.arange(1, 7)


def check_criterion(
    criterion: SimplexProblem, *, smooth: bool = True, rtol: float = 1e-8, random_state: int = 0
) -> None:
    """Raise AssertionError with a sentence that names the first promise the criterion breaks.

    A criterion of kernel weights is J(d) on the simplex {d >= 0, sum d = 1}, convex (or, if it
    says ``concave = True``, concave). ``evaluate(d)`` gives J(d), its gradient, a minorant with

        J(e) >= minorant + gradient'(e - d)   for every e of the simplex,

    which is what every certificate stands on, and a Hessian if there is one.

    Parameters
    ----------
    criterion : WeightCriterion, or any object with size, start and evaluate
        What is checked, on the sample that it holds.
    smooth : bool
        Whether the gradient is asked to be the derivative everywhere. Where J has kinks, or is
        an optimum that is found to some tolerance, pass False: the tangent is checked still.
    rtol : float
        What rounding, and the tolerance of an inner solver, may do, relative to the value.
    random_state : int
        Of the points at which it is evaluated.

    Examples
    --------
    >>> import numpy as np
    >>> from kernel_learn.criteria.evaluation import Evaluation
    >>> from kernel_learn.testing import check_criterion
    >>> class Distance:
    ...     '''J(d) = 1 + |d - e|^2 / 2.'''
    ...
    ...     size = 3
    ...     e = np.array([0.2, 0.3, 0.5])
    ...
    ...     def start(self):
    ...         return np.full(3, 1 / 3)
    ...
    ...     def evaluate(self, d):
    ...         value = 1 + (d - self.e) @ (d - self.e) / 2
    ...         return Evaluation(value, d - self.e, value, lambda: np.eye(3))
    >>> check_criterion(Distance())
    """
    promise = Promise(type(criterion).__name__, rtol)
    rng = np.random.default_rng(random_state)
    concave = bool(getattr(criterion, "concave", False))
    points = check_start(promise, criterion, rng)
    check_answers(promise, criterion, points)
    check_shape(promise, criterion, points, concave=concave)
    if concave:  # vertices are tried one by one: no tangent is asked for
        return
    check_tangents(promise, criterion, points)
    if smooth:
        check_gradient(promise, criterion, points)
    check_hessian(promise, criterion, points, smooth=smooth)


def check_start(
    promise: Promise, criterion: SimplexProblem, rng: np.random.Generator
) -> list[Array]:
    """The start is a point of the simplex; it, and others inside and on faces, are returned."""
    p = int(criterion.size)
    d = np.asarray(criterion.start(), dtype=np.float64)
    promise(d.shape == (p,), f"start() must have size = {p} entries", f"its shape is {d.shape}")
    on_simplex = bool(np.all(d >= 0)) and abs(float(d.sum()) - 1) <= 1e-9
    promise(on_simplex, "start() must lie on the simplex", f"it is {d}")
    inside = [rng.dirichlet(np.ones(p)) for _ in range(3)]
    face = np.where(np.arange(p) % 2 == 0, rng.dirichlet(np.ones(p)), 0.0)
    return [d, *inside, face / face.sum()]


def check_answers(promise: Promise, criterion: SimplexProblem, points: list[Array]) -> None:
    """Finite figures of the right shape, the same at each call, and d is not written to."""
    p = int(criterion.size)
    for d in points:
        given = d.copy()
        found, again = criterion.evaluate(given), criterion.evaluate(given)
        promise(np.array_equal(given, d), "evaluate(d) must leave d as it was", "it wrote to it")
        promise(np.isfinite(found.value), "the value must be finite", f"at {d} it is {found.value}")
        gradient = np.asarray(found.gradient)
        promise(
            gradient.shape == (p,),
            f"the gradient must be of shape ({p},)",
            f"it is {gradient.shape}",
        )
        promise(np.isfinite(gradient).all(), "the gradient must be finite", f"it is {gradient}")
        slack = promise.rtol * max(abs(found.value), 1e-300)
        promise(
            found.minorant <= found.value + slack,
            "the minorant must not be above the value",
            f"{found.minorant:.10g} is above {found.value:.10g}",
        )
        promise(
            abs(again.value - found.value) <= slack,
            "the same d must give the same value",
            f"it gave {found.value:.10g} and then {again.value:.10g}",
        )


def check_shape(
    promise: Promise, criterion: SimplexProblem, points: list[Array], *, concave: bool
) -> None:
    """Between two points J lies below their chord (above it if concave)."""
    for a, b in pairwise(points):
        ends = [float(criterion.evaluate(d).value) for d in (a, b)]
        middle = float(criterion.evaluate((a + b) / 2).value)
        excess = middle - sum(ends) / 2
        bound = promise.rtol * max(map(abs, ends))
        word = "concave" if concave else "convex"
        kept = -excess <= bound if concave else excess <= bound
        promise(
            kept, f"J must be {word}", f"between {a} and {b} it is off its chord by {excess:.3g}"
        )


def check_tangents(promise: Promise, criterion: SimplexProblem, points: list[Array]) -> None:
    """Every tangent stays below J, at the other points and at the vertices."""
    others = [*points, *np.eye(int(criterion.size))]
    values = [float(criterion.evaluate(e).value) for e in others]
    for d in points:
        found = criterion.evaluate(d)
        if not np.isfinite(found.minorant):
            continue
        for e, value in zip(others, values, strict=True):
            bound = float(found.minorant + found.gradient @ (e - d))
            promise(
                not np.isfinite(value) or bound <= value + promise.rtol * abs(value),
                "minorant + gradient'(e - d) must stay below J(e)",
                f"from {d} to {e} it is {bound:.10g} where J is {value:.10g}",
            )


def check_gradient(promise: Promise, criterion: SimplexProblem, points: list[Array]) -> None:
    """J(d + t s) - J(d) - t g's falls like t^2 along the simplex."""
    for d, s in directions(points):
        found = criterion.evaluate(d)
        value, slope = float(found.value), float(found.gradient @ s)
        left = [abs(float(criterion.evaluate(d + t * s).value) - value - t * slope) for t in STEPS]
        promise(
            falls(left, 2, promise.rtol * abs(value)),
            "the gradient must be the derivative of the value along the simplex",
            f"at {d} what it leaves over falls like t^{order(left):.1f} and not t^2",
        )


def check_hessian(
    promise: Promise, criterion: SimplexProblem, points: list[Array], *, smooth: bool
) -> None:
    """Symmetric, and the derivative of the gradient."""
    p = int(criterion.size)
    for d, s in directions(points):
        found = criterion.evaluate(d)
        if found.hessian is None:
            promise(
                not getattr(criterion, "has_hessian", False),
                "a criterion with has_hessian = True must give a Hessian",
                "it is None",
            )
            return
        H = np.asarray(found.hessian())
        promise(H.shape == (p, p), f"the Hessian must be of shape ({p}, {p})", f"it is {H.shape}")
        size = max(float(np.abs(H).max(initial=0.0)), 1e-300)
        promise(np.abs(H - H.T).max() <= 1e-6 * size, "the Hessian must be symmetric")
        if not smooth:
            continue
        # along s only: what the gradient does off the simplex is nobody's business
        change = [
            float((criterion.evaluate(d + t * s).gradient - found.gradient) @ s) for t in STEPS
        ]
        curvature = float(s @ H @ s)
        left = [abs(c - t * curvature) for c, t in zip(change, STEPS, strict=True)]
        scale = max(abs(float(found.value)), float(np.abs(found.gradient).max()))
        promise(
            falls(left, 2, promise.rtol * scale),
            "the Hessian must be the derivative of the gradient along the simplex",
            f"at {d} what it leaves over falls like t^{order(left):.1f} and not t^2",
        )


def directions(points: list[Array]) -> list[tuple[Array, Array]]:
    """From each point towards the next: such steps stay on the simplex."""
    return [(a, b - a) for a, b in pairwise(points) if not np.array_equal(a, b)]


def order(left: list[float]) -> float:
    """The power of t with which the rest falls, from the longest steps."""
    a, b = max(left[0], 1e-300), max(left[2], 1e-300)
    return float(np.log(a / b) / np.log(STEPS[0] / STEPS[2]))


def falls(left: list[float], power: int, noise: float) -> bool:
    """Whether each halving of the step divides the rest by nearly 2^power, down to noise."""
    pairs = pairwise(left)
    return all(b <= max(a / 2 ** (power - 0.4), noise) for a, b in pairs)
