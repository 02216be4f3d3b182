"""Fits on sources of blocks: the model of the same rows in an array, or a clear sentence."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import kernel_learn as kl
from kernel_learn.datasets import Blocks, CsvSource, LibsvmSource, NpySource, ParquetSource
from kernel_learn.fitting import stream_training
from kernel_learn.kernels import ColumnKernel, Gaussian, Laplacian, Linear, gaussian_bank
from kernel_learn.streams import gather, progress
from kernel_learn.streams.checked_blocks import Complaint, checked_weights

rng = np.random.default_rng(0)
N = 1500
X = rng.normal(size=(N, 4))
X[700:760] = X[:60]  # some rows come twice
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int) + (X[:, 2] > 1)
W = rng.integers(0, 3, N).astype(float)
X_NEW = rng.normal(size=(40, 4))
MOMENT_BASED = [
    (kl.HSICSubspace, {}),
    (kl.HSICSubspace, {"uncorrelated": True, "reg": "loo"}),
    (kl.HSICSubspace, {"label_kernel": "indicator"}),
    (kl.KernelDiscriminant, {}),
    (kl.KernelOrthogonalCentroid, {}),
    (kl.KernelPLS, {}),
    (kl.KernelPLSRegressor, {}),
    (kl.AlignmentSubspace, {"tol": 1e-7, "max_iter": 2000}),
    (kl.HSICSubspace, {"kernel": gaussian_bank(3, relative=True), "uncorrelated": True}),
    (kl.KernelDiscriminant, {"kernel": [Gaussian(), Laplacian(), Linear()], "weights": "loo"}),
]


def make(kind, options):
    return kind(**{"landmarks": 40, "random_state": 0, **options})


def labels_for(kind):
    return (X[:, :2] ** 2).round(3) if kind is kl.KernelPLSRegressor else Y


def blocks_of(X, y, weight=None, size=170):
    for i in range(0, len(y), size):
        part = slice(i, i + size)
        yield (X[part], y[part]) if weight is None else (X[part], y[part], weight[part])


@pytest.fixture
def few_held(monkeypatch):
    """So few rows are held that these sources are streams."""
    monkeypatch.setattr(gather, "CAPACITY", 300)


def close(options, tol):
    """An iteration that stops at a gradient ends where rounding takes it."""
    return 1e-4 if "tol" in options else tol


def features(model):
    return model.transform(X_NEW)


@pytest.mark.parametrize(("kind", "options"), MOMENT_BASED)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_stream_gives_the_model_of_the_array(kind, options, weighted, few_held):
    y, w = labels_for(kind), W if weighted else None
    whole = make(kind, options).fit(X, y, w)
    stream = make(kind, options).fit(lambda: blocks_of(X, y, w))
    assert stream.plan_.representation == "landmarks"
    np.testing.assert_allclose(features(stream), features(whole), atol=close(options, 1e-7))
    if hasattr(whole, "predict"):
        np.testing.assert_allclose(stream.predict(X_NEW), whole.predict(X_NEW), atol=1e-8)


def test_a_width_by_leave_one_out_is_that_of_the_array(few_held):
    whole = kl.HSICSubspace(Gaussian("loo"), landmarks=40, random_state=0).fit(X[:450], Y[:450])
    stream = kl.HSICSubspace(Gaussian("loo"), landmarks=40, random_state=0)
    stream.fit(lambda: blocks_of(X[:450], Y[:450]))
    assert stream.plan_.representation == "landmarks"
    assert stream.base_kernel_.gamma == whole.base_kernel_.gamma
    np.testing.assert_allclose(features(stream), features(whole), atol=1e-9)


@pytest.mark.parametrize(("kind", "options"), MOMENT_BASED)
def test_a_source_of_few_rows_is_an_array(kind, options):
    y = labels_for(kind)
    whole = make(kind, options).fit(X, y)
    for source in (lambda: blocks_of(X, y), blocks_of(X, y)):
        np.testing.assert_array_equal(features(make(kind, options).fit(source)), features(whole))


@pytest.mark.parametrize(("kind", "options"), MOMENT_BASED)
def test_a_source_that_is_read_once(kind, options, few_held):
    """With landmarks and widths given it is the model of the array, at the reg of the moments."""
    options = {**options, "landmarks": X[20:60]}
    if isinstance(options.get("kernel", Gaussian("loo")), Gaussian):
        options["kernel"] = Gaussian(0.2)
    else:
        options["kernel"] = [Gaussian(0.2), Gaussian(1.0), Laplacian(0.3)]
    if kind is kl.KernelDiscriminant or "reg" in options:
        options["reg"] = "gcv"
    y = labels_for(kind)
    whole = make(kind, options).fit(X, y)
    once = make(kind, options).fit(blocks_of(X, y))
    np.testing.assert_allclose(features(once), features(whole), atol=close(options, 1e-7))


def test_landmarks_of_a_source_that_is_read_once_are_among_its_first_rows(few_held):
    model = kl.HSICSubspace(landmarks=40, random_state=0).fit(blocks_of(X, Y))
    assert "landmarks from its first rows" in str(model.plan_)
    assert model.plan_.n_rows == N
    assert np.isin(model.kernel_.landmarks[:, 0], X[:340, 0]).all()


def test_reg_of_a_source_that_is_read_once_is_judged_from_the_moments(few_held):
    once = kl.KernelDiscriminant(landmarks=40, random_state=0).fit(blocks_of(X, Y))
    twice = kl.KernelDiscriminant(landmarks=40, random_state=0).fit(lambda: blocks_of(X, Y))
    assert (once.reg_rule_, twice.reg_rule_) == ("gcv", "loo")
    general = kl.KernelDiscriminant(landmarks=40, random_state=0, reg="gcv").fit(X, Y)
    exact = kl.KernelDiscriminant(landmarks=40, random_state=0, reg="loo").fit(X, Y)
    assert general.reg_rule_ == "gcv"
    assert abs(np.log10(general.reg_ / exact.reg_)) < 0.7
    np.testing.assert_allclose(general.loo_errors_.min(), exact.loo_errors_.min(), rtol=0.02)


def test_two_passes_of_the_discriminant_by_class_centroids(few_held):
    whole = kl.KernelDiscriminantQR().fit(X, Y, W)
    stream = kl.KernelDiscriminantQR().fit(lambda: blocks_of(X, Y, W))
    np.testing.assert_allclose(features(stream), features(whole), atol=1e-12)
    S = sparse.csr_matrix(np.where(X > 0, X, 0))
    whole = kl.KernelDiscriminantQR().fit(S, Y)
    stream = kl.KernelDiscriminantQR().fit(lambda: blocks_of(S, Y))
    np.testing.assert_allclose(features(stream), features(whole), atol=1e-12)
    with pytest.raises(ValueError, match="reads its rows twice"):
        kl.KernelDiscriminantQR().fit(blocks_of(X, Y))


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (kl.KernelOrthogonalCentroid(clusters_per_class=2), "clusters all rows of a class"),
        (kl.AlignmentSubspace(criterion="radius_margin"), "radius_margin.* needs all rows at once"),
        (kl.AlignmentSubspace(init=np.ones((N, 2))), "init=array.* needs all rows at once"),
        (kl.KernelDiscriminant(decision="nearest_neighbor"), "keeps the features of all rows"),
        (kl.HSICSubspace(landmarks=[1, 2, 3]), "numbers of rows"),
        (kl.ExpansionSVC(), "keeps all training rows"),
    ],
)
def test_what_needs_all_rows_is_refused_before_more_is_read(model, match, few_held):
    read = []

    def blocks():
        for block in blocks_of(X, Y):
            read.append(len(block[1]))
            yield block

    for source in (blocks, blocks()):
        read.clear()
        with pytest.raises(ValueError, match=match):
            model.fit(source)
        assert sum(read) <= 340
    assert not hasattr(model, "classes_")


def test_all_landmarks_on_a_stream(few_held):
    """All rows are held where the budget allows it, and the source can be read again."""
    whole = kl.HSICSubspace(landmarks="all").fit(X, Y)
    stream = kl.HSICSubspace(landmarks="all").fit(lambda: blocks_of(X, Y))
    np.testing.assert_allclose(features(stream), features(whole), atol=1e-9)
    with pytest.raises(ValueError, match=r"landmarks='all'.*read once"):
        kl.HSICSubspace(landmarks="all").fit(blocks_of(X, Y))
    with pytest.raises(ValueError, match="the memory budget is"):
        kl.HSICSubspace(landmarks="all", memory_budget="5MB").fit(lambda: blocks_of(X, Y))


def test_rows_that_repeat_give_an_exact_fit(few_held):
    """Few distinct rows: all of them are in the summary."""
    few, own = X[:90], np.arange(1200) % 90
    whole = kl.KernelDiscriminant().fit(few[own], Y[:1200])
    stream = kl.KernelDiscriminant().fit(lambda: blocks_of(few[own], Y[:1200]))
    assert stream.plan_.representation == "gram"
    np.testing.assert_allclose(features(stream), features(whole), atol=1e-8)


def test_frames_and_sparse_rows_and_texts_in_blocks(few_held, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["text"] = ["".join(row) for row in rng.choice(list("acgt"), (N, 5))]
    bank = [ColumnKernel(Gaussian(0.2), ["a", "b"]), ColumnKernel("spectrum", "text")]

    def blocks():
        for i in range(0, N, 170):
            yield frame.iloc[i : i + 170], Y[i : i + 170]

    whole = kl.HSICSubspace(bank, landmarks=40, random_state=0).fit(frame, Y)
    stream = kl.HSICSubspace(bank, landmarks=40, random_state=0).fit(blocks)
    new = frame.iloc[:50]
    np.testing.assert_allclose(stream.transform(new), whole.transform(new), atol=1e-9)
    assert list(stream.feature_names_in_) == [*"abcd", "text"]
    S = sparse.csr_matrix(np.where(X > 0, X, 0))
    whole = kl.KernelPLS(landmarks=40, random_state=0).fit(S, Y)
    stream = kl.KernelPLS(landmarks=40, random_state=0).fit(lambda: blocks_of(S, Y))
    np.testing.assert_allclose(features(stream), features(whole), atol=1e-9)


def test_files_give_the_model_of_their_rows(few_held, tmp_path):
    pandas = pytest.importorskip("pandas")
    names = np.array(["low", "middle", "high"])[Y]
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["label"] = names
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    whole = kl.KernelDiscriminant(landmarks=40, random_state=0).fit(X, names)
    source = ParquetSource(tmp_path / "rows.parquet", target="label")
    stream = kl.KernelDiscriminant(landmarks=40, random_state=0).fit(source)
    assert stream.classes_.tolist() == ["high", "low", "middle"]
    np.testing.assert_array_equal(stream.predict(X_NEW), whole.predict(X_NEW))
    rounded = np.round(64 * X) / 64  # which texts give back to the last bit
    frame[list("abcd")] = rounded
    frame.to_csv(tmp_path / "rows.csv", index=False)
    dump_svmlight_file(rounded, Y, str(tmp_path / "rows.svm"), zero_based=False)
    (tmp_path / "parts").mkdir()
    for i in range(2):
        part = frame.iloc[i * 700 : (i + 1) * 700 + 100 * i]
        part.to_parquet(tmp_path / "parts" / f"{i}.parquet")
    for source, labels in (
        (CsvSource(tmp_path / "rows.csv", target="label", dtype=float), names),
        (LibsvmSource(tmp_path / "rows.svm"), Y),
        (ParquetSource(tmp_path / "parts", target="label"), names),
    ):
        stream = kl.KernelDiscriminant(landmarks=40, random_state=0).fit(source)
        assert stream.plan_.representation == "landmarks"
        whole = kl.KernelDiscriminant(landmarks=40, random_state=0).fit(rounded, labels)
        np.testing.assert_allclose(features(stream), features(whole), atol=1e-7)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    np.save(tmp_path / "y.npy", Y)
    source = NpySource(tmp_path / "X.npy", tmp_path / "y.npy")
    stream = kl.HSICSubspace(landmarks=40, random_state=0).fit(source)
    assert stream.kernel_.coef.dtype == np.float32


# -- bad input ------------------------------------------------------------------------


def spoilt(what, at=5, size=10):
    """Blocks of 10 rows; block ``at`` has something wrong with its row 3."""
    for number, (A, b) in enumerate(blocks_of(X, Y, size=size)):
        A, b, w = A.copy(), b.copy(), np.ones(len(b))
        if number == at:
            if what == "nan":
                A[3, 1] = np.nan
            elif what == "columns":
                A = A[:, :3]
            elif what == "dtype":
                A = A.astype(np.float32)
            elif what == "sparse":
                A = sparse.csr_matrix(A)
            elif what == "no labels":
                yield A
                continue
            elif what == "length":
                b = b[:-1]
            elif what == "label":
                b = b.astype(float)
                b[3] = np.nan
            elif what == "none":
                b = [None if i == 3 else label for i, label in enumerate(b.tolist())]
            elif what == "text":
                b = b.astype(str)
            elif what == "weight":
                w[3] = -1.0
            elif what == "parts":
                yield A, b, w, w
                continue
        yield A, b, w


BAD = [
    ("nan", r"Block 71, row 3 \(row 713 of the source\): Input X contains NaN"),
    ("columns", r"Block 71 \(from row 710 of the source\): X has 3 features"),
    ("dtype", r"Block 71 .*dense float32, and those of the first block are dense float64"),
    ("sparse", r"Block 71 .*rows are sparse float64"),
    ("no labels", r"Block 71 .*has no labels"),
    ("length", r"Block 71 .*10 rows and 9 labels"),
    ("label", r"Block 71, row 3 .*label is missing"),
    ("none", r"Block 71, row 3 .*label is missing"),
    ("text", r"Block 71 .*labels are texts such as"),
    ("weight", r"Block 71, row 3 .*weight is -1; it must be finite and not negative"),
    ("parts", "has 4 parts"),
]


@pytest.mark.parametrize(("what", "match"), BAD, ids=[what for what, _ in BAD])
@pytest.mark.parametrize("held", [300, 20_000])
def test_a_bad_block_is_named(what, match, held, monkeypatch):
    monkeypatch.setattr(gather, "CAPACITY", held)
    model = kl.HSICSubspace(landmarks=20)
    for source in (lambda: spoilt(what, 71), spoilt(what, 71)):
        with pytest.raises(ValueError, match=match):
            model.fit(source)
    assert not vars(model).keys() - model.get_params().keys()


def test_a_single_row_is_refused():
    with pytest.raises(ValueError, match="The source has 1 row, and at least 2 are needed"):
        kl.HSICSubspace().fit(Blocks([(X[:1], Y[:1])]))


@pytest.mark.parametrize("weight", [1e101, 1e-101])
def test_weights_that_count_no_rows_are_named(weight):
    assert checked_weights([1e99, 0.0, 1e-99], 3).tolist() == [1e99, 0.0, 1e-99]
    with pytest.raises(Complaint, match="weights count rows") as caught:
        checked_weights([1.0, weight], 2)
    assert caught.value.row == 1


@pytest.mark.parametrize("widths", [(2, 1), (1, 2)])
def test_blocks_have_the_targets_of_the_first(widths):
    blocks = [(X[:20], np.ones((20, widths[0]))), (X[20:40], np.ones((20, widths[1])))]
    said = f"Block 1 .*it has {widths[1]} targets, and the first block has {widths[0]}"
    with pytest.raises(ValueError, match=said):
        kl.KernelPLSRegressor().fit(Blocks(blocks))


@pytest.mark.parametrize(
    ("column", "match"),
    [
        ("a", "Input X contains NaN"),
        ("count", "Input X contains NaN"),
        ("label", "the label is missing"),
        ("number", "the label is missing"),
        ("w", "the weight is nan"),
    ],
)
def test_nulls_in_a_parquet_file_are_named(column, match, few_held, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {name: X[:, j].tolist() for j, name in enumerate("abcd")}
    columns |= {"count": Y.tolist(), "number": Y.tolist(), "w": W.tolist()}
    columns["label"] = np.array(["low", "middle", "high"])[Y].tolist()
    columns[column][713] = None
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=300)
    source = ParquetSource(
        tmp_path / "rows.parquet",
        target="number" if column == "number" else "label",
        columns=["a", "b", "count"],
        weight="w",
    )
    model = kl.KernelDiscriminant(landmarks=20)
    with pytest.raises(ValueError, match=r"\(row 713 of the source\): " + match):
        model.fit(source)


def test_what_is_odd_but_not_wrong(few_held):
    """A class in a late block, empty blocks, blocks without weight: taken as they come."""
    y = np.where(np.arange(N) > 1200, 7, Y)

    def blocks():
        yield np.empty((0, 4)), np.empty(0)
        for i, (A, b) in enumerate(blocks_of(X, y, size=50)):
            yield (A, b, np.zeros(len(b))) if i == 3 else (A, b, None)
            yield A[:0], b[:0]

    weight = np.ones(N)
    weight[150:200] = 0
    for source in (blocks, blocks()):
        model = kl.KernelDiscriminant(Gaussian(0.2), reg=0.01, landmarks=X[:40])
        model.fit(source)
        assert model.classes_.tolist() == [0, 1, 2, 7]
        whole = kl.KernelDiscriminant(Gaussian(0.2), reg=0.01, landmarks=X[:40]).fit(X, y, weight)
        np.testing.assert_allclose(features(model), features(whole), atol=1e-8)


def test_sources_without_rows_or_with_one_class(few_held):
    for empty in ([], [(np.empty((0, 4)), np.empty(0))]):
        with pytest.raises(ValueError, match="no rows"):
            kl.HSICSubspace().fit(Blocks(empty))
    for size in (100, 1000):
        with pytest.raises(ValueError, match="1 class"):
            kl.HSICSubspace(landmarks=9).fit(lambda n=size: blocks_of(X[:n], np.zeros(n, int)))
    with pytest.raises(ValueError, match="pass it alone"):
        kl.HSICSubspace().fit(lambda: blocks_of(X, Y), Y)
    with pytest.raises(ValueError, match="precomputed kernel matrix cannot come in blocks"):
        kl.HSICSubspace("precomputed").fit(lambda: blocks_of(X, Y))


def test_a_source_that_changes_between_passes_is_refused(few_held):
    times = []

    def shrinking():
        times.append(1)
        n = N - 100 * (len(times) - 1)
        yield from blocks_of(X[:n], Y[:n])

    def changing():
        times.append(1)
        yield from blocks_of(X + (len(times) > 1) * 1e-6, Y)

    once = blocks_of(X, Y)

    def exhausted():
        yield from once

    for source in (shrinking, changing, exhausted):
        times.clear()
        with pytest.raises(ValueError, match="the same rows each time"):
            kl.HSICSubspace(landmarks=20).fit(source)


# -- partial_fit ----------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "options"), MOMENT_BASED)
def test_any_order_and_size_of_later_blocks_gives_one_model(kind, options):
    y = labels_for(kind)
    one, other = make(kind, options), make(kind, options)
    one.partial_fit(X[:400], y[:400]).partial_fit(X[400:], y[400:])
    other.partial_fit(X[:400], y[:400])
    for i in rng.permutation(range(400, N, 55)):
        part = slice(i, min(i + 55, N))
        other.partial_fit(X[part], y[part])
    np.testing.assert_allclose(features(one), features(other), atol=close(options, 1e-10))
    if kind is not kl.KernelPLSRegressor:
        assert one.classes_.tolist() == [0, 1, 2]
    assert one.plan_.n_rows == N


def test_partial_fit_with_the_landmarks_of_fit_is_fit():
    given = {"kernel": Gaussian(0.2), "landmarks": X[:40], "reg": 0.01}
    whole = kl.KernelDiscriminant(**given).fit(X, Y)
    grown = kl.KernelDiscriminant(**given)
    for A, b in blocks_of(X, Y):
        grown.partial_fit(A, b, classes=[0, 1, 2])
    np.testing.assert_allclose(features(grown), features(whole), atol=1e-10)
    np.testing.assert_allclose(grown.predict_proba(X_NEW), whole.predict_proba(X_NEW), atol=1e-8)


def test_a_model_is_solved_when_it_is_used_and_grows_after_that():
    model = kl.HSICSubspace(landmarks=20, random_state=0)
    model.partial_fit(X[:100], Y[:100])
    assert "kernel_" not in vars(model)
    first = features(model)
    assert "kernel_" in vars(model)
    model.partial_fit(X[100:], Y[100:])
    assert "kernel_" not in vars(model)
    assert not np.allclose(features(model), first)
    model.fit(X[:100], Y[:100])
    assert not hasattr(model, "state_")


def test_states_add_up_and_are_fitted():
    a = kl.HSICSubspace(Gaussian(0.2), landmarks=X[:30]).partial_fit(X[:700], Y[:700])
    b = kl.HSICSubspace(Gaussian(0.2), landmarks=X[:30]).partial_fit(X[700:], Y[700:])
    both = kl.HSICSubspace(Gaussian(0.2), landmarks=X[:30]).fit(a.state_ + b.state_)
    whole = kl.HSICSubspace(Gaussian(0.2), landmarks=X[:30]).fit(X, Y)
    np.testing.assert_allclose(features(both), features(whole), atol=1e-10)
    other = kl.HSICSubspace(Gaussian(0.2), landmarks=X[:29]).partial_fit(X[700:], Y[700:])
    with pytest.raises(ValueError, match="different landmarks"):
        a.state_ + other.state_
    with pytest.raises(ValueError, match="learns from rows"):
        kl.ExpansionSVC().fit(a.state_)


def test_partial_fit_that_is_refused_leaves_the_model_as_it_was():
    model = kl.KernelDiscriminant(Gaussian(0.2), landmarks=20, random_state=0, reg=0.1)
    with pytest.raises(ValueError, match="label 2 is not among the classes"):
        model.partial_fit(X, Y, classes=[0, 1])
    assert not hasattr(model, "state_")
    model.partial_fit(X[:500], Y[:500])
    before = features(model)
    for bad in (X[:, :3], np.where(X > 0.9, np.nan, X)):
        with pytest.raises(ValueError, match="Block 0"):
            model.partial_fit(bad, Y)
    with pytest.raises(ValueError, match="requires y"):
        model.partial_fit(X, None)
    np.testing.assert_array_equal(features(model), before)
    one = kl.KernelDiscriminant(landmarks=20).partial_fit(X[:50], np.zeros(50, int))
    with pytest.raises(ValueError, match="1 class"):
        one.predict(X_NEW)
    assert one.partial_fit(X[50:], Y[50:]).predict(X_NEW).shape == (40,)
    assert not hasattr(kl.HSICSubspace("precomputed"), "partial_fit")


# -- results for sources ----------------------------------------------------------------


RESULTS = ["transform", "predict", "predict_proba", "predict_log_proba", "decision_function"]


@pytest.mark.parametrize("name", RESULTS)
def test_results_for_a_source_are_those_of_its_rows(name, tmp_path):
    labels = np.array(["low", "middle", "high"], object)[Y]
    model = kl.KernelDiscriminant(landmarks=40, random_state=0, reg=0.01).fit(X, labels)
    method = getattr(model, name)
    whole = method(X)
    same = np.testing.assert_array_equal if name == "predict" else np.testing.assert_allclose
    for source in (lambda: blocks_of(X, Y), blocks_of(X, Y), Blocks([X[:700], X[700:]])):
        found = method(source)
        first = next(found)
        assert len(first) in (170, 700)
        same(np.concatenate([first, *found]), whole)
    for rows in (X, lambda: blocks_of(X, Y)):
        path = method(rows, out=tmp_path / "out.npy")
        written = np.load(path, allow_pickle=False)
        same(written, whole)
        assert written.dtype == (whole.dtype if name != "predict" else np.dtype("<U6"))
    assert [file.name for file in tmp_path.iterdir()] == ["out.npy"]


def test_scores_of_a_source():
    model = kl.KernelDiscriminant(landmarks=40, random_state=0, reg=0.01).fit(X, Y)
    np.testing.assert_allclose(model.score(lambda: blocks_of(X, Y)), model.score(X, Y))
    np.testing.assert_allclose(model.score(blocks_of(X, Y, W)), model.score(X, Y, W))
    values = np.column_stack([X[:, 0] ** 2 + 1e4, X[:, 1], np.ones(N)])
    model = kl.KernelPLSRegressor(landmarks=40, random_state=0).fit(X, values)
    for y in (values, values + 1):
        np.testing.assert_allclose(
            model.score(lambda y=y: blocks_of(X, y, W)), model.score(X, y, W), atol=1e-9
        )
    with pytest.raises(ValueError, match="no labels"):
        model.score(Blocks([X]))
    with pytest.raises(ValueError, match="no rows"):
        model.score(Blocks([]))


def test_a_bad_block_of_new_rows_is_named(tmp_path):
    model = kl.HSICSubspace(landmarks=20).fit(X, Y)
    with pytest.raises(ValueError, match=r"Block 71, row 3 \(row 713 of the source\).*NaN"):
        list(model.transform(lambda: spoilt("nan", 71)))
    with pytest.raises(ValueError, match="Block 71"):
        model.transform(lambda: spoilt("columns", 71), out=tmp_path / "out.npy")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="no rows"):
        model.transform(Blocks([]), out=tmp_path / "out.npy")


# -- progress -----------------------------------------------------------------------------


def test_a_loud_fit_says_the_price_first_and_then_how_far_it_is(few_held, monkeypatch, capsys):
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    kl.HSICSubspace(landmarks=20, random_state=0).fit(lambda: blocks_of(X, Y))
    assert capsys.readouterr().out == ""
    kl.HSICSubspace(landmarks=20, random_state=0, verbose=1).fit(lambda: blocks_of(X, Y))
    lines = capsys.readouterr().out.splitlines()
    price = next(i for i, line in enumerate(lines) if "operations, 2 passes over 1500 rows" in line)
    assert lines[0].startswith("HSICSubspace: pass 1 of 2, summary: 170 rows, ")
    assert "about" in lines[price] and "s left" in lines[price + 1]
    assert "pass 2 of 2, 20 landmarks: 1500 of 1500 rows (100 %)" in lines[-1]
    kl.KernelDiscriminantQR(verbose=1).fit(blocks_of(X[:200], Y[:200]))  # in memory


def test_callbacks_of_scikit_learn_see_every_pass_and_block(few_held):
    pytest.importorskip("sklearn.callback")

    class Watch:
        def __init__(self):
            self.begun, self.ended, self.setups = [], [], 0

        def setup(self, estimator, context):
            self.setups += 1

        def on_fit_task_begin(self, estimator, context):
            self.begun.append(context.task_name)

        def on_fit_task_end(self, estimator, context):
            self.ended.append(context.task_name)

        def teardown(self, estimator, context):
            self.setups -= 1

    watch = Watch()
    model = kl.HSICSubspace(landmarks=20).set_callbacks(watch)
    model.fit(lambda: blocks_of(X, Y))
    assert sorted(watch.begun) == sorted(watch.ended)
    passes = [name for name in watch.begun if name.startswith("pass")]
    assert passes == ["pass 1 of 2, summary", "pass 2 of 2, 20 landmarks"]
    assert watch.begun.count("1500 rows") == 2
    assert (watch.begun[0], watch.ended[-1], watch.setups) == ("fit", "fit", 0)
    with pytest.raises(ValueError, match="Block 71"):
        model.fit(lambda: spoilt("nan", 71))
    assert watch.setups == 0


@pytest.mark.parametrize("row_bytes, factor", [(1.0, 8), (1e9, 1 / 16)])
def test_rows_are_asked_for_by_their_size(row_bytes, factor):
    """Between a sixteenth and eight times as many as of a source that does not know it."""

    class Sized(Blocks):
        asked = 0

        def read(self, rows):
            self.asked = rows
            return super().read(rows)

    source = Sized([(X[:90], Y[:90])])
    source.row_bytes = row_bytes
    kl.HSICSubspace().fit(source)
    assert source.asked == factor * stream_training.READ_ROWS


@pytest.mark.parametrize("scale", [1e-20, 1e20])
@pytest.mark.parametrize("kind", [kl.HSICSubspace, kl.KernelDiscriminant, kl.KernelPLS])
def test_weights_of_any_scale_are_those_of_the_array(kind, scale):
    """A source of few rows is an array, whose weights are brought to where a penalty counts."""
    rows, y, w = X[:60], Y[:60], scale * (1.0 + W[:60])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that their sum is far from the rows' number
        whole = kind().fit(rows, y, sample_weight=w)
        source = kind().fit(lambda: blocks_of(rows, y, w))
    np.testing.assert_array_equal(features(source), features(whole))
