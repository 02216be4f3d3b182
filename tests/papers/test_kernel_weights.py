"""The protocols of kernel weights on small made-up data."""

import numpy as np
import pytest

from kernel_learn.datasets import DataFolder
from kernel_learn.papers import (
    PROTOCOLS,
    chen2008,
    chen2008_weights,
    load_protocol,
    sources,
    ye2007,
)


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + 2 * np.eye(4)[y]
    np.savez(tmp_path / "sonar.npz", X=X[y < 2], y=np.array(["Mine", "Rock"])[y[y < 2]])
    np.savez(tmp_path / "wine.npz", X=X, y=y)
    views = {f"X{i}": X + rng.normal(size=X.shape) for i in range(3)}
    np.savez(tmp_path / "mfeat.npz", n_views=3, y=y, **views)
    K = np.stack([V @ V.T for V in views.values()])
    np.savez(tmp_path / "jaffe_kernels.npz", K=K, y=y)
    return DataFolder(tmp_path)


def first(protocol, name):
    return next(cell for cell in protocol.cells if cell.settings["set"] == name)


def test_table_1(data):
    protocol = ye2007.table1()
    assert len(protocol.cells) == 30 * 4
    cell = first(protocol, "Sonar")
    record = protocol.run_cell(data, cell)
    assert set(record["accuracies"]) == set(ye2007.COLUMNS_1)
    assert all(60 <= value <= 100 for value in record["accuracies"].values())
    page = protocol.render([{**cell.settings, **record}])
    assert "85.60" in page and "| Sonar | 1 |" in page and "| Sonar | too few |" in page


def test_table_2(data):
    protocol = ye2007.table2()
    cell = first(protocol, "Wine (3)")
    record = protocol.run_cell(data, cell)
    page = protocol.render([{**cell.settings, **record}])
    assert "98.66" in page and "Figure 1" in page and "ms)" in page


def test_table_3(data):
    protocol = chen2008_weights.table3()
    assert len(protocol.cells) == 20 * 7
    cell = first(protocol, "Wine")
    record = protocol.run_cell(data, cell)
    assert len(record["weights"]["SVM_mkl"]) == 4
    page = protocol.render([{**cell.settings, **record}])
    assert "2.92" in page and "| HSIC_mkl |" in page


def test_sources(data):
    protocol = sources.multi_source()
    records = []
    for name in ("mfeat", "jaffe_kernels"):
        cell = first(protocol, name)
        records.append({**cell.settings, **protocol.run_cell(data, cell)})
        assert set(records[-1]["errors"]) == set(sources.DECISIONS)
        for found in records[-1]["errors"].values():
            assert set(found) == {*sources.WEIGHTINGS, "single"} and len(found["single"]) == 3
    page = protocol.render(records)
    assert "| mfeat | 1 | ridge |" in page and "- jaffe_kernels, learn (SVM):" in page
    # the weights that were found are those the decisions have
    weights = records[0]["weights"]
    assert weights["uniform"] == pytest.approx([weights["uniform"][0]] * 3, rel=0.5)
    assert weights["loo"] != weights["learn"]


def test_kernels_of_views_see_training_rows_alone(data):
    """Test rows move neither the scales of columns nor the widths."""
    views, train = data.load("mfeat")[0], np.arange(30)
    one, other = (
        sources.view_kernels([np.r_[V[:30], factor * V[30:]] for V in views], train)
        for factor in (1.0, 9.0)
    )
    np.testing.assert_allclose(one[:30, :30], other[:30, :30], rtol=1e-12)
    assert not np.allclose(one[30:, :30], other[30:, :30])


def test_table_3_averages_distances_and_rotates_genes():
    A, B = chen2008_weights.average(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[2.0, -0.5]]))
    assert np.sqrt(2) * A == pytest.approx(np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert np.sqrt(2) * B == pytest.approx(np.array([[2.0, -0.5]]))
    wide = np.random.default_rng(0).normal(size=(6, 40))
    A, B = chen2008_weights.average(wide[:4], wide[4:])
    assert A.shape == (4, 6)
    expected = np.linalg.norm(wide[0] - wide[5]) / np.sqrt(40)
    assert np.linalg.norm(A[0] - B[1]) == pytest.approx(expected)


def test_table_3_has_the_partitions_and_the_grid_of_table_2(data):
    for repeat in (0, 3):
        A, B, y_A, y_B = chen2008_weights.load_split(data, "Wine", repeat)
        expected = chen2008.load_half(data, "wine", repeat)
        for found, wanted in zip((2 * A, 2 * B, y_A, y_B), expected, strict=True):  # 4 columns
            np.testing.assert_allclose(found, wanted, atol=1e-12)
    A, B, y_A, y_B = chen2008_weights.load_split(data, "Wine", 0)
    kernel = chen2008_weights.KERNELS[2]
    along = chen2008_weights.count_joint_errors(kernel, A, y_A, B, y_B)
    assert along.shape == (len(chen2008.REGS[True]), len(chen2008.CS))
    one = chen2008_weights.fit_joint(kernel, chen2008.REGS[True][1], chen2008.CS[4], A, y_A)[1]
    assert along[1, 4] == np.sum(one(B) != y_B)


def test_all_are_registered():
    for name in ("ye2007-table1", "ye2007-table2", "chen2008-table3", "multi-source"):
        assert name in PROTOCOLS
        assert load_protocol(name).name == name
