"""Dask frames as readers give them: rows, labels and weights with the same blocks."""

import numpy as np
import pytest

import kernel_learn as kl
from kernel_learn.streams import gather

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
dd = pytest.importorskip("dask.dataframe")

RNG = np.random.default_rng(0)
NAMES = [f"c{c}" for c in range(30)]


@pytest.fixture
def frame(tmp_path, monkeypatch):
    """Six files of many columns: reads of a few of them are fused if Dask may."""
    monkeypatch.setattr(gather, "CAPACITY", 50)
    for i in range(6):
        part = pd.DataFrame(RNG.normal(size=(100, 30)), columns=NAMES)
        part["label"], part["weight"] = (part.c0 > 0).astype(int), 1.0 + (part.c1 > 0)
        part.to_parquet(tmp_path / f"{i}.parquet")
    return dd.read_parquet(tmp_path)


@pytest.mark.parametrize("weighted", [False, True])
def test_columns_of_files(frame, weighted):
    X, y, weight = frame[NAMES[:3]], frame["label"], frame["weight"] if weighted else None
    assert y.optimize().npartitions < y.npartitions  # as it is fused
    model = kl.KernelDiscriminant(landmarks=30, reg=1e-3, random_state=0)
    found = model.fit(X, y, sample_weight=weight).decision_function(X).compute()
    score = model.score(X, y, sample_weight=weight)
    rows, labels = X.compute(), y.compute()
    w = None if weight is None else weight.compute()
    expected = kl.KernelDiscriminant(landmarks=30, reg=1e-3, random_state=0)
    expected.fit(rows, labels, sample_weight=w)
    np.testing.assert_allclose(found, expected.decision_function(rows), atol=1e-7)
    assert score == pytest.approx(expected.score(rows, labels, sample_weight=w))


def test_columns_that_are_computed(frame):
    X, y = frame[NAMES[:3]] * 2, (frame["c3"] > 0).astype(int)
    model = kl.KernelDiscriminant(landmarks=30, reg=1e-3, random_state=0).fit(X, y)
    expected = kl.KernelDiscriminant(landmarks=30, reg=1e-3, random_state=0)
    expected.fit(X.compute(), y.compute())
    assert model.score(X, y) == pytest.approx(expected.score(X.compute(), y.compute()))


def test_arrays_with_as_many_blocks_of_other_sizes():
    """Whose sizes are not known: the first block tells."""
    da = pytest.importorskip("dask.array")
    X = RNG.normal(size=(600, 3))
    y = (X[:, 0] > 0).astype(int)

    def unknown(values, chunks):
        own = da.from_array(values, chunks=(chunks, *values.shape[1:]))
        own._chunks = ((np.nan,) * len(chunks), *own.chunks[1:])
        return own

    model = kl.KernelDiscriminant(landmarks=30, reg=1e-3, random_state=0)
    model.fit(unknown(X, (200, 400)), unknown(y, (300, 300)))
    expected = kl.KernelDiscriminant(landmarks=30, reg=1e-3, random_state=0).fit(X, y)
    a, b = expected.decision_function(X), model.decision_function(X)
    np.testing.assert_allclose(b, a, atol=1e-9 * np.abs(a).max())


@pytest.mark.parametrize("kinds", [("array", "array"), ("frame", "array"), ("array", "frame")])
def test_arrays_of_files(frame, kinds):
    """Arrays have the blocks of reads that were fused, each of its own columns."""
    parts = [frame[NAMES[:3]], frame["label"], frame["weight"]]
    own = [parts[0].values if kinds[0] == "array" else parts[0]]
    own += [part.values if kinds[1] == "array" else part for part in parts[1:]]
    rows, labels, weight = (np.asarray(part.compute()) for part in parts)
    model = kl.KernelDiscriminant(landmarks=30, reg=1e-3, random_state=0)
    model.fit(own[0], own[1], sample_weight=own[2])
    expected = kl.KernelDiscriminant(landmarks=30, reg=1e-3, random_state=0)
    expected.fit(rows, labels, sample_weight=weight)
    a, b = expected.decision_function(rows), model.decision_function(own[0]).compute()
    np.testing.assert_allclose(b, a, atol=1e-9 * np.abs(a).max())
    found = model.score(own[0], own[1], sample_weight=own[2])
    assert found == pytest.approx(expected.score(rows, labels, sample_weight=weight))


def test_numbers_of_rows_that_differ(frame):
    with pytest.raises(ValueError, match="X has 600 rows and y has 500"):
        short = frame.partitions[:5]["label"].values
        kl.KernelDiscriminant(landmarks=30).fit(frame[NAMES[:3]].values, short)
