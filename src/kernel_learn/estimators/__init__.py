"""scikit-learn estimators: validate, wire, store."""

from kernel_learn.estimators.hsic import HSICSubspace, RegularizationPath
from kernel_learn.estimators.inductive import InductiveKernel

__all__ = ["HSICSubspace", "InductiveKernel", "RegularizationPath"]
