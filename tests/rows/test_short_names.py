"""Names cut to a width differ where the whole ones do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_learn.rows.short_names import shorten, shorten_all


def test_a_name_keeps_its_beginning_and_its_end():
    assert shorten("a_long_name_1", 7) == "a_lo…_1" and shorten("short", 7) == "short"


@pytest.mark.parametrize("most", [12, 16, 22])
def test_names_that_differ_in_their_middle_still_do(most):
    names = [f"measurement_of_component_{i:02d}_in_batch_A" for i in range(30)]
    found = shorten_all(names, most)
    assert len(set(found)) == 30 and max(map(len, found)) <= most
    assert all(f"{i:02d}" in short for i, short in enumerate(found))


def test_names_that_differ_in_one_word_far_away_are_numbered():
    names = ["x" * 40 + "a" * i + "y" * 40 + "z" * 20 for i in range(3)]
    assert len(set(shorten_all(names, 12))) == 3


@given(st.lists(st.text("abc", min_size=1, max_size=40), max_size=8, unique=True))
def test_short_names_are_short_and_told_apart(names):
    found = shorten_all(names, 14)
    assert len(set(found)) == len(names) and all(len(short) <= 14 for short in found)
