"""scikit-learn estimators: validate, wire, store."""

from kernel_learn.estimators.alignment import AlignmentSubspace
from kernel_learn.estimators.centroid import KernelOrthogonalCentroid
from kernel_learn.estimators.discriminant import KernelDiscriminant
from kernel_learn.estimators.discriminant_qr import KernelDiscriminantQR
from kernel_learn.estimators.expansion import ExpansionSVC
from kernel_learn.estimators.feature_scales import FeatureScales
from kernel_learn.estimators.hsic import HSICSubspace, RegularizationPath
from kernel_learn.estimators.inductive import InductiveKernel
from kernel_learn.estimators.kernel_classifier import KernelClassifier
from kernel_learn.estimators.kernel_regressor import KernelRegressor
from kernel_learn.estimators.lmnn import KernelLMNN
from kernel_learn.estimators.mcml import KernelMCML
from kernel_learn.estimators.mmc import KernelMMC
from kernel_learn.estimators.multi_kernel_svc import MultiKernelSVC
from kernel_learn.estimators.nca import KernelNCA
from kernel_learn.estimators.pairs import PairClassifier
from kernel_learn.estimators.pls import KernelPLS, KernelPLSRegressor
from kernel_learn.estimators.rca import KernelRCA
from kernel_learn.estimators.subspace_svc import MarginPath, SubspaceSVC
from kernel_learn.estimators.table_encoder import TableEncoder
from kernel_learn.namespaces import list_only

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
    "KernelRegressor",
    "MarginPath",
    "MultiKernelSVC",
    "PairClassifier",
    "RegularizationPath",
    "SubspaceSVC",
    "TableEncoder",
]

__dir__ = list_only(__all__)
