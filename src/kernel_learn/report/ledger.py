"""What a report says of single rows and columns by the model's ledger: values of both."""

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.ensemble.ledger.estimator import Ledger
from kernel_learn.report.placing import Facts
from kernel_learn.tables.model import TableModel

MOST_COLUMNS = 60  # whose Shapley values a report takes the time for
MOST_ROWS = 3000  # training rows of which values are worked out for a report


def row_values_of(model: TableModel, n: int) -> Array | None:
    """What each of n training rows is worth to the others, if the model says so exactly."""
    if n > MOST_ROWS:
        return None
    try:
        found = getattr(model.estimator_, "row_values_", None)
    except ValueError:
        return None
    return found if found is not None and len(found) == n else None


def rows_to_doubt(model: TableModel, n: int, count: int) -> Array | None:
    """The training rows that the model doubts most; None if it keeps no account of them."""
    if row_values_of(model, n) is None or not hasattr(model.estimator_, "label_issues"):
        return None
    try:
        return np.array([issue.row for issue in model.estimator_.label_issues(count)], dtype=int)
    except ValueError:
        return None


def with_values(found: list[Facts], values: Array | None) -> list[Facts]:
    """Rows of a report, each with its value, a float, where there is one."""
    return [one | {"value": None if values is None else float(values[one["row"]])} for one in found]


def column_importances(model: TableModel, rows: Rows) -> list[Facts] | None:
    """Shares of the columns in the mean size of Shapley values of held-out rows, largest first."""
    estimator, names = model.estimator_, model.columns_.used
    if not isinstance(estimator, Ledger) or len(names) > MOST_COLUMNS:
        return None
    groups = None
    if model.encoder_ is not None:
        groups = model.encoded_places()
        names = list(groups)
    sizes = estimator.held_out_column_values(rows, column_groups=groups)
    if sizes is None or not sizes.sum() > 0:
        return None
    order = np.argsort(-sizes, kind="stable")
    return [{"name": names[c], "value": float(sizes[c] / sizes.sum())} for c in order]
