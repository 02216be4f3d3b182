"""The contract of a kernel: k(X, X_ref) on blocks of rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, ClassVar, Literal, Self, TypeGuard, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels import pairwise
from kernel_learn.kernels.covariance import Bounds, CovarianceFunction
from kernel_learn.rows.access import n_rows, row_blocks, take_rows
from kernel_learn.rows.coerce import as_vectors

if TYPE_CHECKING:
    from kernel_learn.kernels.pool import Pool

# Kernel values k(x, landmarks) held at a time, in numbers: 16 MB of float64.
BLOCK_SIZE = 2**21
InputKind = Literal["vectors", "strings", "matrix", "columns"]
Value = TypeVar("Value")


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

    is_stationary: ClassVar[bool] = False
    """Whether k(x, y) is a function of x - y."""

    row_copies: float = 0.0
    """How many copies of its rows an evaluation makes, for the plan of a fit's memory."""

    def gram_copies(self, n_columns: int) -> float:
        """The same of k(X, X), and of X in k(X, landmarks), with rows of so many columns."""
        return self.row_copies

    pool_rows: int | None = None
    """At how many rows of a pool its rules look; None for all of them."""

    def __init_subclass__(cls, **options: object) -> None:
        """A class that gives its own ``resolve`` and no ``resolve_on`` is asked for the former.

        Two single rows are a block of one row each, whoever wrote ``__call__``.
        """
        super().__init_subclass__(**options)
        if "__call__" in vars(cls):
            cls.__call__ = takes_single_rows(vars(cls)["__call__"])  # type: ignore[method-assign]
        if "resolve" in vars(cls) and "resolve_on" not in vars(cls):
            cls.resolve_on = Kernel.resolve_on  # type: ignore[method-assign]

    @abstractmethod
    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        """Kernel values, (n_rows, n_ref); ``X_ref=None`` means ``X`` itself.

        Two single rows of numbers, both one-dimensional, give a float: scikit-learn's
        ``pairwise_kernels`` asks so, once for each pair. ``as_gp_kernel`` is asked for
        whole blocks, and is as fast as k(X, X_ref).
        """

    def as_gp_kernel(self, parameter_bounds: Bounds = (1e-5, 1e5)) -> CovarianceFunction:
        """This kernel as one of ``sklearn.gaussian_process``, for ``GaussianProcessRegressor``.

        Parameters
        ----------
        parameter_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
            Between which values each of ``log_parameters`` is sought there.
        """
        check_resolved(self)
        return CovarianceFunction(self, parameter_bounds)

    @property
    def log_parameters(self) -> dict[str, float | Array]:
        """Positive parameters by whose logarithms the kernel can be differentiated."""
        return {}

    def log_gradients(self, X: Rows) -> dict[str, Array]:
        """d k(x, x') / d log p among rows X, (n, n) or (n, n, size of p), for these parameters."""
        return {}

    def diag(self, X: Rows) -> Array:
        """k(x, x) for each row of X, (n_rows,)."""
        # a block of b rows costs b^2 values of which b are wanted
        blocks = row_blocks(n_rows(X), 16)
        diagonals = [np.diagonal(self(take_rows(X, rows))) for rows in blocks]
        return np.concatenate(diagonals) if diagonals else np.empty(0)

    @property
    def is_resolved(self) -> bool:
        """Whether every parameter is a value, none a rule that waits for data."""
        return True

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        """The same kernel with every rule (``gamma="median"``) replaced by its value on X."""
        return self

    def resolve_on(self, pool: "Pool") -> Self:
        """``resolve`` on rows that were chosen by content already; estimators call this."""
        if type(self).resolve is Kernel.resolve:
            return self
        return self.resolve(pool.rows, pool.weight)

    def rule_bytes(self, n: int, is_weighted: bool = False) -> int:
        """What replacing the rules on n distinct rows holds in memory; more if weights differ."""
        return 0

    def numeric_columns(self, X: Rows) -> Array:
        """Positions of the columns of X that must be numbers."""
        return np.arange(X.shape[1] if self.input == "vectors" else 0)

    def distance_columns(self, X: Rows) -> list[Array]:
        """Positions of columns whose differences are added up in one distance, for each of them."""
        return []

    @property
    def takes_vectors(self) -> bool:
        """Whether all that it sees of a row are numbers, which can be averaged and moved."""
        return self.input == "vectors"

    def reference(self, X: Rows, indices: Array) -> Rows:
        """The rows ``indices`` of the training rows X in the form in which a model keeps them."""
        return take_rows(X, indices)

    def reference_gradient(self, X: Rows, X_ref: Array, A: Array) -> Array:
        """sum_i A_ij d k(x_i, z_j) / d z_j for the points z = X_ref, (n_ref, d)."""
        raise ValueError(
            f"{self!r} has no derivative with respect to its points. Use Gaussian, Matern, "
            "Exponential, Polynomial or Linear where points are moved."
        )

    def explicit_dimension(self, X: Rows) -> int | None:
        """The dimension of the feature space if ``explicit_landmarks`` spans it, else None."""
        return None

    def explicit_landmarks(self, X: Rows) -> Rows:
        """Points e_1..e_M with k(e_i, e_j) = [i = j] that span the whole feature space.

        With them as landmarks k(x, y) = sum_i k(x, e_i) k(e_i, y) for all x and
        y: nothing is lost, and n is gone.
        """
        raise ValueError(f"{self!r} has no explicit feature space.")


def below(owner: str, found: Mapping[str, Value]) -> dict[str, Value]:
    """Parameters of a wrapped kernel by the names they have in its wrapper."""
    return {f"{owner}__{name}": value for name, value in found.items()}


Evaluate = Callable[..., Array]


def takes_single_rows(evaluate: Evaluate) -> Evaluate:
    """A ``__call__`` that gives a float for two one-dimensional rows of numbers, refuses one."""

    @wraps(evaluate)
    def call(self: Kernel, X: Rows, X_ref: Rows | None = None) -> Array:
        if self.input in ("vectors", "columns"):
            if is_single_row(X) and is_single_row(X_ref):
                K = evaluate(self, X[None], X_ref[None])
                return float(K[0, 0])  # type: ignore[return-value]
            for rows in (X, X_ref):
                if is_single_row(rows):
                    as_vectors(rows)  # says that rows are a 2-D array
        return evaluate(self, X, X_ref)

    return call


def is_single_row(x: object) -> TypeGuard[Array]:
    """Whether it is one row of numbers, (d,)."""
    return isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "fiub"


KernelLike = Kernel | str | Callable[..., object]  # its name, or a function k(X, X_ref)
Bank = Mapping[str, KernelLike] | Sequence[KernelLike]  # several, named or numbered
KernelsLike = KernelLike | Bank


class ProfileKernel(Kernel):
    """k(x, y) = profile(scale * s(x, y)) with s a distance or a dot product.

    All kernels on one statistic s share one panel of it: the statistic costs
    a matrix product, a profile only a pass over the panel.
    """

    statistic: ClassVar[pairwise.StatisticName]

    @property
    def row_copies(self) -> float:  # type: ignore[override]
        return pairwise.ROW_COPIES[self.statistic]

    def gram_copies(self, n_columns: int) -> float:
        whole = self.statistic == "sqeuclidean" and n_columns >= pairwise.WHOLE_COLUMNS
        return 1.0 if whole else self.row_copies  # centred, and no augmented ones

    @property
    def scale(self) -> float:
        """The factor on s; the statistic carries it, which spares a pass."""
        return 1.0

    @abstractmethod
    def profile(self, S: Array) -> None:
        """Turn the block S = scale * s(x, y) into kernel values, in place."""

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        (K,) = evaluate_profiles([self], X, X_ref)
        return K


def evaluate_profiles(
    kernels: Sequence[ProfileKernel], X: Rows, X_ref: Rows | None = None
) -> list[Array]:
    """One kernel matrix per kernel; each panel of the shared statistic is computed once."""
    statistic = shared_statistic(kernels, X, X_ref)
    begun = statistic.begin()
    Ks = [np.empty(statistic.shape, statistic.dtype) for _ in kernels[begun is not None :]]
    Ks += [] if begun is None else [begun]
    for rows, columns in statistic.panels():
        panels = [K[rows, columns] for K in Ks]
        S = panels[-1]  # the last kernel's values take the place of the statistic
        statistic.block(rows, columns, S)
        for kernel, panel in zip(kernels, panels, strict=True):
            if panel is not S or kernel.scale != statistic.scale:
                np.multiply(S, kernel.scale / statistic.scale, out=panel)
            kernel.profile(panel)
        if statistic.symmetric:
            for K in Ks:
                mirror_panel(K, rows)
    return Ks


def shared_statistic(
    kernels: Sequence[ProfileKernel], X: Rows, X_ref: Rows | None
) -> pairwise.Statistic:
    """The statistic that the kernels share, with the scale of the sharpest of them."""
    for kernel in kernels:
        check_resolved(kernel)
    scale = max((kernel.scale for kernel in kernels), key=abs)
    return pairwise.STATISTICS[kernels[0].statistic](X, X_ref, scale)


def mirror_panel(K: Array, rows: slice) -> None:
    """Copy what the panel K[rows] holds below the diagonal to its place above."""
    K[: rows.start, rows] = K[rows, : rows.start].T
    square = K[rows, rows]
    np.copyto(square, square.T, where=np.tri(len(square), k=-1, dtype=bool).T)


def landmark_features(kernel: Kernel, X: Rows, landmarks: Rows, coef: Array) -> Array:
    """coef'k(x, landmarks) for each row, (n_rows, r), in row blocks."""
    n = n_rows(X)
    F = np.empty((n, coef.shape[1]), dtype=coef.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in row_blocks(n, max(1, BLOCK_SIZE // max(1, len(coef)))):
            K = kernel(take_rows(X, rows), landmarks)
            np.matmul(K, coef, out=F[rows], casting="same_kind")
    check_kernel_values(F, kernel, X)
    return F


def check_kernel_values(values: Array | float, kernel: Kernel, X: Rows) -> None:
    """Refuse what a kernel's values became where they leave the range of the rows' numbers."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"{kernel!r} gives values that are not finite on these rows"
            f"{beyond_single(getattr(X, 'dtype', None))}."
        )


def beyond_single(dtype: object) -> str:
    """What to do about values beyond 3e38, if numbers are of single precision."""
    remedy = " in float32. Pass them as float64, or bring their columns to a common scale"
    return remedy if dtype == np.float32 else ""


def check_resolved(kernel: Kernel) -> None:
    """Refuse to evaluate a kernel whose rules still wait for rows."""
    if not kernel.is_resolved:
        raise ValueError(
            f"{kernel!r} has a rule in place of a number, and a rule needs training rows. "
            "Fit an estimator with it and use its base_kernel_, or call kernel.resolve(X) first."
        )
