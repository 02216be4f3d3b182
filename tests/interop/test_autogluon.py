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


def installed(module):
    reason = 'needs AutoGluon itself: pip install "kernel-learn[autogluon]"'
    return pytest.importorskip(module, reason=reason)


@pytest.mark.slow
def test_by_its_own_checks(tmp_path, monkeypatch):
    """Each kind of problem, a bag, a refit, seeds, single rows: AutoGluon's list of promises."""
    testing = installed("autogluon.tabular.testing")
    from kernel_learn.interop.autogluon import KernelLearnModel

    monkeypatch.chdir(tmp_path)
    testing.FitHelper.verify_model(model_cls=KernelLearnModel, model_hyperparameters={})


def mixed_table(load, *, classes):
    """Numbers, some of them missing, with a category, a date and a text, and words for labels."""
    rng = np.random.default_rng(0)
    rows, target = table(load, 150)
    rows.iloc[rng.uniform(size=150) < 0.1, 0] = np.nan
    rows["colour"] = rng.choice(["red", "green", "blue"], 150)
    rows["seen"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, 150), "D")
    rows["remark"] = [" ".join(rng.choice(["good", "bad", "fine"], 4)) for _ in range(150)]
    return rows.assign(target=target.map("class {}".format) if classes else target)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # AutoGluon's own
@pytest.mark.parametrize(
    ("problem_type", "load"),
    [("binary", load_breast_cancer), ("multiclass", load_wine), ("regression", load_diabetes)],
)
def test_in_a_predictor(tmp_path, problem_type, load):
    """Within limits of time and memory, in a bag and refitted; the same after it is loaded."""
    TabularPredictor = installed("autogluon.tabular").TabularPredictor
    from kernel_learn.interop.autogluon import KernelLearnModel

    rows = mixed_table(load, classes=problem_type != "regression")
    train, test = rows[:100], rows[100:]
    start = time.monotonic()
    predictor = TabularPredictor("target", path=tmp_path / "model", verbosity=0).fit(
        train,
        hyperparameters={KernelLearnModel: {"quality": "fast"}},
        num_bag_folds=3,
        time_limit=60,
        memory_limit=8,
        fit_weighted_ensemble=False,
    )
    assert time.monotonic() - start < 60 and predictor.problem_type == problem_type
    predictor.refit_full()
    assert predictor.model_names() == ["KernelLearn_BAG_L1", "KernelLearn_BAG_L1_FULL"]
    again = TabularPredictor.load(tmp_path / "model", verbosity=0)
    for name in predictor.model_names():
        said = predictor.predict(test, model=name)
        assert said.equals(again.predict(test, model=name))
        if problem_type == "regression":
            assert np.mean((said - test["target"]) ** 2) < 0.8 * test["target"].var()
        else:
            assert np.mean(said == test["target"]) > 0.85


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_too_little_memory_or_time(tmp_path):
    """AutoGluon leaves the model out where the plan does not fit; a short time gives a model."""
    TabularPredictor = installed("autogluon.tabular").TabularPredictor
    psutil = pytest.importorskip("psutil")  # AutoGluon's own measure
    from kernel_learn.interop.autogluon import KernelLearnModel

    rows = mixed_table(load_wine, classes=True)

    def fit(name, **limits):
        predictor = TabularPredictor("target", path=tmp_path / name, verbosity=0)
        given = {KernelLearnModel: {}}
        return predictor.fit(rows, hyperparameters=given, fit_weighted_ensemble=False, **limits)

    assert fit("short", time_limit=1).model_names() == ["KernelLearn"]
    rss = psutil.Process().memory_info().rss
    with pytest.raises(RuntimeError, match="No models were trained successfully"):
        fit("small", memory_limit=(rss + 1.5e8) / 2**30)  # GB; a fit asks for 2.2e8 and more
    assert fit("large", memory_limit=(rss + 1e9) / 2**30).model_names() == ["KernelLearn"]
