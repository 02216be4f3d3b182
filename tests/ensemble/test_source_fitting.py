"""KernelClassifier on sources that do not fit into memory: rows on the disk, or landmarks."""

import tempfile
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import kernel_learn.streams.spill as spill_module
from kernel_learn import KernelClassifier
from kernel_learn.criteria.held_out.ridge import RidgePath
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.datasets import Blocks, CsvSource, ParquetSource
from kernel_learn.ensemble.candidates import Candidate, CrossValidated
from kernel_learn.ensemble.landmark_fitting import cross_validate_moments, feature_map
from kernel_learn.ensemble.sample import Sample
from kernel_learn.ensemble.trees import divide
from kernel_learn.kernels import Gaussian
from kernel_learn.streams import gather

N, BUDGET = 1600, "1.2MB"


def make(**options):
    return KernelClassifier(**{"memory_budget": BUDGET, "quality": "fast", **options})


def cut(X, y, size=300, weight=None):
    """Blocks of a source that can be read again."""

    def blocks():
        for start in range(0, len(y), size):
            part = slice(start, start + size)
            rows = X.iloc[part] if hasattr(X, "iloc") else X[part]
            yield (rows, y[part]) if weight is None else (rows, y[part], weight[part])

    return blocks


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).uniform(-2, 2, size=(N + 400, 6))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


@pytest.fixture(scope="module")
def model(data):
    X, y = data
    return make().fit(cut(X[:N], y[:N]))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where temporary files go; rows are written there from the first block on."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(gather, "HEAD_SHARE", 1e9)
    return tmp_path


@pytest.fixture
def no_disk(monkeypatch):
    monkeypatch.setattr(spill_module, "DISK_SHARE", 1e-12)


def same(model, other, X):
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-6)


def test_rows_stay_on_the_disk(model, data):
    X, y = data[0][N:], data[1][N:]
    assert model._fitted.ensemble.forest is not None
    assert "filled from 76.8 kB on the disk" in str(model.plan_)
    assert "on the disk" in model.summary_
    judged = model.loo_rows_
    assert len(judged) == len(model.loo_proba_) == model.plan_.subsample_rows
    assert (np.diff(judged) > 0).all()
    said = model.classes_[model.loo_proba_.argmax(axis=1)]
    assert np.mean(said != data[1][judged]) == pytest.approx(model.loo_error_)
    assert model.score(X, y) > 0.85
    assert abs(model.loo_error_ - 1 + model.score(X, y)) < 0.05
    assert model.explain(X[:3]).indices.max() < N
    assert model.transform(X[:3]).shape == (3, 1)
    assert model.permutation_p_value(19) == pytest.approx(0.05)


def test_blocks_order_and_number_of_readings_do_not_matter(model, data):
    X, y = data
    order = np.random.default_rng(1).permutation(N)
    once = (block for block in cut(X[order], y[order], 70)())
    same(make().fit(once), model, X[N:])


def test_a_source_that_fits_is_the_fit_of_its_rows(data):
    X, y = data[0][:200], data[1][:200]
    small = KernelClassifier(quality="fast").fit(cut(X, y))
    np.testing.assert_array_equal(
        small.predict_proba(X), KernelClassifier(quality="fast").fit(X, y).predict_proba(X)
    )
    assert len(small.loo_proba_) == 200


def test_few_distinct_rows_of_many_are_fitted_in_memory(data):
    X, y = data
    some = np.arange(9000) % 60
    model = make().fit(cut(X[some], y[some], 1000))
    assert model._fitted.ensemble.forest is None and model.plan_.exact
    assert (model.plan_.n_rows, model.plan_.n_given) == (60, 9000)


def test_nothing_is_left_in_the_folder(folder, data):
    X, y = data
    model = make().fit(cut(X[:N], y[:N]))
    assert not list(folder.iterdir())

    def ends(error):
        def blocks():
            yield from cut(X[:N], y[:N])()
            assert list(folder.iterdir())
            raise error

        return blocks

    for error in (KeyboardInterrupt, RuntimeError("gone")):
        before = dict(vars(model))
        with pytest.raises(type(error) if isinstance(error, Exception) else error):
            model.fit(ends(error))
        assert not list(folder.iterdir())
        assert vars(model) == before


def test_weights_are_repetitions_and_classes_may_come_late(data):
    X, y = data[0][:N], data[1][:N].astype(object)
    y[-40:] = "third"
    X = X.copy()
    X[-40:, 0] += 6.0
    weight = np.where(np.arange(N) % 7 == 0, 2.0, 1.0)
    weight[::50] = 0.0
    often = np.repeat(np.arange(N), weight.astype(int))
    more = len(often) - N  # rows of weight zero: plans see how many rows there are
    X, y = np.concatenate([X, X[:more]]), np.concatenate([y, y[:more]])
    a = make().fit(cut(X, y, weight=np.concatenate([weight, np.zeros(more)])))
    b = make().fit(cut(X[often], y[often]))
    assert a.classes_.tolist() == ["other", "same", "third"]
    same(a, b, data[0][N:])
    assert not np.isin(a._first, np.arange(0, N, 50)).any()  # rows of weight zero
    X, y = X[:N], y[:N]
    assert (a.predict(X[-40:]) == "third").mean() > 0.9
    balanced = make(class_weight="balanced").fit(cut(X, y))
    heavy = make(class_weight={"other": 1, "same": 1, "third": 30}).fit(cut(X, y))
    for one in (balanced, heavy):
        assert one.predict_proba(X[:-40])[:, 2].mean() > 2 * a.predict_proba(X[:-40])[:, 2].mean()


def table(n=N):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    frame["colour"] = rng.choice(["red", "green", "blue"], n).astype(object)
    frame["code"] = rng.choice(["x", "y"], n).astype(object)
    y = ((frame["a"] > 0) ^ (frame["colour"] == "red")).to_numpy().astype(int)
    frame.loc[::11, "a"] = np.nan
    frame.loc[::13, "colour"] = None
    frame.loc[:499, "code"] = None  # all of the first block
    frame.loc[n - 30 :, "colour"] = "late"
    return frame, y


@pytest.mark.parametrize("kind", ["pandas", "polars", "csv", "parquet"])
def test_tables_of_any_kind(kind, tmp_path):
    frame, y = table()
    source = cut(frame, y, 500)
    if kind == "polars":
        own = pytest.importorskip("polars").from_pandas(frame)
        source = cut(own, y, 500)
    elif kind == "csv":
        frame.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
        source = CsvSource(tmp_path / "t.csv", target="y")
    elif kind == "parquet":
        pytest.importorskip("pyarrow")
        frame.assign(y=y).to_parquet(tmp_path / "t.parquet", row_group_size=500)
        source = ParquetSource(tmp_path / "t.parquet", target="y")
    model = make(memory_budget="1.6MB").fit(source)
    assert model.plan_.disk_bytes == N * 5 * 8
    assert [len(levels) for levels in model._fitted.ensemble.reader.levels] == [4, 2]
    assert model.score(source) > 0.8
    new = frame.iloc[:20].assign(colour="violet")  # not seen at fit
    new = own[:20] if kind == "polars" else new
    assert model.predict_proba(new).shape == (20, 2)
    if kind != "pandas":
        same(model, make(memory_budget="1.6MB").fit(cut(frame, y, 500)), frame)


def test_zeros_of_two_blocks_are_one_category(data):
    X, y = data[0][:N].copy(), data[1][:N]
    X[:, 5] = np.repeat([0.0, -0.0], N // 2)
    X[::3, 5] = 1.0
    model = make(categorical=[5]).fit(cut(X, y))
    assert [own.tolist() for own in model._fitted.ensemble.reader.levels] == [["n0.0", "n1.0"]]
    same(model, make(categorical=[5]).fit(cut(X + 0.0, y)), X[:50])
    np.testing.assert_array_equal(model.predict_proba(X[-50:]), model.predict_proba(X[-50:] + 0.0))


def test_a_sparse_source(data):
    X, y = data
    noise = sparse.random(N, 300, 0.03, format="csr", random_state=0)
    S = sparse.hstack([sparse.csr_matrix((X[:N, :2] > 0) * 2.0), noise], format="csr")
    y = (X[:N, 0] > 0).astype(int)
    model = make(memory_budget="2MB").fit(cut(S, y))
    assert "on the disk" in str(model.plan_) and sparse.issparse(
        next(iter(model._fitted.ensemble.training.rows.values()))
    )
    assert model.score(S, y) > 0.9


def spoilt(X, y, number, **changes):
    def blocks():
        for i, (rows, labels) in enumerate(cut(X, y)()):
            rows, labels, weight = rows.copy(), labels.astype(object), np.ones(len(labels))
            if i == number:
                yield changes["make"](rows, labels, weight)
            else:
                yield rows, labels, weight

    return blocks


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y, w: (X[:, :5], y, w), r"Block 3 .*X has 5 features"),
        (lambda X, y, w: (np.where(X[7, 2] == X, np.inf, X), y, w), r"Block 3, row 7 \(row 907 of"),
        (lambda X, y, w: (X, np.where(np.arange(300) == 9, None, y), w), r"Block 3, row 9 .*label"),
        (lambda X, y, w: (X, y, w - 2.0), r"Block 3, row 0 .*weight is -1"),
        (lambda X, y, w: (X, y[:5], w), r"Block 3 .*300 rows and 5 labels"),
        (lambda X, y, w: (X,), r"Block 3 .*no labels"),
        (lambda X, y, w: (sparse.csr_matrix(X), y, w), r"Block 3 .*its rows are sparse"),
        (
            lambda X, y, w: (X.astype(str).astype(object) + "!", y, w),
            r"Block 3 .*could not convert",
        ),
    ],
)
def test_errors_name_block_and_row(change, message, data, folder):
    model = make()
    with pytest.raises(ValueError, match=message):
        model.fit(spoilt(data[0][:N], data[1][:N], 3, make=change))
    assert not hasattr(model, "n_features_in_") and not list(folder.iterdir())


def test_columns_that_change_their_kind_are_refused(data):
    frame, y = table()
    frame["mixed"] = frame["b"]

    def blocks():
        for i, (rows, labels) in enumerate(cut(frame, y, 500)()):
            yield (rows if i < 2 else rows.assign(mixed="text")), labels

    with pytest.raises(ValueError, match=r"Block 2 .*column 'mixed' holds texts.*categorical="):
        make().fit(blocks)
    with pytest.raises(ValueError, match=r"Block 0.*holds dates.*TableVectorizer"):
        when = np.datetime64("2020-01-01") + np.arange(N)
        make().fit(cut(frame.assign(mixed=when), y, 500))
    with pytest.raises(ValueError, match="has 1 class"):
        make().fit(cut(frame, np.zeros(N), 500))
    with pytest.raises(ValueError, match="no rows"):
        make().fit(Blocks([]))


@pytest.mark.slow
def test_memory_is_what_the_plan_says(data):
    X = np.random.default_rng(0).normal(size=(6000, 8))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    make(memory_budget="2MB").fit(cut(X[:1000], y[:1000]))
    for quality in ("fast", "balanced"):
        tracemalloc.start()
        model = make(memory_budget="4MB", quality=quality).fit(cut(X, y))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert model.plan_.disk_bytes == X.nbytes
        assert peak <= 1.2 * model.plan_.bytes_needed + 1e6
        assert model.plan_.bytes_needed <= 2 * peak + 1e6
        assert model.plan_.bytes_needed <= 4e6


def test_too_little_memory_is_refused(data):
    with pytest.raises(ValueError, match=r"stay on the disk needs .* the memory budget is 300 kB"):
        make(memory_budget="300kB").fit(cut(data[0], data[1]))


def test_progress(capsys, data, monkeypatch):
    monkeypatch.setattr("kernel_learn.streams.progress.PAUSE", 0.0)
    make(verbose=1).fit(cut(data[0][:N], data[1][:N]))
    said = capsys.readouterr().out
    assert "reading rows: 1500 rows" in said and "tree 1 of 1: 1600 of 1600 rows (100 %)" in said
    assert "on the disk" in said


def test_landmarks_where_the_disk_is_short(no_disk, folder, data, model):
    X, y = data
    with pytest.warns(UserWarning, match="nor on the disk .* landmarks, which costs error"):
        found = make(memory_budget="3MB").fit(cut(X[:N], y[:N]))
    assert found.plan_.representation == "landmarks" and "landmarks by moments" in found.summary_
    assert found.score(X[N:], y[N:]) > 0.9
    assert abs(found.loo_error_ - 1 + found.score(X[N:], y[N:])) < 0.05
    assert found._rows_digest == model._rows_digest  # of all rows
    said = found.classes_[found.loo_proba_.argmax(axis=1)]
    assert np.mean(said != y[found.loo_rows_]) == pytest.approx(found.loo_error_)
    loudest = found.explain(X[:2], n_rows=3).indices
    assert np.isin(loudest, found._first).all() and found._first.max() < N
    with pytest.warns(UserWarning, match="landmarks"):
        order = np.random.default_rng(1).permutation(N)
        same(make(memory_budget="3MB").fit(cut(X[order], y[order], 70)), found, X[N:])
    with pytest.raises(ValueError, match=r"is read once\. Make room, set TMPDIR"):
        make().fit(iter(cut(X[:N], y[:N])()))
    assert not list(folder.iterdir())


def test_a_disk_that_will_be_short_is_seen_with_the_first_block(folder, data, monkeypatch):
    """All rows take 76,800 bytes, and one byte less may be taken."""
    usage = SimpleNamespace(free=2 * (N * 6 * 8 - 1))
    monkeypatch.setattr(spill_module.shutil, "disk_usage", lambda folder: usage)
    read = []
    source = Blocks(read.append(1) or block for block in cut(data[0][:N], data[1][:N])())
    source.n_rows = N
    with pytest.raises(ValueError, match=r"7\.68e\+04 bytes.*is read once"):
        make().fit(source)
    assert len(read) == 1


@pytest.mark.filterwarnings("ignore:The rows do not fit")
def test_on_landmarks_class_weights_are_weights_of_rows(no_disk, folder, data):
    X, y = data[0][:N], data[1][:N]
    weight = np.where(y == "same", 5.0, 1.0)
    weight *= N / weight.sum()
    a = make(memory_budget="3MB", class_weight={"same": 5.0, "other": 1.0}).fit(cut(X, y))
    b = make(memory_budget="3MB").fit(cut(X, y, weight=weight))
    same(a, b, data[0][N:])


@pytest.mark.filterwarnings("ignore:The rows do not fit")
def test_landmarks_refuse_a_source_that_changes(no_disk, data):
    X, y = data
    calls = []

    def blocks():
        calls.append(1)
        yield from cut(X[: N - len(calls)], y[: N - len(calls)])()

    with pytest.raises(ValueError, match="gave 1597 rows in a later pass and 1598 rows in the"):
        make(memory_budget="3MB").fit(blocks)


def test_with_all_rows_as_landmarks_the_fit_is_exact(rng):
    """Moments of features of all rows: ridge regression on the kernel itself."""
    X, kernel = rng.normal(size=(60, 3)), Gaussian(0.3)
    targets = Targets(np.eye(2)[(X[:, 0] > 0).astype(int)] * rng.integers(1, 3, (60, 1)))
    sample = Sample({"z": X}, targets, {}, {}, np.arange(60) % 5)
    candidate = Candidate("z", "rbf", 1.0).on_rows(kernel)
    one = CrossValidated(candidate, 0.1, 0.0, np.empty((0, 2)))
    features = feature_map(sample, one, np.arange(60))
    moments = features.block_moments(X, targets.Y, targets.weight)
    found = cross_validate_moments(sample, one, features, moments)
    exact = RidgePath(kernel(X), targets)
    K_new = kernel(rng.normal(size=(5, 3)), X)
    np.testing.assert_allclose(
        found.models[0][0].scores(K_new), exact.dual(found.reg).scores(K_new), atol=1e-6
    )


@pytest.mark.parametrize("few", [None, 40, 300])
def test_a_tree_grown_on_few_rows_holds_all(few, rng):
    Z = rng.normal(size=(3000, 4)) * [4, 2, 1, 1]
    chosen = None if few is None else np.arange(few)
    tree, leaves = divide(lambda rows: Z[rows], 3000, 100, np.random.default_rng(0), chosen)
    assert max(map(len, leaves)) <= 100 and tree.n_leaves == len(leaves)
    place = tree.leaves(Z)
    for leaf, rows in enumerate(leaves):
        assert (place[rows] == leaf).all()
    assert sorted(np.concatenate(leaves)) == list(range(3000))
