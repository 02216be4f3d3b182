"""Leave-one-out predictions of kernel ridge regression for all regularisations at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernel_learn.representations.base import Combined

Array = NDArray[Any]

# Above this leverage a prediction hangs on its own row alone, and y - (y - f)/(1 - h) is noise.
LEVERAGE_LIMIT = 1 - 1e-5


@dataclass(frozen=True)
class LeaveOneOutPath:
    """Mean squared leave-one-out errors along a path, and which setting is best."""

    lams: Array  # (n_lams,)
    errors: Array  # (n_lams,), inf where a leverage is too close to one
    max_leverage: Array  # (n_lams,)

    @property
    def best(self) -> int:
        """The index of the smallest error; the strongest regularisation among equals."""
        if not np.isfinite(self.errors).any():
            return int(np.argmax(self.lams))
        low = self.errors <= self.errors.min() * (1 + 1e-9)
        return int(max(np.flatnonzero(low), key=lambda i: self.lams[i]))


def leave_one_out(sample: Combined, lams: Sequence[float]) -> LeaveOneOutPath:
    """Exact leave-one-out squared error of ridge regression with intercept on the targets T.

        f = mean + A (A'A + lam)^{-1} A'(T - mean)    A = centred rows, A'A = diag(w)
        h_i = sum_j A_ij^2 / (w_j + lam) + s_i / sum(s)
        T_i - f_(-i)(x_i) = (T_i - f_i) / (1 - h_i)

    Rows and targets carry the roots of their weights s, and a row of weight s
    is left out as a whole. All refits for all lam cost one decomposition and
    one pass over the rows.
    """
    lam = np.asarray(lams, dtype=np.float64)
    spectrum = sample.spectrum
    w, AT_T = spectrum.w, sample.spectral_targets(spectrum)
    shrink = 1 / (w[:, None] + lam)  # (rank, n_lams)
    total, largest = np.zeros(len(lam)), np.zeros(len(lam))
    for A, T_block, share in sample.spectral_rows(spectrum):
        H = (A * A) @ shrink + share[:, None]  # (rows, n_lams)
        largest = np.maximum(largest, H.max(axis=0, initial=0.0))
        for i in range(len(lam)):
            residual = T_block - A @ (shrink[:, i, None] * AT_T)
            left = np.maximum(1 - H[:, i], 1e-12)
            total[i] += np.sum((residual / left[:, None]) ** 2)
    errors = np.where(largest > LEVERAGE_LIMIT, np.inf, total / sample.n)
    return LeaveOneOutPath(lam, errors, largest)
