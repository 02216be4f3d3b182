"""Columns of numbers in one array, others in another, each found at its place."""

import numpy as np
import pytest

from kernel_learn.rows.table import Table, places


def test_each_kind_is_counted_by_itself():
    is_number = np.array([False, True, False, True, False])
    assert places(is_number).tolist() == [-1, 0, -2, 1, -3]


@pytest.fixture
def table():
    rows = [["u", 1.0, "x", 10.0], ["v", 2.0, "y", 20.0], ["w", 3.0, "z", 30.0]]
    return Table.of(np.array(rows, dtype=object), [1, 3])


def test_columns_are_those_that_were_given(table):
    assert table.shape == (3, 4) and table.numbers.tolist() == [[1, 10], [2, 20], [3, 30]]
    columns = [table.column(c).tolist() for c in range(4)]
    assert columns == [["u", "v", "w"], [1, 2, 3], ["x", "y", "z"], [10, 20, 30]]
    assert table[1:].column(2).tolist() == ["y", "z"]


@pytest.mark.parametrize("columns", [[2, 3], [3, 1], [2, 0], [3, 2, 0]])
def test_some_columns_in_their_order(table, columns):
    some = table.select(columns)
    for c, own in enumerate(columns):
        assert some.column(c).tolist() == table.column(own).tolist()


def test_single_precision_is_kept_if_all_numbers_have_it():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": np.ones(2, np.float32), "b": ["x", "y"]})
    assert Table.of(frame).dtype == np.float32
    assert Table.of(frame.assign(c=1.0)).dtype == np.float64
