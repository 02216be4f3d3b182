"""How sure a mean over partitions of the same rows is."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def corrected_error(
    values: NDArray[Any],  # (J,), one for each partition
    ratio: float,  # test rows / training rows
) -> float:
    """Standard error of their mean, sqrt((1/J + ratio) var), of Nadeau & Bengio (2003, section 4).

    Partitions share rows, so these are no J independent values: 1/J alone is too small.
    """
    return float(np.sqrt((1 / len(values) + ratio) * np.var(values, ddof=1)))
