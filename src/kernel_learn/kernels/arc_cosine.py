"""The kernel of one hidden layer of rectified units with random weights."""

from numbers import Real
from typing import Self

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels import pairwise
from kernel_learn.kernels.base import check_resolved
from kernel_learn.kernels.shared import SharedStatistics, StatisticsKernel
from kernel_learn.rows.coerce import as_vectors

# of the mean squared length of the rows: what the rule "auto" takes as bias
BIAS_SHARE = 0.1


class ArcCosine(StatisticsKernel):
    """k(x, y) = sqrt(a b) / pi (sin t + (pi - t) cos t), of order 1 (Cho & Saul 2009).

        a = |x|^2 + bias,  b = |y|^2 + bias,  cos t = (x'y + bias) / sqrt(a b)

    It is the mean of 2 max(0, w'x + v) max(0, w'y + v) over normal weights w and
    offsets v of variance ``bias``. It grows with the rows' lengths like a
    linear kernel and bends like a narrow one.

    Parameters
    ----------
    bias : float or "auto"
        ``"auto"``: a tenth of the mean squared length of the training rows.

    Examples
    --------
    >>> from kernel_learn.kernels import ArcCosine
    >>> ArcCosine(0.0)([[1.0, 0.0], [0.0, 1.0]]).round(3)
    array([[1.   , 0.318],
           [0.318, 1.   ]])
    """

    def __init__(self, bias: float | str = "auto") -> None:
        self.bias = bias

    @property
    def is_resolved(self) -> bool:
        if isinstance(self.bias, str) and self.bias == "auto":
            return False
        if isinstance(self.bias, Real) and 0 <= float(self.bias) < np.inf:
            return True
        raise ValueError(f"ArcCosine(bias={self.bias!r}): bias must be 'auto' or not negative.")

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        if self.is_resolved:
            return self
        lengths = pairwise.squared_norms(as_vectors(X))
        return type(self)(BIAS_SHARE * float(np.average(lengths, weights=sample_weight)))

    def combine(self, S: SharedStatistics) -> Array:
        bias = float(self.bias)
        root = np.sqrt(np.outer(S.x2 + bias, S.y2 + bias))
        C = S["dot"] + bias
        np.divide(C, root, out=C, where=root > 0)
        np.clip(C, -1.0, 1.0, out=C)
        T = np.arccos(C)
        C *= np.pi - T
        C += np.sin(T, out=T)
        C *= root
        C /= np.pi
        return np.asarray(C)

    def diag(self, X: Rows) -> Array:
        check_resolved(self)
        X = as_vectors(X)
        return (pairwise.squared_norms(X) + float(self.bias)).astype(X.dtype)
