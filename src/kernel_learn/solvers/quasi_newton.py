"""The inverse Hessian of limited-memory BFGS, for solvers with steps of their own."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array


def two_loop(
    g: Array,
    pairs: Sequence[tuple[Array, Array]],  # (s, y): steps, and what the gradient fell by on them
) -> Array:
    """H g, H the inverse of -Hessian that has H y = s; pairs without curvature are left out."""
    q, kept = np.array(g), []
    for s, y in reversed(pairs):
        sy = float(np.vdot(s, y))
        if sy <= 1e-12 * float(np.vdot(y, y)):
            continue
        a = float(np.vdot(s, q)) / sy
        q -= a * y
        kept.append((s, y, sy, a))
    if kept:
        _, y, sy, _ = kept[0]
        q *= sy / float(np.vdot(y, y))
    for s, y, sy, a in reversed(kept):
        q += (a - float(np.vdot(y, q)) / sy) * s
    return q
