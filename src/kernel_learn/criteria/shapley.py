"""Shapley values of kernel expansions, exact where the kernel is a product or a sum over columns.

A game: columns that have joined are those of a row x, the others those of a background row z. Of
f(x) = sum_i a_i prod_j p_ij, p_ij at x and q_ij at z, column j has the value

    phi_j = sum_i a_i (p_ij - q_ij) int_0^1 prod_{l != j} ((1 - t) q_il + t p_il) dt

in the mean over background rows; the integrand is a polynomial of degree d - 1, for which
ceil(d / 2) Gauss-Legendre nodes are exact. Of a sum over columns it is p_ij - q_ij, of a product
of two 1/2 (p_j - q_j)(p_l + q_l). Values sum to f(x) - mean f(z).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import factorial

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.kernels.column_terms import ColumnTerm

# Below this a factor counts as this: what it multiplies is nothing, and it can be divided by.
LEAST_FACTOR = 1e-30
BLOCK_NUMBERS = 2**17  # factors that are held at a time: those of a cache
STEP_NUMBERS = 2**22  # entries of rows on the way from z to x that are held at a time
PAIRS = 2  # of permutations for each background row: two tell how far they are apart
MOST_ENUMERATED = 5  # players: 2^5 sets take no longer than the 4 (d + 1) of permutations


@dataclass(frozen=True)
class Background:
    """Rows that stand for a column that is not known, and their shares."""

    rows: Array  # (m, d)
    share: Array  # (m,), sum to one


def term_values(
    term: ColumnTerm,
    X: Array,  # (n_new, d)
    X_ref: Array,  # (n, d)
    a: Array,  # (n, r)
    background: Background,
    blocks: Sequence[Array],  # columns of each player
) -> Array:
    """Shapley values of sum_i a_i term(x, x_i), (n_new, players, r)."""
    q = term.factors(background.rows, X_ref, blocks)
    found = np.empty((len(X), len(blocks), a.shape[1]))
    if term.form == "sum":
        mean = np.tensordot(background.share, q, (0, 1))  # (players, n)
        for i in range(len(X)):
            found[i] = (term.factors(X[i : i + 1], X_ref, blocks)[:, 0] - mean) @ a
        return term.weight * found
    way = _product_pull if term.form == "product" else _pairs_pull
    q = np.maximum(q, LEAST_FACTOR) if term.form == "product" else q
    for i in range(len(X)):
        p = term.factors(X[i : i + 1], X_ref, blocks)[:, 0]
        found[i] = way(p, q, background.share) @ a
    return term.weight * found


def _product_pull(
    p: Array,  # (players, n)
    q: Array,  # (players, m, n)
    share: Array,  # (m,)
) -> Array:
    """mean over z of (p_ij - q_ij) int prod_{l != j} ..., (players, n)."""
    d, n = p.shape
    p = np.maximum(p, LEAST_FACTOR)
    nodes, weights = np.polynomial.legendre.leggauss((d + 1) // 2)
    nodes, weights = (nodes + 1) / 2, weights / 2
    pull = np.zeros((d, n))
    size = max(1, BLOCK_NUMBERS // (d * n))
    for start in range(0, len(share), size):
        rows = slice(start, start + size)
        D = p[:, None] - q[:, rows]
        for t, weight in zip(nodes, weights, strict=True):
            M = q[:, rows] + t * D
            whole = M.prod(axis=0)
            whole *= (weight * share[rows])[:, None]
            np.divide(D, M, out=M)
            pull += np.einsum("jzi,zi->ji", M, whole)
    return pull


def _pairs_pull(p: Array, q: Array, share: Array) -> Array:
    """mean over z of sum_{l != j} (p_j - q_j)(p_l + q_l): both orders of each pair."""
    both = p[:, None] + q
    others = both.sum(axis=0) - both
    return np.asarray(np.einsum("jzi,jzi,z->ji", p[:, None] - q, others, share))


def enumerated_values(
    f: Callable[[Array], Array],  # rows (., d) to (., r)
    x: Array,  # (d,)
    background: Background,
    blocks: Sequence[Array],
) -> Array:
    """Values by all 2^d sets of columns, (players, r): for few players.

    phi_j = sum over S without j of |S|! (d - |S| - 1)! / d! (v(S + j) - v(S)), v(S) the mean of f
    over the background rows with the columns of S as in x.
    """
    d = len(blocks)
    inside = np.array(list(product((False, True), repeat=d)))  # (2^d, d)
    v = []
    for S in inside:
        rows = background.rows.copy()
        for block in (block for block, there in zip(blocks, S, strict=True) if there):
            rows[:, block] = x[block]
        v.append(background.share @ f(rows))
    worth, sizes = np.array(v), inside.sum(axis=1)
    found = np.empty((d, worth.shape[1]))
    for j in range(d):
        without = np.flatnonzero(~inside[:, j])  # j joins at the set that is 2^(d - 1 - j) later
        orders = [factorial(s) * factorial(d - s - 1) / factorial(d) for s in sizes[without]]
        found[j] = orders @ (worth[without + 2 ** (d - 1 - j)] - worth[without])
    return found


def sampled_values(
    f: Callable[[Array], Array],  # rows (., d) to (., r)
    x: Array,  # (d,)
    background: Background,
    blocks: Sequence[Array],
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """Values by permutations, each with its reverse, and their standard errors, (players, r) each.

    Columns join one by one, two permutations and their reverses for every background row: what
    they add telescopes to f(x) - f(z). How far the two are apart is the noise of both.
    """
    found: Array | float = 0.0
    variance: Array | float = 0.0
    d, width = len(blocks), background.rows.shape[1]
    size = max(1, STEP_NUMBERS // ((d + 1) * 2 * PAIRS * width))
    for start in range(0, len(background.share), size):
        share = background.share[start : start + size]
        orders = np.array([[rng.permutation(d) for _ in range(PAIRS)] for _ in share])
        orders = np.stack([orders, orders[:, :, ::-1]], axis=2).reshape(-1, d)
        z = np.repeat(background.rows[start : start + size], 2 * PAIRS, axis=0)
        gains = _gains(f, x, z, blocks, orders)
        pairs = gains.reshape(len(share), PAIRS, 2, d, -1).mean(axis=2)
        found = found + np.tensordot(share, pairs.mean(axis=1), (0, 0))
        apart = (pairs[:, 0] - pairs[:, 1]) / 2
        variance = variance + np.tensordot(share**2, apart**2, (0, 0))
    return np.asarray(found), np.asarray(np.sqrt(variance))


def _gains(
    f: Callable[[Array], Array],
    x: Array,
    z: Array,  # (m, width)
    blocks: Sequence[Array],
    orders: Array,  # (m, d) players as they join
) -> Array:
    """What each player adds when it joins, (m, d, r)."""
    d = len(blocks)
    steps = np.empty((d + 1, *z.shape))
    steps[0] = z
    for s in range(d):
        steps[s + 1] = steps[s]
        for j in np.unique(orders[:, s]):
            steps[s + 1][np.ix_(orders[:, s] == j, blocks[j])] = x[blocks[j]]
    values = f(steps.reshape(-1, z.shape[1])).reshape(d + 1, len(z), -1)
    gains = np.empty((len(z), d, values.shape[2]))
    np.put_along_axis(gains, orders[:, :, None], np.diff(values, axis=0).transpose(1, 0, 2), axis=1)
    return gains
