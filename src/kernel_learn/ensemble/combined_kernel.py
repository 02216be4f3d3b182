"""One kernel from groups of columns: a weighted sum, the weights by rows left out."""

from collections.abc import Iterator, Sequence

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.loo_weights import learn_loo_weights
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import Candidate, ViewRows
from kernel_learn.kernels import ColumnKernel, Combination, Gaussian, Kernel, Linear
from kernel_learn.rows.access import take_rows

# Weights are learned on at most so many rows: p matrices of n x n are held at once.
MOST_ROWS = 600


def combined_kernel(
    Z: Rows,  # (n, d) all columns in one view
    targets: Targets,
    groups: Sequence[Array],  # positions of the columns of each group
    width: float,
) -> Kernel | None:
    """sum over groups of weighted Gaussian and linear kernels; None if no group says anything."""
    rows = np.arange(min(MOST_ROWS, targets.n))
    Z, targets = take_rows(Z, rows), targets.take(rows)
    kernels = list(_kernels_of_groups(Z, targets.weight, groups, width))
    Ks = np.array([kernel(Z) for kernel in kernels])
    try:
        weights = learn_loo_weights(Ks, targets).weights
    except (np.linalg.LinAlgError, ValueError):
        return None
    if not np.isfinite(weights).all() or not weights.any():
        return None
    return Combination(kernels, weights)


def _kernels_of_groups(
    Z: Rows, weight: Array, groups: Sequence[Array], width: float
) -> Iterator[Kernel]:
    for columns in groups:
        part = ViewRows(Z[:, columns], weight)
        wide = part.kernel(Candidate("", "rbf", width))
        assert isinstance(wide, Gaussian)
        yield ColumnKernel(wide, columns)
        yield ColumnKernel(Linear(), columns)
