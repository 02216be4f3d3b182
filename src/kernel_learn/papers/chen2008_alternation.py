"""Chen et al. (2008), Figure 2 on the paper's own grid: where the alternation's bounds meet.

One cell is one form (SVM_joint or uSVM_joint), one width and one C on wine; its record has, for
every absolute lambda, the exact value and the bounds of chosen rounds.
"""

from collections.abc import Iterable
from itertools import islice

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from kernel_learn.arrays import Array
from kernel_learn.datasets import DataSets
from kernel_learn.estimators.subspace_svc import SubspaceSVC
from kernel_learn.papers.chen2008 import load_half
from kernel_learn.papers.protocol import Cell, Protocol, Record, fill_page, make_table
from kernel_learn.papers.settings import frozen
from kernel_learn.solvers.joint import alternate, label_directions, solve_exact

NAME = "chen2008-alternation"
FORMS = {False: "SVM_joint", True: "uSVM_joint"}
WIDTHS = (0.5, 1.0)  # sigma of exp(-|x - y|^2 / sigma), from section 6.1
CS = (3.0, 9.0, 19.0, 50.0, 100.0, 500.0, 1000.0)  # from the paper's 43 values, 3 to 1000
LAMBDAS = tuple(10.0**i for i in range(-5, 6))
ROUNDS = (1, 3, 8, 25)
# Axes of the four panels of Figure 2; which is whose is not certain.
SHOWN = ((596.0, 600.0), (540.0, 600.0), (260.0, 285.0), (138.0, 148.0))
CLOSE = 1.0  # per cent of the exact value


def alternation() -> Protocol:
    """Two forms, two widths, seven C."""
    cells = [
        Cell(f"wine/{form}/{sigma:g}/{C:g}", {"uncorrelated": u, "sigma": sigma, "C": C})
        for sigma in reversed(WIDTHS)
        for u, form in FORMS.items()
        for C in CS
    ]
    return Protocol(
        NAME,
        "Chen et al. (2008), Figure 2 on the paper's grid",
        cells,
        run_cell,
        render,
        check="wine/SVM_joint/1/3",
        reduced=lambda cell: cell.settings["sigma"] == 1.0,
    )


def run_cell(data: DataSets, cell: Cell) -> Record:
    """Exact values and bounds at every lambda, on the first half of wine."""
    X, _, y, _ = load_half(data, "wine", 0)
    K = np.exp(-euclidean_distances(X, squared=True) / cell.settings["sigma"])
    model = frozen(SubspaceSVC, "precomputed", uncorrelated=cell.settings["uncorrelated"])
    rows = model._prepare(model._rows(K, y))
    found, C = [], cell.settings["C"]
    for lam in LAMBDAS:
        problem, _ = rows.problem(lam, C)
        start = label_directions(problem.F, rows.label_factor)[:, : problem.n_components]
        bounds = [
            [lower, float(machines.primal.sum())]
            for _, machines, lower in islice(alternate(problem, start, 1e-4), max(ROUNDS))
        ]
        exact = solve_exact(problem, tol=1e-6).upper
        kept = [bounds[i - 1] for i in ROUNDS]
        found.append({"C": C, "lam": lam, "exact": exact, "bounds": kept})
    return {"found": found}


def distances(setting: Record) -> Array:
    """Upper minus lower bound at each of ``ROUNDS``, in per cent of the exact value."""
    lower, upper = np.array(setting["bounds"]).T
    return np.asarray(100 * (upper - lower) / setting["exact"])


def in_shown_range(setting: Record) -> bool:
    """Whether the exact value lies on an axis of Figure 2."""
    return any(low <= setting["exact"] <= high for low, high in SHOWN)


def render(records: Iterable[Record]) -> str:
    """The page: counts over the grid, and the table of the widest kernel."""
    records = list(records)
    counts, tables = [], []
    for u, form in FORMS.items():
        own = [record for record in records if record["uncorrelated"] == u]
        settings = [setting for record in own for setting in record["found"]]
        if not settings:
            continue
        counts += [count_row(form, "all", settings)]
        shown = [setting for setting in settings if in_shown_range(setting)]
        counts += [count_row(form, "values of Figure 2", shown)] if shown else []
        widest = [s for r in own if r["sigma"] == max(WIDTHS) for s in r["found"]]
        tables += [f"### {form}, sigma = {max(WIDTHS):g}", "", grid(widest), ""]
    head = ["", "settings", "number", *(f"within {CLOSE:g} % at {r}" for r in ROUNDS)]
    head += ["nearer at 8 than at 1", "exact values"]
    return fill_page(NAME, counts=make_table(head, counts), tables="\n".join(tables))


def count_row(form: str, which: str, settings: list[Record]) -> list[object]:
    """How many of some settings have bounds that are close."""
    D = np.array([distances(setting) for setting in settings])
    values = [setting["exact"] for setting in settings]
    near = [int(n) for n in np.sum(D <= CLOSE, axis=0)]
    approaching = int(np.sum(D[:, ROUNDS.index(8)] < D[:, 0]))
    span = f"{min(values):.3g} to {max(values):.3g}"
    return [form, which, len(settings), *near, approaching, span]


def grid(settings: list[Record]) -> str:
    """lambda by C: the distance at the first and the eighth round."""
    table = {(s["lam"], s["C"]): s for s in settings}
    rows = []
    for lam in LAMBDAS:
        cells = [format_distance(table[lam, C]) if (lam, C) in table else "-" for C in CS]
        rows.append([f"{lam:g}", *cells])
    return make_table(["lambda", *(f"C = {C:g}" for C in CS)], rows)


def format_distance(setting: Record) -> str:
    """ "1.9 to 0.07 *": the distances, and a star where Figure 2 shows such values."""
    D = distances(setting)
    star = " \\*" if in_shown_range(setting) else ""
    return f"{D[0]:.2g} to {D[ROUNDS.index(8)]:.2g}{star}"
