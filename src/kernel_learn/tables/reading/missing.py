"""Cells that say that nothing is known: words, and numbers such as -999."""

import numpy as np

from kernel_learn.arrays import Array

# In a column of levels a word is missing only if it can be no level: "none" and "ND" may be.
SIGNS_OF_NOTHING = (
    "n/a #n/a #na #div/0! #value! #ref! #num! #name? #null! null nan <na> ? ?? - -- --- \u2013 "
    "\u2014 . .. missing"
)
SHORT_WORDS = "na n.a. n.a nd n.d. n.d none nil unknown unk tbd tba * k.a. inf -inf"
NO_LEVEL = frozenset(SIGNS_OF_NOTHING.split()) | {
    "not done",
    "not available",
    "not applicable",
    "no data",
    "not determined",
}
NO_NUMBER = (NO_LEVEL | frozenset(SHORT_WORDS.split())) | {
    "not known",
    "not measured",
    "not tested",
    "keine angabe",
    "below detection",
    "0000-00-00",
    "0000-00-00 00:00:00",
    "00/00/0000",
    "00.00.0000",
}
NINES = (99.0, 999.0, 9999.0, 99999.0, 999999.0, 999.9, 999.99)
SENTINELS = (*NINES, *(-value for value in NINES), -99.9, -99.99)  # 99.9 % is a number
LEAST_REPEATS, LEAST_SIGNS = 2, 2


def find_sentinels(values: Array) -> list[float]:
    """Numbers of nines that stand for missing, which two of three signs give away.

    It lies farther from all others than these from one another; it is below zero and all others
    are not; it is there more than once.
    """
    finite = values[np.isfinite(values)]
    likely = [value for value in SENTINELS if np.any(finite == value)]
    others = finite[~np.isin(finite, likely)]
    if not likely or not len(others):
        return []
    low, high = float(others.min()), float(others.max())
    reach = max(high - low, 1.0)
    found = []
    for value in likely:
        is_far = value < low - reach or value > high + reach
        is_below = value < 0 <= low
        repeats = np.sum(finite == value) >= LEAST_REPEATS
        if is_far + is_below + repeats >= LEAST_SIGNS:
            found.append(value)
    return sorted(found)
