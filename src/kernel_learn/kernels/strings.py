"""Kernels of strings: the words of length k that two strings share.

    Spectrum      words are contiguous                    (Leslie, Eskin, Noble 2002)
    Subsequence   words may have gaps, at a price         (Lodhi et al. 2002)

A row is one string: lists, tuples, arrays (n,) or (n, 1), a series or a frame
with one column. A letter is one Unicode code point; nothing is normalised,
stripped or put in lower case.
"""

from abc import abstractmethod
from numbers import Integral, Real
from typing import ClassVar

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels import pairwise
from kernel_learn.kernels.base import InputKind, Kernel
from kernel_learn.kernels.letters import count_words, encode, string_lengths
from kernel_learn.kernels.subsequences import gapped_products, gapped_squares
from kernel_learn.rows.access import row_blocks


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
    """k(s, t) = sum_u count_u(s) count_u(t) over all words u of k letters.

    Here count_u(s) says how often u occurs in s as a contiguous piece.

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
        for rows in row_blocks(n, max(1, pairwise.PANEL_SIZE // max(1, B.shape[0]))):
            pairwise.dot_product(A[rows], B, K[rows])
        return K

    def _squares(self, texts: list[str]) -> Array:
        return pairwise.squared_norms(count_words(encode(texts), self.k))


class Subsequence(StringKernel):
    """k(s, t) = sum_u phi_u(s) phi_u(t) over all words u of k letters, with gaps:

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
            K = gapped_products(S, T, self.k, float(self.decay))
        return self._check_range(K)

    def _squares(self, texts: list[str]) -> Array:
        S = encode(texts)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = gapped_squares(S, self.k, float(self.decay))
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


def divide_by_norms(K: Array, squares: Array, squares_ref: Array) -> None:
    """K_ij /= |phi_i| |phi_j| in place; rows and columns of zeros stay zero."""
    norms, norms_ref = (np.sqrt(np.where(a > 0, a, 1.0)) for a in (squares, squares_ref))
    for rows in row_blocks(len(K), max(1, pairwise.PANEL_SIZE // max(1, K.shape[1]))):
        K[rows] /= norms[rows, None] * norms_ref
