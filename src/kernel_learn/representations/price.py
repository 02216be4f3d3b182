"""What a fit costs before it is begun: operations, bytes, passes, and seconds on this machine."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from kernel_learn.kernels.stationary import Gaussian
from kernel_learn.rows.keys import row_keys

# Sizes of the products and tables that are timed: those of a block of a pass.
ROWS, COLUMNS, FEATURES = 512, 1000, 10
# Seconds that each of them may take; there are three, and the other type of numbers.
SHARE = 0.05


@dataclass(frozen=True)
class Price:
    """Products of matrices, values of kernels and bytes, for each row and once.

    ``seconds`` are expected ones, from products and kernel values timed on this machine
    (0.2 s, once): right to a factor of about 1.5 while nothing else runs.
    """

    n_rows: int
    passes: int
    row_operations: float  # additions and multiplications in products
    row_values: float  # of kernels
    row_bytes: float  # read in each pass
    once_operations: float  # in float64: landmarks, decompositions
    itemsize: int = 8

    @property
    def operations(self) -> float:
        """Additions and multiplications of the whole fit."""
        return self.n_rows * self.row_operations + self.once_operations

    @property
    def bytes_read(self) -> float:
        """Bytes of rows over all passes."""
        return self.n_rows * self.row_bytes * self.passes

    @property
    def seconds(self) -> float:
        """Expected CPU seconds on this machine."""
        rate = calibrate(self.itemsize)
        row = self.row_operations * rate.operation + self.row_values * rate.value
        row += self.passes * self.row_bytes * rate.byte
        return self.n_rows * row + self.once_operations * calibrate(8).operation

    def __str__(self) -> str:
        passes = "1 pass" if self.passes == 1 else f"{self.passes} passes"
        return (
            f"{self.operations:.2g} operations, {passes} over {self.n_rows} rows "
            f"({self.bytes_read / 1e6:.3g} MB read), about {self.seconds:.2g} s"
        )


@dataclass(frozen=True)
class Rate:
    """Seconds per operation of a product, per kernel value, per byte of rows."""

    operation: float
    value: float
    byte: float


@cache
def calibrate(itemsize: int) -> Rate:
    """Time a product, the values of a Gaussian kernel, and a pass over rows."""
    dtype = np.dtype(f"f{itemsize}")
    A = np.full((ROWS, COLUMNS), 0.5, dtype)
    B = np.full((COLUMNS, COLUMNS), 0.5, dtype)
    X = np.linspace(0, 1, ROWS * FEATURES, dtype=dtype).reshape(ROWS, FEATURES)
    Z = np.resize(X, (COLUMNS, FEATURES))
    kernel = Gaussian(gamma=1.0)
    product = fastest(lambda: A @ B) / (2 * ROWS * COLUMNS**2)
    value = fastest(lambda: kernel(X, Z)) / (ROWS * COLUMNS)
    value = max(value - 2 * FEATURES * product, 0.1 * value)
    byte = 2 * fastest(lambda: row_keys(A)) / A.nbytes  # keys, and sums of the columns
    return Rate(product, value, byte)


def fastest(work: Callable[[], object]) -> float:
    """Seconds of the fastest of several runs, the first aside.

    On a busy machine a run waits for its turn, and its processor time does not; with several
    threads that time is the sum of theirs.
    """
    work()
    best, end = np.inf, time.perf_counter() + SHARE
    while time.perf_counter() < end:
        start, used = time.perf_counter(), time.process_time()
        work()
        best = min(best, time.perf_counter() - start, time.process_time() - used)
    return float(best)
