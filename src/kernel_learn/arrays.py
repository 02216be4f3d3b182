"""The types of arrays and rows that all layers speak of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Keys = NDArray[np.uint64]  # one per row, of its content
Rows = Any  # dense (n, d), CSR (n, d), a sequence of strings, a Table, or a data frame
