"""Learning kernels for classification, with the interface of scikit-learn."""

from kernel_learn import constraints, inspection, kernels, metrics, presets
from kernel_learn._version import __version__
from kernel_learn.estimators import (
    AlignmentSubspace,
    ExpansionSVC,
    FeatureScales,
    HSICSubspace,
    InductiveKernel,
    KernelClassifier,
    KernelDiscriminant,
    KernelDiscriminantQR,
    KernelLMNN,
    KernelMCML,
    KernelMMC,
    KernelNCA,
    KernelOrthogonalCentroid,
    KernelPLS,
    KernelPLSRegressor,
    KernelRCA,
    MultiKernelSVC,
    SubspaceSVC,
)
from kernel_learn.interop.files import describe, load, save
from kernel_learn.representations import Landmarks

__all__ = [
    "AlignmentSubspace",
    "ExpansionSVC",
    "FeatureScales",
    "HSICSubspace",
    "InductiveKernel",
    "KernelClassifier",
    "KernelDiscriminant",
    "KernelDiscriminantQR",
    "KernelLMNN",
    "KernelMCML",
    "KernelMMC",
    "KernelNCA",
    "KernelOrthogonalCentroid",
    "KernelPLS",
    "KernelPLSRegressor",
    "KernelRCA",
    "Landmarks",
    "MultiKernelSVC",
    "SubspaceSVC",
    "__version__",
    "constraints",
    "describe",
    "inspection",
    "kernels",
    "load",
    "metrics",
    "presets",
    "save",
]
