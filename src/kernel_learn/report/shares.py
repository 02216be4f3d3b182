"""Shares of rows with their intervals."""

import numpy as np

from kernel_learn.arrays import Array


def effective_rows(weight: Array) -> float:
    """So many rows of equal weight know a mean as well: (sum w)^2 / sum w^2."""
    return float(np.sum(weight) ** 2 / np.sum(weight**2))


def wilson(share: float, n: float, z: float = 1.96) -> tuple[float, float]:
    """The interval of shares under which this one is not surprising; never beyond 0 and 1."""
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, float(middle - reach)), min(1.0, float(middle + reach))
