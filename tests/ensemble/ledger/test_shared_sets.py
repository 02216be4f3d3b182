"""Explanations lead to what is predicted on every shared set, a few rows of each."""

import os

import numpy as np
import pytest

import kernel_learn as kl
from kernel_learn.datasets import find_data

SETS = """
    wine iris heart-statlog heart-c heart-c-uci heart-h sonar ionosphere breast-w breast-cancer
    diabetes vowel balance-scale spectf soybean segment yeast page-blocks phoneme waveform satimage
    usps covtype DLBCL Leukemia1 Leukemia2 Prostate_Tumor Brain_Tumor1 Brain_Tumor2 11_Tumors
    tr11 tr23 tr41 tr45 hitech la1 la2 mnist proteinfold mfeat
"""
ROWS = 45


def few_rows(name):
    X, y = find_data().load(name)
    X = np.hstack(X) if isinstance(X, list) else X
    y = np.unique(y, return_inverse=True)[1]
    kept = np.flatnonzero(np.isin(y, np.argsort(-np.bincount(y), kind="stable")[:4]))
    rows = np.random.default_rng(0).permutation(kept)[: ROWS + 3]
    return X[rows], y[rows]


def contrast(values, winners):
    """L of the winner: against the other of two classes, else minus the mean over all."""
    own = values[np.arange(len(values)), winners]
    return (own - values.mean(axis=1)) * (2 if values.shape[1] == 2 else 1)


@pytest.mark.slow
@pytest.mark.skipif("KERNEL_LEARN_DATA" not in os.environ, reason="no data folder")
@pytest.mark.parametrize("name", SETS.split())
def test_totals_lead_to_predict_proba(name):
    X, y = few_rows(name)
    model = kl.KernelClassifier(quality="fast", assess=False, max_members=6).fit(X[:ROWS], y[:ROWS])
    new = X[ROWS:]
    log_p = np.log(np.maximum(model.predict_proba(new), 1e-300))
    told = model.explain(new, n_rows=ROWS)
    np.testing.assert_allclose(
        told.baseline + told.contributions.sum(axis=1), told.log_odds, rtol=1e-8, atol=1e-8
    )
    faded = told.prior + told.fading * (told.log_odds - told.prior)
    winners = np.searchsorted(model.classes_, told.labels)
    np.testing.assert_allclose(faded, contrast(log_p, winners), rtol=1e-8, atol=1e-8)
    if X.shape[1] > 60:  # values of many columns take long
        new, log_p = new[:1], log_p[:1]
    found = model.shapley(new, background=1 if X.shape[1] > 60 else 5)
    L = found.values.sum(axis=1) + found.base_values
    if len(model.classes_) == 2:
        odds, faded = log_p[:, 1] - log_p[:, 0], found.prior + found.fading * (L - found.prior)
    else:
        odds = log_p - log_p.mean(axis=1, keepdims=True)
        faded = found.prior + found.fading[:, None] * (L - found.prior)
    np.testing.assert_allclose(faded, odds, rtol=1e-8, atol=1e-8)
