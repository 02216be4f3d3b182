"""Rows whose labels, or values, are most likely wrong, as a table."""

from typing import NamedTuple

import numpy as np

from kernel_learn.arrays import Array


class LabelIssue(NamedTuple):
    """A row whose label may be wrong."""

    row: int  # among the rows given to fit
    label: object  # as given; of numbers the value, a tuple of several targets
    suggested_label: object  # the likeliest of the others; of numbers what is predicted
    probability: float  # of the suggested label; of numbers that the value is not one of its kind
    value: float  # of the row, see row_values_


class LabelIssues(tuple[LabelIssue, ...]):
    """The most doubtful first; prints as a table."""

    def __repr__(self) -> str:
        lines = [f"{'row':>7}  {'label':<16}  {'suggested':<16}  {'probability':>11}  {'value':>9}"]
        lines += [
            f"{one.row:7d}  {in_words(one.label):<16.16}  {in_words(one.suggested_label):<16.16}  "
            f"{one.probability:11.3f}  {one.value:9.3g}"
            for one in self
        ]
        return "\n".join(lines)

    __str__ = __repr__


def in_words(label: object) -> str:
    """A label as it is, numbers with six digits."""
    if isinstance(label, tuple):
        return ", ".join(map(in_words, label))
    return f"{label:.6g}" if isinstance(label, float) else str(label)


def doubtful_labels(
    P: Array,  # (n, k) probabilities by models that have not seen the row
    labels: Array,  # (n,) places among the classes, -1 for a row without
    values: Array,  # (n,)
    classes: Array,  # (k,)
    n_rows: int,
) -> LabelIssues:
    """The rows whose labels are least likely, the least first."""
    rows = np.flatnonzero(labels >= 0)
    own, others = P[rows, labels[rows]], np.array(P)
    others[rows, labels[rows]] = -1.0  # the likeliest of the others is suggested
    return LabelIssues(
        LabelIssue(
            int(row),
            classes[labels[row]],
            classes[others[row].argmax()],
            float(others[row].max()),
            float(values[row]),
        )
        for row in rows[np.argsort(own, kind="stable")][:n_rows]
    )
