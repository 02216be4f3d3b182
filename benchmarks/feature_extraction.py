"""Closed-form feature extraction against the bare Gram matrix and its one factorisation."""

import numpy as np
from scipy import linalg
from timing import best_times, report

from kernel_learn import (
    HSICSubspace,
    KernelDiscriminant,
    KernelDiscriminantQR,
    KernelOrthogonalCentroid,
    KernelPLS,
)
from kernel_learn.kernels import Gaussian

RNG = np.random.default_rng(0)
N, D, K = 4000, 50, 3
X = RNG.normal(size=(N, D))
y = RNG.integers(0, K, N)
Y = np.eye(K)[y]
KERNEL = Gaussian(0.01)


def gram():
    """What KOC needs: the matrix, and its product with the class indicators."""
    return KERNEL(X) @ Y


def gram_and_products():
    """What KPLS needs: the matrix, and one product for each of its features."""
    G = KERNEL(X)
    for _ in range(K):
        G @ Y


def gram_and_cholesky():
    G = KERNEL(X)
    G[np.diag_indices(N)] += 1.0
    factor = linalg.cho_factor(G.T, lower=True, overwrite_a=True, check_finite=False)
    linalg.cho_solve(factor, Y, check_finite=False)


def gram_and_inverse():
    """What RKDA needs: scores of rows left out take the diagonal of the inverse."""
    G = KERNEL(X)
    G[np.diag_indices(N)] += 1.0
    factor, _ = linalg.lapack.dpotrf(G.T, lower=1, overwrite_a=1)
    linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)


def gram_and_eigh(n=2000):
    linalg.eigh(KERNEL(X[:n]), check_finite=False)


def centroid_columns():
    KERNEL(X, X[:K])


def main():
    cases = [
        ("KOC", KernelOrthogonalCentroid(KERNEL), gram, N),
        ("KPLS, 3 features", KernelPLS(KERNEL), gram_and_products, N),
        ("HSIC", HSICSubspace(KERNEL), gram_and_cholesky, N),
        ("RKDA, fixed reg", KernelDiscriminant(KERNEL, reg=1e-2), gram_and_inverse, N),
        ("RKDA, 25 regs by leave-one-out, n=2000", KernelDiscriminant(KERNEL), gram_and_eigh, 2000),
    ]
    for name, model, bare, n in cases:
        times = best_times({"fit": lambda m=model, n=n: m.fit(X[:n], y[:n]), "bare": bare}, 3)
        report(f"{name}: bare = {bare.__name__}", "fit", "bare", 1.5, times)
    small, large = (
        best_times({"fit": lambda n=n: KernelDiscriminantQR(KERNEL).fit(X[:n], y[:n])}, 5)["fit"]
        for n in (N // 4, N)
    )
    print(f"  AKDA/QR: four times the rows, {large / small:.1f} times the time")


if __name__ == "__main__":
    main()
