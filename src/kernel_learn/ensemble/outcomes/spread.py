"""How far a new y lies from its prediction: a scale of held-out residuals that depends on the row.

log(|e| + a tenth of its median) is fitted by kernel ridge regression, exactly left out for the rows
themselves; s(x) is its exponential, or one where the Gaussian log score of held-out rows prefers a
constant. The standard deviation is c s(x), where (y - f) / (c s) of held-out rows has mean square
one; quantiles are those of (y - f) / s, with the n + 1 of conformal prediction.
Intervals (``ledger.jackknife``) take the sizes |y - f| / s.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.intervals import jackknife_intervals, value_masses
from kernel_learn.criteria.held_out.number_targets import NumberTargets, merge_values
from kernel_learn.criteria.held_out.ridge import RIDGE_REGS, Dual, RidgePath
from kernel_learn.kernels import Kernel
from kernel_learn.representations.linalg import LEAST_SLACK
from kernel_learn.rows.access import n_rows, row_blocks

CACHED_NUMBERS = 2**15  # that are sorted at a time
SMALL = 0.1  # of the median residual: a residual of zero has a logarithm


@dataclass(frozen=True)
class ResidualScale:
    """s(x) of one target, and the residuals over it."""

    model: Dual | None  # of log s; None where s is one
    shift: float  # log s = shift + scale * score
    scale: float
    deviation: float  # c
    residuals: Array  # (m,) e / s, sorted
    count: Array  # (m,)
    mass: Array  # (m,) what each counts where groups are exchangeable, and not rows
    place: Array  # (m,) which of the values each is

    def __call__(self, K_cross: Array) -> Array:
        """s of new rows, (n_new,)."""
        if self.model is None:
            return np.ones(len(K_cross))
        return np.exp(self.shift + self.scale * self.model.scores(K_cross)[:, 0])

    def intervals(
        self,
        said: Array,  # (n, units) of new rows, by models without each unit
        unit: Array,  # (m,) of each value
        s: Array,  # (n,) of the new rows
        coverage: float,
    ) -> Array:
        """Jackknife+, (n, 2)."""
        order, sizes, mass = unit[self.place], np.abs(self.residuals), self.mass
        if len(order) == said.shape[1] == len(np.unique(order)):
            back = np.argsort(order)  # sizes are moved to their units: no copy of what was said
            sizes, mass = sizes[back], mass[back]
        else:
            said = said[:, order]
        found = np.empty((len(said), 2))
        for rows in row_blocks(len(said), max(1, CACHED_NUMBERS // len(sizes))):
            reach = s[rows, None] * sizes
            found[rows] = jackknife_intervals(said[rows], reach, mass, coverage)
        return found

    def quantiles(self, shares: Array) -> Array:
        """Of the residuals over s, (len(shares),)."""
        cumulative = np.cumsum(self.count)
        n = float(cumulative[-1])
        found = np.empty(len(shares))
        for i, share in enumerate(shares):
            # ceil without the rounding of share * (n + 1), counted from the nearer end
            above = np.ceil(max(share, 1 - share) * (n + 1) - 1e-9)
            ranks = [min(above, n), max(n + 1 - above, min(1.0, n))]
            places = np.searchsorted(cumulative, np.array(ranks) - 1e-9 * n)
            ends = self.residuals[np.minimum(places, len(cumulative) - 1)]
            found[i] = np.mean(ends) if share == 0.5 else ends[0 if share > 0.5 else 1]
        return found


@dataclass(frozen=True)
class Spread:
    """The scales of all targets, with the rows and the kernel that they depend on."""

    kernel: Kernel
    rows: Rows  # (n, d) in one view
    scales: Sequence[ResidualScale]

    def values(self, new: Rows) -> Array:
        """s of new rows in the view, (n_new, q)."""
        if all(scale.model is None for scale in self.scales):
            return np.ones((n_rows(new), len(self.scales)))
        K = np.asarray(self.kernel(new, self.rows))
        return np.stack([scale(K) for scale in self.scales], axis=1)

    @property
    def deviations(self) -> Array:
        """c of every target, (q,)."""
        return np.array([scale.deviation for scale in self.scales])

    def quantiles(self, shares: Array) -> Array:
        """Of residuals over s, (q, len(shares))."""
        return np.stack([scale.quantiles(shares) for scale in self.scales])


def fit_spread(
    kernel: Kernel,
    rows: Rows,
    targets: NumberTargets,
    held: Array,  # (n, q) held-out predictions
) -> Spread:
    """Scales of all targets; one decomposition serves them."""
    E = targets.values - held[targets.row]
    K = np.asarray(kernel(rows))
    scales = [fit_scale(K, targets, E[:, target]) for target in range(targets.n_targets)]
    return Spread(kernel, rows, scales)


def held_out_scales(kernel: Kernel, rows: Rows, targets: NumberTargets, held: Array) -> Array:
    """s of every value by a model that has not seen it, (m, q)."""
    E = targets.values - held[targets.row]
    K, found = np.asarray(kernel(rows)), np.ones(E.shape)
    for target in range(targets.n_targets):
        own = local_scale(K, targets, E[:, target])
        if own is not None:
            found[:, target] = own[3]
    return found


def fit_scale(K: Array, targets: NumberTargets, e: Array) -> ResidualScale:
    """The scale of one target's residuals (m,)."""
    found = local_scale(K, targets, e)
    if found is None:
        return _scale(None, 0.0, 1.0, np.ones(len(e)), e, targets)
    return _scale(*found, e, targets)


def local_scale(
    K: Array, targets: NumberTargets, e: Array
) -> tuple[Dual, float, float, Array] | None:
    """The model of log s, what its scores mean, and s of every value, held out, (m,).

    None where a constant does as well.
    """
    size, count = np.abs(e), targets.count
    if not size.any():  # of a target that is always the same
        return None
    p = count / count.sum()
    constant = float(np.sqrt(p @ e**2)) or np.finfo(float).tiny
    logs = np.log(size + SMALL * float(np.median(size)) + 1e-12 * constant)
    found = _left_out(K, targets, logs)
    if found is None:
        return None
    model, shift, scale, held = found
    s = np.exp(held[targets.row])
    c = float(np.sqrt(p @ (e / s) ** 2)) or np.finfo(float).tiny
    better = p @ np.log(c * s) < np.log(constant)  # the Gaussian log score at c is this and a half
    return (model, shift, scale, s) if better else None


def _left_out(
    K: Array, targets: NumberTargets, logs: Array
) -> tuple[Dual, float, float, Array] | None:
    """The model of logarithms, what its scores mean, and what it says of rows left out."""
    own = merge_values(logs[:, None], targets.count, targets.row, targets.groups).as_given()
    path = RidgePath(K.copy(), own)
    if not path.centred.unit > 0:
        return None
    scores, least = path.held_out(RIDGE_REGS)
    errors = np.array([own.weight @ (S - own.Y)[:, 0] ** 2 for S in scores])
    errors[least <= LEAST_SLACK] = np.inf
    r = int(errors.argmin())
    if not np.isfinite(errors[r]):
        return None
    transform = own.transforms[0]
    held = transform.back(scores[r, :, 0])
    return path.dual(RIDGE_REGS[r]), transform.mean, transform.scale, held


def _scale(
    model: Dual | None, shift: float, scale: float, s: Array, e: Array, targets: NumberTargets
) -> ResidualScale:
    order, count = np.argsort(e / s, kind="stable"), targets.count
    mass = value_masses(count, targets.row, targets.groups)
    deviation = float(np.sqrt(count @ (e / s) ** 2 / count.sum()))
    return ResidualScale(
        model, shift, scale, deviation, (e / s)[order], count[order], mass[order], order
    )
