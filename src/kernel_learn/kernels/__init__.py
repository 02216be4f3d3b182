"""Kernels: k(X, X_ref) on blocks of rows."""

from kernel_learn.kernels import names  # noqa: F401  (fills the table of names)
from kernel_learn.kernels.additive import Additive, PairwiseAnova
from kernel_learn.kernels.arc_cosine import ArcCosine
from kernel_learn.kernels.bank import Combination, evaluate_bank, gaussian_bank
from kernel_learn.kernels.base import Kernel, ProfileKernel
from kernel_learn.kernels.categorical import Hamming, Matching
from kernel_learn.kernels.columns import ColumnKernel
from kernel_learn.kernels.covariance import CovarianceFunction
from kernel_learn.kernels.deformed import GraphDeformed
from kernel_learn.kernels.dot_product import Cosine, Linear, Polynomial
from kernel_learn.kernels.low_rank import LowRank
from kernel_learn.kernels.precomputed import Precomputed
from kernel_learn.kernels.resolve import (
    FunctionKernel,
    GaussianProcessKernel,
    PairwiseKernel,
    as_kernel,
)
from kernel_learn.kernels.scaled import ScaledKernel
from kernel_learn.kernels.shared import SharedStatistics, StatisticsKernel, evaluate_shared
from kernel_learn.kernels.stationary import ChiSquared, Exponential, Gaussian, Laplacian, Matern
from kernel_learn.kernels.strings import Spectrum, Subsequence
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.kernels.transformed import TransformedKernel
from kernel_learn.namespaces import list_only

__all__ = [
    "Additive",
    "ArcCosine",
    "ChiSquared",
    "ColumnKernel",
    "Combination",
    "Cosine",
    "CovarianceFunction",
    "Exponential",
    "FunctionKernel",
    "Gaussian",
    "GaussianProcessKernel",
    "GraphDeformed",
    "Hamming",
    "Kernel",
    "Laplacian",
    "Linear",
    "LowRank",
    "Matching",
    "Matern",
    "PairwiseAnova",
    "PairwiseKernel",
    "Polynomial",
    "Precomputed",
    "ProfileKernel",
    "ScaledKernel",
    "SharedStatistics",
    "Spectrum",
    "StatisticsKernel",
    "Subsequence",
    "SubspaceKernel",
    "TransformedKernel",
    "as_kernel",
    "evaluate_bank",
    "evaluate_shared",
    "gaussian_bank",
]

__dir__ = list_only(__all__)
