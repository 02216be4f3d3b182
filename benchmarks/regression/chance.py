"""How often a coverage is too low by chance, where sets or intervals are exactly what they promise.

With n held-out rows and k = ceil(coverage (n + 1)), all exchangeable, the coverage of the new rows
of one fit is itself drawn, from Beta(k, n + 1 - k): of 30 rows with a standard deviation of .05 at
90 %. The rows inside are beta-binomial then, and those of several splits their sums, as if
splits of one table were independent.
"""

from functools import reduce

import numpy as np
from scipy.stats import betabinom

BELOW = 0.04


def hits(n_held, n_test, coverage):
    """Chances of 0, 1, ..., n_test rows inside."""
    k = int(np.ceil(round(coverage * (n_held + 1), 9)))
    if k > n_held:  # everything is inside
        return np.eye(n_test + 1)[n_test]
    return betabinom.pmf(np.arange(n_test + 1), n_test, k, n_held + 1 - k)


def low_odds(parts, coverage):
    """Of splits, (held-out rows, test rows) each, the chance to be too low by BELOW in all."""
    chances = reduce(np.convolve, [hits(*part, coverage) for part in parts])
    n = len(chances) - 1
    return float(chances[: int(np.ceil(round((coverage - BELOW) * n, 9)))].sum())


def below_by_chance(shares, coverage):
    """How many of (share, its splits) are too low, how many by chance, and how often as many."""
    low = sum(share < coverage - BELOW for share, _ in shares)
    return say_chance(low, [parts for _, parts in shares], coverage)


def say_chance(low, all_parts, coverage):
    """The same of a count that is known already."""
    odds = [low_odds(parts, coverage) for parts in all_parts]
    counts = reduce(np.convolve, [np.array([1 - p, p]) for p in odds])
    return (
        f"{low} of {len(all_parts)} below by .04, by chance {sum(odds):.1f}, as many or more in "
        f"{100 * counts[low:].sum():.0f} % of draws"
    )
