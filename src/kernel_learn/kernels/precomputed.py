"""A kernel matrix that the user has computed."""

from numbers import Integral
from typing import ClassVar, Literal, Self

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.base import InputKind, Kernel
from kernel_learn.kernels.resolve import check_symmetric_matrix, is_positive_semidefinite
from kernel_learn.rows.access import dense
from kernel_learn.rows.coerce import as_vectors
from kernel_learn.warn import warn_user


class Precomputed(Kernel):
    """Rows are rows of a kernel matrix: K(X, X_train), square at fit.

    The training matrix must be symmetric. If it has negative eigenvalues
    beyond rounding, ``psd="clip"`` replaces K = V diag(w) V' by
    V diag(max(w, 0)) V' with a warning, and new rows k by k V_+ V_+', which
    is the same repair; ``psd="error"`` refuses. ``repair`` is V_+ V_+',
    found at fit and None if there was nothing to repair.

    Several kernel matrices come as one stack of shape (n, n, p), which
    cross-validation splits like a single matrix; ``layer=i`` is the kernel
    ``X[:, :, i]``, and ``kernel="precomputed"`` stands for all the layers.

    Parameters
    ----------
    psd : {"clip", "error"}, default="clip"
        What to do about negative eigenvalues.
    repair : ndarray or None
        Found at fit; not for users.
    layer : int or None
        Of a stack of matrices.
    """

    input: ClassVar[InputKind] = "matrix"

    def __init__(
        self,
        psd: Literal["clip", "error"] = "clip",
        repair: Array | None = None,
        layer: int | None = None,
    ) -> None:
        self.psd = psd
        self.repair = repair
        self.layer = layer

    def matrix(self, X: Rows) -> Array:
        """The kernel matrix among the rows X: X itself, or a layer of it."""
        if (np.ndim(X) == 3) != (self.layer is not None):
            raise ValueError(
                f"{self!r} and X of shape {np.shape(X)} do not fit: a layer is taken from a stack "
                "(n, n, p), and a matrix has none."
            )
        if self.layer is None:
            return kernel_matrix(X)
        layers = np.shape(X)[2]
        is_whole = isinstance(self.layer, Integral) and not isinstance(self.layer, bool)
        if not (is_whole and -layers <= self.layer < layers):
            raise ValueError(
                f"{self!r}: X is a stack of {layers} kernel matrices, whose layers are 0 to "
                f"{layers - 1}."
            )
        return kernel_matrix(X[:, :, self.layer])

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        """Columns ``X_ref`` (indices of training rows, None for all) of the repaired rows X."""
        X = self.matrix(X)
        columns = slice(None) if X_ref is None else X_ref
        return np.array(X[:, columns] if self.repair is None else X @ self.repair[:, columns])

    def diag(self, X: Rows) -> Array:
        return np.diagonal(self(X)).copy()

    def reference(self, X: Rows, indices: Array) -> Rows:
        return np.asarray(indices)

    def rule_bytes(self, n: int, is_weighted: bool = False) -> int:
        return 24 * n**2  # the comparison with the transpose

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        """The kernel with the repair that the training matrix X needs."""
        if self.psd not in ("clip", "error"):
            raise ValueError(f'Precomputed(psd={self.psd!r}): psd must be "clip" or "error".')
        X = self.matrix(X)
        check_square(X)
        check_symmetric_matrix(X)
        if self.repair is not None or is_positive_semidefinite(X):
            return self
        w, V = linalg.eigh(X.astype(np.float64))
        if self.psd == "error":
            raise ValueError(
                f"The precomputed kernel matrix is not positive semidefinite: its eigenvalues run "
                f"from {w[0]:.3g} to {w[-1]:.3g}. Correct the kernel, or let "
                'Precomputed(psd="clip") set the negative ones to zero.'
            )
        warn_user(
            f"The precomputed kernel matrix has negative eigenvalues (smallest {w[0]:.3g}, "
            f"largest {w[-1]:.3g}); they are set to zero, and new rows are repaired alike. "
            'Precomputed(psd="error") refuses such a matrix.',
        )
        V_plus = V[:, w > 0]
        repair = (V_plus @ V_plus.T).astype(X.dtype)
        return type(self)(psd=self.psd, repair=repair, layer=self.layer)


def kernel_matrix(X: Rows) -> Array:
    """What was given as X, as a dense matrix."""
    return dense(as_vectors(X))


def check_square(K: Array) -> None:
    """Refuse a kernel matrix that is not square."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"A precomputed kernel matrix must be square at fit, and X has shape {K.shape}. "
            "Pass K(X_train, X_train) to fit and K(X_new, X_train) afterwards."
        )
