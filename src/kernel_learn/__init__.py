"""Learning kernels for classification, with the interface of scikit-learn."""

from kernel_learn import constraints, kernels, presets
from kernel_learn._version import __version__
from kernel_learn.estimators import (
    HSICSubspace,
    InductiveKernel,
    KernelLMNN,
    KernelMCML,
    KernelMMC,
    KernelNCA,
    KernelRCA,
)
from kernel_learn.representations import Landmarks

__all__ = [
    "HSICSubspace",
    "InductiveKernel",
    "KernelLMNN",
    "KernelMCML",
    "KernelMMC",
    "KernelNCA",
    "KernelRCA",
    "Landmarks",
    "__version__",
    "constraints",
    "kernels",
    "presets",
]
