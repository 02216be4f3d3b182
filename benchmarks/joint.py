"""SubspaceSVC against the machines and the one eigendecomposition it cannot avoid."""

import os
import warnings

import numpy as np
from scipy import linalg
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from timing import best_times, report, report_ratio

from kernel_learn import HSICSubspace, SubspaceSVC
from kernel_learn.datasets import find_data
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


def against_machines():
    """Both forms beside the one eigendecomposition and the SVCs they cannot avoid."""
    exact(False)
    exact(True)


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
    print(f"  {name}: relative gap {model.gap_ / model.upper_bound_:.1e}")
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


def satimage(n=4000):
    """One reg: a factorisation and its inverse, and machines that cost what an SVC costs."""
    X, y = find_data().load("satimage")
    rows = np.random.default_rng(0).permutation(len(y))[:n]
    X = scale(X[rows].astype(float))
    kernel = Gaussian("median").resolve(X)
    K = kernel(X)
    K[np.diag_indices(n)] += 1.0

    def inverse():
        factor, _ = linalg.lapack.dpotrf(K.T, lower=1)
        linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)

    times = best_times(
        {
            "fit": lambda: SubspaceSVC(kernel).fit(X, y[rows]),
            "SVC": lambda: OneVsRestClassifier(SVC(gamma=kernel.gamma)).fit(X, y[rows]),
            "inverse": inverse,
        },
        2,
    )
    limit = 6 * times["SVC"] + 1.5 * times["inverse"]
    what = f"SubspaceSVC, n={n}: fit / (6 SVC one-vs-rest + 1.5 (potrf + potri))"
    report_ratio(what, times["fit"] / limit, 1.0)
    report_ratio("the same: ours / SVC one-vs-rest", times["fit"] / times["SVC"], np.inf)


def few_directions(n=600, n_components=2, C=10.0):
    """Fewer features than classes against the whole problem, and against HSIC features."""
    X, y = find_data().load("segment")
    rows = np.random.default_rng(0).permutation(len(y))
    X, (train, test) = scale(X[:, X.std(axis=0) > 0]), (rows[:n], rows[n:])
    few, full = SubspaceSVC(C=C, n_components=n_components), SubspaceSVC(C=C)
    times = best_times(
        {"few": lambda: few.fit(X[train], y[train]), "full": lambda: full.fit(X[train], y[train])},
        1,
    )
    report(f"SubspaceSVC, segment, n={n}, l={n_components}", "few", "full", 5.0, times)
    features = HSICSubspace(n_components=n_components, uncorrelated=True)
    bare = make_pipeline(features, OneVsRestClassifier(SVC(C=C, kernel="linear")))
    errors = [1 - m.fit(X[train], y[train]).score(X[test], y[test]) for m in (few, bare)]
    what = "  the same: error / that of a linear SVC on HSIC features"
    report_ratio(what, errors[0] / errors[1], 1.0)
    print(f"  gap: {few.gap_}")


if __name__ == "__main__":
    if os.environ.get("KERNEL_LEARN_DATA"):
        satimage()
        few_directions()
    for form in (False, True):
        exact(form)
        alternation(form)
