"""Whether a kernel keeps its promises: the last step of writing one."""

import copy
import pickle
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.base import Kernel, KernelLike
from kernel_learn.kernels.columns import ColumnKernel
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.kernels.shared import StatisticsKernel
from kernel_learn.rows.access import is_sparse, n_rows, row_blocks, take_rows
from kernel_learn.rows.frames import is_frame
from kernel_learn.testing.promise import Promise


def check_kernel(
    kernel: KernelLike, X: Rows | None = None, *, X_new: Rows | None = None, rtol: float = 1e-10
) -> None:
    """Raise AssertionError with a sentence that names the first promise the kernel breaks.

    Parameters
    ----------
    kernel : Kernel, name, scikit-learn kernel or function k(X, X_ref)
        What is checked; rules such as ``gamma="median"`` are resolved on X.
    X : rows, optional
        Rows that the kernel takes, at most a few dozen. By default rows are
        made that suit its ``input``. For a matrix kernel: a kernel matrix.
    X_new : rows, optional
        Other rows, to be compared with X. By default the made ones, or the
        first three rows of X.
    rtol : float
        What rounding may do, relative to the largest kernel value.

    Examples
    --------
    >>> from kernel_learn.kernels import Gaussian
    >>> from kernel_learn.testing import check_kernel
    >>> check_kernel(Gaussian())
    >>> def distance(X, X_ref):
    ...     return abs(X[:, :1] - X_ref[:, 0])
    >>> check_kernel(distance)
    Traceback (most recent call last):
    ...
    AssertionError: FunctionKernel(...): k(X) must be positive semidefinite, ...
    """
    kernel = as_kernel(kernel)
    if X is None:
        X, X_new = make_rows(kernel, 14, seed=0), make_rows(kernel, 5, seed=1)
    elif X_new is None:
        X_new = take_rows(X, np.arange(min(3, n_rows(X))))
    resolved = check_resolve(kernel, X)
    promise = KernelPromise(resolved, rtol)
    check_values(promise, X)
    check_row_blocks(promise, X, X_new)
    check_same_function(promise, X)
    check_inputs_unchanged(promise, X)
    if kernel.input == "vectors":
        check_single_precision(promise, X)
        check_sparse_rows(promise, X)


class KernelPromise(Promise):
    """A kernel and how its promises are put into words."""

    def __init__(self, kernel: Kernel, rtol: float) -> None:
        super().__init__(repr(kernel), rtol)
        self.kernel = kernel

    def equal(self, A: Array, B: Array, promise: str, rtol: float | None = None) -> None:
        """Both must be the same to rounding."""
        self(A.shape == B.shape, promise, f"the shapes are {A.shape} and {B.shape}")
        error = np.abs(A - B).max(initial=0.0)
        bound = (self.rtol if rtol is None else rtol) * np.abs(B).max(initial=0.0)
        self(error <= bound, promise, f"the largest difference is {error:.3g}")


def check_resolve(kernel: Kernel, X: Rows) -> Kernel:
    """Resolving gives a kernel without rules and changes nothing; an open rule cannot be called."""
    promise = KernelPromise(kernel, 0.0)
    before = copy.deepcopy(kernel.get_params(deep=True))
    if not kernel.is_resolved:
        try:
            kernel(X)
        except ValueError:
            pass
        else:
            promise(False, "calling it with an open rule must be a ValueError")
    resolved = kernel.resolve(X)
    after = kernel.get_params(deep=True)
    promise(same(before, after), "resolve(X) must leave the kernel itself as it was")
    promise(resolved.is_resolved, "resolve(X) must leave no rule open")
    again = resolved.resolve(X)
    promise(
        same(resolved.get_params(deep=True), again.get_params(deep=True)),
        "resolving a second time must change nothing",
    )
    return resolved


def check_values(promise: KernelPromise, X: Rows) -> None:
    """k(X) is a finite, symmetric, positive semidefinite matrix with diagonal ``diag(X)``."""
    kernel, n = promise.kernel, n_rows(X)
    K = kernel(X)
    promise(isinstance(K, np.ndarray), "k(X) must be an array", f"it is a {type(K).__name__}")
    promise(K.shape == (n, n), f"k(X) of {n} rows must be of shape ({n}, {n})", f"it is {K.shape}")
    promise(K.dtype == floating(X), f"k(X) must be {floating(X)}", f"it is {K.dtype}")
    promise(np.isfinite(K).all(), "k(X) must be finite")
    if kernel.input == "matrix":
        promise.equal(K, K.T, "k(X) must be symmetric")
    else:
        unequal = int((K != K.T).sum())
        promise(unequal == 0, "k(X) must be exactly symmetric", f"{unequal} entries are not")
    promise.equal(
        K, kernel(X, kernel.reference(X, np.arange(n))), "k(X) must be k(X, X) with X given twice"
    )
    diagonal = kernel.diag(X)
    promise.equal(diagonal, np.diagonal(K), "diag(X) must be the diagonal of k(X)")
    promise(
        diagonal.dtype == K.dtype, f"diag(X) must be {K.dtype} like k(X)", f"it is {diagonal.dtype}"
    )
    w = np.linalg.eigvalsh(K.astype(np.float64))
    promise(
        w[0] >= -promise.rtol * n * np.abs(K).max(),
        "k(X) must be positive semidefinite",
        f"its eigenvalues run from {w[0]:.3g} to {w[-1]:.3g}",
    )


def check_row_blocks(promise: KernelPromise, X: Rows, X_new: Rows) -> None:
    """A value depends on its two rows only, not on the rows beside them."""
    kernel, n = promise.kernel, n_rows(X)
    everything = kernel.reference(X, np.arange(n))
    K = kernel(X, everything)
    for size in (1, 5):
        rows = [kernel(take_rows(X, block), everything) for block in row_blocks(n, size)]
        promise.equal(np.vstack(rows), K, f"k(X, X_ref) must be the same in blocks of {size} rows")
    some = np.arange(n)[::-2]
    promise.equal(
        kernel(X, kernel.reference(X, some)),
        K[:, some],
        "k(X, X_ref) must take each row of X_ref by itself",
    )
    K_new = kernel(X_new, everything)
    shape = (n_rows(X_new), n)
    promise(K_new.shape == shape, f"k(X_new, X) must be of shape {shape}", f"it is {K_new.shape}")
    promise(np.isfinite(K_new).all(), "k(X_new, X) must be finite")
    if kernel.input != "matrix":
        promise.equal(kernel(X, X_new), K_new.T, "k(X, X_new) must be the transpose of k(X_new, X)")


def check_same_function(promise: KernelPromise, X: Rows) -> None:
    """Parameters say everything: rebuilt, cloned or pickled it is the same function."""
    kernel = promise.kernel
    K = kernel(X)
    rebuilt = type(kernel)(**kernel.get_params(deep=False))
    promise.equal(rebuilt(X), K, "built again from get_params() it must be the same function")
    promise.equal(clone(kernel)(X), K, "its clone must be the same function")
    try:
        unpickled = pickle.loads(pickle.dumps(kernel))
    except (pickle.PicklingError, AttributeError):
        return  # of a class or function that no module holds: not the kernel's fault
    except Exception as error:
        raise AssertionError(f"{kernel!r}: it must survive pickling, and {error}.") from error
    promise.equal(unpickled(X), K, "pickled and read again it must be the same function")


def check_inputs_unchanged(promise: KernelPromise, X: Rows) -> None:
    """Rows that cannot be written to are taken, and rows that can are not written to."""
    kernel, before = promise.kernel, copy.deepcopy(X)
    for rows in (X, read_only(X)):
        K = kernel(rows)
        kernel(rows, kernel.reference(rows, np.arange(n_rows(rows))))
        kernel.resolve(rows)
        kernel.diag(rows)
        promise(same(before, X), "it must not change the rows that it is given")
        promise.equal(K, kernel(X), "read-only rows must give the same values")


def check_single_precision(promise: KernelPromise, X: Rows) -> None:
    """float32 rows give float32 values, unless the kernel holds float64 arrays itself."""
    kernel = promise.kernel
    parameters = kernel.get_params(deep=True).values()
    if any(getattr(value, "dtype", None) == np.float64 for value in parameters):
        return
    rows = X.astype(np.float32)
    K, diagonal = kernel(rows), kernel.diag(rows)
    promise(K.dtype == np.float32, "float32 rows must give float32 values", f"it is {K.dtype}")
    promise(
        diagonal.dtype == np.float32,
        "diag of float32 rows must be float32",
        f"it is {diagonal.dtype}",
    )
    promise.equal(
        K, kernel(rows.astype(np.float64)), "float32 rows must give the same values", 1e-5
    )


def check_sparse_rows(promise: KernelPromise, X: Rows) -> None:
    """CSR rows give the values of dense rows, or are refused."""
    if is_sparse(X):
        dense, rows = X.toarray(), X
    else:
        dense, rows = X, sparse.csr_matrix(X)
    try:
        K = promise.kernel(rows)
    except (TypeError, ValueError):
        return
    words = "CSR rows must give an array, or be refused by a ValueError"
    promise(type(K) is np.ndarray, words, f"it is a {type(K).__name__}")
    # rows that are not centred may cost two digits
    promise.equal(
        K, promise.kernel(dense), "CSR rows must give the values of dense rows", 100 * promise.rtol
    )


def make_rows(kernel: Kernel, n: int, seed: int) -> Rows:
    """n rows of the kind that the kernel takes; the last is the first once more."""
    rng = np.random.default_rng(seed)
    if kernel.input == "strings":
        return _repeat_first(_strings(rng, n))
    if kernel.input == "matrix":
        return _matrix_rows(rng, n, square=seed == 0)
    if isinstance(kernel, StatisticsKernel) and kernel.input == "columns":
        return _repeat_first(np.round(2 * _vectors(rng, n, 4)) / 2)  # few values: categories
    if kernel.input == "columns":
        return _rows_of_columns(kernel, rng, n)
    return _repeat_first(_vectors(rng, n, 4))


def _vectors(rng: np.random.Generator, n: int, d: int) -> Array:
    """Within [0, 1], a third zeros, no row zero."""
    X = rng.uniform(0.2, 1.0, size=(n, d))
    X[:, 1:][rng.uniform(size=(n, d - 1)) < 0.3] = 0.0
    return X


def _strings(rng: np.random.Generator, n: int) -> Array:
    texts = ["".join(rng.choice(list("abc"), size=size)) for size in rng.integers(6, 12, size=n)]
    return np.array(texts, dtype=object)


def _matrix_rows(rng: np.random.Generator, n: int, *, square: bool) -> Array:
    F = np.random.default_rng(0).standard_normal((14, 5))
    return F @ F.T if square else rng.standard_normal((n, 5)) @ F.T


def _rows_of_columns(kernel: Kernel, rng: np.random.Generator, n: int) -> Rows:
    columns = kernel.columns if isinstance(kernel, ColumnKernel) else None
    if columns is None or isinstance(columns, slice):
        raise ValueError(f"check_kernel cannot guess the columns of {kernel!r}. Give it rows X.")
    assert isinstance(kernel, ColumnKernel)
    wanted = np.ravel(columns).tolist()
    names = [name for name in wanted if isinstance(name, str)]
    width = len(names) if names else int(np.abs(wanted).max()) + 2
    X: Array = _vectors(rng, n, max(width, 2))[:, :width]
    if kernel.base.input == "strings":
        X = np.stack([_strings(rng, n) for _ in range(width)], axis=1)
    if not names:
        return X
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f"check_kernel draws a frame for the columns of {kernel!r}, by pandas: "
            'pip install "kernel-learn[cli]", or give it rows X.'
        ) from error
    return pd.DataFrame(X, columns=names)


def _repeat_first(X: Array) -> Array:
    X[-1] = X[0]
    return X


def read_only(X: Rows) -> Rows:
    """A copy that cannot be written to, where the kind of rows knows of that."""
    X = copy.deepcopy(X)
    parts = (X.data, X.indices, X.indptr) if is_sparse(X) else (X,)
    for part in parts:
        if isinstance(part, np.ndarray):
            part.setflags(write=False)
    return X


def floating(X: Rows) -> np.dtype[Any]:
    """float32 for rows of float32, else float64."""
    return np.dtype(np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)


def same(a: Rows, b: Rows) -> bool:
    """Whether two parameters or two sets of rows are equal in value."""
    if isinstance(a, Kernel):
        return type(a) is type(b) and same(a.get_params(deep=False), b.get_params(deep=False))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if is_sparse(a):
        return all(
            same(getattr(a, part), getattr(b, part)) for part in ("data", "indices", "indptr")
        )
    if is_frame(a):
        return bool(a.equals(b))
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    return a is b or bool(a == b)
