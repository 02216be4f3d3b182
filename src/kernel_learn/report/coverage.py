"""Whether sets of classes hold what they promise, and the rows that nobody should trust.

The sets of a held-out row are made with the scores of rows in other parts of the table, groups
kept together: no row helps to make its own set.
"""

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.conformal import class_thresholds, conformal_scores
from kernel_learn.criteria.held_out.novelty import novelty_p_values
from kernel_learn.fitting.uncertainty import HeldOutSets, ReferenceRows
from kernel_learn.inspection.reading import some_rows
from kernel_learn.report.placing import Facts
from kernel_learn.report.shares import wilson
from kernel_learn.rows.access import take_rows
from kernel_learn.tables.model import TableModel

ASKED = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
SHOWN_SET = 0.9
PARTS = 10
LEAST_ROWS = 20  # of a class whose own coverage is told
RARE = 0.01  # novelty from which on a row is called unlike all others
MOST_UNLIKE, MOST_JUDGED = 10, 5000


def held_out_sets(P: Array, labels: Array, groups: Array | None, coverage: float) -> Array:
    """Sets of rows with held-out probabilities, each by the rows of other parts, (n, k)."""
    units = np.arange(len(P)) if groups is None else np.unique(groups, return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(units.max() + 1)
    part = (order % PARTS)[units]
    found = np.zeros(P.shape, dtype=bool)
    for own in range(PARTS):
        rows, others = np.flatnonzero(part == own), np.flatnonzero(part != own)
        if not len(rows):
            continue
        counts = np.eye(P.shape[1])[labels[others]]
        held = conformal_scores(P[others], counts, together(units[others]))
        found[rows] = class_thresholds(held, P.shape[1], coverage, by_class=False).sets(P[rows])
    return found


def together(units: Array) -> list[Array]:
    """The rows of each group of two or more."""
    order = np.argsort(units, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(units[order])) + 1)
    return [rows for rows in parts if len(rows) > 1]


def coverage_line(asked: float, sets: Array, labels: Array) -> Facts:
    """How often sets hold the true class, how large they are, and the class they fail most."""
    inside, sizes = sets[np.arange(len(sets)), labels], sets.sum(axis=1)
    low, high = wilson(float(inside.mean()), len(inside))
    counts = np.bincount(labels, minlength=sets.shape[1])
    told = np.flatnonzero(counts >= LEAST_ROWS)
    shares = np.bincount(labels, inside, minlength=sets.shape[1])[told] / counts[told]
    worst = int(shares.argmin()) if len(told) else None
    return {
        "asked": asked,
        "covered": float(inside.mean()),
        "low": low,
        "high": high,
        "size": float(sizes.mean()),
        "single": float((sizes == 1).mean()),
        "worst": None if worst is None else int(told[worst]),
        "worst_covered": None if worst is None else float(shares[worst]),
    }


def held_out_coverage(P: Array, labels: Array, groups: Array | None) -> list[Facts]:
    """Coverage on training rows, held out, for each that could be asked for."""
    n_units = len(P) if groups is None else len(np.unique(groups))
    able = [asked for asked in ASKED if n_units * (1 - 1 / PARTS) + 1 >= 1 / (1 - asked)]
    return [coverage_line(c, held_out_sets(P, labels, groups, c), labels) for c in able]


def new_coverage(model: TableModel, P: Array, labels: Array) -> list[Facts]:
    """Coverage of the model's sets on new rows with these probabilities."""
    estimator = model.estimator_
    if not isinstance(estimator, HeldOutSets):
        return []
    found = [(asked, estimator._thresholds(asked, False)) for asked in ASKED]
    return [coverage_line(c, t.sets(P), labels) for c, t in found if not t.void.any()]


def find_unlike(
    model: TableModel, rows: Rows, P: Array, labels: Array, sets: Array, said: Array
) -> Facts | None:
    """The rows that are like no other, each judged without itself; None if nobody can tell."""
    estimator = model.estimator_
    reference = getattr(estimator, "_kept_reference", lambda: None)()
    if reference is None:
        return None
    some = some_rows(labels, MOST_JUDGED)
    p = left_out_novelty(reference, estimator._reference_rows(take_rows(rows, some)))
    least = max(reference.floor * (1 + 1e-9), RARE)
    worst = np.argsort(p, kind="stable")[:MOST_UNLIKE]
    return {
        "count": int((p <= least).sum()),
        "of": len(p),
        "floor": reference.floor,
        "rows": [
            {
                "row": int(i),
                "novelty": float(p[place]),
                "truth": int(labels[i]),
                "said": int(said[i]),
                "p_said": float(P[i, said[i]]),
                "set": np.flatnonzero(sets[i]).tolist(),
            }
            for place, i in zip(worst, some[worst], strict=True)
            if p[place] <= least
        ],
    }


def left_out_novelty(reference: ReferenceRows, X: Rows) -> Array:
    """Novelty of rows, of which some are the reference's own: these are left out first, (n,).

    |k(x, z)|^2 = k(x, x) k(z, z) tells that two rows are one.
    """
    K, diagonal = reference.compare(reference.place(X), reference.placed)
    v = reference.variance(K, diagonal)
    own = np.asarray(reference.resolved.diag(reference.placed), dtype=np.float64)
    alike = K / np.sqrt(np.maximum(np.outer(diagonal, own), 1e-300))
    twin = alike.argmax(axis=1)
    is_own = alike.max(axis=1) >= 1 - 1e-12
    v = np.where(is_own, reference.variance.left_out[twin], v)
    p = novelty_p_values(v, reference.variance.left_out, reference.mass)
    floor = reference.floor
    return np.where(is_own, np.maximum(p - floor, floor), p)  # its own variance is among theirs
