"""The command line as a user types it: answers, errors, files."""

import json
import shlex
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")
pytest.importorskip("skops")
pytest.importorskip("jinja2")
testing = pytest.importorskip("typer.testing")

import kernel_learn as kl  # noqa: E402
from cli.transcript import unfolded  # noqa: E402
from kernel_learn.cli.app import EXAMPLES, app  # noqa: E402
from kernel_learn.cli.reading import columns_of_model  # noqa: E402
from kernel_learn.cli.session import CODES  # noqa: E402

FAST = ["--set", "quality=fast", "--set", "max_members=3"]


def run(*words, code=0, stdin=None):
    """Standard output and standard error of a command in this process."""
    done = testing.CliRunner().invoke(app, [str(word) for word in words], input=stdin)
    assert done.exit_code == code, done.output + repr(done.exception)
    assert "Traceback" not in done.output
    return done.stdout, unfolded(done.stderr)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Example tables, and a model of wine and one of patients."""
    folder = tmp_path_factory.mktemp("try")
    for name in ("wine", "patients"):
        run("example", folder / f"{name}.csv")
    run("fit", folder / "wine.csv", "-t", "cultivar", "-o", folder / "wine.skops", *FAST)
    run("fit", folder / "patients.csv", "-t", "diagnosis", "-o", folder / "patients.skops", *FAST)
    return folder


def test_fit_says_what_it_found(folder):
    out, err = run(
        "fit", folder / "patients.csv", "-t", "diagnosis", "-o", folder / "p.skops", *FAST, "--json"
    )
    found = json.loads(out)
    assert found["rows"] == 400 and found["classes"] == ["disease", "healthy"]
    assert 0.7 < found["accuracy"] < 0.9 and found["naive_accuracy"] == pytest.approx(0.61, abs=0.1)
    low, high = found["accuracy_interval"]
    assert low < found["accuracy"] < high
    assert found["p_value"] < 0.01
    (warning,) = found["warnings"]
    assert "'patient_id' looks like an identifier" in warning and warning in err
    model = kl.load(folder / "p.skops")
    kinds = model.columns_.kinds
    assert kinds == {
        "admitted": "date",
        "age": "number",
        "smoker": "category",
        "marker": "number",
        "ward": "category",
        "note": "text",
    }


def test_what_was_not_assessed_is_said_everywhere(folder):
    draws = np.random.default_rng(0)
    frame = pd.DataFrame(draws.normal(size=(120, 3)), columns=list("abc"))
    frame["t"] = np.where(frame["a"] + draws.normal(size=120) > 0, "yes", "no")
    frame[:80].to_csv(table := folder / "a.csv", index=False)
    frame[80:].to_csv(other := folder / "b.csv", index=False)
    model = folder / "n.skops"
    words = ["fit", table, "-t", "t", "-o", model, *FAST, "--set", "assess=False"]
    out = " ".join(run(*words)[0].split())
    said = 'Error not assessed: fit with assess="nested" to have it'
    assert out.count(said) == 2  # in the verdict, and where the error stands
    assert "Accuracy" not in out and "Error by" not in out and "Balanced accuracy" not in out
    assert "By leave-one-out, which chose the members: new rows are told less well. AUC" in out
    found = json.loads(run(*words, "--json")[0])
    names = ("assessed_by", "error", "error_interval", "accuracy", "accuracy_interval", "log_loss")
    for name in (*names, "balanced_accuracy"):
        assert found[name] is None
    assert found["headline"] == said and f"{said}." in found["verdict"]
    assert found["held_out_by"] == "leave-one-out, which chose the members"
    assert f"{said}." in " ".join(run("inspect", model)[0].split())
    seen = json.loads(run("inspect", model, "--json")[0])
    assert seen["headline"] == said and seen["accuracy"] is None and seen["error"] is None
    words = ["report", model, other, "-o", folder / "n.html"]
    out = " ".join(run(*words)[0].split())
    assert "In training the error was not assessed" in out and "held out" not in out
    new = json.loads(run(*words, "--json")[0])
    assert new["held_out_accuracy"] is None and new["held_out_decision"] is None
    assert new["accuracy"] > 0.5


def test_the_headline_is_a_sentence_and_figures(folder):
    found = json.loads(run("inspect", folder / "patients.skops", "--json")[0])
    low, high = found["error_interval"]
    assert found["assessed_by"] == "nested cross-validation"
    assert found["headline"] == (
        f"Error by nested cross-validation: {100 * found['error']:.1f} % (95 % interval "
        f"{100 * low:.1f} to {100 * high:.1f})"
    )
    model = kl.load(folder / "patients.skops").estimator_
    assert found["error"] == model.error_ and (low, high) == tuple(model.error_interval_)
    assert model.summary_.splitlines()[1].startswith(found["headline"])


def test_onnx_gives_the_same_classes(folder):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    words = ["fit", folder / "wine.csv", "-t", "cultivar", "-o", folder / "o.skops"]
    run(*words, "--onnx", folder / "o.onnx", *FAST)
    session = runtime.InferenceSession(folder / "o.onnx")
    table = pd.read_csv(folder / "wine.csv").drop(columns="cultivar")
    feed = {one.name: table[[one.name]].to_numpy(dtype=float) for one in session.get_inputs()}
    (label,) = session.run(["label"], feed)
    np.testing.assert_array_equal(label.ravel(), kl.load(folder / "o.skops").predict(table))
    words = ["fit", folder / "patients.csv", "-t", "diagnosis", "-o", folder / "o.skops"]
    _, err = run(*words, "-m", "KernelDiscriminant", "--onnx", folder / "e.onnx")
    assert "begins after the encoders" in err and (folder / "e.onnx").exists()


def test_onnx_of_categories_is_refused_before_the_fit(folder):
    words = ["fit", folder / "patients.csv", "-t", "diagnosis", "-o", folder / "never.skops"]
    _, err = run(*words, "--onnx", folder / "never.onnx", code=3)
    assert "--onnx: KernelClassifier compares categories (column" in " ".join(err.split())
    assert "--drop" in err and not (folder / "never.skops").exists()


def test_predict_by_name_with_ids_and_probabilities(folder):
    table = pd.read_csv(folder / "patients.csv")
    new = table[table.columns[::-1]].drop(columns="diagnosis").assign(extra=1, smoker="sometimes")
    new.to_csv(folder / "new.csv", index=False)
    out, err = run(
        "predict", folder / "patients.skops", folder / "new.csv", "-o", folder / "p.csv", "--proba"
    )
    assert "400 rows written" in out and "'extra' is not known to the model" in err
    found = pd.read_csv(folder / "p.csv")
    names = ["patient_id", "extra", "prediction", "p(disease)", "p(healthy)"]
    assert list(found.columns) == names
    assert found["patient_id"].tolist() == table["patient_id"].tolist()
    np.testing.assert_allclose(found["p(disease)"] + found["p(healthy)"], 1)
    model = kl.load(folder / "patients.skops")
    np.testing.assert_array_equal(found["prediction"], model.predict(new))


def test_what_is_ignored_is_said_once(folder, monkeypatch):
    monkeypatch.setattr("kernel_learn.streams.readers.TableFiles.blocks.__defaults__", (50, None))
    table = pd.read_csv(folder / "wine.csv")
    table.assign(extra=1).to_csv(folder / "more.csv", index=False)
    _, err = run("predict", folder / "wine.skops", folder / "more.csv", "-o", folder / "p.csv")
    assert err == "Note: column 'extra' is not known to the model and is copied.\n"
    _, err = run("predict", folder / "wine.skops", folder / "wine.csv", "-o", folder / "p.csv")
    assert err == ""


def test_memory_is_that_of_the_table_and_of_the_fit(folder, monkeypatch):
    asked = []

    def is_too_large(table, memory):
        asked.append(memory)
        return False

    def compare(*given, memory, **options):
        raise ValueError(f"compared within {memory}")

    monkeypatch.setattr("kernel_learn.cli.training.is_too_large", is_too_large)
    monkeypatch.setattr("kernel_learn.cli.comparing.compare", compare)
    words = [folder / "wine.csv", "-t", "cultivar", "--memory", "300MB"]
    run("fit", *words, "-o", folder / "memory.skops", *FAST)
    assert kl.load(folder / "memory.skops").estimator_.plan_.budget == 3 * 10**8
    run("learn-kernel", *words, "-o", folder / "memory.skops", "--set", "landmarks=20")
    assert kl.load(folder / "memory.skops").estimator_.plan_.budget == 3 * 10**8
    assert "compared within 300MB" in run("compare", *words, code=3)[1]
    assert asked == ["300MB"] * 3


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl"])
def test_predictions_in_every_format(folder, suffix):
    run("predict", folder / "wine.skops", folder / "wine.csv", "-o", folder / f"out{suffix}")
    readers = {
        ".csv": pd.read_csv,
        ".tsv": lambda name: pd.read_csv(name, sep="\t"),
        ".parquet": pd.read_parquet,
        ".jsonl": lambda name: pd.read_json(name, lines=True),
    }
    found = readers[suffix](folder / f"out{suffix}")
    truth = pd.read_csv(folder / "wine.csv")["cultivar"]
    assert np.mean(found["prediction"].to_numpy() == truth.to_numpy()) > 0.95


def test_a_stream_gives_the_same_predictions(folder, monkeypatch):
    text = (folder / "wine.csv").read_text()
    out, _ = run("predict", folder / "wine.skops", "-", stdin=text)
    lines = out.splitlines()
    assert lines[0] == "cultivar,prediction" and len(lines) == 179
    monkeypatch.setattr("kernel_learn.streams.readers.TableFiles.blocks.__defaults__", (7, None))
    again, _ = run("predict", folder / "wine.skops", "-", stdin=text)
    assert again == out


def test_fit_from_standard_input(folder):
    text = (folder / "wine.csv").read_text()
    run("fit", "-", "-t", "cultivar", "-o", folder / "stdin.skops", *FAST, stdin=text)
    assert kl.load(folder / "stdin.skops").labels_.shape == (178,)


def test_compare_prints_a_leaderboard_and_keeps_a_model(folder):
    out, _ = run(
        "compare",
        folder / "wine.csv",
        "-t",
        "cultivar",
        "--folds",
        3,
        "--repeats",
        1,
        "-m",
        "HSICSubspace",
        "--report",
        folder / "c.html",
        "-o",
        folder / "c.skops",
        *FAST,
    )
    names = ("KernelClassifier", "HSICSubspace", "SVC, tuned", "logistic", "majority class")
    assert all(name in out for name in names)
    page = (folder / "c.html").read_text()
    assert "Compared with other methods" in page and "HSICSubspace" in page
    assert (folder / "c.skops").exists()


def test_of_uneven_classes_the_balanced_accuracy_is_shown_too(folder):
    table = pd.read_csv(folder / "wine.csv")
    rare = table[table["cultivar"] == table["cultivar"].iloc[-1]].iloc[:14]
    most = table[table["cultivar"] == table["cultivar"].iloc[0]]
    pd.concat([rare, most]).to_csv(folder / "uneven.csv", index=False)
    words = [folder / "uneven.csv", "-t", "cultivar"]
    out, _ = run("fit", *words, "-o", folder / "u.skops", "--report", folder / "u.html", *FAST)
    said = "Error by nested cross-validation: 0.0 %, 0 of 73 wrong (95 % interval 0.0 to "
    assert said in " ".join(out.split())
    assert "Permutation test: p < .005." in out
    assert "Balanced accuracy, as most rows are of one class: 100.0 %; chance 50.0 %." in out
    assert "<dt>Balanced accuracy</dt>" in (folder / "u.html").read_text()
    words += ["--folds", 2, "--repeats", 1, *FAST]
    out, _ = run("compare", *words, "--report", folder / "u.html")
    majority = next(line for line in out.splitlines() if "majority class" in line)
    assert "balanced" in out and "80.8 %" in majority and "50.0 %" in majority
    page = (folder / "u.html").read_text().replace("\u00a0", " ")
    assert '<button type="button">balanced</button>' in page
    board = json.loads(run("compare", *words, "--json")[0])["leaderboard"]
    assert board["uneven"] and board["rows"][-1]["balanced"] == 0.5
    out, _ = run("fit", folder / "wine.csv", "-t", "cultivar", "-o", folder / "u.skops", *FAST)
    assert "Balanced" not in out


def test_compare_as_json_with_groups(folder):
    table = pd.read_csv(folder / "wine.csv").assign(batch=lambda t: [i // 5 for i in range(len(t))])
    table.to_csv(folder / "grouped.csv", index=False)
    out, _ = run(
        "compare", folder / "grouped.csv", "-t", "cultivar", "--group", "batch", "--folds", 2,
        "--repeats", 1, "--json", *FAST,
    )  # fmt: skip
    board = json.loads(out)["leaderboard"]
    assert board["grouped"] and board["rows"][0]["accuracy"] > 0.9
    assert {row["method"] for row in board["rows"]} >= {"KernelClassifier", "majority class"}


def test_groups_change_what_is_held_out(folder):
    frame = pd.read_csv(folder / "patients.csv").assign(who=np.arange(400) // 8)
    frame.to_csv(folder / "repeated.csv", index=False)
    out, _ = run(
        "fit", folder / "repeated.csv", "-t", "diagnosis", "--group", "who", "-o",
        folder / "g.skops", "--json", *FAST,
    )  # fmt: skip
    assert json.loads(out)["p_value"] is None
    assert "who" not in kl.load(folder / "g.skops").columns_.used


def test_repeated_measures_without_a_group_are_named(folder):
    frame = pd.read_csv(folder / "wine.csv").sort_values("cultivar", ignore_index=True)
    label = frame["cultivar"].ne(frame["cultivar"].shift()).cumsum()
    frame["who"] = [f"P{i // 3}_{k}" for i, k in enumerate(label)]
    frame.to_csv(folder / "measured.csv", index=False)
    words = ["fit", folder / "measured.csv", "-t", "cultivar", "-o", folder / "r.skops", *FAST]
    assert "All rows with the same 'who' have the same 'cultivar'" in " ".join(
        run(*words)[1].split()
    )
    assert "have the same" not in run(*words, "--group", "who")[1]


def test_report_of_the_model_and_of_new_rows(folder):
    table = pd.read_csv(folder / "wine.csv")
    table[::2].to_csv(folder / "old.csv", index=False)
    table[1::2].to_csv(folder / "fresh.csv", index=False)
    run("fit", folder / "old.csv", "-t", "cultivar", "-o", folder / "old.skops", *FAST)
    run("report", folder / "old.skops", "-o", folder / "r.html")
    assert "each predicted by a model that had not seen it" in (folder / "r.html").read_text()
    out, _ = run(
        "report", folder / "old.skops", folder / "fresh.csv", "-o", folder / "n.html", "--json"
    )
    assert json.loads(out)["accuracy"] > 0.9
    assert "89 rows that the model had never seen" in (folder / "n.html").read_text()
    _, err = run("report", folder / "old.skops", folder / "old.csv", "-o", folder / "s.html")
    assert "cannot test it" in err
    out, err = run("report", folder / "old.skops", folder / "wine.csv", "-o", folder / "s.html")
    assert "89 of the rows were in the training table" in err


@pytest.mark.parametrize(
    ("file", "words"),
    [("command-fit", "leave-one-out"), ("command-fit-discriminant", "cross-validation")],
)
def test_figures_of_earlier_files_have_the_same_names(folder, file, words):
    """They say "one at a time" and "a fifth at a time"."""
    model = Path(__file__).parents[1] / "files" / "before_rooms" / f"{file}.skops"
    assert f"Error by {words}: " in run("inspect", model)[0]
    run("report", model, "-o", folder / "earlier.html")
    assert f"<dt>Error by {words}</dt>" in (folder / "earlier.html").read_text()


def test_inspect(folder):
    out, _ = run("inspect", folder / "patients.skops")
    assert "Predicts diagnosis: disease, healthy" in out and "Dates: admitted" in out
    assert "training rows" in out and "Left out: patient_id" in out
    found = json.loads(run("inspect", folder / "patients.skops", "--json")[0])
    assert found["columns"]["note"] == "text" and found["rows"] == 400


def test_learn_kernel_from_labels_and_transform(folder):
    run("learn-kernel", folder / "wine.csv", "-t", "cultivar", "-o", folder / "k.skops",
        "--components", 2, "--report", folder / "k.html")  # fmt: skip
    run("transform", folder / "k.skops", folder / "wine.csv", "-o", folder / "f.csv")
    features = pd.read_csv(folder / "f.csv")
    model = kl.load(folder / "k.skops")
    np.testing.assert_allclose(
        features.to_numpy(), model.transform(pd.read_csv(folder / "wine.csv")), rtol=1e-6
    )
    _, err = run("predict", folder / "k.skops", folder / "wine.csv", code=3)
    assert "use kernel-learn transform" in err
    assert "A kernel learned by HSICSubspace" in (folder / "k.html").read_text()


def test_learn_kernel_from_pairs(folder):
    table = pd.read_csv(folder / "wine.csv")
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 178, (2, 100))
    labels = table["cultivar"].to_numpy()
    pairs = pd.DataFrame({"a": a, "b": b, "same": (labels[a] == labels[b]).astype(int)})[a != b]
    pairs.to_csv(folder / "pairs.csv", index=False)
    rows = table.drop(columns="cultivar")
    rows.to_csv(folder / "rows.csv", index=False)
    run(
        "learn-kernel",
        folder / "rows.csv",
        "--pairs",
        folder / "pairs.csv",
        "-o",
        folder / "i.skops",
    )
    F = kl.load(folder / "i.skops").transform(rows)
    K = F @ F.T
    distance = np.diag(K)[:, None] + np.diag(K) - 2 * K
    same = labels[:, None] == labels
    assert distance[same].mean() < 0.5 * distance[~same].mean()
    _, err = run("learn-kernel", folder / "rows.csv", "-o", folder / "i.skops", code=3)
    assert "--target" in err and "--pairs" in err


def test_reproduce_lists_its_tables(folder, monkeypatch):
    assert "ye2007-table1" in run("reproduce", "--list")[0].split()
    monkeypatch.delenv("KERNEL_LEARN_DATA", raising=False)
    assert "There is no table 'x'" in run("reproduce", "x", code=3)[1]


def test_reproduce_lists_its_methods():
    said = run("reproduce", "--list-methods")[0]
    assert "ye2007-table2: SDP_theta, SDP_theta,lambda, RKDA_CV, SVM_CV" in said
    assert "chen2008-figures: no table of classifiers" in said
    assert "There is no table 'x'" in run("reproduce", "x", "--list-methods", code=3)[1]


def test_reproduce_with_a_method_of_ones_own(folder, monkeypatch):
    """On made-up rows in the place of the data sets; our own records come with the package."""

    class Rows:
        def load(self, name):
            rng = np.random.default_rng(0)
            y = np.arange(60) % 2
            return rng.normal(size=(60, 3)) + y[:, None], y

    monkeypatch.setattr("kernel_learn.cli.reproducing.find_data", lambda data: Rows())
    own = ("reproduce", "ye2007-table1", "--only", "Sonar-", "--results", folder / "own")
    page = folder / "mine.md"
    run(*own, "--method", "sklearn.neighbors:KNeighborsClassifier", "--page", page)
    text = page.read_text()
    assert "KNeighborsClassifier against" in text and "| Sonar | " in text
    assert len((folder / "own" / "ye2007-table1.methods.jsonl").read_text().splitlines()) == 30
    run(*own[:2], "--render", "--results", folder / "none", "--page", folder / "page.md")
    assert "120 of 120 cells" in (folder / "page.md").read_text()
    assert "has no Nothing" in run(*own, "--method", "sklearn.svm:Nothing", code=3)[1]
    assert "no fit" in run(*own, "--method", "builtins:dict", code=3)[1]


def test_reproduce_without_data_says_where_it_is(folder, monkeypatch):
    def fetch(**options):
        raise OSError("no network")

    monkeypatch.delenv("KERNEL_LEARN_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    said = run("reproduce", "ye2007-table1", code=4)[1]
    assert "No data folder, and 'sonar' could not be fetched" in said and "--data" in said


ERRORS = [
    (["fit", "gone.csv", "-t", "y", "-o", "m.skops"], 4, "There is no file 'gone.csv'"),
    (["fit", "wine.csv", "-t", "nothing", "-o", "m.skops"], 3, "no column 'nothing' (--target)"),
    (
        ["fit", "wine.csv", "-t", "alcohol", "-o", "m.skops", "--task", "classify"],
        3,
        "too many for classes",
    ),
    (["fit", "wine.csv", "-t", "cultivar", "-o", "m.pkl"], 3, "must end in .skops"),
    (["fit", "wine.csv", "-t", "cultivar", "-o", "m.skops", "-m", "x"], 3, "is not a method"),
    (["fit", "wine.csv", "-t", "cultivar", "-o", "m.skops", "--drop", "x"], 3, "no column 'x'"),
    (["fit", "wine.csv", "-t", "cultivar", "-o", "m.skops", "--group", "x"], 3, "(--group)"),
    (["fit", "wine.csv", "-t", "cultivar", "-o", "m.skops", "--set", "x=1"], 3, "no parameter 'x'"),
    (["fit", "wine.csv", "-t", "cultivar", "-o", "m.skops", "-m", "SVC, tuned"], 3, "comparison"),
    (["predict", "gone.skops", "wine.csv"], 4, "gone.skops"),
    (["predict", "wine.csv", "wine.csv"], 3, "wine.csv"),
    (["predict", "wine.skops", "patients.csv"], 3, "lacks the columns 'alcohol'"),
    (["predict", "wine.skops", "wine.csv", "-o", "p.xlsx"], 3, "must end in .csv"),
    (["predict", "wine.skops", "wine.csv", "--json"], 3, "name a file with -o"),
    (["report", "wine.skops", "-t", "cultivar"], 3, "there is no DATA"),
    (["report", "wine.skops", "patients.csv"], 3, "name the labels with --target"),
    (["example", "penguins.csv"], 3, "There is no example 'penguins'"),
]


@pytest.mark.parametrize(("words", "code", "text"), ERRORS, ids=lambda x: str(x)[:40])
def test_errors_are_one_sentence(words, code, text, folder, monkeypatch):
    monkeypatch.chdir(folder)
    out, err = run(*words, code=code)
    (line,) = [line for line in err.splitlines() if line.startswith("Error: ")]
    assert text in line and line.rstrip().endswith(".")
    assert out == "" or json.loads(out)["exit_code"] == code
    assert not (folder / "m.skops").exists()


def test_errors_as_json_and_with_traceback(folder, monkeypatch):
    monkeypatch.chdir(folder)
    out, _ = run("fit", "gone.csv", "-t", "y", "-o", "m.skops", "--json", code=4)
    assert json.loads(out) == {"error": "There is no file 'gone.csv'.", "exit_code": 4}
    done = testing.CliRunner().invoke(
        app, ["fit", "gone.csv", "-t", "y", "-o", "m.skops", "--debug"]
    )
    assert "Traceback" in done.stderr
    assert str(3) in CODES


def test_wrong_options_are_code_two():
    run("fit", "--nonsense", code=2)


def test_quiet_is_quiet(folder):
    words = [
        "fit",
        folder / "patients.csv",
        "-t",
        "diagnosis",
        "-o",
        folder / "q.skops",
        "-q",
        *FAST,
    ]
    assert run(*words) == ("", "")


def test_unlabelled_rows_and_leaks_are_named(folder):
    table = pd.read_csv(folder / "wine.csv").assign(cellar=lambda t: t["cultivar"].str[:4])
    table.loc[:4, "cultivar"] = None
    table.to_csv(folder / "odd.csv", index=False)
    _, err = run("fit", folder / "odd.csv", "-t", "cultivar", "-o", folder / "odd.skops", *FAST)
    assert "5 rows without 'cultivar' are left out" in err
    assert "'cellar' alone predicts the target" in err


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_help_shows_an_example_that_works(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    out, _ = run(name, "--help")
    for line in EXAMPLES[name]:
        assert line in out
        program, *words = shlex.split(line)
        assert program == "kernel-learn"
        run(*words)


def fresh(*words, **options):
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, **options
    )


def test_help_starts_fast_and_imports_little():
    code = (
        "import sys, time, kernel_learn.cli.app as a\n"
        "try: a.app(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = [m for m in ('sklearn', 'scipy', 'pandas', 'numpy') if m in sys.modules]\n"
        "print(heavy, time.process_time(), file=sys.stderr)\n"
    )
    done = fresh("-c", code)
    heavy, seconds = done.stderr.rsplit(maxsplit=1)
    assert heavy == "[]" and float(seconds) < 0.7
    assert "compare" in done.stdout


REFUSED = {
    "predict nofile.skops wine.csv": "No such file",
    "predict wine.skops nofile.csv": "There is no file",
    "report wine.csv": "not a model file",
    "fit wine.csv -t cultivar -o a.skops --cost 3": "--cost '3'",
    "fit wine.csv -t cultivar -o a.skops -m magic": "'magic' is not a method",
    "fit wine.csv -t vintage -o a.skops": "There is no column 'vintage'",
    "compare wine.csv -t cultivar --metric luck": "--metric luck: choose",
    "compare wine.csv -t cultivar --task guess": "--task guess: choose one of auto",
    "fit wine.csv -t cultivar -o a.skops --drop vintage": "no column 'vintage' in the table",
    "fit wine.csv -t cultivar -o a.skops --threshold 1.5": "--threshold 1.5: choose",
    "fit wine.csv -t cultivar -o a.skops --threshold .1 --cost fp=1,fn=2": "--cost finds",
    "fit wine.csv -t cultivar -o a.skops --types ash=foo": "--types ash=foo: choose",
    "fit wine.csv -t ash -o a.skops --task classify": "too many for classes",
    "fit one.csv -t y -o a.skops": "there must be two classes",
    "fit units.csv -t y -o a.skops": "its numbers cannot be compared",
    "learn-kernel units.csv -t y -o a.skops": "its numbers cannot be compared",
    "read units.csv -t y": "its numbers cannot be compared",
    "compare long.csv -t y": "long.csv",
    "fit quote.csv -t y -o a.skops": "quote.csv",
    "predict wine.skops wine.csv --threshold 3": "--threshold 3: choose",
    "predict wine.skops lacking.csv": "The table lacks column 'ash'",
    "transform wine.skops lacking.csv": "The table lacks column 'ash'",
}


@pytest.fixture(scope="module")
def wrong_tables(folder):
    """Tables that cannot be used, beside the good ones."""
    rows = [f"{70 + i % 9}.5 {'kg' if i % 2 else 'lb'},{'ab'[i % 3 == 0]}" for i in range(40)]
    plain = [f"{i}.5,{'ab'[i % 3 == 0]}" for i in range(40)]
    texts = {
        "units": ["weight,y", *rows],
        "long": ["weight,y", *plain, "7,8,9,10"],
        "quote": ["weight,y", *plain[:20], '"7.5,a', *plain[20:]],
        "one": ["weight,y", *(f"{i}.5,a" for i in range(40))],
    }
    for name, lines in texts.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    pd.read_csv(folder / "wine.csv").drop(columns="ash").to_csv(folder / "lacking.csv", index=False)
    return folder


@pytest.mark.parametrize("words", REFUSED)
def test_refusals_need_no_scikit_learn(words, wrong_tables):
    code = (
        "import sys, time, kernel_learn.cli.app as a\n"
        f"try: a.app({words.split()!r})\n"
        "except SystemExit as end: code = end.code\n"
        "print('sklearn' in sys.modules, time.process_time(), code)\n"
    )
    done = fresh("-c", code, cwd=wrong_tables)
    heavy, seconds, code = done.stdout.split()
    assert REFUSED[words] in unfolded(done.stderr) and int(code) > 0
    assert heavy == "False" and float(seconds) < 1.5


def test_reading_a_table_needs_no_scikit_learn(tmp_path):
    """Unless a target is named: what gives it away is found by trees."""
    rows = [f"{i}.5,2026-01-{1 + i % 28:02d},{'ab'[i % 3 == 0]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["weight,visit,y", *rows]) + "\n")
    code = (
        "import sys, kernel_learn.cli.app as a\n"
        "try: a.app(['read', 't.csv'])\n"
        "except SystemExit as end: print(end.code, 'sklearn' in sys.modules)\n"
    )
    *text, ended = fresh("-c", code, cwd=tmp_path).stdout.splitlines()
    assert ended == "0 False"
    assert [line.split()[:2] for line in text[1:]] == [
        ["weight", "number"],
        ["visit", "date"],
        ["y", "category"],
    ]


def test_a_model_file_names_the_columns_that_it_needs(folder, tmp_path):
    table = pd.read_csv(folder / "wine.csv").drop(columns="cultivar")
    found = columns_of_model(str(folder / "wine.skops"))
    assert found == kl.load(folder / "wine.skops").columns_.used == list(table.columns)
    for content in (b"", b"PK", b"PK\x03\x04 and no more"):
        (tmp_path / "m.skops").write_bytes(content)
        assert columns_of_model(str(tmp_path / "m.skops")) == []
    for text in ("[]", "{}", '{"names": 3}', '{"names": [1]}', "no JSON"):
        with zipfile.ZipFile(tmp_path / "m.skops", "w") as archive:
            archive.writestr("kernel_learn.json", text)
        assert columns_of_model(str(tmp_path / "m.skops")) == []


def test_names_are_those_of_the_methods():
    from kernel_learn.tables import comparing_numbers, methods, names, number_methods

    assert tuple(methods.OTHERS) == names.RIVALS
    assert tuple(number_methods.OTHERS) == names.NUMBER_RIVALS
    assert sorted(comparing_numbers.MEASURES) == sorted(names.MEASURES)


def test_module_and_version():
    done = fresh("-m", "kernel_learn", "--version")
    assert done.stdout.strip() == f"kernel-learn {kl.__version__}"
    assert all(hasattr(kl, name) for name in kl.__all__)
    assert set(kl.__all__) <= set(dir(kl))


def test_pipes_that_close_are_no_error(folder):
    command = f"{shlex.quote(sys.executable)} -m kernel_learn predict wine.skops wine.csv | head -1"
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.stdout == "cultivar,prediction\n" and "Error" not in done.stderr


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_half_written_file(sign, tmp_path):
    """A pipe holds 64 kB: once more has gone through, the command is at work."""
    words = ["fit", "-", "-t", "y", "-o", "m.skops", "--report", "r.html"]
    process = subprocess.Popen(
        [sys.executable, "-m", "kernel_learn", *words],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # ignored in what a shell runs behind, and so in what that starts
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    process.stdin.write(b"x,y\n" + b"1,a\n2,b\n" * 50_000)
    process.send_signal(sign)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130 and b"Interrupted" in err
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_keeps_the_old_file(tmp_path):
    from kernel_learn.atomic_write import atomic_write
    from kernel_learn.tables.writing import write_table

    path = tmp_path / "t.csv"
    path.write_text("old")

    def blocks():
        yield pd.DataFrame({"a": [1]})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_table(blocks(), str(path))
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1
    with atomic_write(path) as part:
        part.write_text("new")
    assert path.read_text() == "new" and len(list(tmp_path.iterdir())) == 1


def test_encoders_that_cannot_be_saved_are_refused_before_the_fit(folder, monkeypatch):
    """With a version of skrub whose types are not known, no fit is lost at its end."""
    from kernel_learn.interop import trusted

    monkeypatch.setattr(trusted, "SKRUB", {})
    trusted.trusted_names.cache_clear()
    monkeypatch.setattr(kl.KernelClassifier, "fit", lambda *_, **__: pytest.fail("it was fitted"))
    try:
        words = ("fit", folder / "patients.csv", "-t", "diagnosis", "-o", folder / "no.skops")
        _, err = run(*words, *FAST, code=3)
    finally:
        trusted.trusted_names.cache_clear()
    assert "could not be saved" in err and "skrub" in err
    assert not (folder / "no.skops").exists()
