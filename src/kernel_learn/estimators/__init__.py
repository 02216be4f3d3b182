"""scikit-learn estimators: validate, wire, store."""

from kernel_learn.estimators.hsic import HSICSubspace, RegularizationPath

__all__ = ["HSICSubspace", "RegularizationPath"]
