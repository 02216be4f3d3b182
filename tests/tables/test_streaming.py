"""Tables larger than memory: a fair sample, and a fit to all rows in blocks."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")

import kernel_learn as kl  # noqa: E402
from cli.test_commands import run  # noqa: E402
from kernel_learn import HSICSubspace, KernelDiscriminant, TableEncoder  # noqa: E402
from kernel_learn.streams.readers import TableFiles  # noqa: E402
from kernel_learn.tables import TableError, TableModel, look_at_columns, streaming  # noqa: E402
from kernel_learn.tables.methods import CLASSIFIERS, TRANSFORMERS  # noqa: E402
from kernel_learn.tables.streaming import (  # noqa: E402
    HeldShare,
    fit_in_blocks,
    is_too_large,
    sample_rows,
)

rng = np.random.default_rng(0)
N = 3000


def no_table_fits(monkeypatch):
    """From now on every table is larger than memory."""
    monkeypatch.setattr(streaming, "SHARE", 1e9)
    monkeypatch.setattr("kernel_learn.cli.reading.EARLY_BYTES", 0)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table in three files, with holes, a category and whole-number labels."""
    folder = tmp_path_factory.mktemp("large")
    X = rng.normal(size=(N, 4))
    frame = pd.DataFrame(X, columns=list("pqrs"))
    frame["site"] = rng.choice(["a", "b"], N)
    frame["y"] = (X[:, 0] * X[:, 1] + (frame["site"] == "a") > 0.3).astype(int)
    frame.loc[::50, "r"] = np.nan
    frame.loc[::100, "y"] = np.nan
    for i in range(3):
        frame[i * 1000 : (i + 1) * 1000].to_csv(folder / f"part-{i}.csv", index=False)
    return frame, folder, [str(folder / "part-*.csv")]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("kernel_learn.streams.readers.TableFiles.blocks.__defaults__", (300, None))


def test_sample_is_fair_and_repeats(table, small_blocks):
    frame, _, data = table
    sample, n = sample_rows(TableFiles(data), 500, seed=1)
    assert n == N and len(sample) == 500
    again, _ = sample_rows(TableFiles(data), 500, seed=1)
    pd.testing.assert_frame_equal(sample, again)
    places = np.searchsorted(np.sort(frame["p"]), sample["p"])
    place = frame.reset_index().set_index("p").loc[sample["p"], "index"].to_numpy()
    assert np.all(np.diff(place) > 0)  # in the order of the table
    counts = np.histogram(place, bins=3, range=(0, N))[0]
    assert np.all(np.abs(counts - 500 / 3) < 50) and len(places) == 500
    everything, _ = sample_rows(TableFiles(data), 10 * N)
    np.testing.assert_array_equal(everything["p"], frame["p"])


def test_blocks_give_the_model_of_the_whole_table(table, small_blocks):
    """With the landmarks given: a pipeline with TableEncoder in memory, whatever the sample is."""
    frame, _, data = table
    labelled = frame.dropna(subset=["y"]).reset_index(drop=True)
    features, y = labelled.drop(columns="y"), labelled["y"].astype(int).astype(str).to_numpy()
    rows = TableEncoder().fit_transform(features)
    estimator = KernelDiscriminant(landmarks=rows[:100], reg=0.1, decision="centroid")
    whole = make_pipeline(TableEncoder(), estimator).fit(features, y)
    streamed = TableModel(estimator, encoding="full", target="y")
    fit_in_blocks(streamed, TableFiles(data), labelled[700:1000], look_at_columns(features))
    assert list(streamed.classes_) == ["0", "1"]
    np.testing.assert_allclose(streamed.encode(features), rows, atol=1e-12)
    np.testing.assert_allclose(
        streamed.predict_proba(features), whole.predict_proba(features), atol=1e-9
    )


def test_mixed_columns_in_blocks_are_those_of_the_table_encoder(small_blocks, tmp_path):
    """Dates, booleans, holes and many levels; free text is beside them, by words of the sample."""
    n, own = 900, np.random.default_rng(1)
    parts = [["red", "blue", "green"], ["large", "small"], ["box", "chair", "lamp", "table"]]
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(own.integers(0, 900, n), unit="D")
    size, code = own.normal(size=n), own.integers(0, 90, n)
    frame = pd.DataFrame(
        {
            "size": np.where(own.random(n) < 0.1, np.nan, size),
            "code": [f"k{c}" for c in code],
            "day": day,
            "member": own.choice(["yes", "no"], n),
            "words": [f"it is a {' '.join(map(own.choice, parts))} {i}" for i in range(n)],
            "y": np.where(size + (code % 2) > 0.5, "high", "low"),
        }
    )
    frame.to_parquet(tmp_path / "rows.parquet")
    features = frame.drop(columns="y")
    columns = look_at_columns(features)
    assert list(columns.kinds.values()) == ["number", "category", "date", "category", "text"]
    model = TableModel(KernelDiscriminant(landmarks=50, reg=0.1), encoding="full", target="y")
    fit_in_blocks(model, TableFiles([str(tmp_path / "rows.parquet")]), frame[100:500], columns)
    found = model.encode(features)
    expected = TableEncoder().fit_transform(features.drop(columns="words"))
    np.testing.assert_allclose(found[:, : expected.shape[1]], expected, atol=1e-12)
    texts = found[:, expected.shape[1] :]
    assert texts.shape[1] > 1
    np.testing.assert_allclose(texts.std(axis=0), 1.0, atol=1e-9)
    kl.save(model, tmp_path / "m.skops")
    again = kl.load(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.predict_proba(features), model.predict_proba(features))
    assert np.mean(again.predict(features) == frame["y"]) > 0.7


def test_a_test_share_is_left_out(table, small_blocks):
    """The model is that of the other rows, and is judged by the share: the same in any blocks."""
    frame, _, data = table
    labelled = frame.dropna(subset=["y"]).reset_index(drop=True)
    features, y = labelled.drop(columns="y"), labelled["y"].astype(int).astype(str).to_numpy()
    columns = look_at_columns(features)
    whole, test, heard = TableModel(None, encoding="full", target="y"), HeldShare(0.2), []
    whole.fit_encoder(features, columns)
    held = test.holds(whole, labelled)
    rows = TableEncoder().fit(features[~held]).transform(features)
    estimator = KernelDiscriminant(landmarks=rows[:50], reg=0.1, decision="centroid")
    streamed = TableModel(estimator, encoding="full", target="y")
    judged = fit_in_blocks(streamed, TableFiles(data), labelled, columns, test, heard.append)
    assert held.mean() == pytest.approx(0.2, abs=0.03)
    np.testing.assert_array_equal(judged.frame["p"], features.loc[held, "p"])
    np.testing.assert_array_equal(judged.y, y[held])
    np.testing.assert_array_equal(frame.loc[judged.frame.index, "p"], judged.frame["p"])
    alone = clone(estimator).fit(rows[~held], y[~held])
    np.testing.assert_allclose(judged.said, alone.predict_proba(rows[held]), atol=1e-9)
    assert judged.words == f"{held.sum()} test rows"
    assert max(heard) == len(labelled) and heard.count(len(labelled)) == 3  # encode, fit, judge
    other = HeldShare(0.2, seed=1).holds(streamed, labelled)
    assert 0.02 < np.mean(other & held) < 0.06


def test_labels_of_a_test_share_are_not_learned(table, small_blocks):
    """Nearest neighbours are looked for among rows that are not judged."""
    frame, _, data = table
    labelled = frame.dropna(subset=["y"]).reset_index(drop=True)
    shuffled = labelled.assign(y=rng.permutation(labelled["y"].to_numpy()))
    columns = look_at_columns(shuffled.drop(columns="y"))
    near = make_pipeline(HSICSubspace(landmarks=50), KNeighborsClassifier(1))
    model = TableModel(near, encoding="full", target="y")

    class Shuffled(TableFiles):
        def blocks(self, *args, **kwargs):
            yield from (shuffled[i : i + 700] for i in range(0, len(shuffled), 700))

    judged = fit_in_blocks(model, Shuffled(data), shuffled, columns, HeldShare(0.3))
    assert np.mean(model.classes_[judged.said.argmax(axis=1)] == judged.y) < 0.65


def test_a_folder_is_a_table(table, tmp_path):
    """Its files in the order of their names, those of its folders too, without hidden ones."""
    _, folder, _ = table
    for i in range(3):
        path = tmp_path / "year=2020" / f"part-{i}.csv" if i else tmp_path / "a.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((folder / f"part-{i}.csv").read_bytes())
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.csv").write_text("a,b\n1,2\n")
    found = TableFiles([str(tmp_path)]).read()
    assert len(found) == N
    np.testing.assert_array_equal(found["p"], TableFiles([str(folder / "part-*.csv")]).read()["p"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match="a folder without files"):
        TableFiles([str(tmp_path / "empty")])


@pytest.mark.slow
def test_compare_reads_in_blocks(table, small_blocks, monkeypatch):
    """One test share for all methods that can, and a word on those that cannot."""
    *_, data = table
    no_table_fits(monkeypatch)
    monkeypatch.setattr("kernel_learn.cli.training.sample_rows.__defaults__", (800, 0))
    named = ["-m", "HSICSubspace", "-m", "KernelLMNN", "--set", "quality=fast"]
    out, _ = run("compare", *data, "-t", "y", *named, "--json")
    found = json.loads(out)
    rows = {row["method"]: row for row in found["leaderboard"]["rows"]}
    assert set(rows) == {"KernelClassifier", "KernelDiscriminant", "HSICSubspace", "majority class"}
    assert any("KernelLMNN" in text and "blocks" in text for text in found["warnings"])
    assert 200 < found["leaderboard"]["n_test"] < 400
    assert rows["majority class"]["accuracy"] < rows["KernelDiscriminant"]["accuracy"] - 0.1
    assert rows["KernelClassifier"]["low"] < rows["KernelClassifier"]["accuracy"]


def test_size_decides(table, monkeypatch):
    _, folder, data = table
    assert not is_too_large(TableFiles(data), "1GB")
    assert is_too_large(TableFiles(data), 1000)
    quarter = 4 * int(TableFiles(data).nbytes)
    assert not is_too_large(TableFiles(data), quarter)
    assert is_too_large(TableFiles(data), quarter - 1)
    (folder / "x.arff").write_text("@relation t\n")
    with pytest.raises(TableError, match="Only CSV, TSV, JSON lines, LIBSVM and Parquet"):
        is_too_large(TableFiles([str(folder / "x.arff")]), 10)


@pytest.mark.slow
def test_command_reads_in_blocks(table, small_blocks, monkeypatch):
    frame, folder, data = table
    no_table_fits(monkeypatch)
    monkeypatch.setattr("kernel_learn.cli.training.sample_rows.__defaults__", (800, 0))
    fast = ["-t", "y", "-o", folder / "m.skops", "--set", "quality=fast", "--memory", "3MB"]
    out, _ = run("fit", *data, *fast, "--report", folder / "r.html", "--json")
    found = json.loads(out)
    assert found["rows"] == N and found["method"] == "KernelClassifier"
    assert any("read in blocks" in text for text in found["warnings"])
    model = kl.load(folder / "m.skops")
    assert model.estimator_.plan_.disk_bytes and len(model.labels_) == len(
        model.estimator_.loo_rows_
    )
    labelled = frame.dropna(subset=["y"])
    truth = labelled["y"].astype(int).astype(str)
    score = np.mean(model.predict(labelled) == truth.to_numpy())
    assert score == pytest.approx(found["accuracy"], abs=0.08) and score > 0.8
    run("predict", folder / "m.skops", *data, "-o", folder / "p.csv")
    assert len(pd.read_csv(folder / "p.csv")) == N
    other = ["-t", "y", "-o", folder / "n.skops", "-m", "KernelDiscriminant"]
    out, _ = run("fit", *data, *other, "--set", "landmarks=200", "--json")
    assert json.loads(out)["accuracy"] > 0.8
    other = ["-t", "y", "-o", folder / "n.skops", "-m", "SubspaceSVC", "--set", "C=1"]
    out, _ = run("fit", *data, *other, "--set", "landmarks=50", "--set", "reg=0.1", "--json")
    assert json.loads(out)["accuracy"] > 0.7
    group = ["-t", "y", "-o", folder / "n.skops", "--group", "site"]
    assert "without groups or pairs" in run("fit", *data, *group, code=3)[1]
    run("learn-kernel", *data, "-t", "y", "-o", folder / "k.skops", "--set", "landmarks=100")
    assert kl.load(folder / "k.skops").transform(labelled.head(3)).shape[0] == 3


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A table of 600 rows, as CSV and as LIBSVM of 600 columns, most of them empty."""
    folder = tmp_path_factory.mktemp("small")
    X = rng.normal(size=(600, 3))
    y = np.where(X[:, 0] + X[:, 1] > 0, "high", "low")
    frame = pd.DataFrame(X, columns=list("abc")).assign(zip=["0123", "4567", "8910"] * 200, y=y)
    frame.to_csv(folder / "rows.csv", index=False)
    wide = np.zeros((600, 600))
    wide[np.arange(600), rng.integers(0, 600, 600)] = 1.0
    wide[:, :3], wide[0, 599] = X, 1.0  # a file is as wide as its last entry
    dump_svmlight_file(wide, (y == "high").astype(int), str(folder / "rows.libsvm"))
    return frame, folder


FITTED = {  # what each of them needs to be told
    "KernelClassifier": ["quality=fast", "max_members=2"],
    "KernelDiscriminant": ["landmarks=20", "reg=0.1"],
    "SubspaceSVC": ["landmarks=20", "reg=0.1", "C=1"],
    "MultiKernelSVC": ["landmarks=20", "loss=squared_hinge", "C=1"],
    "KernelPLS": ["landmarks=20", "n_components=2"],
    "HSICSubspace": ["landmarks=20", "reg=0.1"],
    "AlignmentSubspace": ["landmarks=20"],
    "KernelOrthogonalCentroid": ["landmarks=20"],
    "KernelDiscriminantQR": [],
}


@pytest.mark.parametrize("method", [*CLASSIFIERS, *TRANSFORMERS])
def test_every_method_is_fitted_in_blocks_or_refused(method, small, small_blocks, monkeypatch):
    frame, folder = small
    no_table_fits(monkeypatch)
    monkeypatch.setattr("kernel_learn.report.facts.PERMUTATIONS", 3)
    words = [folder / "rows.csv", "-t", "y", "-o", folder / f"{method}.skops", "-m", method]
    words += [word for setting in FITTED.get(method, []) for word in ("--set", setting)]
    streams = getattr(getattr(kl, method), "streams", False)
    assert streams == (method in FITTED)
    if not streams:
        said = " ".join(run("fit", *words, code=3)[1].split())
        assert f"{method} is not fitted in blocks; choose one of {', '.join(FITTED)}, or" in said
        assert not (folder / f"{method}.skops").exists()
        return
    found = json.loads(run("fit", *words, "--json")[0])
    assert found["rows"] == 600 and found["accuracy"] > 0.75
    looked_for = "The nearest neighbours are looked for among 600 of the rows."
    assert (looked_for in found["warnings"]) == (method in TRANSFORMERS)
    model = kl.load(folder / f"{method}.skops")
    assert model.columns_.kinds["zip"] == "category"
    assert np.mean(model.predict(frame) == frame["y"]) > 0.75


def test_methods_that_learn_no_features_in_blocks_are_refused(small, monkeypatch):
    _, folder = small
    no_table_fits(monkeypatch)
    words = [folder / "rows.csv", "-t", "y", "-o", folder / "k.skops", "-m", "KernelNCA"]
    said = " ".join(run("learn-kernel", *words, code=3)[1].split())
    assert "KernelNCA is not fitted in blocks; choose one of HSICSubspace" in said
    assert "KernelClassifier" not in said  # which learns no features


@pytest.mark.parametrize("method", ["KernelClassifier", "KernelDiscriminant"])
def test_sparse_files_are_fitted_in_blocks(method, small, small_blocks, monkeypatch):
    _, folder = small
    no_table_fits(monkeypatch)
    monkeypatch.setattr("kernel_learn.report.facts.PERMUTATIONS", 3)
    words = [folder / "rows.libsvm", "-t", "label", "-o", folder / "s.skops", "-m", method]
    words += [word for setting in FITTED[method] for word in ("--set", setting)]
    found = json.loads(run("fit", *words, "--json")[0])
    assert found["rows"] == 600 and found["columns"] == 600
    assert any("read in blocks" in text for text in found["warnings"])
    run("predict", folder / "s.skops", folder / "rows.libsvm", "-o", folder / "p.csv")
    assert len(pd.read_csv(folder / "p.csv")) == 600


@pytest.mark.slow
def test_numbers_are_judged_by_a_test_share(small, small_blocks, monkeypatch):
    """In fit and in compare: by rows that no method has seen, as classes are."""
    frame, folder = small
    values = frame.drop(columns="y").assign(price=frame.a + frame.b + 0.1 * rng.normal(size=600))
    values.to_csv(folder / "numbers.csv", index=False)
    no_table_fits(monkeypatch)
    rows = [folder / "numbers.csv", "-t", "price", "--json"]
    pls = ["-m", "KernelPLSRegressor", "--set", "landmarks=20"]
    out, _ = run("fit", *rows, *pls, "-o", folder / "numbers.skops")
    found, model = json.loads(out), kl.load(folder / "numbers.skops")
    test = HeldShare.of(600).holds(model, values)
    assert found["assessed_by"] == f"{test.sum()} test rows"
    said = model.predict(values[test])
    expected = np.sqrt(np.mean((said - values.price[test]) ** 2))
    assert found["rmse"] == pytest.approx(expected, rel=1e-9)
    out, _ = run("compare", *rows, "--set", "quality=fast")
    board = json.loads(out)["leaderboard"]
    assert board["n_test"] == test.sum() and board["n_rows"] == 600
    errors = {row["method"]: row["rmse"] for row in board["rows"]}
    assert set(errors) == {"KernelRegressor", "KernelPLSRegressor", "mean"}
    assert max(errors["KernelRegressor"], errors["KernelPLSRegressor"]) < 0.5 * errors["mean"]
