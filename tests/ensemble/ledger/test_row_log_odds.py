"""Explanations lead exactly to what is predicted."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine, make_moons

import kernel_learn as kl

SETS = {
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "labels by chance": lambda: (
        np.random.default_rng(0).standard_normal((60, 4)),
        np.arange(60) % 3,
    ),
}


def contrast(values, winners):
    """L of the winner: against the other of two classes, else minus the mean over all."""
    own = values[np.arange(len(values)), winners]
    return (own - values.mean(axis=1)) * (2 if values.shape[1] == 2 else 1)


def check_explanation(model, X_new):
    n = len(model.loo_proba_)
    found = model.explain(X_new, n_rows=n)
    np.testing.assert_allclose(
        found.baseline + found.contributions.sum(axis=1), found.log_odds, atol=1e-9
    )
    winners = np.searchsorted(model.classes_, found.labels)
    proba = np.maximum(model.predict_proba(X_new), 1e-300)
    faded = found.prior + found.fading * (found.log_odds - found.prior)
    np.testing.assert_allclose(faded, contrast(np.log(proba), winners), rtol=1e-8, atol=1e-8)
    assert (found.fading > 0).all() and (found.fading <= 1).all()


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("quality", ["fast", "balanced"])
def test_leads_to_predict_proba(name, quality):
    X, y = SETS[name]()
    model = kl.KernelClassifier(quality=quality, assess="loo").fit(X[:150:2], y[:150:2])
    X_new = np.vstack([X[1:60:2], 5 * X[1:10], 1e4 + X[:2]])  # some far away
    check_explanation(model, X_new)


@pytest.mark.filterwarnings("ignore:.*gives another model")
def test_in_leaves():
    X, y = make_moons(900, noise=0.25, random_state=0)
    model = kl.KernelClassifier(memory_budget=2_060_000, quality="fast").fit(X, y)
    assert model._fitted.ensemble.forest is not None
    check_explanation(model, X[:20] + 0.01)


def test_rest_is_what_the_others_add():
    X, y = load_wine(return_X_y=True)
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X[::2], y[::2])
    whole, short = (model.explain(X[1:9:2], n_rows=n) for n in (len(y[::2]), 3))
    np.testing.assert_allclose(short.rest, whole.contributions[:, 3:].sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(whole.rest, 0.0, atol=1e-9)


def test_without_members_the_shares_are_all():
    X = np.repeat([[0.0], [1.0]], 3, axis=0)
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X, [0, 1, 1, 0, 1, 1])
    check_explanation(model, X[:4])


def test_linear_members_of_many_rows_tell_rows_apart():
    """Their coefficients have no part of size residual / lam that the kernel does not see."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(600) > 0).astype(int)
    model = kl.KernelClassifier(quality="fast", assess=False, random_state=0).fit(X, y)
    kernels = [repr(member.kernel) for member in model._fitted.ensemble.predicting]
    assert "Linear()" in kernels and model.plan_.exact
    told, log_p = model.explain(X[:5], n_rows=600), np.log(model.predict_proba(X[:5]))
    assert np.abs(told.contributions).max() < 10 * np.abs(told.log_odds).max()
    total = told.baseline + told.contributions.sum(axis=1)
    odds = np.abs(log_p[:, 1] - log_p[:, 0])
    np.testing.assert_allclose(told.prior + told.fading * (total - told.prior), odds, rtol=1e-11)
