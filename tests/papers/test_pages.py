"""What a page says about itself is true: origins, corrected tests, and a cell computed anew."""

import io
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernel_learn.datasets import find_data
from kernel_learn.papers import PROTOCOLS, load_protocol, origin
from kernel_learn.papers.bench import shipped_records
from kernel_learn.papers.claims import NAMES
from kernel_learn.papers.difference import corrected_p, equivalence_p, format_p, verdict
from kernel_learn.papers.pages import make_page, read_check, same_figures, stable_figures
from kernel_learn.papers.protocol import Cell, Protocol, read_records, run_again, run_cells

RESULTS = Path(__file__).parents[2] / "docs" / "results"
needs_data = pytest.mark.skipif("KERNEL_LEARN_DATA" not in os.environ, reason="no data folder")


def test_corrected_test_by_hand():
    """d = 1, 2, 3, 4, 5: mean 3, variance 2.5, J = 5, test rows 0.3 of the training rows.

    t = 3 / sqrt((1/5 + 0.3) 2.5) = 3 / sqrt(1.25) = 2.683282; two-sided p of t with 4 degrees of
    freedom by its closed form 1 - sin(a) (1 + cos(a)^2 / 2), a = atan(t / 2).
    """
    a = np.arctan(3 / np.sqrt(1.25) / 2)
    p = 1 - np.sin(a) * (1 + np.cos(a) ** 2 / 2)
    ours, theirs = np.array([2.0, 4.0, 6.0, 8.0, 10.0]), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert corrected_p(ours, theirs, ratio=0.3) == pytest.approx(p, rel=1e-12)
    assert corrected_p(theirs, ours, ratio=0.3) == pytest.approx(p, rel=1e-12)
    assert corrected_p(ours, theirs, ratio=0.0) < p < corrected_p(ours, theirs, ratio=1.0)
    assert verdict(ours, theirs, ratio=0.3) == "undecided (.055)"  # at the level of .05
    assert verdict(ours, theirs, ratio=0.2) == "worse (.040)"


def test_corrected_test_at_its_edges(rng):
    d = rng.normal(size=20)
    assert corrected_p(d, d, 1.0) == 1.0
    assert corrected_p(np.arange(5) + 1, np.arange(5), 1.0) == 0.0  # equally far apart each time
    assert corrected_p(d + 1, d, 1.0) == pytest.approx(0.0, abs=1e-12)
    assert np.isnan(corrected_p(d[:4] + 1, d[:4], 1.0))
    assert verdict(d - 5 + 0.1 * rng.normal(size=20), d, 1.0) == "better (<.001)"
    assert verdict(d + 5 + 0.1 * rng.normal(size=20), d, 1.0) == "worse (<.001)"
    assert verdict(d + 9 * rng.normal(size=20), d, 1.0).startswith("undecided (.")
    assert verdict(d + 0.1 * rng.normal(size=20), d, 1.0) == "equivalent (<.001)"
    assert verdict(d[:4] + 1, d[:4], 1.0) == "too few"
    assert (format_p(0.0931), format_p(1.0), format_p(np.nan)) == (".093", "1.000", "-")


def test_equivalence_by_hand():
    """d = -.5, 0, .5, 1, 1.5: mean .5, variance .625, J = 5, test rows 0.3 of the training rows.

    t = (2 - .5) / sqrt((1/5 + 0.3) .625) = 2.683282 for the side that is nearer; one-sided p.
    """
    theirs = np.arange(5.0)
    ours = theirs + np.array([-0.5, 0.0, 0.5, 1.0, 1.5])
    a = np.arctan(1.5 / np.sqrt(0.3125) / 2)
    p = (1 - np.sin(a) * (1 + np.cos(a) ** 2 / 2)) / 2
    assert equivalence_p(ours, theirs, ratio=0.3) == pytest.approx(p, rel=1e-12)
    assert equivalence_p(theirs, ours, ratio=0.3) == pytest.approx(p, rel=1e-12)
    assert verdict(ours, theirs, ratio=0.3) == "equivalent (.028)"
    assert verdict(ours, theirs, ratio=0.3, margin=1.0).startswith("undecided (.")
    assert equivalence_p(theirs, theirs, 1.0) == 0.0
    assert equivalence_p(theirs + 3, theirs, 1.0) == 1.0
    assert np.isnan(equivalence_p(theirs[:4], theirs[:4], 1.0))


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_what_their_records_say(name):
    """``python -m kernel_learn.papers.claims docs/results`` writes all of them again."""
    protocol = load_protocol(name)
    records = shipped_records(protocol)
    assert records, "no records of this table come with the package"
    assert make_page(protocol, records) == (RESULTS / NAMES[name]).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PROTOCOLS)
def test_records_of_every_table_are_whole(name):
    protocol = load_protocol(name)
    keys = [record["key"] for record in shipped_records(protocol)]
    assert keys == [cell.key for cell in protocol.cells]


def small_protocol():
    cells = [Cell(f"cell-{i}", {"value": i}) for i in range(3)]

    def run_cell(data, cell):
        return {"error": cell.settings["value"] / 3, "seconds": 0.5, "more": {"gap": 1.0, "x": [2]}}

    return Protocol("small", "Small", cells, run_cell, lambda records: "# Small\n", check="cell-1")


def test_a_page_says_what_made_it(tmp_path, monkeypatch):
    monkeypatch.setattr(origin, "code_version", lambda: "abc1234")
    protocol = small_protocol()
    records = run_cells(
        protocol, None, tmp_path, only=lambda c: c.key != "cell-2", stream=io.StringIO()
    )
    page = make_page(protocol, records)
    assert "kernel-learn reproduce small" in page and "Code: abc1234 (2 cells)." in page
    assert f"numpy {np.__version__}" in page and "2 of 3 cells" in page
    assert read_check(page) == {"key": "cell-1", "value": 1, "error": 0.33333, "more": {"x": [2]}}
    assert str(tmp_path) not in page and str(Path.home()) not in page


def test_a_page_says_from_when_to_when(tmp_path):
    protocol = small_protocol()
    records = run_cells(protocol, None, tmp_path, stream=io.StringIO())
    for record, date in zip(records, ["2026-03-02", "2026-03-01", "2026-03-03"], strict=True):
        record["made"]["date"] = date
    assert "Date: 2026-03-01 to 2026-03-03." in make_page(protocol, records)
    assert "Date: 2026-03-02." in make_page(protocol, records[:1])


def test_cells_computed_again_are_spread_over_the_file(tmp_path, monkeypatch):
    protocol, quiet = small_protocol(), io.StringIO()
    protocol = replace(protocol, cells=[Cell(f"cell-{i}", {"value": i}) for i in range(6)])
    monkeypatch.setattr(origin, "code_version", lambda: "abc1234")
    run_cells(protocol, None, tmp_path, stream=quiet)
    monkeypatch.setattr(origin, "code_version", lambda: "def5678")
    records, _ = run_again(protocol, None, tmp_path, 3, same_figures, stream=quiet)
    again = [record["key"] for record in records if "again" in record["made"]]
    assert again == ["cell-0", "cell-2", "cell-4"]


def test_finished_cells_are_computed_again(tmp_path, monkeypatch):
    protocol, quiet = small_protocol(), io.StringIO()
    monkeypatch.setattr(origin, "code_version", lambda: "abc1234")
    run_cells(protocol, None, tmp_path, stream=quiet)
    # nothing to do where the code is the same
    records, apart = run_again(protocol, None, tmp_path, 3, same_figures, stream=quiet)
    assert not apart and "Computed once more" not in make_page(protocol, records)
    monkeypatch.setattr(origin, "code_version", lambda: "def5678")
    records, apart = run_again(protocol, None, tmp_path, 2, same_figures, stream=quiet)
    assert [record["key"] for record in records if "again" in record["made"]] == [
        "cell-0",
        "cell-1",
    ]
    page = make_page(protocol, read_records(tmp_path / "small.jsonl"))
    assert "Computed once more, with the same figures: 2 of these cells, at def5678." in page
    assert "Code: abc1234 (3 cells)." in page and not apart
    other = replace(protocol, run_cell=lambda data, cell: {"error": 0.5, "more": {"x": [2]}})
    assert run_again(other, None, tmp_path, 3, same_figures, stream=quiet)[1] == [
        "cell-0",
        "cell-1",
        "cell-2",
    ]


def test_same_figures_are_the_same_to_what_libraries_share():
    record = {"key": "a", "error": 0.1, "more": {"x": [2, np.nan], "gap": 1.0}, "seconds": 1.0}
    record["weights"] = [0.5, 0.5]  # where kernels are alike
    assert same_figures(record, {**record, "weights": [0.4, 0.6]})
    assert same_figures(record, {**record, "error": 0.10001, "seconds": 9.0})
    assert not same_figures(record, {**record, "error": 0.102})
    assert not same_figures(record, {**record, "more": {"x": [2]}})
    assert not same_figures(record, {**record, "more": {"x": [3, np.nan]}})


def test_a_page_says_which_commit_made_which_records():
    """Two of iris and one of wine by one commit, another of wine by a second one."""

    def record(key, name, commit):
        made = {"commit": commit, "date": "2026-01-01", "versions": "", "cpu": 1.0}
        return {"key": key, "set": name, "made": made}

    one = [record("a", "iris", "abc"), record("b", "wine", "abc"), record("c", "iris", "abc")]
    page = make_page(small_protocol(), one)
    assert "Code: abc (3 cells)." in page and "by the commit" not in page
    page = make_page(small_protocol(), [*one, record("d", "wine", "def")])
    assert "Code: abc (3 cells), def (1 cell)." in page
    assert "| abc | iris 2, wine 1 |" in page and "| def | wine 1 |" in page


def test_records_without_an_origin_are_said_to_have_none():
    assert "Code: not recorded" in make_page(small_protocol(), [{"key": "cell-0"}])


def test_code_version_is_a_commit_or_a_version(monkeypatch):
    origin.code_version.cache_clear()

    def refuse(*args, **options):
        raise subprocess.CalledProcessError(128, "git")

    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", refuse)
        assert origin.code_version().startswith("version ")
    origin.code_version.cache_clear()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_reduced_version_is_part_of_the_whole(name):
    protocol = load_protocol(name)
    reduced = [cell for cell in protocol.cells if protocol.reduced(cell)]
    assert 0 < len(reduced) < len(protocol.cells)
    assert protocol.check in {cell.key for cell in reduced}


SLOW = {"chen2008-rounds", "jain2010-usps"}


@needs_data
@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in PROTOCOLS],
)
def test_a_cell_of_the_page_comes_out_again(name):
    shown = read_check((RESULTS / NAMES[name]).read_text(encoding="utf-8"))
    assert shown is not None, f"{NAMES[name]} shows no cell"
    protocol = load_protocol(name)
    cell = next(cell for cell in protocol.cells if cell.key == shown["key"])
    record = {"key": cell.key, **cell.settings, **protocol.run_cell(find_data(), cell)}
    again = json.loads(json.dumps(stable_figures(record)))
    assert flat(again) == pytest.approx(flat(shown), rel=1e-3)


def flat(value, path=""):
    """Leaf figures by their path, so that a difference names itself."""
    if isinstance(value, dict):
        parts = [flat(v, f"{path}/{k}") for k, v in value.items()]
    elif isinstance(value, list):
        parts = [flat(v, f"{path}/{i}") for i, v in enumerate(value)]
    else:
        return {path: value} if isinstance(value, (int, float)) else {}
    return {key: leaf for part in parts for key, leaf in part.items()}
