"""Where rows stand in the picture of a report."""

from typing import Any

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.inspection.reading import find_fitted, seek_fitted, some_rows
from kernel_learn.rows.access import n_rows, take_rows
from kernel_learn.tables.comparing import FLOOR
from kernel_learn.tables.model import TableModel

Facts = dict[str, Any]  # of a model; fits into JSON

MOST_POINTS = 2000
COLLAPSED = 0.01  # spread within classes, to that between: nothing is left to see


def place_rows(model: TableModel, rows: Rows, y: Array | None) -> Facts | None:
    """The first two learned features of some training rows."""
    found = seek_fitted(model.estimator_, "kernel_")
    if found is None or not hasattr(found.step, "transform"):
        return None
    n = n_rows(rows)
    names, labels = ["all rows"], np.zeros(n, dtype=int)
    if y is not None:
        classes, labels = np.unique(y, return_inverse=True)
        names = [str(label) for label in classes]
    some = some_rows(labels, MOST_POINTS)
    F = found.transform(take_rows(rows, some))[:, :2]
    if not F.size or not np.isfinite(F).all():
        return None
    size = np.abs(F).max() or 1.0
    return {
        "points": points_of(F / size, labels[some], some),
        "names": names,
        "dimensions": F.shape[1],
        "scale": float(size),
        "of": n,
    }


def is_collapsed(found: Facts | None) -> bool:
    """Whether the rows of each class coincide, or all rows, as they do where columns are many.

    Such a picture looks like perfect separation whatever the labels are.
    """
    if found is None:
        return False
    F = np.array([point[: found["dimensions"]] for point in found["points"]])
    labels = np.array([point[-2] for point in found["points"]])
    means = np.array([F[labels == label].mean(axis=0) for label in np.unique(labels)])
    within = F - means[np.unique(labels, return_inverse=True)[1]]
    return bool(within.std() <= COLLAPSED * means.std())


def place_by_probability(P: Array, labels: Array, names: list[str]) -> Facts:
    """Rows by the probabilities they got while held out: log ratios, in their main directions."""
    ratios = log_ratios(P)
    centre = ratios.mean(axis=0)
    axes = np.linalg.svd(ratios - centre, full_matrices=False)[2][: min(2, len(names) - 1)]
    F = (ratios - centre) @ axes.T
    size = np.abs(F).max() or 1.0
    some = some_rows(labels, MOST_POINTS)
    return {
        "points": points_of(F[some] / size, labels[some], some),
        "names": names,
        "dimensions": len(axes),
        "scale": float(size),
        "of": len(P),
        "held_out": {"centre": centre.tolist(), "axes": axes.tolist()},
    }


def log_ratios(P: Array) -> Array:
    """log p_k minus its mean over the classes."""
    logs = np.log(np.maximum(P, FLOOR))
    return logs - logs.mean(axis=1, keepdims=True)


def points_of(F: Array, labels: Array, rows: Array) -> list[list[float | int]]:
    """Place, label and row number of each point."""
    return [
        [*(float(f"{v:.4g}") for v in f), int(label), int(row)]
        for f, label, row in zip(F, labels, rows, strict=True)
    ]


def place_new_rows(
    model: TableModel, old: Facts, frame: Rows, P: Array, labels: Array, rows: Array
) -> list[list[float | int]]:
    """New rows, with their probabilities, in a picture that there is."""
    view = old.get("held_out")
    if view:
        F = (log_ratios(P) - np.array(view["centre"])) @ np.array(view["axes"]).T
    else:
        found = find_fitted(model.estimator_, "kernel_", display="report")
        F = found.transform(model.encode(frame))[:, :2]
    return points_of(F / old["scale"], labels, rows)
