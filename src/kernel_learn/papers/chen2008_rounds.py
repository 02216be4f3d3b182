"""Chen et al. (2008), Figure 3 on the paper's own grid: test error by rounds of the alternation.

One cell is one set, one form, one C and one partition; its record has, for every absolute lambda,
the test error of each round and of the exact solution.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from kernel_learn.arrays import Array
from kernel_learn.datasets import DataSets
from kernel_learn.estimators.subspace_svc import SubspaceSVC
from kernel_learn.papers.chen2008 import load_half
from kernel_learn.papers.chen2008_alternation import FORMS, LAMBDAS
from kernel_learn.papers.chen2008_figures import PER_CLASS, SETS, follow_rounds
from kernel_learn.papers.difference import judge_share
from kernel_learn.papers.protocol import Cell, Protocol, Record, fill_page, make_table
from kernel_learn.papers.settings import frozen
from kernel_learn.solvers.joint import solve_exact

NAME = "chen2008-rounds"
SIGMA = 1.0
CS = (3.0, 9.0, 19.0, 50.0, 100.0)  # beyond, alternations take minutes
PARTITIONS = 3
ROUNDS = 8
SHOWN = (1, 2, 3, 4, 8)
NEAR = 2.0  # points from the least error of the grid


def rounds() -> Protocol:
    """Two sets, two forms, five C, three partitions."""
    cells = [
        Cell(
            f"{name}/{form}/{C:g}/{partition}",
            {"data": name, "uncorrelated": u, "C": C, "partition": partition},
        )
        for partition in range(PARTITIONS)
        for name in SETS[3]
        for u, form in FORMS.items()
        for C in CS
    ]
    return Protocol(
        NAME,
        "Chen et al. (2008), Figure 3 on the paper's grid",
        cells,
        run_cell,
        render,
        check="segment/SVM_joint/3/0",
        claims=claim_errors,
        reduced=lambda cell: cell.settings["partition"] == 0 and cell.settings["C"] < 20,
    )


def run_cell(data: DataSets, cell: Cell) -> Record:
    """Test errors of the rounds and of the exact solution at every lambda."""
    X, X_test, y, y_test = load_half(
        data, cell.settings["data"], cell.settings["partition"], PER_CLASS
    )
    K, K_test = (np.exp(-euclidean_distances(A, X, squared=True) / SIGMA) for A in (X, X_test))
    classes, C = np.unique(y), cell.settings["C"]
    model = frozen(SubspaceSVC, "precomputed", uncorrelated=cell.settings["uncorrelated"])
    rows = model._prepare(model._rows(K, y))

    def error(scores: Array) -> float:
        return 100 * float(np.mean(classes[scores.argmax(axis=1)] != y_test))

    found = []
    for lam in LAMBDAS:
        errors = [error(s) for _, _, s in islice(follow_rounds(rows, lam, C, K_test), ROUNDS)]
        problem, coordinates = rows.problem(lam, C)
        exact = solve_exact(problem, tol=1e-6)
        learned = rows.sample.expand(coordinates.lift(exact.directions @ exact.coef.T))
        scores = K_test @ learned.coef - learned.offset + exact.machines.intercept
        found.append({"lam": lam, "by_round": errors, "exact": error(scores)})
    return {"found": found}


def mean_errors(records: list[Record]) -> tuple[Array, Array]:
    """Errors of the rounds (C, lambda, round) and of the exact solution, means of partitions."""
    by_C = [[record for record in records if record["C"] == C] for C in CS]
    by_C = [found for found in by_C if found]
    errors, exact = (
        [np.mean([[one[key] for one in r["found"]] for r in own], axis=0) for own in by_C]
        for key in ("by_round", "exact")
    )
    return np.array(errors), np.array(exact)


def render(records: Iterable[Record]) -> str:
    """The page: where the error falls, and what the best setting of each round reaches."""
    records = list(records)
    counts, least = [], []
    for name, form, own in by_form(records):
        E, exact = mean_errors(own)
        near = E.min(axis=2) <= E.min() + NEAR
        for which, chosen in (("all", np.ones_like(near)), (f"within {NEAR:g} points", near)):
            counts.append([name, form, which, int(chosen.sum()), *count_best_rounds(E[chosen])])
        best = [f"{E[:, :, r - 1].min():.1f}" for r in SHOWN]
        least.append([name, form, *best, f"{exact.min():.1f}"])
    falls = count_falls(records)
    return fill_page(
        NAME,
        partitions=len({record["partition"] for record in records}),
        per_class=PER_CLASS,
        large=" of ".join(map(str, falls[True])),
        small=" of ".join(map(str, falls[False])),
        counts=make_table(
            [
                "set",
                "form",
                "settings",
                "number",
                "least in round 1",
                "least in round 2 to 4",
                "least later",
                "round 4 below round 1",
            ],
            counts,
        ),
        least=make_table(["set", "form", *(f"round {r}" for r in SHOWN), "exact"], least),
    )


def by_form(records: list[Record]) -> Iterator[tuple[str, str, list[Record]]]:
    """(set, form, its records) of all that were run."""
    for name in SETS[3]:
        for u, form in FORMS.items():
            own = [r for r in records if r["data"] == name and r["uncorrelated"] == u]
            if own:
                yield name, form, own


def count_falls(records: list[Record]) -> dict[bool, list[int]]:
    """lambda >= C or not: settings with fewer errors in round 2, 3 or 4 than in 1; all of them."""
    falls = {True: [0, 0], False: [0, 0]}
    for _, _, own in by_form(records):
        E, _ = mean_errors(own)
        lams = np.array([one["lam"] for one in own[0]["found"]])
        is_large = lams >= np.array(sorted({record["C"] for record in own}))[:, None]
        below = E[:, :, 1:4].min(axis=2) < E[:, :, 0]
        for large, found in falls.items():
            found[0] += int(np.sum(below & (is_large == large)))
            found[1] += int(np.sum(is_large == large))
    return falls


def claim_errors(records: Iterable[Record]) -> list[list[str]]:
    """What the paper says of Figure 3: in how many settings an early round is better."""
    falls = count_falls(list(records))
    large, small = (" of ".join(map(str, falls[key])) for key in (True, False))
    here = (
        f"round 2, 3 or 4 has fewer errors than the first in {large} settings with lambda >= C, "
        f"in {small} with lambda < C"
    )
    fewer, total = (sum(found[i] for found in falls.values()) for i in (0, 1))
    claim = "errors fall, and are least after 3 or 4 rounds"
    return [[claim, "3", here, judge_share(fewer, total)]]


def count_best_rounds(errors: Array) -> list[int]:
    """Of some settings: how many have their least error in which round, the first of equals."""
    best = errors.argmin(axis=1) + 1
    falls = errors[:, 3] < errors[:, 0]
    return [
        int(np.sum(best == 1)),
        int(np.sum((best > 1) & (best <= 4))),
        int(np.sum(best > 4)),
        int(np.sum(falls)),
    ]
