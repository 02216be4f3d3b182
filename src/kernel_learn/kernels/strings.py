"""Kernels of strings: the words of length k that two strings share.

    Spectrum      words are contiguous                    (Leslie, Eskin, Noble 2002)
    Subsequence   words may have gaps, at a price         (Lodhi et al. 2002)

A row is one string: lists, tuples, arrays (n,) or (n, 1), a series or a frame
with one column. A letter is one Unicode code point; nothing is normalised,
stripped or put in lower case.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isqrt
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from kernel_learn.kernels import pairwise
from kernel_learn.kernels.base import Array, InputKind, Kernel, Rows

# Count matrices with more than 5 % non-zeros are multiplied as dense ones
# (1000 strings of length 100: 9 % dense 25 ms, sparse 59 ms; 2 % dense 182, sparse 31).
DENSE_COUNTS = 0.05

# Numbers in one of the three states of the dynamic programme, 2 MB. Smaller
# states pay for calls (k = 3, ns per pair of positions: 2^14 9.0, 2^16 5.2,
# 2^18 3.2, 2^19 3.2), larger ones for nothing.
PAIRS_STATE = 2**18

# Numbers in the weights of the ends of words, 64 MB, and strings on one side of
# a tile: a product of two sides is another 32 MB.
WORDS_STATE = 2**23
WORDS_SIDE = 2048

Route = Literal["words", "pairs"]


class StringKernel(Kernel):
    """k(s, t) = <phi(s), phi(t)>, and with ``normalize`` over |phi(s)| |phi(t)|.

    phi(s) has one entry per word of k letters. A string with fewer than k
    letters has phi(s) = 0: its value is 0 with every string and with itself,
    normalised or not, so that the matrix stays positive semidefinite. All other
    strings have k(s, s) = 1 when normalised.
    """

    input: ClassVar[InputKind] = "strings"
    k: int
    normalize: bool

    @abstractmethod
    def _products(self, texts: list[str], texts_ref: list[str] | None) -> Array:
        """<phi(s), phi(t)> / factor, (n, n_ref); exactly symmetric if ``texts_ref`` is None."""

    @abstractmethod
    def _squares(self, texts: list[str]) -> Array:
        """|phi(s)|^2 / factor, (n,)."""

    @property
    def _factor(self) -> float:
        """What all products have in common, and normalisation takes away."""
        return 1.0

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        self._check_parameters()
        texts = check_strings(X)
        texts_ref = None if X_ref is None else check_strings(X_ref)
        K = self._products(texts, texts_ref)
        if not self.normalize:
            K *= self._factor
            return K
        if texts_ref is None:
            squares = np.diagonal(K).copy()
            divide_by_norms(K, squares, squares)
            K.flat[:: len(K) + 1] = squares > 0
        else:
            divide_by_norms(K, self._squares(texts), self._squares(texts_ref))
        return K

    def diag(self, X: Rows) -> Array:
        self._check_parameters()
        texts = check_strings(X)
        if self.normalize:
            return (string_lengths(texts) >= self.k).astype(np.float64)
        return self._factor * self._squares(texts)

    def _check_parameters(self) -> None:
        if not isinstance(self.k, Integral) or isinstance(self.k, bool) or self.k < 1:
            raise ValueError(f"{self!r}: k, the letters per word, must be an integer >= 1.")


class Spectrum(StringKernel):
    """k(s, t) = sum_u count_u(s) count_u(t) over all words u of k letters,

    where count_u(s) says how often u occurs in s as a contiguous piece.

    Parameters
    ----------
    k : int
        Letters per word.
    normalize : bool
        Divide by the norms: k(s, t) / sqrt(k(s, s) k(t, t)). Strings with fewer
        than k letters keep the value 0, on the diagonal too.
    """

    def __init__(self, k: int = 3, *, normalize: bool = True) -> None:
        self.k = k
        self.normalize = normalize

    def _products(self, texts: list[str], texts_ref: list[str] | None) -> Array:
        n = len(texts)
        counts = count_words(encode(texts + (texts_ref or [])), self.k)
        A, B = counts[:n], counts if texts_ref is None else counts[n:]
        K = np.empty((A.shape[0], B.shape[0]))
        for rows in pairwise.row_blocks(n, max(1, pairwise.PANEL_SIZE // max(1, B.shape[0]))):
            pairwise.dot_product(A[rows], B, K[rows])
        return K

    def _squares(self, texts: list[str]) -> Array:
        return pairwise.squared_norms(count_words(encode(texts), self.k))


class Subsequence(StringKernel):
    """k(s, t) = sum_u phi_u(s) phi_u(t) over all words u of k letters,

        phi_u(s) = sum of decay^(i_k - i_1 + 1) over i_1 < ... < i_k with s[i_1] ... s[i_k] = u.

    Each occurrence of u in s counts, gaps allowed, and pays ``decay`` for each
    letter it spans: with ``decay=1`` gaps are free, and for ``decay -> 0`` the
    normalised kernel becomes ``Spectrum(k)``.

    Two exact routes give the same numbers, and the cheaper one is taken: phi
    itself, word by word, where there are few words (DNA, proteins), and
    otherwise dynamic programming over the positions of s and t, for many
    pairs at once.

    Parameters
    ----------
    k : int
        Letters per word.
    decay : float in (0, 1]
        Weight of each letter that an occurrence spans.
    normalize : bool
        Divide by the norms: k(s, t) / sqrt(k(s, s) k(t, t)). Strings with fewer
        than k letters keep the value 0, on the diagonal too.
    """

    def __init__(self, k: int = 3, decay: float = 0.5, *, normalize: bool = True) -> None:
        self.k = k
        self.decay = decay
        self.normalize = normalize

    @property
    def _factor(self) -> float:
        # Below, an occurrence weighs decay^(letters skipped), which leaves at least 1 for
        # |phi|^2, whatever decay and k; decay^(2 k) alone is 1e-320 for decay = 1e-8, k = 20.
        return float(self.decay) ** (2 * self.k)

    def _products(self, texts: list[str], texts_ref: list[str] | None) -> Array:
        S = encode(texts + (texts_ref or []))
        if texts_ref is None:
            T = S
        else:
            S, T = S.part(slice(0, len(texts))), S.part(slice(len(texts), None))
        with np.errstate(over="ignore", invalid="ignore"):
            K = PRODUCTS[choose_route(S, T, self.k)](S, T, self.k, float(self.decay))
        return self._check_range(K)

    def _squares(self, texts: list[str]) -> Array:
        S = encode(texts)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = SQUARES[choose_route(S, None, self.k)](S, self.k, float(self.decay))
        return self._check_range(squares)

    def _check_range(self, K: Array) -> Array:
        # C(n, k)^2 occurrences: no string of 500 letters gets there, 10^4 letters do for k > 50
        if not np.isfinite(K).all():
            raise ValueError(f"{self!r} exceeds float64 on these strings; lower k or decay.")
        return K

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.decay, Real) or not 0 < self.decay <= 1:
            raise ValueError(f"{self!r}: decay must be a number with 0 < decay <= 1.")


# Strings as letter numbers ----------------------------------------------------


@dataclass(frozen=True)
class Strings:
    """Strings as numbers: the letters of all rows, one row after the other."""

    letters: Array  # (n_positions,), integers in 0..n_letters - 1
    lengths: Array  # (n_rows,)
    n_letters: int

    @property
    def ends(self) -> Array:
        return np.cumsum(self.lengths)

    def part(self, rows: slice) -> "Strings":
        """Some of the rows, with the same numbers for the same letters."""
        lengths, ends = self.lengths[rows], self.ends[rows]
        positions = slice(ends[0] - lengths[0], ends[-1]) if len(ends) else slice(0)
        return Strings(self.letters[positions], lengths, self.n_letters)

    def by_length(self, k: int) -> Array:
        """The rows with at least k letters, longest first."""
        order = np.argsort(-self.lengths, kind="stable")
        return order[self.lengths[order] >= k]

    def columns(self, rows: Array) -> Array:
        """One column of letter numbers per row, (longest, n_rows), ended by -1."""
        positions = np.arange(self.lengths[rows].max())[:, None]
        letters = self.letters.take(positions + (self.ends - self.lengths)[rows], mode="clip")
        small = np.min_scalar_type(-1 - self.n_letters)  # comparing bytes is 8 times faster
        return np.where(positions < self.lengths[rows], letters, -1).astype(small)


def check_strings(X: Rows) -> list[str]:
    """The rows as a list of str; a sentence for anything that is not one."""
    if isinstance(X, str):
        raise ValueError("A string kernel takes a sequence of strings, not one string: write [X].")
    values = X.to_numpy() if hasattr(X, "to_numpy") else X
    if isinstance(values, np.ndarray):
        if values.ndim != 1 and values.shape[1:] != (1,):
            raise ValueError(f"A string kernel takes one column, and X has shape {values.shape}.")
        values = values.ravel().tolist()
    texts = list(values)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            kind = type(text).__name__
            raise ValueError(f"A string kernel takes strings, and row {i} is of type {kind}.")
    return texts


def string_lengths(texts: list[str]) -> Array:
    """Characters of each text, (n,)."""
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


def encode(texts: list[str]) -> Strings:
    """Number the letters that occur, in the order of their code points."""
    utf32 = "".join(texts).encode("utf-32-le", "surrogatepass")
    alphabet, letters = np.unique(np.frombuffer(utf32, dtype="<u4"), return_inverse=True)
    return Strings(letters.astype(np.int64), string_lengths(texts), len(alphabet))


def divide_by_norms(K: Array, squares: Array, squares_ref: Array) -> None:
    """K_ij /= |phi_i| |phi_j| in place; rows and columns of zeros stay zero."""
    norms, norms_ref = (np.sqrt(np.where(a > 0, a, 1.0)) for a in (squares, squares_ref))
    for rows in pairwise.row_blocks(len(K), max(1, pairwise.PANEL_SIZE // max(1, K.shape[1]))):
        K[rows] /= norms[rows, None] * norms_ref


# Contiguous words ---------------------------------------------------------------


def count_words(S: Strings, k: int) -> Any:
    """count_u(s), (n_rows, n_words): dense if there are few words, else sparse."""
    rows = np.repeat(np.arange(len(S.lengths)), S.lengths)
    starts = np.flatnonzero(np.arange(len(rows)) + k <= S.ends[rows])
    words = number_words(S, starts, k)
    shape = (len(S.lengths), int(words.max(initial=-1)) + 1)
    counts = sparse.csr_array((np.ones(len(starts)), (rows[starts], words)), shape=shape)
    return counts.toarray() if counts.nnz > DENSE_COUNTS * shape[0] * shape[1] else counts


def number_words(S: Strings, starts: Array, k: int) -> Array:
    """Number the words that begin at ``starts``: equal numbers for equal words, (n_starts,)."""
    words = np.zeros(len(starts), dtype=np.int64)
    for offset in range(k if len(starts) else 0):
        if words.max() >= 2**62 // S.n_letters:  # n_letters^k may not fit in 64 bits, ranks do
            words = np.unique(words, return_inverse=True)[1]
        words = words * S.n_letters + S.letters[starts + offset]
    return np.unique(words, return_inverse=True)[1]


# Words with gaps: which of two routes -------------------------------------------


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


PRODUCTS: dict[Route, Callable[[Strings, Strings, int, float], Array]] = {
    "words": products_by_words,
    "pairs": products_by_pairs,
}
SQUARES: dict[Route, Callable[[Strings, int, float], Array]] = {
    "words": squares_by_words,
    "pairs": squares_by_pairs,
}
