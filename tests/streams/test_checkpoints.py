"""A fit that is ended before its time goes on where it was, and counts no row twice."""

import copy
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import kernel_learn as kl
from kernel_learn.datasets import NpySource, ParquetSource
from kernel_learn.fitting import stream_training
from kernel_learn.kernels import Gaussian, Laplacian
from kernel_learn.representations.state_files import read_file
from kernel_learn.streams import checkpoint as checkpoints
from kernel_learn.streams import gather
from kernel_learn.streams.blocks import ArrayRows

plans = sys.modules["kernel_learn.representations.plan"]  # the package has a function of its name
rng = np.random.default_rng(0)
N, SIZE = 2000, 100
X = rng.normal(size=(N, 3))
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.7)
X_NEW = rng.normal(size=(20, 3))


class StopError(Exception):
    """What ends a fit in these tests."""


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """A checkpoint after every block, and few rows held."""
    monkeypatch.setattr(checkpoints, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE", 0)
    monkeypatch.setattr(gather, "CAPACITY", 300)
    monkeypatch.setattr(stream_training, "READ_ROWS", 100)
    monkeypatch.setattr(plans, "BLOCK_BYTES", 120 * 24 * 36)


class Counted:
    """A source that says how many rows it gave, and may stop at one of them."""

    def __init__(self, stop=None, X=X, y=Y):
        self.stop, self.given, self.X, self.y = stop, 0, X, y

    def __call__(self):
        for i in range(0, len(self.y), SIZE):
            if self.stop is not None and self.given >= self.stop:
                raise StopError
            self.given += SIZE
            yield self.X[i : i + SIZE], self.y[i : i + SIZE]


def make(**options):
    return kl.KernelDiscriminant(**{"landmarks": 30, "random_state": 0, "reg": 0.01, **options})


def evaluated(monkeypatch):
    """Rows whose features were evaluated."""
    rows = []
    old = stream_training.StreamState.of.__func__

    def of(cls, block, features=None, **options):
        rows.append(len(block.weight) * (features is not None))
        return old(cls, block, features, **options)

    monkeypatch.setattr(stream_training.StreamState, "of", classmethod(of))
    return rows


@pytest.mark.parametrize("stop", [500, 1900, 2500, 3900])
def test_a_source_that_can_be_read_again(stop, tmp_path, monkeypatch):
    whole = make().fit(Counted())
    rows = evaluated(monkeypatch)
    with pytest.raises(StopError):
        make().fit(Counted(stop), checkpoint=tmp_path)
    found = read_file(tmp_path / "fit.npz")
    assert found.get("is_summarized", False) == (stop > N)
    assert found["moments" if stop > N else "summary"].n_rows == stop % N
    model = make().fit(Counted(), checkpoint=tmp_path)
    assert sum(rows) == N  # none was counted twice, none left out
    np.testing.assert_allclose(model.transform(X_NEW), whole.transform(X_NEW), atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X_NEW), whole.predict_proba(X_NEW), atol=1e-8)
    assert model.n_features_in_ == 3
    assert not (tmp_path / "fit.npz").exists()  # the next fit begins anew


@pytest.mark.parametrize("stop", [600, 1900])
def test_a_source_that_is_read_once_is_skipped_forward(stop, tmp_path, monkeypatch):
    whole = make().fit(Counted()())
    rows = evaluated(monkeypatch)
    with pytest.raises(StopError):
        make().fit(Counted(stop)(), checkpoint=tmp_path)
    assert sum(rows) == stop
    source = Counted()
    model = make().fit(source(), checkpoint=tmp_path)
    assert (sum(rows), source.given) == (N, N)
    np.testing.assert_allclose(model.transform(X_NEW), whole.transform(X_NEW), atol=1e-10)


def test_blocks_of_another_size_may_follow(tmp_path):
    with pytest.raises(StopError):
        make().fit(Counted(2500), checkpoint=tmp_path)

    def larger():
        for i in range(0, N, 270):
            yield X[i : i + 270], Y[i : i + 270]

    model = make().fit(larger, checkpoint=tmp_path)
    np.testing.assert_allclose(
        model.transform(X_NEW), make().fit(Counted()).transform(X_NEW), atol=1e-10
    )


@pytest.mark.parametrize("stop", [1000, 3000])
@pytest.mark.parametrize("change", ["rows", "labels", "shorter"])
def test_another_source_under_the_same_folder_is_refused(stop, change, tmp_path):
    with pytest.raises(StopError):
        make().fit(Counted(stop), checkpoint=tmp_path)
    before = (tmp_path / "fit.npz").read_bytes()
    other = {
        "rows": Counted(X=X + 1e-9),
        "labels": Counted(y=Y[::-1]),
        "shorter": Counted(X=X[:900], y=Y[:900]),
    }[change]
    with pytest.raises(ValueError, match="first 1000 rows of the source are not those"):
        make().fit(other, checkpoint=tmp_path)
    assert read_file(tmp_path / "fit.npz")["signature"]
    assert (tmp_path / "fit.npz").read_bytes() == before  # earlier work is kept
    make().fit(Counted(), checkpoint=tmp_path)


def test_another_model_under_the_same_folder_is_refused(tmp_path):
    with pytest.raises(StopError):
        make().fit(Counted(3000), checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"other parameters: landmarks was 30 and is 31"):
        make(landmarks=31).fit(Counted(), checkpoint=tmp_path)
    with pytest.raises(ValueError, match="other parameters"):
        make(kernel=Gaussian(0.3)).fit(Counted(), checkpoint=tmp_path)
    make(memory_budget="1GB").fit(Counted(), checkpoint=tmp_path)  # how, not what


def test_other_landmarks_of_the_same_shape_are_refused(tmp_path):
    with pytest.raises(StopError):
        make(landmarks=X[:30]).fit(Counted(3000), checkpoint=tmp_path)
    with pytest.raises(ValueError, match="other parameters: landmarks was"):
        make(landmarks=X[1:31]).fit(Counted(), checkpoint=tmp_path)
    make(landmarks=X[:30]).fit(Counted(), checkpoint=tmp_path)


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    source = NpySource(tmp_path / "X.npy", tmp_path / "y.npy")
    monkeypatch.setattr(kl.KernelDiscriminant, "_fit", lambda self, data: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make().fit(source, checkpoint=tmp_path / "state")
    monkeypatch.undo()
    np.save(tmp_path / "X.npy", X[::-1])
    with pytest.raises(ValueError, match=r"another or changed source: X\.npy was"):
        make().fit(source, checkpoint=tmp_path / "state")


def test_a_full_disk_is_an_error_that_keeps_what_there_was(tmp_path, monkeypatch):
    written, old = [], np.savez

    def savez(file, **arrays):
        written.append(1)
        if len(written) > 5:
            file.write(b"half")
            raise OSError(28, "No space left on device")
        old(file, **arrays)

    monkeypatch.setattr(np, "savez", savez)
    with pytest.raises(OSError, match=r"No space left on device.*one before it is kept"):
        make().fit(Counted(), checkpoint=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["fit.npz"]
    assert read_file(tmp_path / "fit.npz")["summary"].n_rows == 5 * SIZE
    monkeypatch.setattr(np, "savez", old)
    make().fit(Counted(), checkpoint=tmp_path)


def test_a_bad_block_keeps_the_work_before_it(tmp_path):
    bad = X.copy()
    bad[1534] = np.nan
    with pytest.raises(ValueError, match="Block 15, row 34"):
        make().fit(Counted(X=bad), checkpoint=tmp_path)
    assert read_file(tmp_path / "fit.npz")["summary"].n_rows == 1500


def test_arrays_with_a_checkpoint_are_read_in_blocks(tmp_path):
    whole = make().fit(X, Y)
    model = make().fit(X, Y, checkpoint=tmp_path)
    np.testing.assert_allclose(model.transform(X_NEW), whole.transform(X_NEW), atol=1e-10)


def test_what_costs_much_is_written_seldom(tmp_path, monkeypatch):
    """A twentieth of the time at most goes into checkpoints, and none is younger than a second."""
    monkeypatch.setattr(checkpoints, "LEAST_SECONDS", 1.0)
    monkeypatch.setattr(checkpoints, "SHARE", 20)
    now, cost = [100.0], [3.0]
    monkeypatch.setattr(checkpoints.time, "perf_counter", lambda: now[0])

    def slowly(*_):
        now[0] += cost[0]

    monkeypatch.setattr(checkpoints, "write_file", slowly)
    kept = checkpoints.Checkpoint(tmp_path, {"model": {}, "source": {}})
    for cost[0], pause in ((3.0, 60.0), (0.01, 1.0)):
        kept.set({}, now=True)
        now[0] += pause - 0.1
        assert not kept.is_due
        now[0] += 0.2
        assert kept.is_due


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "state").write_text("")
    with pytest.raises(ValueError, match="is a file; give a folder"):
        make().fit(Counted(), checkpoint=tmp_path / "state")


SCRIPT = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs behind
import numpy as np
import kernel_learn as kl
from kernel_learn.fitting import stream_training
from kernel_learn.streams import checkpoint, gather
checkpoint.LEAST_SECONDS, checkpoint.SHARE = 0.0, 0
gather.CAPACITY, stream_training.READ_ROWS = 300, 100
plans = sys.modules["kernel_learn.representations.plan"]
plans.BLOCK_BYTES = 120 * 24 * 36
folder, slow, once = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "once"
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 3))
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.7)
def blocks():
    for i in range(0, 2000, 100):
        time.sleep(slow)
        print(i, flush=True)
        yield X[i : i + 100], Y[i : i + 100]
model = kl.KernelDiscriminant(landmarks=30, random_state=0, reg=0.01)
model.fit(blocks() if once else blocks, checkpoint=folder)
np.save(folder + "/out.npy", model.transform(X[:20]))
"""


def run(folder, slow, kind):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(slow), kind],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["again", "once"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_fit_resumes(kind, how, tmp_path):
    process = run(tmp_path, 0.02, kind)
    passes = 0
    for line in process.stdout:
        passes += line == "0\n"
        if line == "1500\n" and passes == (2 if kind == "again" else 1):
            process.send_signal(how)
            break
    process.wait(60)
    process.stdout.close()
    assert process.returncode != 0  # it ended there, not after its work
    found = read_file(tmp_path / "fit.npz")
    state = found["moments"] if kind == "again" else found["summary"]
    assert 1300 <= state.n_rows <= 1600
    with run(tmp_path, 0.0, kind) as process:
        process.stdout.read()
    assert process.returncode == 0
    whole = make().fit(Counted()() if kind == "once" else Counted())
    found = np.load(tmp_path / "out.npy")
    np.testing.assert_allclose(found, whole.transform(X[:20]), atol=1e-10)


def interrupted(source, stop, folder, monkeypatch):
    """A fit of which all rows before ``stop`` (of both passes) are in a checkpoint."""
    read, given = type(source).read, []

    def until(self, rows):
        for block in read(self, rows):
            if sum(given) >= stop:
                raise StopError
            given.append(len(block.y))
            yield block

    with monkeypatch.context() as patch, pytest.raises(StopError):
        patch.setattr(type(source), "read", until)
        make().fit(source, checkpoint=folder)


def save_rows(folder, kind):
    """The rows as a source of this kind."""
    if kind == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        for part in range(2):
            rows = slice(1000 * part, 1000 * (part + 1))
            table = pa.table({**{f"c{j}": X[rows, j] for j in range(3)}, "y": Y[rows]})
            pq.write_table(table, folder / f"{part}.parquet", row_group_size=130)
        return ParquetSource(folder, target="y")
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", Y)
    if kind == "npy":
        return NpySource(folder / "X.npy", folder / "y.npy")
    return ArrayRows(np.load(folder / "X.npy", mmap_mode="r" if kind == "memmap" else None), Y)


@pytest.mark.parametrize("stop", [1000, 2900])
@pytest.mark.parametrize("kind", ["npy", "parquet", "memmap", "array"])
def test_a_source_that_seeks_does_not_read_past_rows(kind, stop, tmp_path, monkeypatch):
    source = save_rows(tmp_path, kind)
    whole = make().fit(source)
    interrupted(source, stop, tmp_path / "state", monkeypatch)
    found = read_file(tmp_path / "state" / "fit.npz")
    seen = found["moments" if stop > N else "summary"].n_rows
    given, check = [], stream_training.CheckedBlocks.check

    def counting(self, number, start, raw):
        given.append((start, len(raw.X)))
        return check(self, number, start, raw)

    monkeypatch.setattr(stream_training.CheckedBlocks, "check", counting)
    model = make().fit(source, checkpoint=tmp_path / "state")
    # the first block says what rows look like where the first pass is done
    first = given[1:] if stop > N else given
    assert first[0][0] == seen > 0
    assert sum(n for _, n in first) == N - seen + (0 if stop > N else N)
    np.testing.assert_allclose(model.transform(X_NEW), whole.transform(X_NEW), atol=1e-10)


@pytest.mark.parametrize("kind", ["npy", "parquet", "memmap", "array"])
def test_a_source_that_seeks_and_has_changed_is_refused(kind, tmp_path, monkeypatch):
    source = save_rows(tmp_path, kind)
    interrupted(source, 2500, tmp_path / "state", monkeypatch)
    before = (tmp_path / "state" / "fit.npz").read_bytes()
    if kind == "array":
        source.X[100, 1] += 1e-9  # one entry of a row that would not be read again
    else:
        file = tmp_path / ("0.parquet" if kind == "parquet" else "X.npy")
        os.utime(file, ns=(0, file.stat().st_mtime_ns + 1))
    with pytest.raises(ValueError, match="another or changed source"):
        make().fit(source, checkpoint=tmp_path / "state")
    assert (tmp_path / "state" / "fit.npz").read_bytes() == before


def test_weighted_rows_are_read_past_as_those_of_weight_zero_are_not_counted(tmp_path):
    weight = np.where(np.arange(N) % 7 == 0, 0.0, 1.0)
    assert not ArrayRows(X, Y, weight).seeks and ArrayRows(X, Y).seeks
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "w.npy", weight)
    files = [tmp_path / "X.npy", tmp_path / "X.npy", tmp_path / "w.npy"]
    assert not NpySource(*files).seeks and NpySource(*files[:2]).seeks


def texts(middle):
    """More than NumPy prints, and other in the middle alone."""
    found = np.full(3000, "ACGT", dtype=object)
    found[1500] = middle
    return found


def one(X, X_ref):
    return X @ X_ref.T


def other(X, X_ref):
    return 2 * X @ X_ref.T


other.__qualname__ = one.__qualname__
other.__module__ = "elsewhere"


def test_fingerprints_tell_values_apart():
    pd = pytest.importorskip("pandas")
    rows = np.array([[0.0, 1.0, 2.0], [0.0, 2.0, 0.0]])
    values = [
        sparse.csr_matrix(rows),
        sparse.csr_matrix(rows[:, [1, 2, 0]]),  # the same entries elsewhere
        rows,
        rows.astype(np.float32),
        Gaussian(1.0),
        Laplacian(1.0),
        [Gaussian(1.0)],
        {"a": Gaussian(1.0)},
        one,
        other,
        texts("GATT"),
        texts("TACA"),
        pd.DataFrame({"a": texts("GATT")}),
        pd.DataFrame({"a": texts("TACA")}),
        pd.DataFrame({"b": texts("TACA")}),
    ]
    found = [checkpoints.fingerprint(value) for value in values]
    assert len(set(found)) == len(found)
    assert found == [checkpoints.fingerprint(copy.deepcopy(value)) for value in values]


def test_signatures_tell_estimators_apart():
    same = {"n": 3}
    one, other = (checkpoints.signature_of(e, same) for e in (kl.KernelPLS(), kl.KernelLMNN()))
    assert one["model"]["estimator"] == "KernelPLS" and one != other


def test_how_a_fit_is_carried_out_may_change():
    own = checkpoints.signature_of(kl.KernelDiscriminant(), {})
    other = kl.KernelDiscriminant(verbose=1, memory_budget="1GB")
    assert checkpoints.signature_of(other, {}) == own
    assert checkpoints.signature_of(kl.KernelDiscriminant(landmarks=9), {}) != own


@pytest.mark.parametrize("content", [None, {"n": 3}])
def test_what_is_not_due_is_written_when_the_work_ends(content, tmp_path, monkeypatch):
    """In an error: parts with their list, and what was set; then all of it is given up."""
    monkeypatch.setattr(checkpoints, "LEAST_SECONDS", 1e3)
    work = checkpoints.Checkpoint(tmp_path, {"model": {}, "source": {}})
    with pytest.raises(StopError), work.kept_if_it_ends():
        work.add("first", np.arange(3))
        if content is not None:
            work.set(content)
        assert not list(tmp_path.glob("*.npz"))
        raise StopError
    work.close()  # its lock
    again = checkpoints.Checkpoint(tmp_path, {"model": {}, "source": {}})
    assert again.content == (content or {})
    np.testing.assert_array_equal(again.find("first"), np.arange(3))
    assert again.find("second") is None
    again.add("second", np.arange(2))
    again.flush()
    assert len(list(tmp_path.glob("*.npz"))) == 3
    again.remove()
    assert not list(tmp_path.glob("*.npz"))
