"""Kernels in words, for people who have a model and not its code."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.kernels.base import Kernel, KernelLike
from kernel_learn.kernels.columns import Columns
from kernel_learn.kernels.resolve import as_kernel

FORMULAS = {
    "Gaussian": "exp(-{gamma} |x - z|^2)",
    "Exponential": "exp(-{gamma} |x - z|)",
    "Laplacian": "exp(-{gamma} sum |x_c - z_c|)",
    "Matern": "Matern of smoothness {nu} with gamma {gamma}",
    "ChiSquared": "exp(-{gamma} sum (x_c - z_c)^2 / (x_c + z_c))",
    "Linear": "x'z",
    "Polynomial": "({gamma} x'z + {coef0})^{degree}",
    "Cosine": "x'z / (|x| |z|)",
    "ArcCosine": "arc-cosine with bias {bias}",
    "Additive": "mean over columns of 1 - |x_c - z_c|",
    "PairwiseAnova": "mean over pairs of columns of products of 1 - |x_c - z_c|",
    "Matching": "share of columns that are equal",
    "Hamming": "exp(-{gamma} number of columns that differ)",
    "Spectrum": "common words of {k} letters",
    "Subsequence": "common words of {k} letters with gaps, decay {decay}",
    "Precomputed": "a kernel matrix that was given",
    "PairwiseKernel": "scikit-learn's {metric}",
    "LowRank": "the first {n_components} directions of a kernel",
}
MOST_MEMBERS = 5
MOST_LETTERS = 200


def kernel_in_words(spec: KernelLike) -> str:
    """One line on k(x, z)."""
    kernel = as_kernel(spec)
    name = type(kernel).__name__
    if name in FORMULAS and type(kernel).__module__.startswith("kernel_learn."):
        return f"{name} kernel, {FORMULAS[name].format(**_numbers(kernel))}"
    if name == "Combination":
        return sum_in_words(kernel.kernels, kernel.weights)
    if name == "ColumnKernel":
        return f"{kernel_in_words(kernel.base)}, on {_columns_in_words(kernel.columns)}"
    if name == "ViewKernel":
        return f"{kernel_in_words(kernel.kernel)}, on a view of the columns"
    if name in ("SubspaceKernel", "StackedSubspaceKernel", "TransformedKernel"):
        count = kernel.coef.shape[1]
        return f"{count} learned feature{'s' * (count > 1)} of: {kernel_in_words(kernel.kernel)}"
    if name == "GraphDeformed":
        return f"{kernel_in_words(kernel.base)}, bent along a graph of neighbours"
    return _shortened(" ".join(repr(kernel).split()))


def _numbers(kernel: Kernel) -> dict[str, str]:
    values = kernel.get_params(deep=False)
    return {
        name: f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
        for name, value in values.items()
    }


def sum_in_words(kernels: Sequence[KernelLike], weights: Sequence[float] | Array) -> str:
    """A weighted sum, its heaviest members first."""
    order = np.argsort(-np.asarray(weights), kind="stable")
    used = [int(i) for i in order if weights[i] > 0]
    shown = [f"{weights[i]:.3g} x {kernel_in_words(kernels[i])}" for i in used[:MOST_MEMBERS]]
    more = f"; and {len(used) - MOST_MEMBERS} more" if len(used) > MOST_MEMBERS else ""
    return f"weighted sum of {len(used)} kernels: {'; '.join(shown)}{more}"


def _columns_in_words(columns: Columns) -> str:
    if isinstance(columns, slice):
        return f"the columns {columns.start} to {columns.stop}"
    names = [str(column) for column in np.ravel(np.asarray(columns, dtype=object))]
    word = "the column" if len(names) == 1 else "the columns"
    return _shortened(f"{word} {', '.join(names)}")


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 3] + "..."
