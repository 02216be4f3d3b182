"""SubspaceSVC against the machines and the one eigendecomposition it cannot avoid."""

import warnings

import numpy as np
from scipy import linalg
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from timing import best_times, report

from kernel_learn import SubspaceSVC
from kernel_learn.kernels import Gaussian

N, C, REG = 1200, 10.0, 1e-1
X, y = load_digits(return_X_y=True)
X, y = X[:N] / 16.0, y[:N]
KERNEL = Gaussian("median").resolve(X)


def khat(uncorrelated):
    K = KERNEL(X)
    m = K.mean(axis=0)
    G = K - m - m[:, None] + m.mean()
    w, U = linalg.eigh(G)
    w, U = w[w > 1e-12 * w[-1]], U[:, w > 1e-12 * w[-1]]
    lam = REG * np.trace(G) / N
    h = w / (w + lam) if uncorrelated else w**2 / (w + lam)
    return G, (U * h) @ U.T


def exact(uncorrelated):
    """The whole fit, with certificate and calibration, against eigh and k bare SVC fits."""
    G, Khat = khat(uncorrelated)
    model = SubspaceSVC(KERNEL, C=C, reg=REG, uncorrelated=uncorrelated)

    def bare(tol):
        linalg.eigh(G, driver="evd", check_finite=False)
        for label in range(10):
            SVC(C=C, kernel="precomputed", tol=tol).fit(Khat, y == label)

    times = best_times(
        {
            "fit": lambda: model.fit(X, y),
            "bare, same accuracy": lambda: bare(1e-6),
            "bare, LIBSVM's default": lambda: bare(1e-3),
        },
        5,
    )
    name = "uSVM_joint" if uncorrelated else "SVM_joint"
    print(f"{name}: relative gap {model.gap_ / model.upper_bound_:.1e}")
    for other in ("bare, same accuracy", "bare, LIBSVM's default"):
        report(f"{name}, n={N}, 10 classes: bare = eigh + 10 SVC", "fit", other, 1.3, times)


def alternation(uncorrelated):
    """Time and objective of ten rounds of the alternation against the exact method."""
    options = {"C": C, "reg": REG, "uncorrelated": uncorrelated}
    solved = SubspaceSVC(KERNEL, **options)
    rounds = SubspaceSVC(KERNEL, method="alternating", max_iter=10, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        times = best_times(
            {"exact": lambda: solved.fit(X, y), "alternating": lambda: rounds.fit(X, y)}, 1
        )
    name = "uSVM_joint" if uncorrelated else "SVM_joint"
    report(f"{name}, n={N}: ten rounds of alternation", "exact", "alternating", 1.0, times)
    print(
        f"  value: exact {solved.upper_bound_:.6g} (lower bound {solved.lower_bound_:.6g}), "
        f"alternating {rounds.upper_bound_:.6g} (lower bound {rounds.lower_bound_:.6g})"
    )


if __name__ == "__main__":
    for form in (False, True):
        exact(form)
        alternation(form)
