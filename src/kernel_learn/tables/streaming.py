"""Tables that do not fit into memory: kinds of columns from some of the rows, the rest from all.

The sample holds the rows with the smallest of random keys, one drawn for each row: every row has
the same chance, whatever the blocks. For estimators that take numbers alone, a second reading
fits TableEncoder; the next gives the estimator blocks of encoded rows. KernelClassifier knows
what it says of some held-out rows, and one more reading finds these; for other methods a share
of the rows, told by a hash of their cells, is left out of the fit.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from kernel_learn.arrays import Array
from kernel_learn.representations.plan import format_bytes, parse_memory
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.block import Block
from kernel_learn.rows.frames import Frame, stack_frames
from kernel_learn.streams.blocks import Blocks
from kernel_learn.streams.readers import TableError, TableFiles, need_pandas
from kernel_learn.streams.splitting import uniform
from kernel_learn.tables.columns import Columns, as_word
from kernel_learn.tables.model import TableModel, as_number, table_keys

# A table in memory is there three times while it is encoded, and a fit needs room, too.
SHARE = 4
SAMPLE_ROWS = 20_000
# At most this share of the rows, and no more than SAMPLE_ROWS of them, judge a fit.
MOST_TEST = 0.1

Told = Callable[[int], None]  # how many rows of a pass were read


def is_too_large(table: TableFiles, memory: str | float | None) -> bool:
    """Whether the table takes more than its share of the memory; refuses what has no blocks."""
    budget, need = parse_memory(memory), table.nbytes
    if need * SHARE <= budget:
        return False
    for file in table.come_whole:
        raise TableError(
            f"{file} takes about {format_bytes(need)} in memory, and the budget is "
            f"{format_bytes(budget)}. Only CSV, TSV, JSON lines, LIBSVM and Parquet files are read "
            "in blocks; convert it, or raise --memory."
        )
    return True


def sample_rows(table: TableFiles, rows: int = SAMPLE_ROWS, seed: int = 0) -> tuple[Frame, int]:
    """So many rows of a table in their order, each with the same chance, and how many there are."""
    pandas, rng = need_pandas(), np.random.default_rng(seed)
    kept, keys, n = None, np.empty(0), 0
    for block in table.blocks():
        n += len(block)
        both = block if kept is None else pandas.concat([kept, block])
        keys = np.concatenate([keys, rng.random(len(block))])
        chosen = np.sort(np.argsort(keys, kind="stable")[:rows])
        kept, keys = both.iloc[chosen], keys[chosen]
    assert kept is not None
    return kept.reset_index(drop=True), n


def reads_blocks(estimator: type[BaseEstimator]) -> bool:
    """Whether estimators of a class say that they are fitted to rows in blocks."""
    return bool(getattr(estimator, "streams", False))


@dataclass(frozen=True)
class HeldShare:
    """Rows that are left out of a fit and judge it: equal rows are on one side, in every pass."""

    share: float
    seed: int = 0

    @classmethod
    def of(cls, n_rows: int, seed: int = 0) -> "HeldShare":
        """The share for a table of so many rows."""
        return cls(min(MOST_TEST, SAMPLE_ROWS / n_rows), seed)

    def holds(self, model: TableModel, frame: Frame) -> Array:
        """Which rows are test rows, (n,); the model knows its columns."""
        return uniform(table_keys(model.cast(frame)), self.seed) < self.share


@dataclass(frozen=True)
class JudgedRows:
    """Rows that figures are of, and what a model that has not seen them says of them."""

    frame: Frame  # without the target; its index has the numbers of the rows in the table
    y: Array  # labels as words, or numbers
    said: Array | None  # probabilities, or numbers; None: nobody knows, and refits have to tell
    words: str | None = None  # how the figures came about; None: as the estimator has it


def fit_in_blocks(
    model: TableModel,
    table: TableFiles,
    sample: Frame,  # of some rows, the target in it
    columns: Columns,
    test: HeldShare | None = None,
    told: Told = lambda rows: None,
    *,
    is_regression: bool = False,
) -> JudgedRows:
    """Fit the estimator to all rows, in blocks, or to all but a test share.

    The rows for figures are the test rows; without a test share those that the estimator has held
    out itself, else the sample.
    """
    target, as_target = model.target, as_floats if is_regression else words
    keeps_type = model.encoding == "light"
    fitted = clone(model.estimator)
    is_pipeline = isinstance(fitted, Pipeline)
    reads_all = is_pipeline or reads_blocks(type(fitted))

    def frames(side: bool) -> Iterator[Frame]:
        """The test rows of each block, or the others."""
        n = 0
        for block in labelled_blocks(table, target):
            n += len(block)
            yield block if test is None else block.loc[test.holds(model, block) == side]
            told(n)

    def learned() -> Iterator[Frame]:
        """The rows of the fit, in blocks; of the sample, if the estimator has these alone."""
        some = [sample if test is None else sample.loc[~test.holds(model, sample)]]
        return (block for block in (frames(False) if reads_all else some) if len(block))

    def blocks() -> Iterator[Block]:
        for block in learned():
            rows = model.encode(block)
            is_kept = keeps_type or is_sparse(rows)
            yield Block(rows if is_kept else np.asarray(rows), as_target(block[target]))

    encoded = model.fit_encoder(sample, columns, learned)
    kept = np.full(len(sample), True) if test is None else ~test.holds(model, sample)
    some, labels = encoded[kept], as_target(sample.loc[kept, target])
    if is_pipeline:  # what learns from all rows, and what keeps some of them
        fitted[-1].fit(fitted[0].fit(Blocks(blocks)).transform(some), labels)
    elif reads_all:
        fitted.fit(Blocks(blocks))
    else:  # what is there to compare with and needs few rows
        fitted.fit(some, labels)
    model.estimator_ = fitted
    if is_classifier := hasattr(fitted, "classes_"):
        model.classes_ = fitted.classes_
    if test is None:
        judged = judge_held_out(model, table, sample, as_target)
    else:
        judged = judge(model, frames(True), as_target)
    if is_classifier:
        model.labels_ = np.searchsorted(model.classes_, judged.y)
    return judged


def judge(
    model: TableModel, frames: Iterator[Frame], as_target: Callable[[Frame], Array]
) -> JudgedRows:
    """What a fitted model says of test rows; those of a class that it has not met are left out."""
    is_classifier = hasattr(model.estimator_, "classes_")
    say = say_probabilities if is_classifier else TableModel.predict
    found, said = [], []
    for frame in frames:
        if is_classifier:
            frame = frame.loc[np.isin(words(frame[model.target]), model.classes_)]
        if len(frame):
            found.append(frame)
            said.append(say(model, frame))
    if not found:
        raise TableError("No row is left to judge the fit by; give more rows, or raise --memory.")
    rows = stack_numbered(found)
    how = f"{len(rows)} test rows"
    y = as_target(rows[model.target])
    return JudgedRows(rows.drop(columns=model.target), y, np.concatenate(said), how)


def say_probabilities(model: TableModel, frame: Frame) -> Array:
    """Probabilities of the classes, or ones for what is predicted, (n, k)."""
    try:
        return model.predict_proba(frame)
    except AttributeError:
        said = np.asarray(model.estimator_.predict(model.encode(frame)))
        return np.asarray(said[:, None] == model.classes_[None, :], dtype=np.float64)


def judge_held_out(
    model: TableModel, table: TableFiles, sample: Frame, as_target: Callable[[Frame], Array]
) -> JudgedRows:
    """What the estimator says of rows that it has held out itself, if it has any."""
    fitted, target = model.estimator_, model.target
    said = held_out_answers(fitted)
    if said is not None:
        positions = getattr(fitted, "loo_rows_", np.arange(len(said)))
        some = np.linspace(0, len(said) - 1, min(len(said), SAMPLE_ROWS)).astype(int)
        said = said[some]
        sample = rows_at(labelled_blocks(table, target), positions[some])
    return JudgedRows(sample.drop(columns=target), as_target(sample[target]), said)


def held_out_answers(fitted: BaseEstimator) -> Array | None:
    """Probabilities, or numbers, of training rows by fits without them, if there are some."""
    for name in ("proba_", "prediction_"):
        for way in ("held_out_", "loo_"):
            if (found := getattr(fitted, way + name, None)) is not None:
                return np.asarray(found)
    return None


def labelled_blocks(table: TableFiles, target: str) -> Iterator[Frame]:
    """Blocks of a table without the rows that have no label."""
    for block in table.blocks():
        labelled = block.loc[block[target].notna()]
        if len(labelled):
            yield labelled


def rows_at(blocks: Iterator[Frame], positions: Array) -> Frame:
    """The rows at increasing positions, counted over all blocks, as one frame."""
    found, start = [], 0
    for block in blocks:
        inside = positions[(positions >= start) & (positions < start + len(block))] - start
        found.append(block.iloc[inside])
        start += len(block)
    return stack_numbered(found)


def stack_numbered(parts: Sequence[Frame]) -> Frame:
    """Blocks one below the other, each row with its number in the table."""
    return stack_frames(parts).set_axis(np.concatenate([part.index for part in parts]), axis=0)


def as_floats(column: Frame) -> Array:
    """Targets as floats."""
    return as_number(column, None).to_numpy(dtype=np.float64)


def words(column: Frame) -> Array:
    """Labels as strings: a block of whole numbers and one with a hole in it agree."""
    return as_word(column, None).to_numpy(dtype=object).astype(str)
