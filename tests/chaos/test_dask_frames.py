"""Frames of Dask whose partitions are not alike: the model of one process, or a sentence.

Workers that are lost in each phase, and memory that is short: tests/streams/test_dask_cluster.py.
"""

import numpy as np
import pytest

import kernel_learn as kl
from chaos.faults import record

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.normal(size=(1200, 3)), columns=list("abc"))
frame["target"] = (frame["a"] > 0).astype(int)
new = frame.loc[:20, ["a", "b", "c"]]


def in_partitions(change):
    """Six partitions of which some are changed."""
    parts = [frame.iloc[i * 200 : (i + 1) * 200] for i in range(6)]
    meta = frame.iloc[:0]
    return dd.from_delayed(
        [dask.delayed(change)(i, part) for i, part in enumerate(parts)],
        meta=meta,
        verify_meta=False,
    )


CHANGES = {
    "empty partitions": (lambda i, part: part.iloc[:0] if i in (0, 3, 5) else part, "answer"),
    "all partitions empty": (lambda i, part: part.iloc[:0], "sentence"),
    "float32 in one": (
        lambda i, part: part.astype({"a": "float32"}) if i == 2 else part,
        "answer",
    ),
    "whole numbers in one": (
        lambda i, part: part.assign(b=(10 * part["b"]).astype(int)) if i == 2 else part,
        "answer",
    ),
    "texts in one": (lambda i, part: part.assign(b="x") if i == 2 else part, "sentence"),
    "a category in one": (
        lambda i, part: part.assign(b=pd.Categorical(["x"] * len(part))) if i == 2 else part,
        "sentence",
    ),
    "a column gone in one": (
        lambda i, part: part.drop(columns="b") if i == 2 else part,
        "sentence",
    ),
    "another order of columns in one": (
        lambda i, part: part[part.columns[::-1]] if i == 2 else part,
        "either",
    ),
    "NaN in one": (lambda i, part: part.assign(b=np.nan) if i == 2 else part, "sentence"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_partitions_that_are_not_alike(name):
    change, due = CHANGES[name]
    given = in_partitions(change)
    model = kl.KernelDiscriminant(landmarks=40, random_state=0)
    parts = [change(i, frame.iloc[i * 200 : (i + 1) * 200]) for i in range(6)]
    try:
        with dask.config.set(scheduler="sync"):
            found = model.fit(given, "target").transform(new)
    except (ValueError, TypeError) as error:
        assert due != "answer", error
        assert "Traceback" not in str(error) and len(str(error)) < 1500
        record(name, "a Dask frame", "a sentence")
        return
    assert due != "sentence"
    whole = pd.concat(parts)
    expected = clone_of(model).fit(whole[["a", "b", "c"]], whole["target"]).transform(new)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-6)
    record(name, "a Dask frame", "the model of one process")


def clone_of(model):
    return kl.KernelDiscriminant(**model.get_params(deep=False))


def test_parquet_read_by_dask(tmp_path):
    frame.to_parquet(tmp_path / "0.parquet")
    frame.iloc[:0].to_parquet(tmp_path / "1.parquet")
    frame.iloc[:7].to_parquet(tmp_path / "2.parquet")
    model = kl.KernelDiscriminant(landmarks=40, random_state=0)
    with dask.config.set(scheduler="sync"):
        found = model.fit(dd.read_parquet(tmp_path), "target").transform(new)
    whole = pd.concat([frame, frame.iloc[:7]])
    expected = clone_of(model).fit(whole[["a", "b", "c"]], whole["target"]).transform(new)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-6)
    record("Parquet with an empty file", "dd.read_parquet", "the model of one process")
