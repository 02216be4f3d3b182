"""Numbers at the ends of their ranges: a sentence, or answers that are finite."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import kernel_learn as kl
from chaos.faults import record
from estimators.test_checks import ESTIMATORS

iris, y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(iris)[::3]
y = y[::3]
FIRST = {type(one).__name__: one for one in ESTIMATORS[::-1]}  # the plainest of each
METHODS = ("predict_proba", "decision_function", "transform", "predict")


def answers(model, rows):
    """What it says of rows, by the first method that it has."""
    return next(np.asarray(getattr(model, m)(rows)) for m in METHODS if hasattr(model, m))


def attempt(model, rows, labels):
    """A sentence of ours, or finite answers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = answers(clone(model).fit(rows, labels), rows)
        except (ValueError, TypeError) as error:
            assert "Traceback" not in str(error) and len(str(error)) < 1500
            return "a sentence"
    if found.dtype.kind == "f":
        assert np.isfinite(found).all()
    return "finite answers"


def usable(name):
    return not get_tags(FIRST[name]).input_tags.pairwise


NAMES = sorted(name for name in FIRST if usable(name))
EXTREMES = {
    "rows + 1e8": X + 1e8,
    "rows * 1e6": X * 1e6,
    "rows * 1e-6": X * 1e-6,
    "a column of 1e12": X * [1e12, 1, 1, 1],
    "two rows, each many times": np.repeat(X[[0, 40]], 25, axis=0),
    "one column": X[:, :1],
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", EXTREMES)
def test_rows(case, name):
    labels = np.repeat([0, 1], 25) if case.startswith("two") else y
    outcome = attempt(FIRST[name], EXTREMES[case], labels)
    record(case, "every estimator", outcome)


@pytest.mark.parametrize("value", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("name", NAMES)
def test_parameters(name, value):
    for parameter in ("reg", "C"):
        if parameter in FIRST[name].get_params():
            model = clone(FIRST[name]).set_params(**{parameter: value})
            record(f"{parameter} = {value:g}", "every estimator", attempt(model, X, y))


@pytest.mark.parametrize("gamma", [0.0, 1e-300, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("name", ["KernelDiscriminant", "HSICSubspace", "SubspaceSVC"])
def test_widths(name, gamma):
    model = clone(FIRST[name]).set_params(kernel=kl.kernels.Gaussian(gamma))
    record(f"gamma = {gamma:g}", "Gaussian kernel", attempt(model, X, y))


@pytest.mark.parametrize("name", ["KernelDiscriminant", "HSICSubspace", "SubspaceSVC", "KernelPLS"])
@pytest.mark.parametrize("kernel", ["sigmoid", "linear", "poly"])
def test_kernels_that_are_indefinite_or_of_rank_one(name, kernel):
    model = clone(FIRST[name]).set_params(kernel=kernel)
    rows = X[:, :1] if kernel == "linear" else 5 * X
    record(f"{kernel} kernel", "kernel methods", attempt(model, rows, y))


def test_two_rows_of_5000_in_one_class():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(5000, 3)), np.zeros(5000, int)
    labels[:2] = 1
    rows[:2] += 5
    for model in (kl.KernelDiscriminant(landmarks=50), kl.SubspaceSVC(landmarks=50)):
        record("2 rows of 5000 in a class", "landmarks", attempt(model, rows, labels))


def compared(model, rows):
    """Labels, or products of features, which do not depend on signs and rotations."""
    if hasattr(model, "predict"):
        return np.asarray(model.predict(rows))
    F = model.transform(rows)
    return F @ F.T


def agreement(name):
    """How far answers in float32 are from those in float64: of labels, the share that differs."""
    model = getattr(kl, name)()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    same = X.astype(np.float32)  # the same numbers: pairs and parts are drawn by what rows hold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        narrow, wide = (
            compared(clone(model).fit(rows, y), rows) for rows in (same, same.astype(np.float64))
        )
    if hasattr(model, "predict") and name != "KernelPLSRegressor":
        return float(np.mean(narrow != wide))
    return float(np.abs(narrow - wide).max() / np.abs(wide).max())


@pytest.mark.parametrize("name", NAMES)
def test_float32_agrees_with_float64(name):
    found = agreement(name)
    assert found <= 0.02, found
    record("float32", name, f"as float64, to {found:.0e}")
