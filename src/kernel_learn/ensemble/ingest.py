"""From what a user passes to a problem: rows read and merged, labels, weights, groups."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length, validate_data

from kernel_learn.arrays import Array, MemoryBudget, PathLike, Rows
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import Candidate, candidates
from kernel_learn.ensemble.clock import Clock
from kernel_learn.ensemble.deduplicate import DistinctRows, GivenRows, given_rows
from kernel_learn.ensemble.fitted import FittedEnsemble
from kernel_learn.ensemble.given.targets import GivenTargets
from kernel_learn.ensemble.leaf_checkpoint import LeafCheckpoint
from kernel_learn.ensemble.likelihood_fitting import family_of
from kernel_learn.ensemble.outcomes.base import AnyTargets
from kernel_learn.ensemble.plan import (
    EnsemblePlan,
    EnsembleSize,
    folds_to_assess,
    plan_ensemble,
)
from kernel_learn.ensemble.problem import Problem
from kernel_learn.ensemble.quality import (
    NUMBER_QUALITIES,
    QUALITIES,
    Quality,
    TableViews,
    bank,
    number_bank,
)
from kernel_learn.ensemble.spilled_table import SpilledTable
from kernel_learn.ensemble.views import RANKED_VIEWS
from kernel_learn.fitting.row_validation import as_views, side_by_side
from kernel_learn.fitting.training import check_groups
from kernel_learn.fitting.weights import row_weights, training_weights
from kernel_learn.representations.summary import row_bytes
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.check_rows import (
    check_column_names,
    check_magnitude,
    check_not_flat,
    check_sparse,
)
from kernel_learn.rows.codes import categorical_positions
from kernel_learn.rows.columns import ReadRows, TableReader, as_rectangle, learn_table
from kernel_learn.rows.digest import PassDigest
from kernel_learn.rows.frames import is_frame
from kernel_learn.rows.keys import row_keys
from kernel_learn.rows.table import Table
from kernel_learn.streams.checkpoint import Checkpoint, signature_of
from kernel_learn.streams.progress import Progress

ColumnNames = Sequence[str | int]  # or positions


class EnsembleSettings(Protocol):
    """What an estimator of an ensemble was told, see ``KernelClassifier``."""

    quality: str
    max_members: int
    categorical: ColumnNames | str | None
    column_groups: Mapping[str, ColumnNames] | None
    time_budget: float | None
    memory_budget: MemoryBudget
    assess: str | bool
    n_jobs: int | None
    verbose: int
    learns_values: bool

    def read_targets(self, y: ArrayLike) -> GivenTargets:
        """Targets of rows, checked."""


@dataclass(frozen=True)
class Prepared:
    """A problem, and the way back from distinct rows to the rows given."""

    problem: Problem
    rows: DistinctRows
    given: GivenTargets
    kept: Array  # (n_kept,) the rows of positive weight
    left: Table | None  # the others
    n_given: int
    read: PassDigest  # of the rows, labels and weights as they were given
    groups: Array | None = None  # (n_kept,)
    given_rows: GivenRows | None = None  # None if rows are not in memory

    @property
    def first(self) -> Array:
        """Where each distinct row first stands among the rows given."""
        return self.kept[self.rows.first]

    def held_out(self, fitted: FittedEnsemble, held: Array) -> Array:
        """Held-out predictions of all rows given; a row of weight zero was never in.

        Of a source that does not fit into memory, of the rows that they are known of.
        """
        if fitted.held_rows is not None:
            return np.asarray(held[np.argsort(self.first[fitted.held_rows])])
        P = np.empty((self.n_given, *held.shape[1:]))
        P[self.kept] = held[self.rows.inverse]
        others = np.setdiff1d(np.arange(self.n_given), self.kept)
        if len(others) and self.left is not None:
            P[others] = fitted.ensemble.predict(self.left)
        return P


def prepare(
    estimator: EnsembleSettings,
    X: Rows,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    seed: int,
    *,
    as_it_is: bool = False,
) -> Prepared:
    """Check everything, merge equal rows, decide what is tried; see ``plan_ensemble``."""
    clock = clock_of(estimator)
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    groups_of_columns = column_groups(estimator.column_groups, X)
    X = read_rows(estimator, X, reset=True)
    given = estimator.read_targets(y)
    n_given = len(given.keys)
    check_consistent_length(X, given.keys)
    weight = training_weights(sample_weight, n_given)
    weight = np.ones(n_given) if weight is None else weight
    kept = np.flatnonzero(weight > 0)
    given, weight = given.take(kept), weight[kept]
    known_rows = isinstance(X, ReadRows)
    reader = X.reader if known_rows else learn_table(X, estimator.categorical)
    everything = X.table if known_rows else reader.read(X)
    check_magnitude(everything.numbers, fitting=True)
    table = everything if len(kept) == n_given else everything[kept]
    keys = row_keys(table)
    read = PassDigest.of(keys, given.keys, weight, kept)
    named_groups, groups = groups, check_groups(groups, n_given, kept)
    rows = given.merge(table, weight, groups, seed, keys)
    tried = candidates_for(estimator.quality, rows.targets, table, reader, groups_of_columns)
    size = size_of(estimator, n_given, rows.targets, table, reader, tried)
    quality, budget = quality_of(estimator), estimator.memory_budget
    plan = plan_ensemble(size, quality, budget, as_it_is=as_it_is)
    distinct = table[rows.first]
    problem = make_problem(
        estimator, distinct, reader, rows.targets, groups_of_columns, tried, plan, clock
    )
    left = everything[np.setdiff1d(np.arange(n_given), kept)]
    known = None
    places = given.places(rows)
    if places is not None:
        known = replace(
            given_rows(rows, places, weight, keys, kept, n_given),
            rows=ReadRows(reader, distinct, groups_of_columns),
            sample_weight=None if sample_weight is None else row_weights(sample_weight, n_given),
            groups=None if named_groups is None else np.asarray(named_groups),
        )
    return Prepared(problem, rows, given, kept, left, n_given, read, groups, known)


def make_problem(
    estimator: EnsembleSettings,
    table: Table | SpilledTable,  # of distinct rows
    reader: TableReader,
    targets: AnyTargets,
    groups: dict[str, Array],  # named groups of columns
    tried: list[Candidate],
    plan: EnsemblePlan,
    clock: Clock,
    subsample: Array | None = None,
    progress: Progress | None = None,
) -> Problem:
    """What an estimator makes of distinct rows."""
    return Problem(
        table=table,
        reader=reader,
        targets=targets,
        sources={"": None, **groups},
        candidates=tried,
        quality=quality_of(estimator),
        plan=plan,
        max_members=int(estimator.max_members),
        clock=clock,
        n_jobs=estimator.n_jobs,
        say=lambda text: (
            print(f"[{type(estimator).__name__}] {text}") if estimator.verbose else None
        ),
        subsample=subsample,
        progress=progress,
    )


@contextmanager
def keep_work(
    estimator: EnsembleSettings, prepared: Prepared, folder: PathLike | None
) -> Iterator[Prepared]:
    """The problem with what was kept of an earlier fit to it; given up when the fit is done."""
    if folder is None:
        yield prepared
        return
    if estimator.time_budget is not None:
        raise ValueError(
            "A fit with a time_budget ends by itself and is another one each time: it cannot go "
            "on from a checkpoint. Leave out one of them."
        )
    signature = signature_of(estimator, {"groups": prepared.groups}, prepared.read)
    checkpoint = Checkpoint(folder, signature)
    with closing(checkpoint):
        with checkpoint.kept_if_it_ends():
            kept = LeafCheckpoint(checkpoint)
            yield replace(prepared, problem=replace(prepared.problem, kept=kept))
        checkpoint.remove()


def quality_of(estimator: EnsembleSettings) -> Quality:
    """What the quality of an estimator stands for."""
    known = NUMBER_QUALITIES if estimator.learns_values else QUALITIES
    return known[estimator.quality]


def clock_of(estimator: EnsembleSettings) -> Clock:
    """It runs from now on."""
    return Clock() if estimator.time_budget is None else Clock(float(estimator.time_budget))


RAW_TEXT = (
    "Text goes through a vectoriser, make_pipeline(TfidfVectorizer(), {0}()); "
    "sequences of symbols are compared as they are by KernelDiscriminant(Spectrum(3))."
)


def read_rows(
    estimator: EnsembleSettings, X: Rows, *, reset: bool, least: int | None = None
) -> Rows:
    """Rows as a frame, an array of numbers or objects, or a CSR matrix, checked against fit."""
    if isinstance(X, ReadRows):  # kept by an earlier fit, which has checked them
        return X
    views = as_views(X)
    X = as_rectangle(X if views is None else side_by_side(views)[0])
    least, text = least or (2 if reset else 1), RAW_TEXT.format(type(estimator).__name__)
    if is_sparse(X):
        check_sparse(X, "X")
    if is_frame(X):
        if len(X.shape) != 2:
            said = f"Expected 2D array, got a column of shape {tuple(X.shape)} instead"
            raise ValueError(f"{said}: pass a frame.{f' {text}' if reset else ''}")
        check_column_names(X, "X")
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if X.shape[0] < least or X.shape[1] < 1:
            raise ValueError(
                f"Found a frame of shape {tuple(X.shape)}; at least {least} sample(s) and 1 "
                "feature(s) are required."
            )
        return X
    objects = X.dtype.kind in "OUS"
    if objects and X.ndim == 1:
        raise ValueError(f"Expected 2D array, got 1D array of shape {X.shape} instead. {text}")
    check_not_flat(X)
    finite: bool | str = True if is_sparse(X) else False if objects else "allow-nan"
    return validate_data(
        estimator,
        X,
        accept_sparse="csr",
        dtype=None if objects else np.float64,
        ensure_all_finite=finite,
        ensure_min_samples=least,
        reset=reset,
    )


def column_groups(groups: Mapping[str, ColumnNames] | None, X: Rows) -> dict[str, Array]:
    """Named groups of columns as positions."""
    if isinstance(X, ReadRows):
        return X.groups
    views = as_views(X)
    if views is not None:
        if groups is not None:
            raise ValueError(
                "X is a list of arrays, one per group of columns, and column_groups names groups "
                "too. Give one of them."
            )
        spans = side_by_side(views)[1]
        return {f"view_{i}": np.arange(span.start, span.stop) for i, span in enumerate(spans)}
    if groups is None:
        return {}
    X = as_rectangle(X)
    found = {
        str(name): categorical_positions(columns, X, "column_groups")
        for name, columns in groups.items()
    }
    empty = [name for name, columns in found.items() if not columns]
    if empty:
        raise ValueError(f"column_groups has groups without columns: {', '.join(empty)}.")
    if len(found) < len(groups):
        raise ValueError(f"column_groups has two groups of one name among {list(groups)!r}.")
    return {name: np.array(columns) for name, columns in found.items()}


def candidates_for(
    quality: str, targets: AnyTargets, table: Table, reader: TableReader, groups: dict[str, Array]
) -> list[Candidate]:
    """All kernels that are tried on a table and its groups of columns."""

    def of(columns: Array | None, prefix: str) -> list[Candidate]:
        inside = np.arange(reader.n_columns) if columns is None else columns
        views = TableViews(
            numbers=bool(np.isin(reader.numbers, inside).any()),
            categories=bool(np.isin(reader.categories, inside).any()),
            is_sparse=is_sparse(table.numbers),
            prefix=prefix,
        )
        if isinstance(targets, NumberTargets):
            return number_bank(quality, views)
        return bank(quality, views, targets.n_classes if isinstance(targets, Targets) else None)

    found = of(None, "")
    for name, columns in groups.items():
        found += of(columns, f"{name}/")
    if len(groups) > 1:
        found += candidates("z", "groups1", loss="combined")
    return found


def size_of(
    estimator: EnsembleSettings,
    n_given: int,
    targets: AnyTargets,
    table: Table,
    reader: TableReader,
    tried: list[Candidate],
) -> EnsembleSize:
    """What the plan needs to know; the table may be a part of all rows."""
    views = {candidate.view for candidate in tried}
    learned = [candidate for candidate in tried if candidate.learned]
    most_learned = max(
        (sum(other.space == one.space for other in learned) for one in learned), default=0
    )
    families = Counter(family_of(one) for one in tried if one.loss == "likelihood")
    if families:  # the held-out scores of a family, and those of one of its parts
        most_learned = max(most_learned, 1 + max(families.values()))
    width = len(reader.numbers) + sum(len(levels) for levels in reader.levels)
    spaces = {candidate.space for candidate in tried}
    folds, blocks = 0, 0
    if estimator.assess == "nested":
        folds, blocks = folds_to_assess(targets, hurried=estimator.time_budget is not None)
    return EnsembleSize(
        n_given=n_given,
        n_rows=targets.n,
        row_bytes=row_bytes(table.numbers) + 8.0 * (width - len(reader.numbers)),
        n_columns=width,
        n_outputs=targets.Y.shape[1],
        views=len(views),
        has_ranks=not is_sparse(table.numbers) and any(view[-1] in RANKED_VIEWS for view in views),
        learned=most_learned,
        candidates=len(tried),
        n_jobs=min(effective_n_jobs(estimator.n_jobs), len(spaces)),
        folds=folds,
        blocks=blocks,
        n_classes=targets.n_classes if isinstance(targets, Targets) else 0,
        shares_statistics=not isinstance(targets, NumberTargets),
        smears=isinstance(targets, NumberTargets),
    )
