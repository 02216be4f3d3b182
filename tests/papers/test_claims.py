"""The table of the papers' claims: from records, by hand, and as it stands on its page."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from kernel_learn.papers import PROTOCOLS, claims
from kernel_learn.papers.chen2008_alternation import LAMBDAS, claim_bounds
from kernel_learn.papers.chen2008_figures import claim_features
from kernel_learn.papers.chen2008_rounds import claim_errors
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
    assert said == "fewer on 7 of 7, 8.0 against 8.4 on average"
    # a set without a printed figure (SDP_Kim on Cancer) does not count
    assert "of 3," in printed_figures(Claim("ye2007-table1", "", "SDP_Kim", "SM1"))
    assert describe_pairs(np.empty((0, 2))) == "-"


def test_claims_are_of_methods_that_exist():
    for claim in claims.CLAIMS:
        assert claim.table in PROTOCOLS and printed_figures(claim)


def test_claims_on_the_number_of_features_of_planted_records():
    """satimage has 6 classes, so l = 5: 30 % errors at l = 1, 10 % from l = 5 on, no noise."""
    records = [
        {"figure": 1, "data": name, "method": method, "errors": [30.0] * 4 + [10.0] * 11}
        for name in ("satimage", "usps")
        for method in ("SKFE", "SVM_joint", "uSVM_joint", "HSIC")
        for _ in range(5)
    ]
    fall, stay = claim_features(records)
    assert fall[2:] == ["l = k - 1 against l = 1, 6 methods and sets: 6 better", "stands"]
    assert stay[2:] == ["l = k - 1 against l = 15, 6 methods and sets: 6 equivalent", "stands"]
    for record in records:
        record["errors"][14] = 8.0 if record["method"] == "SKFE" else 4.0
    assert claim_features(records)[1][3] == "not shown"


def test_claims_on_bounds_and_rounds_of_planted_records():
    """Two cells of eleven lambda: one approaches on an axis of Figure 2, the other one nowhere."""
    near, far = [5.0, 3.0, 2.0, 1.0, 1.0], [5.0, 8.0, 9.0, 9.0, 9.0]
    n = len(LAMBDAS)
    bounds = [{"exact": [270.0] * n, "apart": [near] * 2 + [far] * (n - 2)}]
    bounds.append({"exact": [1.0] * n, "apart": [near] * n})
    (told,) = claim_bounds(bounds)
    assert told[2].startswith("in 2 of the 11 settings") and told[2].endswith("in 13 of all 22")
    assert told[3] == "in part"
    falling, rising = [4.0, 4.0, 4.0, 3.0, 9.0], [4.0, 4.0, 4.0, 4.0, 3.0]
    found = [
        {"lam": 10.0, "by_round": falling, "exact": 1.0},
        {"lam": 3.0, "by_round": rising, "exact": 1.0},
        {"lam": 1.0, "by_round": rising, "exact": 1.0},
    ]
    rounds = [{"data": "segment", "uncorrelated": False, "C": 3.0, "found": found}]
    (told,) = claim_errors(rounds)
    assert "in 1 of 2 settings with lambda >= C, in 0 of 1 with lambda < C" in told[2]
    assert told[3] == "in part"
