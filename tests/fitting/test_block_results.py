"""Results written block by block: one file, whatever the blocks are."""

from types import SimpleNamespace

import numpy as np
import pytest

import kernel_learn as kl
from extras import optional
from kernel_learn.datasets import Blocks
from kernel_learn.streams.result_files import result_names, write_results

pd = optional("pandas")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]


def written(blocks, folder, classes=()):
    model = SimpleNamespace(classes_=np.array(classes, dtype=object))
    names = result_names(model, "predict")
    path = write_results(iter(blocks), folder / "out.npy", names)
    return np.load(path, allow_pickle=False)


def test_texts_are_as_wide_as_the_longest_class(tmp_path):
    """Whichever comes first: the blocks of a file are of one type."""
    blocks = [np.array(["a", "bc"], object), np.array(["longest"], object)]
    found = written(blocks, tmp_path, ["a", "bc", "longest", "not predicted"])
    assert found.dtype == "<U13" and found.tolist() == ["a", "bc", "longest"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_blocks_have_the_type_of_the_first(dtype, tmp_path):
    blocks = [np.ones((2, 3), dtype), np.full((0, 3), 2.0), np.full((1, 3), 3.0)]
    found = written(blocks, tmp_path)
    assert found.dtype == dtype and found.tolist() == [[1.0] * 3, [1.0] * 3, [3.0] * 3]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_have_names_and_all_rows(kind, tmp_path):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    model = kl.KernelDiscriminant(reg=0.1).fit(X, Y)
    source = Blocks([X[i : i + 20] for i in range(0, 90, 20)])
    read = getattr(pd, f"read_{kind}")
    found = read(model.predict(source, out=tmp_path / f"labels.{kind}"))
    assert found.columns.tolist() == ["prediction"]
    np.testing.assert_array_equal(found["prediction"], model.predict(X))
    found = read(model.predict_proba(X, out=tmp_path / f"proba.{kind}"))
    assert found.columns.tolist() == ["predict_proba_no", "predict_proba_yes"]
    np.testing.assert_array_equal(found.to_numpy(), model.predict_proba(X))
    found = read(model.transform(X, out=tmp_path / f"features.{kind}"))
    assert found.columns.tolist() == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(found.to_numpy(), model.transform(X))


def test_other_files_are_refused_before_anything_is_read(tmp_path):
    model = kl.KernelDiscriminant(reg=0.1).fit(X, Y)
    source = Blocks(iter([X]))
    with pytest.raises(ValueError, match=r"end in .npy, .csv, .parquet"):
        model.predict(source, out=tmp_path / "labels.xlsx")
    assert len(next(model.predict(source))) == 90 and not list(tmp_path.iterdir())
