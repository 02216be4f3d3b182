"""The protocols of Jain et al. (2010) on small stand-ins for their data."""

import numpy as np
import pytest

from kernel_learn.datasets import DataFolder, find_data
from kernel_learn.papers import PROTOCOLS, jain2010_table1, jain2010_usps, load_protocol
from kernel_learn.papers.pairs import draw_balanced_pairs, number_of_pairs


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + 2 * np.eye(3)[y] @ rng.normal(size=(3, 4))
    X[3, 1] = np.nan
    np.savez(tmp_path / "iris.npz", X=X, y=y)
    y = np.arange(200) % 3
    np.savez(tmp_path / "usps.npz", X=rng.normal(size=(200, 9)) + 3 * np.eye(9)[y], y=y)
    return find_data(tmp_path)


def test_table(data):
    protocol = load_protocol("jain2010-table1")
    assert len(protocol.cells) == 200
    cell = protocol.cells[0]
    record = {"key": cell.key, **cell.settings, **protocol.run_cell(data, cell)}
    assert np.shape(record["accuracy"]) == (len(jain2010_table1.METHODS), 2)
    assert np.min(record["accuracy"]) > 0.5
    by_method = dict(zip(jain2010_table1.METHODS, record["rank"], strict=True))
    assert by_method["Trace-SSIKDR"] == by_method["ITML LR-pre"] == by_method["ITML LR-post"]
    assert by_method["Trace-SSIKDR"] < by_method["Frob"] <= by_method["ITML"]
    page = protocol.render([record])
    assert "0.99 (40)" in page  # theirs
    assert f"{np.mean(record['accuracy'][2]):.3f}" in page  # ours
    assert protocol.render([])
    raw = next(cell for cell in protocol.cells if cell.settings["columns"] == "raw")
    other = {"key": raw.key, **raw.settings, **protocol.run_cell(data, raw)}
    assert other["accuracy"] != record["accuracy"]
    assert "| Iris | 0.99 |" in protocol.render([record, other])  # both scalings beside theirs


def test_pairs_are_those_of_the_seed_for_ever():
    """A list written down: neither the library's draws nor a new NumPy may change a page."""
    pairs = draw_balanced_pairs(np.array([0, 0, 0, 1, 1, 2]), seed=3, n_pairs=5)
    assert pairs.similar.tolist() == [[0, 1], [0, 2], [3, 4]]
    assert pairs.dissimilar.tolist() == [[1, 4], [2, 4]]
    everything = draw_balanced_pairs(np.array([0, 0, 0, 1, 1, 2]), seed=0)
    assert len(everything.similar) == 4 and len(everything.dissimilar) == 11
    assert number_of_pairs(np.arange(300) % 3) == 3000
    assert number_of_pairs(np.arange(30) % 3) == 300
    assert number_of_pairs(np.arange(30) % 10) == 2000
    assert number_of_pairs(np.arange(5000) % 3) == 20_000


def test_verdict_counts_what_the_table_says():
    # one point behind at an eighth of the rank; two points behind; a third of the rank
    ranks = {
        "Iris": ([0.90, 0.895], 8),
        "Wine": ([0.90, 0.88], 8),
        "Balance-scale": ([0.90, 0.90], 3),
    }
    records = []
    for name, ((itml, trace), factor) in ranks.items():
        accuracy, rank = np.full((7, 2), itml), np.full(7, 10.0)
        accuracy[jain2010_table1.METHODS.index("Trace-SSIKDR")] = trace
        rank[jain2010_table1.METHODS.index("ITML")] = 10.0 * factor
        figures = {"accuracy": accuracy, "rank": rank, "largest_gap": 0.0, "seconds": 1.0}
        records.append({"data": name, "columns": "standardised", **figures})
    page = jain2010_table1.render(records)
    assert "4 times smaller: 1 of 3 sets (Iris)" in page
    assert "| Wine | +2.0 | too few | 8.0 |" in page


def test_every_method_is_tested_on_both_scalings(rng):
    """Three runs of two folds; on raw columns all but the first method are one and the same."""
    records = []
    for run in range(3):
        accuracy = np.tile(rng.uniform(0.8, 0.9, 2), (7, 1))
        accuracy[0] -= 0.2 + 0.01 * rng.uniform(size=2)
        figures = {"accuracy": accuracy.tolist(), "rank": [9.0] * 7, "largest_gap": 0.0}
        for columns, shift in (("raw", 0.0), ("standardised", 0.1)):
            accuracy[2] += shift  # ITML
            figures["accuracy"] = accuracy.tolist()
            records.append({"data": "Iris", "columns": columns, "run": run, **figures})
    page = jain2010_table1.render(records)
    level = " | equivalent (<.001)"
    assert "| Iris | better (<.001)" + 5 * level + " |" in page
    assert "| Iris | better (<.001)" + level + " | worse (<.001)" + 3 * level + " |" in page


def test_usps(data, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    for name, value in (("N_LABELLED", 30), ("N_GRAPH", 80), ("N_TEST", 100)):
        monkeypatch.setattr(jain2010_usps, name, value)
    protocol = load_protocol("jain2010-usps")
    cell = protocol.cells[0]
    record = {"key": cell.key, **cell.settings, **protocol.run_cell(data, cell)}
    assert np.array(record["Trace-SSIKDR embedding"]).shape == (100, 2)
    assert record["Trace-SSIKDR"] > 0.8
    assert f"{record['kernel PCA']:.3f}" in protocol.render([record])
    assert "| too few | too few | too few | too few |" in protocol.render([record])
    lead = [{**record, "Trace-SSIKDR": 0.9 + 0.001 * i, "kernel PCA": 0.5} for i in range(5)]
    assert "| better (<.001) |" in protocol.render(lead)
    jain2010_usps.draw_embeddings([record], tmp_path / "out" / "picture.png")
    assert (tmp_path / "out" / "picture.png").stat().st_size > 1000


def test_protocols_are_registered():
    assert {"jain2010-table1", "jain2010-usps"} <= set(PROTOCOLS)


def test_other_methods_join_table_1(tmp_path):
    """Both folds of a run, standardised by the training rows; raw columns are another set."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    np.savez(tmp_path / "iris.npz", X=rng.normal(size=(60, 3)) + y[:, None], y=y)
    protocol = load_protocol("jain2010-table1")
    bench, cells = protocol.bench, {cell.key: cell for cell in protocol.cells}
    splits = list(bench.splits(DataFolder(tmp_path), cells["0/Iris/standardised"]))
    assert len(splits) == 2
    for X_train, X_test, y_train, y_test in splits:
        assert X_train.mean(axis=0) == pytest.approx(0, abs=1e-12) and len(y_test) == 30
        assert len(X_test) == 30 and np.bincount(y_train).tolist() == [15, 15]
    assert bench.set_of(cells["0/Iris/standardised"].settings) == "Iris"
    assert bench.set_of(cells["0/Iris/raw"].settings) == "Iris (raw)"
    record = {"accuracy": [[0.9, 0.8]] * len(bench.methods)}
    assert bench.errors(record)["ITML"] == pytest.approx([10, 20])
