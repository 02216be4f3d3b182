"""Kernel weights: Newton against the papers' SDP and SILP, and against what a step cannot avoid."""

import os
import sys
from time import perf_counter

import numpy as np
from scipy import linalg
from sklearn.datasets import load_digits
from sklearn.preprocessing import scale
from timing import best_times, report, report_ratio

from kernel_learn import HSICSubspace, KernelDiscriminant, MultiKernelSVC
from kernel_learn.criteria.kernel_weights import KimDiscriminant, LabelResolvent
from kernel_learn.criteria.margin_weights import MarginWeights, SubspaceMarginWeights
from kernel_learn.datasets import find_data
from kernel_learn.kernels import Gaussian, gaussian_bank
from kernel_learn.representations import GramForm
from kernel_learn.solvers.choice import solve_simplex
from kernel_learn.solvers.margin import one_vs_rest_signs

X, y = load_digits(return_X_y=True)
X = X / 16 * 3
BANK = gaussian_bank(10, 0.1, 1000)
KERNELS = list(BANK.values())
LOSSES = ("hinge", "squared_hinge")
EASYMKL = 10.7  # seconds of MKLpy's, three classes one against the rest, matrices not counted


def labels(y):
    Y = np.eye(y.max() + 1)[y]
    return Y / np.sqrt(Y.sum(axis=0))


def against_the_sdp(n=40):
    bank = GramForm(KERNELS, X[:n], labels(y[:n]))
    solved = {}

    def run(solver):
        solved[solver] = solve_simplex(LabelResolvent(bank, reg=1e-3), solver=solver)

    times = best_times({"newton": lambda: run("newton")}, 5)
    times |= best_times({"sdp": lambda: run("sdp")}, 1)
    apart = abs(solved["newton"].value / solved["sdp"].value - 1)
    print(f"  values of newton and sdp differ by {apart:.1e} (relative)")
    report(f"HSIC_mkl, n={n}, 10 kernels", "newton", "sdp", 1e-3, times)
    print(f"  sdp {times['sdp']:.2f} s, newton {1000 * times['newton']:.1f} ms: ", end="")
    print(f"{times['sdp'] / times['newton']:.0f} times")


def against_silp(n=1000):
    bank = GramForm(KERNELS, X[:n], labels(y[:n]))
    results = {}

    def run(solver):
        results[solver] = solve_simplex(LabelResolvent(bank, reg=1e-3), solver=solver, max_iter=500)

    times = best_times(
        {name: lambda name=name: run(name) for name in ("newton", "silp", "bundle")}, 2
    )
    for name, result in results.items():
        print(
            f"  {name}: value {result.value:.9g}, relative gap {result.relative_gap:.1e}, "
            f"{len(result.history)} evaluations, {times[name]:.2f} s"
        )
    report(f"HSIC_mkl at gap 1e-6, n={n}", "newton", "silp", 1.0, times)


def against_one_step(n=1797, copies=2000):
    """A Gram matrix and its Cholesky factorisation: what one step cannot avoid."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, n, copies)
    A, labels_ = X[rows] + 0.01 * rng.normal(size=(copies, X.shape[1])), y[rows]
    L = labels(labels_)

    def newton():
        solve_simplex(LabelResolvent(GramForm(KERNELS, A, L), reg=1e-3))

    def unit():
        K = KERNELS[5](A)
        K[np.diag_indices(copies)] += 1e-3
        linalg.cho_factor(K.T, lower=True, overwrite_a=True, check_finite=False)

    times = best_times({"newton": newton, "gram + cholesky": unit}, 4)
    report(f"bank and weights, n={copies}, p=10", "newton", "gram + cholesky", 20, times)
    model = HSICSubspace(BANK, uncorrelated=True)
    times = best_times({"fit": lambda: model.fit(A, labels_), "gram + cholesky": unit}, 1)
    report(f"HSICSubspace.fit, n={copies}, p=10", "fit", "gram + cholesky", 30, times)


def reg_of_a_bank(n=1000):
    """reg="loo" of a bank: weights with a reg learned, and one path at them."""
    rows, labels_ = X[:n], y[:n]
    learned = KernelDiscriminant(BANK, reg="learn").fit(rows, labels_)
    path = KernelDiscriminant(BANK, weights=learned.kernel_weights_)
    times = best_times(
        {
            "loo": lambda: KernelDiscriminant(BANK).fit(rows, labels_),
            "learn": lambda: KernelDiscriminant(BANK, reg="learn").fit(rows, labels_),
            "path": lambda: path.fit(rows, labels_),
        },
        2,
    )
    what = f"KernelDiscriminant, n={n}, p=10, reg='loo': fit / (reg='learn' + a path)"
    report_ratio(what, times["loo"] / (times["learn"] + times["path"]), 1.0)


def against_easymkl(n=2000):
    """MultiKernelSVC beside EasyMKL on ten given matrices, whose figure is that of its own run."""
    X, y = find_data().load("waveform")
    rows = np.random.default_rng(0).permutation(len(y))[:n]
    X, y = scale(X[rows].astype(float)), y[rows]
    bank = [Gaussian(gamma / X.shape[1]) for gamma in np.logspace(-2, 1, 10)]
    times = best_times({loss: lambda loss=loss: machines(bank, loss, X, y) for loss in LOSSES}, 1)
    for loss, seconds in times.items():
        what = f"MultiKernelSVC, {loss}, n={n}, p=10: seconds / EasyMKL's {EASYMKL}, of another run"
        report_ratio(what, seconds / EASYMKL, 1.0)


def machines(bank, loss, X, y):
    MultiKernelSVC(bank, loss=loss).fit(X, y)


def every_formulation(n=500):
    """Newton against a long run of the bundle method: values and times at equal gap."""
    L, signs = labels(y[:n]), one_vs_rest_signs(y[:n], 10)
    centred, plain = GramForm(KERNELS, X[:n], L), GramForm(KERNELS, X[:n], L, center=False)
    binary = (y[:n] >= 5).astype(int)
    criteria = {
        "HSIC_mkl = SDP_theta": lambda: LabelResolvent(centred, reg=1e-3),
        "SDP_theta approximate": lambda: LabelResolvent(centred, reg=1e-3, coupling="approximate"),
        "SDP_theta,lambda": lambda: LabelResolvent(centred, reg="learn"),
        "SDP_theta,lambda approximate": lambda: LabelResolvent(
            centred, reg="learn", coupling="approximate"
        ),
        "SDP_Kim": lambda: KimDiscriminant(centred, np.eye(2)[binary], reg=1e-3),
        "SM1": lambda: MarginWeights(plain, signs, 1.0),
        "SM2": lambda: MarginWeights(plain, signs, 1.0, loss="squared_hinge"),
        "SM2_C": lambda: MarginWeights(plain, signs, "learn", loss="squared_hinge"),
        "SVM_mkl": lambda: SubspaceMarginWeights(centred, signs, 10.0, reg=1e-2),
    }
    print(f"n={n}, 10 kernels, 10 classes (SDP_Kim: 2), relative gap 1e-6; time and evaluations")
    for name, make in criteria.items():
        line, values = [], []
        for solver in ("newton", "silp", "bundle"):
            start = perf_counter()
            result = solve_simplex(make(), solver=solver, max_iter=300)
            seconds = perf_counter() - start
            values.append(result.value)
            line.append(f"{solver} {seconds:.2f} s / {len(result.history)} ({result.status})")
        spread = (max(values) - min(values)) / abs(min(values))
        print(f"  {name:30} {', '.join(line)}; values agree to {spread:.0e}")


if __name__ == "__main__":
    chosen = sys.argv[1:]
    runs = [against_the_sdp, against_silp, against_one_step, every_formulation, reg_of_a_bank]
    if os.environ.get("KERNEL_LEARN_DATA"):
        runs.append(against_easymkl)
    for run in runs:
        if not chosen or run.__name__ in chosen:
            run()
