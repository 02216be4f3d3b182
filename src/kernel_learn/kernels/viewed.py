"""A kernel of rows seen through a transformer."""

from typing import ClassVar, Protocol, Self

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.base import InputKind, Kernel


class View(Protocol):
    """A fitted transformer of rows."""

    def transform(self, X: Rows) -> Rows:
        """The rows as the kernel sees them."""


class ViewKernel(Kernel):
    """k(view(x), view(y)) with a fitted transformer ``view`` (anything with ``transform``).

    The transformer is part of the function, as a width is: it is not fitted
    again by ``resolve``, and a clone keeps it.
    """

    input: ClassVar[InputKind] = "columns"

    def __init__(self, kernel: Kernel, view: View) -> None:
        self.kernel = kernel
        self.view = view

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        Z_ref = None if X_ref is None else self.view.transform(X_ref)
        return np.asarray(self.kernel(self.view.transform(X), Z_ref))

    def diag(self, X: Rows) -> Array:
        return np.asarray(self.kernel.diag(self.view.transform(X)))

    @property
    def is_resolved(self) -> bool:
        return self.kernel.is_resolved

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        return type(self)(self.kernel.resolve(self.view.transform(X), sample_weight), self.view)

    def __sklearn_clone__(self) -> Self:
        return self  # immutable by convention; a clone of the transformer would not be fitted
