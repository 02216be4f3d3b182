"""From held-out scores to predictions of numbers: the transform and the regulariser of each target.

The regulariser of a transform is that of least held-out squared error on the transform's own
scale. A target stays as it is unless its logarithm, smeared back, has the smaller squared error
by more than a standard error of the difference.
"""

from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.target_transforms import (
    SmearingResiduals,
    Transform,
    ValueMap,
    tell_residuals,
)


@dataclass(frozen=True)
class ValueChoice:
    """How every target is predicted, and what that says of held-out rows."""

    best: Array  # (c,) the place of the best regulariser of every transform
    map: ValueMap
    held: Array  # (n, q)
    loss: float  # squared error as a share of the variance, mean over the targets


def choose_values(
    scores: Array,  # (R, n, c) held out
    targets: NumberTargets,
    safe: Array | None = None,  # (R,) where the scores are more than rounding, None for all
) -> ValueChoice | None:
    """The best of several sets of scores; None if none of them is safe."""
    J = targets.judging
    row, count, seen = targets.row[J], targets.count[J], targets.seen[J]
    errors = np.array([count @ (S[row] - seen) ** 2 for S in scores]) / count.sum()
    errors = np.where(np.isfinite(errors), errors, np.inf)
    if safe is not None:
        errors[~safe] = np.inf
    best = errors.argmin(axis=0)
    if not np.isfinite(errors.min()):
        return None
    chosen = []
    for target in range(targets.n_targets):
        columns = [c for c, one in enumerate(targets.transforms) if one.target == target]
        found = [Prediction(c, scores[best[c], :, c], targets) for c in columns]
        chosen.append(_surely_better(found, targets.values[J, target], row, count))
    low, high = value_range(targets)
    map = ValueMap(
        tuple(one.transform for one in chosen),
        np.array([one.column for one in chosen]),
        tuple(one.residuals for one in chosen),
        low,
        high,
    )
    held = np.stack([one.y for one in chosen], axis=1)
    return ValueChoice(best, map, held, squared_share(held, targets))


class Prediction:
    """One target by one transform, back on its own scale."""

    def __init__(self, column: int, f: Array, targets: NumberTargets) -> None:
        J = targets.judging
        self.column = column
        self.transform: Transform = targets.transforms[column]
        left = targets.seen[J, column] - f[targets.row[J]]
        self.residuals: SmearingResiduals = tell_residuals(left, targets.count[J])
        low, high = value_range(targets)
        y = self.residuals.smear(self.transform, f)
        self.y = np.clip(y, low[self.transform.target], high[self.transform.target])


def _surely_better(found: list[Prediction], y: Array, row: Array, count: Array) -> Prediction:
    """The first, or a later one that is better by more than a standard error."""
    best, p = found[0], count / count.sum()
    for other in found[1:]:
        D = (best.y[row] - y) ** 2 - (other.y[row] - y) ** 2
        gain = float(p @ D)
        deviation = float(np.sqrt(max(p @ (D - gain) ** 2, 0.0)))
        if gain > deviation / np.sqrt(count.sum()):
            best = other
    return best


def value_range(targets: NumberTargets) -> tuple[Array, Array]:
    """What predictions are kept within: what was seen and a tenth more, (q,) each."""
    plain = [one for one in targets.transforms if not one.is_log]
    return np.array([one.low for one in plain]), np.array([one.high for one in plain])


def squared_errors(held: Array, targets: NumberTargets) -> Array:
    """The mean squared held-out error of every target, by the values that judge, (q,)."""
    J = targets.judging
    count = targets.count[J]
    return np.asarray(count @ (held[targets.row[J]] - targets.values[J]) ** 2 / count.sum())


def squared_share(held: Array, targets: NumberTargets) -> float:
    """Squared error as a share of the variance of all values, mean over the targets."""
    scale = np.array([one.scale for one in targets.transforms if not one.is_log])
    return float(np.mean(squared_errors(held, targets) / scale**2))
