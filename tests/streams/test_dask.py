"""Fits on Dask collections: the model of the same rows in an array, and lazy results."""

import numpy as np
import pytest
from scipy import sparse

import kernel_learn as kl
from kernel_learn.kernels import ColumnKernel, Gaussian, Laplacian, Linear, gaussian_bank
from kernel_learn.representations import summary
from kernel_learn.representations.state_files import read_file

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

from kernel_learn.rows.block import Block  # noqa: E402
from kernel_learn.streams import dask_rows, dask_tree, gather  # noqa: E402
from kernel_learn.streams.blocks import Blocks  # noqa: E402
from kernel_learn.streams.checked_blocks import CheckedBlocks  # noqa: E402
from kernel_learn.streams.dask_tree import TaskTree, one_thread_each  # noqa: E402
from kernel_learn.streams.sources import as_source  # noqa: E402

rng = np.random.default_rng(0)
N = 1500
X = rng.normal(size=(N, 4))
X[700:760] = X[:60]  # some rows come twice
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int) + (X[:, 2] > 1)
W = rng.integers(0, 3, N).astype(float)
X_NEW = rng.normal(size=(40, 4))
ESTIMATORS = [
    (kl.HSICSubspace, {}),
    (kl.HSICSubspace, {"uncorrelated": True, "reg": "loo"}),
    (kl.KernelDiscriminant, {}),
    (kl.KernelDiscriminant, {"reg": "gcv"}),
    (kl.KernelOrthogonalCentroid, {}),
    (kl.KernelPLS, {}),
    (kl.KernelPLSRegressor, {}),
    (kl.AlignmentSubspace, {"tol": 1e-7, "max_iter": 2000}),
    (kl.HSICSubspace, {"kernel": gaussian_bank(3, relative=True), "uncorrelated": True}),
    (kl.KernelDiscriminant, {"kernel": [Gaussian(), Laplacian(), Linear()], "weights": "loo"}),
]


@pytest.fixture(autouse=True)
def few_held(monkeypatch):
    """So few rows are held that these collections are streams; tasks run in this thread."""
    monkeypatch.setattr(gather, "CAPACITY", 300)
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def trees(monkeypatch):
    """The numbers of tasks of each kind."""
    seen = []
    compute = TaskTree.compute

    def counted(self, items):
        seen.append((self.what, len(items)))
        return compute(self, items)

    monkeypatch.setattr(TaskTree, "compute", counted)
    return seen


def make(kind, options):
    return kind(**{"landmarks": 40, "random_state": 0, **options})


def labels_for(kind):
    return (X[:, :2] ** 2).round(3) if kind is kl.KernelPLSRegressor else Y


def blocks(A, size=170):
    return da.from_array(A, chunks=(size, *A.shape[1:]))


def unknown(A, size=170):
    """The same without known sizes of the blocks."""
    A = blocks(A, size)
    return A[da.from_array(np.ones(N, bool), chunks=A.chunks[0])]


@pytest.mark.parametrize(("kind", "options"), ESTIMATORS)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_collection_gives_the_model_of_the_array(kind, options, weighted):
    y, w = labels_for(kind), W if weighted else None
    whole = make(kind, options).fit(X, y, w)
    spread = make(kind, options).fit(blocks(X), blocks(y, 200), blocks(w, 33) if weighted else None)
    assert spread.plan_.representation == "landmarks"
    # an iteration that stops at a gradient ends where rounding takes it
    close = 1e-4 if kind is kl.AlignmentSubspace else 1e-8
    np.testing.assert_allclose(spread.transform(X_NEW), whole.transform(X_NEW), atol=close)
    if hasattr(whole, "objective_"):
        assert spread.objective_ == pytest.approx(whole.objective_, rel=1e-8)
    if hasattr(whole, "predict"):
        np.testing.assert_allclose(spread.predict(X_NEW), whole.predict(X_NEW), atol=1e-8)


def test_two_passes_of_the_discriminant_by_class_centroids():
    whole = kl.KernelDiscriminantQR().fit(X, Y, W)
    spread = kl.KernelDiscriminantQR().fit(blocks(X), Y, W)
    np.testing.assert_allclose(spread.transform(X_NEW), whole.transform(X_NEW), atol=1e-10)


@pytest.mark.parametrize("class_weight", [None, {0: 1, 1: 2, 2: 3}])
def test_machines_by_passes(class_weight, trees):
    options = {"loss": "squared_hinge", "class_weight": class_weight, "tol": 1e-9}
    whole = make(kl.SubspaceSVC, options).fit(X, Y)
    spread = make(kl.SubspaceSVC, options).fit(blocks(X), blocks(Y))
    assert spread.plan_.representation == "landmarks"
    assert spread.objective_ == pytest.approx(whole.objective_, rel=1e-8)
    for name in ("transform", "decision_function"):
        found, exact = getattr(spread, name)(X_NEW), getattr(whole, name)(X_NEW)
        np.testing.assert_allclose(found, exact, atol=1e-8)
    assert sum(what == "pass" for what, _ in trees) == spread.n_iter_ == whole.n_iter_


def test_machines_of_several_kernels(trees):
    bank = [Gaussian(0.1), Gaussian(1.0), Laplacian(0.3)]
    options = {"loss": "squared_hinge", "landmarks": 20, "random_state": 0}
    whole = kl.MultiKernelSVC(bank, **options).fit(X, Y)
    spread = kl.MultiKernelSVC(bank, **options).fit(blocks(X), blocks(Y))
    np.testing.assert_allclose(spread.kernel_weights_, whole.kernel_weights_, atol=1e-8)
    found = spread.decision_function(blocks(X))
    np.testing.assert_allclose(found.compute(), whole.decision_function(X), atol=1e-8)
    assert {what for what, _ in trees} == {"look", "summary", "moments", "pass"}


@pytest.fixture
def no_rows_here(monkeypatch):
    def not_here(*_):
        raise AssertionError("rows are read in this process")

    monkeypatch.setattr("kernel_learn.streams.dask_rows.SpreadRows.read", not_here)


def test_machines_read_no_rows_here(no_rows_here):
    model = kl.SubspaceSVC(landmarks=40, random_state=0).fit(blocks(X), blocks(Y))
    assert model.score(blocks(X), blocks(Y)) == pytest.approx(model.score(X, Y))


def test_machines_with_learned_weights_read_no_rows_here(no_rows_here, trees):
    bank = [Gaussian(0.1), Gaussian(1.0), Laplacian(0.3)]
    options = {"loss": "squared_hinge", "weights": "learn", "uncorrelated": True, "reg": 0.1}
    options |= {"landmarks": 12, "random_state": 0}
    whole = kl.SubspaceSVC(bank, **options).fit(X, Y)
    spread = kl.SubspaceSVC(bank, **options).fit(blocks(X), blocks(Y))
    np.testing.assert_allclose(spread.kernel_weights_, whole.kernel_weights_, atol=1e-8)
    found, exact = spread.decision_function(X_NEW), whole.decision_function(X_NEW)
    np.testing.assert_allclose(found, exact, atol=1e-8)
    assert {what for what, _ in trees} == {"look", "summary", "moments", "pass"}


def test_rows_that_change_after_two_passes_are_refused(trees):
    def changed(block):
        return block + 1e-9 * any(what == "pass" for what, _ in trees)

    rows = blocks(X).map_blocks(changed, meta=np.empty((0, 4)))
    with pytest.raises(ValueError, match="gave other rows in a later pass"):
        kl.SubspaceSVC(landmarks=40, random_state=0).fit(rows, blocks(Y))


def test_machines_of_few_distinct_rows(no_rows_here):
    own = np.arange(N) % 90
    whole = kl.SubspaceSVC(loss="squared_hinge").fit(X[own], Y[own])
    spread = kl.SubspaceSVC().fit(blocks(X[own]), blocks(Y[own]))
    assert spread.plan_.representation == "gram"
    found, exact = spread.decision_function(X_NEW), whole.decision_function(X_NEW)
    np.testing.assert_allclose(found, exact, atol=1e-8)


def test_pairs_drawn_from_the_labels_of_a_collection(monkeypatch):
    monkeypatch.setattr(gather, "CAPACITY", 20)
    few = slice(0, 60)

    def source():
        for i in range(0, 60, 17):
            yield X[few][i : i + 17], Y[few][i : i + 17]

    stream = kl.InductiveKernel(landmarks=10, random_state=0).fit(source)
    spread = kl.InductiveKernel(landmarks=10, random_state=0).fit(
        blocks(X[few], 17), blocks(Y[few], 17)
    )
    np.testing.assert_allclose(spread.transform(X_NEW), stream.transform(X_NEW), atol=1e-8)


def test_few_rows_are_an_array():
    part = slice(0, 280)
    for model in (
        kl.HSICSubspace(),
        kl.KernelDiscriminant(),
        kl.ExpansionSVC(n_points=3, random_state=0),
    ):
        for make_blocks in (blocks, lambda A, n: blocks(A, n)[da.ones(len(A), chunks=n) > 0]):
            whole = model.fit(X[part], Y[part]).transform(X_NEW)
            found = model.fit(make_blocks(X[part], 50), make_blocks(Y[part], 50))
            np.testing.assert_array_equal(found.transform(X_NEW), whole)


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_unknown_sizes_of_blocks(scheduler):
    whole = kl.KernelDiscriminant(landmarks=40, random_state=0).fit(X, Y, W)
    with dask.config.set(scheduler=scheduler, num_workers=2):
        spread = kl.KernelDiscriminant(landmarks=40, random_state=0)
        spread.fit(unknown(X), unknown(Y), unknown(W))
        np.testing.assert_allclose(spread.transform(X_NEW), whole.transform(X_NEW), atol=1e-8)
        found = spread.predict(unknown(X))
        assert np.isnan(found.shape[0])
        np.testing.assert_array_equal(found.compute(), whole.predict(X))


def test_single_precision_and_sparse_rows():
    X32 = X.astype(np.float32)
    whole = kl.HSICSubspace(landmarks=40, random_state=0).fit(X32, Y)
    spread = kl.HSICSubspace(landmarks=40, random_state=0).fit(blocks(X32), Y)
    assert spread.kernel_.coef.dtype == np.float32
    # products are in single precision, and their sums depend on the blocks
    np.testing.assert_allclose(spread.transform(X32), whole.transform(X32), atol=2e-4)
    assert spread.transform(blocks(X32)).dtype == np.float32
    S = sparse.csr_matrix(np.where(X > 0, X, 0))
    rows = blocks(S.toarray()).map_blocks(sparse.csr_matrix)
    whole = kl.KernelPLS(landmarks=40, random_state=0).fit(S, Y)
    spread = kl.KernelPLS(landmarks=40, random_state=0).fit(rows, Y)
    np.testing.assert_allclose(spread.transform(X_NEW), whole.transform(X_NEW), atol=1e-8)
    np.testing.assert_allclose(spread.transform(rows).compute(), whole.transform(S), atol=1e-8)


def test_frames_with_a_target():
    pandas = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["text"] = ["".join(row) for row in rng.choice(list("acgt"), (N, 5))]
    names = np.array(["low", "middle", "high"])[Y]
    bank = [ColumnKernel(Gaussian(0.2), ["a", "b"]), ColumnKernel("spectrum", "text")]
    whole = kl.KernelDiscriminant(bank, landmarks=40, random_state=0).fit(frame, names, W)
    table = dd.from_pandas(frame.assign(label=names, weight=W), npartitions=7)
    rows = table.drop(columns=["label", "weight"])
    new = frame.iloc[:50]
    for X_, y_, w_ in [
        (table, "label", "weight"),
        (rows, table["label"], table["weight"]),
        (rows, table[["label"]], table["weight"].to_dask_array()),
    ]:
        spread = kl.KernelDiscriminant(bank, landmarks=40, random_state=0).fit(X_, y_, w_)
        np.testing.assert_allclose(spread.transform(new), whole.transform(new), atol=1e-8)
        assert list(spread.feature_names_in_) == [*"abcd", "text"]
    found = spread.predict(rows)
    assert found.dtype == spread.classes_.dtype
    assert found.numblocks == (7,)
    np.testing.assert_array_equal(found.compute(), whole.predict(frame))
    np.testing.assert_allclose(
        spread.predict_proba(rows).compute(), whole.predict_proba(frame), atol=1e-8
    )
    assert spread.score(rows, table["label"]) == whole.score(frame, names)
    values = kl.KernelPLSRegressor(landmarks=40, random_state=0)
    numbers = dd.from_pandas(frame[list("abcd")], npartitions=7)
    spread = values.fit(numbers, ["c", "d"]).predict(numbers[["a", "b"]])
    array = values.fit(frame[["a", "b"]], frame[["c", "d"]]).predict(frame[["a", "b"]])
    np.testing.assert_allclose(spread.compute(), array, atol=1e-8)


def test_results_are_lazy_collections():
    model = kl.KernelDiscriminant(landmarks=40, random_state=0).fit(X, Y)
    read = []

    def told(block):
        read.append(len(block))
        return block

    rows = blocks(X).map_blocks(told, meta=np.empty((0, 4)))
    for name in ("transform", "predict", "predict_proba", "decision_function"):
        found, whole = getattr(model, name)(rows), getattr(model, name)(X)
        assert (found.shape, found.dtype) == (whole.shape, whole.dtype)
        assert found.chunks[0] == rows.chunks[0]
        assert type(found._meta) is np.ndarray
        assert not read
        np.testing.assert_allclose(found.compute(), whole, atol=1e-12)
        assert len(read) == 9
        np.testing.assert_allclose(found[200:210].compute(), whole[200:210], atol=1e-12)
        read.clear()
    assert model.score(rows, blocks(Y), blocks(W)) == pytest.approx(model.score(X, Y, W))
    with_holes = unknown(X)[unknown(X)[:, 0] > 1.7]
    assert len(model.predict(with_holes).compute()) == np.sum(X[:, 0] > 1.7)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(blocks(X[:, :3]))


# -- how the work is cut ------------------------------------------------------------------


def test_small_blocks_are_put_together(trees):
    kl.HSICSubspace(landmarks=40, random_state=0).fit(blocks(X, 10), blocks(Y, 10))
    assert trees == [("look", 1), ("summary", 1), ("moments", 1)]  # none takes 100 ms
    trees.clear()
    big = da.random.default_rng(0).normal(size=(4_000_000, 50), chunks=(100_000, 50))
    source = as_source(big, big[:, 0] > 0)
    source.bytes_each = 400.0
    assert [len(group) for group in source._groups(3e-5)] == [1] * 40
    assert [len(group) for group in source._groups(1e-9)] == [1] * 40  # at most 64 MB
    source.bytes_each = 40.0
    assert [len(group) for group in source._groups(1e-9)] == [16, 16, 8]
    assert [len(group) for group in source._groups(3e-7)] == [3] * 13 + [1]


@pytest.mark.parametrize("distinct", [1500, 500, 100])
def test_few_rows_of_a_block_go_up_the_tree(distinct, trees, monkeypatch):
    """Rows with small keys: the same pool, whether so many rows repeat or not."""
    monkeypatch.setattr(summary, "CAPACITY", 200)
    own = np.arange(N) % distinct
    whole = kl.KernelDiscriminant(landmarks=40, random_state=0).fit(X[own], Y[own])
    spread = kl.KernelDiscriminant(landmarks=40, random_state=0)
    spread.fit(blocks(X[own]), blocks(Y[own]))
    np.testing.assert_allclose(spread.transform(X_NEW), whole.transform(X_NEW), atol=1e-8)
    passes = [what for what, _ in trees if what == "summary"]
    assert len(passes) == (1 if distinct == 1500 else 2)


def test_one_thread_while_any_task_runs():
    control = dask_tree.thread_controller()

    def threads():
        return [entry["num_threads"] for entry in control.info()]

    with control.limit(limits=2):
        before = threads()
        with one_thread_each():
            with one_thread_each():
                assert set(threads()) == {1}
            assert set(threads()) == {1}
        assert threads() == before


def test_a_fit_goes_on_after_its_first_pass(tmp_path, trees, monkeypatch):
    fit = kl.HSICSubspace(landmarks=40, random_state=0)
    features = kl.HSICSubspace._stream_features

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(kl.HSICSubspace, "_stream_features", stopped)
    with pytest.raises(KeyboardInterrupt):
        fit.fit(blocks(X), blocks(Y), checkpoint=tmp_path)
    monkeypatch.setattr(kl.HSICSubspace, "_stream_features", features)
    trees.clear()
    with pytest.raises(ValueError, match="another or changed source"):
        fit.fit(blocks(X[:, ::-1]), blocks(Y), checkpoint=tmp_path)
    fit.fit(blocks(X), blocks(Y), checkpoint=tmp_path)
    assert [what for what, _ in trees] == ["look", "moments"]
    whole = kl.HSICSubspace(landmarks=40, random_state=0).fit(X, Y)
    np.testing.assert_allclose(fit.transform(X_NEW), whole.transform(X_NEW), atol=1e-8)


class Stop(Exception):
    """What ends a fit in these tests."""


class Stopping:
    """Blocks that end the fit when one of them is read, in one pass, if they are told to."""

    at, reads = None, 0

    def __init__(self, monkeypatch):
        for name in ("LEAST_SECONDS", "SHARE"):
            monkeypatch.setattr(f"kernel_learn.streams.checkpoint.{name}", 0)
        monkeypatch.setattr("kernel_learn.streams.dask_rows.TASK_SECONDS", 1e-9)
        self.rows = blocks(X, 50).map_blocks(self.read, name="stopping", meta=np.empty((0, 4)))

    def read(self, block):
        self.reads += 1
        if self.reads == self.at:
            raise Stop
        return block


@pytest.mark.parametrize(("at", "kept"), [(15, 8), (30, 24), (46, 8), (61, 24)])
def test_a_fit_goes_on_within_a_pass(at, kept, tmp_path, monkeypatch):
    """30 blocks of 50 rows in waves of 8 tasks, of which the first block is looked at before."""
    whole = kl.HSICSubspace(landmarks=40, random_state=0).fit(X, Y)
    source, model = Stopping(monkeypatch), kl.HSICSubspace(landmarks=40, random_state=0)
    source.at = at
    with pytest.raises(Stop):
        model.fit(source.rows, blocks(Y, 50), checkpoint=tmp_path)
    found = read_file(tmp_path / "fit.npz")
    part = found["moments" if at > 31 else "summary"]
    assert (found["n_blocks"], part.n_rows) == (kept, 50 * kept)
    source.at, before = None, source.reads
    model.fit(source.rows, blocks(Y, 50), checkpoint=tmp_path)
    passes = 30 * (1 if at > 31 else 2)
    assert source.reads - before == 1 + passes - kept  # a look, and what was not done
    np.testing.assert_allclose(model.transform(X_NEW), whole.transform(X_NEW), atol=1e-8)
    assert not (tmp_path / "fit.npz").exists()


def test_a_fit_of_repeated_rows_goes_on(tmp_path, monkeypatch):
    """Too few keys are small: the second reading of the summary is not kept half."""
    monkeypatch.setattr(summary, "CAPACITY", 200)
    source, model = Stopping(monkeypatch), kl.HSICSubspace(landmarks=40, random_state=0)
    own = np.arange(N) % 500
    rows = da.from_array(X[own], chunks=(50, 4)).map_blocks(source.read, meta=np.empty((0, 4)))
    whole = kl.HSICSubspace(landmarks=40, random_state=0).fit(X[own], Y[own])
    source.at = 45
    with pytest.raises(Stop):
        model.fit(rows, blocks(Y[own], 50), checkpoint=tmp_path)
    source.at = None
    model.fit(rows, blocks(Y[own], 50), checkpoint=tmp_path)
    np.testing.assert_allclose(model.transform(X_NEW), whole.transform(X_NEW), atol=1e-8)


def test_progress_of_local_tasks(monkeypatch, capsys):
    monkeypatch.setattr("kernel_learn.streams.progress.PAUSE", 0.0)
    model = kl.HSICSubspace(landmarks=40, random_state=0)
    model.verbose = 1
    model.fit(blocks(X), blocks(Y))
    told = capsys.readouterr().out.splitlines()
    lines = [line for line in told if " rows/s" in line]
    assert [line.split(":")[1] for line in lines] == [
        " pass 1 of 2, summary",
        " pass 2 of 2, 40 landmarks",
    ]
    assert all("1500 of 1500 rows (100 %)" in line for line in lines)


# -- bad input ----------------------------------------------------------------------------


def spoilt(at=713):
    bad = X.copy()
    bad[at, 1] = np.nan
    return bad


BAD_LABELS = np.where(np.arange(N) == 713, np.nan, Y)
BAD_WEIGHTS = np.where(np.arange(N) == 713, -1.0, W)
PLACE = r"Block 71, row 3 \(row 713 of the source\): "


@pytest.mark.parametrize("cut", [blocks, unknown])
@pytest.mark.parametrize(
    ("rows", "labels", "weights", "match"),
    [
        (spoilt(), Y, W, "Input X contains NaN"),
        (X, BAD_LABELS, W, "the label is missing"),
        (X, Y, BAD_WEIGHTS, "the weight is -1"),
    ],
)
def test_a_bad_block_is_named(cut, rows, labels, weights, match):
    model = kl.HSICSubspace(landmarks=20)
    with pytest.raises(ValueError, match=PLACE + match):
        model.fit(cut(rows, 10), cut(labels, 10), cut(weights, 10))
    assert not vars(model).keys() - model.get_params().keys()


def test_a_bad_block_of_new_rows_is_named():
    model = kl.HSICSubspace(landmarks=20, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=PLACE + "Input X contains NaN"):
        model.transform(blocks(spoilt(), 10)).compute()
    with pytest.raises(ValueError, match="Block 71, row 3: Input X contains NaN"):
        model.transform(unknown(spoilt(), 10)).compute()


def test_what_does_not_go_together_is_refused():
    dd = pytest.importorskip("dask.dataframe")
    model, rows = kl.HSICSubspace(landmarks=20), blocks(X)
    frame = dd.from_dask_array(rows, columns=list("abcd"))
    for X_, y_, match in [
        (rows, Y[:-1], "X has 1500 rows and y has 1499"),
        (rows, blocks(Y)[:-1], "X has 1500 rows and y has 1499"),
        (unknown(X), Y, "not known how many rows the blocks"),
        (frame, "e", "no column 'e'"),
        (rows, "e", "y is 'e'"),
        (rows, None, "has no (labels|targets)"),
        (unknown(X), unknown(Y)[unknown(X)[:, 0] > 0], "170 rows and"),
        (blocks(X[:0]), Y[:0], "no rows"),
        (rows, blocks(np.zeros(N, int)), "1 class"),
    ]:
        with pytest.raises(ValueError, match=match):
            model.fit(X_, y_)
    with pytest.raises(ValueError, match="keeps all training rows"):
        kl.ExpansionSVC().fit(rows, Y)
    with pytest.raises(ValueError, match="numbers of rows"):
        kl.HSICSubspace(landmarks=[1, 2]).fit(rows, Y)
    with pytest.raises(TypeError, match="rows are a Dask array"):
        model.fit(da.ones((5, 5, 5)), Y)
    with pytest.raises(ValueError, match="the same rows each time"):
        model.fit(da.map_blocks(lambda b: b + np.random.normal(), rows), Y)  # noqa: NPY002


def test_columns_in_several_blocks_are_one_row():
    whole = kl.HSICSubspace(landmarks=40, random_state=0).fit(X, Y)
    cut = da.from_array(X, chunks=(170, 3))
    spread = kl.HSICSubspace(landmarks=40, random_state=0).fit(cut, Y)
    np.testing.assert_allclose(spread.transform(cut).compute(), whole.transform(X), atol=1e-8)


class Plain:
    """A reader of rows that are as they should be."""

    def read(self, X):
        return X

    def kind(self, rows):
        return "dense"

    def keys(self, rows):
        return None


def test_a_row_is_counted_from_the_start_of_its_block():
    """Of which a worker reads parts: this one begins at row 20 of block 3."""
    checked = CheckedBlocks(Plain(), Blocks([]), "none")
    part = Block(np.ones((4, 2)), None, np.array([1.0, 0.0, 1.0, 2.0]))
    (rows,) = dask_rows.checked_rows(checked, iter([(3, 20, part)]), 100)
    assert (rows.places - 3 * dask_rows.BLOCK_PLACES).tolist() == [20, 22, 23]
    spoilt = part._replace(weight=np.array([1.0, -1.0, 1.0, 2.0]))
    with pytest.raises(ValueError, match="Block 3, row 21: the weight is -1"):
        list(dask_rows.checked_rows(checked, iter([(3, 20, spoilt)]), 100))
