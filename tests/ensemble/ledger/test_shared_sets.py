"""Explanations lead to what is predicted on every shared set and table, a few rows of each."""

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
MIXED = "autos car colic credit-a titanic vote"
NUMBERS = """
    2dplanes auto93 baskball bodyfat bolts cloud cpu.act cpu diabetes-sk diamonds fishcatch fried
    galaxy hitter house8L kin8nm lowbwt mv no2 pbc pharynx pollution servo sleep space_ga tips
    usnews veteran wind wisconsin
"""
ROWS, MOST_COLUMNS = 45, 1000  # all of 12,000 take 20 s a row


def few_rows(name):
    if name.startswith("mixed/"):
        X, y = table_of(name)
    else:
        X, y = find_data().load(name)
        X = np.hstack(X) if isinstance(X, list) else X
        X = X[:, :MOST_COLUMNS] if isinstance(X, np.ndarray) else X
    y = np.unique(y, return_inverse=True)[1]
    kept = np.flatnonzero(np.isin(y, np.argsort(-np.bincount(y), kind="stable")[:4]))
    rows = np.random.default_rng(0).permutation(kept)[: ROWS + 3]
    return (X.iloc[rows] if hasattr(X, "iloc") else X[rows]), y[rows]


def table_of(name):
    frame = pytest.importorskip("pandas").read_csv(find_data().path / f"{name}.csv")
    return frame.drop(columns="target"), frame["target"].to_numpy()


def contrast(values, winners):
    """L of the winner: against the other of two classes, else minus the mean over all."""
    own = values[np.arange(len(values)), winners]
    return (own - values.mean(axis=1)) * (2 if values.shape[1] == 2 else 1)


@pytest.mark.slow
@pytest.mark.skipif("KERNEL_LEARN_DATA" not in os.environ, reason="no data folder")
@pytest.mark.parametrize("name", [*SETS.split(), *(f"mixed/{name}" for name in MIXED.split())])
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


@pytest.mark.skipif("KERNEL_LEARN_DATA" not in os.environ, reason="no data folder")
@pytest.mark.parametrize("name", NUMBERS.split())
def test_totals_lead_to_predict(name):
    X, y = table_of(f"regression/{name}")
    rows = np.random.default_rng(0).permutation(len(y))
    known, new = X.iloc[rows[3:][:ROWS]], X.iloc[rows[:3]]
    model = kl.KernelRegressor(quality="fast", assess=False).fit(known, y[rows[3:][:ROWS]])
    said, scale = model.predict(new), np.abs(y).max()
    told = model.explain(new, n_rows=ROWS)
    total = told.baseline + told.contributions.sum(axis=1)
    np.testing.assert_allclose(total, told.log_odds, rtol=1e-8, atol=1e-8 * scale)
    found = model.shapley(new, background=5)
    L = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(L, told.log_odds, rtol=1e-8, atol=1e-8 * scale)
    for own, values in ((told, told.log_odds), (found, L)):
        faded = own.prior + own.fading * (values - own.prior)
        np.testing.assert_allclose(faded, said, rtol=1e-8, atol=1e-8 * scale)
