"""Shares of rows with their intervals."""

import numpy as np


def wilson(share: float, n: float, z: float = 1.96) -> tuple[float, float]:
    """The interval of shares under which this one is not surprising; never beyond 0 and 1."""
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, float(middle - reach)), min(1.0, float(middle + reach))
