"""Whatever a source gives otherwise in a later pass, or after an interruption, is refused by name.

Every estimator that streams, on every kind of source: a row, a label, a weight, the order of two
rows or the number of rows is another one.
"""

import inspect
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.preprocessing import FunctionTransformer

import kernel_learn as kl
from extras import optional
from kernel_learn.datasets import Blocks, CsvSource, LibsvmSource, NpySource, ParquetSource
from kernel_learn.ensemble import leaves, plan, quality
from kernel_learn.fitting import stream_training
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.state import PassSum
from kernel_learn.rows.digest import PassDigest
from kernel_learn.streams import checkpoint as checkpoints
from kernel_learn.streams import gather, spill
from kernel_learn.streams.blocks import ArrayRows
from kernel_learn.streams.checked_blocks import CheckedBlocks
from kernel_learn.streams.passes import Passes
from kernel_learn.streams.progress import Progress

plans = sys.modules["kernel_learn.representations.plan"]  # the package has a function of its name
pandas = optional("pandas")
N, SIZE, ROW = 120, 20, 25  # the row that is changed is among the first that are counted
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 3)).round(3)
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.7)
W = rng.integers(1, 3, N).astype(float)
W[ROW] = 1.0
STREAMED = sorted(
    name
    for name in kl.__all__
    if getattr(getattr(kl, name), "streams", False)
    and name not in ("KernelClassifier", "KernelRegressor")  # see the end
)
KEPT = [n for n in STREAMED if "checkpoint" in inspect.signature(getattr(kl, n).fit).parameters]
SAID = {
    "row": r"gave other rows|rows.* differ",
    "label": r"gave other labels|: labels differ|gave the label",
    "weight": r"gave other weights|: weights differ",
    "order": r"another order",
    "length": r"119 rows.* and 120 rows|there are 119 rows|gave other rows|rows.* differ",
}
# What is known of a file is its size and time: the file is named.
NAMED_FILES = r"another or changed source: (X|y|w|rows)\.(npy|csv|svm|parquet) was"


class StopError(Exception):
    """What ends a fit in these tests."""


def changed(what, end=False):
    """(X, y, w) of which one thing is another; the last row is gone, or one in the middle."""
    rows, labels, weight = X.copy(), Y.copy(), W.copy()
    if what == "row":
        rows[ROW, 1] += 1e-3
    elif what == "label":
        labels[ROW] = (labels[ROW] + 1) % 3
    elif what == "weight":
        weight[ROW] = 3.0
    elif what == "order":
        swap = np.arange(N)
        swap[[ROW, ROW + 1]] = swap[[ROW + 1, ROW]]
        return rows[swap], labels[swap], weight[swap]
    elif what == "length":
        kept = np.delete(np.arange(N), N - 1 if end else ROW)
        return rows[kept], labels[kept], weight[kept]
    return rows, labels, weight


def make(name):
    kind = getattr(kl, name)
    wanted = {"landmarks": 6, "random_state": 0, "reg": 0.1}
    wanted |= {"loss": "squared_hinge"} if name in ("MultiKernelSVC", "SubspaceSVC") else {}
    return kind(**{k: v for k, v in wanted.items() if k in inspect.signature(kind).parameters})


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Few rows are held, blocks are small, and each is kept as soon as it is counted."""
    monkeypatch.setattr(gather, "CAPACITY", 30)
    monkeypatch.setattr(stream_training, "READ_ROWS", SIZE)
    monkeypatch.setattr(plans, "BLOCK_BYTES", 8000)
    for name in ("LEAST_SECONDS", "SHARE"):
        monkeypatch.setattr(checkpoints, name, 0)


# -- sources: each can be told what it gives from now on -----------------------------------


class Given:
    """Blocks of the rows that it was told to give; ``stop`` ends a fit after so many rows."""

    weighted = True

    def __init__(self, folder):
        self.folder, self.stop, self.given, self.passes = folder, None, 0, 0
        self.changes = {}  # what it gives from this pass on
        self.looks = False
        self.begin()

    def begin(self):
        self.tell(X, Y, W)

    def tell(self, *data):
        self.data = data
        self.write(*data)

    def write(self, rows, labels, weight):
        """To a file, if it is one."""

    def source(self):
        return self.blocks

    def fit(self, model, **options):
        return model.fit(self.source(), **options)

    def blocks(self):
        rows, labels, weight = self.next_pass()
        for i in range(0, len(labels), SIZE):
            part = slice(i, i + SIZE)
            self.count(len(labels[part]))
            yield rows[part], labels[part], weight[part]

    def next_pass(self):
        self.passes += 1
        if self.passes in self.changes:
            self.tell(*self.changes[self.passes])
        return self.data

    def count(self, n):
        if self.looks:
            return
        if self.stop is not None and self.given >= self.stop:
            raise StopError
        self.given += n

    def watched(self, source):
        """A source whose passes are counted; it gives what is told before each."""
        read = source.read

        def watch(rows):
            self.next_pass()
            for block in read(SIZE):
                self.count(len(block.y))
                yield block

        source.read = watch
        return source


class Listed(Given):
    """A list of blocks that a program changes."""

    def begin(self):
        self.listed = []
        super().begin()

    def tell(self, *data):
        super().tell(*data)
        cuts = range(0, len(self.data[1]), SIZE)
        self.listed[:] = [tuple(A[i : i + SIZE] for A in self.data) for i in cuts]

    def source(self):
        return self.watched(Blocks(self.listed))


class Once(Given):
    """An iterator, which is read once."""

    def source(self):
        return self.blocks()


class Arrays(Given):
    """Arrays that a program changes while they are read."""

    def source(self):
        return self.watched(ArrayRows(*self.data))

    def next_pass(self):
        self.passes += 1
        for own, new in zip(self.data, self.changes.get(self.passes, ()), strict=False):
            own[:] = new  # of a part, if rows are gone
        return self.data

    def tell(self, *data):
        self.data = tuple(np.array(A) for A in data)


class Unweighted(Arrays):
    """The same without weights: rows that were counted are not read again."""

    weighted = False

    def tell(self, rows, labels, weight):
        super().tell(rows, labels)


class Npy(Given):
    def write(self, *data):
        for name, A in zip("Xyw", data, strict=True):
            np.save(self.folder / f"{name}.npy", A)

    def source(self):
        return self.watched(NpySource(*(self.folder / f"{name}.npy" for name in "Xyw")))


class Sought(Npy):
    """Without weights: rows that were counted are not read again."""

    weighted = False

    def source(self):
        return self.watched(NpySource(*(self.folder / f"{name}.npy" for name in "Xy")))


def framed(rows, labels, weight):
    return pandas.DataFrame(rows, columns=list("abc")).assign(y=labels, w=weight)


class Csv(Given):
    def write(self, *data):
        framed(*data).to_csv(self.folder / "rows.csv", index=False)

    def source(self):
        path = self.folder / "rows.csv"
        return self.watched(CsvSource(path, target="y", weight="w", dtype=float))


class Parquet(Given):
    def write(self, *data):
        framed(*data).to_parquet(self.folder / "rows.parquet", row_group_size=30)

    def source(self):
        return self.watched(ParquetSource(self.folder / "rows.parquet", target="y", weight="w"))


class Libsvm(Given):
    weighted = False

    def write(self, rows, labels, weight):
        dump_svmlight_file(rows, labels, str(self.folder / "rows.svm"), zero_based=False)

    def source(self):
        return self.watched(LibsvmSource(self.folder / "rows.svm", 3))


@contextmanager
def watched_trees(source, scheduler):
    """Workers are told what to give before each pass: its tree, or the first block read here."""
    import dask

    from kernel_learn.streams import dask as collections
    from kernel_learn.streams.dask_tree import TaskTree

    compute, count_blocks = TaskTree.compute, collections.count_blocks

    def looked(*args):
        """How X and y are cut, which is asked before a pass."""
        source.looks = True
        try:
            return count_blocks(*args)
        finally:
            source.looks = False

    def told(tree, items):
        if tree.what not in ("look", "count") and (tree.what != "read" or items[0][0] == [0]):
            source.next_pass()
        source.count_tree(tree.what, [number for numbers, _ in items for number in numbers])
        return compute(tree, items)

    with pytest.MonkeyPatch.context() as patch, dask.config.set(scheduler=scheduler):
        patch.setattr(TaskTree, "compute", told)
        patch.setattr(collections, "count_blocks", looked)
        patch.setattr("kernel_learn.streams.dask_rows.TASK_SECONDS", 1e-9)
        patch.setattr("kernel_learn.streams.dask_rows.WAVE_TASKS", 2)
        yield


class Dask(Given):
    """Blocks that workers compute; each pass is one of their trees."""

    def begin(self):
        pytest.importorskip("dask.array")
        super().begin()

    def parts(self):
        import dask.array as da

        numbers = da.arange(N // SIZE, chunks=1)
        named = {"meta": np.empty((0, 3)), "chunks": ((np.nan,) * (N // SIZE), (3,))}
        tokens = [da.core.tokenize(A, str(self.folder)) for A in self.data]
        rows = numbers.map_blocks(self.part(0), name=tokens[0], new_axis=1, **named)
        others = [
            numbers.map_blocks(self.part(i), name=f"{i}{tokens[i]}", chunks=named["chunks"][:1])
            for i in (1, 2)
        ]
        return rows, *others

    def count_tree(self, what, numbers):
        """Rows are counted as they are computed."""

    def part(self, i):
        def of(number):
            at = SIZE * int(number[0])
            own = self.data[i][at : at + SIZE]
            if i == 0:
                self.count(len(own))
            return own

        return of

    def fit(self, model, **options):
        with watched_trees(self, "synchronous"):
            return model.fit(*self.parts(), **options)


class DaskFrame(Dask):
    numbers = count()

    def begin(self):
        pytest.importorskip("dask.dataframe")
        self.number = next(self.numbers)
        super().begin()

    def parts(self):
        import dask.dataframe as dd

        return dd.from_map(self, range(N // SIZE), meta=framed(X[:0], Y[:0], W[:0])), "y", "w"

    def __call__(self, number):
        own = [A[SIZE * number : SIZE * (number + 1)] for A in self.data]
        self.count(len(own[1]))
        return framed(*own)

    def __dask_tokenize__(self):
        # and which of them: Dask gives an earlier one in its place while that is alive
        return [A.tobytes() for A in self.data], str(self.folder), self.number


@cache
def client():
    """Workers in this process, which are not found by those who do not ask for them."""
    distributed = pytest.importorskip("distributed")
    one = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    return distributed.Client(**one, set_as_default=False)


@pytest.fixture(scope="module", autouse=True)
def no_client_is_left():
    yield
    if client.cache_info().currsize:
        client().close()


class SpreadParquet(Parquet):
    """Files that the workers of a client read, a row group each."""

    def fit(self, model, **options):
        with watched_trees(self, client()):
            return model.fit(self.source(), **options)

    def source(self):
        return ParquetSource(self.folder / "rows.parquet", target="y", weight="w")

    def count_tree(self, what, numbers):
        """Workers have a copy of the source: rows are counted before they are sent for."""
        if what not in ("look", "count"):
            self.count(30 * len(numbers))


class Mapped(Given):
    """Blocks behind a transformer, whose rows are compared as they leave it."""

    def source(self):
        same = FunctionTransformer(validate=True).fit(X)
        return Blocks(self.blocks).map(same)


class Share(Given):
    """The training rows of a split by content: a row that changes goes over or stays another."""

    def source(self):
        everything = Blocks(self.blocks)
        return everything.split(test_size=1e-9)[0]


AGAIN = [Given, Listed, Arrays, Unweighted, Npy, Sought, Csv, Parquet, Libsvm, Dask, DaskFrame]
AGAIN += [SpreadParquet, Mapped, Share]
FRAMES = (Csv, Parquet, DaskFrame, SpreadParquet)


def told(kind, folder):
    for package in ("pandas",) * (kind in FRAMES) + ("pyarrow",) * issubclass(kind, Parquet):
        pytest.importorskip(package)
    return kind(folder)


def differs(kind, what):
    """Whether a source of this kind can give this otherwise."""
    return kind.weighted or what != "weight"


# -- passes --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STREAMED)
@pytest.mark.parametrize("kind", AGAIN)
def test_a_later_pass_that_gives_something_else(name, kind, tmp_path):
    source = told(kind, tmp_path)
    model = source.fit(make(name))
    assert model.plan_.representation == "landmarks"
    assert source.passes > 1
    passes = {2} if name != "SubspaceSVC" else {2, source.passes}
    for at in range(2, source.passes + 1) if kind is Given else sorted(passes):
        for what in SAID:
            if not differs(kind, what) or (issubclass(kind, Arrays) and what == "length"):
                continue
            source.begin()
            source.passes, source.changes = 0, {at: changed(what, end=True)}
            with pytest.raises(ValueError, match=SAID[what]):
                source.fit(make(name))
            assert source.passes == at  # and not later


@pytest.mark.parametrize(("rows", "groups"), [(90, 3), (150, 5)])
def test_row_groups_that_come_or_go_between_passes_on_workers(rows, groups, tmp_path):
    """They read the row groups that were there at first: that others came would not be seen."""
    source = told(SpreadParquet, tmp_path)
    source.changes = {2: [A[np.arange(rows) % N] for A in (X, Y, W)]}
    said = f"rows.parquet had 4 row groups when the fit began and has {groups} in a later pass"
    with pytest.raises(ValueError, match=said):
        source.fit(make("KernelDiscriminant"))


@pytest.mark.parametrize("name", ["HSICSubspace", "SubspaceSVC"])
def test_a_label_that_was_not_there(name, tmp_path):
    source = Given(tmp_path)
    source.changes = {2: (X, np.where(np.arange(N) == ROW, 9, Y), W)}
    with pytest.raises(ValueError, match=r"gave the label 9 in a later pass|gave other labels"):
        source.fit(make(name))


def test_what_differs_is_named_whatever_the_blocks(tmp_path):
    """A source may cut its rows otherwise in each pass."""
    sizes = iter([20, 7, 120])

    def blocks():
        size = next(sizes)
        for i in range(0, N, size):
            yield X[i : i + size], Y[i : i + size], W[i : i + size]

    make("KernelDiscriminant").fit(blocks)


def test_rows_of_weight_zero_do_not_count():
    """Of them nothing is compared; that a row counts no more is said."""
    zero = np.where(np.arange(N) == ROW, 0.0, W)
    other = np.where(np.arange(N)[:, None] == ROW, 9.0, X)
    passes = iter([(X, Y, zero), (other, Y, zero)])

    def blocks():
        rows, labels, weight = next(passes)
        yield rows[:60], labels[:60], weight[:60]
        yield rows[60:], labels[60:], weight[60:]

    make("KernelDiscriminant").fit(blocks)
    passes = iter([(X, Y, W), (X, Y, zero)])
    said = r"119 rows of positive weight in a later pass and 120 rows of positive weight"
    with pytest.raises(ValueError, match=said):
        make("KernelDiscriminant").fit(blocks)


# -- interruptions -------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("kind", [*AGAIN, Once])
def test_a_fit_that_goes_on_with_something_else(name, kind, tmp_path):
    if kind is Once and name == "KernelDiscriminantQR":
        pytest.skip("reads its rows twice")
    for stop in (60, N + 60) if kind is not Once else (60,):
        for what in SAID:
            if not differs(kind, what):
                continue
            source, folder = told(kind, tmp_path), tmp_path / f"{stop} {what}"
            source.stop = stop
            with pytest.raises(StopError):
                source.fit(make(name), checkpoint=folder)
            before = (folder / "fit.npz").read_bytes()
            source.stop = None
            source.tell(*changed(what))
            said = NAMED_FILES if isinstance(source, Npy | Csv | Parquet | Libsvm) else SAID[what]
            if kind is DaskFrame:
                said = "another or changed source: rows, labels or weights differ from those of"
            elif kind in (Unweighted, Dask) and what in ("order", "length"):
                said = r"another or changed source: rows.* differ"
            elif what == "length" and kind is Arrays:
                said = r"shape was \['120', '3'\] and is \['119', '3'\]"
            with pytest.raises(ValueError, match=said):
                source.fit(make(name), checkpoint=folder)
            assert (folder / "fit.npz").read_bytes() == before


def test_weights_of_arrays_that_were_interrupted(tmp_path):
    """The model of neither weights was fitted without a word."""
    model, stops = make("KernelDiscriminant"), [1]
    W2 = np.where(Y == 1, 1000.0, 1.0)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(StopError):
        read = ArrayRows.read_from

        def until(self, start, rows):
            for block in read(self, start, rows):
                stops.append(1)
                if len(stops) > 4:
                    raise StopError
                yield block

        patch.setattr(ArrayRows, "read_from", until)
        model.fit(X, Y, sample_weight=W, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="weights differ from those of the checkpoint"):
        model.fit(X, Y, sample_weight=W2, checkpoint=tmp_path)
    whole = make("KernelDiscriminant").fit(X, Y, W)
    model.fit(X, Y, sample_weight=W, checkpoint=tmp_path)
    np.testing.assert_allclose(model.transform(X), whole.transform(X), atol=1e-8)


def test_a_pass_that_is_refused_is_not_kept(tmp_path):
    """After it the source that the fit was begun with goes on."""
    source = Given(tmp_path)
    source.stop = N  # between the passes
    with pytest.raises(StopError):
        source.fit(make("KernelDiscriminant"), checkpoint=tmp_path)
    source.stop = None
    source.tell(*changed("row"))
    with pytest.raises(ValueError, match="rows differ from those of the checkpoint"):
        source.fit(make("KernelDiscriminant"), checkpoint=tmp_path)
    source.tell(X, Y, W)
    model = source.fit(make("KernelDiscriminant"), checkpoint=tmp_path)
    whole = make("KernelDiscriminant").fit(X, Y, W)
    np.testing.assert_allclose(model.transform(X), whole.transform(X), atol=1e-8)


def test_few_distinct_rows_are_compared_after_an_interruption(tmp_path, monkeypatch):
    """The fit is exact on the summary, and nothing else would read the source again."""
    few = np.arange(N) % 15
    data = X[few], Y[few], W
    source = Given(tmp_path)
    source.data = data
    with monkeypatch.context() as patch, pytest.raises(StopError):

        def stopped(self, *args):
            raise StopError

        patch.setattr(kl.KernelDiscriminant, "_fit", stopped)
        kl.KernelDiscriminant(reg=0.1).fit(source.source(), checkpoint=tmp_path)
    source.data = data[0], data[1], np.where(np.arange(N) == ROW, 3.0, W)
    with pytest.raises(ValueError, match="weights differ from those of the checkpoint"):
        kl.KernelDiscriminant(reg=0.1).fit(source.source(), checkpoint=tmp_path)
    source.data = data
    model = kl.KernelDiscriminant(reg=0.1).fit(source.source(), checkpoint=tmp_path)
    assert model.plan_.representation == "gram"


def test_a_checkpoint_of_another_version_is_refused_in_a_sentence(tmp_path):
    from kernel_learn.representations.state_files import write_file

    write_file(tmp_path / "fit.npz", {"signature": {"model": {}, "source": {}}, "summary": 1})
    with pytest.raises(ValueError, match=r"written by another version.*Delete it, or name another"):
        Given(tmp_path).fit(make("HSICSubspace"), checkpoint=tmp_path)


# -- KernelClassifier and KernelRegressor --------------------------------------------------


class CountedCalls:
    """A function that ends a fit at one of its calls."""

    def __init__(self, function):
        self.function, self.stop, self.calls = function, None, 0

    def __get__(self, instance, owner):
        return self if instance is None else lambda *args: self(instance, *args)

    def __call__(self, *args):
        if self.calls == self.stop:
            raise StopError
        self.calls += 1
        return self.function(*args)


WAYS = [
    (name, way)
    for name in ("KernelClassifier", "KernelRegressor")
    for way in ("memory", "disk", "landmarks")
]


@pytest.fixture(params=WAYS, ids="-".join)
def ensemble(request, monkeypatch):
    """(where rows are, what makes an estimator, what may end its fit)."""
    name, way = request.param
    monkeypatch.setitem(quality.QUALITIES, "fast", quality.Quality(40, 2, 1, 1))
    monkeypatch.setitem(quality.PLAIN, "fast", {"z": "rbf1 rbf3", "u": "rbf1"})
    monkeypatch.setitem(quality.NUMBER_QUALITIES, "fast", quality.Quality(40, 2, 1, 1))
    monkeypatch.setitem(quality.NUMBER_PLAIN, "fast", {"z": "lin rbf1"})
    for limit, rows in (("NARROW_ROWS", 50), ("EXACT_ROWS", 40), ("LEAF_ROWS", 20)):
        monkeypatch.setattr(plan, limit, rows)
    work, owner, attribute = None, leaves, "fit_one_leaf"
    if way == "landmarks":
        owner, attribute = FeatureMap, "block_moments"
        monkeypatch.setattr(spill, "DISK_SHARE", 1e-12)
    work = CountedCalls(inspect.getattr_static(owner, attribute))
    monkeypatch.setattr(owner, attribute, work)
    if way != "memory":
        monkeypatch.setattr(gather, "HEAD_SHARE", 1e9)
    budget = {"memory": None, "disk": "220kB", "landmarks": "600kB"}[way]

    def make_ensemble():
        return getattr(kl, name)(quality="fast", memory_budget=budget)

    return way, make_ensemble, work


KINDS = [
    Given,
    Listed,
    Npy,
    Sought,
    Csv,
    Parquet,
    Libsvm,
    Dask,
    DaskFrame,
    Mapped,
    Share,
]  # read in this process


@pytest.mark.filterwarnings("ignore:The rows do not fit")
@pytest.mark.parametrize("kind", KINDS)
def test_an_ensemble_reads_the_same_in_each_pass(ensemble, kind, tmp_path):
    """Rows in memory and on the disk are read once; landmarks are fitted in a second pass."""
    way, make_ensemble, _ = ensemble
    source = told(kind, tmp_path)
    source.fit(make_ensemble())
    first = 2 if way == "landmarks" else 1  # before it some rows are tried on the disk
    assert source.passes == {"memory": 1, "disk": 1, "landmarks": 3}[way]
    for at in range(first + 1, source.passes + 1):
        for what in filter(lambda what: differs(kind, what), SAID):
            source.begin()
            source.passes, source.changes = 0, {at: changed(what, end=True)}
            with pytest.raises(ValueError, match=SAID[what]):
                source.fit(make_ensemble())
    if way == "landmarks":
        source.begin()
        source.passes, source.changes = 0, {3: (X, np.where(np.arange(N) == ROW, 9, Y), W)}
        with pytest.raises(ValueError, match=r"gave (the label 9|other labels) in a later"):
            source.fit(make_ensemble())


@pytest.mark.filterwarnings("ignore:The rows do not fit")
@pytest.mark.parametrize("kind", [*KINDS, Once, Arrays])
def test_an_ensemble_that_goes_on_with_something_else(ensemble, kind, tmp_path):
    way, make_ensemble, work = ensemble
    if kind is Once and way == "landmarks":
        pytest.skip("landmarks are fitted in a second pass")
    if kind is Arrays and way != "memory":
        pytest.skip("arrays are in memory")

    def run(source, **options):
        model = make_ensemble()
        return (
            model.fit(*source.data, **options) if kind is Arrays else source.fit(model, **options)
        )

    source, folder = told(kind, tmp_path), tmp_path / "state"
    work.stop = 3
    with pytest.raises(StopError):
        run(source, checkpoint=folder)
    work.stop = None
    before = (folder / "fit.npz").read_bytes()
    for what in filter(lambda what: differs(kind, what), SAID):
        source.tell(*changed(what))
        with pytest.raises(ValueError, match=f"changed source.*({SAID[what]})"):
            run(source, checkpoint=folder)
        assert (folder / "fit.npz").read_bytes() == before
    source.tell(X, Y, W)
    calls, work.calls = work.calls, 0
    again = run(source, checkpoint=folder)
    gone_on, work.calls = work.calls, 0
    whole = run(source)
    assert calls == 3 and gone_on < work.calls
    rows = framed(X, Y, W)[list("abc")] if kind is DaskFrame else X
    for ask in {"predict", "predict_proba"} & {*dir(again)}:  # what is not known is not listed
        np.testing.assert_array_equal(getattr(again, ask)(rows), getattr(whole, ask)(rows))
    assert not list(folder.iterdir())


@pytest.mark.filterwarnings("ignore:The rows do not fit")
@pytest.mark.parametrize("ensemble", [way for way in WAYS if way[1] == "landmarks"], indirect=True)
def test_a_column_of_which_the_first_blocks_have_nothing(ensemble):
    """A category that shows late is the same in both passes."""
    _, make_ensemble, _ = ensemble
    frame = pandas.DataFrame(X, columns=list("abc")).assign(code=np.where(Y > 0, "x", "y"))

    def blocks():
        for i in range(0, N, SIZE):
            part = frame.iloc[i : i + SIZE]
            yield part.assign(code=np.nan) if i < 60 else part, Y[i : i + SIZE]

    assert make_ensemble().fit(blocks).plan_.representation == "landmarks"


def test_workers_go_on_after_the_blocks_and_rows_of_a_checkpoint():
    passes = Passes(CheckedBlocks(None, Blocks([]), "labels"), Progress(kl.KernelDiscriminant()))
    passes.kept = {"moments": PassSum(PassDigest(30)), "n_blocks": 4}
    begun = []

    def make(passed):
        begun.append((passed.n_blocks, passed.n_rows, passed.pause))
        return []

    assert passes.add_waves("moments", make, name="moments").n_rows == 30
    assert passes.add_waves("again", make) is None
    assert begun == [(4, 30, None), (0, 0, None)]


def test_sums_of_workers_are_not_gone_on_from_here():
    """Rows stand at other places where workers read them."""
    blocks, progress = CheckedBlocks(None, Blocks([]), "labels"), Progress(kl.KernelDiscriminant())
    for by_workers, kept in ((True, {"is_spread": False}), (False, {"is_spread": False, "n": 1})):
        work = SimpleNamespace(content={"is_spread": by_workers, "n": 1})
        assert Passes(blocks, progress, work).kept == kept


def test_a_first_pass_without_rows_is_refused():
    passes = Passes(CheckedBlocks(None, Blocks([]), "labels"), Progress(kl.KernelDiscriminant()))
    for found in (None, PassSum(PassDigest())):
        with pytest.raises(ValueError, match="has no rows"):
            passes.check(found)
    passes.check(PassSum(PassDigest(3)))
    with pytest.raises(ValueError, match="0 rows in a later pass and 3 rows in the first"):
        passes.check(None)


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_fit_that_goes_on_names_the_checkpoint(goes_on):
    content = {"is_spread": False, "summary": None} if goes_on else {}
    checkpoint = SimpleNamespace(content=content, set=lambda content, now: None)
    passes = Passes(SimpleNamespace(source=None), None, checkpoint)
    first = PassDigest(n=3)
    passes.check(PassSum(first))
    said = "weights differ from those of the checkpoint" if goes_on else "other weights in a later"
    with pytest.raises(ValueError, match=said):
        passes.check(PassSum(replace(first, weights=1)))
