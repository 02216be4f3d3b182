"""What was read: each row, label and weight at its place, however the rows are cut."""

import numpy as np
import pytest

from kernel_learn.rows.digest import PassDigest, label_keys
from kernel_learn.rows.keys import digest, row_keys

X = np.arange(24.0).reshape(8, 3)
Y = np.array([0, 1, 1, 0, 2, 0, 1, 2])
W = np.array([1.0, 2.0, 3.0, 1.0, 0.5, 1.0, 2.0, 4.0])
NAMES = np.array(["a", "b", "c"])


def read(X=X, Y=Y, W=W, cuts=()):
    """The sum of the digests of blocks."""
    total, places = PassDigest(), np.arange(len(Y))
    for part in np.split(places, cuts):
        keys, labels = row_keys(X[part]), label_keys(NAMES, Y[part])
        total += PassDigest.of(keys, labels, W[part], places[part])
    return total


@pytest.mark.parametrize("cuts", [(1,), (3, 5), (0, 8), range(1, 8)])
def test_blocks_add_up(cuts):
    assert read(cuts=list(cuts)) == read()
    assert read().n == 8 and read().text == digest(row_keys(X))


def swapped(values, i, j):
    found = values.copy()
    found[[i, j]] = found[[j, i]]
    return found


@pytest.mark.parametrize(
    ("other", "names"),
    [
        (read(), []),
        (read(X[:7], Y[:7], W[:7]), ["number"]),
        (read(swapped(X, 0, 5)), ["order"]),  # of one label and weight
        (read(swapped(X, 1, 4), swapped(Y, 1, 4), swapped(W, 1, 4)), ["order"]),
        (read(X + 1), ["rows"]),
        (read(Y=swapped(Y, 0, 1)), ["labels"]),  # as many of each
        (read(W=swapped(W, 1, 2)), ["weights"]),  # with the same sum
        (read(W=np.ones(8)), ["weights"]),
        (read(X + 1, swapped(Y, 0, 1), W + 1), ["rows", "labels", "weights"]),
    ],
)
def test_what_differs_is_named(other, names):
    assert other.differing(read()) == read().differing(other) == names
    if names:
        with pytest.raises(ValueError, match="in a later pass"):
            other.check_pass(read())
        assert "the checkpoint" in other.said_of_checkpoint(read())
    else:
        other.check_pass(read())
        assert other.said_of_checkpoint(read()) == ""


def test_weights_of_one_are_none():
    assert read(W=np.ones(8)).weights == 0 != read().weights


def test_labels_are_told_apart_by_value_and_not_by_type():
    places = np.arange(2)
    whole = label_keys(np.array([1, 2]), places)
    np.testing.assert_array_equal(whole, label_keys(np.array([1.0, 2.0]), places))
    halves, texts = (
        label_keys(np.array([1.5, 2.0]), places),
        label_keys(np.array(["1", "2"]), places),
    )
    assert halves[0] != whole[0] and halves[1] == whole[1]
    assert not np.isin(texts, whole).any()
