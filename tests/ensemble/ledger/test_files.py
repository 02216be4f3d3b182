"""A file after ``forget`` holds nothing of the forgotten rows."""

import zipfile

import numpy as np
import pytest
from sklearn.datasets import load_wine

import kernel_learn as kl
from kernel_learn.rows.keys import row_keys

GONE = np.array([3, 17, 40, 58])


def contents(model, path):
    """All bytes of a file, unpacked."""
    kl.save(model, path)
    with zipfile.ZipFile(path) as archive:
        return b"\n".join(archive.read(name) for name in archive.namelist())


def secrets_of(model, X, y):
    """Whole rows as they were given and in every view, their keys, held-out figures."""
    place = model._given.distinct[GONE]
    fold_views = [
        (fold.ensemble.training.rows, np.setdiff1d(np.arange(len(X)), fold.rows))
        for fold in model._assessment.folds
    ]
    rows = [X[GONE]]
    for views, known in [(model._fitted.ensemble.training.rows, np.arange(len(X))), *fold_views]:
        here = [int(np.flatnonzero(known == i)[0]) for i in place if i in known]
        rows += [np.asarray(Z, dtype=float)[here] for Z in views.values()]
    rows.append(np.asarray(model._fitted.probe.sample.views[model._fitted.probe.view])[place])
    found = [row for own in rows for row in own]
    return found, row_keys(X)[GONE]


def count(inside, secret):
    """In how many of the types that a file may have the bytes are there."""
    return sum(np.asarray(secret, dtype=t).tobytes() in inside for t in (np.float64, np.float32))


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_whole_rows_keys_and_figures_are_gone(kind, tmp_path):
    pytest.importorskip("skops")
    X, y = load_wine(return_X_y=True)
    X, y = X[::2], y[::2]
    if kind == "numbers":
        X, y = X[:, 1:], np.exp(X[:, 0] - X[:, 0].mean())
        model = kl.KernelRegressor(quality="fast").fit(X, y)
        held = [model.loo_prediction_[GONE], model.held_out_prediction_[GONE], y[GONE]]
    else:
        model = kl.KernelClassifier(quality="fast").fit(X, y)
        held = [model.loo_proba_[GONE], model.held_out_proba_[GONE]]
    _ = model.row_values_, model.feature_relevance_, model.novelty(X[:2])
    rows, keys = secrets_of(model, X, y)
    figures = [one for own in held for one in own]
    before = contents(model, tmp_path / "whole.skops")
    assert sum(count(before, row) > 0 for row in rows) > len(GONE)  # the search finds them
    assert all(key.tobytes() in before for key in keys)
    assert all(np.asarray(one).tobytes() in before for one in figures)
    smaller = model.forget(GONE)
    after = contents(smaller, tmp_path / "smaller.skops")
    assert not any(count(after, row) for row in rows)
    assert not any(key.tobytes() in after for key in keys)
    assert not any(np.asarray(one).tobytes() in after for one in figures)
    again = kl.load(tmp_path / "smaller.skops")
    np.testing.assert_array_equal(again.predict(X), smaller.predict(X))
    np.testing.assert_array_equal(again.row_values_, smaller.row_values_)
    assert again.forgotten_.digest == smaller.forgotten_.digest
