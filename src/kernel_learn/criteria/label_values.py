"""Label kernels H = F F' of targets that are no classes: numbers, and sets of labels."""

from collections.abc import Callable

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.labels import LabelKernel, check_similarities, psd_factor
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.rows.coerce import as_numbers

# Label kernels by name that every kind of targets knows, beside functions and matrices.
BY_KIND = {
    "classes": ("normalized", "indicator", "ordinal"),
    "numbers": ("normalized", "linear", "gaussian"),
    "labels": ("normalized", "linear", "jaccard"),
}
LABEL_KERNELS = tuple(dict.fromkeys(name for names in BY_KIND.values() for name in names))
# Different targets that are compared each with each, and columns of a factor.
MOST_VALUES = 2000
# Where the largest residual is this share of the largest similarity the factor is complete.
COMPLETE = 1e-14


def check_label_kernel(label_kernel: LabelKernel, kind: str) -> None:
    """Refuse a name that means nothing for this kind of targets."""
    if not isinstance(label_kernel, str) or label_kernel in BY_KIND[kind]:
        return
    known = [other for other, names in BY_KIND.items() if label_kernel in names]
    words = ", ".join(map(repr, BY_KIND[kind]))
    other = f" If they are {known[0]}, pass target_type={known[0]!r}." if known else ""
    raise ValueError(
        f"label_kernel={label_kernel!r} is not known for y that are {kind}. Give {words}, a "
        f"function of two arrays of targets, or a matrix of similarities.{other}"
    )


def is_auto(label_kernel: LabelKernel) -> bool:
    """Whether the label kernel is to be chosen by the kind of the targets."""
    return isinstance(label_kernel, str) and label_kernel == "auto"


def compares_rows(label_kernel: LabelKernel) -> bool:
    """Whether targets that are no classes are compared each with each, so that all are needed."""
    return not isinstance(label_kernel, str) or label_kernel in ("gaussian", "jaccard")


def similarity_factor(
    label_kernel: LabelKernel,
    values: Array,  # (n, q) numbers, or zeros and ones
    weight: Array,  # (n,) for the rules of a kernel
    *,
    single: bool = False,  # a function sees (n,), or (n, 1) if it makes no matrix of that
) -> Array:
    """F (n, r) with H = F F'; equal targets have equal rows, and the factor of a kernel is short.

    - ``"jaccard"``: |a and b| / |a or b| of two sets, 1 of two empty ones;
    - ``"gaussian"`` or a kernel: its rules (``gamma="median"``) are resolved on the targets;
    - a function of two arrays of targets, or a matrix (n, n).
    """
    n = len(values)
    if not callable(label_kernel) and not isinstance(label_kernel, str):
        H = check_similarities(as_numbers(label_kernel, "label_kernel"))
        if H.shape != (n, n):
            raise ValueError(
                f"label_kernel has shape {H.shape}; of targets that are no classes it must be "
                f"(n_samples, n_samples) = {(n, n)}."
            )
        return trimmed(psd_factor(H))
    distinct, place = np.unique(values, axis=0, return_inverse=True)
    place = place.reshape(-1)
    if isinstance(label_kernel, Kernel) or label_kernel == "gaussian":
        kernel = as_kernel(label_kernel)
        return pivoted_factor(kernel.resolve(distinct, np.bincount(place, weight)), distinct)[place]
    if len(distinct) > MOST_VALUES:
        raise too_many_values(len(distinct))
    if isinstance(label_kernel, str):
        H = jaccard(distinct)
    else:
        H = check_similarities(_called(label_kernel, distinct, single))
    return trimmed(psd_factor(H))[place]


def _called(function: Callable[[Array, Array], Array], values: Array, single: bool) -> Array:
    """What a function of two arrays of targets says of all, (m, m)."""
    m = len(values)
    if single:  # numbers as they were given; kernels of scikit-learn ask for a column
        try:
            H = as_numbers(function(values[:, 0], values[:, 0]), "label_kernel")
        except (ValueError, IndexError):
            pass
        else:
            if H.shape == (m, m):
                return H
    H = as_numbers(function(values, values), "label_kernel")
    if H.shape != (m, m):
        raise ValueError(
            f"label_kernel gives the shape {H.shape} for {m} targets; it must give their "
            f"similarities, {(m, m)}."
        )
    return H


def too_many_values(n: int) -> ValueError:
    """What is said of more targets than can be compared each with each."""
    return ValueError(
        f"label_kernel compares {n} different targets each with each, and at most {MOST_VALUES} "
        "are, unless it is smooth. Use 'normalized', 'linear' or, for numbers, 'gaussian'."
    )


def jaccard(Y: Array) -> Array:  # (n, L) of 0 and 1
    """|a and b| / |a or b| of every two rows."""
    shared, sizes = Y @ Y.T, Y.sum(axis=1)
    union = sizes[:, None] + sizes - shared
    return np.asarray(np.divide(shared, union, out=np.ones_like(shared), where=union > 0))


def pivoted_factor(kernel: Kernel, values: Array) -> Array:  # (m, q), distinct
    """F (m, r) with F F' = k(values, values), one column of it at a time.

    Cholesky's factorisation with the largest residual as the next pivot: smooth kernels of few
    numbers have a rank of tens, whatever m.
    """
    residual = np.array(kernel.diag(values), dtype=np.float64)
    least = COMPLETE * float(residual.max())
    FT, r = np.zeros((64, len(values))), 0
    while r < len(values):
        pivot = int(residual.argmax())
        if not residual[pivot] > least:
            break
        if r == MOST_VALUES:
            raise too_many_values(len(values))
        if r == len(FT):
            FT = np.concatenate([FT, np.zeros_like(FT)])
        column = kernel(values, values[pivot : pivot + 1])[:, 0] - FT[:r, pivot] @ FT[:r]
        FT[r] = column / np.sqrt(residual[pivot])
        residual -= FT[r] ** 2
        residual[pivot] = 0.0
        r += 1
    return np.asarray(FT[:r].T)


def trimmed(F: Array) -> Array:
    """F without the columns, of decreasing length, that are rounding."""
    lengths = np.sqrt(np.sum(F**2, axis=0))
    return np.asarray(F[:, lengths > 1e-8 * lengths[0]])
