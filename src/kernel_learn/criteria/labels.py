"""Label kernels H(y) = L L' by a factor L = Y A of the one-hot labels Y."""

from collections.abc import Callable

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.rows.coerce import as_numbers

LabelKernel = str | Array | Callable[[Array, Array], Array]


def label_factor(
    label_kernel: LabelKernel,
    labels: Array,  # (n,) indices into classes
    classes: Array,  # (k,)
    weight: Array | None = None,  # (n,)
) -> tuple[Array | None, Array]:
    """(T, A) with L = T A: T has a row per sample, A mixes its columns; None for T = Y.

    - ``"indicator"``: T = Y, A = I, so H = Y Y' (Chen et al., H1);
    - ``"normalized"``: A = (Y'Y)^{-1/2}, each class counts the same (H2);
    - ``"ordinal"``: 1 - |i - j| / (k - 1) of the classes number i and j in their order: the share
      of the k - 1 steps of a scale on which two labels are on the same side;
    - a matrix (k, k) or a function of two label arrays: similarities of the
      classes, in the order of ``classes``;
    - a matrix (n, n): similarities of the samples.
    """
    counts = np.bincount(labels, weight, len(classes))
    return factor_of_counts(label_kernel, counts, classes, len(labels))


def factor_of_counts(
    label_kernel: LabelKernel,
    counts: Array,  # (k,) the weight of each class
    classes: Array,  # (k,)
    n_samples: int,
) -> tuple[Array | None, Array]:
    """``label_factor`` where the labels themselves are gone, and their counts are known."""
    k = len(classes)
    if isinstance(label_kernel, str):
        if label_kernel == "indicator":
            return None, np.eye(k)
        if label_kernel == "normalized":
            return None, np.diag(1 / np.sqrt(counts))
        if label_kernel == "ordinal":
            return None, psd_factor(ordinal_similarities(k))
        raise ValueError(
            f"label_kernel={label_kernel!r} is not known. Give 'normalized', 'indicator', "
            "'ordinal', a function of two label arrays, or a matrix of similarities."
        )
    H = check_similarities(
        as_numbers(
            label_kernel(classes, classes) if callable(label_kernel) else label_kernel,
            "label_kernel",
        )
    )
    if H.shape == (n_samples, n_samples):
        return psd_factor(H), np.eye(n_samples)
    if H.shape == (k, k):
        return None, psd_factor(H)
    raise ValueError(
        f"label_kernel has shape {H.shape}; it must be (n_classes, n_classes) = {(k, k)} "
        f"or (n_samples, n_samples) = {(n_samples, n_samples)}."
    )


def ordinal_similarities(k: int) -> Array:
    """1 - |i - j| / (k - 1), (k, k)."""
    rank = np.arange(k)
    return np.asarray(1.0 - np.abs(rank[:, None] - rank) / max(k - 1, 1))


def check_similarities(H: Array) -> Array:
    """Refuse what is not finite, or nothing but zeros."""
    if not np.isfinite(H).all() or not H.any():
        raise ValueError(
            "label_kernel holds NaN or infinity, or nothing but zeros; it must hold similarities."
        )
    return H


def psd_factor(H: Array) -> Array:
    """F with H = F F', columns by decreasing eigenvalue, square."""
    if not np.allclose(H, H.T):
        raise ValueError("label_kernel is not symmetric; similarities of labels must be.")
    w, V = linalg.eigh(H.astype(np.float64))
    if w[0] < -1e-8 * max(abs(w[-1]), abs(w[0])):
        raise ValueError(
            f"label_kernel is not positive semidefinite: its smallest eigenvalue is {w[0]:.3g}."
        )
    return np.asarray(V * np.sqrt(np.maximum(w, 0)))[:, ::-1]
