"""Fits on two worker processes: the answer of one process, whatever happens to the workers."""

import os
import runpy
import signal
from pathlib import Path

import numpy as np
import pytest

import kernel_learn as kl
from kernel_learn.datasets import ParquetSource
from kernel_learn.fitting import stream_training
from kernel_learn.streams import dask_rows
from kernel_learn.streams.dask_tree import TOPIC

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.slow

rng = np.random.default_rng(0)
N, SIZE = 1500, 170
X = rng.normal(size=(N, 4))
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int) + (X[:, 2] > 1)
X_NEW = rng.normal(size=(40, 4))


@pytest.fixture(scope="module")
def client():
    options = {"processes": True, "n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1"}
    # no dashboard; its port is any that is free, as another cluster may be there
    options |= {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}
    patient = {"distributed.comm.timeouts.connect": "60s", "distributed.comm.timeouts.tcp": "60s"}
    with (
        dask.config.set(patient),
        distributed.LocalCluster(**options, memory_limit="1GB") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def many_tasks(monkeypatch):
    """A stream, with one task for every block."""
    monkeypatch.setattr(stream_training, "CAPACITY", 300)
    monkeypatch.setattr("kernel_learn.streams.dask_rows.TASK_SECONDS", 1e-9)


def make():
    return kl.KernelDiscriminant(landmarks=40, random_state=0)


def same_as_whole(model):
    whole = make().fit(X, Y)
    np.testing.assert_allclose(model.transform(X_NEW), whole.transform(X_NEW), atol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X_NEW), whole.predict_proba(X_NEW), atol=1e-8)


def blocks(A):
    return da.from_array(A, chunks=(SIZE, *A.shape[1:]))


def test_arrays_and_results(client):
    told = []
    client.subscribe_topic(TOPIC, lambda event: told.append(event[1]))
    model = make().fit(blocks(X), blocks(Y))
    same_as_whole(model)
    found = model.predict(blocks(X))
    np.testing.assert_array_equal(found.compute(), model.predict(X))
    assert model.score(blocks(X), blocks(Y)) == pytest.approx(model.score(X, Y))
    client.unsubscribe_topic(TOPIC)
    for what in ("summary", "moments"):
        done = {event["task"]: event["rows"] for event in told if event["what"] == what}
        assert sum(done.values()) == N
    bad = X.copy()
    bad[713, 1] = np.nan
    with pytest.raises(ValueError, match=r"Block 4, row 33 \(row 713 of the source\): Input X"):
        make().fit(blocks(bad), blocks(Y))


def test_the_example_tells_how_far_it_is(client, capsys):
    example = Path(__file__).parents[2] / "examples" / "dask_cluster.py"
    accuracy = runpy.run_path(str(example))["fit_and_tell"](client, 30_000)
    assert accuracy > 0.9
    lines = capsys.readouterr().out
    assert "summary: 100 % of the rows" in lines
    assert "moments: 100 % of the rows" in lines


def test_parquet_files_are_read_by_the_workers(client, tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    names = np.array(["low", "middle", "high"])[Y]
    for i, part in enumerate((slice(0, 800), slice(800, N))):
        frame = pandas.DataFrame(X[part], columns=list("abcd")).assign(label=names[part])
        frame.to_parquet(tmp_path / f"{i}.parquet", row_group_size=100)
    source = ParquetSource(tmp_path, target="label")

    def not_here(*_):
        raise AssertionError("rows are read in this process")

    monkeypatch.setattr(ParquetSource, "read_file", not_here)
    model = make().fit(source)
    whole = make().fit(X, names)
    np.testing.assert_allclose(model.transform(X_NEW), whole.transform(X_NEW), atol=1e-8)
    frame["a"] = np.where(np.arange(len(frame)) == 313, np.nan, frame["a"])
    frame.to_parquet(tmp_path / "1.parquet", row_group_size=100)
    with pytest.raises(ValueError, match=r"Block 11, row 13 \(row 1113 of the source\): Input X"):
        make().fit(source)


# -- lost workers -------------------------------------------------------------------------


class Deadly:
    """Rows that end the worker that reads them, once for each file in a folder.

    A file has the name of a worker, or is for any of them.
    """

    def __init__(self, folder, always=False):
        self.folder, self.always = Path(folder), always

    def __call__(self, block):
        names = ("any", str(distributed.get_worker().name))
        if self.always or any(self.takes(name) for name in names):
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    def takes(self, name):
        """One worker can remove a file."""
        try:
            (self.folder / name).unlink()
        except FileNotFoundError:
            return False
        return True


def deadly(*args, **options):
    return blocks(X).map_blocks(Deadly(*args, **options), meta=np.empty((0, 4)))


@pytest.mark.parametrize(
    ("when", "lost"), [("summary", ["any"]), ("moments", ["any"]), ("moments", ["0", "1"])]
)
def test_lost_workers_do_not_change_the_answer(client, lost, when, tmp_path, monkeypatch):
    features = kl.KernelDiscriminant._stream_features

    def condemn():
        for name in lost:
            (tmp_path / name).touch()

    def between(self, *args):
        if when == "moments":
            condemn()
        return features(self, *args)

    monkeypatch.setattr(kl.KernelDiscriminant, "_stream_features", between)
    both_workers(client)
    rows, before = deadly(tmp_path), pids(client)
    look = dask_rows.SpreadRows.look

    def looked(self, *args):
        look(self, *args)
        if when == "summary":
            condemn()

    monkeypatch.setattr(dask_rows.SpreadRows, "look", looked)
    model = make().fit(rows, blocks(Y))
    assert not list(tmp_path.iterdir())  # all were killed
    both_workers(client)
    assert len(before - pids(client)) == len(lost)
    same_as_whole(model)


def both_workers(client):
    """Wait until both are there; a busy machine may fail to start one again."""
    try:
        client.wait_for_workers(2, timeout=120)
    except TimeoutError:
        pytest.skip("a worker that was killed did not come back within two minutes")


def pids(client):
    return set(client.run(os.getpid).values())


# -- memory -------------------------------------------------------------------------------


def test_a_block_that_no_worker_holds_is_refused_before_it_is_computed(client):
    large = da.ones((10**7, 20), chunks=(10**7, 20))
    with pytest.raises(ValueError, match=r"A block of 10000000 rows needs about 1\.6 GB, and"):
        make().fit(large, large[:, 0])
    many = da.random.default_rng(0).normal(size=(20_000, 5), chunks=(1000, 5))
    with pytest.raises(ValueError, match=r"memory limit of 1 GB.*fewer landmarks"):
        kl.HSICSubspace(landmarks=6000).fit(many, many[:, 0] > 0)


def test_a_block_that_ends_its_workers_is_a_sentence(client, tmp_path):
    def set_failures(n, dask_scheduler=None):
        dask_scheduler.allowed_failures = n

    client.run_on_scheduler(set_failures, 0)
    try:
        with pytest.raises(ValueError, match=r"ended every worker.*memory limit of 1 GB"):
            make().fit(deadly(tmp_path, always=True), blocks(Y))
    finally:
        client.run_on_scheduler(set_failures, 3)
    both_workers(client)
