"""Constraints and rows drawn from labels.

Drawing is by position in a given order of the labelled rows; an order by
content makes it independent of the order in which rows come.
"""

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.constraints import (
    ClassProbabilities,
    Constraints,
    Pairs,
    Similarities,
    Triplets,
)

KINDS = ("pairs", "triplets", "similarity", "probability")


def draw_constraints(
    kind: str,
    rows: Array,  # (n,) indices of labelled rows, in a canonical order
    labels: Array,  # (n,) their classes 0..k-1
    n_constraints: int,
    rng: np.random.RandomState,
    n_rows: int,  # rows of X in all
    **bounds: float,
) -> Constraints:
    """Constraints of one kind that the labels imply; all there are if fewer than asked for."""
    if kind in ("pairs", "similarity"):
        similar = draw_pairs(labels, n_constraints - n_constraints // 2, rng, same=True)
        dissimilar = draw_pairs(labels, n_constraints // 2, rng, same=False)
        family = Pairs if kind == "pairs" else Similarities
        return family(rows[similar], rows[dissimilar], **bounds)
    if kind == "triplets":
        return Triplets(rows[draw_triplets(labels, n_constraints, rng)], **bounds)
    chosen = rng.permutation(len(rows))[:n_constraints]
    everyone = np.full(n_rows, -1)
    everyone[rows] = labels
    return ClassProbabilities(rows[chosen], labels[chosen], everyone, **bounds)


def draw_pairs(labels: Array, n: int, rng: np.random.RandomState, *, same: bool) -> Array:
    """n different pairs of equal (or different) labels, uniformly; (n, 2) positions."""
    counts = np.bincount(labels)
    all_same = int(np.sum(counts * (counts - 1) // 2))
    total = all_same if same else len(labels) * (len(labels) - 1) // 2 - all_same
    if total <= n or (total <= 4 * n and len(labels) <= 4000):
        i, j = np.triu_indices(len(labels), 1)
        wanted = np.flatnonzero((labels[i] == labels[j]) == same)
        wanted = np.sort(rng.permutation(wanted)[:n])
        return np.column_stack([i[wanted], j[wanted]])
    members = [np.flatnonzero(labels == c) for c in range(len(counts))]
    found = np.empty((0, 2), dtype=np.intp)
    while len(found) < n:
        if same:
            pairs_of = counts * (counts - 1) / 2.0
            c = rng.choice(len(counts), size=2 * n, p=pairs_of / pairs_of.sum())
            i, j = (
                np.array([members[k][int(u * counts[k])] for k, u in zip(c, draw, strict=True)])
                for draw in rng.uniform(size=(2, 2 * n))
            )
        else:
            i, j = rng.randint(len(labels), size=(2, 4 * n))
        fits = (i != j) & ((labels[i] == labels[j]) == same)
        pairs = np.sort(np.column_stack([i[fits], j[fits]]), axis=1)
        found = np.concatenate([found, pairs])
        _, first = np.unique(found, axis=0, return_index=True)
        found = found[np.sort(first)]
    return found[:n]


def draw_triplets(labels: Array, n: int, rng: np.random.RandomState) -> Array:
    """n triplets (anchor, same class, other class); (n, 3) positions."""
    counts = np.bincount(labels)
    anchors = np.flatnonzero(counts[labels] > 1)
    if not len(anchors):
        raise ValueError(
            "Triplets need a class with at least two labelled rows, and every class has one."
        )
    members = [np.flatnonzero(labels == c) for c in range(len(counts))]
    others = [np.flatnonzero(labels != c) for c in range(len(counts))]
    triplets = np.empty((n, 3), dtype=np.intp)
    for t, a in enumerate(rng.choice(anchors, size=n)):
        own, other = members[labels[a]], others[labels[a]]
        shift = rng.randint(1, len(own))
        positive = own[(np.searchsorted(own, a) + shift) % len(own)]
        triplets[t] = a, positive, other[rng.randint(len(other))]
    return triplets


def draw_rows(
    labels: Array,
    order: Array,  # (n,) a canonical order of the rows
    max_rows: int | None,  # None: all
    rng: np.random.RandomState,
) -> Array:
    """About ``max_rows`` rows at most, ascending: of each class its share, two at least."""
    n = len(labels)
    if max_rows is None or n <= max_rows:
        return np.arange(n)
    members = [order[labels[order] == c] for c in np.unique(labels)]
    chosen = [rng.permutation(own)[: max(2, round(len(own) * max_rows / n))] for own in members]
    return np.sort(np.concatenate(chosen))
