"""Our estimators as a model of AutoGluon: by its own checks where it is installed."""

import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import kernel_learn as kl
from interop import autogluon_stand_in

pd = pytest.importorskip("pandas")
FLOAT32 = 1e-6  # what AutoGluon keeps of probabilities


@pytest.fixture(scope="module")
def model_class():
    before = {name for name in sys.modules if name.startswith("autogluon")}
    autogluon_stand_in.install()
    from kernel_learn.interop.autogluon import KernelLearnModel

    yield KernelLearnModel
    for name in [name for name in sys.modules if name.startswith("autogluon")]:
        if name not in before:
            del sys.modules[name]
    sys.modules.pop("kernel_learn.interop.autogluon", None)


def table(load, n):
    rows = load(as_frame=True).frame.sample(n, random_state=0).reset_index(drop=True)
    return rows.drop(columns="target"), rows["target"]


def fitted(model_class, problem_type, load, n=90, fit=(), **hyperparameters):
    X, y = table(load, n)
    model = model_class(problem_type=problem_type, hyperparameters=hyperparameters)
    return model.fit(X=X, y=y, **dict(fit)), X, y


@pytest.mark.parametrize(
    ("problem_type", "load"), [("binary", load_breast_cancer), ("multiclass", load_wine)]
)
def test_probabilities_are_those_of_the_classifier(model_class, problem_type, load):
    model, X, y = fitted(model_class, problem_type, load, quality="fast")
    own = kl.KernelClassifier(quality="fast", assess=False, random_state=0).fit(X, y)
    P = own.predict_proba(X)
    ours = model.predict_proba(X)
    np.testing.assert_allclose(ours, P[:, 1] if problem_type == "binary" else P, rtol=FLOAT32)


def test_numbers_are_those_of_the_regressor(model_class):
    model, X, y = fitted(model_class, "regression", load_diabetes, quality="fast")
    own = kl.KernelRegressor(quality="fast", assess=False, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), own.predict(X), rtol=FLOAT32)


def test_quantiles(model_class):
    model, X, _ = fitted(model_class, "quantile", load_diabetes, quality="fast")
    model.quantile_levels = [0.1, 0.9]
    found = model._predict_proba(X)
    np.testing.assert_allclose(found, model.model.predict_quantiles(X, [0.1, 0.9]))


def test_the_limit_of_time_is_a_budget(model_class):
    start = time.monotonic()
    model, *_ = fitted(model_class, "multiclass", load_wine, 120, fit={"time_limit": 5.0})
    spent = time.monotonic() - start
    assert 4.5 - spent - 0.1 < model.model.time_budget <= 4.5
    own = {"time_limit": 5.0}
    shorter, *_ = fitted(model_class, "multiclass", load_wine, 60, fit=own, time_budget=0.5)
    assert shorter.model.time_budget == 0.5


def test_weights_of_rows_count(model_class):
    _, y = table(load_wine, 90)
    weight = pd.Series(np.where(y == 2, 0.0, 1.0))
    model, X, _ = fitted(
        model_class, "multiclass", load_wine, fit={"sample_weight": weight}, quality="fast"
    )
    assert model.model.classes_.tolist() == [0, 1]
    P = model.predict_proba(X)
    assert P.shape == (90, 3) and not P[:, 2].any()  # a class without rows has no chance


def test_the_memory_asked_for_is_that_of_the_plan(model_class):
    X, y = table(load_breast_cancer, 400)
    ask = model_class._estimate_memory_usage_static
    own = kl.KernelClassifier(assess=False).fit(X, y).plan_
    process = 2.2e8
    found = ask(X=X, y=y, hyperparameters={}, problem_type="binary", num_classes=2)
    assert found == pytest.approx(process + own.bytes_needed, rel=1e-6)
    without = ask(X=X, hyperparameters={}, problem_type="binary", num_classes=2)
    assert without == pytest.approx(found, rel=0.01)
    budget = (own.bytes_least + own.bytes_needed) // 2
    less = ask(X=X, y=y, hyperparameters={"memory_budget": budget}, problem_type="binary")
    assert less == pytest.approx(process + budget, rel=1e-6)
    least = ask(X=X, y=y, hyperparameters={"memory_budget": 1000}, problem_type="binary")
    assert least == pytest.approx(process + own.bytes_least, rel=1e-6)


def test_without_autogluon_the_extra_is_named():
    code = (
        "import sys; sys.modules['autogluon'] = None\n"
        "import kernel_learn as kl\n"
        "try:\n    kl.interop.autogluon\n"
        "except ImportError as error:\n    print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "kernel-learn[autogluon]"' in said.stdout


@pytest.mark.slow
def test_by_its_own_checks(tmp_path, monkeypatch):
    """Each kind of problem, a bag, a refit, seeds, single rows: AutoGluon's list of promises."""
    testing = pytest.importorskip("autogluon.tabular.testing")
    from kernel_learn.interop.autogluon import KernelLearnModel

    monkeypatch.chdir(tmp_path)
    testing.FitHelper.verify_model(model_cls=KernelLearnModel, model_hyperparameters={})
