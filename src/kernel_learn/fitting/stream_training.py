"""Fits on streams: one pass that summarises, one for the moments; or a single one for both."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.fitting.checked_blocks import CheckedBlocks, after_seen, rebatch, stack_blocks
from kernel_learn.fitting.targets import encode_labels
from kernel_learn.fitting.training import Labelled, Training, Valued, copied_bytes, stream_kernels
from kernel_learn.fitting.weights import at_safe_scale, warn_of_normalised
from kernel_learn.kernels.base import Kernel
from kernel_learn.representations import ArraySource, FeatureMap
from kernel_learn.representations.plan import Plan, parse_memory
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.state import LabelledRows, StreamState
from kernel_learn.representations.summary import CAPACITY, CAPACITY_BYTES, row_bytes
from kernel_learn.streams.blocks import RowSource, is_spread, spread_source
from kernel_learn.streams.checkpoint import Checkpoint, CheckpointError, signature_of
from kernel_learn.streams.progress import Progress

# Rows read at a time before there is a plan: 4096, or so many as take READ_BYTES.
READ_ROWS, READ_BYTES = 4096, 4 * 10**6
# The share of the budget that rows may take which are held until it is known what they become.
HEAD_SHARE = 8
FIRST_PASS = "pass 1 of 2, summary"


@contextmanager
def read_training(
    estimator: Any, source: RowSource, *, values: bool = False, checkpoint: Any = None
) -> Iterator[Training]:
    """Checked training data from a source; ``estimator`` says what it wants of it.

    A source of few rows is read into arrays, and the fit is the same as on
    arrays. Of a larger one remain the summary, and the moments of the features.
    A checkpoint is kept until what is done with the data is done.
    """
    reading = _Reading(estimator, source, values, checkpoint)
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
) -> Training:
    """The source as what ``_fit`` learns from."""
    warn_of_normalised(source.n_rows, source.summary.n)
    if classes is None:
        return Valued(kernels, source, names, None, source.n_rows, single)
    if len(classes) < 2:
        raise ValueError(
            f"The source has {len(classes)} class ({classes.tolist()[0]!r}), and at least 2 "
            "classes are needed to learn what tells them apart."
        )
    return Labelled(kernels, source, names, None, source.n_rows, classes)


class _Reading:
    """One fit's way through a source."""

    def __init__(self, estimator: Any, source: RowSource, values: bool, checkpoint: Any) -> None:
        source = spread_source(source)
        self.estimator, self.source, self.values = estimator, source, values
        self.spread: Any = source if is_spread(source) else None  # workers add up over its blocks
        self.kernels, self.names, kernel = stream_kernels(estimator)
        self.blocks = CheckedBlocks(estimator, kernel, source, "values" if values else "labels")
        self.checkpoint = None
        if checkpoint is not None:
            self.checkpoint = Checkpoint(checkpoint, signature_of(estimator, source.identity()))
        self.progress = Progress(estimator, getattr(source, "n_rows", None))
        self.head_bytes = parse_memory(estimator.memory_budget) / HEAD_SHARE
        # what the source knows of its rows: then a summary has fewer and larger parts
        known = READ_BYTES / getattr(source, "row_bytes", READ_BYTES / READ_ROWS)
        self.read_rows = max(READ_ROWS // 16, min(8 * READ_ROWS, int(known)))

    def training(self) -> Training:
        saved = self.checkpoint.load() if self.checkpoint else None
        return self._two_passes(saved or {}) if self.source.rewinds else self._one_pass(saved)

    # -- a source that can be read again -----------------------------------------------

    def _two_passes(self, saved: dict[str, Any]) -> Training:
        state: Any = saved.get("summary")
        moments = saved.get("moments")
        if self.spread:
            self.spread.look(self.blocks)
        if not saved.get("is_summarized"):
            summarize = self._spread_summary if self.spread else self._summarize
            state, held = summarize(saved)
            if held is not None:
                return self._as_arrays(held)
        elif not self.spread:  # the first block says what rows look like
            next(self.blocks.read(self.read_rows), None)
        pool = PooledSource(state)
        data = self._training(pool, state.classes)
        chosen = self.estimator._plan_stream(self.kernels, pool)
        if chosen.representation == "gram":
            if state.summary.n_known is None:
                return self._as_arrays(list(self.blocks.read(self.read_rows)))
            return replace(data, source=self._pooled(state, chosen))
        self.progress.say(f"{chosen}; {chosen.price}")
        if self.spread:
            self.spread.check(chosen)
        features = saved.get("features") or (moments and moments.features)
        features = features or self.estimator._stream_features(data, chosen)
        self.kernels = features.kernels
        what = f"pass 2 of 2, {chosen.n_landmarks} landmarks"
        content = {"is_summarized": True, "summary": state}
        if self.spread:
            content["features"] = features  # what workers give has none
            own = (self.blocks, features, state.classes, chosen.block_rows)
            moments = self._add_waves(
                partial(self.spread.moments, *own), saved, "moments", content, what, state.n_rows
            )
        else:
            moments = self._add(
                moments,
                rebatch(self._unseen(moments, chosen.block_rows), chosen.block_rows),
                lambda rows, _: StreamState.of(
                    rows, features, values=self.values, classes=state.classes, summarize=False
                ),
                lambda found: {**content, "moments": found},
                what,
                state.n_rows,
            )
        if moments is None or not moments.same_rows(state):
            again = 0 if moments is None else moments.n_rows
            raise ValueError(
                f"The source gave {state.n_rows} rows in the first pass and {again} in "
                "the second, or other ones: it must give the same rows each time. If it cannot, "
                "pass an iterator, which is read once."
            )
        if self.checkpoint:
            whole = {"n_blocks": self.spread.n_blocks} if self.spread else {}
            self.checkpoint.write({**content, "moments": moments, **whole})
        state = replace(state, features=features, moments=moments.moments)
        return self._training(self._pooled(state, chosen), state.classes)

    def _pooled(self, state: StreamState, chosen: Plan) -> PooledSource:
        """What was read, with the way to read it again."""
        workers = partial(self.spread.sum_rows, self.blocks, chosen) if self.spread else None
        return PooledSource(state, chosen, read=self.blocks.read, add_up=workers)

    def _summarize(self, saved: dict[str, Any]) -> tuple[StreamState, list[LabelledRows] | None]:
        """The state after one pass, and all rows if they are few."""
        held: list[LabelledRows] | None = [] if self.checkpoint is None else None
        room = self._room()

        def of(rows: LabelledRows, before: StreamState | None) -> StreamState:
            nonlocal held
            if held is not None:
                held.append(rows)
                if not room(rows):
                    self._check_stream()
                    held = None
            return self._state(rows, before, None)

        if held is None:
            self._check_stream()
        found = self._add(
            saved.get("summary"),
            self._unseen(saved.get("summary"), self.read_rows),
            of,
            lambda found: {"is_summarized": False, "summary": found},
            FIRST_PASS,
            None,
        )
        if found is None:
            raise ValueError("The source has no rows.")
        if self.checkpoint:
            self.checkpoint.write({"is_summarized": True, "summary": found})
        return found, held

    def _spread_summary(
        self, saved: dict[str, Any]
    ) -> tuple[StreamState, list[LabelledRows] | None]:
        """The same of a source that workers read."""
        n: Any = self.spread.n_rows
        state: Any = None
        if n is not None and not self._holds(n, self.spread.bytes_each):
            self._check_stream()
        if n is None or self.checkpoint or not self._holds(n, self.spread.bytes_each):
            class_sums = getattr(self.estimator, "needs_class_sums", False)
            work = partial(self.spread.summaries, self.blocks, class_sums)
            content = {"is_summarized": False}
            state = self._add_waves(work, saved, "summary", content, FIRST_PASS, None)
            if state is None:
                raise ValueError("The source has no rows.")
            if self.spread.lacks_keys(state):  # then all are few: once more, and all of them
                all_keys = partial(work, bounded=False)
                state = self._add_waves(all_keys, {}, "summary", None, FIRST_PASS, None)
            n = state.n_rows
        if not self.checkpoint and self._holds(n, self.spread.bytes_each):
            return state, list(self.blocks.read(self.read_rows))
        self._check_stream()
        if self.checkpoint:
            self.checkpoint.write({"is_summarized": True, "summary": state})
        return state, None

    # -- a source that is read once ----------------------------------------------------

    def _one_pass(self, saved: dict[str, Any] | None) -> Training:
        blocks = self.blocks.read(self.read_rows)
        if saved is None:
            room, held = self._room(), []
            for rows in blocks:
                held.append(rows)
                if not room(rows):
                    break
            else:
                return self._as_arrays(held)
            self._check_stream()
            state = self._begin(held)
            held.clear()
        else:
            state = saved["summary"]
        assert state is not None
        features: Any = state.features
        self.kernels = features.kernels
        chosen = self._open_plan(state)
        self.progress.say(f"{chosen}")
        if saved is not None:
            blocks = after_seen(blocks, state, self.values)
        found = self._add(
            state,
            rebatch(blocks, chosen.block_rows),
            lambda rows, before: self._state(rows, before, features),
            lambda found: {"summary": found},
            f"one pass, {chosen.n_landmarks} landmarks",
            None,
        )
        state = state if found is None else found
        reason = f"{chosen.reason}; a source that is read once, landmarks from its first rows"
        chosen = replace(chosen, n_rows=state.n_rows, reason=reason)
        return self._training(PooledSource(state, chosen, rewinds=False), state.classes)

    def _begin(self, held: list[LabelledRows]) -> StreamState:
        """Features from the first rows, and the state of these rows."""
        head = None
        for rows in held:
            part = self._state(rows, head, None)
            head = part if head is None else head + part
        assert head is not None
        features = start_features(self.estimator, self.kernels, self.names, head)
        state = None
        for rows in rebatch(iter(held), READ_ROWS):
            part = self._state(rows, state, features)
            state = part if state is None else state + part
        assert state is not None
        return state

    def _open_plan(self, state: StreamState) -> Plan:
        pool = PooledSource(state, rewinds=False, is_open=True)
        chosen: Plan = self.estimator._plan_stream(self.kernels, pool)
        return chosen

    # -- common ------------------------------------------------------------------------

    def _state(
        self, rows: LabelledRows, before: StreamState | None, features: FeatureMap | None
    ) -> StreamState:
        return next_state(
            rows,
            before,
            features,
            values=self.values,
            class_sums=getattr(self.estimator, "needs_class_sums", False),
        )

    def _add_waves(
        self,
        make: Callable[[Any], Any],  # waves of states, of a pass that was begun or not
        saved: dict[str, Any],
        part: str,
        content: dict[str, Any] | None,  # that is kept beside it; None: nothing is kept
        what: str,
        expected: int | None,
    ) -> StreamState | None:
        """The state ``part`` of all rows, by workers; they go on after the blocks of a checkpoint.

        A checkpoint of a fit without workers has no number of blocks: the pass begins anew.
        """
        state = saved.get(part) if "n_blocks" in saved else None
        pause = None
        if self.checkpoint and content is not None:
            checkpoint = self.checkpoint
            pause = lambda: checkpoint.pause  # noqa: E731
        waves = make(
            self.spread.begin(
                self.progress,
                0 if state is None else saved["n_blocks"],
                0 if state is None else state.n_rows,
                pause,
            )
        )
        return self._add(
            state,
            waves,
            lambda found, _: found,
            None
            if content is None
            else lambda found: {**content, part: found, "n_blocks": waves.n_blocks},
            what,
            expected,
        )

    def _unseen(self, state: StreamState | None, rows: int) -> Iterator[LabelledRows]:
        """The rows after those of a checkpoint: sought, or read past and compared with it.

        What is sought was compared by the source's identity, as the checkpoint was loaded.
        """
        if state is None:
            return self.blocks.read(rows)
        if getattr(self.source, "seeks", False):
            return self.blocks.read(rows, state.n_rows)
        return after_seen(self.blocks.read(rows), state, self.values)

    def _add(
        self,
        state: StreamState | None,
        blocks: Iterable[Any],
        of: Callable[[Any, StreamState | None], StreamState],
        content: Callable[[StreamState], dict[str, Any]] | None,  # None: nothing is kept
        what: str,
        expected: int | None,
    ) -> StreamState | None:
        """The state with all rows of the blocks, which it has not seen; kept as it grows."""
        checkpoint = None if content is None else self.checkpoint
        self.progress.begin(what, expected, 0 if state is None else state.n_rows)
        try:
            for rows in blocks:
                part = of(rows, state)
                state = part if state is None else state + part
                self.progress.at(state.n_rows)
                if checkpoint and content and checkpoint.is_due:
                    checkpoint.write(content(state))
        except CheckpointError:
            raise
        except BaseException:
            if checkpoint and content and state is not None:
                checkpoint.write(content(state))
            raise
        finally:
            self.progress.end()
        return state

    def _room(self) -> Callable[[LabelledRows], bool]:
        return room_for(self.head_bytes)

    def _holds(self, n: int, bytes_each: float) -> bool:
        """Whether so many rows are few enough to be held."""
        return few_enough(n, n * bytes_each, self.head_bytes)

    def _check_stream(self) -> None:
        check_stream(self.estimator, self.source.rewinds)

    def _as_arrays(self, held: list[LabelledRows]) -> Training:
        if not held:
            raise ValueError("The source has no rows.")
        rows = stack_blocks(held)
        n = len(rows.weight)
        if n < 2:
            raise ValueError(f"The source has {n} row, and at least 2 are needed.")
        classes, labels, k = None, rows.y, None
        if not self.values:
            classes, labels = encode_labels(rows.y, rows.weight)
            k = len(classes)
        weight = at_safe_scale(rows.weight)
        source = ArraySource(
            rows.X, labels, weight, n_classes=k, copied_bytes=copied_bytes(rows.X, None)
        )
        return self._training(source, classes)

    def _training(self, source: ArraySource | PooledSource, classes: Array | None) -> Training:
        return training_of(self.kernels, self.names, source, classes, self.blocks.single)


def few_enough(n: int, size: float, head_bytes: float) -> bool:
    """Whether n rows of so many bytes may be held."""
    return n <= CAPACITY and size <= min(CAPACITY_BYTES, head_bytes)


def room_for(head_bytes: float) -> Callable[[LabelledRows], bool]:
    """Whether rows still fit among those that are held; asked of one block after the other."""
    n, size = 0, 0.0

    def fits(rows: LabelledRows) -> bool:
        nonlocal n, size
        n += len(rows.weight)
        size += len(rows.weight) * row_bytes(rows.X)
        return few_enough(n, size, head_bytes)

    return fits


def start_features(
    estimator: Any, kernels: list[Kernel], names: list[str] | None, head: StreamState
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


def next_state(
    rows: LabelledRows,
    before: StreamState | None,
    features: FeatureMap | None,
    *,
    values: bool,
    class_sums: bool = False,
) -> StreamState:
    """The state of a block that will be added to ``before``: nothing is kept that would be cut."""
    summary = None if before is None else before.summary
    return StreamState.of(
        rows,
        features,
        values=values,
        classes=None if before is None else before.classes,
        last_key=None if summary is None else summary.last_key,
        class_sums=class_sums,
    )


def check_stream(estimator: Any, rewinds: bool) -> None:
    """Refuse, before more is read, what cannot be learned from rows that come and go."""
    name = type(estimator).__name__
    if not getattr(estimator, "streams", False):
        raise ValueError(
            f"{name} keeps all training rows, and this source has more than {CAPACITY} rows or "
            f"more bytes than {name} reads into memory. Pass the rows as an array."
        )
    landmarks = estimator.landmarks if hasattr(estimator, "landmarks") else "auto"
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
    check = getattr(estimator, "_check_stream", None)
    if check is not None:
        check()
