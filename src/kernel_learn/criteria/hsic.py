"""Dependence of a subspace kernel on the labels (HSIC; Chen et al. 2008, sections 3.1 and 4.2)."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.representations.base import Combined


class Dependence:
    """max over W of tr(K_w H), H = L L' the centred label kernel.

    HSIC:   K_w = G W (W'(G + lam I) W)^{-1} W'G          (an orthogonal projection, regularised)
    uHSIC:  K_w = G W W'G  s.t.  W'(G G + lam G) W = I    (features uncorrelated)

    Both are solved by W = B R E^{-1/2}, where R holds the eigenvectors and E
    the eigenvalues of an r x r matrix M:

    HSIC:   B = (G + lam I)^{-1} G L,   M = L'G B = B'(G + lam I) B
    uHSIC:  B = (G + lam I)^{-1} L,     M = L'G B = B'(G G + lam G) B

    The optimum is the sum of the chosen eigenvalues. With the representation's
    operator O and targets T in place of G and L the same lines hold for
    moments of features.
    """

    def __init__(self, sample: Combined, mixing: Array, *, uncorrelated: bool = False) -> None:
        self.sample = sample
        self.L = sample.targets @ mixing
        self.uncorrelated = uncorrelated

    def candidates(self, lam: float) -> tuple[Array, Array]:
        """(B, M): directions that span every optimal subspace, and the small eigenproblem."""
        sample, L = self.sample, self.L
        if sample.is_decomposed:
            U, b, M = self.candidates_path([lam])
            return U @ b[0], M[0]
        O_L = sample.operator @ L
        B = sample.solve(lam, L if self.uncorrelated else O_L)
        return B, sample.pairing(L, O_L).T @ B

    def candidates_path(self, lams: Sequence[float]) -> tuple[Array, Array, Array]:
        """(U, b, M): ``candidates`` for all lams from one eigendecomposition O = U diag(w) U'.

        B(lam) = U b(lam) with b = U'L w/(w + lam) or U'L/(w + lam); shapes
        (m, rank), (n_lams, rank, r), (n_lams, r, r).
        """
        spectrum = self.sample.spectrum
        w, U = spectrum.w[:, None], spectrum.U
        UT_L = U.T @ self.L
        lam = np.asarray(lams, dtype=np.float64)[:, None, None]
        b = UT_L / (w + lam) * (1.0 if self.uncorrelated else w)
        M = (UT_L * self.sample.spectral_inner(w)).T @ b
        return U, b, M
