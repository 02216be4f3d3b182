"""The report of a fitted estimator in a notebook: the page of the command line, inline."""

import html
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, Rows
from kernel_learn.atomic_write import atomic_write
from kernel_learn.report.facts import gather_facts, judge_new_rows
from kernel_learn.report.page import render, verdict_of
from kernel_learn.report.placing import Facts
from kernel_learn.report.values import judge_new_values
from kernel_learn.rows.access import is_sparse, n_rows
from kernel_learn.rows.frames import Frame
from kernel_learn.rows.keys import are_among
from kernel_learn.rows.kinds import column_kind
from kernel_learn.rows.named_columns import take_named
from kernel_learn.rows.targets import holds_sets
from kernel_learn.streams.readers import need_pandas
from kernel_learn.tables.columns import Columns, is_sparse_type, look_at_columns
from kernel_learn.tables.model import TableModel, table_keys
from kernel_learn.tables.streaming import held_out_answers

HEIGHT = 640  # pixels of a page inside another


@dataclass(frozen=True)
class ReportPage:
    """A report: shows itself in a notebook, prints its verdict, and can be saved."""

    html: str = field(repr=False)
    verdict: list[str]

    def __repr__(self) -> str:
        return "\n".join(self.verdict or ["A report; save(path) writes it."])

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        look = f"width: 100%; height: {HEIGHT}px; border: 0"
        return f'<iframe title="kernel-learn report" style="{look}" srcdoc="{page}"></iframe>'

    def save(self, path: str | Path) -> None:
        """Write the page to a file, whole or not at all."""
        with atomic_write(str(path)) as part:
            part.write_text(self.html, encoding="utf-8")


class FittedModel(TableModel):
    """A fitted estimator as the model of a table whose columns are all used."""

    def encode(self, X: Frame) -> Rows:
        """The rows as they were given."""
        if self.is_sparse_:
            return sparse.csr_matrix(X.sparse.to_coo())
        return X if hasattr(self.estimator_, "feature_names_in_") else X.to_numpy()

    def keys(self, X: Frame) -> Array:
        """A number for each row, by its cells."""
        return table_keys(self.encode(X) if self.is_sparse_ else X)

    def has_seen(self, X: Frame) -> Array:
        """Which rows the model was fitted to, (n_samples,) booleans."""
        return are_among(self.keys(X), self.row_keys_)


def make_report(
    model: BaseEstimator,
    X: Rows,
    y: ArrayLike | None = None,
    *,
    X_new: Rows = None,
    y_new: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    target: str | None = None,
) -> ReportPage:
    """The report of a fitted model, as a page that a notebook shows.

    Of one target: a model of several labels per row, or of several numbers, is refused. Fit one to
    each label or number (a column of y) and report that.

    Parameters
    ----------
    model : fitted estimator or TableModel
        One of this package, or another classifier: what it does not tell of itself is left out.
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        The rows that it was fitted to.
    y : array-like of shape (n_samples,) or name of a column of X, optional
        Their labels or values.
    X_new : as X, optional
        Other rows, whose figures are shown beside those of held-out ones.
    y_new : as y, optional
        Of these.
    groups : array-like of shape (n_samples,) or name of a column of X, optional
        As at ``fit``: rows of one group are held out together.
    target : str, optional
        What y is called; by default the name of its column, or "target".

    Returns
    -------
    ReportPage
        ``html``, ``save(path)``; the last expression of a cell shows it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import kernel_learn as kl
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = kl.KernelClassifier(quality="fast").fit(X, y)
    >>> page = kl.report(model, X, y)
    >>> page.verdict[0]
    'There is signal: shuffled labels are almost never predicted as well (p < .005).'
    """
    check_is_fitted(model)
    called = target or (y if isinstance(y, str) else "target")
    X, y, groups = take_named({"X": X, "y": y, "groups": groups}).values()
    check_one_target(model, y)
    labels = None if y is None else np.asarray(y)
    frame = rows_as_frame(X, model)
    table = model if isinstance(model, TableModel) else wrap(model, frame, labels, called)
    check_fitted_rows(table, frame, labels)
    own = None if groups is None else np.asarray(groups)
    facts = gather_facts(table, frame, labels, method=type(table.estimator_).__name__, groups=own)
    if X_new is not None:
        if y_new is None:
            raise ValueError("y_new is missing: without it nobody can tell how well X_new is told.")
        X_new, y_new = take_named({"X": X_new, "y": y_new}).values()
        facts = judge_new(table, facts, rows_as_frame(X_new, model), np.asarray(y_new))
    verdict = verdict_of({"numbers": None, **facts})
    return ReportPage(render(facts, frame=frame), verdict)


def check_one_target(model: BaseEstimator, y: ArrayLike | None) -> None:
    """Refuse several labels per row and several numbers, before anything is worked out."""
    if y is None:
        return
    several = "y has sets of labels" if holds_sets(y) else f"y has the shape {np.shape(y)}"
    said = None if hasattr(model, "classes_") else held_out_answers(model)
    if said is not None and said.ndim > 1:  # numbers in columns, be it one
        several = f"the y of the fit had the shape {said.shape}"
    elif not holds_sets(y) and np.ndim(y) == 1:
        return
    raise ValueError(
        f"A report is of one target, y of the shape (n_samples,), and {several}: fit "
        f"{type(model).__name__} to each label or number by itself, and report that."
    )


def judge_new(table: TableModel, facts: Facts, frame: Frame, y: Array) -> Facts:
    """The facts with those of new rows."""
    judge = judge_new_values if table.is_regression else judge_new_rows
    return judge(table, facts, frame, y)


def rows_as_frame(X: Rows, model: BaseEstimator) -> Frame:
    """Rows as a pandas frame, columns by the names that the model knows."""
    pd = need_pandas()
    if isinstance(X, pd.DataFrame):
        return X.reset_index(drop=True)
    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    names = getattr(model, "feature_names_in_", None)
    if is_sparse(X):
        names = [f"x{i}" for i in range(X.shape[1])] if names is None else names
        return pd.DataFrame.sparse.from_spmatrix(X.tocsr(), columns=names)
    values = np.asarray(X)
    if values.ndim != 2:
        raise ValueError(f"X has {values.ndim} dimensions; a report is of a table of rows.")
    names = [f"x{i}" for i in range(values.shape[1])] if names is None else names
    return pd.DataFrame(values, columns=names)


def wrap(model: BaseEstimator, frame: Frame, y: Array | None, target: str) -> FittedModel:
    """The estimator with what a table's model knows of its columns."""
    table = FittedModel(model, target=target)
    table.estimator_ = model
    labels = y if hasattr(model, "classes_") else None
    found = look_at_columns(frame, labels)
    kinds = {str(name): found.kinds.get(name) or plain_kind(frame[name]) for name in frame.columns}
    table.columns_ = Columns(kinds, leaks=found.leaks)
    table.is_sparse_ = any(is_sparse_type(dtype) for dtype in frame.dtypes)
    table.encoder_ = None
    table.row_keys_ = np.unique(table.keys(frame))
    if labels is not None:
        table.classes_ = model.classes_
        table.labels_ = np.searchsorted(model.classes_, labels)
    return table


def plain_kind(column: Rows) -> str:
    """A number where it is one, else a category."""
    return "number" if column_kind(column) in ("number", "bool") else "category"


def check_fitted_rows(table: TableModel, frame: Frame, y: Array | None) -> None:
    """Refuse rows that cannot be those of the fit."""
    if y is not None and len(y) != len(frame):
        raise ValueError(f"X has {len(frame)} rows, and y has {len(y)} labels.")
    for name in ("held_out_proba_", "loo_proba_"):
        known = getattr(table.estimator_, name, None)
        if known is not None and y is not None and n_rows(known) != len(frame):
            raise ValueError(
                f"The model was fitted to {n_rows(known)} rows, and X has {len(frame)}: give the "
                "rows of the fit as X and y, and others as X_new and y_new."
            )
