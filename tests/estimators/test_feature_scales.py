"""Scales of columns: planted columns, the path, weights, and two data sets out of fold."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernel_learn as kl
from extras import optional
from kernel_learn.fitting.scale_path import ScaleStep, choose_penalty
from kernel_learn.kernels import Gaussian, Laplacian
from tolerances import EXACT

pd = optional("pandas")

CRITERIA = ["gradient", "loo", "alignment", "margin", "radius_margin"]
PLANTED = [17, 60, 101, 190]


@pytest.fixture(scope="module")
def planted():
    """Four columns decide, 200 are noise."""
    X = np.random.default_rng(0).normal(size=(200, 204))
    return X, (X[:, PLANTED].sum(axis=1) > 0).astype(int)


def test_finds_the_planted_columns(planted):
    """Without being told how many: the four first, and all but a few others dropped."""
    X, y = planted
    model = kl.FeatureScales().fit(X, y)
    assert sorted(np.argsort(-model.scales_)[:4]) == PLANTED
    assert model.get_support().sum() <= 12
    assert model.path_[0]["penalty"] is None and model.path_[0]["n_features"] == 204
    chosen = next(step for step in model.path_ if step["penalty"] == model.penalty_)
    assert chosen["error"] < 0.5 * model.path_[0]["error"]
    assert np.mean(model.scales_[model.get_support()] ** 2) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", CRITERIA)
def test_finds_so_many_columns_as_asked_for(criterion, planted):
    X, y = planted
    model = kl.FeatureScales(criterion=criterion, n_features=4).fit(X, y)
    assert model.get_support(indices=True).tolist() == PLANTED
    assert model.n_iter_ == len(model.history_) >= 6  # 204, 102, 51, 25, 12, 6, 4 columns
    assert all({"value"} <= set(step) <= {"value", "grad_norm"} for step in model.history_)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_penalty_is_a_path(criterion, planted):
    X, y = planted[0][:80, :30], planted[1][:80]
    X, y = X, (X[:, 3] + X[:, 17] > 0).astype(int)
    penalties = [0.4, 0.05] if criterion == "gradient" else [3.0, 0.01]
    model = kl.FeatureScales(criterion=criterion, penalty=penalties).fit(X, y)
    assert [step["penalty"] for step in model.path_] == sorted(penalties)
    few, many = model.path_[1]["n_features"], model.path_[0]["n_features"]
    assert 2 <= few < many
    assert model.penalty_ in penalties
    single = kl.FeatureScales(criterion=criterion, penalty=penalties[0]).fit(X, y)
    np.testing.assert_allclose(single.scales_, model.path_[1]["scales"], atol=EXACT)
    assert "error" not in single.path_[0] and "error" in model.path_[0]


@pytest.mark.slow
@pytest.mark.parametrize("criterion", CRITERIA)
def test_noise_keeps_all_columns_alike(criterion):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 12)), rng.integers(0, 2, 60)
    model = kl.FeatureScales(criterion=criterion).fit(X, y)
    if model.penalty_ is None:
        np.testing.assert_array_equal(model.scales_, 1)
        assert model.get_support().all()
    errors = {step["penalty"]: step["error"] for step in model.path_}
    assert errors[model.penalty_] <= errors[None]


def test_the_rule_of_choice():
    """The least error; no scales unless the gain is more than its standard error."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=1000)
    noise -= noise.mean()
    path = [ScaleStep(p, np.ones(2)) for p in (None, 0.0, 0.1, 0.2)]
    errors = np.array([1.5 + noise, np.full(1000, 1.01), np.ones(1000), np.ones(1000)])
    assert choose_penalty(path, errors, np.ones(1000)) == 3
    errors[0] = 1.02 + noise  # a gain of 0.02, its standard error is 0.03
    assert choose_penalty(path, errors, np.ones(1000)) == 0
    errors[0] = 1.02  # the same gain for every row
    assert choose_penalty(path, errors, np.ones(1000)) == 3
    assert choose_penalty(path[1:], errors[1:], np.ones(1000)) == 2


def test_transform_is_the_learned_kernel(planted):
    X, y = planted
    model = kl.FeatureScales(n_features=5).fit(X, y)
    F = model.transform(X)
    assert F.shape == (200, 5)
    np.testing.assert_allclose(model.base_kernel_(F), model.kernel_(X), atol=EXACT)
    np.testing.assert_allclose(
        F, X[:, model.get_support()] * model.scales_[model.get_support()], atol=EXACT
    )
    back = model.inverse_transform(F)
    np.testing.assert_allclose(back, X * model.get_support(), atol=EXACT)
    S = model.transform(sparse.csr_matrix(X))
    np.testing.assert_allclose(S.toarray(), F, atol=EXACT)
    np.testing.assert_allclose(model.inverse_transform(S).toarray(), back, atol=EXACT)
    with pytest.raises(ValueError, match="transform gives 5 columns"):
        model.inverse_transform(F[:, :3])


def test_a_frame_keeps_its_names(planted):
    X = pd.DataFrame(planted[0][:, :70], columns=[f"g{i}" for i in range(70)])
    y = (X["g17"] > 0).to_numpy()
    model = kl.FeatureScales(n_features=1).set_output(transform="pandas").fit(X, y)
    assert model.get_feature_names_out().tolist() == ["g17"]
    assert model.transform(X).columns.tolist() == ["g17"]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_weight_is_a_repetition(criterion, rng):
    X = rng.normal(size=(40, 6))
    y = (X[:, 2] + 0.3 * rng.normal(size=40) > 0).astype(int)
    w = rng.integers(1, 4, 40)
    rows = np.repeat(np.arange(40), w)
    penalty = 0.1
    model = kl.FeatureScales(criterion=criterion, penalty=penalty)
    weighted = model.fit(X, y, sample_weight=w).scales_
    repeated = model.fit(X[rows], y[rows]).scales_
    np.testing.assert_allclose(weighted, repeated, rtol=1e-3, atol=1e-3)
    plain = model.fit(X, y).scales_
    assert np.abs(weighted - plain).max() > 1e-2


def test_sparse_rows_and_order(planted):
    X, y = planted[0][:, :40], (planted[0][:, 3] > 0).astype(int)
    expected = kl.FeatureScales().fit(X, y).scales_
    np.testing.assert_allclose(kl.FeatureScales().fit(sparse.csr_matrix(X), y).scales_, expected)
    order = np.random.default_rng(0).permutation(200)
    np.testing.assert_allclose(kl.FeatureScales().fit(X[order], y[order]).scales_, expected)


def test_many_rows_are_summarised(monkeypatch, rng):
    from kernel_learn.estimators import feature_scales

    monkeypatch.setattr(feature_scales, "SEARCH_ROWS", 60)
    X = rng.normal(size=(300, 5))
    y = (X[:, 1] > 0).astype(int)
    model = kl.FeatureScales(n_features=1).fit(X, y)
    assert model.plan_.n_rows == 60 and model.get_support(indices=True).tolist() == [1]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"criterion": "sum"}, "criterion must be"),
        ({"penalty": -1}, "penalty must be"),
        ({"penalty": 1.0}, "from 0 to less than 1"),
        ({"penalty": "none"}, "penalty must be"),
        ({"penalty": []}, "penalty must be"),
        ({"penalty": [0.1, 0.2], "n_features": 2}, "the number of columns decides"),
        ({"n_features": 0}, "positive integer"),
        ({"n_features": 9}, "X has 4 columns"),
        ({"criterion": "alignment", "penalty": 1e6}, "drops every column"),
        ({"criterion": "loo", "kernel": Laplacian()}, "no derivative"),
        ({"kernel": "precomputed"}, "multiplies columns of numbers"),
        ({"max_iter": 0}, "positive integer"),
    ],
)
def test_what_is_refused(options, match, rng):
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 2
    with pytest.raises(ValueError, match=match):
        kl.FeatureScales(**options).fit(X, y)


def test_kernels_without_derivative_take_gradients(rng):
    X = rng.normal(size=(80, 6))
    y = (X[:, 2] > 0).astype(int)
    model = kl.FeatureScales(Laplacian(), n_features=1).fit(X, y)
    assert isinstance(model.base_kernel_, Laplacian)
    assert model.get_support(indices=True).tolist() == [2]


DATA = os.environ.get("KERNEL_LEARN_DATA")


def halves(name):
    data = np.load(Path(DATA) / f"{name}.npz", allow_pickle=True)
    X, y = data["X"].astype(float), data["y"]
    if len(X) > 1000:  # rows to learn from, and many to tell errors of 14 % apart
        rows = np.random.default_rng(0).permutation(len(X))
        return [(X[rows[:400]], y[rows[:400]], X[rows[400:]], y[rows[400:]])]
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    return [(X[train], y[train], X[test], y[test]) for train, test in folds]


@pytest.mark.skipif(not DATA, reason="KERNEL_LEARN_DATA is not set")
@pytest.mark.parametrize("name", ["Leukemia1", "waveform"])
@pytest.mark.filterwarnings("ignore:.*times as wide")  # which the learned scales are for
def test_does_not_lose_to_the_kernel_without_scales(name):
    plain = make_pipeline(StandardScaler(), kl.KernelDiscriminant(Gaussian()))
    scaled = make_pipeline(StandardScaler(), kl.FeatureScales(), kl.KernelDiscriminant(Gaussian()))
    errors = np.zeros(2)
    for X, y, X_new, y_new in halves(name):
        for i, model in enumerate((plain, scaled)):
            errors[i] += np.sum(model.fit(X, y).predict(X_new) != y_new)
    assert errors[1] <= errors[0]
