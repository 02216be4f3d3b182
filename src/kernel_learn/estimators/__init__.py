"""scikit-learn estimators: validate, wire, store."""

from kernel_learn.estimators.hsic import HSICSubspace, RegularizationPath
from kernel_learn.estimators.inductive import InductiveKernel
from kernel_learn.estimators.metric import KernelLMNN, KernelMCML, KernelMMC, KernelNCA, KernelRCA

__all__ = [
    "HSICSubspace",
    "InductiveKernel",
    "KernelLMNN",
    "KernelMCML",
    "KernelMMC",
    "KernelNCA",
    "KernelRCA",
    "RegularizationPath",
]
