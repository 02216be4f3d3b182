"""KernelRegressor on many rows: leaves, rows on the disk, landmarks, checkpoints, files."""

import tempfile

import numpy as np
import pytest

import kernel_learn.streams.spill as spill_module
from kernel_learn import KernelRegressor, load, save
from kernel_learn.ensemble import leaves
from kernel_learn.streams import gather

N = 1200
SMALL = "6MB"

pytestmark = pytest.mark.filterwarnings("ignore:.*gives another model")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(N + 300, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=len(X))


@pytest.fixture(scope="module")
def in_leaves(data):
    X, y = data
    return KernelRegressor(quality="fast", memory_budget=SMALL).fit(X[:N], y[:N])


def cut(X, y, size=250, weight=None):
    def blocks():
        for start in range(0, len(y), size):
            part = slice(start, start + size)
            yield (X[part], y[part]) if weight is None else (X[part], y[part], weight[part])

    return blocks


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Rows are written there from the first block on."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(gather, "HEAD_SHARE", 1e9)
    return tmp_path


def test_leaves_predict(in_leaves, data):
    X, y = data[0][N:], data[1][N:]
    assert in_leaves.plan_.representation == "leaves" and in_leaves._fitted.ensemble.forest
    assert in_leaves.score(X, y) > 0.97
    rmse = np.sqrt(np.mean((y - in_leaves.predict(X)) ** 2))
    assert in_leaves.loo_rmse_ == pytest.approx(rmse, rel=0.3)
    np.testing.assert_allclose(in_leaves.explain(X[:5]).labels, in_leaves.predict(X[:5]))
    f, std = in_leaves.predict(X, return_std=True)
    assert np.var((y - f) / std) == pytest.approx(1, abs=0.4)
    low, high = in_leaves.predict_interval(X, 0.9).T
    assert np.mean((low <= y) & (y <= high)) == pytest.approx(0.9, abs=0.06)
    assert in_leaves.transform(X).shape == (300, 1)


def test_the_order_of_rows_does_not_matter_in_leaves(in_leaves, data):
    X, y = data
    order = np.random.default_rng(1).permutation(N)
    again = KernelRegressor(quality="fast", memory_budget=SMALL).fit(X[order], y[order])
    np.testing.assert_allclose(again.predict(X[N:]), in_leaves.predict(X[N:]), atol=1e-6)


def test_several_targets_in_leaves(data):
    X, y = data
    Y = np.c_[y, np.exp(X[:, 2])]
    model = KernelRegressor(quality="fast", memory_budget=SMALL).fit(X[:N], Y[:N])
    assert model.predict(X[N:]).shape == (300, 2) and model.score(X[N:], Y[N:]) > 0.95


def test_a_source_that_fits_is_as_its_rows(data):
    X, y = data[0][:300], data[1][:300]
    weight = np.ones(300)
    weight[::5] = 2.0
    model = KernelRegressor(quality="fast")
    a = model.fit(cut(X, y, 100, weight)).predict(X)
    np.testing.assert_array_equal(a, model.fit(X, y, sample_weight=weight).predict(X))
    blocks = list(model.predict(cut(X, y, 100)))
    np.testing.assert_allclose(np.concatenate(blocks), a)
    assert model.score(cut(X, y, 100)) == pytest.approx(model.score(X, y))
    Y = np.c_[y, -y]
    assert model.fit(cut(X, Y, 100)).predict(X).shape == (300, 2)


def test_rows_stay_on_the_disk(folder, data):
    X, y = data
    model = KernelRegressor(quality="fast", memory_budget="3MB").fit(cut(X[:N], y[:N]))
    assert "on the disk" in str(model.plan_) and not list(folder.iterdir())
    assert model.score(X[N:], y[N:]) > 0.95
    assert len(model.loo_rows_) == len(model.loo_prediction_) == model.plan_.subsample_rows
    left = y[model.loo_rows_] - model.loo_prediction_
    assert np.sqrt(np.mean(left**2)) == pytest.approx(model.loo_rmse_)
    assert model.predict_quantiles(X[:4]).shape == (4, 3)


@pytest.mark.filterwarnings("ignore:.*landmarks")
def test_without_a_disk_there_are_landmarks(folder, data, monkeypatch):
    monkeypatch.setattr(spill_module, "DISK_SHARE", 1e-12)
    X, y = data
    model = KernelRegressor(quality="fast", memory_budget="6MB").fit(cut(X[:N], y[:N]))
    assert model.plan_.representation == "landmarks"
    assert model.score(X[N:], y[N:]) > 0.9 and model.loo_r2_ > 0.9
    low, high = model.predict_interval(X[N:], 0.9).T
    assert np.mean((low <= y[N:]) & (y[N:] <= high)) == pytest.approx(0.9, abs=0.06)


def test_a_checkpoint_goes_on_after_its_leaves(data, tmp_path, monkeypatch, in_leaves):
    X, y = data
    model, done = KernelRegressor(quality="fast", memory_budget=SMALL), []
    fit = leaves.fit_one_leaf

    def stopped(*given):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(1)
        return fit(*given)

    monkeypatch.setattr(leaves, "fit_one_leaf", stopped)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:N], y[:N], checkpoint=tmp_path)
    assert not hasattr(model, "plan_")
    left = []
    monkeypatch.setattr(leaves, "fit_one_leaf", lambda *given: left.append(1) or fit(*given))
    model.fit(X[:N], y[:N], checkpoint=tmp_path)
    n_leaves = sum(map(len, in_leaves._fitted.ensemble.forest.leaf_rows))
    assert len(left) == n_leaves - 3
    np.testing.assert_array_equal(model.predict(X), in_leaves.predict(X))


def test_a_time_budget_is_kept_to(data):
    X, y = data
    model = KernelRegressor(time_budget=0.5).fit(X[:N], y[:N])
    assert model.score(X[N:], y[N:]) > 0.5


@pytest.mark.parametrize("asked", [False, True])
def test_files(in_leaves, data, tmp_path, asked):
    pytest.importorskip("skops")
    X, y = data
    several = KernelRegressor(quality="fast").fit(X[:80], np.c_[y, np.exp(y)][:80])
    for model in (in_leaves, several):
        if asked:  # what is worked out when it is first asked for goes with it
            model.predict(X[:2], return_std=True)
        save(model, tmp_path / "model.skops")
        again = load(tmp_path / "model.skops")
        for one, other in zip(
            again.predict(X, return_std=True), model.predict(X, return_std=True), strict=True
        ):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(again.transform(X), model.transform(X))
        assert again.summary_ == model.summary_
