"""Pairs of rows: checked, their learned distances, and the threshold between same and not."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array, Rows, RowsLike
from kernel_learn.fitting.row_validation import validate_rows
from kernel_learn.kernels.base import Kernel
from kernel_learn.rows.access import is_sparse, n_rows, row_blocks, take_rows
from kernel_learn.rows.coerce import as_array
from kernel_learn.rows.frames import is_frame

BLOCK_ROWS = 64  # of each side; a block of b pairs costs b^2 kernel values of which b are wanted


def learned_distances(learner: BaseEstimator, X_a: RowsLike, X_b: RowsLike) -> Array:
    """k(a, a) + k(b, b) - 2 k(a, b) of the learned kernel for each pair of rows, (n_pairs,)."""
    A, B = (validate_rows(learner, learner.base_kernel_, X, reset=False) for X in (X_a, X_b))
    if n_rows(A) != n_rows(B):
        raise ValueError(f"X_a has {n_rows(A)} rows and X_b has {n_rows(B)}: a pair has one each.")
    return pair_distances(learner.kernel_, A, B)


def pair_distances(kernel: Kernel, A: Rows, B: Rows) -> Array:
    """Squared distances of the rows of A and B, pair by pair, (n,)."""
    D = np.asarray(kernel.diag(A) + kernel.diag(B), dtype=np.float64)
    for rows in row_blocks(n_rows(A), BLOCK_ROWS):
        D[rows] -= 2 * np.diagonal(kernel(take_rows(A, rows), take_rows(B, rows)))
    return np.maximum(D, 0.0)


def choose_threshold(distances: Array, same: Array, rule: str | float) -> float:
    """The threshold on the distance, half way between two of them, that is best by the rule.

    The smallest of several alike: "same" is said less often.
    """
    order = np.argsort(distances, kind="stable")
    d, hit = distances[order], same[order]
    # none, or the first 1, 2, ... pairs are called the same; equal distances go together
    ends = np.append(np.flatnonzero(np.diff(d) > 0), len(d) - 1)
    right = np.append(0, np.cumsum(hit)[ends])
    wrong = np.append(0, np.cumsum(~hit)[ends])
    edges = np.append(d[ends[:-1] + 1], 2 * d[-1] if d[-1] > 0 else 1.0)
    cuts = np.append(d[0] / 2, (d[ends] + edges) / 2)
    if d[0] == 0:  # nothing is less than no distance at all
        right, wrong, cuts = right[1:], wrong[1:], cuts[1:]
    positives, negatives = int(same.sum()), int((~same).sum())
    if rule == "accuracy":
        return float(cuts[np.argmax(right + negatives - wrong)])
    if rule == "f1":
        return float(cuts[np.argmax(2 * right / (right + wrong + positives))])
    allowed = wrong <= float(rule) * negatives
    return float(cuts[np.flatnonzero(allowed)[-1]]) if allowed.any() else 0.0


def spread_folds(same: Array, n_folds: int) -> Array:
    """The fold of each pair, both kinds spread evenly."""
    fold = np.empty(len(same), dtype=int)
    for kind in (same, ~same):
        fold[kind] = np.arange(int(kind.sum())) % n_folds
    return fold


def take_any_rows(X: Rows, rows: Array) -> Rows:
    """Some of the rows as they were given, lists too."""
    if is_sparse(X):
        return X.tocsr()[rows]
    if hasattr(X, "shape"):
        return take_rows(X, rows)
    return [X[i] for i in rows]


def as_row_sequence(X: RowsLike) -> Rows:
    """Rows that can be counted and taken; lists, of strings say, stay as they are."""
    if isinstance(X, list | tuple) or is_sparse(X) or is_frame(X):
        return X
    X = as_array(X, "X")
    if X.ndim == 0:
        raise ValueError("X is a single value, and rows are asked for: Expected 2D array.")
    return X


def check_pairs(pairs: ArrayLike, same: ArrayLike, n: int) -> tuple[Array, Array]:
    """Pairs of row indices and whether they are the same, checked."""
    pairs = as_array(pairs, "pairs")
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(
            f"pairs must hold row indices, (n_pairs, 2) integers; it is {pairs.dtype} of shape "
            f"{pairs.shape}."
        )
    if len(pairs) and not (pairs.min() >= 0 and pairs.max() < n):
        raise ValueError(
            f"pairs name the rows {pairs.min()} to {pairs.max()}, and X has {n} rows, numbered "
            f"from 0 to {n - 1}."
        )
    same = check_same(same, len(pairs))
    itself = pairs[:, 0] == pairs[:, 1]
    if np.any(itself & ~same):
        raise ValueError(
            f"pairs say that row {pairs[itself & ~same][0, 0]} differs from itself, which no "
            "distance can meet. Leave out such pairs."
        )
    n_same, n_different = int(same[~itself].sum()), int((~same).sum())
    if min(n_same, n_different) < 2:
        raise ValueError(
            f"{n_same} pairs of two rows are the same and {n_different} are different; at "
            "least two of each kind are needed to learn a threshold."
        )
    return pairs, same


def check_same(same: ArrayLike, n: int) -> Array:
    """One boolean per pair."""
    same = as_array(same, "same")
    if same.shape != (n,) or not np.isin(same, (0, 1)).all():
        raise ValueError(f"same must hold True or False for each of the {n} pairs.")
    return same.astype(bool)
