"""All rows of a source at once, and KernelClassifier on them."""

import numpy as np
import pytest
from scipy import sparse

import kernel_learn as kl
from kernel_learn.datasets import Blocks
from kernel_learn.representations.summary import CAPACITY, CAPACITY_BYTES
from kernel_learn.streams.gather import HEAD_SHARE, Room, gather_blocks, join_blocks

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 3))
Y = (X[:, 0] > 0).astype(int)
W = rng.integers(1, 3, 150).astype(float)


def room(n_bytes):
    return Room(int(HEAD_SHARE * n_bytes), is_few=False)


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
    blocks, rest = gather_blocks(source, room(1e9))
    assert rest is None
    rows, y, weight = join_blocks(blocks)
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


def test_blocks_are_gathered_until_they_take_too_much():
    blocks = [(X[i : i + 50], Y[i : i + 50]) for i in range(0, 150, 50)]
    head, rest = gather_blocks(Blocks(blocks), room(2000))
    assert len(head) == 2 and len(list(rest)) == 1


def test_sparse_blocks_take_what_their_entries_take():
    """12 bytes for each of 150 numbers, of which all are entries."""
    blocks = [(sparse.csr_matrix(X[i : i + 50]), Y[i : i + 50]) for i in range(0, 150, 50)]
    assert len(gather_blocks(Blocks(blocks), room(1799))[0]) == 1
    assert len(gather_blocks(Blocks(blocks), room(1801))[0]) == 2


def test_some_blocks_may_have_weights():
    first, second = (X[:5], Y[:5]), (X[5:9], Y[5:9], W[5:9])
    rows, y, weight = join_blocks(
        gather_blocks(Blocks([first, (X[:0], Y[:0]), second]), room(1e9))[0]
    )
    np.testing.assert_array_equal(weight, np.r_[np.ones(5), W[5:9]])
    np.testing.assert_array_equal(rows, X[:9])
    np.testing.assert_array_equal(y, Y[:9])
    with pytest.raises(ValueError, match="no rows"):
        join_blocks(gather_blocks(Blocks([(X[:0], Y[:0])]), room(1e9))[0])


def test_rows_in_the_place_of_a_summary_take_no_more_than_it():
    few, many = Room("100GB"), Room("100GB", is_few=False)
    assert (few.most_rows, few.most_bytes) == (CAPACITY, CAPACITY_BYTES)
    assert (many.most_rows, many.most_bytes) == (np.inf, 1e11 / HEAD_SHARE)
    assert Room(8000).most_bytes == 8000 / HEAD_SHARE
