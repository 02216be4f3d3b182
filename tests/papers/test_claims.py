"""The table of the papers' claims: from records, by hand, and as it stands on its page."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from kernel_learn.papers import PROTOCOLS, claims
from kernel_learn.papers.claims import Claim, conclusion, describe_pairs, examine, printed_figures

PAGE = Path(__file__).parents[2] / "docs" / "results" / "claims.md"


def test_the_page_is_what_the_records_say():
    assert PAGE.read_text(encoding="utf-8") == claims.render()


def test_verdicts_of_planted_records():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(2, 20))
    errors = {"a": 10 + 0.1 * noise[0], "b": 15 + 0.1 * noise[1], "b2": 15.5 + 0.1 * noise[1]}
    read = {"x": (errors, 1.0), "too few": ({"a": errors["a"][:4], "b": errors["b"][:4]}, 1.0)}
    found = examine(Claim("ye2007-table1", "", "a", "b"), lambda table: read)
    assert list(found.sets) == ["x"] and found.sets["x"][2] == "better (<.001)"
    assert found.sets["x"][:2] == (errors["a"].mean(), errors["b"].mean())
    assert examine(Claim("ye2007-table1", "", "b", "a"), lambda table: read).counts() == {
        "worse": 1
    }
    best = examine(Claim("ye2007-table1", "", "a", "best b"), lambda table: {"x": read["x"]})
    assert best.sets["x"][1] == errors["b"].mean()


def test_the_same_rows_on_raw_columns_are_no_further_set():
    errors = {"a": np.arange(5.0), "b": np.arange(5.0) + 3}
    read = {"x": (errors, 1.0), "x (raw)": (errors, 1.0)}
    for raw, name in ((False, "x"), (True, "x (raw)")):
        found = examine(Claim("jain2010-table1", "", "a", "b", raw=raw), lambda table: read)
        assert list(found.sets) == [name]


@pytest.mark.parametrize(
    ("counts", "as_good", "said"),
    [
        ({"better": 2, "undecided": 1}, False, "stands"),
        ({"better": 1, "undecided": 1}, False, "in part"),
        ({"better": 1, "worse": 1}, False, "mixed"),
        ({"worse": 1, "equivalent": 4}, False, "contradicted"),
        ({"equivalent": 4}, False, "no difference"),
        ({"equivalent": 4, "undecided": 1}, False, "not shown"),
        ({"equivalent": 4, "undecided": 1}, True, "stands"),
        ({"equivalent": 1, "undecided": 1}, True, "not shown"),
        ({"equivalent": 4, "worse": 1}, True, "contradicted"),
        ({}, False, "no records"),
    ],
)
def test_conclusions(counts, as_good, said):
    assert conclusion(Counter(counts), as_good) == said


def test_the_papers_own_figures():
    """Chen, Table 2: uHSIC 5.248, 17.039, ... against HSIC 5.326, 17.783, ..., seven sets."""
    said = printed_figures(Claim("chen2008-table2", "", "uHSIC", "HSIC"))
    assert said == "fewer on 7 of 7, 8.0 against 8.4 in the mean"
    # a set without a printed figure (SDP_Kim on Cancer) does not count
    assert "of 3," in printed_figures(Claim("ye2007-table1", "", "SDP_Kim", "SM1"))
    assert describe_pairs(np.empty((0, 2))) == "-"


def test_claims_are_of_methods_that_exist():
    for claim in claims.CLAIMS:
        assert claim.table in PROTOCOLS and printed_figures(claim)
