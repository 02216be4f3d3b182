"""What suits the density of rows in leaves: column scales, widths and lam, found on some of them.

With more rows narrower kernels pay, and scales learned on more rows. Both are
found in leaves, where rows are as close as they will be in the fit: scales
are pooled over some leaves; kernels are then compared by their exact
leave-one-out losses in others.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.column_scales import ColumnScales, learn_scales, pool_scales
from kernel_learn.criteria.held_out.ensemble_weights import SURVIVOR_SHARE
from kernel_learn.criteria.held_out.ridge import (
    RIDGE_REGS,
    RidgePath,
    RidgeSolves,
    solve_ridge,
)
from kernel_learn.ensemble.candidates import (
    WIDE_FAMILIES,
    Candidate,
    CrossValidated,
    ViewRows,
    grouped,
    narrower,
)
from kernel_learn.ensemble.sample import Sample
from kernel_learn.representations.linalg import LEAST_SLACK
from kernel_learn.rows.access import take_rows

WIDTHS = 3  # each a third of the one before
MOST_WIDTHS = 2  # of one family that go on
# Below the best of the first round that are tried with it in the others, where leaves have more
# rows. One below and one above: 1.085 times the log loss on inner splits of page-blocks.
NEAR_REGS = 2
# On columns scaled in leaves these are tried even if a few rows did not speak for them.
LEARNED_FAMILIES = ("lap", "exp")
MOST_PLAIN = 4  # of the kernels without learned scales that a few rows spoke for


def leaf_scales(
    sample: Sample, views: Sequence[str], leaves: Sequence[Array]
) -> dict[str, ColumnScales]:
    """Column scales of each view, pooled over some leaves."""
    return {
        view: pool_scales(
            [
                learn_scales(
                    take_rows(sample.views[view], rows),
                    sample.targets.take(rows),
                    sample.blocks.get(view),
                )
                for rows in leaves
            ]
        )
        for view in views
    }


def leaf_candidates(kept: Sequence[CrossValidated], tried: Sequence[Candidate]) -> list[Candidate]:
    """Survivors of few rows; of those on scaled columns the families that many rows ask for."""
    found = [one.candidate for one in kept if not one.candidate.learned][:MOST_PLAIN]
    found += [one.candidate for one in kept if one.candidate.learned]
    found += [c for c in tried if c.learned and c.family in LEARNED_FAMILIES]
    families: dict[tuple[str, str], Candidate] = {}
    for candidate in found:  # the narrowest width of each family stands for it
        key = (candidate.space, candidate.family)
        if key not in families or candidate.width < families[key].width:
            families[key] = candidate
    return list(families.values())


def narrowed(
    sample: Sample,
    candidates: Sequence[Candidate],
    scales: Mapping[str, ColumnScales],  # of each view
    rows: Array,  # on which medians are taken
) -> Iterator[Candidate]:
    """Each candidate at its width and at narrower ones; sums of kernels are taken as they are."""
    views: dict[str, ViewRows] = {}
    for candidate in candidates:
        own = scales[candidate.view].scales if candidate.learned else None
        if candidate.loss in ("combined", "likelihood") and candidate.kernel is not None:
            yield candidate.on_rows(candidate.kernel, own)
            continue
        if candidate.space not in views:
            Z = sample.scaled_rows(candidate.view, own, rows)
            views[candidate.space] = sample.view_rows(
                candidate.view, Z, sample.targets.weight[rows]
            )
        one = candidate
        for _ in range(WIDTHS if candidate.family in WIDE_FAMILIES else 1):
            yield one.on_rows(views[candidate.space].kernel(one), own)
            one = narrower(one)


def tune_on_leaves(
    sample: Sample,
    tried: Sequence[Candidate],
    rounds: Sequence[Sequence[Array]],  # of leaves
    keep: int,
    most_views: int | None = None,  # the best kernels may be on so many views
    near_regs: int = NEAR_REGS,
    least: int | None = None,  # so many go on, however surely they are worse; None: as are kept
) -> list[CrossValidated]:
    """The best kernels, each at its best lam, by their held-out losses in some leaves.

    lam and the stacking are common to the leaves, as they will be in the fit:
    a lam that is best in every leaf by itself, at a stacking of its own,
    leaves scores that do not compare from leaf to leaf (16 against 14 %
    error on 20,000 rows of covtype). All kernels are tried in the first round, in each next one
    at most two thirds of them, and of these from the third one on those that were not surely worse
    than the best: in parts of one leaf the wrong ones may be (diamonds, 6000 rows: 1.08 and 1.18
    times the log loss). The second round has the best value of lam of the first and two below,
    the others that of the second and one below. The last has the rows of the first once more, in
    whole leaves, which then count in their place. Of one family in one space at most two widths
    are kept.
    """
    least = keep if least is None else least
    scores: dict[int, Array] = {}  # (R, rows, k) at the values of lam that are near
    near = dict.fromkeys(range(len(tried)), slice(0, len(RIDGE_REGS)))
    safe = np.ones((len(tried), len(RIDGE_REGS)), dtype=bool)
    units, losses = np.zeros(len(tried)), np.full((len(tried), len(RIDGE_REGS)), np.inf)
    going, used = list(range(len(tried))), np.empty(0, dtype=int)
    for i, leaves in enumerate(rounds):
        if 0 < i == len(rounds) - 1:
            n_first = sum(map(len, rounds[0]))
            used, scores = used[n_first:], {t: S[:, n_first:] for t, S in scores.items()}
        for rows in leaves:
            used = np.concatenate([used, rows])
            for t, ridge in _fits(sample, tried, going, rows, 1 if i else len(RIDGE_REGS)):
                units[t] = units[t] or ridge.centred.unit
                if ridge.centred.unit <= 0:
                    continue
                S, slack = ridge.held_out(RIDGE_REGS[near[t]] * units[t] / ridge.centred.unit)
                S = sample.outcome.moved(S, sample.targets.take(rows))
                scores[t] = np.concatenate([scores[t], S], axis=1) if t in scores else S
                safe[t, near[t]] &= slack > LEAST_SLACK
        going = [t for t in going if t in scores and scores[t].shape[1] == len(used)]
        held: dict[int, Array] = {}  # what each kernel says at its best lam
        for t in going:
            losses[t] = np.inf
            losses[t, near[t]], held[t] = _judged(scores[t], safe[t, near[t]], sample, used)
        going = sorted(
            (t for t in going if np.isfinite(losses[t].min())), key=lambda t: losses[t].min()
        )
        going = going[: max(keep, len(going) * 2 // 3)]
        if i:
            going = not_surely_worse(going, held, sample, used, least)
        for t in going if i < 2 and near_regs < len(RIDGE_REGS) else ():
            best, first = int(losses[t].argmin()), near[t].start
            near[t] = slice(max(first, best - near_regs // (i + 1)), best + 1)
            scores[t] = scores[t][near[t].start - first : near[t].stop - first]
    found: list[CrossValidated] = []
    nobody = np.empty((0, sample.targets.Y.shape[1]))
    for t in going:
        one, r = tried[t], int(losses[t].argmin())
        kin = [f for f in found if f.candidate.space == one.space]
        kin = [f for f in kin if f.candidate.family == one.family]
        views = {f.candidate.view for f in found} | {one.view}
        if most_views is not None and len(views) > most_views:
            continue
        if len(kin) < MOST_WIDTHS:
            reg, lam = float(RIDGE_REGS[r]), float(RIDGE_REGS[r] * units[t])
            found.append(CrossValidated(one, reg, float(losses[t, r]), nobody, lam=lam))
    if not found and near_regs < len(RIDGE_REGS):  # one leaf forbids what another liked best
        return tune_on_leaves(sample, tried, rounds, keep, most_views, len(RIDGE_REGS), least)
    return found[:keep]


def _fits(
    sample: Sample, tried: Sequence[Candidate], going: Sequence[int], rows: Array, n_regs: int
) -> Iterator[tuple[int, RidgePath | RidgeSolves]]:
    """(number of a candidate, its fits in one leaf)."""
    targets = sample.targets.take(rows)
    for same in grouped(going, lambda t: tried[t].space):
        S = sample.statistics(tried[same[0]], rows)
        for t in same:
            yield t, solve_ridge(tried[t].values(S), targets, n_regs)


def not_surely_worse(
    going: Sequence[int],  # the best first
    held: Mapping[int, Array],
    sample: Sample,
    rows: Array,
    least: int,
) -> list[int]:
    """Kernels that are not surely worse than the best on these rows, and the first so many."""
    if len(going) <= least:
        return list(going)
    weights = sample.outcome.weigh(
        np.array([held[t] for t in going]), sample.targets.take(rows)
    ).reshape(len(going), -1)  # of several targets
    sound = np.any(weights > SURVIVOR_SHARE * weights.max(axis=0), axis=1)
    return [t for i, t in enumerate(going) if i < least or sound[i]]


def _judged(scores: Array, safe: Array, sample: Sample, rows: Array) -> tuple[Array, Array]:
    """Losses of scores, (R,), inf where they are rounding, and what the best say of the rows."""
    targets, folds = sample.targets.take(rows), sample.folds[rows]
    judged = [
        sample.outcome.fit(S, targets, folds) if fine else None
        for S, fine in zip(scores, safe, strict=True)
    ]
    losses = np.array([np.inf if one is None else one.loss for one in judged])
    best = judged[int(losses.argmin())]
    return losses, np.empty(0) if best is None else best.said.held
