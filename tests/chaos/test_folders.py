"""Folders that are gone, or may not be written to."""

import os
import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import kernel_learn as kl
from chaos.faults import answer, in_blocks, record, start

pytest.importorskip("skops")
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 10))
y = (X[:, 0] > 0).astype(int)
blocks = in_blocks(X, y)


@pytest.mark.parametrize("kind", [kl.KernelClassifier, kl.KernelRegressor])
def test_no_folder_for_temporary_files(kind, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(gone))
    shutil.rmtree(gone)
    model = kind(quality="fast", max_members=1, memory_budget=2_500_000)
    target = y if kind is kl.KernelClassifier else X[:, 0]
    blocks = in_blocks(X, target)

    def fit():
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            score = model.fit(blocks).score(X[:200], target[:200])
        return score, [str(one.message) for one in told]

    found = answer(start(fit))
    assert "value" in found, found
    score, told = found["value"]
    assert score > 0.8 and any("no temporary folder can be made" in text for text in told)
    once = answer(start(lambda: model.fit(blocks()) and None))
    assert "no temporary folder can be made" in once["error"] and "TMPDIR" in once["error"]
    record("TMPDIR is gone", "rows on the disk", "a warning and landmarks, or a sentence", 2)


@pytest.fixture
def read_only():
    """A folder that everybody may read, in no folder that is somebody's own."""
    folder = Path(tempfile.mkdtemp(prefix="kernel-learn-test-"))
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


def as_nobody(work):
    """The work as a user who owns nothing: root may write to every folder."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    return work()


def test_a_folder_that_may_not_be_written_to(read_only):
    path = read_only / "model.skops"
    model = kl.KernelDiscriminant().fit(X[:100], y[:100])
    kl.save(model, path)
    whole = path.read_bytes()
    read_only.chmod(0o555)
    for work in (
        lambda: kl.save(model, path),
        lambda: kl.HSICSubspace(landmarks=20).fit(blocks, checkpoint=read_only / "c") and None,
        lambda: str(model.predict(X[:10], out=read_only / "p.csv")),
    ):
        said = answer(start(as_nobody, work))
        assert "Permission denied" in said["error"] and str(read_only) in said["error"], said
        record("a folder that is read-only", "save, checkpoint, predictions", "a sentence")
    assert [one.name for one in read_only.iterdir()] == ["model.skops"]
    assert path.read_bytes() == whole


def test_a_folder_that_is_gone_at_the_end(tmp_path, often):
    """A checkpoint whose folder somebody removes while the fit is under way."""
    folder = tmp_path / "checkpoint"

    def removing():
        for i, block in enumerate(blocks()):
            if i == 20:
                shutil.rmtree(folder)
            yield block

    model = kl.HSICSubspace(landmarks=20, random_state=0)
    said = answer(start(lambda: model.fit(removing, checkpoint=folder) and None))
    assert "A checkpoint could not be written" in said["error"], said
    record("the folder is removed", "checkpoint", "a sentence")
