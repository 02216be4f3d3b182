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
