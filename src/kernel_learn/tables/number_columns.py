"""Columns that alone give a number away."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.frames import Frame
from kernel_learn.tables.columns import (
    LEAK_COLUMNS,
    LEAK_ROWS,
    Columns,
    as_codes,
    capital,
    is_sparse_type,
    named,
    names_of_leaks,
)

LEAST_ROWS = 20
LEAVES = 64


def find_number_leaks(frame: Frame, columns: Columns, y: Array) -> list[str]:
    """A sentence for each column of which a line or a tree alone gives the target of held-out rows.

    Almost always, or nearly so where all others alone are far worse.
    Those of few rows prove nothing; of a wide table the columns whose ranks follow y most are
    asked.
    """
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.tree import DecisionTreeRegressor

    if len(y) < LEAST_ROWS:
        return []
    rows = np.random.default_rng(0).permutation(len(y))[:LEAK_ROWS]
    y = y[rows]
    tree = DecisionTreeRegressor(max_leaf_nodes=LEAVES, random_state=0)
    folds = KFold(2, shuffle=True, random_state=0)
    found: dict[str, float] = {}
    for name, values in closest_columns(frame, columns, rows, y):
        parts = [
            cross_val_predict(learner, values[:, None], y, cv=folds)
            for learner in (LinearRegression(), tree)
        ]
        total = np.sum((y - y.mean()) ** 2)
        found[name] = float(max(1 - np.sum((y - said) ** 2) / total for said in parts))
    return [
        f"{capital(named([name]))} alone predicts the target (R2 {found[name]:.3f}). Is it known "
        "before the target is? If it is filled in only when the target is known, leave it out with "
        f"--drop {name!r}."
        for name in names_of_leaks(found, found, 0.0)
    ]


def closest_columns(
    frame: Frame, columns: Columns, rows: Array, y: Array
) -> Sequence[tuple[str, Array]]:
    """Columns by name and values; of many those whose ranks follow the ranks of y."""
    names = [
        name
        for name, kind in columns.kinds.items()
        if kind in ("number", "category") and not is_sparse_type(frame[name].dtype)
    ]
    found = [(name, as_codes(frame[name].iloc[rows], columns.kinds[name])) for name in names]
    if len(found) <= LEAK_COLUMNS:
        return found
    ranks = np.argsort(np.argsort(np.column_stack([values for _, values in found]), axis=0), axis=0)
    place = np.argsort(np.argsort(y))
    follows = np.abs((ranks - ranks.mean(axis=0)).T @ (place - place.mean()))
    return [found[i] for i in np.argsort(-follows, kind="stable")[:LEAK_COLUMNS]]
