"""Which targets are classes, numbers or sets of labels, and sets as zeros and ones."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_diabetes

from extras import optional
from kernel_learn.rows.targets import binarise, tell_targets

pd = optional("pandas")

COUNTS = np.arange(60) // 2  # 30 values, two rows each

KINDS = {
    "texts": (["a", "b"] * 5, "classes"),
    "categories": (pd.Series(["a", "b"] * 5, dtype="category"), "classes"),
    "truth values": ([True, False] * 30, "classes"),
    "few whole numbers": (np.arange(60) % 20, "classes"),
    "whole numbers as floats": ((np.arange(60) % 3).astype(float), "classes"),
    "whole numbers as objects": (np.array([1, 2] * 9, dtype=object), "classes"),
    "many classes of five rows": (np.repeat(np.arange(30), 5), "classes"),
    "twenty values of one row": (np.arange(20), "classes"),
    "real numbers": (np.linspace(0, 1, 9), "numbers"),
    "real numbers as objects": (np.array([0.5, 1, 2.5], dtype=object), "numbers"),
    "real numbers and holes": ([0.5, np.nan, 2.0], "numbers"),
    "one column of real numbers": (np.linspace(0, 1, 9)[:, None], "numbers"),
    "numbers too large to be anything but whole": (np.linspace(1, 2, 9) * 1e20, "numbers"),
    "large codes": (np.array([2**60, 2**60 + 1] * 9), "classes"),
    "several numbers": (np.linspace(0, 9, 18).reshape(9, 2), "numbers"),
    "several whole numbers": (np.arange(18).reshape(9, 2), "numbers"),
    "an indicator": (np.eye(3)[[0, 1, 2, 0]], "labels"),
    "an indicator of truth values": (np.eye(3)[[0, 1, 2, 0]] > 0, "labels"),
    "a sparse indicator": (sparse.csr_array(np.eye(3)), "labels"),
    "sets": ([{"a"}, {"a", "b"}, set()], "labels"),
    "lists": ([["a"], ["a", "b"], []], "labels"),
    "lists in a series": (pd.Series([["a"], ["b"]]), "labels"),
    "pairs of texts": ([["a", "b"], ["b", "c"]], "labels"),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_rule(name):
    y, kind = KINDS[name]
    assert tell_targets(y)[::2] == (kind, False)


@pytest.mark.parametrize("dtype", [int, float, np.uint8, object, "Int64"])
def test_whole_numbers_of_many_values_are_a_guess_whatever_their_type(dtype):
    y = pd.Series(COUNTS).astype(dtype)
    found = tell_targets(y if dtype == "Int64" else y.to_numpy())
    assert found == ("numbers", "it has 30 different whole numbers in 60 rows", True)
    order = np.random.default_rng(0).permutation(60)
    assert tell_targets(COUNTS[order].astype(float)) == found


def test_diabetes_is_numbers():
    assert tell_targets(load_diabetes().target) == (
        "numbers",
        "it has 214 different whole numbers in 442 rows",
        True,
    )


def test_sets_of_labels_as_zeros_and_ones():
    labels, Y = binarise([["b"], ["a", "c"], [], ["c", "b"]])
    assert labels.tolist() == ["a", "b", "c"]
    assert_array_equal(Y, [[0, 1, 0], [1, 0, 1], [0, 0, 0], [0, 1, 1]])
    for same in (Y, Y > 0, sparse.csr_matrix(Y), Y.astype(int).tolist()):
        labels, again = binarise(same)
        assert_array_equal(again, Y)
        assert again.dtype == float
        assert_array_equal(labels, [0, 1, 2])
    assert_array_equal(binarise([["a", "b"], ["b", "c"]])[1], [[1, 1, 0], [0, 1, 1]])


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([[0, 2], [1, 0]], "values other than 0 and 1"),
        ([[0, np.nan], [1, 0]], "values other than 0 and 1"),
        ([{"a"}, {1}], "types int, str"),
        (["a", "b"], r"shape \(2, 1\)"),
    ],
)
def test_what_is_no_set_of_labels(y, said):
    with pytest.raises(ValueError, match=said):
        binarise(y)
