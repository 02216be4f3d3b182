"""Trees that cut rows in two across a direction of large spread until the parts are small."""

from dataclasses import dataclass

import numpy as np

from kernel_learn.estimators.validation import Array
from kernel_learn.kernels.base import Rows
from kernel_learn.kernels.pairwise import take_rows

DIRECTIONS = 4  # of largest spread, mixed at random for all trees but the first
POWER_ROUNDS = 6


@dataclass(frozen=True)
class Tree:
    """Inner nodes: x goes to ``below`` if x'direction <= threshold, else to ``above``.

    Nodes are numbered from 0; -1 - l is the leaf l.
    """

    directions: Array  # (nodes, d)
    thresholds: Array  # (nodes,)
    below: Array  # (nodes,)
    above: Array  # (nodes,)

    def leaves(self, Z: Rows) -> Array:
        """The leaf of each row, (n,)."""
        place = np.zeros(Z.shape[0], dtype=int) if len(self.thresholds) else np.full(Z.shape[0], -1)
        for node in range(len(self.thresholds)):  # parents come before their children
            here = np.flatnonzero(place == node)
            if len(here):
                low = take_rows(Z, here) @ self.directions[node] <= self.thresholds[node]
                place[here] = np.where(low, self.below[node], self.above[node])
        return -1 - place


def grow_tree(Z: Rows, most_rows: int, rng: np.random.Generator | None = None) -> Tree:
    """Cut across the direction of largest spread at the median until leaves are small.

    With ``rng``: across a random mix of the first directions, near the median.
    """
    directions: list[Array] = []
    thresholds: list[float] = []
    children: list[list[int]] = []
    waiting, n_leaves = [(np.arange(Z.shape[0]), -1, 0)], 0
    while waiting:
        rows, parent, side = waiting.pop(0)
        cut = _cut(take_rows(Z, rows), rng) if len(rows) > most_rows else None
        if cut is None:
            n_leaves += 1
            place = -n_leaves
        else:
            direction, threshold, low = cut
            place = len(thresholds)
            directions.append(direction)
            thresholds.append(threshold)
            children.append([0, 0])
            waiting += [(rows[low], place, 0), (rows[~low], place, 1)]
        if parent >= 0:
            children[parent][side] = place
    below, above = np.array(children, dtype=int).reshape(-1, 2).T
    return Tree(np.array(directions).reshape(-1, Z.shape[1]), np.array(thresholds), below, above)


def _cut(Z: Rows, rng: np.random.Generator | None) -> tuple[Array, float, Array] | None:
    """A direction, a threshold and the rows below it; None if all rows are the same."""
    V = spread_directions(Z)
    mix = np.eye(V.shape[1])[0] if rng is None else rng.standard_normal(V.shape[1])
    share = 0.5 if rng is None else rng.uniform(0.4, 0.6)
    direction = V @ (mix / np.linalg.norm(mix))
    t = Z @ direction
    threshold = float(np.quantile(t, share))
    low = t <= threshold
    if low.all():  # many rows at the threshold: those below it, if any
        threshold = float(np.nextafter(threshold, -np.inf))
        low = t <= threshold
    return None if low.all() or not low.any() else (direction, threshold, low)


def spread_directions(Z: Rows) -> Array:
    """About the first principal directions, (d, q): power iteration, sparse rows stay sparse."""
    d = Z.shape[1]
    q = min(DIRECTIONS, d)
    mean = np.asarray(Z.mean(axis=0)).ravel()
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((d, q)))[0]
    for _ in range(POWER_ROUNDS):
        F = Z @ V - mean @ V
        V = np.linalg.qr(Z.T @ F - np.outer(mean, F.sum(axis=0)))[0]
    F = Z @ V - mean @ V
    return np.asarray(V @ np.linalg.svd(F, full_matrices=False)[2].T)


def rows_of_leaves(place: Array) -> list[Array]:
    """The rows of each leaf, from the leaf of each row."""
    return [np.flatnonzero(place == leaf) for leaf in range(int(place.max()) + 1)]
