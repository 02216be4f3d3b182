"""The names of kernels, as ``kernel="gaussian"`` gives them: the table that ``resolve`` reads."""

from kernel_learn.kernels.additive import Additive, PairwiseAnova
from kernel_learn.kernels.arc_cosine import ArcCosine
from kernel_learn.kernels.categorical import Hamming, Matching
from kernel_learn.kernels.dot_product import Cosine, Linear, Polynomial
from kernel_learn.kernels.precomputed import Precomputed
from kernel_learn.kernels.resolve import NAMES
from kernel_learn.kernels.stationary import ChiSquared, Exponential, Gaussian, Laplacian, Matern
from kernel_learn.kernels.strings import Spectrum, Subsequence

NAMES.update(
    {
        "gaussian": Gaussian,
        "exponential": Exponential,
        "matern": Matern,
        "linear": Linear,
        "cosine": Cosine,
        "chi_squared": ChiSquared,
        "arc_cosine": ArcCosine,
        "additive": Additive,
        "pairwise_anova": PairwiseAnova,
        "matching": Matching,
        "hamming": Hamming,
        "spectrum": Spectrum,
        "subsequence": Subsequence,
        "precomputed": Precomputed,
        # scikit-learn's own names keep scikit-learn's own defaults
        "rbf": lambda: Gaussian(gamma="auto"),
        "laplacian": lambda: Laplacian(gamma="auto"),
        "poly": lambda: Polynomial(degree=3, gamma="auto", coef0=1.0),
        "polynomial": lambda: Polynomial(degree=3, gamma="auto", coef0=1.0),
        "chi2": lambda: ChiSquared(gamma=1.0),
    }
)
