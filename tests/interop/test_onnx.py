"""ONNX files say what the models say, in programs that have onnxruntime and NumPy alone."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_breast_cancer, load_wine, make_moons
from sklearn.decomposition import PCA
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils import get_tags

import kernel_learn as kl
from estimators.test_checks import ESTIMATORS
from kernel_learn import kernels as kk
from kernel_learn.interop.onnx import OnnxExportError
from kernel_learn.interop.onnx.converters import label_array

skl2onnx = pytest.importorskip("skl2onnx")
ort = pytest.importorskip("onnxruntime")

METHODS = {
    "label": "predict",
    "probabilities": "predict_proba",
    "decision": "decision_function",
    "features": "transform",
    "prediction": "predict",
}
BOUNDS = {np.float64: 1e-10, np.float32: 1e-5}  # relative to the largest output
three = scale(load_wine().data), load_wine().target
two = scale(load_breast_cancer().data)[:160, :8], load_breast_cancer().target[:160]
named = two[0], np.array(["ill", "well"])[two[1]]
REFUSED = (kl.TableEncoder,)  # by a sentence
VECTORS = [
    e for e in ESTIMATORS if not get_tags(e).input_tags.pairwise and not isinstance(e, REFUSED)
]


def session(path):
    return ort.InferenceSession(path, providers=["CPUExecutionProvider"])


def assert_says_the_same(model, path, X, dtype=np.float64, feed=None):
    """All outputs of the file, on one row, seven and all."""
    run = session(path)
    for n in (1, 7, len(X)):
        rows = X[:n].astype(dtype)
        found = run.run(None, {"X": rows} if feed is None else feed(X[:n]))
        for output, values in zip(run.get_outputs(), found, strict=True):
            expected = getattr(model, METHODS[output.name])(rows.astype(float))
            assert values.shape == expected.shape, output.name
            if output.name == "label":
                np.testing.assert_array_equal(values, expected)
            else:
                assert values.dtype == dtype
                other = values != expected  # of two infinite values there is no difference
                error = np.abs(values[other] - expected[other]).max(initial=0.0)
                assert error <= BOUNDS[dtype] * np.abs(expected).max(), output.name
    return [output.name for output in run.get_outputs()]


@pytest.mark.parametrize("data", [three, named], ids=["three classes", "two named classes"])
@pytest.mark.parametrize("i", range(len(VECTORS)), ids=lambda i: repr(VECTORS[i])[:60])
@pytest.mark.filterwarnings("ignore")
def test_every_estimator(i, data, tmp_path):
    X, y = data
    if is_regressor(VECTORS[i]):
        y = np.unique(y, return_inverse=True)[1]
    model = clone(VECTORS[i]).fit(X[::2], y[::2])
    path = tmp_path / "model.onnx"
    for dtype in BOUNDS:
        kl.export_onnx(model, path, X[:1].astype(dtype))
        names = assert_says_the_same(model, path, X, dtype)  # new rows, and training rows
    for name, method in METHODS.items():
        wanted = hasattr(model, method) and name != "prediction"
        if name == "label" and not hasattr(model, "classes_"):
            wanted = False
        assert (name in names) == wanted or is_regressor(model)


KERNELS = [
    kk.Gaussian(),
    kk.Exponential(),
    kk.Laplacian(),
    kk.Matern(nu=0.5),
    kk.Matern(nu=1.5),
    kk.Matern(nu=2.5),
    kk.Linear(),
    kk.Polynomial(3),
    kk.Polynomial(1, 0.3, 2.0),
    kk.Cosine(),
    kk.ArcCosine(),
    kk.ArcCosine(0.0),
    kk.Additive(),
    kk.PairwiseAnova(),
    kk.LowRank("gaussian", 5),
    "rbf",
    kk.ScaledKernel(kk.Gaussian(), np.r_[0.5, 0.0, 2.0, np.ones(10)]),
    [kk.ScaledKernel(kk.Gaussian(0.1), np.r_[scales, np.ones(10)]) for scales in np.eye(3)],
    [kk.Gaussian(0.1), kk.Linear(), kk.ArcCosine()],
    {"a": kk.ColumnKernel(kk.Gaussian(), [0, 1]), "b": kk.ColumnKernel("laplacian", slice(2, 6))},
    {"a": kk.ColumnKernel(kk.PairwiseAnova(), [3, 1, 4]), "b": kk.Linear()},
    [kk.ColumnKernel(kk.Gaussian(), columns) for columns in ([0, 1], [4, 2])],
    # parts that are zero: one column has no pairs
    kk.Combination([kk.ColumnKernel(kk.PairwiseAnova(), [3]), kk.Gaussian(1.0)], [1.0, 1.0]),
    kk.Combination([kk.Combination([kk.Linear()], [0.0]), kk.Gaussian(1.0)], [1.0, 1.0]),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: repr(kernel)[:60])
def test_every_kernel(kernel, tmp_path):
    X, y = three
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)  # within [0, 1], which some of them need
    model = kl.KernelDiscriminant(kernel).fit(X[::2], y[::2])
    for dtype in BOUNDS:
        kl.export_onnx(model, tmp_path / "model.onnx", X.astype(dtype))
        assert_says_the_same(model, tmp_path / "model.onnx", X, dtype)


@pytest.mark.parametrize("kernel", [kk.Cosine(), kk.ArcCosine(0.0)], ids=repr)
def test_a_row_of_zeros_and_opposite_rows(kernel, tmp_path):
    """They have no angle, or one whose cosine may be rounded to below -1."""
    X, y = three
    model = kl.KernelDiscriminant(kernel).fit(X[::2], y[::2])
    kl.export_onnx(model, tmp_path / "model.onnx")
    assert_says_the_same(model, tmp_path / "model.onnx", np.vstack([0 * X[:1], X, -X]))


@pytest.mark.parametrize("kernel", [kk.Laplacian(), kk.Exponential()], ids=repr)
def test_many_columns(kernel, tmp_path):
    """Their differences are taken sixteen columns at a time."""
    X, y = scale(load_breast_cancer().data)[:120], load_breast_cancer().target[:120]
    model = kl.KernelDiscriminant(kernel).fit(X[::2], y[::2])
    kl.export_onnx(model, tmp_path / "model.onnx")
    assert_says_the_same(model, tmp_path / "model.onnx", X)


def test_rows_far_from_the_origin(tmp_path):
    X, y = three[0] + 1e5, three[1]
    model = kl.KernelDiscriminant(kk.Gaussian()).fit(X[::2], y[::2])
    kl.export_onnx(model, tmp_path / "model.onnx")
    assert_says_the_same(model, tmp_path / "model.onnx", X)


def test_a_very_sharp_kernel_is_at_most_one(tmp_path):
    """Rounding leaves squared distances of 1e-14 below zero, and exp(1e6) is infinite."""
    X, y = three
    model = kl.KernelDiscriminant(kk.Gaussian(1e20)).fit(X[::2], y[::2])
    kl.export_onnx(model, tmp_path / "model.onnx")
    found = session(tmp_path / "model.onnx").run(["probabilities"], {"X": X})[0]
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    "learned", [kl.HSICSubspace(), kl.InductiveKernel(), kl.FeatureScales(n_features=4)], ids=repr
)
def test_learned_kernels(learned, tmp_path):
    X, y = three
    model = kl.KernelDiscriminant(learned.fit(X, y).kernel_).fit(X[::2], y[::2])
    kl.export_onnx(model, tmp_path / "model.onnx")
    assert_says_the_same(model, tmp_path / "model.onnx", X)


def test_one_neighbour(tmp_path):
    X, y = three
    model = kl.KernelDiscriminant(decision="nearest_neighbor").fit(X[::2], y[::2])
    kl.export_onnx(model, tmp_path / "model.onnx")
    label, probabilities, _, _ = session(tmp_path / "model.onnx").run(None, {"X": X[1::2]})
    np.testing.assert_array_equal(label, model.predict(X[1::2]))
    np.testing.assert_array_equal(probabilities, model.predict_proba(X[1::2]))


class TestKernelClassifier:
    @pytest.mark.parametrize("quality", ["fast", "balanced"])
    def test_missing_cells_and_ties(self, quality, tmp_path):
        X, y = np.round(three[0], 1), three[1]
        X[::7, 3] = np.nan
        X[:, 5] = 2.0  # a constant column
        model = kl.KernelClassifier(quality=quality).fit(X[::2], y[::2])
        kl.export_onnx(model, tmp_path / "model.onnx")
        assert_says_the_same(model, tmp_path / "model.onnx", X)
        assert_says_the_same(model, tmp_path / "model.onnx", 5 * X)  # beyond the ends of ranks

    def test_no_member(self, tmp_path):
        """Constant columns with a hole: all that is known are the shares of the classes."""
        X, y = np.ones((40, 2)), np.arange(40) % 4 // 3
        X[0, 0] = np.nan
        model = kl.KernelClassifier(quality="fast").fit(X, y)
        assert not model.members_
        kl.export_onnx(model, tmp_path / "model.onnx")
        assert_says_the_same(model, tmp_path / "model.onnx", X)

    def test_column_groups(self, tmp_path):
        X, y = three
        groups = {"first": [0, 1, 2], "second": [5, 4, 3, 9]}
        model = kl.KernelClassifier(column_groups=groups).fit(X[::2], y[::2])
        kl.export_onnx(model, tmp_path / "model.onnx")
        assert_says_the_same(model, tmp_path / "model.onnx", X)

    def test_sparse(self, tmp_path):
        X = sparse.random(100, 30, density=0.2, random_state=0, format="csr")
        y = (X.toarray()[:, :5].sum(axis=1) > 0.4).astype(int)
        model = kl.KernelClassifier().fit(X, y)
        kl.export_onnx(model, tmp_path / "model.onnx", X)
        rows = np.vstack([np.zeros(30), X.toarray(), -X.toarray()])
        assert_says_the_same(model, tmp_path / "model.onnx", rows)

    @pytest.mark.filterwarnings("ignore:.*which gives another model")
    def test_leaves(self, tmp_path):
        X, y = make_moons(900, noise=0.25, random_state=0)
        model = kl.KernelClassifier(memory_budget=2_060_000).fit(X[:700], y[:700])
        assert not model.plan_.exact
        kl.export_onnx(model, tmp_path / "model.onnx")
        assert_says_the_same(model, tmp_path / "model.onnx", X)

    def test_frame_of_numbers(self, tmp_path):
        pd = pytest.importorskip("pandas")
        X, y = three
        frame = pd.DataFrame(X[:, :4], columns=["a", "b", "c", "d"])
        frame["count"] = np.arange(len(X))
        model = kl.KernelClassifier(quality="fast").fit(frame, y)
        with pytest.raises(OnnxExportError, match="fitted on a data frame: pass a few"):
            kl.export_onnx(model, tmp_path / "model.onnx")
        kl.export_onnx(model, tmp_path / "model.onnx", frame)
        run = session(tmp_path / "model.onnx")
        assert [column.name for column in run.get_inputs()] == list(frame.columns)
        found = run.run(None, {name: frame[[name]].to_numpy() for name in frame})
        np.testing.assert_allclose(found[1], model.predict_proba(frame), atol=1e-10)

    @pytest.mark.parametrize("dtype", ["object", "category"])
    def test_categories_are_refused(self, dtype, tmp_path):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"x": three[0][:, 0], "colour": np.array(["r", "g"])[three[1] % 2]})
        frame = frame.astype({"colour": dtype})
        model = kl.KernelClassifier(quality="fast").fit(frame, three[1])
        with pytest.raises(OnnxExportError, match="columns of categories, colour, "):
            kl.export_onnx(model, tmp_path / "model.onnx", frame)


class TestKernelRegressor:
    X = three[0]
    y = np.exp(X[:, 0] - X[:, 6] + 0.1 * X[:, 2] * X[:, 3])  # which a logarithm straightens

    def test_logarithms_smearing_and_missing_cells(self, tmp_path):
        X = np.round(self.X, 1)
        X[::7, 3] = np.nan
        model = kl.KernelRegressor(quality="fast", assess=False).fit(X[::2], self.y[::2])
        maps = [member.maps[0] for member in model._fitted.ensemble.predicting]
        assert all(map.transforms[0].is_log for map in maps)
        for dtype in BOUNDS:
            kl.export_onnx(model, tmp_path / "model.onnx", X.astype(dtype))
            names = assert_says_the_same(model, tmp_path / "model.onnx", X, dtype)
            assert names == ["prediction", "features"]
        assert_says_the_same(model, tmp_path / "model.onnx", 5 * X, np.float32)  # beyond all ends

    def test_several_targets(self, tmp_path):
        Y = np.column_stack([self.y, self.X[:, 0], np.exp(self.X[:, 5]) * (self.X[:, 1] > 0)])
        model = kl.KernelRegressor(quality="fast", assess=False).fit(self.X[::2], Y[::2])
        kl.export_onnx(model, tmp_path / "model.onnx")
        assert_says_the_same(model, tmp_path / "model.onnx", self.X)

    def test_no_member(self, tmp_path):
        """Constant columns with a hole: all that is known is the mean."""
        X = np.ones((40, 2))
        X[0, 0] = np.nan
        model = kl.KernelRegressor(quality="fast").fit(X, np.arange(40.0))
        assert not model.members_
        kl.export_onnx(model, tmp_path / "model.onnx")
        assert_says_the_same(model, tmp_path / "model.onnx", X)

    @pytest.mark.filterwarnings("ignore:.*which gives another model")
    def test_leaves(self, tmp_path):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(900, 2))
        y = np.exp(np.sin(2 * X[:, 0]) + X[:, 1] / 2 + 0.1 * rng.normal(size=900))
        options = {"quality": "fast", "assess": False, "memory_budget": 2_060_000}
        model = kl.KernelRegressor(**options).fit(X[:700], y[:700])
        assert model._fitted.ensemble.forest is not None
        kl.export_onnx(model, tmp_path / "model.onnx")
        assert_says_the_same(model, tmp_path / "model.onnx", X)

    def test_categories_are_refused(self, tmp_path):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"x": self.X[:, 0], "colour": np.array(["r", "g"])[three[1] % 2]})
        model = kl.KernelRegressor(quality="fast", assess=False).fit(frame, self.y)
        with pytest.raises(OnnxExportError, match=r"KernelRegressor was .* categories, colour, "):
            kl.export_onnx(model, tmp_path / "model.onnx", frame)


class TestSeveralLabels:
    X = three[0]
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 2] > 0.5, np.zeros(len(X))]).astype(int)

    @staticmethod
    def outputs(model, path, X):
        run = session(path)
        names = [output.name for output in run.get_outputs()]
        return dict(zip(names, run.run(None, {"X": X}), strict=True))

    @pytest.mark.parametrize("dtype", list(BOUNDS))
    def test_classifier(self, dtype, tmp_path):
        model = kl.KernelClassifier(assess=False).fit(self.X[::2], self.Y[::2])
        X = self.X.astype(dtype)
        kl.export_onnx(model, tmp_path / "model.onnx", X)
        found = self.outputs(model, tmp_path / "model.onnx", X)
        assert list(found) == ["label", "probabilities", "decision", "features"]
        np.testing.assert_array_equal(found["label"], model.predict(X))
        tol = 1e-10 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=tol)
        np.testing.assert_allclose(found["decision"], model.decision_function(X), rtol=tol)
        np.testing.assert_allclose(found["features"], model.transform(X), atol=tol)

    def test_leaves_and_no_member(self, tmp_path):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(900, 2))
        Y = np.column_stack([X[:, 0] > 0, X.sum(axis=1) > 1])
        model = kl.KernelClassifier(quality="fast", assess=False, memory_budget=2_100_000)
        with pytest.warns(UserWarning, match="another model"):
            model.fit(X, Y)
        assert model._fitted.ensemble.forest is not None
        flat = np.ones((40, 2))
        flat[0, 0] = np.nan
        alone = kl.KernelClassifier(quality="fast", assess=False).fit(flat, Y[:40])
        assert not alone.members_
        for one, rows in ((model, X), (alone, flat)):
            kl.export_onnx(one, tmp_path / "model.onnx")
            found = self.outputs(one, tmp_path / "model.onnx", rows)
            np.testing.assert_allclose(found["probabilities"], one.predict_proba(rows), atol=1e-10)

    def test_pls(self, tmp_path):
        model = kl.KernelPLS().fit(self.X[::2], self.Y[::2])
        kl.export_onnx(model, tmp_path / "model.onnx")
        found = self.outputs(model, tmp_path / "model.onnx", self.X)
        assert list(found) == ["label", "decision", "features"]
        np.testing.assert_array_equal(found["label"], model.predict(self.X))
        np.testing.assert_allclose(found["decision"], model.decision_function(self.X), atol=1e-10)

    def test_pls_of_numbers(self, tmp_path):
        for y in (self.X[:, 0], self.X[:, :2]):
            model = kl.KernelPLS(target_type="numbers").fit(self.X, y)
            kl.export_onnx(model, tmp_path / "model.onnx")
            found = self.outputs(model, tmp_path / "model.onnx", self.X)
            assert list(found) == ["prediction", "features"]
            np.testing.assert_allclose(found["prediction"], model.predict(self.X), atol=1e-10)

    @pytest.mark.parametrize("name", ["KernelClassifier", "KernelPLS"])
    def test_skl2onnx(self, name, tmp_path):
        model = getattr(kl, name)().set_params(**({"assess": False} if "C" in name else {}))
        model.fit(self.X, self.Y)
        for X in (self.X, self.X.astype(np.float32)):
            path = tmp_path / "model.onnx"
            path.write_bytes(skl2onnx.to_onnx(model, X[:1]).SerializeToString())
            found = self.outputs(model, path, X)
            assert list(found) == ["label", "probabilities"]
            np.testing.assert_array_equal(found["label"], model.predict(X))


class TestFrames:
    @pytest.fixture(autouse=True)
    def frames(self):
        self.pd = pytest.importorskip("pandas")

    def feed(self, run, frame):
        columns = enumerate(run.get_inputs())
        return {column.name: frame.iloc[:, [i]].to_numpy() for i, column in columns}

    def test_columns_that_may_have_holes(self, tmp_path):
        X, y = three
        frame = self.pd.DataFrame(X[:, :2], columns=["a", "b"])
        frame["count"] = self.pd.array(np.arange(len(X)) % 5, dtype="Int64")
        frame.loc[3, "count"] = self.pd.NA
        model = kl.KernelClassifier(quality="fast").fit(frame, y)
        kl.export_onnx(model, tmp_path / "model.onnx", frame[:1])  # no hole in the first row
        run = session(tmp_path / "model.onnx")
        found = run.run(None, self.feed(run, frame.astype(float)))
        np.testing.assert_allclose(found[1], model.predict_proba(frame), atol=1e-10)

    def test_texts_and_categories_that_no_kernel_uses(self, tmp_path):
        X, y = three
        frame = self.pd.DataFrame({"note": "text", "a": X[:, 0], "b": X[:, 6]})
        frame["colour"] = self.pd.Categorical(np.array(["r", "g"])[y % 2])
        bank = [kk.ColumnKernel(kk.Gaussian(), ["a"]), kk.ColumnKernel(kk.Laplacian(), ["b", "a"])]
        model = kl.KernelDiscriminant(bank).fit(frame, y)
        kl.export_onnx(model, tmp_path / "model.onnx", frame)
        run = session(tmp_path / "model.onnx")
        found = run.run(None, self.feed(run, frame.astype({"note": object, "colour": object})))
        np.testing.assert_allclose(found[1], model.predict_proba(frame), atol=1e-10)

    def test_names_that_are_taken_or_not_allowed(self, tmp_path):
        X, y = three
        frame = self.pd.DataFrame(X[:, :4], columns=["label", "a b", "a-b", "X"])
        model = kl.KernelDiscriminant().fit(frame, y)
        kl.export_onnx(model, tmp_path / "model.onnx", frame)
        run = session(tmp_path / "model.onnx")
        assert next(output.name for output in run.get_outputs()) == "label"
        found = run.run(None, self.feed(run, frame))
        np.testing.assert_allclose(found[1], model.predict_proba(frame), atol=1e-10)

    def test_names_that_are_numbers_are_no_names(self, tmp_path):
        X, y = three
        model = kl.KernelDiscriminant().fit(self.pd.DataFrame(X), y)
        kl.export_onnx(model, tmp_path / "model.onnx", self.pd.DataFrame(X))
        found = session(tmp_path / "model.onnx").run(None, {"X": X})
        np.testing.assert_allclose(found[1], model.predict_proba(X), atol=1e-10)

    def test_other_columns_than_those_of_fit_are_refused(self, tmp_path):
        X, y = three
        frame = self.pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
        model = kl.KernelDiscriminant().fit(frame, y)
        for names in (["c", "a", "b"], ["a", "b"]):
            with pytest.raises(OnnxExportError, match=f"columns {', '.join(names)}, and .* a, b, "):
                kl.export_onnx(model, tmp_path / "model.onnx", frame[names])
        with pytest.raises(OnnxExportError, match=r"X has 4 columns, and .* fitted on 3"):
            kl.export_onnx(model, tmp_path / "model.onnx", X[:, :4])


def test_views_stand_side_by_side(tmp_path):
    X, y = three
    views = [X[:, :2], X[:, 2:]]
    model = kl.KernelDiscriminant([kk.Gaussian(), kk.Linear()]).fit(views, y)
    kl.export_onnx(model, tmp_path / "model.onnx", views)
    found = session(tmp_path / "model.onnx").run(None, {"X": X})
    np.testing.assert_allclose(found[1], model.predict_proba(views), atol=1e-10)


class TestPipelines:
    def test_steps_of_scikit_learn(self, tmp_path):
        X, y = load_wine(return_X_y=True)
        model = make_pipeline(StandardScaler(), PCA(6), kl.KernelDiscriminant()).fit(X[::2], y[::2])
        kl.export_onnx(model, tmp_path / "model.onnx", X)
        run = session(tmp_path / "model.onnx")
        found = dict(zip([o.name for o in run.get_outputs()], run.run(None, {"X": X}), strict=True))
        np.testing.assert_array_equal(found["label"], model.predict(X))
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-10)
        np.testing.assert_allclose(found["decision"], model.decision_function(X), rtol=1e-9)

    @pytest.mark.parametrize("features", [kl.HSICSubspace(), kl.KernelDiscriminant()], ids=repr)
    def test_features_for_scikit_learn(self, features, tmp_path):
        X, y = load_wine(return_X_y=True)
        model = make_pipeline(StandardScaler(), features, KNeighborsClassifier(1)).fit(X, y)
        kl.export_onnx(model, tmp_path / "model.onnx", X)
        label = session(tmp_path / "model.onnx").run(None, {"X": X})[0]
        np.testing.assert_array_equal(label, model.predict(X))

    def test_starts_after_the_encoder_and_says_so(self, tmp_path):
        pd, skrub = pytest.importorskip("pandas"), pytest.importorskip("skrub")
        X, y = three
        frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
        frame["when"] = pd.date_range("2020-01-01", periods=len(X), freq="31h")
        model = make_pipeline(
            skrub.Cleaner(), skrub.TableVectorizer(), kl.KernelClassifier(quality="fast")
        )
        model.fit(frame, y)
        for example in (None, frame):
            said = r"starts after Cleaner, TableVectorizer.*pipeline\[:2\]"
            with pytest.warns(UserWarning, match=said):
                kl.export_onnx(model, tmp_path / "model.onnx", example)
            encoded = model[:2].transform(frame).to_numpy(np.float64)
            found = session(tmp_path / "model.onnx").run(None, {"X": encoded})
            np.testing.assert_allclose(found[1], model.predict_proba(frame), atol=1e-10)
        onnx = pytest.importorskip("onnx")
        assert (
            "starts after Cleaner, TableVectorizer" in onnx.load(tmp_path / "model.onnx").doc_string
        )


TO_ONNX = """
{imports}
import numpy as np
import onnxruntime as ort
from sklearn.datasets import load_wine
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_wine(return_X_y=True)
model = make_pipeline(StandardScaler(), kl.KernelDiscriminant()).fit(X, y)
for round in range(2):  # the second finds the converters registered
    for dtype in (np.float32, np.float64):
        onx = skl2onnx.to_onnx(model, X[:1].astype(dtype), options={{"zipmap": False}})
        run = ort.InferenceSession(onx.SerializeToString(), providers=["CPUExecutionProvider"])
        label, probabilities = run.run(None, {{"X": X.astype(dtype)}})
        assert (label == model.predict(X)).all() and probabilities.dtype == dtype
        assert abs(probabilities - model.predict_proba(X)).max() < 1e-5
    onx = skl2onnx.to_onnx(model, X[:1].astype(np.float32))
    run = ort.InferenceSession(onx.SerializeToString(), providers=["CPUExecutionProvider"])
    found = run.run(None, {{"X": X.astype(np.float32)}})[1]
    assert abs(found[0][1] - model.predict_proba(X)[0, 1]) < 1e-5  # a list of dicts
    onx = skl2onnx.to_onnx(model, X[:1])
    run = ort.InferenceSession(onx.SerializeToString(), providers=["CPUExecutionProvider"])
    assert abs(run.run(None, {{"X": X}})[1] - model.predict_proba(X)).max() < 1e-10
"""


@pytest.mark.parametrize(
    "imports",
    ["import kernel_learn as kl\nimport skl2onnx", "import skl2onnx\nimport kernel_learn as kl"],
    ids=["ours first", "skl2onnx first"],
)
def test_to_onnx_of_skl2onnx_knows_our_estimators(imports):
    subprocess.run(
        [sys.executable, "-W", "error", "-c", TO_ONNX.format(imports=imports)], check=True
    )


def converted(model, X, **options):
    onx = skl2onnx.to_onnx(model, X[:1], options=options or None)
    run = session(onx.SerializeToString())
    return run.run(None, {"X": X})


def test_options_of_skl2onnx():
    X, y = named
    model = kl.SubspaceSVC().fit(X, y)
    label, scores = converted(model, X, **{"zipmap": False, "raw_scores": True})
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(scores[:, 1], model.decision_function(X), atol=1e-9)
    _, ill, well = converted(model, X, zipmap="columns")
    np.testing.assert_allclose(np.c_[ill, well], model.predict_proba(X), atol=1e-9)
    number, _ = converted(model, X, nocl=True, zipmap=False)
    np.testing.assert_array_equal(model.classes_[number], label)
    regressor = kl.KernelPLSRegressor().fit(X, X[:, :2])
    np.testing.assert_allclose(converted(regressor, X)[0], regressor.predict(X), atol=1e-9)
    transformer = kl.HSICSubspace().fit(X, y)
    np.testing.assert_allclose(converted(transformer, X)[0], transformer.transform(X), atol=1e-9)


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("estimator", [kl.KernelDiscriminant(), kl.SubspaceSVC()])
@pytest.mark.filterwarnings("ignore")
def test_sets_by_the_thresholds_in_the_metadata(estimator, by_class, tmp_path):
    """Of far rows, too; a coverage that needs more rows excludes nothing."""
    X, y = three
    model = clone(estimator).fit(X[::2], y[::2])
    kl.export_onnx(make_pipeline(model), tmp_path / "model.onnx")
    run = session(tmp_path / "model.onnx")
    told = json.loads(run.get_modelmeta().custom_metadata_map["kernel_learn.sets"])
    assert told["classes"] == [0, 1, 2]
    rows = np.vstack([X, 30 * X[:20]])
    P = run.run(["probabilities"], {"X": rows})[0]
    for coverage, least in told["by_class" if by_class else "probabilities"].items():
        sets = (least <= P) | (P.max(axis=1, keepdims=True) == P)
        sets |= (np.abs(P - told["shares"]).max(axis=1) < told["same"])[:, None]
        expected = model.predict_set(rows, float(coverage), by_class=by_class)
        np.testing.assert_array_equal(sets, expected)
    assert sets.all() and not model.predict_set(X, 0.8).all()
    kl.export_onnx(kl.KernelPLSRegressor().fit(X, y), tmp_path / "numbers.onnx")
    assert not session(tmp_path / "numbers.onnx").get_modelmeta().custom_metadata_map


def test_beside_others():
    X, y = three
    union = FeatureUnion([("learned", kl.HSICSubspace()), ("principal", PCA(2))])
    model = make_pipeline(union, LogisticRegression()).fit(X, y)
    _, probabilities = converted(model, X.astype(np.float32), zipmap=False)
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)


FRESH = """
import sys
import numpy as np
import onnxruntime as ort

known = np.load(sys.argv[2])
run = ort.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
found = run.run(None, {"X": known["X"]})
for output, values in zip(run.get_outputs(), found, strict=True):
    if output.name == "label":
        assert (values == known["label"]).all()
    else:
        error = np.abs(values - known[output.name]).max() / np.abs(known[output.name]).max()
        assert error < 1e-10, (output.name, error)
for name in ("kernel_learn", "sklearn", "skl2onnx", "onnx", "scipy", "pandas"):
    assert name not in sys.modules, name
"""


@pytest.mark.parametrize("estimator", [kl.KernelClassifier(), kl.SubspaceSVC()], ids=repr)
def test_in_a_process_with_onnxruntime_and_numpy_alone(estimator, tmp_path):
    X, y = three
    model = clone(estimator).fit(X[::2], y[::2])
    kl.export_onnx(model, tmp_path / "model.onnx")
    expected = {name: getattr(model, METHODS[name])(X) for name in list(METHODS)[:4]}
    np.savez(tmp_path / "known.npz", X=X, **expected)
    command = [sys.executable, "-c", FRESH, tmp_path / "model.onnx", tmp_path / "known.npz"]
    subprocess.run(command, check=True)


@pytest.mark.parametrize(
    "estimator",
    [
        kl.KernelClassifier(),
        kl.KernelDiscriminant(),
        kl.KernelDiscriminant(kk.Laplacian()),
        kl.KernelDiscriminant(kk.gaussian_bank(10)),
        kl.SubspaceSVC(),
    ],
    ids=lambda e: repr(e)[:50],
)
def test_one_row_takes_less_than_five_milliseconds(estimator, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 30))
    y = (X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + 0.5 * rng.normal(size=500) > 0).astype(int)
    kl.export_onnx(clone(estimator).fit(X, y), tmp_path / "model.onnx")
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    run = ort.InferenceSession(tmp_path / "model.onnx", options)
    times = []
    for row in X[:20]:
        start = time.process_time()
        run.run(None, {"X": row[None, :]})
        times.append(time.process_time() - start)
    assert np.median(times) < 5e-3


class TestRefusals:
    def refused(self, model, match, path, X=None):
        with pytest.raises(OnnxExportError, match=match):
            kl.export_onnx(model, path / "model.onnx", X)
        assert list(path.iterdir()) == []

    def test_strings(self, tmp_path):
        texts = np.array(["ACGT", "ACCT", "GGTA", "GGTT"] * 3, dtype=object)
        model = kl.KernelDiscriminant(kk.Spectrum(2)).fit(texts, [0, 0, 1, 1] * 3)
        self.refused(model, r"compares strings \(Spectrum\)", tmp_path)

    def test_strings_in_a_bank(self, tmp_path):
        pd = pytest.importorskip("pandas")
        texts = ["ACGT", "ACCT", "GGTA", "GGTT"] * 3
        frame = pd.DataFrame({"x": np.arange(12.0), "text": texts})
        bank = [kk.ColumnKernel(kk.Gaussian(), "x"), kk.ColumnKernel(kk.Spectrum(2), "text")]
        model = kl.KernelDiscriminant(bank, weights="uniform").fit(frame, [0, 0, 1, 1] * 3)
        self.refused(model, "kernel Spectrum has no form in ONNX", tmp_path, frame)

    def test_functions(self, tmp_path):
        def own(A, B):
            return A @ B.T

        model = kl.KernelDiscriminant(own).fit(*three)
        self.refused(model, "kernel function own is code", tmp_path)

    def test_others(self, tmp_path):
        X, y = three
        self.refused(
            kl.KernelDiscriminant(RBF()).fit(X, y), "GaussianProcessKernel has no form", tmp_path
        )
        self.refused(
            kl.KernelDiscriminant(kk.GraphDeformed()).fit(X, y), "GraphDeformed has no", tmp_path
        )
        self.refused(
            kl.KernelDiscriminant("precomputed").fit(X @ X.T, y),
            "compares rows of a kernel matrix",
            tmp_path,
        )
        self.refused("model", "takes fitted estimators, not str", tmp_path)
        self.refused(kl.HSICSubspace().fit(X, y), "not rows of numbers", tmp_path, X[0])

    def test_categories_of_a_kernel(self, tmp_path):
        X, y = three
        model = kl.KernelDiscriminant(kk.Additive("all")).fit(np.round(X), y)
        self.refused(model, r"Additive\(categorical=...\) compares categories", tmp_path)

    def test_pairs(self, tmp_path):
        X, pairs = three[0], np.array([[0, 1], [2, 60], [3, 4], [5, 170]])
        model = kl.PairClassifier(kl.InductiveKernel()).fit(X, pairs, [True, False, True, False])
        self.refused(model, "compares two rows at a time", tmp_path)

    def test_classes_made_of_ours(self):
        class Own(kl.HSICSubspace):
            pass

        with pytest.raises(Exception, match="Own"):
            skl2onnx.to_onnx(Own().fit(*three), three[0][:1])

    def test_labels(self, tmp_path):
        X, y = three
        with pytest.raises(OnnxExportError, match=r"labels \[0.5, 1.0\] have no form"):
            label_array([0.5, 1.0])
        assert label_array(np.array([3, 1], dtype=object)).dtype == np.int64
        kl.export_onnx(kl.KernelDiscriminant().fit(X, y > 0), tmp_path / "model.onnx")
        label = session(tmp_path / "model.onnx").run(["label"], {"X": X})[0]
        assert label.dtype == np.int64

    def test_the_missing_extra_is_named(self, tmp_path):
        for name in ("skl2onnx", "onnx"):
            code = (
                f"import sys; sys.modules[{name!r}] = None\n"
                "import kernel_learn as kl\n"
                "try:\n    kl.export_onnx(kl.HSICSubspace(), 'model.onnx')\n"
                "except ImportError as error:\n    print(error)"
            )
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            )
            assert 'pip install "kernel-learn[onnx]"' in done.stdout


def test_skl2onnx_is_not_imported_with_the_library():
    code = (
        "import sys, kernel_learn\n"
        "for name in ('skl2onnx', 'onnx', 'onnxruntime', 'skops', 'skrub'):\n"
        "    assert name not in sys.modules, name"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
