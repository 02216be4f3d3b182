"""The comparisons on the pages, from made-up records: whose errors, which way, which test rows."""

from importlib.resources import files

import numpy as np
import pytest
from scipy import stats

from kernel_learn.papers import (
    chen2008,
    chen2008_weights,
    difference,
    jain2010_table1,
    load_protocol,
    sources,
    wu2007,
    ye2007,
)
from kernel_learn.papers.protocol import fill_page

D = np.array([1.0, 1.9, 1.1, 1.7, 1.2, 1.5])  # more errors of one method than of another


def said(word, ratio, d=D):
    """As on a page, by the formula of Nadeau and Bengio (2003)."""
    t = d.mean() / np.sqrt((1 / len(d) + ratio) * d.var(ddof=1))
    return f"{word} ({2 * stats.t.sf(t, len(d) - 1):.3f})".replace("0.", ".")


def row(page, start):
    """The cells of the first line of a table that starts so."""
    return next(line for line in page.splitlines() if line.startswith(start)).split(" | ")


def test_the_ratios_tell_the_verdicts_apart():
    found = [said("p", ratio) for ratio in (0.25, 2 / 3, 1.0, 4.0)]
    assert found == ["p (.002)", "p (.008)", "p (.015)", "p (.113)"]


@pytest.mark.parametrize(("name", "ratio"), [("mfeat", 4.0), ("proteinfold", 1.0)])
def test_sources(name, ratio):
    """The second source is best on average, and in no single run the only one."""
    records = []
    for i, d in enumerate(D):
        errors = {"learn": 10.0 + d, "uniform": 10.0, "alignment": 11.0, "loo": 10.0 + 2 * d}
        errors["single"] = [30.0 - 25 * (i == 0), 10.0, 40.0]
        weights = {choice: [1.0, 3.0] for choice in (*sources.WEIGHTINGS, "learn (SVM)")}
        made = dict.fromkeys(sources.DECISIONS, errors)
        records.append({"set": name, "repeat": i, "errors": made, "weights": weights})
    page = load_protocol("multi-source").render(records)
    word = "worse" if ratio == 1.0 else "undecided"
    cells = [said(word, ratio)] * 5
    assert row(page, f"| {name} | SVM |")[2:] == [*cells[:4], cells[4] + " |"]
    table = row(page, f"| {name} | 6 | ridge |")
    assert table[3] == "10.00 ± 0.00 (1)" and table[5] == "**10.00 ± 0.00**"
    assert f"- {name}, loo: 0.25, 0.75" in page


@pytest.mark.parametrize(
    ("protocol", "columns", "name", "ratio"),
    [
        ("ye2007-table1", ye2007.COLUMNS_1, "Sonar", 0.25),
        ("ye2007-table2", ye2007.COLUMNS_2, "Wine (3)", 2 / 3),
    ],
)
def test_ye(protocol, columns, name, ratio):
    records = []
    for d in D:
        accuracies = dict.fromkeys({*columns, *ye2007.FIGURE_1}, 90.0)
        accuracies["SDP_theta,lambda"] = 90.0 - d
        seconds = dict.fromkeys(accuracies, 0.012)
        records.append({"set": name, "accuracies": accuracies, "seconds": seconds})
    page = load_protocol(protocol).render(records)
    assert page.count(said("worse", ratio)) == len(columns) - 1
    for record, d in zip(records, D, strict=True):
        record["accuracies"]["SDP_theta,lambda"] = 90.0 + d
    assert load_protocol(protocol).render(records).count(said("better", ratio)) == len(columns) - 1


def test_chen_table_2():
    records = []
    for i, d in enumerate(D):
        found = {m: {"error": 9.0, "seconds": 1.0, "relative_gap": 1e-7} for m in chen2008.METHODS}
        found["SKFE"] = {**found["SKFE"], "error": 9.0 - d}
        found["HSIC"] = {**found["HSIC"], "error": 9.0 + d}
        records.append({"data": "wine", "partition": i, "n_train": 89, **found})
    page = load_protocol("chen2008-table2").render(records)
    tests = row(page[page.index("| against the SVM |") :], "| wine |")
    assert tests[1:3] == [said("better", 1.0), said("worse", 1.0)]
    assert "(p < 0.05): SKFE on wine; significantly worse: HSIC on wine." in page
    last = row(page[page.index("| uSVM_joint against |") :], "| wine |")
    assert last[1:4] == ["equivalent (<.001)", said("worse", 1.0), said("better", 1.0)]
    assert "least mean error on 0 of 1 sets" in page


def test_chen_table_3():
    """Against the kernel that is best on average, of the same family."""
    records = []
    for i, d in enumerate(D):
        errors = dict.fromkeys(chen2008_weights.COLUMNS, 20.0)
        errors |= {"HSIC_ker2": 10.0, "HSIC_ker3": 30.0 - 25 * (i == 0), "HSIC_mkl": 10.0 + d}
        errors |= {"SVM_ker4": 9.0, "SVM_mkl": 9.0 - d}
        records.append({"set": "Wine", "repeat": i, "errors": errors})
    page = load_protocol("chen2008-table3").render(records)
    cells = row(page[page.index("| data | HSIC_mkl against") :], "| Wine |")
    assert cells[1] == f"+1.40 on ker2: {said('worse', 1.0)}"
    assert cells[2] == f"-1.40 on ker4: {said('better', 1.0)} |"


@pytest.mark.parametrize(("name", "ratio"), [("DLBCL", 0.25), ("tr11", 1.0)])
def test_wu(name, ratio):
    """All test parts of all repeats: five of genes, two of texts."""
    records = []
    for part in np.split(D, 2):
        folds = {key: np.full(3, 20.0) for key in wu2007.METHODS.values()}
        folds["skfe"] = folds["skfe_paper"] = 20.0 + part
        errors = {key: float(np.mean(found)) for key, found in folds.items()}
        seconds = dict.fromkeys(folds, 0.5)
        records.append({"set": name, "folds": folds, "errors": errors, "seconds": seconds})
    page = load_protocol("wu2007-tables").render(records)
    cells = row(page[page.index(f"| {name} | 2 |") + 1 :], f"| {name} |")[1:]
    assert [cell.removesuffix(" |") for cell in cells].count(said("worse", ratio)) == 5
    kind = "Gene expression (Table 2)" if name == "DLBCL" else "Text (Table 3)"
    assert f"| {kind} | KOC | 0 of 1 | 1 worse |" in page


def test_jain():
    records, methods = [], jain2010_table1.METHODS
    for columns, plain in (("standardised", 0.98), ("raw", 0.9)):
        for d in np.split(D / 100, 3):
            accuracy = np.full((len(methods), 2), 0.95)
            accuracy[0] = plain  # the paper has 0.99
            accuracy[methods.index("Trace-SSIKDR")] = 0.95 - d
            figures = {"accuracy": accuracy, "rank": np.full(len(methods), 10.0)}
            records.append({"data": "Iris", "columns": columns, "largest_gap": 0.0, **figures})
    page = load_protocol("jain2010-table1").render(records)
    assert f"| Iris | +1.4 | {said('worse', 1.0)} | 1.0 |" in page
    assert "ITML, by the tests: 1 worse on standardised columns, 1 worse on raw ones." in page
    assert "(ITML LR-post) costs, in points: +0.0 on Iris." in page
    assert "| 0.900 | 0.980 | standardised |" in page
    for record in records:
        record["columns"] = {"standardised": "raw", "raw": "standardised"}[record["columns"]]
    assert "| 0.980 | 0.900 | raw |" in load_protocol("jain2010-table1").render(records)


def test_every_page_says_in_the_same_words_what_a_verdict_means():
    templates = files("kernel_learn.papers").joinpath("templates").iterdir()
    texts = {file.name: file.read_text("utf-8") for file in templates}
    assert not [name for name, text in texts.items() if "p in brackets" in text]
    told = {name for name, text in texts.items() if "$verdicts_mean" in text}
    assert {name for name in texts if "alternation" not in name and "rounds" not in name} == told
    assert difference.MEANING in fill_page("ye2007-table2", table="", verdicts="", figure="")
