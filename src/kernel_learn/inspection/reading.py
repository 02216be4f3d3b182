"""Where a picture's numbers stand in what a user passes: an estimator, a Pipeline, a search."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array
from kernel_learn.rows.frames import frame_rows, is_frame


def find_part(estimator: Any, *attributes: str, display: str) -> tuple[Any, list[Any]]:
    """The last step that has one of the attributes, and the fitted steps before it."""
    check_is_fitted(estimator)
    estimator = getattr(estimator, "best_estimator_", estimator)
    steps = (
        [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
    )
    for i, step in reversed(list(enumerate(steps))):
        if any(getattr(step, name, None) is not None for name in attributes):
            return step, [before for before in steps[:i] if hasattr(before, "transform")]
    raise ValueError(
        f"{display} draws {' or '.join(attributes)}, and {type(estimator).__name__} has none."
    )


def see(steps: Sequence[Any], X: Any) -> Any:
    """Rows as the step after these sees them."""
    for step in steps:
        X = step.transform(X)
    return X


def column_names(part: Any, steps: Sequence[Any], n: int) -> list[str]:
    """The names of a step's columns: those it was fitted with, or those the steps before give."""
    names = getattr(part, "feature_names_in_", None)
    if names is None and steps:
        try:
            names = steps[-1].get_feature_names_out()
        except (AttributeError, ValueError):
            names = None
    if names is None or len(names) != n:
        names = [f"x{i}" for i in range(n)]
    return [str(name) for name in names]


def some_rows(labels: Array, most: int, random_state: Any = 0) -> Array:
    """At most so many positions, each class in its share, in their order."""
    n = len(labels)
    if n <= most:
        return np.arange(n)
    rng = check_random_state(random_state)
    shuffled = rng.permutation(n)
    # Every k-th row of the rows sorted by class: shares are kept to within one row.
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    return np.sort(by_class[np.linspace(0, n - 1, most).round().astype(int)])


def take(X: Any, rows: Array) -> Any:
    """Rows of an array, a sparse matrix, a list or a frame."""
    if is_frame(X):
        return frame_rows(X, rows)
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]
