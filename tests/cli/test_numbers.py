"""The command line where the target is a number: what is taken for one, figures, new rows."""

import io
import json

import numpy as np
import pytest
from sklearn.metrics import r2_score, root_mean_squared_error

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")
pytest.importorskip("skops")
pytest.importorskip("jinja2")
testing = pytest.importorskip("typer.testing")

import kernel_learn as kl  # noqa: E402
from kernel_learn.cli.app import app  # noqa: E402
from kernel_learn.cli.examples import houses  # noqa: E402
from kernel_learn.cli.numbers import compare_errors, show_number_board  # noqa: E402
from kernel_learn.tables.columns import look_at_columns  # noqa: E402
from kernel_learn.tables.comparing_numbers import compare_numbers  # noqa: E402

FAST = ["--set", "quality=fast", "--set", "max_members=2", "--set", "assess=loo"]


def run(*words, code=0):
    done = testing.CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output + repr(done.exception)
    assert "Traceback" not in done.output
    return done.stdout, " ".join(done.stderr.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Sales in two tables, and a model of the first with its report."""
    folder = tmp_path_factory.mktemp("numbers")
    frame = houses(200)[0]
    frame[:120].to_csv(folder / "t.csv", index=False)
    frame[120:].to_csv(folder / "new.csv", index=False)
    words = ["-o", folder / "m.skops", "--report", folder / "m.html", "--json", *FAST]
    out, err = run("fit", folder / "t.csv", "-t", "price", *words)
    (folder / "fit.json").write_text(out)
    (folder / "fit.err").write_text(err)
    return folder


def test_fit_says_what_it_found(folder):
    found = json.loads((folder / "fit.json").read_text())
    model = kl.load(folder / "m.skops")
    assert found["task"] == "regress" and found["method"] == "KernelRegressor"
    y = pd.read_csv(folder / "t.csv")["price"].to_numpy()
    held = model.estimator_.held_out_prediction_
    assert found["rmse"] == pytest.approx(root_mean_squared_error(y, held))
    assert found["r2"] == pytest.approx(r2_score(y, held))
    low, high = found["error_interval"]
    assert low < found["rmse"] < high < found["naive_rmse"]
    assert len(found["verdict"]) == 3 and found["p_value"] < 0.01
    said = (folder / "fit.err").read_text()
    assert "taken as numbers: it has" in said and "For classes use --task classify" in said
    assert "price target" in said and " to " in said


def test_what_was_not_assessed_is_said_everywhere(folder):
    words = ["fit", folder / "t.csv", "-t", "price", "-o", folder / "n.skops", *FAST]
    words += ["--set", "assess=False"]
    out = " ".join(run(*words)[0].split())
    said = 'Error not assessed: fit with assess="nested" to have it'
    assert out.count(said) == 2 and "RMSE" not in out and "Intervals of 90 %" not in out
    found = json.loads(run(*words, "--json")[0])
    for name in ("assessed_by", "error", "error_interval", "rmse", "mae", "r2", "coverage"):
        assert found[name] is None
    assert found["headline"] == said and found["naive_rmse"] > 0
    out = " ".join(run("inspect", folder / "n.skops")[0].split())
    assert f"{said}." in out and "RMSE" not in out
    assert json.loads(run("inspect", folder / "n.skops", "--json")[0])["rmse"] is None
    words = ["report", folder / "n.skops", folder / "new.csv", "-o", folder / "n.html"]
    out = " ".join(run(*words)[0].split())
    assert "New rows: 80; RMSE" in out and "In training the error was not assessed" in out
    assert json.loads(run(*words, "--json")[0])["held_out_rmse"] is None


def test_predict_gives_values_and_intervals_beside_untouched_ids(folder):
    words = ["predict", folder / "m.skops", folder / "new.csv", "--coverage", "0.8"]
    run(*words, "-o", folder / "p.csv")
    found, new = pd.read_csv(folder / "p.csv"), pd.read_csv(folder / "new.csv")
    assert list(found.columns) == ["sale_id", "price", "value", "lower", "upper", "novelty"]
    assert found["sale_id"].tolist() == new["sale_id"].tolist()
    model = kl.load(folder / "m.skops")
    np.testing.assert_allclose(found["value"], model.predict(new), rtol=1e-9)
    ends = model.estimator_.predict_interval(model.encode(new), 0.8)
    np.testing.assert_allclose(found[["lower", "upper"]], ends, rtol=1e-9)
    inside = (found["lower"] <= new["price"]) & (new["price"] <= found["upper"])
    assert 0.65 < inside.mean() < 0.95
    plain, _ = run("predict", folder / "m.skops", folder / "new.csv", "--task", "regress")
    assert plain.splitlines()[0] == "sale_id,price,value,lower,upper"
    ends = model.estimator_.predict_interval(model.encode(new), 0.9)
    table = pd.read_csv(io.StringIO(plain))
    np.testing.assert_allclose(table[["lower", "upper"]], ends, rtol=1e-9)
    _, err = run(*words[:3], "-o", folder / "p.csv")
    assert "About 90 of 100 true values lie between lower and upper" in " ".join(err.split())
    _, err = run(*words, "--proba", code=3)
    assert "predicts numbers; leave out --proba" in err
    _, err = run(*words, "--task", "classify", code=3)
    assert "predicts numbers; leave out --task classify" in err


def test_report_on_new_rows_gives_their_figures(folder):
    words = ["report", folder / "m.skops", folder / "new.csv", "-o", folder / "new.html"]
    found = json.loads(run(*words, "--json")[0])
    new, model = pd.read_csv(folder / "new.csv"), kl.load(folder / "m.skops")
    said = model.predict(new)
    assert found["rmse"] == pytest.approx(root_mean_squared_error(new["price"], said))
    assert found["mae"] == pytest.approx(np.abs(new["price"] - said).mean())
    (own,) = [own for own in found["coverage"] if own["asked"] == 0.9]
    ends = model.predict_interval(new, 0.9)
    inside = (ends[:, 0] <= new["price"]) & (new["price"] <= ends[:, 1])
    assert own["found"] == pytest.approx(inside.mean())
    out, _ = run(*words)
    assert "New rows: 80; RMSE" in out and "Held out in training it was" in " ".join(out.split())
    _, err = run("report", folder / "m.skops", folder / "t.csv", "-o", folder / "old.html")
    assert "cannot test it" in err


def test_figures_apart_by_more_than_chance_are_called_so():
    old = {"rmse": 10.0, "low": 9.0, "high": 11.0}
    assert "the difference is within chance" in compare_errors(old | {"rmse": 11.0}, old)
    assert "are worse, by more" in compare_errors({"rmse": 15.0, "low": 13, "high": 17}, old)
    assert "are better, by more" in compare_errors({"rmse": 6.0, "low": 5, "high": 7}, old)


def test_inspect_knows_a_regressor(folder):
    out, _ = run("inspect", folder / "m.skops")
    assert "Predicts price: numbers, " in out and "RMSE by leave-one-out" in out
    found = json.loads(run("inspect", folder / "m.skops", "--json")[0])
    assert found["classes"] is None and found["rmse"] > 0
    assert "KernelRegressor" in kl.describe(folder / "m.skops")


def test_compare_ranks_methods_by_their_error(folder):
    words = ["compare", folder / "t.csv", "-t", "price", "--folds", 3, "--repeats", 1, *FAST]
    found = json.loads(run(*words, "--json")[0])
    rows = {row["method"]: row for row in found["leaderboard"]["rows"]}
    wanted = {"KernelRegressor", "SVR, tuned", "ridge", "random forest", "gradient boosting"}
    assert wanted <= set(rows) and list(rows)[-1] == "mean"
    errors = [row["rmse"] for row in rows.values()]
    assert errors == sorted(errors)
    assert all(row["rmse_low"] < row["rmse"] < row["rmse_high"] for row in rows.values())
    assert len(found["leaderboard"]["verdict"]) == 3
    _, err = run(*words, "--metric", "auc", code=3)
    assert "for numbers choose one of auto, r2, rmse, mae" in err
    _, err = run(*words, "--method", "KernelDiscriminant", code=3)
    assert "'KernelDiscriminant' is not a method for numbers" in err


def test_a_leaderboard_begins_with_a_verdict(capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    columns, methods = look_at_columns(frame), ["mean", "ridge"]
    for y, said, order in (
        (frame["a"] + 0.1 * rng.normal(size=60), "There is signal: ridge", ["ridge", "mean"]),
        (rng.normal(size=60), "No signal was found", None),
    ):
        board = compare_numbers(frame, np.asarray(y), columns, methods, metric="r2")
        show_number_board(board, None, None, None)
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith(said) and max(map(len, lines)) <= 80
        if order is not None:
            assert [score.method for score in board.scores] == order
            assert "R2" in next(line for line in lines if line.startswith("method"))


@pytest.fixture(scope="module")
def targets(folder):
    rng = np.random.default_rng(3)
    n = 60
    x = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "x": x,
            "z": rng.normal(size=n),
            "grade": np.clip(np.round(x), -1, 1).astype(int) + 2,
            "tariff": [f"${1000 + 300 * v:,.2f}" for v in x],
            "name": np.where(x > 0, "up", "down"),
        }
    )
    frame.to_csv(folder / "targets.csv", index=False)
    return folder / "targets.csv"


@pytest.mark.parametrize(
    ("target", "task", "taken", "said"),
    [
        ("grade", "auto", "classify", "taken as classes: it has 3 different whole numbers in 60"),
        ("grade", "regress", "regress", ""),
        ("tariff", "auto", "regress", "taken as numbers: its values are real numbers"),
        ("name", "auto", "classify", "taken as classes: its values are not numbers"),
    ],
)
def test_what_a_target_is_taken_for(targets, folder, target, task, taken, said):
    others = [name for name in ("grade", "tariff", "name") if name != target]
    words = [word for name in others for word in ("--drop", name)]
    words += ["--task", task, "-o", folder / "x.skops", "--json", *FAST]
    out, err = run("fit", targets, "-t", target, *words)
    assert json.loads(out)["task"] == taken
    assert said in err and ("taken as" in err) == (task == "auto")


def test_whole_numbers_are_classes_where_that_is_said(tmp_path):
    rows = np.random.default_rng(0).normal(size=(80, 2))
    table = pd.DataFrame(rows, columns=["a", "b"]).assign(y=np.round(20 * rows[:, 0]).astype(int))
    table.to_csv(tmp_path / "t.csv", index=False)
    assert 40 < table["y"].nunique() < 80
    words = ["fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.skops", *FAST]
    _, err = run(*words)
    assert "taken as numbers" in err and "For classes use --task classify" in " ".join(err.split())
    _, err = run(*words, "--task", "classify")
    assert "is taken as classes, as you asked: it has" in " ".join(err.split())
    assert kl.load(tmp_path / "m.skops").classes_.size == table["y"].nunique()
    table.assign(y=np.arange(80)).to_csv(tmp_path / "t.csv", index=False)
    _, err = run(*words)
    assert "taken as numbers" in err and "--task classify" not in err


def test_refusals(targets, folder):
    words = ["-o", folder / "x.skops", "--drop", "tariff"]
    _, err = run("fit", targets, "-t", "name", "--task", "regress", *words, code=3)
    assert "and --task regress predicts numbers" in err
    _, err = run("fit", targets, "-t", "x", "--task", "classify", *words, code=3)
    assert "too many for classes; predict it as a number with --task regress" in err
    _, err = run("fit", targets, "-t", "x", "--task", "guess", *words, code=3)
    assert "--task guess: choose one of auto, classify, regress" in err
    _, err = run("fit", targets, "-t", "x", "--threshold", "0.3", *words, code=3)
    assert "are for two classes, and the target is a number" in err
    _, err = run("fit", targets, "-t", "x", "-m", "ridge", *words, code=3)
    assert "is only for comparison" in err


def test_a_kernel_is_learned_from_numbers(targets, folder):
    words = ["--drop", "tariff", "--drop", "name", "--drop", "grade", "-o", folder / "k.skops"]
    out, err = run("learn-kernel", targets, "-t", "x", *words, "--json")
    model = kl.load(folder / "k.skops")
    assert model.estimator_.target_type == "numbers" and json.loads(out)["features"] == 1
    assert "taken as numbers" in err
    run("learn-kernel", targets, "-t", "x", *words, "-m", "KernelPLSRegressor")
    _, err = run("learn-kernel", targets, "-t", "x", *words, "-m", "KernelLMNN", code=3)
    assert "KernelLMNN learns no features from numbers" in err


def test_other_methods_and_onnx(targets, folder):
    words = ["--drop", "tariff", "--drop", "name", "-t", "x", "-o", folder / "o.skops"]
    found = json.loads(run("fit", targets, *words, "-m", "KernelPLSRegressor", "--json")[0])
    assert found["assessed_by"] == "cross-validation"
    assert all(own["low"] <= own["asked"] <= own["high"] for own in found["coverage"])
    run("predict", folder / "o.skops", targets, "--coverage", "0.9", "-o", folder / "o.csv")
    assert {"lower", "upper", "novelty"} <= set(pd.read_csv(folder / "o.csv"))
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    run("fit", targets, *words, "--onnx", folder / "o.onnx", *FAST)
    table = pd.read_csv(targets)[["z", "grade"]]
    session = runtime.InferenceSession(folder / "o.onnx")
    feed = {one.name: table[[one.name]].to_numpy(dtype=float) for one in session.get_inputs()}
    (said,) = session.run(["prediction"], feed)
    np.testing.assert_allclose(said, kl.load(folder / "o.skops").predict(table), rtol=1e-9)


def test_a_table_in_blocks(folder, monkeypatch):
    monkeypatch.setattr("kernel_learn.cli.reading.EARLY_BYTES", 0)
    monkeypatch.setattr("kernel_learn.cli.training.is_too_large", lambda *_: True)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = X[:, 0] - 2 * X[:, 1] + 0.1 * rng.normal(size=3000)
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).to_csv(folder / "long.csv", index=False)
    words = ["fit", folder / "long.csv", "-t", "y", "-o", folder / "b.skops"]
    words += ["-m", "KernelPLSRegressor", "--set", "landmarks=20", "--json"]
    found = json.loads(run(*words)[0])
    assert found["rows"] == 3000 and found["r2"] > 0.9
    assert any("it is read in blocks" in text for text in found["warnings"])
