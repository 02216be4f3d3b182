"""Our kernels as covariance functions of scikit-learn's Gaussian processes.

There are two directions. ``GaussianProcessKernel`` lets a kernel of
``sklearn.gaussian_process`` work here; ``CovarianceFunction``, which
``kernel.as_gp_kernel()`` gives, lets a kernel of ours work there.
"""

from typing import Literal, Protocol, Self

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Hyperparameter
from sklearn.gaussian_process.kernels import Kernel as SklearnGPKernel

from kernel_learn.arrays import Array, Rows

Bounds = tuple[float, float] | Literal["fixed"]


class Differentiable(Protocol):
    """What is asked of a kernel; every kernel of ours has it."""

    input: str
    is_stationary: bool

    @property
    def log_parameters(self) -> dict[str, float | Array]:
        """Positive parameters by whose logarithms it can be differentiated."""

    def log_gradients(self, X: Rows) -> dict[str, Array]:
        """These derivatives among rows X."""

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        """Kernel values."""

    def diag(self, X: Rows) -> Array:
        """k(x, x) for each row."""

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Its parameters by name."""

    def set_params(self, **params: object) -> Self:
        """Change them."""


class CovarianceFunction(SklearnGPKernel):  # type: ignore[misc]
    """cov(f(x), f(y)) = k(x, y) with a kernel k of ours, by scikit-learn's protocol.

    Its hyperparameters are the positive parameters by which k has a derivative
    (``kernel.log_parameters``): the width of a Gaussian, the weights of a combination. A
    learned subspace has none, and stays as it was learned; multiply by
    ``ConstantKernel()`` for an amplitude. scikit-learn calls it on whole blocks of rows,
    in ``KernelRidge``, ``Nystroem`` and ``KernelPCA`` too.

    Parameters
    ----------
    kernel : Kernel
        Without open rules.
    parameter_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Between which values each hyperparameter is sought; "fixed" leaves them as they are.
    """

    def __init__(self, kernel: Differentiable, parameter_bounds: Bounds = (1e-5, 1e5)) -> None:
        self.kernel = kernel
        self.parameter_bounds = parameter_bounds

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Its own parameters and, if ``deep``, the kernel's, as ``kernel__gamma``."""
        inside = self.kernel.get_params(deep=True) if deep else {}
        own = {"kernel": self.kernel, "parameter_bounds": self.parameter_bounds}
        return {**own, **{f"kernel__{name}": value for name, value in inside.items()}}

    def set_params(self, **params: object) -> "CovarianceFunction":
        """Change parameters; the kernel that was given is not written to."""
        inside = {
            key.removeprefix("kernel__"): params.pop(key)
            for key in sorted(params)
            if key.startswith("kernel__")
        }
        super().set_params(**params)
        for name, value in self.kernel.log_parameters.items():
            if name in inside and np.ndim(value):  # scikit-learn makes a number of one element
                inside[name] = np.asarray(inside[name]).reshape(np.shape(value))
        if inside:
            self.kernel = clone(self.kernel).set_params(**inside)
        return self

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """One for each parameter by which the kernel has a derivative."""
        return [
            Hyperparameter(f"kernel__{name}", "numeric", self.parameter_bounds, np.size(value))
            for name, value in self.kernel.log_parameters.items()
        ]

    def __call__(
        self, X: Rows, Y: Rows | None = None, eval_gradient: bool = False
    ) -> Array | tuple[Array, Array]:
        """k(X, Y), and if ``eval_gradient`` its derivative by theta, (n, n, n_dims)."""
        K = np.asarray(self.kernel(X, Y), dtype=np.float64)
        if not eval_gradient:
            return K
        if Y is not None:
            raise ValueError("The gradient of a kernel is evaluated among rows X alone: Y=None.")
        n = len(K)
        if self.parameter_bounds == "fixed" or not self.kernel.log_parameters:
            return K, np.empty((n, n, 0))
        parts = self.kernel.log_gradients(X)
        gradients = [parts[name].reshape(n, n, -1) for name in self.kernel.log_parameters]
        return K, np.concatenate(gradients, axis=2)

    def diag(self, X: Rows) -> Array:
        """k(x, x) for each row."""
        return np.asarray(self.kernel.diag(X), dtype=np.float64)

    def is_stationary(self) -> bool:
        """Whether k(x, y) is a function of x - y."""
        return self.kernel.is_stationary

    @property
    def requires_vector_input(self) -> bool:
        """Whether rows are vectors; strings are not."""
        return self.kernel.input != "strings"

    def __repr__(self) -> str:
        return f"CovarianceFunction({self.kernel!r})"
