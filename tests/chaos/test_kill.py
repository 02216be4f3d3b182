"""kill -9 at random moments: the old file or the new one, and a fit that goes on."""

import tempfile

import numpy as np
import pytest

import kernel_learn as kl
from chaos.faults import TIMES, answer, in_blocks, kill_after, kills, record, start
from kernel_learn.representations.state_files import read_file
from kernel_learn.tables.writing import write_table

pytest.importorskip("skops")
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 20))
y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)
blocks = in_blocks(X, y)
MOMENTS = 50 * TIMES


def litter(folder):
    """What a killed process leaves beside its files: hidden, and in nobody's way."""
    return [path for path in folder.iterdir() if not path.name.startswith(".")]


def test_save(tmp_path):
    path = tmp_path / "model.skops"
    models = [kl.KernelDiscriminant(landmarks=n).fit(X[:400], y[:400]) for n in (100, 200)]
    kl.save(models[0], path)

    def save_again_and_again():
        while True:
            for model in models:
                kl.save(model, path)

    for moment in np.random.default_rng(1).uniform(0.01, 0.15, MOMENTS):
        assert kill_after(start(save_again_and_again), moment)
        assert len(kl.load(path).kernel_.landmarks) in (100, 200)
        record("kill -9", "kl.save", "the old file or the new one")
    assert litter(tmp_path) == [path]


def test_predictions(tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "predictions.csv"
    frame = pd.DataFrame({"id": range(20_000), "prediction": 1})
    write_table(iter([frame]), str(path))
    whole = path.read_bytes()

    def write_again_and_again():
        while True:
            write_table(iter([frame[:10_000], frame[10_000:]]), str(path))

    for moment in np.random.default_rng(2).uniform(0.01, 0.1, MOMENTS):
        assert kill_after(start(write_again_and_again), moment)
        assert path.read_bytes() == whole
        record("kill -9", "predictions", "the old file or the new one")


@pytest.mark.parametrize("name", ["HSICSubspace", "KernelDiscriminant"])
def test_checkpoint(name, tmp_path, often):
    """Killed over and over, in the same folder, and then left alone."""
    model = getattr(kl, name)(landmarks=60, random_state=0)
    expected = model.fit(blocks).transform(X[:50])

    def fit():
        return model.fit(blocks, checkpoint=tmp_path).transform(X[:50]).tolist()

    for _ in kills(fit, MOMENTS // 2):
        if (tmp_path / "fit.npz").exists():
            read_file(tmp_path / "fit.npz")  # whole, or this raises
    found = answer(start(fit))["value"]
    np.testing.assert_array_equal(found, expected)
    assert litter(tmp_path) == []
    record("kill -9", f"checkpoint of {name}", "goes on, bit-equal", MOMENTS // 2)


@pytest.mark.parametrize("kind", [kl.KernelClassifier, kl.KernelRegressor])
def test_rows_on_the_disk(kind, tmp_path, monkeypatch):
    """What was spilled is of no use to anybody else, and in nobody's way."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    model = kind(quality="fast", max_members=1, memory_budget=3_000_000, random_state=0)
    rows = blocks if kind is kl.KernelClassifier else in_blocks(X, X[:, 0])

    def fit():
        model.fit(rows)
        said = model.predict if kind is kl.KernelRegressor else model.predict_proba
        return said(X[:20]).tolist()

    expected = answer(start(fit))["value"]
    assert list(tmp_path.iterdir()) == []
    for _ in kills(fit, MOMENTS // 2):
        pass
    assert answer(start(fit))["value"] == expected
    record("kill -9", "rows on the disk", "the next fit is the same", MOMENTS // 2)
