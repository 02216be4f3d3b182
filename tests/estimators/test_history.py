"""One vocabulary of ``history_``: value, lower, upper, grad_norm, whichever are known."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

import kernel_learn as kl
from kernel_learn.kernels import gaussian_bank

VOCABULARY = {"value", "lower", "upper", "grad_norm"}
X, y = load_iris(return_X_y=True)
X, y = scale(X)[::3], y[::3]
BANK = gaussian_bank(3)
CERTIFIED = {
    "HSIC": kl.HSICSubspace(BANK, uncorrelated=True),
    "silp": kl.HSICSubspace(BANK, uncorrelated=True, solver="silp"),
    "discriminant": kl.KernelDiscriminant(BANK, reg="learn"),
    "machines": kl.MultiKernelSVC(BANK),
    "metric": kl.KernelMCML(max_iter=50, tol=0.1),
    "quasi-newton": kl.InductiveKernel(random_state=0),
    "bregman": kl.InductiveKernel(solver="bregman", random_state=13),  # its value goes up and down
    "uzawa": kl.InductiveKernel(regularizer="frobenius", solver="uzawa", random_state=0),
    "joint": kl.SubspaceSVC(),
    "alternating": kl.SubspaceSVC(method="alternating", max_iter=3),
    "rounded": kl.SubspaceSVC(n_components=1, tol=1e-2),
}
MULTIPLIERS = ("quasi-newton", "bregman", "uzawa")
LOCAL = {
    "alignment": kl.AlignmentSubspace(max_iter=10),
    "expansion": kl.ExpansionSVC(n_points=5, max_iter=5),
    "fixed points": kl.ExpansionSVC(n_points=5, move_points=False),
    "NCA": kl.KernelNCA(max_iter=5),
    "scales": kl.FeatureScales(criterion="alignment", penalty=0.1),
    "gradients": kl.FeatureScales(),
    "loo weights": kl.HSICSubspace(BANK, weights="loo"),
}


def fitted(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("name", CERTIFIED)
def test_bounds_meet_at_the_gap(name):
    model = fitted(CERTIFIED[name])
    assert len(model.history_) >= 1
    for step in model.history_:
        assert set(step) <= VOCABULARY and "lower" in step
        assert step.get("upper", step.get("value")) >= step["lower"] - 1e-9 * abs(step["lower"])
    structural = getattr(model.gap_, "structural", 0.0)
    if name in MULTIPLIERS:  # the gap is that of the point whose multipliers are given
        gap = min(step["value"] - step["lower"] for step in model.history_)
        assert gap == pytest.approx(float(model.gap_) - structural, abs=1e-12 * model.objective_)
    elif name != "metric":
        best = min(step.get("upper", step.get("value")) for step in model.history_)
        lower = max(step["lower"] for step in model.history_)
        assert best - lower == pytest.approx(float(model.gap_) - structural, abs=1e-6 * abs(best))


@pytest.mark.parametrize("name", LOCAL)
def test_values_without_a_bound(name):
    model = fitted(LOCAL[name])
    assert len(model.history_) >= 1
    for step in model.history_:
        assert "value" in step and set(step) <= {"value", "grad_norm"}
        assert np.isfinite(step["value"])
