"""Sums without rounding: the same to the last bit in any order and in any blocks.

A float64 is a whole multiple of 2^-1074. Mantissas, cut in two halves, are added up by exponent
in float64, which is exact for fewer than 2^26 of them, and the sums by exponent as integers. Where
rows are chosen by a hash of their content, rows that were scaled by sums over different blocks
must be the same to the bit, or others would be chosen.
"""

from fractions import Fraction

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.access import row_blocks

UNIT = 1074  # a sum is a multiple of 2^-UNIT
MANTISSA, LOW = 53, 26  # bits of a mantissa, and of its second half
MOST = 2**20  # numbers added at a time
SPLIT = 2.0**27 + 1


def exact_sum(values: Array) -> int:  # (n,) finite
    """The sum of numbers, as a multiple of 2^-1074."""
    values = np.asarray(values, dtype=np.float64)
    return sum(_sum_of_some(values[part]) for part in row_blocks(len(values), MOST))


def exact_moments(values: Array, weight: Array) -> tuple[int, int]:
    """The sums of w x and of w x^2; where all weights are one without any rounding."""
    high, low = two_product(values, values)
    if np.all(weight == 1.0):
        return exact_sum(values), exact_sum(high) + exact_sum(low)
    first = sum(map(exact_sum, two_product(weight, values)))
    return first, sum(map(exact_sum, two_product(weight, high))) + exact_sum(weight * low)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """(p, q) with p + q = a b and p its rounded value (Dekker)."""
    p = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def exact_value(total: int) -> Fraction:
    """A sum as a number."""
    return Fraction(total, 1 << UNIT)


def _halves(a: Array) -> tuple[Array, Array]:
    c = SPLIT * a
    high = c - (c - a)
    return high, a - high


def _sum_of_some(values: Array) -> int:
    if not len(values):
        return 0
    mantissa, exponent = np.frexp(values)
    scaled = np.ldexp(mantissa, MANTISSA - LOW)
    high = np.trunc(scaled)
    low = np.ldexp(scaled - high, LOW)
    least = int(exponent.min())
    place = exponent - least
    pairs = zip(np.bincount(place, high), np.bincount(place, low), strict=True)
    return sum(
        _shifted((int(h) << LOW) + int(own), least + k - MANTISSA + UNIT)
        for k, (h, own) in enumerate(pairs)
        if h or own
    )


def _shifted(total: int, bits: int) -> int:
    """Times 2^bits; of the smallest numbers the last bits are zero."""
    return total << bits if bits >= 0 else total >> -bits
