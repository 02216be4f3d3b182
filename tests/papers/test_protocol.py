import ast
import inspect
import io
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from kernel_learn import estimators, papers
from kernel_learn.datasets import find_data
from kernel_learn.datasets.folder import MissingDataError
from kernel_learn.papers import PROTOCOLS, load_protocol
from kernel_learn.papers.protocol import Cell, Protocol, read_records, run_cells
from kernel_learn.papers.settings import FROZEN, frozen, frozen_preset


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
    run_cells(make(calls, fail_at="cell-2"), None, tmp_path, stream=stream)
    assert calls == ["cell-0", "cell-1", "cell-2"]
    assert "stopped" in stream.getvalue()
    calls.clear()
    records = run_cells(make(calls), None, tmp_path, stream=stream)
    assert calls == ["cell-2", "cell-3", "cell-4"]
    assert sorted(record["square"] for record in records) == [0, 1, 4, 9, 16]
    assert list(read_records(tmp_path / "test.jsonl")) == records


def test_a_line_cut_off_is_done_again(tmp_path):
    run_cells(make([]), None, tmp_path, stream=io.StringIO())
    file = tmp_path / "test.jsonl"
    file.write_text(file.read_text()[:-8])
    calls = []
    records = run_cells(make(calls), None, tmp_path, stream=io.StringIO())
    assert calls == ["cell-4"]
    assert len(records) == 5
    assert len(list(read_records(file))) == 5


def test_a_part_and_a_time_limit(tmp_path):
    calls = []
    run_cells(make(calls), None, tmp_path, only=lambda cell: "3" in cell.key, stream=io.StringIO())
    assert calls == ["cell-3"]
    assert len(run_cells(make(calls), None, tmp_path, seconds=-1.0, stream=io.StringIO())) == 1


def test_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNEL_LEARN_DATA", str(tmp_path))
    np.savez(tmp_path / "a.npz", X=np.eye(3, dtype=np.uint8), y=[0, 1, 0], split=[1, 1, 0])
    np.savez(tmp_path / "v.npz", n_views=2, X0=np.eye(2), X1=np.ones((2, 3)), y=[0, 1])
    sparse.save_npz(tmp_path / "t.sparse.npz", sparse.eye(3, format="csr"))
    np.save(tmp_path / "t.y.npy", [1, 2, 3])
    data = find_data()
    assert data.names() == ["a", "t", "v"]
    np.savez(tmp_path / "k.npz", K=np.ones((2, 3, 3), dtype=np.float32), y=[0, 1, 0])
    assert data.load("k")[0].shape == (2, 3, 3) and data.load("k")[0].dtype == np.float64
    np.savez(tmp_path / "p.npz", X=np.eye(2), y=np.array([0, "a"], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        data.load("p")
    (tmp_path / "k.npz").unlink()
    (tmp_path / "p.npz").unlink()
    assert data.load("a")[0].dtype == np.float64
    assert data.content("a")["split"].tolist() == [1, 1, 0]
    assert [view.shape for view in data.load("v")[0]] == [(2, 2), (2, 3)]
    assert sparse.issparse(data.load("t")[0])
    with pytest.raises(MissingDataError, match="It has: a, t, v"):
        data.load("zoo")
    with pytest.raises(MissingDataError, match="does not exist"):
        find_data(tmp_path / "nowhere")


PAPERS = Path(papers.__file__).parent


@pytest.mark.parametrize("kind", FROZEN, ids=lambda kind: kind.__name__)
def test_every_parameter_is_frozen(kind):
    """Or a default that changes in the package would change a page."""
    assert {*FROZEN[kind], "kernel"} == set(inspect.signature(kind).parameters)


@pytest.mark.parametrize("file", sorted(PAPERS.glob("*.py")), ids=lambda file: file.stem)
def test_protocols_build_estimators_with_frozen_parameters(file):
    called = [
        node.func.id
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    assert not set(called) & set(estimators.__all__)


def test_frozen_parameters_are_passed():
    model = frozen(estimators.HSICSubspace, "linear", reg=0.7)
    assert model.get_params(deep=False) == {
        **FROZEN[estimators.HSICSubspace],
        "kernel": "linear",
        "reg": 0.7,
    }
    settings = frozen_preset(tau=0.3)
    assert settings["tau"] == 0.3 and settings["slack"] == 1.0 and "regularizer" not in settings


@pytest.mark.filterwarnings("ignore:Mean of empty", "ignore:invalid value")
def test_pages_are_templates_without_a_value_left():
    for name in PROTOCOLS:
        page = load_protocol(name).render([])
        assert page.startswith("# ") and "$" not in page, name
