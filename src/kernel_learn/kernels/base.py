"""The contract of a kernel: k(X, X_ref) on blocks of rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernel_learn.kernels import pairwise

Array = NDArray[Any]
Rows = Any  # dense (n, d), CSR (n, d), a sequence of strings, or a data frame

InputKind = Literal["vectors", "strings", "matrix", "columns"]


class Kernel(BaseEstimator, ABC):  # type: ignore[misc]
    """A positive semidefinite function of two rows, and nothing else.

    A kernel is a plain parameter object (``get_params``, ``set_params``,
    ``clone``). It knows neither labels nor solvers and keeps no training data
    that is not one of its parameters, so that a clone is the same function.

    To write one, give ``__call__``; the rest has defaults.
    ``kernel_learn.testing.check_kernel`` says whether it is right.
    """

    input: ClassVar[InputKind] = "vectors"
    """What a row is: a vector, a string, a row of a kernel matrix, or a record of named columns."""

    @abstractmethod
    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        """Kernel values, (n_rows, n_ref); ``X_ref=None`` means ``X`` itself."""

    def diag(self, X: Rows) -> Array:
        """k(x, x) for each row of X, (n_rows,)."""
        return np.concatenate(
            [np.diagonal(self(X[rows])) for rows in pairwise.row_blocks(pairwise.n_rows(X), 256)]
        )

    @property
    def is_resolved(self) -> bool:
        """Whether every parameter is a value, none a rule that waits for data."""
        return True

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        """The same kernel with every rule (``gamma="median"``) replaced by its value on X."""
        return self

    def reference(self, X: Rows, indices: Array) -> Rows:
        """The rows ``indices`` of the training rows X in the form in which a model keeps them."""
        return take_rows(X, indices)

    def explicit_dimension(self, X: Rows) -> int | None:
        """The dimension of the feature space if it is finite and ``explicit_landmarks`` spans it."""
        return None

    def explicit_landmarks(self, X: Rows) -> Rows:
        """Points e_1..e_M with k(e_i, e_j) = [i = j] that span the whole feature space.

        With them as landmarks k(x, y) = sum_i k(x, e_i) k(e_i, y) for all x and
        y: nothing is lost, and n is gone.
        """
        raise ValueError(f"{self!r} has no explicit feature space.")


class ProfileKernel(Kernel):
    """k(x, y) = profile(s(x, y)) with s a distance or a dot product.

    All kernels on one statistic s share one panel of it: the statistic costs
    a matrix product, a profile only a pass over the panel.
    """

    statistic: ClassVar[pairwise.StatisticName]

    @abstractmethod
    def profile(self, S: Array, scale: float, out: Array) -> None:
        """Write the kernel values into ``out`` (may be S), given the block S = scale * s(x, y)."""

    @property
    def scale(self) -> float:
        """The factor on s that spares the profile a pass if the statistic carries it."""
        return 1.0

    def build_statistic(self, X: Rows, X_ref: Rows | None, scale: float) -> pairwise.Statistic:
        return pairwise.STATISTICS[self.statistic](X, X_ref, scale)

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        (K,) = evaluate_profiles([self], X, X_ref)
        return K


def profile_panels(
    kernels: Sequence[ProfileKernel], X: Rows, X_ref: Rows | None
) -> Iterator[tuple[slice, slice, Iterator[Array]]]:
    """Panels (rows, columns, one block per kernel) of kernels that share one statistic.

    The blocks are produced one after the other in a buffer that is used again.
    With ``X_ref=None`` only the upper triangle is produced.
    """
    for kernel in kernels:
        check_resolved(kernel)
    # the sharpest kernel asks most of the statistic's precision
    leader = max(kernels, key=lambda kernel: abs(kernel.scale))
    scale = leader.scale if len(kernels) == 1 else 1.0
    statistic = leader.build_statistic(X, X_ref, scale)
    buffers = [np.empty(0, dtype=statistic.dtype) for _ in range(2)]
    for rows, columns in statistic.panels():
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        size = shape[0] * shape[1]
        if buffers[0].size < size:
            buffers[0] = np.empty(size, dtype=statistic.dtype)
            buffers[1] = np.empty(size if len(kernels) > 1 else 0, dtype=statistic.dtype)
        S = buffers[0][:size].reshape(shape)
        statistic.block(rows, columns, S)

        def blocks(S: Array = S, size: int = size) -> Iterator[Array]:
            for kernel in kernels[:-1]:
                block = buffers[1][:size].reshape(S.shape)
                kernel.profile(S, scale, block)
                yield block
            kernels[-1].profile(S, scale, S)
            yield S

        yield rows, columns, blocks()


def evaluate_profiles(
    kernels: Sequence[ProfileKernel], X: Rows, X_ref: Rows | None = None
) -> list[Array]:
    """One kernel matrix per kernel; each panel of the shared statistic is computed once."""
    dtype = pairwise.result_dtype(X, X if X_ref is None else X_ref)
    shape = (pairwise.n_rows(X), pairwise.n_rows(X if X_ref is None else X_ref))
    Ks = [np.empty(shape, dtype=dtype) for _ in kernels]
    for rows, columns, blocks in profile_panels(kernels, X, X_ref):
        for K, block in zip(Ks, blocks, strict=True):
            K[rows, columns] = block
            if X_ref is None:
                K[rows.stop :, rows] = block[:, rows.stop - rows.start :].T
    return Ks


def check_resolved(kernel: Kernel) -> None:
    if not kernel.is_resolved:
        raise ValueError(
            f"{kernel!r} has a rule in place of a number, and a rule needs training rows. "
            "Fit an estimator with it and use its base_kernel_, or call kernel.resolve(X) first."
        )


def take_rows(X: Rows, indices: Any) -> Rows:
    """Rows of an array, sparse matrix, data frame or sequence."""
    if hasattr(X, "iloc"):
        return X.iloc[indices]
    if hasattr(X, "shape"):
        return X[indices]
    return np.asarray(X, dtype=object)[indices]
