"""Targets of any kind as columns of numbers: T and a mixing, H = (T mixing)(T mixing)' on them.

    classes  "normalized", "indicator", "ordinal", similarities of classes: T one-hot, see criteria
    numbers  "normalized": each of mean zero and variance one, mixing I / sqrt(n), so tr H = q, as
             for classes; "linear": of mean zero
    labels   "normalized": each label divided by the root of its count; "linear": dot products

Everything else compares targets each with each, and T is a factor of their similarities.
"""

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.criteria.label_values import (
    check_label_kernel,
    compares_rows,
    similarity_factor,
)
from kernel_learn.criteria.labels import LabelKernel, factor_of_counts
from kernel_learn.criteria.value_targets import ValueTargets
from kernel_learn.fitting.training import Labelled, Valued
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.sources import ArraySource
from kernel_learn.rows.access import dense

AnySource = ArraySource | PooledSource
ONE_VALUE = "y takes one value on all rows, and there is nothing to learn from it."
# A label kernel on a stream with more rows than this is not one of its classes.
LABEL_ROWS = 20_000


def code_targets(data: Labelled | Valued, label_kernel: LabelKernel) -> tuple[AnySource, Array]:
    """The rows with the targets T of the label kernel, and its mixing: L = T mixing."""
    check_label_kernel(label_kernel, data.kind)
    kernel: Rows = label_kernel  # a matrix, if it has a shape
    if data.kept is not None and np.shape(kernel) == (data.n_given, data.n_given):
        kernel = np.asarray(kernel)[np.ix_(data.kept, data.kept)]
    if isinstance(data, Labelled):
        T, mixing = factor_of_counts(kernel, data.counts, data.classes, data.source.n_rows)
        return data.source if T is None else data.source.with_labels(T, None), mixing
    if not compares_rows(kernel):
        return _code_values(data, kernel)
    if isinstance(data.source, PooledSource):
        raise _needs_all_rows(label_kernel)
    source = data.source
    T = similarity_factor(kernel, source.labels, source.weight, single=data.single)
    return source.with_labels(T, None), np.eye(T.shape[1])


def _code_values(data: Valued, label_kernel: str) -> tuple[AnySource, Array]:
    source, q = data.source, data.source.n_targets
    if data.kind == "labels":
        counts = source.counts
        each = np.divide(1.0, np.sqrt(counts), out=np.zeros(q), where=counts > 0)
        return source, np.diag(each) if label_kernel == "normalized" else np.eye(q)
    source, n = standardized(source, center_only=label_kernel == "linear"), source.summary.n
    return source, np.eye(q) if label_kernel == "linear" else np.eye(q) / np.sqrt(n)


def standardized(source: AnySource, *, center_only: bool = False) -> AnySource:
    """The rows with numbers of mean zero and variance one; one that does not vary is zero."""
    sums = source.target_moments()
    squares = np.diagonal(sums.scatter)
    if not np.any(squares > 0):
        raise ValueError(ONE_VALUE)
    scale = np.ones_like(sums.mean)
    if not center_only:
        sd = np.sqrt(squares / sums.n)
        scale = np.divide(1.0, sd, out=np.zeros_like(sd), where=sd > 0)
    return source.with_targets_at(sums.mean, scale)


def ridge_targets(estimator: BaseEstimator, data: Labelled | Valued) -> Array | None:
    """Labels or numbers of the form's rows, if a factor of similarities is its targets."""
    is_labelled, n = isinstance(data, Labelled), data.n_given
    is_matrix = np.shape(estimator.label_kernel) == (n, n)
    if not is_matrix and (is_labelled or not compares_rows(estimator.label_kernel)):
        return None
    if estimator.plan_.representation != "gram":
        raise ValueError(
            f"{type(estimator).__name__}(weights='loo') with similarities of the samples as "
            "label_kernel is exact: pass landmarks='all', or similarities of the classes."
        )
    is_plain = data.kind != "numbers"
    targets: Array = (data.source if is_plain else standardized(data.source)).merged()[1]
    return targets


def check_label_stream(label_kernel: LabelKernel) -> None:
    """Refuse, before a stream is read, a label kernel that needs the targets of all its rows."""
    if isinstance(label_kernel, str) and compares_rows(label_kernel):
        raise _needs_all_rows(label_kernel)
    shape = np.shape(label_kernel)  # type: ignore[arg-type]
    if len(shape) == 2 and shape[0] > LABEL_ROWS:
        raise ValueError(
            f"label_kernel has the shape {shape}: similarities of samples need all rows "
            "at once. Pass similarities of the classes, or the rows as an array."
        )


def _needs_all_rows(label_kernel: LabelKernel) -> ValueError:
    said = repr(label_kernel) if isinstance(label_kernel, str) else "a function or a matrix"
    return ValueError(
        f"label_kernel={said} compares the targets of all rows, and those of a stream come and go. "
        "Use 'normalized' or 'linear', or pass the rows as an array."
    )


def pool_targets(source: AnySource, n_rows: int, *, standardize: bool = True) -> Targets:
    """The targets of the first rows of the summary; values of mean zero and variance one."""
    summary = source.summary
    counts, units = dense(summary.labels[:n_rows]), source.units(summary.rows[:n_rows])
    if source.n_classes is not None:
        return Targets(counts, units)
    values = ValueTargets(counts, units, row_weight=summary.weight[:n_rows])
    return values.standardized() if standardize else values


def check_targets_vary(targets: Targets) -> None:
    """Refuse numbers that are the same on all rows, whatever a method would make of them."""
    if isinstance(targets, ValueTargets) and not targets.counts.any():
        raise ValueError(ONE_VALUE)
