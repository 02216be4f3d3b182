"""Kernels by themselves: their values, after a fit has resolved their rules, and measures."""

import fixed_data as data
import numpy as np
from sklearn.gaussian_process import kernels as gp

import kernel_learn as kl
from kernel_learn import kernels as kk
from kernel_learn import metrics

FIXED = {
    "gaussian": (kk.Gaussian(0.3), data.wine),
    "laplacian": (kk.Laplacian(0.3), data.wine),
    "exponential": (kk.Exponential(0.3), data.wine),
    "matern": (kk.Matern(0.3, nu=2.5), data.wine),
    "chi squared": (kk.ChiSquared(0.5), data.positive),
    "linear": (kk.Linear(), data.wine),
    "cosine": (kk.Cosine(), data.wine),
    "polynomial": (kk.Polynomial(2, 0.5, 1.0), data.wine),
    "arc-cosine": (kk.ArcCosine(1.0), data.wine),
    "additive": (kk.Additive(), data.positive),
    "pairwise anova": (kk.PairwiseAnova(), data.positive),
    "hamming": (kk.Hamming(1.0), data.codes),
    "matching": (kk.Matching(), data.codes),
    "spectrum": (kk.Spectrum(3), data.strings),
    "spectrum as counted": (kk.Spectrum(2, normalize=False), data.strings),
    "subsequence": (kk.Subsequence(2, 0.7), data.strings),
    "columns of a frame": (kk.ColumnKernel(kk.Gaussian(0.2), ["p", "r"]), data.records),
    "strings of a frame": (kk.ColumnKernel(kk.Spectrum(3), "word"), data.records),
    "scaled": (kk.ScaledKernel(kk.Gaussian(0.3), np.linspace(0, 1, 13)), data.wine),
    "sum": (kk.Combination([kk.Gaussian(0.1), kk.Linear()], [0.7, 0.3]), data.wine),
    "of a Gaussian process": (kk.as_kernel(1.5 * gp.RBF(2.0) + gp.WhiteKernel()), data.wine),
    "of scikit-learn": (kk.as_kernel("additive_chi2"), data.positive),
    "a function": (kk.as_kernel(lambda A, B: (A @ B.T) ** 2), data.wine),
    "sparse gaussian": (kk.Gaussian(0.3), data.sparse_rows),
    "sparse linear": (kk.Linear(), data.sparse_rows),
    "bank": (kk.gaussian_bank(4), data.wine),
}
# Kernels whose rules are resolved by the rows of a fit.
RULES = {
    "gaussian": ("gaussian", data.wine),
    "rbf": ("rbf", data.wine),
    "gaussian scale": (kk.Gaussian("scale"), data.wine),
    "laplacian": ("laplacian", data.wine),
    "polynomial": ("poly", data.wine),
    "chi squared": ("chi2", data.positive),
    "arc-cosine": ("arc_cosine", data.wine),
    "matern": ("matern", data.wine),
    "exponential": ("exponential", data.wine),
    "hamming": ("hamming", data.codes),
    "matching": ("matching", data.codes),
    "spectrum": ("spectrum", data.strings),
    "subsequence": (kk.Subsequence(2), data.strings),
    "low rank": (kk.LowRank("gaussian", 4), data.wine),
    "deformed by a graph": (kk.GraphDeformed(kk.Gaussian()), data.wine),
    "relative bank": (kk.gaussian_bank(3, relative=True), data.wine),
}


def evaluate(record, kernel, rows):
    """Between new rows and old, and among the old."""
    if isinstance(kernel, dict):
        for name, one in kernel.items():
            record.add(name, one(rows.X_new, rows.X))
        return
    record.add("k(new, rows)", kernel(rows.X_new, rows.X))
    record.add("k(rows)", kernel(rows.X))
    if hasattr(kernel, "diag"):
        record.add("diag", kernel.diag(rows.X))
    record.say("printed", kernel)


def resolve(record, kernel, rows):
    """The kernel as a fit found it."""
    model = kl.KernelDiscriminant(kernel, reg=0.1, memory_budget="1GB").fit(rows.X, rows.y)
    record.add_model(model, rows.X_new)


def measure(record):
    """HSIC, alignments and the test of independence."""
    rows = data.iris()
    for weight in (None, data.weights(len(rows.y))):
        name = "weighted" if weight is not None else "plain"
        options = {"sample_weight": weight}
        for function in (metrics.hsic, metrics.alignment, metrics.centered_alignment):
            record.add(f"{function.__name__} {name}", function(rows.X, rows.y, **options))
    found = metrics.hsic_test(rows.X, rows.y, n_permutations=50, random_state=0)
    record.add("hsic_test", found)


def cases():
    found = {
        f"kernel: {name}": lambda record, k=kernel, d=rows: evaluate(record, k, d())
        for name, (kernel, rows) in FIXED.items()
    }
    found |= {
        f"rule of a kernel: {name}": lambda record, k=kernel, d=rows: resolve(record, k, d())
        for name, (kernel, rows) in RULES.items()
    }
    return found | {"measures": measure}
