"""Chen et al. (2008), Figure 2 on the paper's own grid: where the alternation's bounds meet.

One cell is one set, one form (SVM_joint or uSVM_joint), one width and one C; its record has, for
every absolute lambda, the exact value and how far apart the bounds of chosen rounds are.
"""

from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby, islice
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from kernel_learn.datasets import DataSets
from kernel_learn.estimators.subspace_svc import SubspaceSVC
from kernel_learn.papers.chen2008 import load_half
from kernel_learn.papers.difference import judge_share
from kernel_learn.papers.protocol import Cell, Protocol, Record, fill_page, make_table
from kernel_learn.papers.settings import frozen
from kernel_learn.solvers.joint import alternate, label_directions, solve_exact

NAME = "chen2008-alternation"
FORMS = {False: "SVM_joint", True: "uSVM_joint"}
# Section 6.1: sigma of exp(-|x - y|^2 / sigma), C and lambda.
WIDTHS = (0.001, 0.005, 0.01, 0.05, *(i / 10 for i in range(1, 11)))
CS = (
    *(1.0 + 2 * i for i in range(1, 10)),
    *(20.0 + 5 * i for i in range(1, 17)),
    *(100.0 + 50 * i for i in range(1, 19)),
)
LAMBDAS = tuple(10.0**i for i in range(-5, 6))
# What is run, set by set. Beyond C = 100 the exact values are those of C = 100, or lie on no axis
# of Figure 2.
GRIDS = (
    ("wine", (1.0,), CS),
    ("wine", WIDTHS[-2::-1], CS[:25]),
    ("satimage", (1.0, 0.5, 0.1), (3.0, 9.0, 19.0, 50.0)),
)
PER_CLASS = 100
ROUNDS = (1, 2, 3, 8)
LATE = 25  # one more round, where Figure 2 shows the value
# Axes of the four panels of Figure 2; which is whose is not certain.
SHOWN = ((138.0, 148.0), (260.0, 285.0), (540.0, 600.0), (596.0, 600.0))
CLOSE = 1.0  # per cent of the exact value
SAID = ("approach", "mixed", "drift apart")
RATIOS = ((0.0, 0.1), (0.1, 1.0), (1.0, 10.0), (10.0, 100.0), (100.0, np.inf))  # of lambda / C
IN_TABLE = (3.0, 9.0, 19.0, 50.0, 100.0, 500.0, 1000.0)  # C of the tables of lambda by C


def alternation() -> Protocol:
    """Most of the paper's grid on wine, a part of it on satimage."""
    cells = [
        Cell(
            f"{name}/{form}/{sigma:g}/{C:g}",
            {"set": name, "uncorrelated": u, "sigma": sigma, "C": C},
        )
        for name, widths, Cs in GRIDS
        for sigma in widths
        for u, form in FORMS.items()
        for C in Cs
    ]
    return Protocol(
        NAME,
        "Chen et al. (2008), Figure 2 on the paper's grid",
        cells,
        run_cell,
        render,
        check="wine/SVM_joint/1/3",
        claims=claim_bounds,
        reduced=lambda cell: cell.settings["sigma"] == 1.0 and cell.settings["C"] in IN_TABLE,
    )


def run_cell(data: DataSets, cell: Cell) -> Record:
    """Exact values and distances of the bounds at every lambda, on half of a set's rows."""
    X, _, y, _ = load_half(data, cell.settings["set"], 0, PER_CLASS)
    K = np.exp(-euclidean_distances(X, squared=True) / cell.settings["sigma"])
    model = frozen(SubspaceSVC, "precomputed", uncorrelated=cell.settings["uncorrelated"])
    rows = model._prepare(model._rows(K, y))
    exact, apart = [], []
    for lam in LAMBDAS:
        problem, _ = rows.problem(lam, cell.settings["C"])
        start = label_directions(problem.F, rows.label_factor)[:, : problem.n_components]
        value = solve_exact(problem, tol=1e-6).upper
        wanted = (*ROUNDS, LATE) if in_shown_range(value) else ROUNDS
        bounds = islice(alternate(problem, start, 1e-4), max(wanted))
        gaps = [float(machines.primal.sum()) - lower for _, machines, lower in bounds]
        exact.append(rounded(value, 6))
        apart.append([rounded(100 * gaps[i - 1] / value, 3) for i in wanted])
    return {"exact": exact, "apart": apart}


def rounded(value: float, digits: int) -> float:
    """So many digits that count: the records come with the package."""
    return float(f"{value:.{digits}g}")


def panel_of(value: float) -> int | None:
    """The first axis of Figure 2 that a value lies on."""
    return next((i for i, (low, high) in enumerate(SHOWN) if low <= value <= high), None)


def in_shown_range(value: float) -> bool:
    """Whether a value lies on an axis of Figure 2."""
    return panel_of(value) is not None


def settings_of(records: Iterable[Record]) -> list[Record]:
    """One for each lambda of each cell: ``exact``, and ``apart`` in per cent of it, by round."""
    return [
        {**record, "lam": lam, "exact": value, "apart": apart}
        for record in records
        for lam, value, apart in zip(LAMBDAS, record["exact"], record["apart"], strict=True)
    ]


def judge_bounds(apart: list[float]) -> str:
    """Whether the bounds are nearer after 3 and after 8 rounds than after the first."""
    first, *later = (apart[ROUNDS.index(i)] for i in (1, 3, 8))
    return SAID[sum(distance >= first for distance in later)]


def render(records: Iterable[Record]) -> str:
    """The page: counts over the grid, the settings of Figure 2, tables of the widest kernel."""
    settings = settings_of(records)
    shown = [setting for setting in settings if in_shown_range(setting["exact"])]
    counts: list[list[object]] = []
    by_ratio: list[list[object]] = []
    tables: list[str] = []
    for (name, u), own in by_setting(settings, "set", "uncorrelated"):
        label = f"{name}, {FORMS[u]}"
        counts.append(count_row(label, "all", own))
        for low, high in SHOWN:
            inside = [s for s in own if low <= s["exact"] <= high]
            counts += [count_row(label, f"values {low:g} to {high:g}", inside)] if inside else []
        by_ratio.append([label, *(share_near(own, *span) for span in RATIOS)])
        widest = [s for s in own if s["sigma"] == max(WIDTHS)]
        tables += [f"### {label}, sigma = {max(WIDTHS):g}", "", grid(widest), ""]
    head = ["", "settings", "number", *SAID]
    head += [f"within {CLOSE:g} % after {i} rounds" for i in (3, 8)]
    ratio_head = ["lambda / C", *(f"{low:g} to {high:g}" for low, high in RATIOS)]
    ratio_head[1], ratio_head[-1] = f"below {RATIOS[0][1]:g}", f"{RATIOS[-1][0]:g} and more"
    return fill_page(
        NAME,
        counts=make_table(head, counts),
        ratios=make_table(ratio_head, by_ratio),
        shown=shown_table(shown),
        n_shown=len(shown),
        words=", ".join(
            f"{word} {sum(judge_bounds(s['apart']) == word for s in shown)}" for word in SAID
        ),
        tables="\n".join(tables),
    )


def claim_bounds(records: Iterable[Record]) -> list[list[str]]:
    """What the paper says of Figure 2: in how many settings it is so."""
    found = [(in_shown_range(s["exact"]), judge_bounds(s["apart"])) for s in settings_of(records)]
    shown = [word for is_shown, word in found if is_shown]
    near, near_all = (words.count(SAID[0]) for words in (shown, [word for _, word in found]))
    here = (
        f"in {near} of the {len(shown)} settings whose values the figure shows, "
        f"in {near_all} of all {len(found)}"
    )
    claim = "the bounds approach each other within a few rounds"
    return [[claim, "2", here, judge_share(near, len(shown))]]


def by_setting(settings: list[Record], *keys: str) -> list[tuple[tuple[Any, ...], list[Record]]]:
    """The settings of each value of some keys, in the order in which these come."""
    groups: defaultdict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for setting in settings:
        groups[tuple(setting[key] for key in keys)].append(setting)
    return list(groups.items())


def count_row(label: str, which: str, settings: list[Record]) -> list[object]:
    """How many of some settings have bounds that approach, and that are close."""
    said = [judge_bounds(setting["apart"]) for setting in settings]
    near = np.array([setting["apart"][: len(ROUNDS)] for setting in settings]) <= CLOSE
    close = [int(near[:, ROUNDS.index(i)].sum()) for i in (3, 8)]
    return [label, which, len(settings), *(said.count(word) for word in SAID), *close]


def share_near(settings: list[Record], low: float, high: float) -> str:
    """ "12 of 40": how many with low <= lambda / C < high have bounds that approach."""
    own = [judge_bounds(s["apart"]) for s in settings if low <= s["lam"] / s["C"] < high]
    return f"{own.count(SAID[0])} of {len(own)}"


def shown_table(settings: list[Record]) -> str:
    """The settings whose value Figure 2 shows; neighbouring C of one panel and verdict in a row."""
    rows: list[list[object]] = []
    placed = [{**setting, "panel": panel_of(setting["exact"])} for setting in settings]
    keys = ("set", "uncorrelated", "sigma", "panel", "lam")
    for (name, u, sigma, _, lam), own in by_setting(placed, *keys):
        for word, run in groupby(own, key=lambda s: judge_bounds(s["apart"])):
            alike = list(run)
            apart = np.array([s["apart"] for s in alike])
            rows.append(
                [
                    f"{name}, {FORMS[u]}",
                    f"{sigma:g}",
                    f"{lam:g}",
                    span([s["C"] for s in alike]) + ("" if len(alike) == 1 else f" ({len(alike)})"),
                    span([s["exact"] for s in alike], 5),
                    *(span(list(column)) for column in apart.T),
                    word,
                ]
            )
    head = ["", "sigma", "lambda", "C (how many)", "exact value"]
    return make_table([*head, *(f"round {i}" for i in (*ROUNDS, LATE)), "bounds"], rows)


def span(values: list[float], digits: int = 3) -> str:
    """ "3" or "3 to 19"."""
    ends = [f"{rounded(value, digits):g}" for value in (min(values), max(values))]
    return " to ".join(dict.fromkeys(ends))


def grid(settings: list[Record]) -> str:
    """lambda by C: the distance at the first and the eighth round."""
    table = {(s["lam"], s["C"]): s for s in settings if s["C"] in IN_TABLE}
    Cs = sorted({C for _, C in table})
    rows = []
    for lam in LAMBDAS:
        cells = [format_distance(table[lam, C]) if (lam, C) in table else "-" for C in Cs]
        rows.append([f"{lam:g}", *cells])
    return make_table(["lambda", *(f"C = {C:g}" for C in Cs)], rows)


def format_distance(setting: Record) -> str:
    """ "1.9 to 0.07 *": the distances, and a star where Figure 2 shows such values."""
    first, eighth = (setting["apart"][ROUNDS.index(i)] for i in (1, 8))
    star = " \\*" if in_shown_range(setting["exact"]) else ""
    return f"{first:.2g} to {eighth:.2g}{star}"
