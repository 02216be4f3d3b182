"""Kernel matrices and HSIC fits against the bare linear algebra they cannot avoid."""

import os

import numpy as np
from scipy import linalg
from sklearn.metrics.pairwise import rbf_kernel
from timing import best_times, report

from kernel_learn import HSICSubspace
from kernel_learn.datasets import find_data
from kernel_learn.kernels import Gaussian

RNG = np.random.default_rng(0)
N, D, GAMMA = 4000, 50, 0.01
X = RNG.normal(size=(N, D))
y = RNG.integers(0, 3, N)
Y = np.eye(3)[y]
KERNEL = Gaussian(GAMMA)


def bare_fit():
    K = KERNEL(X)
    K[np.diag_indices(N)] += 1.0
    factor = linalg.cho_factor(K.T, lower=True, overwrite_a=True, check_finite=False)
    linalg.cho_solve(factor, Y, check_finite=False)


def gram():
    times = best_times(
        {"kernel-learn": lambda: KERNEL(X), "rbf_kernel": lambda: rbf_kernel(X, gamma=GAMMA)}, 9
    )
    report(f"Gaussian Gram matrix, n={N}, d={D}", "kernel-learn", "rbf_kernel", 0.5, times)


def gram_of_many_columns(n=3000, d=500):
    rows = RNG.normal(size=(n, d))

    def bare():
        K = rows @ rows.T
        K *= -GAMMA
        np.exp(K, out=K)

    times = best_times({"kernel-learn": lambda: Gaussian(1e-3)(rows), "GEMM + exp": bare}, 9)
    report(f"Gaussian Gram matrix, n={n}, d={d}", "kernel-learn", "GEMM + exp", 1.15, times)


def gram_of_sparse_rows():
    rows = find_data().load("la1")[0].astype(float).tocsr()
    times = best_times(
        {
            "kernel-learn": lambda: Gaussian(1e-4)(rows),
            "rbf_kernel": lambda: rbf_kernel(rows, gamma=1e-4),
        },
        5,
    )
    report("Gaussian Gram matrix, la1", "kernel-learn", "rbf_kernel", 1.0, times)


def fit():
    times = best_times({"fit": lambda: HSICSubspace().fit(X, y), "bare": bare_fit}, 4)
    report(f"exact fit, n={N}: bare = Gram + Cholesky + solve", "fit", "bare", 1.5, times)


def path():
    n = 2000
    K = KERNEL(X[:n])
    regs = np.geomspace(1e-6, 1, 50)
    times = best_times(
        {
            "path": lambda: HSICSubspace(KERNEL).path(X[:n], y[:n], regs),
            "eigh": lambda: linalg.eigh(K, check_finite=False),
        },
        3,
    )
    report(f"path of 50 regs, n={n}", "path", "eigh", 1.3, times)


def transform():
    model = HSICSubspace(KERNEL, landmarks=1000, random_state=0).fit(X, y)
    X_new = RNG.normal(size=(100_000, D))
    landmarks, coef = model.kernel_.landmarks, model.kernel_.coef

    def bare():
        for start in range(0, len(X_new), 2000):
            KERNEL(X_new[start : start + 2000], landmarks) @ coef

    times = best_times({"transform": lambda: model.transform(X_new), "bare": bare}, 3)
    report("transform of 100 000 rows, 1000 landmarks", "transform", "bare", 1.5, times)


if __name__ == "__main__":
    gram()
    gram_of_many_columns()
    if os.environ.get("KERNEL_LEARN_DATA"):
        gram_of_sparse_rows()
    fit()
    path()
    transform()
