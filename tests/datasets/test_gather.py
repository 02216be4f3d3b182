"""All rows of a source at once, and KernelClassifier on them."""

import numpy as np
import pytest
from scipy import sparse

import kernel_learn as kl
from kernel_learn.datasets import Blocks
from kernel_learn.datasets.gather import gather_rows

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 3))
Y = (X[:, 0] > 0).astype(int)
W = rng.integers(1, 3, 150).astype(float)


def frames(kind):
    if kind == "array":
        return X, lambda part: X[part]
    if kind == "csr":
        S = sparse.csr_matrix(X)
        return S, lambda part: S[part]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abc"))
    frame["colour"] = np.where(X[:, 1] > 0, "red", "blue")
    if kind == "pandas":
        return frame, lambda part: frame.iloc[part]
    if kind == "polars":
        own = pytest.importorskip("polars").from_pandas(frame)
        return own, lambda part: own[part]
    own = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    return own, lambda part: own.slice(part.start, 40)


@pytest.mark.parametrize("kind", ["array", "csr", "pandas", "polars", "arrow"])
def test_rows_of_all_kinds_are_put_together(kind):
    whole, take = frames(kind)
    parts = [slice(i, i + 40) for i in range(0, 150, 40)]
    source = Blocks([(take(part), Y[part], W[part]) for part in parts])
    rows, y, weight = gather_rows(source, 1e9, "it")
    assert type(rows) is type(whole) and rows.shape == whole.shape
    np.testing.assert_array_equal(y, Y)
    np.testing.assert_array_equal(weight, W)


def test_a_classifier_on_a_source_is_that_of_its_rows():
    whole, take = frames("pandas")
    parts = [slice(i, i + 40) for i in range(0, 150, 40)]

    def blocks():
        for part in parts:
            yield take(part), Y[part]

    options = {"quality": "fast", "random_state": 0}
    model = kl.KernelClassifier(**options).fit(blocks)
    same = kl.KernelClassifier(**options).fit(whole, Y)
    np.testing.assert_array_equal(model.predict_proba(whole), same.predict_proba(whole))
    once = list(model.predict_proba(blocks))
    np.testing.assert_allclose(np.vstack(once), same.predict_proba(whole), atol=1e-10)
    with pytest.raises(ValueError, match="pass it alone"):
        kl.KernelClassifier().fit(blocks, Y)
    with pytest.raises(ValueError, match=r"keeps its rows, and the first 40 of this source"):
        kl.KernelClassifier(memory_budget="2kB").fit(blocks)


def test_blocks_that_do_not_fit_together_are_named():
    def gather(*blocks):
        return gather_rows(Blocks(list(blocks)), 1e9, "it")

    good = (X[:5], Y[:5])
    with pytest.raises(ValueError, match="Block 1: its rows are ndarray of 2 columns"):
        gather(good, (X[:5, :2], Y[:5]))
    with pytest.raises(ValueError, match="Block 1: it has 5 rows and 4 labels"):
        gather(good, (X[:5], Y[:4]))
    with pytest.raises(ValueError, match="Block 1: it has 5 rows and no labels"):
        gather(good, X[:5])
    with pytest.raises(ValueError, match="Block 1: some blocks have weights"):
        gather(good, (X[:5], Y[:5], W[:5]))
    with pytest.raises(ValueError, match="no rows"):
        gather((X[:0], Y[:0]))
