"""What choosing, checking and planning cost beside the linear algebra: ratios within one run."""

import numpy as np
from timing import best_times, report

from kernel_learn import HSICSubspace, KernelDiscriminant
from kernel_learn.kernels import Gaussian, gaussian_bank
from kernel_learn.rows.keys import row_keys

RNG = np.random.default_rng(0)
BANK = list(gaussian_bank(6, 1, 100).values())


def rows(n, d=20):
    X = RNG.normal(size=(n, d))
    return X, (X[:, 0] + X[:, 1] ** 2 + 0.5 * RNG.normal(size=n) > 1).astype(int)


def reg_by_leave_one_out(n=5000):
    """Exact: a few factorisations downhill."""
    X, y = rows(n)
    times = best_times(
        {
            "loo": lambda: KernelDiscriminant(Gaussian(0.02)).fit(X, y),
            "fixed": lambda: KernelDiscriminant(Gaussian(0.02), reg=1e-2).fit(X, y),
        },
        2,
    )
    report(f'reg="loo", exact, n={n}', "loo", "fixed", 6.0, times)


def reg_with_landmarks(n=60_000, landmarks=500):
    """A tenth of the rows again, with the moments of all."""
    X, y = rows(n)
    options = {"landmarks": landmarks, "random_state": 0}
    times = best_times(
        {
            "loo": lambda: KernelDiscriminant(Gaussian(0.02), **options).fit(X, y),
            "fixed": lambda: KernelDiscriminant(Gaussian(0.02), reg=1e-2, **options).fit(X, y),
        },
        2,
    )
    report(f'reg="loo", {landmarks} landmarks, n={n}', "loo", "fixed", 1.2, times)


def bank_against_its_kernels(n=40_000, landmarks=150):
    """A bank of six with landmarks: one pass, so at most six single fits."""
    X, y = rows(n)
    options = {"uncorrelated": True, "landmarks": landmarks, "random_state": 0}

    def singles():
        for kernel in BANK:
            HSICSubspace(kernel, **options).fit(X, y)

    times = best_times(
        {"bank": lambda: HSICSubspace(BANK, **options).fit(X, y), "six fits": singles}, 2
    )
    report(f"bank of 6, {landmarks} landmarks, n={n}", "bank", "six fits", 1.5, times)


def keys_against_a_fit(n=200_000, landmarks=300):
    X, y = rows(n)
    options = {"landmarks": landmarks, "random_state": 0}
    times = best_times(
        {
            "keys": lambda: row_keys(X),
            "fit": lambda: HSICSubspace(Gaussian(0.02), **options).fit(X, y),
        },
        2,
    )
    report(f"keys of {n} rows of 20 numbers", "keys", "fit", 0.2, times)


if __name__ == "__main__":
    reg_by_leave_one_out()
    reg_with_landmarks()
    bank_against_its_kernels()
    keys_against_a_fit()
