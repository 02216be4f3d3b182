"""The protocols of Chen et al. (2008): cells run, pages render, what is claimed is theirs."""

import os
import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine

from kernel_learn import SubspaceSVC
from kernel_learn.datasets import DataFolder, find_data
from kernel_learn.kernels import Gaussian
from kernel_learn.papers import (
    PROTOCOLS,
    chen2008,
    chen2008_alternation,
    chen2008_figures,
    chen2008_rounds,
    load_protocol,
)

data = pytest.mark.data
needs_data = pytest.mark.skipif("KERNEL_LEARN_DATA" not in os.environ, reason="no data folder")


def test_protocols_are_registered():
    table = load_protocol("chen2008-table2")
    assert {"chen2008-table2", "chen2008-figures"} <= set(PROTOCOLS)
    assert len(table.cells) == 7 * 20
    assert [cell.settings["partition"] for cell in table.cells[:8]] == [0] * 7 + [1]


@data
@needs_data
def test_a_cell_of_the_table_and_its_page():
    table = chen2008.tables()
    cell = table.cells[0]
    record = {"key": cell.key, **cell.settings, **table.run_cell(find_data(), cell)}
    for method in chen2008.METHODS:
        assert 0 <= record[method]["error"] < 15
        assert record[method]["seconds"] > 0
    assert record["uSVM_joint"]["relative_gap"] < 1e-6
    page = table.render([record])
    assert "wine" in page
    assert "(7.92)" in page  # what the paper claims stands beside what was found
    assert "differs from the paper" in page


@data
@needs_data
def test_the_alternation_cell():
    figures = chen2008_figures.figures()
    cell = next(cell for cell in figures.cells if cell.key == "bounds/wine/True/0")
    record = {"key": cell.key, **cell.settings, **figures.run_cell(find_data(), cell)}
    assert min(record["upper"]) >= record["exact_upper"] * (1 - 1e-3)
    assert max(record["lower"]) <= record["exact_lower"] * (1 + 1e-3)
    assert "uSVM_joint" in figures.render([record])


def test_figures_have_the_partitions_of_the_page():
    cells = chen2008_figures.figures().cells
    assert len(cells) == 20 * 2 * 5 + 10 * 4 + 10 * 4
    assert cells[-1].settings["partition"] == 19


def test_pictures_of_made_up_rounds(tmp_path):
    pytest.importorskip("matplotlib")
    exact = {"exact_lower": 2.0, "exact_upper": 2.0, "exact_error": 1.0}
    rounds = {"upper": [6.0, 4.0], "lower": [1.0, 1.5], "errors": [3.0, 2.0], **exact}
    settings = {"data": "satimage", "uncorrelated": True, "partition": 0}
    records = [{"figure": figure, **settings, **rounds} for figure in (2, 3)]
    records.append(
        {"figure": 1, "data": "usps", "method": "HSIC", "partition": 0, "errors": [9.0] * 15}
    )
    drawn = chen2008_figures.draw_figures(records, tmp_path)
    assert [file.name for file in drawn] == [f"chen2008-figure{i}.png" for i in (1, 2, 3)]
    page = chen2008_figures.render_figures(records)
    # over the exact value, and the last one kept: two rounds were all
    assert "| upper | 3.000 | 2.000 | 2.000 |" in page
    assert "| error | 3.00 | 2.00 | 2.00 |" in page


def test_figures_are_tested_on_common_partitions():
    """At l = k - 1 alone, and where both methods have been run."""
    records = []
    for j in range(6):
        for method, error in (("SVM_joint", 5.0), ("HSIC", 9.0), ("SKFE", 5.0)):
            errors = [90.0] * 15
            errors[4] = error + (0.1 * j if method == "HSIC" else 0.0)  # satimage: k = 6
            records.append(
                {"figure": 1, "data": "satimage", "method": method, "partition": j}
                | {"errors": errors}
            )
        for u, exact in ((False, 1.0), (True, 14.0 + 0.1 * j)):
            rounds = {"errors": [3.0, 2.0], "exact_error": exact}
            records.append({"figure": 3, "data": "segment", "uncorrelated": u, **rounds})
    records = [r for r in records if r.get("method") != "SKFE" or r["partition"] < 4]
    page = chen2008_figures.render_figures(records)
    assert "| satimage, l = 5: SVM_joint against | SKFE | HSIC |" in page
    assert "| corrected test | too few | better (<.001) |" in page
    found = re.search(r"\| segment \| (\S+): better \(<.001\) \| (\S+): worse \(<.001\) \|", page)
    assert found is not None and float(found[1]) < 0 < float(found[2])
    assert "| satimage | too few | too few |" in page


@data
@needs_data
def test_the_alternation_approaches_where_the_paper_shows_it():
    """Wine, sigma = 1, C = 3, lambda = 100: the sentences of the page, from its own cell."""
    protocol = load_protocol("chen2008-alternation")
    cell = next(cell for cell in protocol.cells if cell.key == "wine/SVM_joint/1/3")
    record = {**cell.settings, **protocol.run_cell(find_data(), cell)}
    found = {s["lam"]: s for s in chen2008_alternation.settings_of([record])}
    first, _, third, eighth, last = found[100.0]["apart"]
    assert found[100.0]["exact"] == pytest.approx(265.83, abs=0.01)
    assert first == pytest.approx(1.9, abs=0.05) and third == pytest.approx(0.10, abs=0.01)
    assert 0.05 < eighth < 0.09 and 0.05 < last < 0.09
    assert chen2008_alternation.judge_bounds(found[100.0]["apart"]) == "approach"
    assert chen2008_alternation.judge_bounds(found[1.0]["apart"]) == "drift apart"
    page = protocol.render([record])
    assert "| wine, SVM_joint | 1 | 100 | 3 | 265.83 | 1.91 |" in page
    assert "| 100 | 1.9 to 0.074 \\* |" in page


def test_words_of_the_alternation():
    """Distances after rounds 1, 2, 3 and 8."""
    judge = chen2008_alternation.judge_bounds
    assert judge([2.0, 9.0, 1.0, 0.5]) == "approach"
    assert judge([2.0, 1.0, 1.0, 2.0]) == "mixed"
    assert judge([2.0, 1.0, 3.0, 9.0, 0.1]) == "drift apart"
    record = {"set": "wine", "uncorrelated": True, "sigma": 0.5}
    records = [
        {**record, "C": C, "exact": [143.0, *[9.0] * 10], "apart": [[2, 2, d, d]] * 11}
        for C, d in ((3.0, 1.0), (5.0, 1.5), (7.0, 3.0))
    ]
    for one in records:
        one["apart"] = [[*one["apart"][0], 7.0], *one["apart"][1:]]
    page = chen2008_alternation.render(records)
    assert "| wine, uSVM_joint | all | 33 | 22 | 0 | 11 | 11 | 11 |" in page
    assert "| wine, uSVM_joint | values 138 to 148 | 3 | 2 | 0 | 1 | 1 | 1 |" in page
    assert "| wine, uSVM_joint | 0.5 | 1e-05 | 3 to 5 (2) | 143 | 2 | 2 | 1 to 1.5 |" in page
    assert "| wine, uSVM_joint | 0.5 | 1e-05 | 7 | 143 | 2 | 2 | 3 | 3 | 7 | drift apart |" in page
    assert len(chen2008_alternation.CS) == 43 and len(chen2008_alternation.WIDTHS) == 14


def test_rounds_on_the_grid():
    """Where the least error of eight rounds is, by hand: one setting of each kind."""
    falling = [9.0, 8.0, 7.0, 7.0, 8.0, 8.0, 8.0, 8.0]
    first = [5.0, 9.0, 6.0, 9.0, 6.0, 9.0, 6.0, 9.0]
    late = [30.0, 29.0, 28.0, 31.0, 26.0, 25.0, 24.0, 23.0]
    found = [
        {"lam": lam, "by_round": errors, "exact": exact}
        for lam, errors, exact in ((1.0, falling, 6.0), (10.0, first, 4.0), (100.0, late, 20.0))
    ]
    records = [
        {"data": "segment", "uncorrelated": False, "C": 3.0, "partition": p, "found": found}
        for p in range(2)
    ]
    page = chen2008_rounds.render(records)
    assert "| segment | SVM_joint | all | 3 | 1 | 1 | 1 | 1 |" in page
    assert "| segment | SVM_joint | within 2 points | 2 | 1 | 1 | 0 | 1 |" in page
    # lambda 1 < C = 3 falls; 10 and 100 are larger, and one of them falls
    assert "in 1 of 2 settings, where lambda < C in 1 of 1" in " ".join(page.split())
    assert "| segment | SVM_joint | 5.0 | 8.0 | 6.0 | 7.0 | 8.0 | 4.0 |" in page


def test_rounds_are_those_of_the_alternation(tmp_path):
    """Errors of the first round and of the exact solution, from fits at the same lambda."""
    X, y = load_wine(return_X_y=True)
    np.savez(tmp_path / "segment.npz", X=X, y=y)
    folder = DataFolder(tmp_path)
    cell = next(c for c in chen2008_rounds.rounds().cells if c.key == "segment/uSVM_joint/3/0")
    found = chen2008_rounds.run_cell(folder, cell)["found"]
    X_train, X_test, y_train, y_test = chen2008.load_half(folder, "segment", 0, 100)
    kernel = Gaussian(1.0)
    G = kernel(X_train)
    G = G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean()
    for one in found[3::3]:
        reg = one["lam"] * len(G) / np.trace(G)
        exact = SubspaceSVC(kernel, C=3.0, reg=reg).fit(X_train, y_train)
        assert one["exact"] == pytest.approx(100 * (1 - exact.score(X_test, y_test)), abs=1e-6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            once = SubspaceSVC(kernel, C=3.0, reg=reg, method="alternating", max_iter=1, tol=1e-4)
            error = 100 * (1 - once.fit(X_train, y_train).score(X_test, y_test))
        assert one["by_round"][0] == pytest.approx(error, abs=1e-6)
        assert len(one["by_round"]) == chen2008_rounds.ROUNDS
