"""Chen et al. (2008), Figures 1 to 3: dimensions of the subspace, rounds of the alternation.

    python -m kernel_learn.papers.chen2008_figures results/chen2008-figures.jsonl FOLDER

draws the pictures of a run.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.joint_rows import JointRows
from kernel_learn.datasets import DataSets
from kernel_learn.estimators.hsic import HSICSubspace
from kernel_learn.estimators.subspace_svc import SubspaceSVC
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.papers.chen2008 import CLAIMED, METHODS, Half, best_width, features_error, skfe
from kernel_learn.papers.difference import judge_share, tell_counts, verdict, verdict_words
from kernel_learn.papers.protocol import Cell, Protocol, Record, fill_page, make_table, read_records
from kernel_learn.papers.settings import frozen
from kernel_learn.solvers.joint import alternate, label_directions, solve_exact

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "chen2008-figures"
PER_CLASS = 100
PARTITIONS = {1: 20, 2: 10, 3: 10}
SETS = {1: ("satimage", "usps"), 2: ("wine", "satimage"), 3: ("segment", "satimage")}
FIGURE_C = 10.0
FIGURE_REG = 1e-2
DIMENSIONS = range(1, 16)
FURTHER = ("SKFE", "SVM_joint", "uSVM_joint")  # HSIC has no more than k - 1 features
ROUNDS = 10
CLASSES = {"satimage": 6, "usps": 10}
NEAR = 25.0  # per cent: what the lower panels of Figure 1 show


def figures() -> Protocol:
    """Figures 1 to 3, partitions first: any stop leaves all of them."""
    cells = []
    for partition in range(max(PARTITIONS.values())):
        for figure, kind in ((2, "bounds"), (3, "rounds")):
            cells += [
                Cell(
                    f"{kind}/{name}/{u}/{partition}",
                    {"figure": figure, "data": name, "uncorrelated": u, "partition": partition},
                )
                for name in SETS[figure]
                for u in (False, True)
                if partition < PARTITIONS[figure]
            ]
        cells += [
            Cell(
                f"dimension/{name}/{method}/{partition}",
                {"figure": 1, "data": name, "method": method, "partition": partition},
            )
            for name in SETS[1]
            for method in METHODS[1:]
        ]
    return Protocol(
        NAME,
        "Chen et al. (2008), Figures 1 to 3",
        cells,
        run_figure_cell,
        render_figures,
        check="bounds/wine/True/0",
        reduced=is_quick_figure,
        claims=claim_features,
    )


def is_quick_figure(cell: Cell) -> bool:
    """One partition; Figure 1 on satimage."""
    first = cell.settings["partition"] == 0
    return first and (cell.settings["figure"] > 1 or cell.settings["data"] == "satimage")


def run_figure_cell(data: DataSets, cell: Cell) -> Record:
    """Errors by the number of features, or the rounds of the alternation."""
    half = Half(data, cell.settings["data"], cell.settings["partition"], PER_CLASS)
    width = best_width(half)
    if cell.settings["figure"] == 1:
        return {"errors": run_dimensions(half, width, cell.settings["method"])}
    return run_alternation(half, width, cell.settings["uncorrelated"])


def run_dimensions(half: Half, width: int, method: str) -> list[float]:
    """Test errors for 1 to 15 features at fixed C and reg; constant where a method has no more."""
    errors: list[float] = []
    uncorrelated = method.startswith("u")
    if method.endswith("joint"):
        rows = joint_rows(half, width, uncorrelated)[1]
    for l in DIMENSIONS:  # noqa: E741
        most = half.n_classes - 1 if method.endswith("HSIC") else half.n_classes
        if method != "SKFE" and l > most:
            errors.append(errors[-1])
        elif method.endswith("joint"):
            errors.append(features_error(half, width, joint_features(rows, l), FIGURE_C))
        else:
            options = {"uncorrelated": uncorrelated, "reg": FIGURE_REG}
            hsic = frozen(HSICSubspace, "precomputed", n_components=l, **options)
            model = skfe(l) if method == "SKFE" else hsic
            model.fit(half.K[width], half.y_train)
            errors.append(features_error(half, width, model, FIGURE_C))
    return errors


def joint_rows(half: Half, width: int, uncorrelated: bool) -> tuple[SubspaceSVC, JointRows]:
    """The joint method, not fitted, and the training rows as it sees them."""
    model = frozen(
        SubspaceSVC, "precomputed", uncorrelated=uncorrelated, C=FIGURE_C, reg=FIGURE_REG
    )
    return model, model._prepare(model._rows(half.K[width], half.y_train))


def joint_features(rows: JointRows, l: int) -> SubspaceKernel:  # noqa: E741
    """The subspace of l features alone: a fit would also hold rows out for its probabilities."""
    rows = replace(rows, n_components=l)
    problem, coordinates = rows.problem(rows.lam(FIGURE_REG), FIGURE_C)
    solution = solve_exact(problem, tol=1e-2, max_iter=500, L=rows.label_factor)
    return rows.sample.expand(coordinates.lift(solution.directions))


def run_alternation(half: Half, width: int, uncorrelated: bool) -> Record:
    """Bounds and test errors of each round of the alternation, and of the exact solution."""
    K, y = half.K[width], half.y_train
    classes = np.unique(y)
    exact, rows = joint_rows(half, width, uncorrelated)
    lower, upper, errors = [], [], []
    rounds = follow_rounds(rows, rows.lam(FIGURE_REG), FIGURE_C, half.K_test[width])
    for bound, value, scores in islice(rounds, ROUNDS):
        lower.append(bound)
        upper.append(value)
        errors.append(half.error(classes[scores.argmax(axis=1)]))
    exact.fit(K, y)
    return {
        "lower": lower,
        "upper": upper,
        "errors": errors,
        "exact_lower": exact.lower_bound_,
        "exact_upper": exact.upper_bound_,
        "exact_error": half.error(exact.predict(half.K_test[width])),
    }


def follow_rounds(
    rows: JointRows, lam: float, C: float, K_test: Array
) -> Iterator[tuple[float, float, Array]]:
    """(lower bound, upper bound, scores of the test rows) of each round of the alternation."""
    problem, coordinates = rows.problem(lam, C)
    start = label_directions(problem.F, rows.label_factor)
    for E, machines, bound in alternate(problem, start[:, : problem.n_components], 1e-4):
        weights = E @ (E.T @ problem.normals(machines.alpha))
        learned = rows.sample.expand(coordinates.lift(weights))
        scores = K_test @ learned.coef - learned.offset + machines.intercept
        yield bound, float(machines.primal.sum()), scores


def select(records: Iterable[Record], **wanted: object) -> list[Record]:
    """The records with these settings."""
    return [r for r in records if all(r.get(key) == value for key, value in wanted.items())]


def render_figures(records: Iterable[Record]) -> str:
    """The page of Figures 1 to 3."""
    records = list(records)
    lines: list[str] = []
    for name in SETS[1]:
        found = {m: select(records, figure=1, data=name, method=m) for m in METHODS[1:]}
        found = {method: runs for method, runs in found.items() if runs}
        if not found:
            continue
        lines += [f"{name}, means over the first partitions:", ""]
        rows: list[list[object]] = [["partitions", *map(len, found.values())]]
        for i, l in enumerate(DIMENSIONS):  # noqa: E741
            means = (np.mean([r["errors"][i] for r in runs]) for runs in found.values())
            rows.append([l, *(f"{mean:.1f}" for mean in means)])
        lines += [make_table(["l", *found], rows), "", *_dimension_tests(name, found), ""]
    panels: dict[int, list[str]] = {2: [], 3: []}
    for figure, panel in panels.items():
        for name in SETS[figure]:
            for u in (False, True):
                panel += _alternation_lines(
                    select(records, figure=figure, data=name, uncorrelated=u)
                )
    return fill_page(
        NAME,
        per_class=PER_CLASS,
        C=f"{FIGURE_C:g}",
        reg=f"{FIGURE_REG:g}",
        dimensions="\n".join(lines),
        bounds="\n".join(panels[2]),
        rounds="\n".join(panels[3]),
        first_round=_first_round_tests(records),
        settled=_most_change(records),
        apart=_tell_bounds(select(records, figure=2)),
        **_tell_rounds(select(records, figure=3)),
    )


def claim_features(records: Iterable[Record]) -> list[list[str]]:
    """What the paper says of Figure 1, by tests of l = k - 1 features against 1 and against 15."""
    records, rows = list(records), []
    for claim, l, wanted in (  # noqa: E741
        ("errors fall up to l = k - 1 features", 1, "better"),
        ("and are least near it", DIMENSIONS[-1], "equivalent"),
    ):
        told = []
        for name, method in product(SETS[1], FURTHER):
            errors = [r["errors"] for r in select(records, figure=1, data=name, method=method)]
            ours, theirs = ([found[i - 1] for found in errors] for i in (CLASSES[name] - 1, l))
            told.append(verdict(ours, theirs, ratio=1.0))
        counts = verdict_words(told)
        here = f"l = k - 1 against l = {l}, {len(told)} methods and sets: {tell_counts(counts)}"
        rows.append([claim, "1", here, judge_share(counts[wanted], len(told))])
    return rows


def _dimension_tests(name: str, found: dict[str, list[Record]]) -> list[str]:
    """SVM_joint against the others at l = k - 1, where the paper has the least errors."""
    l = CLASSES[name] - 1  # noqa: E741
    at = {
        method: {run["partition"]: run["errors"][l - 1] for run in runs}
        for method, runs in found.items()
    }
    ours = at.pop("SVM_joint", {})
    if not ours or not at:
        return []
    cells = []
    for theirs in at.values():
        both = sorted(ours.keys() & theirs.keys())
        cells.append(verdict([ours[j] for j in both], [theirs[j] for j in both], ratio=1.0))
    head = [f"{name}, l = {l}: SVM_joint against", *at]
    return [make_table(head, [["corrected test", *cells]])]


def _first_round_tests(records: list[Record]) -> str:
    """The exact solution against the first round of the alternation, set by set."""
    rows = []
    for name in SETS[3]:
        cells = []
        for u in (False, True):
            runs = select(records, figure=3, data=name, uncorrelated=u)
            exact = [run["exact_error"] for run in runs]
            first = [run["errors"][0] for run in runs]
            difference = f"{np.mean(exact) - np.mean(first):+.2f}: " if runs else ""
            cells.append(difference + verdict(exact, first, ratio=1.0))
        rows.append([name, *cells])
    return make_table(["exact against the first round", "SVM_joint", "uSVM_joint"], rows)


def _groups(records: list[Record]) -> list[list[Record]]:
    """The records of each set and form (Figure 1: set and method)."""
    found: dict[tuple[object, object], list[Record]] = {}
    for record in records:
        form = record["method"] if record["figure"] == 1 else record["uncorrelated"]
        found.setdefault((record["data"], form), []).append(record)
    return list(found.values())


def _most_change(records: list[Record]) -> str:
    """By how much a mean of Figure 1 changes from l = k - 1 on."""
    spans = [
        np.ptp(np.mean([run["errors"] for run in runs], axis=0)[CLASSES[runs[0]["data"]] - 2 :])
        for runs in _groups(select(records, figure=1))
    ]
    return f"{max(spans, default=0.0):.1f}"


def _tell_bounds(records: list[Record]) -> str:
    """Where the bounds are after the last round."""
    groups = _groups(records)
    if not groups:
        return "not run"
    upper = [mean_rounds(runs, "upper")[-1] for runs in groups]
    lower = max(mean_rounds(runs, "lower").max() for runs in groups)
    where = "below zero throughout" if lower < 0 else f"at {lower:.2f} of it at the most"
    return (
        f"after ten rounds the upper one is at {min(upper):.1f} to {max(upper):.1f} times the "
        f"exact value, and the lower one is {where}"
    )


def _tell_rounds(records: list[Record]) -> dict[str, str]:
    """In which rounds the mean errors of Figure 3 are least, and how they swing."""
    groups = _groups(records)
    if not groups:
        return {"least_round": "no round", "swings": "not run"}
    means = np.array([mean_rounds(runs, "errors") for runs in groups])
    best = sorted({int(row.argmin()) + 1 for row in means})
    told = (
        f"in the second round errors are {means[:, 1].min():.0f} to {means[:, 1].max():.0f} %, "
        f"in the tenth {means[:, -1].min():.0f} to {means[:, -1].max():.0f} %"
    )
    return {"least_round": f"round {' or '.join(map(str, best))}", "swings": told}


def _alternation_lines(runs: list[Record]) -> list[str]:
    """Means over partitions per round; bounds in units of the exact value of their partition."""
    if not runs:
        return []
    form = "uSVM_joint" if runs[0]["uncorrelated"] else "SVM_joint"
    rows = []
    if runs[0]["figure"] == 3:
        exact = np.mean([r["exact_error"] for r in runs])
        rows.append(["error", *(f"{e:.2f}" for e in mean_rounds(runs, "errors")), f"{exact:.2f}"])
    else:
        for side in ("upper", "lower"):
            exact = np.mean([r[f"exact_{side}"] / r["exact_upper"] for r in runs])
            rows.append([side, *(f"{v:.3f}" for v in mean_rounds(runs, side)), f"{exact:.6f}"])
    title = f"{runs[0]['data']}, {form}, mean of {len(runs)} partitions:"
    return [title, "", make_table(["round", *map(str, range(1, ROUNDS + 1)), "exact"], rows), ""]


def mean_rounds(runs: list[Record], key: str) -> Array:
    """Means over partitions; an alternation that ended keeps its last value."""
    rows = []
    for run in runs:
        scale = 1.0 if key == "errors" else run["exact_upper"]
        values = [value / scale for value in run[key]]
        rows.append(values + values[-1:] * (ROUNDS - len(values)))
    return np.mean(rows, axis=0)


def draw_figures(records: Iterable[Record], folder: Path) -> list[Path]:
    """One picture for each figure, in the panels of the paper."""
    records = list(records)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for figure, paint in ((1, _draw_dimensions), (2, _draw_bounds), (3, _draw_rounds)):
        if select(records, figure=figure):
            file = folder / f"chen2008-figure{figure}.png"
            paint(select(records, figure=figure)).savefig(file, dpi=110)
            drawn.append(file)
    return drawn


def _panels(n_rows: int, n_columns: int) -> tuple["Figure", Array]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2 * n_rows), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def _legend(panels: Array) -> None:
    """In the first panel that shows something: a run may have done a part only."""
    for panel in panels.flat:
        if panel.get_legend_handles_labels()[0]:
            panel.legend(frameon=False)
            return


def _draw_dimensions(records: list[Record]) -> "Figure":
    """Above the whole range; below that of the paper's table, where methods lie side by side."""
    figure, panels = _panels(2, 2)
    for column, name in zip(panels.T, SETS[1], strict=True):
        for i, method in enumerate(METHODS[1:]):
            runs = select(records, data=name, method=method)
            if runs:
                errors = np.mean([run["errors"] for run in runs], axis=0)
                claimed = CLAIMED[name][i + 1]
                for panel in column:
                    panel.plot(DIMENSIONS, errors, marker="o", ms=3, color=f"C{i}", label=method)
                    panel.axhline(claimed, color=f"C{i}", lw=0.8, ls=":")
        k = CLASSES[name]
        for panel, top in zip(column, (None, NEAR), strict=True):
            panel.axvline(k - 1, color="0.7", lw=0.8, ls="--")
            panel.set(xlabel="number of features l", xlim=(0.5, 15.5), ylim=(0, top))
        column[0].set_title(f"{name}, {k} classes (dashed: l = {k - 1})")
    for panel in panels[:, 0]:
        panel.set_ylabel("test error, % (dotted: the paper's Table 2)")
    _legend(panels)
    return figure


def _draw_bounds(records: list[Record]) -> "Figure":
    figure, panels = _panels(2, 2)
    for row, name in zip(panels, SETS[2], strict=True):
        for panel, u in zip(row, (False, True), strict=True):
            runs = select(records, data=name, uncorrelated=u)
            for side in ("upper", "lower") if runs else ():
                rounds = np.arange(1, ROUNDS + 1)
                panel.plot(rounds, mean_rounds(runs, side), marker="o", ms=3, label=side)
            panel.axhline(1.0, color="0.5", lw=0.8, ls=":", label="exact")
            panel.set(title=f"{name}, {'uSVM_joint' if u else 'SVM_joint'}", xlabel="round")
            panel.set_yscale("symlog")
            panel.margins(y=0.1)
        row[0].set_ylabel("bound / exact value")
    _legend(panels)
    return figure


def _draw_rounds(records: list[Record]) -> "Figure":
    figure, panels = _panels(1, 2)
    for panel, name in zip(panels[0], SETS[3], strict=True):
        for i, u in enumerate((False, True)):
            runs = select(records, data=name, uncorrelated=u)
            if runs:
                form = "uSVM_joint" if u else "SVM_joint"
                errors = mean_rounds(runs, "errors")
                panel.plot(
                    range(1, ROUNDS + 1), errors, marker="o", ms=3, color=f"C{i}", label=form
                )
                exact = float(np.mean([run["exact_error"] for run in runs]))
                panel.axhline(exact, color=f"C{i}", lw=0.8, ls=":", label=f"{form}, exact")
        panel.set(title=name, xlabel="round", ylim=(0, None))
    panels[0, 0].set_ylabel("test error in per cent")
    _legend(panels)
    return figure


if __name__ == "__main__":
    draw_figures(read_records(Path(sys.argv[1])), Path(sys.argv[2]))
