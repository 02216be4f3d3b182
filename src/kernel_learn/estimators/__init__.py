"""scikit-learn estimators: validate, wire, store."""

from kernel_learn.estimators.hsic import HSICSubspace, RegularizationPath
from kernel_learn.estimators.subspace_svc import MarginPath, SubspaceSVC

__all__ = ["HSICSubspace", "MarginPath", "RegularizationPath", "SubspaceSVC"]
