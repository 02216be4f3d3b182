"""What the four papers claim, and what the records that come with the package say of it.

    python -m kernel_learn.papers.claims docs/results

writes this page and those of all tables and figures, with their pictures, from these records;
nothing is run.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.atomic_write import atomic_write
from kernel_learn.papers import (
    PROTOCOLS,
    chen2008,
    chen2008_weights,
    jain2010_table1,
    jain2010_usps,
    load_protocol,
    ye2007,
)
from kernel_learn.papers.bench import errors_by_set, shipped_records
from kernel_learn.papers.chen2008_figures import draw_figures
from kernel_learn.papers.difference import FEWEST, tell_counts, verdict, verdict_words
from kernel_learn.papers.pages import (
    describe_again,
    make_page,
    tell_commits,
    tell_dates,
)
from kernel_learn.papers.protocol import Record, fill_page, make_table

Errors = dict[str, Array]  # method -> errors in per cent, one for each test part
Printed = Mapping[str, Mapping[str, float]]  # set -> method -> error as printed


@dataclass(frozen=True)
class Claim:
    """ "ours has fewer errors than theirs"; "best X" is the method of name X... of least mean."""

    table: str
    text: str
    ours: str
    theirs: str
    printed: str | None = None  # in words, where the paper's text has no figures of both
    as_good: bool = False  # no more errors, in the place of fewer
    raw: bool = False  # on the sets of raw columns, which are the same rows


def printed_percents(printed: Mapping[str, Iterable[float]], methods: Iterable[str]) -> Printed:
    """Rows of a printed table by method."""
    names = list(methods)
    return {name: dict(zip(names, row, strict=True)) for name, row in printed.items()}


PRINTED: dict[str, Printed] = {
    "chen2008-table2": printed_percents(chen2008.CLAIMED, chen2008.METHODS),
    "chen2008-table3": printed_percents(chen2008_weights.TABLE_3, chen2008_weights.COLUMNS),
    "ye2007-table1": printed_percents(
        {name: [100 - a for a in row] for name, row in ye2007.TABLE_1.items()}, ye2007.COLUMNS_1
    ),
    "ye2007-table2": printed_percents(
        {name: [100 - a for a in row] for name, row in ye2007.TABLE_2.items()}, ye2007.COLUMNS_2
    ),
    "jain2010-table1": printed_percents(
        {name: [100 - 100 * a for a, _ in row] for name, row in jain2010_table1.PAPER.items()},
        jain2010_table1.METHODS,
    ),
}
JAIN = "jain2010-table1"
GENES = "improves on KOC in all cases"
KPLS = "better on 2 gene sets, worse on 1, no difference on 4; text: better on most"
USPS = "the digits lie apart in two dimensions (a picture)"
CLAIMS = (
    *(
        Claim("chen2008-table2", f"{name} has fewer errors than the SVM", name, "SVM")
        for name in chen2008.METHODS[1:]
    ),
    Claim("chen2008-table2", "uncorrelated features help HSIC", "uHSIC", "HSIC"),
    Claim("chen2008-table2", "and SVM_joint", "uSVM_joint", "SVM_joint"),
    Claim("chen2008-table2", "joint learning is better than separate", "SVM_joint", "HSIC"),
    Claim("chen2008-table2", "with uncorrelated features, too", "uSVM_joint", "uHSIC"),
    Claim("chen2008-table2", "HSIC is better than SKFE", "HSIC", "SKFE"),
    Claim(
        "chen2008-table3", "four kernels are better than each alone", "HSIC_mkl", "best HSIC_ker"
    ),
    Claim("chen2008-table3", "with joint learning, too", "SVM_mkl", "best SVM_ker"),
    Claim("wu2007-tables", "SKFE is better than KOC", "SKFE (paper)", "KOC", GENES),
    Claim("wu2007-tables", "SKFE is as good as KPLS or better", "SKFE (paper)", "KPLS", KPLS, True),
    *(
        Claim("wu2007-tables", f"{name} is better than 1-NN on all columns", name, "1-NN", "most")
        for name in ("SKFE (paper)", "KPLS", "KOC", "AKDA/QR")
    ),
    Claim("ye2007-table1", "learned lambda helps SDP_theta", "SDP_theta,lambda", "SDP_theta"),
    Claim("ye2007-table1", "and beats cross-validation", "SDP_theta,lambda", "RKDA_CV"),
    Claim("ye2007-table1", "it is as good as SM2", "SDP_theta,lambda", "SM2", None, True),
    Claim("ye2007-table2", "learned lambda helps SDP_theta", "SDP_theta,lambda", "SDP_theta"),
    Claim("ye2007-table2", "and beats cross-validation", "SDP_theta,lambda", "RKDA_CV"),
    *(
        claim
        for raw, columns in ((False, "standardised columns"), (True, "raw columns"))
        for claim in (
            Claim(
                JAIN,
                f"Frob is better than the Gaussian kernel, {columns}",
                "Frob",
                "Gaussian",
                raw=raw,
            ),
            Claim(
                JAIN,
                f"ITML is better than the Gaussian kernel, {columns}",
                "ITML",
                "Gaussian",
                raw=raw,
            ),
            Claim(
                JAIN, f"low rank costs nothing, {columns}", "Trace-SSIKDR", "ITML", None, True, raw
            ),
            Claim(
                JAIN,
                f"and is better than cutting ITML, {columns}",
                "Trace-SSIKDR",
                "ITML LR-post",
                raw=raw,
            ),
        )
    ),
    Claim("jain2010-usps", "two learned dimensions", jain2010_usps.TRACE, jain2010_usps.PCA, USPS),
)


@dataclass(frozen=True)
class Found:
    """A claim with what came out: set -> (errors of ours and theirs on average, verdict)."""

    claim: Claim
    sets: dict[str, tuple[float, float, str]]

    def counts(self) -> Counter[str]:
        """How many sets have each verdict."""
        return verdict_words(told for _, _, told in self.sets.values())


def errors_of(table: str) -> dict[str, tuple[Errors, float]]:
    """Of the shipped records: set -> (errors by method, test rows / training rows)."""
    records = shipped_records(load_protocol(table))
    if table == "jain2010-usps":
        return usps_errors(records)
    bench = load_protocol(table).bench
    assert bench is not None
    tables = errors_by_set(bench, (), records)
    return {
        name: (
            {method: np.concatenate(list(cells.values())) for method, cells in found.items()},
            bench.ratio(name),
        )
        for name, found in tables.items()
    }


def usps_errors(records: Iterable[Record]) -> dict[str, tuple[Errors, float]]:
    """Of the digits, once for each number that may be called that of the training rows."""
    found = list(records)
    methods = (jain2010_usps.TRACE, jain2010_usps.PCA)
    errors = {name: np.array([100 - 100 * r[name] for r in found]) for name in methods}
    sizes = (jain2010_usps.N_GRAPH, jain2010_usps.N_LABELLED)
    return {f"USPS, {n} rows": (errors, jain2010_usps.N_TEST / n) for n in sizes}


def settle(name: str, means: Mapping[str, float]) -> str:
    """The method of a name; of "best X" the one of least mean among X..."""
    if not name.startswith("best "):
        return name
    prefix = name.removeprefix("best ")
    return min((m for m in means if m.startswith(prefix)), key=lambda m: means[m])


def examine(claim: Claim, read: Callable[[str], dict[str, tuple[Errors, float]]]) -> Found:
    """A claim on every set with records enough for a test."""
    sets = {}
    for name, (errors, ratio) in read(claim.table).items():
        if name.endswith("(raw)") != claim.raw:
            continue
        theirs = settle(claim.theirs, {m: float(e.mean()) for m, e in errors.items()})
        a, b = errors[claim.ours], errors[theirs]
        if len(a) >= FEWEST:
            sets[name] = (float(a.mean()), float(b.mean()), verdict(a, b, ratio))
    return Found(claim, sets)


def conclusion(counts: Counter[str], as_good: bool = False) -> str:
    """In a word: whether the sets bear the claim out."""
    better, worse, total = counts["better"], counts["worse"], sum(counts.values())
    if not total:
        return "no records"
    if as_good and not worse:
        return "stands" if 2 * (better + counts["equivalent"]) > total else "not shown"
    if better and worse:
        return "mixed"
    if worse:
        return "contradicted"
    if better:
        return "stands" if 2 * better > total else "in part"
    return "no difference" if counts["equivalent"] == total else "not shown"


def printed_figures(claim: Claim) -> str:
    """ "fewer on 7 of 7, 7.6 against 14.0 on average"."""
    if claim.printed is not None:
        return claim.printed
    rows = PRINTED[claim.table].values()
    pairs = np.array([[row[claim.ours], row[settle(claim.theirs, row)]] for row in rows])
    return describe_pairs(pairs[~np.isnan(pairs).any(axis=1)])


def describe_pairs(pairs: Array) -> str:
    """On how many sets the first is less, and both means."""
    if not len(pairs):
        return "-"
    fewer, (a, b) = int(np.sum(pairs[:, 0] < pairs[:, 1])), pairs.mean(axis=0)
    return f"fewer on {fewer} of {len(pairs)}, {a:.1f} against {b:.1f} on average"


def render() -> str:
    """The page."""
    known: dict[str, dict[str, tuple[Errors, float]]] = {}

    def read(table: str) -> dict[str, tuple[Errors, float]]:
        return known.setdefault(table, errors_of(table))

    found = [examine(claim, read) for claim in CLAIMS]
    rows, each = [], []
    for one in found:
        claim, counts = one.claim, one.counts()
        pairs = np.array([[a, b] for a, b, _ in one.sets.values()])
        rows.append(
            [
                claim.text,
                f"{claim.ours}, {claim.theirs}",
                printed_figures(claim),
                describe_pairs(pairs),
                tell_counts(counts),
                f"**{conclusion(counts, claim.as_good)}**",
            ]
        )
        for name, (a, b, told) in one.sets.items():
            each.append([f"{claim.ours}, {claim.theirs}", name, f"{a:.2f}", f"{b:.2f}", told])
    head = ["claim", "methods", "paper", "here", "sets, by corrected tests", "verdict"]
    tables = []
    for table in dict.fromkeys(claim.table for claim in CLAIMS):
        own = [row for row, claim in zip(rows, CLAIMS, strict=True) if claim.table == table]
        sets = ", ".join(
            f"{n} ({len(next(iter(e.values())))})" for n, (e, _) in read(table).items()
        )
        title = load_protocol(table).title
        tables += [f"## {title}", "", f"Sets (test parts): {sets or 'none'}.", ""]
        tables += [make_table(head, own), ""]
    return fill_page(
        "claims",
        tables="\n".join(tables),
        figures=render_figure_claims(),
        each=make_table(["methods", "set", "error", "error of the other", "verdict"], each),
        origin=describe_records(),
    )


def render_figure_claims() -> str:
    """What the papers say of their figures."""
    rows = []
    for table, page in NAMES.items():
        protocol = load_protocol(table)
        for claim, figure, here, word in protocol.claims(shipped_records(protocol)):
            rows.append([claim, f"[{figure}]({page})", here, f"**{word}**"])
    rows.sort(key=lambda row: row[1])
    return make_table(["claim", "figure", "here", "verdict"], rows)


def describe_records() -> str:
    """What made the records, all tables together."""
    tables = dict.fromkeys(claim.table for claim in CLAIMS)
    made = [r["made"] for table in tables for r in shipped_records(load_protocol(table))]
    versions = "; ".join(dict.fromkeys(entry["versions"] for entry in made))
    seconds = sum(entry["cpu"] for entry in made)
    lines = [
        f"- Code: {tell_commits(made)}. Date: {tell_dates(made)}.",
        f"- Versions: {versions}.",
        f"- {len(made)} cells, {seconds:.0f} s of processor time on one thread.",
        *describe_again(made),
    ]
    return "\n".join(lines)


NAMES = {name: f"{name}.md" for name in PROTOCOLS} | {"chen2008-table2": "chen2008.md"}


def make_pages() -> dict[str, str]:
    """File name -> page, of the tables and of the claims."""
    pages = {"claims.md": render()}
    for table, name in NAMES.items():
        protocol = load_protocol(table)
        pages[name] = make_page(protocol, shipped_records(protocol))
    return pages


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name, text in make_pages().items():
        with atomic_write(folder / name) as part:
            part.write_text(text, encoding="utf-8")
    draw_figures(shipped_records(load_protocol("chen2008-figures")), folder)
