"""Trees that cut rows in two across a direction of large spread until the parts are small."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.rows.access import row_blocks, take_rows

DIRECTIONS = 4  # of largest spread, mixed at random for all trees but the first
POWER_ROUNDS = 6
LEAST_GROWN = 30  # of the rows that a tree is grown on, in a leaf

Indices = Array | slice


@dataclass(frozen=True)
class Tree:
    """Inner nodes: x goes to ``below`` if x'direction <= threshold, else to ``above``.

    Nodes are numbered from 0; -1 - l is the leaf l.
    """

    directions: Array  # (nodes, d)
    thresholds: Array  # (nodes,)
    below: Array  # (nodes,)
    above: Array  # (nodes,)

    @property
    def n_leaves(self) -> int:
        return len(self.thresholds) + 1

    def leaves(self, Z: Rows) -> Array:
        """The leaf of each row, (n,)."""
        leaf = np.empty(Z.shape[0], dtype=int)
        waiting = [(0 if len(self.thresholds) else -1, np.arange(Z.shape[0]))]
        while waiting:
            node, here = waiting.pop()
            if node < 0:
                leaf[here] = -1 - node
            elif len(here):
                low = take_rows(Z, here) @ self.directions[node] <= self.thresholds[node]
                waiting += [(self.below[node], here[low]), (self.above[node], here[~low])]
        return leaf

    def grafted(self, leaf: int, tree: "Tree") -> "Tree":
        """With a tree in the place of a leaf, whose number its first leaf takes."""
        if not len(self.thresholds):
            return tree
        start, new = len(self.thresholds), self.n_leaves

        def renumbered(children: Array) -> Array:
            others = np.where(children == -1, -1 - leaf, children - new + 1)
            return np.where(children >= 0, children + start, others)

        def joined(children: Array, grafts: Array) -> Array:
            return np.concatenate([np.where(children == -1 - leaf, start, children), grafts])

        return Tree(
            np.concatenate([self.directions, tree.directions]),
            np.concatenate([self.thresholds, tree.thresholds]),
            joined(self.below, renumbered(tree.below)),
            joined(self.above, renumbered(tree.above)),
        )


class Leaf(NamedTuple):
    """New rows in a leaf, and the training rows in it."""

    tree: int
    number: int
    new: Indices
    known: Array | None  # None for all

    @property
    def pairs(self) -> tuple[Indices, ...]:
        """Where these rows meet in a matrix of all new rows and all training rows."""
        if self.known is None or isinstance(self.new, slice):
            return (self.new,)
        return np.ix_(self.new, self.known)

    def blocks(self, size: int) -> Iterator["Leaf"]:
        """At most so many new rows at a time."""
        if isinstance(self.new, slice):
            for rows in row_blocks(self.new.stop, size):
                yield self._replace(new=rows)
        else:
            for rows in row_blocks(len(self.new), size):
                yield self._replace(new=self.new[rows])


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees grown in one view, and the training rows of their leaves."""

    view: str
    scales: Array | None  # of its columns
    trees: Sequence[Tree]
    leaf_rows: Sequence[Sequence[Array]]  # per tree and leaf

    def leaves(self, Z: Rows) -> Iterator[Leaf]:
        """New rows of the view, in the leaves of every tree."""
        Z = scale_columns(Z, self.scales)
        for t, (tree, known) in enumerate(zip(self.trees, self.leaf_rows, strict=True)):
            leaf_of_row = tree.leaves(Z)
            for number in np.unique(leaf_of_row).tolist():
                yield Leaf(t, number, np.flatnonzero(leaf_of_row == number), known[number])


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
        cut = _cut_rows(take_rows(Z, rows), rng) if len(rows) > most_rows else None
        if cut is None:
            n_leaves += 1
            number = -n_leaves
        else:
            direction, threshold, low = cut
            number = len(thresholds)
            directions.append(direction)
            thresholds.append(threshold)
            children.append([0, 0])
            waiting += [(rows[low], number, 0), (rows[~low], number, 1)]
        if parent >= 0:
            children[parent][side] = number
    below, above = np.array(children, dtype=int).reshape(-1, 2).T
    return Tree(np.array(directions).reshape(-1, Z.shape[1]), np.array(thresholds), below, above)


def _cut_rows(Z: Rows, rng: np.random.Generator | None) -> tuple[Array, float, Array] | None:
    """A direction, a threshold and the rows below it; None if all rows are the same."""
    V = spread_directions(Z)
    mix = np.eye(V.shape[1])[0] if rng is None else rng.standard_normal(V.shape[1])
    share = 0.5 if rng is None else rng.uniform(0.4, 0.6)
    direction = V @ (mix / np.linalg.norm(mix))
    t = Z @ direction
    threshold = float(np.quantile(t, share))
    low = t <= threshold
    if low.all():  # many rows at the threshold: those below it, if any
        low = t < threshold
    if low.all() or not low.any():
        return None
    # between two rows: one that lies at the threshold goes either way, as its product is rounded
    return direction, float((t[low].max() + t[~low].min()) / 2), low


def spread_directions(Z: Rows) -> Array:
    """About the first principal directions, (d, q): power iteration, sparse rows stay sparse.

    From random combinations of the rows, and the row that is farthest out along a direction is on
    its positive side: columns may stand in any order.
    """
    n, d = Z.shape
    mean = np.asarray(Z.mean(axis=0)).ravel()
    F = np.random.default_rng(0).standard_normal((n, min(DIRECTIONS, d)))
    for _ in range(POWER_ROUNDS + 1):
        V = np.linalg.qr(Z.T @ F - np.outer(mean, F.sum(axis=0)))[0]
        F = Z @ V - mean @ V
    turn = np.linalg.svd(F, full_matrices=False)[2].T
    F = F @ turn
    far = F[np.abs(F).argmax(axis=0), np.arange(F.shape[1])]
    return np.asarray(V @ (turn * np.where(far < 0, -1.0, 1.0)))


def rows_of_leaves(leaf_of_row: Array) -> list[Array]:
    """The rows of each leaf, from the leaf of each row."""
    order = np.argsort(leaf_of_row, kind="stable")
    return np.split(order, np.cumsum(np.bincount(leaf_of_row))[:-1])


def divide(
    rows: Callable[[Indices], Rows],  # some rows, of indices or a slice
    n: int,
    most_rows: int,
    rng: np.random.Generator | None = None,
    subsample: Array | None = None,  # rows that stand for all where not all are in memory
) -> tuple[Tree, list[Array]]:
    """A tree with leaves of at most ``most_rows`` rows, and the rows of each leaf.

    Grown on a subsample, in proportion, it is filled with all of them block by block, and
    leaves that turn out too large are cut again.
    """
    if subsample is None:
        Z = rows(slice(None))
        tree = grow_tree(Z, most_rows, rng)
        return tree, rows_of_leaves(tree.leaves(Z))
    tree, leaves = _fill(rows, np.arange(n), subsample, most_rows, rng)
    waiting = list(range(len(leaves)))
    while waiting:
        leaf = waiting.pop()
        own = leaves[leaf]
        if len(own) > most_rows:
            below, parts = _fill(rows, own, own[: len(subsample)], most_rows, rng)
            if len(parts) > 1:  # else all rows are the same
                waiting += [leaf, *range(len(leaves), len(leaves) + len(parts) - 1)]
                tree, leaves = tree.grafted(leaf, below), [*leaves, *parts[1:]]
                leaves[leaf] = parts[0]
    return tree, leaves


def _fill(
    rows: Callable[[Indices], Rows],
    all_rows: Array,
    subsample: Array,
    most_rows: int,
    rng: np.random.Generator | None,
) -> tuple[Tree, list[Array]]:
    """A tree grown on some rows and filled with all of them."""
    share = len(subsample) / len(all_rows)
    tree = grow_tree(rows(subsample), max(min(LEAST_GROWN, most_rows), int(share * most_rows)), rng)
    leaves = [
        tree.leaves(rows(all_rows[part])) for part in row_blocks(len(all_rows), len(subsample))
    ]
    return tree, [all_rows[part] for part in rows_of_leaves(np.concatenate(leaves))]
