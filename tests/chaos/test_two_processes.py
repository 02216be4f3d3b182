"""Two processes at one place."""

import os
import signal
import time

import numpy as np
import pytest

import kernel_learn as kl
from chaos.faults import answer, record, start
from kernel_learn.streams.folder_lock import LOCK

pytest.importorskip("skops")
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 5))
y = (X[:, 0] > 0).astype(int)


def slow_blocks(pause=0.1):
    def read():
        for i in range(0, len(X), 100):
            time.sleep(pause)
            yield X[i : i + 100], y[i : i + 100]

    return read


def model():
    return kl.HSICSubspace(landmarks=50, random_state=0)


def wait_for(path):
    end = time.monotonic() + 60
    while not path.exists() or not path.read_text():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_one_checkpoint_folder(tmp_path, often):
    source = slow_blocks()
    first = start(lambda: model().fit(source, checkpoint=tmp_path).transform(X[:5]).tolist())
    wait_for(tmp_path / LOCK)
    second = answer(start(lambda: model().fit(source, checkpoint=tmp_path) and None))
    assert f"in use: process {first[0]} is at work" in second["error"], second
    with pytest.raises(OSError, match=rf"in use: process {first[0]} .*name another folder"):
        model().fit(source, checkpoint=tmp_path)
    found = answer(first)["value"]
    np.testing.assert_array_equal(found, model().fit(slow_blocks(0)).transform(X[:5]))
    assert list(tmp_path.iterdir()) == []
    record("two fits in one folder", "checkpoint", "the second refuses, by the first's number", 2)


def test_a_lock_of_a_dead_process_is_taken_over(tmp_path, often):
    source = slow_blocks()
    for _ in range(5):
        process = start(lambda: model().fit(source, checkpoint=tmp_path) and None)
        wait_for(tmp_path / LOCK)
        os.kill(process[0], signal.SIGKILL)
        assert answer(process) is None
        assert (tmp_path / LOCK).exists()
        record("kill -9 of who holds a lock", "checkpoint", "taken over")
    model().fit(slow_blocks(0), checkpoint=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_fit_that_fails_lets_others_in(tmp_path, often):
    def ends():
        yield X[:100], y[:100]
        raise RuntimeError("the network is gone")

    for _ in range(3):  # in one process, in which nothing else lets go of the folder
        with pytest.raises(RuntimeError, match="network"):
            model().fit(lambda: ends(), checkpoint=tmp_path)
        assert not (tmp_path / LOCK).exists()


def test_save_while_another_process_loads(tmp_path):
    path = tmp_path / "model.skops"
    models = [kl.KernelDiscriminant(landmarks=n).fit(X[:300], y[:300]) for n in (40, 80)]
    kl.save(models[0], path)

    def save_often():
        for i in range(60):
            kl.save(models[i % 2], path)

    process = start(save_often)
    loads = 0
    while os.waitid(os.P_PID, process[0], os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        assert len(kl.load(path).kernel_.landmarks) in (40, 80)
        loads += 1
    assert answer(process) == {"value": None} and loads > 3
    record("saved while it is loaded", "kl.load", "the old file or the new one", loads)
