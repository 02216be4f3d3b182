"""Sums without rounding, beside those of fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel_learn.rows import exact_sums
from kernel_learn.rows.exact_sums import exact_moments, exact_sum, exact_value, two_product

NUMBERS = st.floats(-1e140, 1e140, allow_subnormal=True)
MODERATE = st.floats(-1e20, 1e20).filter(lambda x: x == 0 or abs(x) > 1e-20)


@given(st.lists(NUMBERS, max_size=40))
def test_the_sum_is_exact(values):
    expected = sum((Fraction(v) for v in values), Fraction(0))
    assert exact_value(exact_sum(np.array(values))) == expected


@given(st.lists(NUMBERS, min_size=1, max_size=40), st.integers(1, 7))
def test_so_are_parts_and_any_order(values, size):
    A = np.array(values)
    parts = sum(exact_sum(A[i : i + size]) for i in range(0, len(A), size))
    assert parts == exact_sum(A) == exact_sum(A[::-1])


def test_more_than_are_added_at_a_time(monkeypatch):
    monkeypatch.setattr(exact_sums, "MOST", 3)
    A = np.random.default_rng(0).normal(size=20)
    assert exact_value(exact_sum(A)) == sum(map(Fraction, A.tolist()))


@given(st.lists(st.tuples(MODERATE, MODERATE), min_size=1, max_size=10))
@settings(deadline=None)
def test_products_and_squares_are_exact(pairs):
    a, b = map(np.array, zip(*pairs, strict=True))
    p, q = two_product(a, b)
    for i, (x, y) in enumerate(pairs):
        assert Fraction(p[i]) + Fraction(q[i]) == Fraction(x) * Fraction(y)
    first, second = exact_moments(a, np.ones(len(a)))
    assert exact_value(first) == sum(Fraction(x) for x, _ in pairs)
    assert exact_value(second) == sum(Fraction(x) ** 2 for x, _ in pairs)


def test_weighted_moments():
    rng = np.random.default_rng(0)
    x, w = 1e6 + rng.normal(size=50), rng.uniform(0.1, 3, 50)
    first, second = exact_moments(x, w)
    exact = [(Fraction(a), Fraction(b)) for a, b in zip(w, x, strict=True)]
    assert exact_value(first) == sum(a * b for a, b in exact)
    expected = sum(a * b * b for a, b in exact)
    assert abs(exact_value(second) - expected) < expected * Fraction(1, 10**28)
