"""Numbers seen on another scale, and the way back to the mean of what was seen.

A target y, or log(y + c) of one that is never negative, is fitted as

    t = (g(y) - mean) / scale,      g the identity or log(. + c).

Back from a score f leads the mean of y, not its median: with held-out residuals e of t

    E[y | f] = mean over e of g^{-1}(mean + scale (f + e))        (smearing, Duan 1983),

kept within what was seen and a tenth more.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array

MARGIN = 0.1  # of the range, on either side
SMALL_SHARE = 0.1  # the quantile of positive values that is added where some are zero
MOST_RESIDUALS = 100  # so many and more are told by as many quantiles


@dataclass(frozen=True)
class Transform:
    """t = (g(y) - mean) / scale of one target."""

    target: int
    is_log: bool
    shift: float  # c of log(y + c)
    mean: float
    scale: float
    low: float  # what g(y) is kept within on the way back
    high: float

    def forward(
        self,
        values: Array,  # (m, q) of all targets
    ) -> Array:
        """t of every value, (m,)."""
        y = values[:, self.target]
        return np.asarray(((np.log(y + self.shift) if self.is_log else y) - self.mean) / self.scale)

    def back(self, t: Array) -> Array:
        """y of every t."""
        g = t * self.scale
        g += self.mean
        return np.exp(np.clip(g, self.low, self.high)) - self.shift if self.is_log else g


@dataclass(frozen=True)
class SmearingResiduals:
    """What t missed on held-out rows, as many values as are needed, and their shares."""

    values: Array  # (r,)
    shares: Array  # (r,), of sum one

    def smear(self, transform: Transform, f: Array) -> Array:
        """The mean of y at scores f of any shape.

        Of a logarithm, with g = mean + scale f and sorted e: those e at which g + scale e is below
        or above what it is kept within count by their shares, the others as
        exp(g) sum share exp(scale e), read off running sums.
        """
        if not transform.is_log:
            return transform.back(f)
        order = np.argsort(self.values, kind="stable")
        step, share = transform.scale * self.values[order], self.shares[order]
        below = np.concatenate([[0.0], np.cumsum(share)])
        grown = np.concatenate([[0.0], np.cumsum(share * np.exp(step))])
        g = transform.scale * f + transform.mean
        g = np.clip(g, transform.low - step[-1], transform.high - step[0])
        y = np.exp(g) * grown[-1]
        cut = (g < transform.low - step[0]) | (g > transform.high - step[-1])
        if cut.any():
            own = g[cut]
            first = np.searchsorted(step, transform.low - own, "left")
            last = np.searchsorted(step, transform.high - own, "right")
            y[cut] = np.exp(own) * (grown[last] - grown[first])
            y[cut] += below[first] * np.exp(transform.low)
            y[cut] += (below[-1] - below[last]) * np.exp(transform.high)
        return np.asarray(y - transform.shift)

    def take(self, stays: Array, count: Array) -> "SmearingResiduals":
        """Of some of the values, which count as often as told; quantiles stay what they are."""
        if len(self.values) == MOST_RESIDUALS:
            return self
        return SmearingResiduals(self.values[stays], count[stays] / count[stays].sum())


@dataclass(frozen=True)
class ValueMap:
    """From scores to predictions of every target, each by the transform that was chosen."""

    transforms: tuple[Transform, ...]  # one for each target
    columns: Array  # (q,) of the scores
    residuals: tuple[SmearingResiduals, ...]
    low: Array  # (q,) predictions are kept within
    high: Array

    def __call__(self, scores: Array) -> Array:
        """Predictions, (n, q)."""
        found = [self.value(target, scores[:, c]) for target, c in enumerate(self.columns)]
        return np.stack(found, axis=1)

    def value(self, target: int, f: Array) -> Array:
        """Predictions of one target at scores of its column, of any shape."""
        found = self.unbounded(target, f)
        return np.clip(found, self.low[target], self.high[target], out=found)

    def unbounded(self, target: int, f: Array) -> Array:
        """The same before they are kept within what was seen; linear in f but for logarithms."""
        return self.residuals[target].smear(self.transforms[target], f)


def fit_transforms(
    values: Array,  # (m, q)
    count: Array,  # (m,) how often each was seen
) -> Iterator[Transform]:
    """Every target as it is, and the logarithm of those that are never negative."""
    for target, y in enumerate(values.T):
        yield _standardised(target, y, count)
        if y.min() >= 0 and y.max() > y.min():
            seen = y > 0
            shift = 0.0
            if not seen.all():
                shift = float(weighted_quantiles(y[seen], count[seen], np.array([SMALL_SHARE]))[0])
            yield _standardised(target, np.log(y + shift), count, shift)


def _standardised(target: int, g: Array, count: Array, shift: float | None = None) -> Transform:
    p = count / count.sum()
    mean = float(p @ g)
    std = float(np.sqrt(p @ (g - mean) ** 2))
    scale = std if std > 1e-12 * max(1.0, abs(mean)) else 1.0
    low, high = float(g.min()), float(g.max())
    margin = MARGIN * (high - low)
    is_log = shift is not None
    return Transform(target, is_log, shift or 0.0, mean, scale, low - margin, high + margin)


def tell_residuals(values: Array, count: Array) -> SmearingResiduals:
    """Residuals as they are, or their quantiles if there are many."""
    if len(values) < MOST_RESIDUALS:
        return SmearingResiduals(values, count / count.sum())
    shares = (np.arange(MOST_RESIDUALS) + 0.5) / MOST_RESIDUALS
    quantiles = weighted_quantiles(values, count, shares)
    return SmearingResiduals(quantiles, np.full(MOST_RESIDUALS, 1 / MOST_RESIDUALS))


def weighted_quantiles(values: Array, count: Array, shares: Array) -> Array:
    """The averaged inverse distribution function, (len(shares),): a count of two is two values."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(count[order])
    total, last = float(cumulative[-1]), len(values) - 1
    slack = 1e-12 * total  # a tie of two values must survive rounding
    low = np.searchsorted(cumulative, shares * total - slack, "left")
    high = np.searchsorted(cumulative, shares * total + slack, "right")
    ends = [values[order[np.minimum(place, last)]] for place in (low, high)]
    return np.asarray((ends[0] + ends[1]) / 2)
