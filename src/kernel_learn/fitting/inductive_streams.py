"""The rows of a stream that constraints touch, and those among which landmarks are chosen."""

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.constraints import ClassProbabilities, Constraints
from kernel_learn.fitting.kernel_rows import KernelRows
from kernel_learn.fitting.stream_training import takes
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.representations.block import CheckedBlock, stack_blocks
from kernel_learn.representations.state import StreamState, sum_states
from kernel_learn.representations.summary import stack_rows
from kernel_learn.rows.access import take_rows
from kernel_learn.rows.block import Given
from kernel_learn.streams.blocks import READ_ROWS, NoRowsError, RowSource
from kernel_learn.streams.checked_blocks import CheckedBlocks
from kernel_learn.streams.gather import Room


def read_for_constraints(
    estimator: BaseEstimator, source: RowSource, constraints: Constraints | None
) -> tuple[Rows, Array | None, Constraints | None]:
    """(X, y, constraints) for a fit in memory, from one pass over a source.

    All rows of a source of few rows. Of a larger one the rows that constraints name by their
    number in it, with these numbers changed to match, and the rows of its summary; with labels
    the summary's rows and their labels, from which constraints are drawn.
    """
    kernel = as_kernel(estimator.kernel)
    if kernel.input == "matrix":
        raise ValueError("Rows of a precomputed kernel matrix cannot come in blocks.")
    labelled = constraints is None and not isinstance(estimator.constraints, Constraints)
    wanted = named_rows(constraints)
    reader = KernelRows(estimator, kernel)
    checked = CheckedBlocks(reader, source, "labels" if labelled else "none")
    room, n = Room(estimator.memory_budget), 0
    held: list[CheckedBlock] | None = []
    state: StreamState | None = None
    fetched: list[Rows] = []
    for rows in checked.read(READ_ROWS):
        if np.any(rows.weight != 1):
            raise ValueError("InductiveKernel counts every row once; its source has weights.")
        if held is not None:
            held.append(rows)
            held = held if takes(room, rows) else None
        own = wanted[(wanted >= n) & (wanted < n + len(rows.weight))] - n
        fetched += [take_rows(rows.X, own)] if len(own) else []
        n += len(rows.weight)
        state = sum_states([rows], state)
    if state is None:
        raise NoRowsError
    if len(wanted) and wanted[-1] >= n:
        raise ValueError(f"The constraints name row {wanted[-1]}, and the source has {n} rows.")
    if held is not None:
        whole = stack_blocks(held)
        return whole.X, whole.y if labelled else None, constraints
    if kernel.input == "columns":
        raise ValueError(
            f"InductiveKernel on columns keeps all rows, and this source has {n}. Pass a kernel on "
            "all columns, or the rows as a frame."
        )
    summary = state.summary
    assert summary is not None and state.classes is not None
    if labelled:
        return summary.rows, state.classes[np.asarray(summary.labels.argmax(axis=1))], None
    if constraints is not None and len(wanted):
        constraints = constraints.indexed(lambda tuples, _: np.searchsorted(wanted, tuples))
    return stack_rows(*fetched, summary.rows), None, constraints


def named_rows(constraints: Constraints | None) -> Array:
    """Numbers of the rows that constraints name, ascending; none if they hold the rows."""
    if constraints is None or not constraints.holds_indices:
        return np.empty(0, dtype=int)
    if any(isinstance(family, ClassProbabilities) for family in constraints.families):
        raise ValueError(
            "ClassProbabilities are of all labelled rows, and those of a stream come and go. Use "
            "Pairs, Triplets or Similarities, or pass the rows as an array."
        )
    seen: list[Array] = [np.empty(0, dtype=int)]

    def record(tuples: Given, name: str) -> Array:
        given = np.asarray(tuples)
        if given.size and (given.dtype.kind not in "iu" or given.min() < 0):
            raise ValueError(f"{name} must be numbers of rows, from 0 on, where rows are a stream.")
        seen.append(given.astype(int).ravel())
        return given

    constraints.indexed(record)
    return np.unique(np.concatenate(seen))
