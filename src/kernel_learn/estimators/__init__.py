"""scikit-learn estimators: validate, wire, store."""

from kernel_learn.estimators.alignment import AlignmentSubspace
from kernel_learn.estimators.centroid import KernelOrthogonalCentroid
from kernel_learn.estimators.discriminant import KernelDiscriminant
from kernel_learn.estimators.discriminant_qr import KernelDiscriminantQR
from kernel_learn.estimators.hsic import HSICSubspace, RegularizationPath
from kernel_learn.estimators.multi_kernel_svc import MultiKernelSVC
from kernel_learn.estimators.pls import KernelPLS, KernelPLSRegressor

__all__ = [
    "AlignmentSubspace",
    "HSICSubspace",
    "KernelDiscriminant",
    "KernelDiscriminantQR",
    "KernelOrthogonalCentroid",
    "KernelPLS",
    "KernelPLSRegressor",
    "MultiKernelSVC",
    "RegularizationPath",
]
