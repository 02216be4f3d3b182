"""Machines with squared hinge loss on landmark features: passes over blocks of rows."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.block_machines import (
    group_scores_without,
    penalty_without,
    scores_without,
)
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.criteria.joint_problem import RowMap
from kernel_learn.criteria.landmark_margin import Projected
from kernel_learn.fitting.kernel_weights import Judge
from kernel_learn.fitting.probabilities import Sharpness, class_logits, sharpen
from kernel_learn.fitting.training import Labelled
from kernel_learn.representations.base import Combined
from kernel_learn.representations.block import CheckedBlock
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.plan import Plan
from kernel_learn.representations.state import class_places
from kernel_learn.representations.summary import summed_labels
from kernel_learn.rows.access import dense, take_rows
from kernel_learn.rows.groups import by_groups, shared_places, whole_groups
from kernel_learn.solvers.block_newton import (
    GATHERED,
    Change,
    HingeResult,
    HingeSums,
    KeptHessians,
    map_blocks,
    solve_squared_hinges,
    sum_blocks,
)
from kernel_learn.solvers.margin import one_vs_rest_signs
from kernel_learn.warn import warn_user

# Features are held, and not evaluated again in each pass, within this share of the budget.
HELD_SHARE = 0.5
# float32 sums cannot tell bounds that are closer than this apart.
SINGLE_TOL = 1e-4
CALIBRATION_ROWS = 2000
# Where weights are learned, machines are solved to this share of the gap that is asked for.
INNER_SHARE = 0.1


def reachable(tol: float, dtype: np.dtype) -> float:
    """The gap asked for, or the least that sums of this type can show."""
    return max(tol, SINGLE_TOL) if dtype == np.float32 else tol


@dataclass
class FeatureBlocks:
    """Features, signs and prices of all rows in blocks, as often as they are asked for.

    Held in memory after the first pass where the budget allows it. ``ready`` are blocks of
    ``plan.block_rows`` rows in the place of the rows X, if ``features`` are to be made of these.
    """

    data: Labelled
    features: Callable[[Rows], Array]  # of rows
    row_bytes: int  # of the features of a row
    prices: Array  # (n_classes,) C of a row of each class
    plan: Plan
    total: Array | None = None  # sum over all rows of C [f, 1][f, 1]', if it is known
    ready: list[Array] | None = None

    def __post_init__(self) -> None:
        needed = held_bytes(self.data, self.row_bytes)
        self._add_up = getattr(self.data.source, "add_up", None)  # by workers
        self.holds = needed <= room_of(self.plan) and self._add_up is None
        if self.holds:
            self.plan = replace(self.plan, bytes_needed=self.plan.bytes_needed + needed)
        self._held: list[tuple[Array, Array, Array]] | None = None
        self._kept: KeptHessians | None = None

    def __call__(self) -> Iterable[tuple[Array, Array, Array]]:
        if self._held is not None:
            return self._held
        return self._read()

    def _read(self) -> Iterator[tuple[Array, Array, Array]]:
        held: list[tuple[Array, Array, Array]] = []
        rows: Iterator[tuple[Rows, Array, Array]] = self.data.source.blocks(self.plan.block_rows)
        if self.ready is not None:
            rows = ((self.ready.pop(0), labels, weight) for _, labels, weight in rows)
        for block in machine_blocks(rows, self.features, self.prices):
            if self.holds:
                held.append(block)
            yield block
        if self.holds:
            self._held = held

    def sums(self, U: Array, wanted: Array, change: Change | None = None) -> HingeSums:
        """What a pass adds up, with features changed; by workers, if they have the rows."""
        if self._add_up is None:
            if change is None and self.holds and np.any(wanted):
                return self._held_sums(U, wanted)
            return sum_blocks(map_blocks(self(), change), U, wanted)
        work = BlockSums(self.features, self.prices, self.data.classes, U, wanted, change)
        m, machines = len(U), int(np.sum(wanted)) + 1
        found: HingeSums = self._add_up(work, n_features=m, n_sums=machines)
        return found

    def _held_sums(self, U: Array, wanted: Array) -> HingeSums:
        """The same, by the rows whose slack has changed its sign since the last pass."""
        active: list[Array] = []
        found = sum_blocks(self(), U, wanted, active)
        assert self._held is not None
        self._kept = self._kept or KeptHessians(len(U) - 1, len(wanted), self.total)
        return replace(found, hessians=self._kept.at(self._held, active, wanted))


def held_bytes(data: Labelled, row_bytes: int) -> int:
    """What features of all rows take, and what goes with them."""
    n, q = data.source.n_rows, count_machines(data)
    needed = n * (row_bytes + 8 * (1 + q) + 3 * q)  # features, signs, prices, masks
    return needed + 2 * min(n, 2 * GATHERED) * row_bytes  # rows that change, and their parts


def room_of(plan: Plan) -> float:
    """What features may take beside a plan."""
    return HELD_SHARE * plan.budget - plan.bytes_needed


def can_hold(data: Labelled, plan: Plan, features: FeatureMap) -> bool:
    """Whether the landmark features of all rows are kept from the pass that adds up moments."""
    row_bytes = features.dimension * features.dtype.itemsize
    return held_bytes(data, row_bytes) <= room_of(plan)


@dataclass(frozen=True)
class BlockSums:
    """The sums over some rows, wherever they are."""

    features: Callable[[Rows], Array]
    prices: Array
    classes: Array
    U: Array
    wanted: Array
    change: Change | None

    def __call__(self, rows: Iterable[CheckedBlock]) -> HingeSums:
        indexed = ((one.X, class_places(self.classes, one.y), one.weight) for one in rows)
        blocks = machine_blocks(indexed, self.features, self.prices)
        return sum_blocks(map_blocks(blocks, self.change), self.U, self.wanted)


def machine_blocks(
    rows: Iterable[tuple[Rows, Array, Array]],  # X, class indices, weights
    features: Callable[[Rows], Array],
    prices: Array,  # (n_classes,)
) -> Iterator[tuple[Array, Array, Array]]:
    """Features, signs and prices of blocks of rows."""
    for X, labels, weight in rows:
        yield features(X), one_vs_rest_signs(labels, len(prices)), prices[labels] * weight


def bank_criterion(
    criterion: Callable[..., Judge],
    data: Labelled,
    features: FeatureMap,
    prices: Array,  # (n_classes,)
    plan: Plan,
    tol: float,
    **options: float,
) -> tuple[Callable[..., Judge], Plan]:
    """A criterion of a bank's weights by machines on its features, and the plan with what is held.

    The machines at some weights are solved to a share of the gap asked of the weights.
    """
    row_bytes = features.dimension * features.dtype.itemsize
    blocks = FeatureBlocks(data, features, row_bytes, prices, plan)
    inner = reachable(INNER_SHARE * tol, features.dtype)
    machines = partial(
        criterion, blocks=blocks, n_machines=count_machines(data), tol=inner, **options
    )
    return machines, blocks.plan


def count_machines(data: Labelled) -> int:
    """One against the rest for each class; of two classes one does."""
    k = len(data.classes)
    return 1 if k == 2 else k


def solve_in_blocks(
    data: Labelled,
    sample: Combined,
    coordinates: RowMap,
    prices: Array,  # (n_classes,)
    plan: Plan,
    *,
    tol: float,
    max_iter: int | None,
    held: list[Array] | None = None,  # z of all rows, which is used up
) -> tuple[HingeResult, Plan]:
    """The machines in the coordinates F, and the plan with what was held.

    They begin where all rows are on the wrong side.
    There every row counts, and with one price the step is a ridge regression, for which
    the moments suffice: F'F = diag(h), v = C F'y / (1 + C h).
    """
    r, k, q = len(coordinates.spectrum), len(data.classes), count_machines(data)
    axes = coordinates.lift(np.eye(r))
    features = sample.expand(axes)
    dtype = features.coef.dtype
    rows: Callable[[Rows], Array] = features.transform
    if held is not None:
        rows = Projected(axes.astype(dtype), features.offset)
    row_bytes = r * dtype.itemsize
    start = total = None
    if np.all(prices == prices[0]):
        h = coordinates.spectrum[:, None]
        total = prices[0] * np.diag(np.append(h, sample.n))  # F is centred
        FT_T = coordinates.scale[:, None] * (coordinates.U.T @ sample.targets)  # one-hot
        FT_y = 2 * (FT_T[:, 1:] if k == 2 else FT_T)
        share = sample.target_mean[1:] if k == 2 else sample.target_mean
        start = np.vstack([prices[0] * FT_y / (1 + prices[0] * h), 2 * share - 1])
    blocks = FeatureBlocks(data, rows, row_bytes, prices, plan, total, held)
    tol = reachable(tol, dtype)
    steps = 50 if max_iter is None else max_iter
    found = solve_squared_hinges(blocks, r, q, start=start, tol=tol, max_iter=steps)
    if found.status == "stopped":
        warn_user(
            f"The bounds of the machines did not meet to tol={tol:g} in {found.n_iter} passes; the "
            f"optimum is {found.gap:.3g} below {found.value:.6g} at the most. Raise max_iter.",
            ConvergenceWarning,
        )
    return found, blocks.plan


def calibrate_scores(
    data: Labelled,
    sample: Combined,
    coordinates: RowMap,
    found: HingeResult,
    prices: Array,  # (n_classes,)
    *,
    lam: float,
    uncorrelated: bool,
) -> Sharpness:
    """The factor on scores with the least log loss on rows of the summary, each left out.

    With groups, on whole ones, each left out with its group.
    """
    rows, targets = calibration_rows(data)
    features = sample.expand(coordinates.lift(np.eye(len(coordinates.spectrum))))
    F = np.asarray(features.transform(rows), dtype=np.float64)
    w, total = sample.spectrum.w, float(sample.n)
    without = penalty_without(F, targets.weight, total, w, lam, uncorrelated)
    own = targets.counts * prices
    both = np.stack([own, own.sum(axis=1, keepdims=True) - own], axis=2)
    both = both[:, 1:] if len(prices) == 2 else both
    scores = scores_without(F, both, found.point, found.factors, without)
    for g in targets.groups:
        scores[g] = group_scores_without(
            F[g],
            targets.weight[g],
            both[g],
            found.point,
            found.factors,
            total,
            w,
            lam,
            uncorrelated,
        )
    return sharpen(class_logits(scores), targets, np.arange(targets.n))


def calibration_rows(data: Labelled) -> tuple[Rows, Targets]:
    """Rows whose scores decide the factor, but for rows or groups that have a class for themselves.

    The first by key; with groups whole ones.
    """
    source, summary = data.source, data.source.summary
    if source.groups is None:
        few = np.flatnonzero(summary.weight > 0)[:CALIBRATION_ROWS]
        counts, places, unit = dense(summary.labels[few]), summary.rows[few], np.arange(len(few))
    else:
        groups, m = source.groups[source.first], source.n_distinct
        order = by_groups(np.arange(m), groups)
        order = order[: int(whole_groups(order, groups, CALIBRATION_ROWS)[0])]
        summed = summed_labels(source.inverse, source.labels, source.weight, len(data.classes), m)
        counts = dense(summed)[order]
        seen = counts.sum(axis=1) > 0
        counts, order = counts[seen], order[seen]
        places, unit = source.first[order], groups[order]
    sums = np.zeros((int(unit.max(initial=-1)) + 1, counts.shape[1]))
    np.add.at(sums, unit, counts)
    judged = ~((sums > 0) & (sums >= summary.counts)).any(axis=1)[unit]
    targets = Targets(counts[judged], shared_places(unit[judged]))
    return take_rows(source.X, places[judged]), targets
