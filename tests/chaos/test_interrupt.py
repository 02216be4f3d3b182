"""Ctrl-C at random moments: a fit ends within a second of processor time, and leaves nothing."""

import os
import signal
import tempfile
import time

import numpy as np
import pytest

import kernel_learn as kl
from chaos.faults import TIMES, answer, cpu_seconds, in_blocks, record, start

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 10))
y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)
blocks = in_blocks(X, y)


def again(model, rows, labels):
    """Fits without end, of which one is interrupted; what it leaves on the estimator."""
    before = set(vars(model))
    try:
        while True:
            for name in set(vars(model)) - before:
                delattr(model, name)
            model.fit(*((rows,) if labels is None else (rows, labels)))
    except KeyboardInterrupt:
        at_end, seconds = set(vars(model)), time.process_time()
        model.fit(X[:100], y[:100])  # and it can be used
        return sorted(at_end - before), seconds


CASES = {
    "KernelClassifier": (kl.KernelClassifier(quality="fast"), X[:300], y[:300]),
    "KernelClassifier on a source": (
        kl.KernelClassifier(quality="fast", memory_budget=3_000_000),
        blocks,
        None,
    ),
    "KernelRegressor": (kl.KernelRegressor(quality="fast"), X[:200], X[:200, 1] ** 2),
    "KernelRegressor on a source": (
        kl.KernelRegressor(quality="fast", memory_budget=4_000_000),
        in_blocks(X, X[:, 1] ** 2),
        None,
    ),
    "KernelDiscriminant": (kl.KernelDiscriminant(), X, y),
    "HSICSubspace on a source": (
        kl.HSICSubspace(landmarks=50),
        blocks,
        None,
    ),
    "SubspaceSVC": (kl.SubspaceSVC(landmarks=50), X, y),
    "MultiKernelSVC": (kl.MultiKernelSVC(["gaussian", "linear"]), X[:400], y[:400]),
    "InductiveKernel": (kl.InductiveKernel(), X[:200], y[:200]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_a_fit_ends_within_a_second(name, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    model, rows, labels = CASES[name]
    for moment in np.random.default_rng(1).uniform(0.1, 1.0, 3 * TIMES):
        process = start(again, model, rows, labels)
        time.sleep(moment)
        before = cpu_seconds(process[0])
        os.kill(process[0], signal.SIGINT)
        said = answer(process)
        assert said is not None and "value" in said, said
        left, seconds = said["value"]
        assert left == [], "an interrupted fit leaves the estimator as it was"
        assert seconds - before < 1.0
        assert list(tmp_path.iterdir()) == []
        record("Ctrl-C", name, "ends within a second, nothing left, used again")
