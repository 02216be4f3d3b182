"""The scheduler of a Dask cluster is killed, and another takes its place."""

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import kernel_learn as kl
from chaos.faults import record
from kernel_learn.streams import dask_rows

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

rng = np.random.default_rng(0)
X = rng.normal(size=(1200, 4))
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)


def free_port():
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return own.getsockname()[1]


def run_module(name, *options):
    command = [sys.executable, "-m", f"distributed.cli.{name}", "--no-dashboard", *options]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(command, env=known, **quiet)


@contextmanager
def cluster(port):
    """A scheduler and a worker, each a process."""
    scheduler = run_module("dask_scheduler", "--host", "127.0.0.1", "--port", str(port))
    address = f"tcp://127.0.0.1:{port}"
    worker = run_module("dask_worker", address, "--nthreads", "1", "--no-nanny")
    try:
        yield scheduler
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def slow(block):
    time.sleep(0.1)
    return block


def make():
    return kl.KernelDiscriminant(landmarks=30, random_state=0)


def test_a_lost_scheduler_that_comes_back(tmp_path, often, monkeypatch):
    """A sentence, the estimator as it was, and the checkpoint goes on at the new one."""
    monkeypatch.setattr("kernel_learn.streams.dask_rows.TASK_SECONDS", 1e-9)
    port, model = free_port(), make()
    rows = da.from_array(X, chunks=(100, 4)).map_blocks(slow, meta=np.empty((0, 4)))
    labels, passes = da.from_array(Y, chunks=100), []
    moments = dask_rows.SpreadRows.moments
    with cluster(port) as scheduler:
        client = distributed.Client(f"tcp://127.0.0.1:{port}", timeout=120)
        client.wait_for_workers(1, timeout=120)

        def doomed(self, *args):
            threading.Timer(0.5, scheduler.kill).start()
            return moments(self, *args)

        monkeypatch.setattr(dask_rows.SpreadRows, "moments", doomed)
        before = dict(vars(model))
        with pytest.raises(ConnectionError, match=r"checkpoint= that goes on"):
            model.fit(rows, labels, checkpoint=tmp_path)
        assert vars(model) == before
        assert os.listdir(tmp_path)  # what was counted is kept
    monkeypatch.setattr(dask_rows.SpreadRows, "moments", moments)
    summarize = dask_rows.SpreadRows.summaries
    monkeypatch.setattr(
        dask_rows.SpreadRows,
        "summaries",
        lambda self, *args: passes.append(1) or summarize(self, *args),
    )
    with cluster(port), client:
        client.wait_for_workers(1, timeout=120)
        model.fit(rows, labels, checkpoint=tmp_path)
    assert not passes  # the first pass was kept
    expected = make().fit(X, Y)
    np.testing.assert_allclose(model.transform(X), expected.transform(X), atol=1e-8)
    record("the scheduler is killed, and is back", "Dask", "a sentence; the fit goes on, equal")
