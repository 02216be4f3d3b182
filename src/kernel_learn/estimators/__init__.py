"""scikit-learn estimators: validate, wire, store."""

from kernel_learn.estimators.alignment import AlignmentSubspace
from kernel_learn.estimators.centroid import KernelOrthogonalCentroid
from kernel_learn.estimators.discriminant import KernelDiscriminant
from kernel_learn.estimators.discriminant_qr import KernelDiscriminantQR
from kernel_learn.estimators.expansion import ExpansionSVC
from kernel_learn.estimators.hsic import HSICSubspace, RegularizationPath
from kernel_learn.estimators.multi_kernel_svc import MultiKernelSVC
from kernel_learn.estimators.pls import KernelPLS, KernelPLSRegressor
from kernel_learn.estimators.subspace_svc import MarginPath, SubspaceSVC

__all__ = [
    "AlignmentSubspace",
    "ExpansionSVC",
    "HSICSubspace",
    "KernelDiscriminant",
    "KernelDiscriminantQR",
    "KernelOrthogonalCentroid",
    "KernelPLS",
    "KernelPLSRegressor",
    "MarginPath",
    "MultiKernelSVC",
    "RegularizationPath",
    "SubspaceSVC",
]
