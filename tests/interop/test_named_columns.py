"""``fit(frame, "label")``: everywhere a frame goes in, a name stands for its column."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import kernel_learn as kl
from kernel_learn import estimators, metrics
from kernel_learn.kernels import Gaussian
from kernel_learn.tables import TableModel

pd = pytest.importorskip("pandas")
X_ALL, Y_ALL = load_wine(return_X_y=True)
ROWS = StandardScaler().fit_transform(X_ALL[::4, :5])
LABELS = np.array(["a", "b", "c"])[Y_ALL[::4]]
FRAME = pd.DataFrame(ROWS, columns=list("uvwxy")).assign(label=LABELS)
TABLES = ("KernelClassifier", "KernelRegressor")
PAIRS = ("MarginPath", "PairClassifier", "RegularizationPath")  # from pairs, or no estimators
TRANSFORMERS = [
    kl.AlignmentSubspace(),
    kl.FeatureScales(),
    kl.HSICSubspace(),
    kl.InductiveKernel(random_state=0),
    kl.KernelClassifier(quality="fast", assess=False),
    kl.KernelDiscriminant(),
    kl.KernelRCA(),
    kl.SubspaceSVC(),
    kl.TableEncoder(),
]


def arrow(frame):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)


def dask(frame):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)


@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=lambda e: type(e).__name__)
def test_fit_transform(estimator):
    """Features of the rows, and not of the labels."""
    ours = estimator.fit_transform(FRAME, "label")
    theirs = estimator.fit_transform(FRAME.drop(columns="label"), LABELS)
    np.testing.assert_array_equal(ours, theirs)
    assert list(estimator.feature_names_in_) == list("uvwxy")


@pytest.mark.parametrize("name", [name for name in estimators.__all__ if name not in PAIRS])
def test_every_estimator(name):
    """Fitted to a frame and a name it says what it says of the rows and their labels."""
    kind = getattr(estimators, name)
    quick = {"quality": "fast", "assess": False} if name in TABLES else {}
    quick |= {"random_state": 0} if "random_state" in kind().get_params() else {}
    y = ROWS @ np.arange(5.0) if name.endswith("Regressor") else LABELS
    rows = FRAME.drop(columns="label")
    ours, theirs = kind(**quick).fit(rows.assign(label=y), "label"), kind(**quick).fit(rows, y)
    assert list(ours.feature_names_in_) == list("uvwxy")
    ask = "predict" if hasattr(ours, "predict") else "transform"
    assert np.array_equal(getattr(ours, ask)(rows), getattr(theirs, ask)(rows))


@pytest.mark.parametrize("kind", [arrow, dask])
def test_fit_transform_of_other_frames(kind):
    encoder = kl.TableEncoder()
    Z = np.asarray(encoder.fit_transform(kind(FRAME), "label"))
    np.testing.assert_array_equal(Z, kl.TableEncoder().fit_transform(ROWS))
    assert list(encoder.feature_names_in_) == list("uvwxy")


def test_partial_fit_of_an_encoder():
    encoder = kl.TableEncoder().partial_fit(FRAME, "label")
    assert list(encoder.feature_names_in_) == list("uvwxy")


@pytest.mark.parametrize("name", ["hsic", "alignment", "centered_alignment"])
def test_measures(name):
    measure = getattr(metrics, name)
    weight = np.linspace(0.5, 2, len(ROWS))
    named = measure(FRAME.assign(weight=weight), "label", sample_weight="weight")
    weighted, plain = measure(ROWS, LABELS, sample_weight=weight), measure(ROWS, LABELS)
    assert named == pytest.approx(weighted, rel=1e-12) != pytest.approx(plain, rel=1e-3)


def test_the_score_of_a_learned_kernel():
    model = kl.InductiveKernel().fit(FRAME, "label")
    assert model.score(FRAME, "label") == model.score(FRAME.drop(columns="label"), LABELS)


def test_pipelines():
    model = kl.make_pipeline(kl.TableEncoder(), kl.KernelDiscriminant()).fit(FRAME, "label")
    rows = FRAME.drop(columns="label")
    assert model.score(FRAME, "label") == model.score(rows, LABELS) > 0.7
    encode = kl.make_pipeline(kl.TableEncoder())
    Z = encode.fit_transform(FRAME, "label")
    np.testing.assert_array_equal(Z, encode.transform(rows))


def test_the_model_of_a_table():
    rows = FRAME.drop(columns="label")
    ours = TableModel(kl.KernelDiscriminant()).fit(FRAME, "label")
    theirs = TableModel(kl.KernelDiscriminant()).fit(rows, LABELS)
    assert list(ours.feature_names_in_) == list("uvwxy")
    assert ours.score(FRAME, "label") == theirs.score(rows, LABELS) > 0.7


def test_rows_that_are_forgotten():
    some = kl.KernelDiscriminant(Gaussian(0.2), landmarks=ROWS[:9]).partial_fit(FRAME[:30], "label")
    model = clone(some).partial_fit(FRAME, "label")
    assert model.partial_forget(FRAME[30:], "label").state_.n_rows == some.state_.n_rows == 30
    rows = FRAME.drop(columns="label")
    np.testing.assert_allclose(model.transform(rows), some.transform(rows), atol=1e-9)


def test_a_report():
    model = kl.KernelDiscriminant().fit(FRAME[:30], "label")
    new = {"X_new": FRAME[30:], "y_new": "label"}
    ours = kl.report(model, FRAME[:30], "label", **new)
    rows = FRAME.drop(columns="label")
    new = {"X_new": rows[30:], "y_new": LABELS[30:]}
    theirs = kl.report(model, rows[:30], LABELS[:30], target="label", **new)
    assert ours.verdict == theirs.verdict and "Predicting label" in ours.html


@pytest.mark.parametrize("name", ["EmbeddingDisplay", "GramDisplay", "RegularizationPathDisplay"])
def test_displays(name):
    display = getattr(pytest.importorskip("kernel_learn.inspection"), name)
    model = kl.HSICSubspace().fit(FRAME, "label")
    ours = display.from_estimator(model, FRAME, "label")
    theirs = display.from_estimator(model, FRAME.drop(columns="label"), LABELS)
    part = "errors" if name.startswith("Reg") else "labels"
    np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))


@pytest.mark.parametrize("learner", [kl.KernelLMNN(), kl.FeatureScales()])
def test_frames_of_dask_are_refused_where_all_rows_are_needed(learner):
    with pytest.raises(ValueError, match=r"learns from all rows at once.*compute"):
        learner.fit(dask(FRAME), "label")


def test_features_of_a_classifier_on_dask():
    model = kl.KernelClassifier(quality="fast", assess=False).fit(FRAME, "label")
    rows = FRAME.drop(columns="label")
    np.testing.assert_allclose(np.asarray(model.transform(dask(rows))), model.transform(rows))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_several_targets_are_a_list_of_names(library):
    pd = pytest.importorskip("pandas")
    module = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    plain = pd.DataFrame(rng.normal(size=(40, 4)), columns=list("abyz"))
    frames = {
        "pandas": lambda: plain,
        "polars": lambda: module.DataFrame({c: plain[c].to_numpy() for c in plain}),
        "pyarrow": lambda: module.table({c: plain[c].to_numpy() for c in plain}),
    }
    frame = frames[library]()
    expected = kl.KernelPLSRegressor(n_components=2).fit(plain[["a", "b"]], plain[["y", "z"]])
    found = kl.KernelPLSRegressor(n_components=2).fit(frame, ["y", "z"])
    assert found.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_allclose(
        found.predict(plain[["a", "b"]]), expected.predict(plain[["a", "b"]]), atol=1e-12
    )
    score = expected.score(plain[["a", "b"]], plain[["y", "z"]])
    assert found.score(frame, ["y", "z"]) == pytest.approx(score)
    single = kl.KernelPLSRegressor(n_components=2).fit(frame, ["y"])
    assert single.predict(plain[["a", "b", "z"]]).shape == (40, 1)
    with pytest.raises(ValueError, match="y='w' names no column"):
        kl.KernelPLSRegressor().fit(frame, ["y", "w"])
    labels = ["y", "z"] * 20  # as many as there are rows
    assert kl.KernelDiscriminant().fit(frame, labels).classes_.tolist() == ["y", "z"]
