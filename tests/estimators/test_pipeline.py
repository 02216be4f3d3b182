"""Pipelines on sources: the model of the same rows in memory, for steps of ours and of others."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline as make_row_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, PowerTransformer, StandardScaler

import kernel_learn as kl
from extras import optional
from kernel_learn.datasets import Blocks, ParquetSource
from kernel_learn.estimators.pipeline import Pipeline
from kernel_learn.kernels import Gaussian
from kernel_learn.streams import gather
from mixed_tables import cut, frame_of, make_rows

ROWS = make_rows(300)
Y = (ROWS[:, 2] == "x").astype(int) + (ROWS[:, 1] > 4).astype(int)
NUMBERS = np.random.default_rng(0).normal(size=(300, 4)) * [1, 10, 100, 1000] + 5
LABELS = (NUMBERS[:, 0] > 5).astype(int)


def source_of(X, y, size=37, weight=None):
    parts = [cut(X, size), cut(y, size), *([] if weight is None else [cut(weight, size)])]
    return Blocks(list(zip(*parts, strict=True)))


def discriminant():
    return kl.KernelDiscriminant(Gaussian(0.05), landmarks=40, reg=1e-3, random_state=0)


@pytest.fixture(autouse=True)
def few_held(monkeypatch):
    """So few rows are held that these sources are streams."""
    monkeypatch.setattr(gather, "CAPACITY", 50)


@pytest.mark.parametrize("make", [kl.make_pipeline, make_row_pipeline])
def test_a_source_gives_the_model_of_the_rows(make):
    """scikit-learn's own pipeline too, if the first step is the encoder."""
    expected = make(kl.TableEncoder(), discriminant()).fit(ROWS, Y)
    source = source_of(ROWS, Y)
    found = make(kl.TableEncoder(), discriminant()).fit(source)
    a, b = (m.decision_function(ROWS) for m in (expected, found))
    np.testing.assert_allclose(a, b, atol=1e-7 * np.abs(a).max())
    assert found.score(source) == pytest.approx(expected.score(ROWS, Y))
    np.testing.assert_array_equal(np.concatenate(list(found.predict(source))), found.predict(ROWS))


LIBRARIES = {
    "objects": lambda rows: rows,
    "pandas": frame_of,
    "polars": lambda rows: optional("polars").from_pandas(frame_of(rows)),
    "arrow": lambda rows: optional("pyarrow").Table.from_pandas(frame_of(rows)),
}


def mixed_model():
    return kl.make_pipeline(kl.TableEncoder(), discriminant().set_params(decision="centroid"))


def assert_same(found, rows, expected):
    """The encoder to the bit, decisions to 1e-12 of the largest."""
    np.testing.assert_array_equal(found[0].transform(rows), expected[0].transform(ROWS))
    a, b = expected.decision_function(ROWS), found.decision_function(rows)
    np.testing.assert_allclose(b, a, atol=1e-12 * np.abs(a).max(), rtol=0)


@given(
    st.integers(5, 300),
    st.permutations(range(6)),
    st.sampled_from(sorted(LIBRARIES)),
    st.booleans(),
)
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_library_blocks_and_order(size, order, library, weighted):
    """Arrays, frames and sources of either give one model."""
    parts = np.array_split(np.arange(300), 6)
    mixed = np.concatenate([parts[i] for i in order])
    weight = 1.0 + np.arange(300) % 3 if weighted else None
    own = {} if weight is None else {"kerneldiscriminant__sample_weight": weight}
    if weighted:  # the steps of a pipeline in memory are given their weights one by one
        own["tableencoder__sample_weight"] = weight
    expected = mixed_model().fit(ROWS, Y, **own)
    rows = [LIBRARIES[library](own) for own in cut(ROWS[mixed], size)]
    blocks = [rows, cut(Y[mixed], size)]
    blocks += [] if weight is None else [cut(weight[mixed], size)]
    everything = LIBRARIES[library](ROWS)
    assert_same(mixed_model().fit(Blocks(list(zip(*blocks, strict=True)))), everything, expected)
    assert_same(mixed_model().fit(everything, Y, **own), everything, expected)


@pytest.mark.parametrize("n", [1, 5])
def test_partitions_of_dask(n):
    """The same on workers."""
    dask_frames = pytest.importorskip("dask.dataframe")
    frame = dask_frames.from_pandas(frame_of(ROWS).assign(label=Y), npartitions=n)
    found, expected = mixed_model().fit(frame, "label"), mixed_model().fit(ROWS, Y)
    assert_same(found, frame_of(ROWS), expected)


def test_parquet_files_of_mixed_columns(tmp_path):
    pytest.importorskip("pyarrow")
    frame = frame_of(ROWS)
    frame.assign(label=Y).to_parquet(tmp_path / "rows.parquet", row_group_size=60)
    source = ParquetSource(tmp_path / "rows.parquet", target="label")
    found = kl.make_pipeline(kl.TableEncoder(), discriminant()).fit(source)
    expected = kl.make_pipeline(kl.TableEncoder(), discriminant()).fit(frame, Y)
    a, b = expected.predict_proba(frame), np.vstack(list(found.predict_proba(source)))
    np.testing.assert_allclose(a, b, atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_steps_of_scikit_learn(weighted):
    weight = np.tile([1.0, 2.0, 3.0], 100) if weighted else None
    steps = (StandardScaler(), Normalizer(), "passthrough", discriminant())
    found = kl.make_pipeline(*steps).fit(source_of(NUMBERS, LABELS, weight=weight))
    scaler = StandardScaler().fit(NUMBERS, sample_weight=weight)
    np.testing.assert_allclose(found[0].mean_, scaler.mean_, rtol=1e-12)
    np.testing.assert_allclose(found[0].scale_, scaler.scale_, rtol=1e-12)
    rows = Normalizer().fit_transform(found[0].transform(NUMBERS))
    expected = discriminant().fit(rows, LABELS, sample_weight=weight).decision_function(rows)
    np.testing.assert_allclose(found.decision_function(NUMBERS), expected, rtol=1e-6, atol=1e-6)
    assert not hasattr(steps[0], "mean_")  # what was given is not fitted


def test_rows_in_memory_are_scikit_learns():
    """To rounding of the means, which may choose other landmarks: here all rows are."""
    last = kl.KernelDiscriminant(Gaussian(0.05), reg=1e-3)
    a = kl.make_pipeline(StandardScaler(), last).fit(NUMBERS, LABELS)
    b = make_row_pipeline(StandardScaler(), last).fit(NUMBERS, LABELS)
    found, expected = a.predict_proba(NUMBERS), b.predict_proba(NUMBERS)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert a.score(NUMBERS, LABELS) == b.score(NUMBERS, LABELS)
    a = kl.make_pipeline(MinMaxScaler(), discriminant()).fit(NUMBERS, LABELS)
    b = make_row_pipeline(MinMaxScaler(), discriminant()).fit(NUMBERS, LABELS)
    np.testing.assert_array_equal(a.predict_proba(NUMBERS), b.predict_proba(NUMBERS))
    assert not hasattr(kl.make_pipeline(StandardScaler()), "predict")


def test_transformed_sources():
    model = kl.make_pipeline(StandardScaler(), discriminant())
    source = source_of(NUMBERS, LABELS)
    blocks = list(model.fit_transform(source).read(10))
    np.testing.assert_array_equal(np.concatenate([b.y for b in blocks]), LABELS)
    np.testing.assert_array_equal(
        np.vstack([b.X for b in blocks]), np.vstack([model.transform(b.X) for b in source.read(1)])
    )


def test_results_go_to_a_file(tmp_path):
    source = source_of(NUMBERS, LABELS)
    model = kl.make_pipeline(StandardScaler(), discriminant()).fit(source)
    path = model.predict(source, out=tmp_path / "found.npy")
    np.testing.assert_array_equal(np.load(path), model.predict(NUMBERS))


def test_dask(tmp_path):
    pytest.importorskip("pyarrow")
    dask_frames = pytest.importorskip("dask.dataframe")
    frame = frame_of(ROWS).assign(label=Y)
    for i, part in enumerate(cut(frame, 60)):
        part.to_parquet(tmp_path / f"{i}.parquet")
    d = dask_frames.read_parquet(tmp_path)
    found = kl.make_pipeline(kl.TableEncoder(), discriminant()).fit(d, "label")
    expected = kl.make_pipeline(kl.TableEncoder(), discriminant()).fit(ROWS, Y)
    assert found.score(d, "label") == pytest.approx(expected.score(ROWS, Y))
    proba = found.predict_proba(d.drop(columns="label")).compute()
    np.testing.assert_allclose(proba, expected.predict_proba(ROWS), atol=1e-6)


class TestRefusals:
    def refuses(self, words, *steps, source=None, **params):
        model = kl.make_pipeline(*steps)
        with pytest.raises(ValueError, match=words):
            model.fit(source_of(NUMBERS, LABELS) if source is None else source, **params)
        assert not hasattr(model[0], "mean_")

    def test_steps_that_need_all_rows(self):
        self.refuses("PowerTransformer learns from all", PowerTransformer(), discriminant())
        self.refuses("LogisticRegression learns from all", StandardScaler(), LogisticRegression())

    def test_sources_that_are_read_once(self):
        rows = iter([(NUMBERS, LABELS)])
        self.refuses("read once, and a pipeline", StandardScaler(), discriminant(), source=rows)

    def test_parameters_of_steps(self):
        steps = StandardScaler(), discriminant()
        self.refuses("kerneldiscriminant__check cannot", *steps, kerneldiscriminant__check=1)

    def test_memory(self):
        model = Pipeline([("scale", StandardScaler()), ("fit", discriminant())], memory="folder")
        with pytest.raises(ValueError, match="memory"):
            model.fit(source_of(NUMBERS, LABELS))

    def test_no_rows(self):
        self.refuses("no rows", StandardScaler(), discriminant(), source=Blocks([]))


def test_saved_with_its_steps(tmp_path):
    pytest.importorskip("skops")
    model = kl.make_pipeline(kl.TableEncoder(), discriminant()).fit(source_of(ROWS, Y))
    kl.save(model, tmp_path / "model.kl")
    other = kl.load(tmp_path / "model.kl")
    assert type(other) is Pipeline
    np.testing.assert_array_equal(other.predict(ROWS), model.predict(ROWS))


def test_the_pipeline_of_scikit_learn_is_told_of_ours():
    """Where its first step needs an array."""

    source = kl.Blocks([(np.eye(4), [0, 1, 0, 1])])
    for rows in (source, source.split()[0]):
        with pytest.raises(TypeError, match=r"read in blocks.* kernel_learn\.make_pipeline"):
            make_row_pipeline(StandardScaler(), kl.KernelDiscriminant(landmarks=2)).fit(rows)


def test_texts_in_a_source_are_told_of_the_encoder():
    rows = np.array([["x", 1.0], ["y", 2.0]] * 4, dtype=object)
    with pytest.raises(ValueError, match=r"kernel_learn\.TableEncoder"):
        kl.KernelDiscriminant(landmarks=2).fit(Blocks([(rows, [0, 1] * 4)]))
