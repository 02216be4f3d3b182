"""Fits on streams: one pass that summarises, one for the moments; or a single one for both."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array, PathLike
from kernel_learn.fitting.kernel_rows import KernelRows
from kernel_learn.fitting.targets import (
    check_real_targets,
    choose_kind,
    encode_labels,
    warn_of_many_classes,
    warn_of_marks,
)
from kernel_learn.fitting.training import (
    Labelled,
    Training,
    Valued,
    copied_bytes,
    reads_unlabelled,
    stream_kernels,
    wanted_targets,
)
from kernel_learn.fitting.weights import at_safe_scale, warn_of_normalised
from kernel_learn.kernels.base import Kernel
from kernel_learn.representations import ArraySource, FeatureMap
from kernel_learn.representations.block import CheckedBlock, rebatch, stack_blocks
from kernel_learn.representations.plan import Plan
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.state import PassSum, StreamState, next_state, sum_states
from kernel_learn.representations.summary import CAPACITY, row_bytes
from kernel_learn.rows.labels import check_two_classes
from kernel_learn.rows.targets import CLASSES_OR_LABELS, TargetType
from kernel_learn.streams.blocks import READ_ROWS, NoRowsError, RowSource
from kernel_learn.streams.checked_blocks import CheckedBlocks, Target
from kernel_learn.streams.checkpoint import Checkpoint, signature_of
from kernel_learn.streams.gather import Room
from kernel_learn.streams.passes import Passes, after_seen
from kernel_learn.streams.progress import Progress
from kernel_learn.streams.sources import spread_source

# Rows read at a time before there is a plan: READ_ROWS, or so many as take READ_BYTES.
READ_BYTES = 4 * 10**6
FIRST_PASS = "pass 1 of 2, summary"


@contextmanager
def read_training(
    estimator: BaseEstimator,
    source: RowSource,
    *,
    checkpoint: PathLike | None = None,
) -> Iterator[Training]:
    """Checked training data from a source; ``estimator`` says what it wants of it.

    A source of few rows is read into arrays, and the fit is the same as on
    arrays. Of a larger one remain the summary, and the moments of the features.
    A checkpoint is kept until what is done with the data is done.
    """
    reading = _Reading(estimator, source, checkpoint)
    with closing(reading.checkpoint) if reading.checkpoint else nullcontext():
        yield reading.training()
        reading.progress.finish()
        if reading.checkpoint:
            reading.checkpoint.remove()


def training_of(
    kernels: list[Kernel],
    names: list[str] | None,
    source: ArraySource | PooledSource,
    classes: Array | None,  # None: values
    single: bool = True,
    is_set: bool = False,  # whether values are zeros and ones of sets of labels
) -> Training:
    """The source as what ``_fit`` learns from."""
    warn_of_normalised(source.n_rows, source.summary.n)
    if classes is None:
        kind: TargetType = "labels" if is_set else "numbers"
        labels = np.arange(source.n_targets) if is_set else None
        return Valued(kernels, source, names, None, source.n_rows, single, kind, labels)
    check_two_classes(classes)
    return Labelled(kernels, source, names, None, source.n_rows, classes)


class _Reading:
    """One fit's way through a source."""

    def __init__(
        self, estimator: BaseEstimator, source: RowSource, checkpoint: PathLike | None
    ) -> None:
        check_labelled(estimator)
        source = spread_source(source)
        self.estimator, self.source = estimator, source
        self.kernels, self.names, kernel = stream_kernels(estimator)
        self.blocks = CheckedBlocks(KernelRows(estimator, kernel), source, block_target(estimator))
        self.checkpoint = None
        if checkpoint is not None:
            self.checkpoint = Checkpoint(checkpoint, signature_of(estimator, source.identity()))
        self.progress = Progress(estimator, getattr(source, "n_rows", None))
        self.passes = Passes(self.blocks, self.progress, self.checkpoint)
        self.class_sums: bool = getattr(estimator, "needs_class_sums", False)
        # what the source knows of its rows: then a summary has fewer and larger parts
        known = READ_BYTES / getattr(source, "row_bytes", READ_BYTES / READ_ROWS)
        self.read_rows = max(READ_ROWS // 16, min(8 * READ_ROWS, int(known)))

    def training(self) -> Training:
        data = self._two_passes() if self.source.rewinds else self._one_pass()
        if isinstance(data, Labelled):
            warn_of_marks(data.classes, type(self.estimator).__name__)
            if wanted_targets(self.estimator) != "classes":
                warn_of_many_classes(data.classes, data.n_given)
        return data

    # -- a source that can be read again -----------------------------------------------

    def _two_passes(self) -> Training:
        spread, kept = self.passes.spread, self.passes.kept
        if spread:
            spread.look(self.blocks)
        if kept.get("is_summarized"):
            first: PassSum = self.passes.check(kept["summary"])
            if not spread:  # the first block says what rows look like
                next(self.blocks.read(self.read_rows), None)
        else:
            found, held = self._spread_summary() if spread else self._summarize()
            if held is not None:
                return self._as_arrays(held)
            assert found is not None
            first = found
            self.passes.keep(is_summarized=True, summary=first)
        state: StreamState = first.value
        pool = PooledSource(state)
        data = self._training(pool, state.classes)
        chosen = self.estimator._plan_stream(self.kernels, pool)
        if chosen.representation == "gram":
            if state.summary is None or state.summary.n_known is None:
                return self._as_arrays(list(self.passes.again(self.read_rows)))
            trusted = spread or getattr(self.source, "seeks", False)  # by its identity
            if kept.get("is_summarized") and not trusted:
                for _ in self.passes.again(self.read_rows):  # nothing else would read them
                    pass
            return replace(data, source=self._pooled(state, chosen))
        self.progress.say(f"{chosen}; {chosen.price}")
        if spread:
            spread.check(chosen)
        features = kept.get("features") or self.estimator._stream_features(data, chosen)
        self.kernels = features.kernels
        self.passes.keep(now=False, features=features)
        moments = self._moments(first, features, chosen)
        self.passes.keep(moments=moments, n_blocks=spread.n_blocks if spread else 0)
        state = replace(state, features=features, moments=moments.value.moments)
        return self._training(self._pooled(state, chosen), state.classes)

    def _moments(self, first: PassSum, features: FeatureMap, chosen: Plan) -> PassSum:
        """The second pass: moments of the features of all rows."""
        what, classes = f"pass 2 of 2, {chosen.n_landmarks} landmarks", first.value.classes
        rows, n = chosen.block_rows, first.n_rows
        if self.passes.spread:
            make = partial(self.passes.spread.moments, self.blocks, features, classes, rows)
            found = self.passes.add_waves(what, make, name="moments", expected=n)
            return self.passes.check(found)

        def work(block: CheckedBlock, before: StreamState | None) -> StreamState:
            found = StreamState.of(block, features, classes=classes, summarize=False)
            return replace(found, features=None)  # which are kept once

        before = self.passes.kept.get("moments")
        blocks = rebatch(self.passes.unseen(before, rows), rows)
        found = self.passes.add_up(what, blocks, work, before, name="moments", expected=n)
        return self.passes.check(found)

    def _pooled(self, state: StreamState, chosen: Plan) -> PooledSource:
        """What was read, with the way to read it again."""
        spread, workers = self.passes.spread, None
        if spread:
            workers = partial(self.passes.sum_again, partial(spread.sum_rows, self.blocks, chosen))
        return PooledSource(state, chosen, read=self.passes.again, add_up=workers)

    def _summarize(self) -> tuple[PassSum, list[CheckedBlock] | None]:
        """The state after one pass, and all rows if they are few."""
        held: list[CheckedBlock] | None = [] if self.checkpoint is None else None
        room = self._room()

        def work(rows: CheckedBlock, before: StreamState | None) -> StreamState:
            nonlocal held
            if held is not None:
                held.append(rows)
                if not takes(room, rows):
                    self._check_stream()
                    held = None
            return next_state(rows, before, class_sums=self.class_sums)

        if held is None:
            self._check_stream()
        before = self.passes.kept.get("summary")
        blocks = self.passes.unseen(before, self.read_rows)
        found = self.passes.add_up(FIRST_PASS, blocks, work, before, name="summary")
        return self.passes.check(found), held

    def _spread_summary(self) -> tuple[PassSum | None, list[CheckedBlock] | None]:
        """The same of a source that workers read."""
        spread, room = self.passes.spread, self._room()
        assert spread is not None
        n, found, bytes_each = spread.n_rows, None, spread.bytes_each
        if n is not None and not room.holds(n, n * bytes_each):
            self._check_stream()
        if n is None or self.checkpoint or not room.holds(n, n * bytes_each):
            work = partial(spread.summaries, self.blocks, self.class_sums)
            found = self.passes.check(self.passes.add_waves(FIRST_PASS, work, name="summary"))
            if spread.lacks_keys(found.value):  # then all are few: once more, and all of them
                all_keys = partial(work, bounded=False)
                found = self.passes.check(self.passes.add_waves(FIRST_PASS, all_keys))
            n = found.n_rows
        assert n is not None
        if not self.checkpoint and room.holds(n, n * bytes_each):
            return found, list(self.passes.again(self.read_rows))
        self._check_stream()
        return found, None

    # -- a source that is read once ----------------------------------------------------

    def _one_pass(self) -> Training:
        blocks = self.blocks.read(self.read_rows)
        before: PassSum | None = self.passes.kept.get("summary")
        if before is None:
            room, held = self._room(), []
            for rows in blocks:
                held.append(rows)
                if not takes(room, rows):
                    break
            else:
                return self._as_arrays(held)
            self._check_stream()
            before = self._begin(held)
            held.clear()
            self.passes.keep(now=False, summary=before)
        else:
            blocks = after_seen(blocks, before.read)
        features = before.value.features
        self.kernels = features.kernels
        pool = PooledSource(before.value, rewinds=False, is_open=True)
        chosen: Plan = self.estimator._plan_stream(self.kernels, pool)
        self.progress.say(f"{chosen}")
        found = self.passes.add_up(
            f"one pass, {chosen.n_landmarks} landmarks",
            rebatch(blocks, chosen.block_rows),
            lambda rows, state: next_state(rows, state, features, class_sums=self.class_sums),
            before,
            name="summary",
        )
        state = self.passes.check(found).value
        reason = f"{chosen.reason}; a source that is read once, landmarks from its first rows"
        chosen = replace(chosen, n_rows=state.n_rows, reason=reason)
        return self._training(PooledSource(state, chosen, rewinds=False), state.classes)

    def _begin(self, held: list[CheckedBlock]) -> PassSum:
        """Features from the first rows, and the state of these rows."""
        head = sum_states(held, None, class_sums=self.class_sums)
        features = start_features(self.estimator, self.kernels, self.names, head)
        return PassSum.over(
            rebatch(held, READ_ROWS),
            lambda blocks: sum_states(blocks, None, features, class_sums=self.class_sums),
        )

    # -- common ------------------------------------------------------------------------

    def _room(self) -> Room:
        return Room(self.estimator.memory_budget)

    def _check_stream(self) -> None:
        check_stream(self.estimator, self.source.rewinds)

    def _as_arrays(self, held: list[CheckedBlock]) -> Training:
        if not held:
            raise NoRowsError
        rows = stack_blocks(held)
        n = len(rows.weight)
        if n < 2:
            raise ValueError(f"The source has {n} row, and at least 2 are needed.")
        classes, labels, k = None, rows.y, None
        if not rows.is_valued:
            if self.blocks.is_told_by_itself and choose_kind(rows.y) == "numbers":
                labels = check_real_targets(rows.y)[:, None]
            else:
                classes, labels = encode_labels(rows.y, rows.weight)
                k = len(classes)
        weight = at_safe_scale(rows.weight)
        source = ArraySource(
            rows.X,
            labels,
            weight,
            n_classes=k,
            keys=rows.keys,
            copied_bytes=copied_bytes(rows.X, None),
        )
        return self._training(source, classes)

    def _training(self, source: ArraySource | PooledSource, classes: Array | None) -> Training:
        return training_of(
            self.kernels, self.names, source, classes, self.blocks.single, self.blocks.is_set
        )


def block_target(estimator: BaseEstimator) -> Target:
    """What the targets of blocks are, in the words of ``CheckedBlocks``."""
    wanted = wanted_targets(estimator)
    words: dict[str | None, Target] = {
        "auto": "auto",
        CLASSES_OR_LABELS: "labels or sets",
        "numbers": "values",
        "labels": "sets",
    }
    return words.get(wanted, "labels")


def takes(room: Room, rows: CheckedBlock) -> bool:
    """Whether there is room for these rows too."""
    n = len(rows.weight)
    return room.take(n, n * row_bytes(rows.X))


def start_features(
    estimator: BaseEstimator, kernels: list[Kernel], names: list[str] | None, head: StreamState
) -> FeatureMap:
    """Features, of kernels without rules, from the first rows, while more will come."""
    pool = PooledSource(head, rewinds=False, is_open=True)
    chosen = estimator._plan_stream(kernels, pool)
    data: Training
    if head.classes is None:
        data = training_of(kernels, names, pool, None)
    else:  # a single class for now: others may come
        data = Labelled(kernels, pool, names, None, pool.n_rows, head.classes)
    features: FeatureMap = estimator._stream_features(data, chosen)
    return features


def check_labelled(estimator: BaseEstimator) -> None:
    """Refuse rows without a target in a source: the graph needs all of them at once."""
    if reads_unlabelled(estimator):
        raise ValueError(
            f"{type(estimator).__name__}(unlabeled={estimator.unlabeled!r}) joins all rows in a "
            "graph, and those of a source come and go. Pass the rows as arrays, or "
            "kernels.GraphDeformed(X_graph=...) and the labelled rows."
        )


def check_stream(estimator: BaseEstimator, rewinds: bool) -> None:
    """Refuse, before more is read, what cannot be learned from rows that come and go."""
    check_labelled(estimator)
    name = type(estimator).__name__
    if not getattr(estimator, "streams", False):
        raise ValueError(
            f"{name} keeps all training rows, and this source has more than {CAPACITY} rows or "
            f"more bytes than {name} reads into memory. Pass the rows as an array."
        )
    landmarks = getattr(estimator, "landmarks", "auto")
    if isinstance(landmarks, str) and landmarks == "all" and not rewinds:
        raise ValueError(
            f"{name}(landmarks='all') keeps all rows, and this source, which is read once, has "
            "more than fit beside each other. Pass a number of landmarks."
        )
    given = np.asarray(landmarks) if isinstance(landmarks, list | tuple | np.ndarray) else None
    if given is not None and given.ndim == 1 and given.dtype.kind in "iu":
        raise ValueError(
            f"{name}(landmarks=) are numbers of rows, and rows of a stream have none that last. "
            "Pass the landmark rows themselves, a rule or a count."
        )
    getattr(estimator, "_check_stream", lambda: None)()
