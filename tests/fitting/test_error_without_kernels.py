"""weights_report_: the held-out error without each kernel beside its weight."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import kernel_learn as kl
from kernel_learn.kernels import ColumnKernel, Gaussian, Linear
from oracles.refits import fit_ridge, predict_without


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((150, 2)), rng.standard_normal((150, 30))])
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.standard_normal(150) > 0.7, "yes", "no")
    return X, y


BANK = {
    "signal": ColumnKernel(Gaussian(0.2), [0, 1]),
    "linear": ColumnKernel(Linear(), [0, 1]),
    "noise": ColumnKernel(Gaussian(0.1), list(range(2, 32))),
}
MODELS = {
    "machines": lambda bank, **more: kl.MultiKernelSVC(bank, **more),
    "squared": lambda bank, **more: kl.MultiKernelSVC(bank, loss="squared_hinge", **more),
    "subspace": lambda bank, **more: kl.SubspaceSVC(bank, **more),
    "landmarks": lambda bank, **more: kl.SubspaceSVC(
        bank, loss="squared_hinge", landmarks=30, random_state=0, **more
    ),
    "discriminant": lambda bank, **more: kl.KernelDiscriminant(bank, reg=0.1, **more),
    "learned reg": lambda bank, **more: kl.KernelDiscriminant(bank, reg="learn", **more),
}


def others(name):
    return {own: kernel for own, kernel in BANK.items() if own != name}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weights", ["learn", "given"])
def test_is_that_of_a_fit_without_the_kernel(name, weights, table):
    if weights == "given" and name in ("learned reg", "landmarks"):
        pytest.skip("no criterion is asked where weights are given")
    X, y = table
    given = {"signal": 1.0, "linear": 0.5, "noise": 4.0}
    more = {} if weights == "learn" else {"weights": list(given.values())}
    model = MODELS[name](BANK, **more).fit(X, y)
    before = pickle.dumps(model)
    report = model.weights_report_
    assert report.names == tuple(BANK) and model.weights_report_ is report
    np.testing.assert_equal(report.held_out_error, model._held_out_error)
    np.testing.assert_allclose(sum(report.weights), 1.0)
    for m, kernel in enumerate(BANK):
        if weights == "given":
            more = {"weights": [own for one, own in given.items() if one != kernel]}
        alone = MODELS[name](others(kernel), **more).fit(X, y)
        np.testing.assert_allclose(report.error_without[m], alone._held_out_error, atol=1e-12)
    pickle.loads(before).predict(X)


@pytest.mark.parametrize("name", ["machines", "subspace", "discriminant"])
def test_a_noise_sensor_of_large_weight_is_not_missed(name, table):
    X, y = table
    model = MODELS[name](BANK).fit(X, y)
    report = model.weights_report_
    assert report.weights[2] > 0.5  # the noise has most of the weight
    assert report.error_without[2] <= report.held_out_error + 0.02  # three rows
    assert report.error_without[0] > report.held_out_error + 0.05
    lines = str(report).splitlines()
    assert len(lines) == 5 and "noise" in lines[-1] and "error without it" in lines[-1]


def test_leave_one_out_of_the_discriminant_by_refits(table):
    X, y = table
    model = kl.KernelDiscriminant(BANK, reg=0.1, decision="centroid").fit(X, y)
    error = model.weights_report_.error_without[2]
    alone = kl.KernelDiscriminant(others("noise"), reg=0.1, decision="centroid").fit(X, y)
    K = alone.base_kernel_(X)
    Y, w = np.eye(2)[(y == "yes").astype(int)], np.ones(150)
    a, b = fit_ridge(K, Y, w, alone.reg_)
    F, scores = alone.transform(X)[:, 0], (K @ a + b)[:, 1]
    slope, shift = np.polyfit(scores, F, 1)  # two classes: a feature is a line of the score
    np.testing.assert_allclose(slope * scores + shift, F, atol=1e-8)
    held = [predict_without(K, K[[i]], Y, w, alone.reg_, [i])[0, 1] for i in range(150)]
    held += (Y - Y.mean(axis=0))[:, 1] / 149  # a new row sees the class shares of all rows
    told = alone.classes_[alone._scores((slope * np.array(held) + shift)[:, None]).argmax(axis=1)]
    np.testing.assert_allclose(error, np.mean(told != y), atol=1e-12)


def test_folds_of_machines_beside_libsvm(table):
    X, y = table
    report = kl.MultiKernelSVC(BANK).fit(X, y).weights_report_
    for m, name in enumerate(BANK):
        alone = kl.MultiKernelSVC(others(name)).fit(X, y)
        score = cross_val_score(SVC(kernel="precomputed", C=1.0), alone.kernel_(X), y, cv=5)
        assert abs(report.error_without[m] - (1 - score.mean())) < 0.06


def test_views_stacks_and_what_is_left_alone(table):
    X, y = table
    views = kl.KernelDiscriminant([Gaussian(), Gaussian()], reg=0.1).fit([X[:, :2], X[:, 2:]], y)
    found = views.weights_report_.error_without
    assert found[0] > found[1] + 0.05
    K = np.stack([kernel(X) for kernel in BANK.values()], axis=2)
    stack = kl.MultiKernelSVC("precomputed").fit(K, y).weights_report_
    assert stack.error_without[0] > stack.held_out_error
    flat = kl.MultiKernelSVC([Gaussian(0.2), ColumnKernel(Linear(), [32])])
    with pytest.warns(UserWarning, match="one value on all rows"):
        flat.fit(np.hstack([X, np.zeros((150, 1))]), y)
    report = flat.weights_report_
    assert np.isnan(report.error_without[0])  # the other tells no rows apart
    assert "error without it not known" in str(report)
    assert report.error_without[1] == report.held_out_error
    assert len(str(replace(report, fit_without=None)).splitlines()) == 1
    saved = pickle.loads(pickle.dumps(flat))
    assert saved.weights_report_.error_without[1] == report.error_without[1]
