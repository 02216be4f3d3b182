"""Whether a penalty and a regulariser of one's own are what the solvers take them for."""

from collections.abc import Callable

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.general_forms.penalties import Penalty
from kernel_learn.criteria.regularizers import Regularizer
from kernel_learn.testing.promise import Promise

EXCESSES = np.linspace(-3.0, 3.0, 61)
STEPS = (1e-3, 0.1, 1.0, 30.0)
NEARBY = np.array([-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0])


def check_penalty(penalty: Penalty, *, rtol: float = 1e-9) -> None:
    """Raise AssertionError with a sentence that names the first promise the penalty breaks.

    ``value`` is convex and finite, entry by entry or one number for all; ``proximal`` gives the
    u with the least p(u) + (u - t)^2 / (2 step); neither changes what it is given.

    Parameters
    ----------
    penalty : Penalty
        What is checked.
    rtol : float
        What rounding may do.

    Examples
    --------
    >>> from kernel_learn.criteria.general_forms.penalties import Hinge
    >>> from kernel_learn.testing import check_penalty
    >>> check_penalty(Hinge())
    """
    promise = Promise(type(penalty).__name__, rtol)
    t = EXCESSES.copy()
    if np.ndim(penalty.value(t.copy())) == 0:
        check_joint_penalty(promise, penalty)
        return
    values = check_numbers_of(promise, "value", penalty.value, t)
    check_convex(promise, "value", t, values)
    for step in STEPS:
        steps = np.full(len(t), step)

        def proximal(t: Array, steps: Array = steps) -> Array:
            return penalty.proximal(t, steps[: len(t)])

        u = check_numbers_of(promise, "proximal", proximal, t)

        def cost(v: Array, steps: Array = steps) -> Array:
            return np.asarray(penalty.value(v) + (v - t) ** 2 / (2 * steps))

        least = cost(u)
        for move in NEARBY:
            promise(
                np.all(least <= cost(u + move) + rtol * (1 + np.abs(least))),
                "proximal(t, step) must give the least value(u) + (u - t)^2 / (2 step)",
                f"at step {step:g} a u that is {move:+g} away has less",
            )


def check_joint_penalty(promise: Promise, penalty: Penalty) -> None:
    """The same of a function of all excesses at once, at random ones with a step for each."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        ends = rng.normal(size=(2, 6))
        step = rng.choice(STEPS, size=6)
        given = ends.copy()
        low, high = (float(penalty.value(end)) for end in given)
        middle = float(penalty.value(given.mean(axis=0)))
        promise(np.isfinite([low, high, middle]).all(), "value must give a finite number")
        rounding = promise.rtol * (1 + abs(low) + abs(high))
        promise(
            middle <= (low + high) / 2 + rounding,
            "value must be convex",
            f"between two points with {low:g} and {high:g} it is {middle:g}",
        )
        t, own = given[0], step.copy()
        u = np.asarray(penalty.proximal(t, own))
        kept = np.array_equal(given, ends) and np.array_equal(own, step)
        promise(kept, "value and proximal must not change what they are given")
        promise(
            u.shape == t.shape and np.isfinite(u).all(),
            "proximal must give a finite number for each entry",
        )
        moves = [u, *(u + size * rng.normal(size=6) for size in np.abs(NEARBY))]
        costs = [float(penalty.value(v)) + np.sum((v - t) ** 2 / (2 * step)) for v in moves]
        promise(
            costs[0] <= min(costs) + promise.rtol * (1 + abs(costs[0])),
            "proximal(t, step) must give the least value(u) + sum of (u - t)^2 / (2 step)",
            "another u nearby has less",
        )


def check_regularizer(regularizer: Regularizer, *, rtol: float = 1e-6) -> None:
    """Raise AssertionError with a sentence that names the first promise the regulariser breaks.

    ``value`` is a sum over eigenvalues, convex, least at ``alpha``; ``minimizer(x)`` gives the
    w >= 0 with the least value([w]) - x w below ``domain``, and grows with x.

    Parameters
    ----------
    regularizer : Regularizer
        What is checked.
    rtol : float
        What rounding may do.

    Examples
    --------
    >>> from kernel_learn.criteria.regularizers import LogDet
    >>> from kernel_learn.testing import check_regularizer
    >>> check_regularizer(LogDet())
    """
    promise = Promise(type(regularizer).__name__, rtol)

    def each(w: Array) -> Array:
        return np.array([regularizer.value(np.array([entry])) for entry in w])

    w = np.linspace(0.05, 4.0, 80)
    values = each(w)
    total = regularizer.value(w)
    promise(
        np.isclose(total, values.sum(), rtol=rtol),
        "value must be a sum over the eigenvalues",
        f"of {len(w)} at once it is {total:g}, and {values.sum():g} one by one",
    )
    check_convex(promise, "value", w, values)
    top = min(regularizer.domain, 3.0)
    x = top - np.geomspace(0.05, 8.0, 60)[::-1]
    found = check_numbers_of(promise, "minimizer", regularizer.minimizer, x)
    promise(np.all(found >= 0), "minimizer must be >= 0", f"it gives {found.min():g}")
    least = each(found) - x * found
    for move in NEARBY:
        other = np.maximum(found + move, 0.0)
        costs = each(np.maximum(other, 1e-12)) - x * other
        promise(
            np.all(least <= costs + rtol * (1 + np.abs(least))),
            "minimizer(x) must give the least value([w]) - x w over w >= 0",
            f"a w that is {move:+g} away has less",
        )
    start = regularizer.minimizer(np.zeros(1))
    promise(
        regularizer.alpha in (0.0, 1.0) and np.allclose(start, regularizer.alpha, atol=rtol),
        "alpha must be minimizer(0), and 0 or 1",
        f"alpha is {regularizer.alpha:g} and minimizer(0) {float(start[0]):g}",
    )


def check_numbers_of(
    promise: Promise, name: str, function: Callable[[Array], Array | float], t: Array
) -> Array:
    """Finite values of t's shape, each of its own entry alone, and t as it was."""
    given = t.copy()
    values = np.asarray(function(given))
    promise(np.array_equal(given, t), f"{name} must not change what it is given")
    promise(
        values.shape == t.shape and np.isfinite(values).all(),
        f"{name} must give a finite number for each entry",
        f"it gave shape {values.shape} for {t.shape}"
        if values.shape != t.shape
        else "some are not finite",
    )
    half = np.asarray(function(t[: len(t) // 2].copy()))
    promise(
        np.array_equal(half, values[: len(half)]), f"{name} of an entry must not depend on others"
    )
    return values


def check_convex(promise: Promise, name: str, t: Array, values: Array) -> None:
    """Values on equidistant points have no dent."""
    dent = values[1:-1] - (values[:-2] + values[2:]) / 2
    worst = int(np.argmax(dent))
    promise(
        dent[worst] <= promise.rtol * (1 + np.abs(values[worst])),
        f"{name} must be convex",
        f"at {t[worst + 1]:g} it is not",
    )
