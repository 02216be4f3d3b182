"""Learning kernels for classification, with the interface of scikit-learn."""

from kernel_learn import kernels
from kernel_learn._version import __version__
from kernel_learn.estimators import (
    AlignmentSubspace,
    ExpansionSVC,
    HSICSubspace,
    KernelDiscriminant,
    KernelDiscriminantQR,
    KernelOrthogonalCentroid,
    KernelPLS,
    KernelPLSRegressor,
    MultiKernelSVC,
    SubspaceSVC,
)
from kernel_learn.representations import Landmarks

__all__ = [
    "AlignmentSubspace",
    "ExpansionSVC",
    "HSICSubspace",
    "KernelDiscriminant",
    "KernelDiscriminantQR",
    "KernelOrthogonalCentroid",
    "KernelPLS",
    "KernelPLSRegressor",
    "Landmarks",
    "MultiKernelSVC",
    "SubspaceSVC",
    "__version__",
    "kernels",
]
