"""Members' log-odds averaged, and one factor per row for how far the average is trusted.

    L(x) = sum_m weight_m l_m(x),    p(x) = softmax(prior + s(x) (L(x) - prior)),    0 < s(x) <= 1,

l_m the log-odds of member m, each class against the mean of all. L is linear in every member,
so that what training rows or columns add to it adds up exactly. An average of log-odds alone is
too sure where members disagree: s takes it as near as it gets to the average of the members'
probabilities P(x). With d = L - prior and e = log P - prior, both without their means under the
class weights v = (P + softmax(L)) / 2,

    s = <d, e>_v / <d, d>_v   (least squares; for two classes p = P wherever 0 < s <= 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.stacking import centered, softmax

LEAST_FADING = 1e-3  # members that contradict each other leave a trace of their average
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Pooled:
    """Averages over the members of new rows."""

    log_odds: Array  # (n, k) L, rows of mean zero
    mean_proba: Array  # (n, k) P
    prior: Array  # (k,) log-odds of the class shares, of mean zero

    @property
    def fading(self) -> Array:
        """s(x), (n,)."""
        P = np.maximum(self.mean_proba, TINY)
        v = (P + softmax(self.log_odds)) / 2
        # against the likeliest class, whose difference is then exactly zero: of sure rows the
        # others have tiny weights, and means that are taken off would leave rounding
        top = P.argmax(axis=1)[:, None]
        d, e = self.log_odds - self.prior, np.log(P) - self.prior
        d = d - np.take_along_axis(d, top, axis=1)
        e = e - np.take_along_axis(e, top, axis=1)
        mean = (v * d).sum(axis=1)
        square = (v * d * d).sum(axis=1) - mean**2
        cross = (v * d * e).sum(axis=1) - mean * (v * e).sum(axis=1)
        s = np.divide(cross, square, out=np.ones(len(P)), where=square > 0)
        return np.clip(s, LEAST_FADING, 1.0)

    @property
    def faded(self) -> Array:
        """Log-odds of p(x), (n, k)."""
        return self.prior + self.fading[:, None] * (self.log_odds - self.prior)

    @property
    def proba(self) -> Array:
        """p(x), (n, k)."""
        return softmax(self.faded)


class Averages:
    """Averages that grow by one member on some rows at a time."""

    def __init__(self, n: int, shares: Array) -> None:
        self.prior = centered(np.log(shares)[None, :])[0]
        self.log_odds = np.zeros((n, len(shares)))
        self.mean_proba = np.zeros((n, len(shares)))

    def add(self, weight: float, logits: Array, rows: Array | slice = slice(None)) -> None:
        """A member's log-odds; the weights of all members sum to one in every row."""
        self.log_odds[rows] += weight * centered(logits)
        self.mean_proba[rows] += weight * softmax(logits)

    def pooled(self) -> Pooled:
        return Pooled(self.log_odds, self.mean_proba, self.prior)


def pool_held_out(
    log_odds: Sequence[Array],  # of each member, (n, k)
    proba: Sequence[Array],  # likewise; of members in several trees their averages
    weights: Array,  # (members,), sum to one
    shares: Array,  # (k,) of the classes
) -> Pooled:
    """What the average says of rows that no member has seen."""
    L = np.tensordot(weights, np.asarray(log_odds), 1)
    P = np.tensordot(weights, np.asarray(proba), 1)
    return Pooled(L, P, centered(np.log(shares)[None, :])[0])
