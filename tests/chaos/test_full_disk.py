"""A disk that is full: a sentence, what was there before, and nothing left behind."""

import os
import re
import tempfile
import warnings

import numpy as np
import pytest

import kernel_learn as kl
from chaos.faults import in_blocks, on_small_disk, record, with_file_limit

pytest.importorskip("skops")
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 10))
y = (X[:, 0] > 0).astype(int)
blocks = in_blocks(X, y)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder for files, and one for temporary ones, which stays empty."""
    (tmp_path / "own").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    yield tmp_path / "own"
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.parametrize("size", [0, 1000, 20_000])
def test_save(size, place):
    path = place / "model.skops"
    kl.save(kl.KernelDiscriminant(landmarks=50).fit(X[:200], y[:200]), path)
    before = files(place)
    large = kl.KernelDiscriminant(landmarks=500).fit(X, y)
    said = with_file_limit(size, kl.save, large, path)["error"]
    assert re.search("OSError: .*File too large", said)
    assert files(place) == before
    record("full disk", "kl.save", "a sentence, the old file")


@pytest.mark.parametrize("size", [0, 500, 5000])
def test_checkpoint(size, place, often):
    model = kl.HSICSubspace(landmarks=100, random_state=0)

    def fit():
        model.fit(blocks, checkpoint=place)

    said = with_file_limit(size, fit)["error"]
    assert re.search("could not be written|File too large", said), said
    assert not [name for name in files(place) if "part" in name and name.startswith(".")]
    found = clone_fit(model, place)
    np.testing.assert_array_equal(
        found, kl.HSICSubspace(landmarks=100, random_state=0).fit(blocks).transform(X[:20])
    )
    assert files(place) == {}
    record("full disk", "checkpoint", "a sentence, the fit goes on later")


def clone_fit(model, place):
    return model.fit(blocks, checkpoint=place).transform(X[:20])


def fit_and_score(kind):
    """An ensemble whose rows go to the disk: its score, and what it warned of."""
    model = kind(quality="fast", max_members=1, memory_budget=2_500_000, random_state=0)
    target = y if kind is kl.KernelClassifier else X[:, 0]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        score = model.fit(in_blocks(X, target)).score(X[:200], target[:200])
    return score, [str(one.message) for one in told]


@pytest.mark.parametrize("kind", [kl.KernelClassifier, kl.KernelRegressor])
@pytest.mark.parametrize("size", [0, 10_000])
def test_rows_on_the_disk(size, kind, place):
    """Where rows cannot be written, the fit goes on with landmarks, and says so."""
    found = with_file_limit(size, lambda: fit_and_score(kind))
    assert "value" in found, found
    score, told = found["value"]
    assert score > 0.8 and any("disk" in text for text in told)
    record("full disk", "rows on the disk", "a warning, a fit on landmarks")


@pytest.mark.parametrize("command", ["predict", "report"])
@pytest.mark.parametrize("size", [0, 2000])
def test_commands(command, size, place):
    pd = pytest.importorskip("pandas")
    testing = pytest.importorskip("typer.testing")
    pytest.importorskip("jinja2")
    from kernel_learn.cli.app import app

    def run(*words):
        done = testing.CliRunner().invoke(app, [str(word) for word in words])
        return done.exit_code, done.stderr

    frame = pd.DataFrame(X[:800], columns=[f"c{i}" for i in range(10)]).assign(y=y[:800])
    frame.to_csv(place / "t.csv", index=False)
    model = place / "m.skops"
    fast = ["--set", "quality=fast", "--set", "max_members=1"]
    assert run("fit", place / "t.csv", "-t", "y", "-o", model, *fast)[0] == 0
    out = place / ("p.csv" if command == "predict" else "r.html")
    words = [
        command,
        model,
        *([place / "t.csv"] if command == "predict" else []),
        "-o",
        out,
        *(["--proba"] if command == "predict" else []),
    ]
    assert run(*words)[0] == 0
    before = files(place)
    code, said = with_file_limit(size, run, *words)["value"]
    assert code != 0 and re.search("File too large|full", said), said
    assert "Traceback" not in said and files(place) == before
    record("full disk", command, "a sentence, the old file")


DISK = 100_000


def small_and_large():
    rows, labels = np.hstack([X[:300]] * 3), y[:300]
    return [kl.KernelDiscriminant(landmarks=n).fit(rows, labels) for n in (30, 300)]


def save_large(folder):
    small, large = small_and_large()
    kl.save(small, folder / "model.skops")
    return lambda: kl.save(large, folder / "model.skops")


def predict_many(folder):
    small = small_and_large()[0]
    rows = np.hstack([X] * 3)
    small.predict_proba(rows[:10], out=folder / "p.csv")
    return lambda: small.predict_proba(rows, out=folder / "p.csv")


def report_page(folder):
    pytest.importorskip("jinja2")
    page = kl.report(kl.KernelDiscriminant().fit(X[:100], y[:100]), X[:100], y[:100])
    (folder / "other").write_bytes(bytes(DISK - 50_000))
    (folder / "r.html").write_text("old")
    return lambda: page.save(folder / "r.html")


def keep_checkpoint(folder):
    (folder / "other").write_bytes(bytes(DISK - 20_000))
    model = kl.HSICSubspace(landmarks=300, random_state=0)
    return lambda: model.fit(blocks, checkpoint=folder / "c")


@pytest.mark.parametrize("prepare", [save_large, predict_many, report_page, keep_checkpoint])
def test_a_small_disk(prepare, tmp_path, request):
    """A disk that is really full."""
    if prepare is keep_checkpoint:
        request.getfixturevalue("often")

    def fill(folder):
        warnings.simplefilter("ignore")
        work = prepare(folder)
        before = files(folder)
        try:
            work()
        except OSError as error:
            said = str(error)
        else:
            said = "it was written"
        inside = [path.name for path in folder.rglob("*") if path.is_file()]
        is_kept = all(files(folder)[name] == data for name, data in before.items())
        return said, is_kept, sorted(set(inside) - set(before))

    found = on_small_disk(tmp_path, DISK, fill, tmp_path)
    if found is None:
        pytest.skip("mounting is not allowed")
    said, is_kept, more = found
    assert re.search("No space left on device|could not be written", said), said
    assert is_kept and [name for name in more if name != "fit.npz"] == [], found
    record("a small disk is full", prepare.__name__, "a sentence, the old file")


@pytest.mark.parametrize("kind", [kl.KernelClassifier, kl.KernelRegressor])
def test_rows_on_a_small_disk(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def fit():
        return *fit_and_score(kind), os.listdir(tmp_path)

    found = on_small_disk(tmp_path, 60_000, fit)
    if found is None:
        pytest.skip("mounting is not allowed")
    score, told, left = found
    assert score > 0.8 and any("disk" in text for text in told) and left == []
    record("a small disk is full", "rows on the disk", "a warning, a fit on landmarks")
