"""Words with gaps that strings share, by two exact routes: word by word, or pair by pair.

phi_u(s) = sum of decay^(i_k - i_1 + 1) over i_1 < ... < i_k with s[i_1] ... s[i_k] = u
"""

from collections.abc import Callable, Iterator
from math import isqrt
from typing import Literal

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array
from kernel_learn.kernels.letters import Strings

# Numbers in one of the three states of the dynamic programme, 2 MB. Smaller
# states pay for calls (k = 3, ns per pair of positions: 2^14 9.0, 2^16 5.2,
# 2^18 3.2, 2^19 3.2), larger ones for nothing.
PAIRS_STATE = 2**18

# Numbers in the weights of the ends of words, 64 MB, and strings on one side of
# a tile: a product of two sides is another 32 MB.
WORDS_STATE = 2**23
WORDS_SIDE = 2048

Route = Literal["words", "pairs"]


def gapped_products(S: Strings, T: Strings, k: int, decay: float) -> Array:
    """sum_u phi_u(s) phi_u(t) / decay^(2k), (n, n_ref); exactly symmetric if T is S."""
    route = products_by_words if choose_route(S, T, k) == "words" else products_by_pairs
    return route(S, T, k, decay)


def gapped_squares(S: Strings, k: int, decay: float) -> Array:
    """sum_u phi_u(s)^2 / decay^(2k), (n,)."""
    route = squares_by_words if choose_route(S, None, k) == "words" else squares_by_pairs
    return route(S, k, decay)


def choose_route(S: Strings, T: Strings | None, k: int) -> Route:
    """The cheaper route, by its nanoseconds on one core (AMD EPYC, OpenBLAS).

        words   n_letters^k (0.05 n_pairs + 3 n_positions / n_letters)
        pairs   1.2 k sum |s| |t| over the pairs (s, t)

    ``T=None`` asks for the pairs (s, s) only. For 1000 strings of 100 letters
    and k = 3: words take 0.1 s with 4 letters, 0.4 s with 20, 5 s with 60;
    pairs take 16 s with any.
    """
    n_pairs, n_cells = count_pairs(S, T)
    sides = [S] if T is None or T is S else [S, T]
    n_positions = sum(len(side.lengths) * int(side.lengths.max(initial=0)) for side in sides)
    n_letters = max(1, len(common_letters(sides[0].letters, sides[-1].letters)))
    # n_letters^50 is too much for n_letters > 1 and still fits in float64
    words = float(n_letters) ** min(k, 50) * (0.05 * n_pairs + 3.0 * n_positions / n_letters)
    return "words" if words < 1.2 * k * n_cells else "pairs"


def count_pairs(S: Strings, T: Strings | None) -> tuple[float, float]:
    """How many pairs (s, t) there are to compute, and sum |s| |t| over them."""
    if T is None:
        return float(len(S.lengths)), float(S.lengths @ S.lengths)
    share = 0.5 if T is S else 1.0
    n_cells = float(S.lengths.sum()) * float(T.lengths.sum())
    return share * len(S.lengths) * len(T.lengths), share * n_cells


def common_letters(S: Array, T: Array) -> Array:
    """Letters that both sides have."""
    letters = np.intersect1d(S, T)
    return letters[letters >= 0]


def length_blocks(S: Strings, k: int, size: Callable[[int], int]) -> Iterator[Array]:
    """Rows in blocks of similar length, ``size(longest)`` at a time."""
    rows = S.by_length(k)
    while len(rows):
        n = max(1, size(int(S.lengths[rows[0]])))
        yield rows[:n]
        rows = rows[n:]


def fill_tiles(
    S: Strings,
    T: Strings,
    blocks: list[Array],
    blocks_ref: list[Array],
    tile: Callable[[Array, Array], Array],
) -> Array:
    """tile(letters of s, letters of t) for all pairs; only one half if T is S."""
    K = np.zeros((len(S.lengths), len(T.lengths)))
    lefts = [S.columns(rows) for rows in blocks]
    rights = lefts if T is S else [T.columns(rows) for rows in blocks_ref]
    for i, left in enumerate(lefts):
        for j, right in enumerate(rights):
            if T is S and j < i:
                K[np.ix_(blocks[i], blocks[j])] = K[np.ix_(blocks[j], blocks[i])].T
            elif T is S and j == i:
                upper = np.triu(tile(left, right))
                K[np.ix_(blocks[i], blocks[i])] = upper + np.triu(upper, 1).T
            else:
                K[np.ix_(blocks[i], blocks_ref[j])] = tile(left, right)
    return K


# Words with gaps, pair by pair ----------------------------------------------------


def products_by_pairs(S: Strings, T: Strings, k: int, decay: float) -> Array:
    """sum_u phi_u(s) phi_u(t) / decay^(2k) by dynamic programming, (n, n_ref)."""

    def tile(left: Array, right: Array) -> Array:
        n, n_ref = left.shape[1], right.shape[1]
        pairs = left.repeat(n_ref, axis=1), np.tile(right, n)
        return align_pairs(*pairs, k, decay).reshape(n, n_ref)

    def blocks(S: Strings, n_other: int) -> list[Array]:
        return list(length_blocks(S, k, lambda longest: pairs_side(k, longest, n_other)))

    return fill_tiles(S, T, blocks(S, len(T.lengths)), blocks(T, len(S.lengths)), tile)


def squares_by_pairs(S: Strings, k: int, decay: float) -> Array:
    """k(s, s) of each string by aligning it with itself."""
    squares = np.zeros(len(S.lengths))
    for rows in length_blocks(S, k, lambda longest: pairs_side(k, longest, 1)):
        letters = S.columns(rows)
        squares[rows] = align_pairs(letters, letters, k, decay)
    return squares


def pairs_side(k: int, longest: int, n_other: int) -> int:
    """Strings on one side of a tile whose pairs fill PAIRS_STATE, with n_other on the other."""
    n_pairs = max(1, PAIRS_STATE // (k * longest))
    return n_pairs // max(1, min(n_other, isqrt(n_pairs)))


def align_pairs(
    S: Array,  # (longest s, n_pairs)
    T: Array,  # (longest t, n_pairs)
    k: int,
    decay: float,
) -> Array:
    """sum_u phi_u(s) phi_u(t) / decay^(2k) for each pair, (n_pairs,).

    For words of l = 0..k-1 letters, with match(i, j) = [s_i = t_j],

        closed_l(i, j)     = match(i, j) before_{l-1}(i, j)          the word ends at (i, j),
        row_l(i, j + 1)    = decay row_l(i, j) + closed_l(i, j)      it ends at (i, < j + 1),
        before_l(i + 1, j) = decay before_l(i, j) + row_l(i, j)      it ends at (< i + 1, < j),

    from before_0 = 1, and the result is sum_ij match(i, j) before_{k-1}(i, j).
    One step of the loop is one antidiagonal i + j of all levels and pairs: its
    cells do not depend on one another. ``row`` is stored by i and ``before``
    by j, backwards, so that both stay in place and slices line up.
    """
    n_s, n_t, n_pairs = len(S), len(T), S.shape[1]
    T = np.where(T < 0, -2, T)[::-1]  # the end of t does not match the end of s
    before = np.zeros((k, n_t, n_pairs))
    before[0] = 1.0
    row = np.zeros((k - 1, n_s, n_pairs))
    match, closed = np.empty(row.shape[1:]), np.empty_like(row)
    result = np.zeros(n_pairs)
    for d in range(n_s + n_t - 1):
        i = slice(max(0, d - n_t + 1), min(d + 1, n_s))
        j = slice(i.start + n_t - 1 - d, i.stop + n_t - 1 - d)
        size = i.stop - i.start
        np.equal(S[i], T[j], out=match[:size], casting="unsafe")
        np.multiply(before[:-1, j], match[:size], out=closed[:, :size])
        result += np.einsum("ip,ip->p", match[:size], before[-1, j])
        before[1:, j] *= decay
        before[1:, j] += row[:, i]
        row[:, i] *= decay
        row[:, i] += closed[:, :size]
    return result


# Words with gaps, word by word ----------------------------------------------------


def products_by_words(S: Strings, T: Strings, k: int, decay: float) -> Array:
    """sum_u phi_u(s) phi_u(t) / decay^(2k) from phi itself, (n, n_ref)."""

    def tile(left: Array, right: Array) -> Array:
        n = left.shape[1]
        letters = common_letters(left, right)  # words with another letter add 0 x something
        K = np.zeros((n, right.shape[1]))
        both = left if right is left else stack_columns(left, right)
        for Phi in word_weights(renumber(both, letters), len(letters), k, decay):
            K += Phi @ Phi.T if right is left else Phi[:n] @ Phi[n:].T
        return K

    def blocks(S: Strings) -> list[Array]:
        return list(length_blocks(S, k, lambda longest: words_side(longest, S.n_letters)))

    return fill_tiles(S, T, blocks(S), blocks(T), tile)


def squares_by_words(S: Strings, k: int, decay: float) -> Array:
    """k(s, s) of each string from its word weights."""
    squares = np.zeros(len(S.lengths))
    for rows in length_blocks(S, k, lambda longest: words_side(longest, S.n_letters)):
        for Phi in word_weights(S.columns(rows), S.n_letters, k, decay):
            squares[rows] += np.einsum("su,su->s", Phi, Phi)
    return squares


def words_side(longest: int, n_letters: int) -> int:
    """Strings in a tile: two tiles of letters, or of weights of one letter, fit in WORDS_STATE."""
    return min(WORDS_SIDE, WORDS_STATE // (2 * max(longest, n_letters)))


def stack_columns(left: Array, right: Array) -> Array:
    """Strings as columns side by side, filled up with -1."""
    both = np.full((max(len(left), len(right)), left.shape[1] + right.shape[1]), -1)
    both[: len(left), : left.shape[1]] = left
    both[: len(right), left.shape[1] :] = right
    return both


def renumber(S: Array, letters: Array) -> Array:
    """Number ``letters`` as 0, 1, ...; all others, and the end, as -1."""
    numbers = np.full(max(S.max(initial=0), letters.max(initial=0)) + 2, -1)
    numbers[letters] = np.arange(len(letters))
    return numbers[S]  # S = -1 finds the last entry, which is no letter's


def word_weights(
    S: Array,  # (longest, n_rows), letter numbers or -1
    n_letters: int,
    k: int,
    decay: float,
) -> Iterator[Array]:
    """phi_u(s) / decay^k in panels (n_rows, some words u) that together hold all words.

    A word is u = v x w with one letter x, and

        phi_vxw(s) = sum_i before_v(i) [s_i = x] after_w(i),

    where before_v(i) weighs the occurrences of v left of position i and
    after_w(i) those of w right of it. ``after`` is one matrix for all w; the
    words v are visited depth first, and those that do not occur are cut off.
    """
    after, n_after = weights_after(S, n_letters, k, decay)
    positions, bounds = positions_by_letter(S, n_letters)
    shape = (S.shape[1] * n_letters, S.size)
    for before in weights_before(np.ones(S.shape), S, n_letters, k - 1 - n_after, decay):
        centre = sparse.csr_array((before.ravel()[positions], positions, bounds), shape=shape)
        yield (centre @ after).reshape(S.shape[1], -1)


def weights_before(
    before: Array, S: Array, n_letters: int, n_more: int, decay: float
) -> Iterator[Array]:
    """before_v(i) of the words v that add ``n_more`` letters to the given word and occur."""
    if n_more == 0:
        yield before
        return
    for letter in range(n_letters):
        closed = np.where(letter == S, before, 0.0)
        if not closed.any():
            continue
        longer = np.zeros_like(before)
        for i in range(1, len(S)):
            np.multiply(longer[i - 1], decay, out=longer[i])
            longer[i] += closed[i - 1]
        yield from weights_before(longer, S, n_letters, n_more - 1, decay)


def weights_after(S: Array, n_letters: int, k: int, decay: float) -> tuple[Array, int]:
    """after_w(i), (longest * n_rows, n_words), for the longest w that fit in WORDS_STATE; |w|."""
    after, n_after = np.ones((*S.shape, 1)), 0
    width = WORDS_STATE // (S.shape[1] * max(len(S), n_letters))
    while n_after < k - 1 and after.shape[2] * n_letters <= width:
        longer = np.zeros((*S.shape, n_letters, after.shape[2]))
        for i in range(len(S) - 2, -1, -1):
            starts = S[i + 1][:, None] == np.arange(n_letters)
            np.multiply(longer[i + 1], decay, out=longer[i])
            longer[i] += starts[:, :, None] * after[i + 1][:, None, :]
        after, n_after = longer.reshape(*S.shape, -1), n_after + 1
    return after.reshape(S.size, -1), n_after


def positions_by_letter(S: Array, n_letters: int) -> tuple[Array, Array]:
    """Where in S.ravel() row s has letter x: positions[bounds[m]:bounds[m + 1]], m = (s, x)."""
    rows, i = np.nonzero(S.T >= 0)
    slots = rows * n_letters + S[i, rows]
    positions = (i * S.shape[1] + rows)[np.argsort(slots, kind="stable")]
    counts = np.bincount(slots, minlength=S.shape[1] * n_letters)
    return positions, np.concatenate([[0], np.cumsum(counts)])
