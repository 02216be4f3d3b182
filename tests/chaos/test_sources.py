"""Sources that change, break off or stall while they are read: a sentence, or the right answer."""

import threading
import time

import numpy as np
import pytest

import kernel_learn as kl
from chaos.faults import answer, record, start
from kernel_learn.datasets import CsvSource, ParquetSource

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("pandas")
rng = np.random.default_rng(0)
N = 400
X = rng.normal(size=(10 * N, 3))
y = (X[:, 0] > 0).astype(int)
model = kl.HSICSubspace(landmarks=30, random_state=0)


def refused(source, *words):
    """The sentence of a fit in a process of its own; the estimator is as it was."""
    said = answer(start(lambda: model.fit(source()) and None))
    assert said is not None and "error" in said, said
    for word in words:
        assert word in said["error"], said
    assert "Traceback" not in said["error"] and len(said["error"]) < 1000
    return said["error"]


def write_parquet(folder, change=None):
    for i in range(10):
        rows = slice(i * N, (i + 1) * N)
        columns = {f"c{j}": X[rows, j] for j in range(3)} | {"y": y[rows]}
        if change is not None and i == 7:
            columns = change(columns)
        pq.write_table(pa.table(columns), folder / f"part-{i}.parquet", row_group_size=100)
    return folder


def parquet(folder):
    return lambda: ParquetSource(folder, target="y")


@pytest.mark.parametrize(
    ("fault", "change"),
    [
        ("a column is gone", lambda c: {k: v for k, v in c.items() if k != "c1"}),
        (
            "a column has another name",
            lambda c: {("d" if k == "c1" else k): v for k, v in c.items()},
        ),
        ("a column is text", lambda c: c | {"c1": ["a"] * N}),
        ("a column is dates", lambda c: c | {"c1": np.zeros(N, "datetime64[s]")}),
        ("a label is gone", lambda c: {k: v for k, v in c.items() if k != "y"}),
        ("a number is infinite", lambda c: c | {"c1": np.r_[c["c1"][:-1], np.inf]}),
    ],
)
def test_another_schema_in_file_7(fault, change, tmp_path):
    said = refused(parquet(write_parquet(tmp_path, change)))
    assert "part-7" in said or "lock 7" in said, said
    record(f"{fault} in file 7", "ParquetSource", "a sentence")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_row_group_that_is_cut(share, tmp_path):
    path = write_parquet(tmp_path) / "part-5.parquet"
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    refused(parquet(tmp_path), "part-5.parquet")
    record("a cut file", "ParquetSource", "a sentence with its name")


@pytest.mark.parametrize("place", [0.2, 0.5, 0.8])
def test_damaged_pages(place, tmp_path):
    """Bytes in the middle of a file: refused, or the sums of the pages are not kept."""
    path = write_parquet(tmp_path) / "part-5.parquet"
    data = bytearray(path.read_bytes())
    at = int(place * len(data))
    data[at : at + 64] = bytes(64)
    path.write_bytes(bytes(data))
    said = answer(start(lambda: model.fit(parquet(tmp_path)()) and None))
    assert said is not None, "the process was ended"
    outcome = "a sentence" if "error" in said else "numbers of the file, which has no sums"
    record("damaged pages", "ParquetSource", outcome)


def test_a_ragged_row_far_down(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{a:.3f},{b:.3f},{c:.3f},{label}" for (a, b, c), label in zip(X, y, strict=True)]
    many = lines * 180
    many[713_000] = "1,2,3,4,5,6"
    path.write_text("a,b,c,y\n" + "\n".join(many) + "\n")
    refused(lambda: CsvSource(path, target="y"), "713002")
    record("a ragged row 713,000", "CsvSource", "a sentence with its line")


def test_a_file_that_grows_while_it_is_read(tmp_path):
    path = tmp_path / "rows.csv"
    text = "".join(f"{a:.4f},{b:.4f},{c:.4f},{k}\n" for (a, b, c), k in zip(X, y, strict=True))
    path.write_text("a,b,c,y\n" + text)
    done = threading.Event()

    def grow():
        while not done.is_set():
            with path.open("a") as file:
                file.write("0.1,0.2,0.3,1\n")
            time.sleep(0.005)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        for _ in range(3):
            said = answer(start(lambda: model.fit(CsvSource(path, target="y")) and None))
            if said != {"value": None}:
                assert "changed" in said["error"] or "other rows" in said["error"], said
            record("a file that grows", "CsvSource", "a sentence, or the rows of one moment")
    finally:
        done.set()
        writer.join()


def test_a_source_that_stalls():
    """The right answer, later."""

    def stalling():
        for i in range(0, len(X), 500):
            time.sleep(0.05)
            yield X[i : i + 500], y[i : i + 500]

    found = model.fit(stalling).transform(X[:5])
    expected = kl.HSICSubspace(landmarks=30, random_state=0).fit(X, y).transform(X[:5])
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8)
    record("a source that stalls", "a callable", "the right answer")


@pytest.mark.parametrize("error", [OSError("the network is gone"), MemoryError(), EOFError()])
def test_a_source_that_breaks_off(error):
    def breaking():
        yield X[:500], y[:500]
        raise error

    said = answer(start(lambda: model.fit(breaking) and None))["error"]
    assert said.startswith(type(error).__name__)
    record("a source that raises", "a callable", "its own error, the estimator as it was")
