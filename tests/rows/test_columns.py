"""Cells as numbers and codes: levels of fit, and one form of what is missing."""

import numpy as np

from kernel_learn.rows.codes import level_codes
from kernel_learn.rows.columns import finite, known_codes


def test_levels_that_were_not_seen_are_none_of_the_known_ones():
    given = np.array(["b", "c", "a", None, "0"], dtype=object)
    levels = level_codes(np.array(["a", "b"], dtype=object))[0]
    assert known_codes(given, levels).tolist() == [1, -2, 0, -1, -2]
    assert known_codes(given, levels[:0]).tolist() == [-2, -2, -2, -1, -2]


def test_equal_numbers_are_one_level():
    given = np.array([0.0, -0.0, 0, False, np.float32(-0.0), "0.0", -1.0], dtype=object)
    levels, codes = level_codes(given)
    assert levels.tolist() == ["n-1.0", "n0.0", "s0.0"]
    assert codes.tolist() == [1, 1, 1, 1, 1, 2, 0]


def test_zero_of_an_earlier_file():
    """Earlier versions had two levels for it, or the other one."""
    given = np.array([0.0, -0.0, 1.0], dtype=object)
    assert known_codes(given, np.array(["n-0.0", "n1.0"])).tolist() == [0, 0, 1]
    assert known_codes(given, np.array(["n-0.0", "n0.0", "n1.0"])).tolist() == [1, 1, 2]


def test_missing_numbers_are_alike_to_the_bit():
    numbers = np.array([[np.nan, 1.0], [-np.nan, 2.0]])
    bits = finite(numbers)[:, 0].copy().view(np.uint64)
    assert bits[0] == bits[1]
