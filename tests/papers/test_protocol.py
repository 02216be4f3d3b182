import io

import numpy as np
import pytest
from scipy import sparse

from kernel_learn.datasets import find_data
from kernel_learn.datasets.folder import MissingDataError
from kernel_learn.papers.protocol import Cell, Protocol, read_records, run


def make(calls, fail_at=None):
    def run_cell(data, cell):
        calls.append(cell.key)
        if cell.key == fail_at:
            raise KeyboardInterrupt
        return {"square": cell.settings["value"] ** 2}

    cells = [Cell(f"cell-{i}", {"value": i}) for i in range(5)]
    return Protocol("test", "A test", cells, run_cell, lambda records: str(len(list(records))))


def test_goes_on_where_it_was(tmp_path):
    calls, stream = [], io.StringIO()
    run(make(calls, fail_at="cell-2"), None, tmp_path, stream=stream)
    assert calls == ["cell-0", "cell-1", "cell-2"]
    assert "stopped" in stream.getvalue()
    calls.clear()
    records = run(make(calls), None, tmp_path, stream=stream)
    assert calls == ["cell-2", "cell-3", "cell-4"]
    assert sorted(record["square"] for record in records) == [0, 1, 4, 9, 16]
    assert list(read_records(tmp_path / "test.jsonl")) == records


def test_a_line_cut_off_is_done_again(tmp_path):
    run(make([]), None, tmp_path, stream=io.StringIO())
    file = tmp_path / "test.jsonl"
    file.write_text(file.read_text()[:-8])
    calls = []
    records = run(make(calls), None, tmp_path, stream=io.StringIO())
    assert calls == ["cell-4"]
    assert len(records) == 5
    assert len(list(read_records(file))) == 5


def test_a_part_and_a_time_limit(tmp_path):
    calls = []
    run(make(calls), None, tmp_path, only=lambda cell: "3" in cell.key, stream=io.StringIO())
    assert calls == ["cell-3"]
    assert len(run(make(calls), None, tmp_path, seconds=-1.0, stream=io.StringIO())) == 1


def test_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNEL_LEARN_DATA", str(tmp_path))
    np.savez(tmp_path / "a.npz", X=np.eye(3, dtype=np.uint8), y=[0, 1, 0], split=[1, 1, 0])
    np.savez(tmp_path / "v.npz", n_views=2, X0=np.eye(2), X1=np.ones((2, 3)), y=[0, 1])
    sparse.save_npz(tmp_path / "t.sparse.npz", sparse.eye(3, format="csr"))
    np.save(tmp_path / "t.y.npy", [1, 2, 3])
    data = find_data()
    assert data.names() == ["a", "t", "v"]
    assert data.load("a")[0].dtype == np.float64
    assert data.content("a")["split"].tolist() == [1, 1, 0]
    assert [view.shape for view in data.load("v")[0]] == [(2, 2), (2, 3)]
    assert sparse.issparse(data.load("t")[0])
    with pytest.raises(MissingDataError, match="It has: a, t, v"):
        data.load("zoo")
    with pytest.raises(MissingDataError, match="does not exist"):
        find_data(tmp_path / "nowhere")
    monkeypatch.delenv("KERNEL_LEARN_DATA")
    with pytest.raises(MissingDataError, match="KERNEL_LEARN_DATA"):
        find_data()
