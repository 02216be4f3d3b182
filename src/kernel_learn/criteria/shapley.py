"""Shapley values of kernel expansions, exact where the kernel is a product or a sum over columns.

A game: columns that have joined are those of a row x, the others those of a background row z. Of
f(x) = sum_i a_i prod_j p_ij, p_ij at x and q_ij at z, column j has the value

    phi_j = sum_i a_i (p_ij - q_ij) int_0^1 prod_{l != j} ((1 - t) q_il + t p_il) dt

averaged over background rows; the integrand is a polynomial of degree d - 1, for which
ceil(d / 2) Gauss-Legendre nodes are exact, and fewer are enough where columns move the product
little (``count_nodes``). Of a sum over columns it is p_ij - q_ij, of a product
of two 1/2 (p_j - q_j)(p_l + q_l). Values sum to f(x) - mean f(z).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import factorial

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.kernels.column_terms import ColumnTerm
from kernel_learn.rows.access import row_blocks

# Below this a factor counts as this: what it multiplies is nothing, and it can be divided by.
LEAST_FACTOR = 1e-30
HELD_NUMBERS = 2**24  # factors of background rows that are held at a time
BLOCK_NUMBERS = 2**17  # of which are worked on at a time: those of a cache
STEP_NUMBERS = 2**22  # entries of rows on the way from z to x that are held at a time
PAIRS = 2  # of permutations for each background row: two tell how far they are apart
NODE_ERROR = 1e-12  # of a value, by a quadrature with fewer nodes than are exact
ELLIPSES = 2.0 ** np.arange(1, 8)  # half axes on which the integrand is bounded
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
    found = np.zeros((len(X), len(blocks), a.shape[1]))
    size = term.weight * np.abs(a).sum(axis=1)
    for rows in row_blocks(len(background.share), HELD_NUMBERS // (len(blocks) * len(X_ref)) + 1):
        q, share = term.factors(background.rows[rows], X_ref, blocks), background.share[rows]
        pull = _pulls[term.form](q, share, size)
        for i in range(len(X)):
            found[i] += pull(term.factors(X[i : i + 1], X_ref, blocks)[:, 0]) @ a
    return term.weight * found


Pull = Callable[[Array], Array]  # factors at x (players, n) to what a is multiplied by, likewise


def _sum_pull(q: Array, share: Array, size: Array) -> Pull:
    """The sum over z of share_z (p_ij - q_ij)."""
    mean, total = np.tensordot(share, q, (0, 1)), share.sum()
    return lambda p: total * p - mean


def _pairs_pull(q: Array, share: Array, size: Array) -> Pull:
    """The sum over z of share_z sum_{l != j} (p_j - q_j)(p_l + q_l): both orders of each pair."""

    def pull(p: Array) -> Array:
        both = p[:, None] + q
        others = both.sum(axis=0) - both
        return np.asarray(np.einsum("jzi,jzi,z->ji", p[:, None] - q, others, share))

    return pull


def _product_pull(
    q: Array,  # (players, m, n)
    share: Array,  # (m,)
    size: Array,  # (n,)
) -> Pull:
    """The sum over z of share_z (p_ij - q_ij) int prod_{l != j} ..."""
    d, m, n = q.shape
    q = np.maximum(q, LEAST_FACTOR)
    ends = q.min(axis=1), q.max(axis=1)

    def pull(p: Array) -> Array:
        p = np.maximum(p, LEAST_FACTOR)
        nodes, weights = np.polynomial.legendre.leggauss(count_nodes(p, ends, size))
        nodes, weights = (nodes + 1) / 2, weights / 2
        found = np.zeros((d, n))
        for rows in row_blocks(m, max(1, BLOCK_NUMBERS // (d * n))):
            D = p[:, None] - q[:, rows]
            for t, weight in zip(nodes, weights, strict=True):
                M = q[:, rows] + t * D
                whole = M.prod(axis=0)
                whole *= (weight * share[rows])[:, None]
                np.divide(D, M, out=M)
                found += np.einsum("jzi,zi->ji", M, whole)
        return found

    return pull


_pulls = {"sum": _sum_pull, "pairs": _pairs_pull, "product": _product_pull}


def count_nodes(
    p: Array,  # (players, n)
    ends: tuple[Array, Array],  # (players, n) each: the least and the largest q_ij over z
    size: Array,  # (n,) what a product of row i is multiplied by
) -> int:
    """Gauss-Legendre nodes with which no value is off by more than NODE_ERROR; ceil(d/2) at most.

    An integrand on [0, 1] that is below B on the ellipse with foci 0 and 1 and a half axis A/2,
    A = (r + 1/r) / 2, has Chebyshev coefficients of at most 2 B r^{-j}; m > 1 nodes integrate those
    below 2m exactly and are off by 16/15 at most for each even one after that: by
    32/15 B r^{-2m} / (1 - r^{-2}) in all. Of a product B is that of (p + q + A |p - q|) / 2, which
    is largest at an end of the q.
    """
    most = (len(p) + 1) // 2
    apart = np.maximum(np.abs(p - ends[0]), np.abs(p - ends[1]))
    needed = float(most)
    for A in ELLIPSES if most > 2 else ():
        r = A + np.sqrt(A * A - 1)
        largest = np.maximum(*(p + q + A * np.abs(p - q) for q in ends)) / 2
        with np.errstate(divide="ignore"):
            log_B = np.log(largest).sum(axis=0) + np.log((apart / largest).max(axis=0) * size)
        off = np.logaddexp.reduce(log_B) + np.log(32 / 15 / (1 - r**-2) / NODE_ERROR)
        needed = min(needed, off / (2 * np.log(r)))
    return int(np.clip(np.ceil(needed), min(most, 2), most))  # -inf where nothing moves


def function_values(
    f: Callable[[Array], Array],  # rows (., d) to (., r)
    x: Array,  # (d,)
    background: Background,
    blocks: Sequence[Array],
    seed: int,  # of permutations
) -> tuple[Array, Array]:
    """Values of any function and their standard errors: of few players by all sets of them."""
    if len(blocks) <= MOST_ENUMERATED:
        found = enumerated_values(f, x, background, blocks)
        return found, np.zeros_like(found)
    return sampled_values(f, x, background, blocks, np.random.default_rng(seed))


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
    return values_of_sets(np.array(v), inside)


def values_of_sets(
    worth: Array,  # (2^d, r)
    inside: Array,  # (2^d, d) who is in each set, those of all in the order of binary numbers
) -> Array:
    """Values from what every set is worth, (d, r)."""
    d, sizes = inside.shape[1], inside.sum(axis=1)
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
    d, ranks = len(blocks), np.argsort(orders, axis=1)
    joins = np.full(z.shape, d)  # after how many steps a column is that of x: never, of nobody's
    for j, block in enumerate(blocks):
        joins[:, block] = ranks[:, [j]]
    found = []
    for steps in row_blocks(d + 1, max(1, STEP_NUMBERS // z.size)):
        joined = joins < np.arange(steps.start, steps.stop)[:, None, None]
        found.append(f(np.where(joined, x, z).reshape(-1, z.shape[1])))
    values = np.concatenate(found).reshape(d + 1, len(z), -1)
    gains = np.empty((len(z), d, values.shape[2]))
    np.put_along_axis(gains, orders[:, :, None], np.diff(values, axis=0).transpose(1, 0, 2), axis=1)
    return gains
