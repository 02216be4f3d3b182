"""What a report says of a model, as plain values that fit into JSON.

Gathered while the table is at hand, and kept in the model: a report can then be written from the
model alone. No row of the table is kept, only row numbers, labels, features and summaries of
columns.
"""

import platform
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from kernel_learn._version import __version__
from kernel_learn.arrays import Array, Rows
from kernel_learn.inspection.convergence import LINES, relative_gaps, track
from kernel_learn.inspection.drawing import shorten
from kernel_learn.inspection.members import member_name
from kernel_learn.inspection.reading import (
    RELEVANCES,
    Relevance,
    read_relevance,
    seek_fitted,
    some_rows,
)
from kernel_learn.report.placing import (
    MOST_POINTS,
    Facts,
    is_collapsed,
    place_by_probability,
    place_new_rows,
    place_rows,
)
from kernel_learn.rows.access import take_rows
from kernel_learn.tables.comparing import (
    FLOOR,
    balanced_accuracy,
    held_out_probabilities,
    is_uneven,
)
from kernel_learn.tables.model import TableModel

SURPRISING, NEIGHBOURS = 10, 5
MOST_BARS, MOST_KERNELS, MOST_COLUMNS = 15, 40, 60
MOST_SIMILAR = 20_000  # training rows among which neighbours are looked for
PERMUTATIONS = 200
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "skrub", "pyarrow")


def gather_facts(
    model: TableModel,
    frame: Rows,
    y: Array | None,
    *,
    method: str,
    groups: Array | None = None,
    seed: int = 0,
    command: str = "",
    files: Sequence[str] = (),
    notes: Sequence[str] = (),
    proba: Array | None = None,  # of these rows, held out, if somebody knows
) -> Facts:
    """Everything that can be said of a fitted model and its training rows."""
    rows = model.encode(frame)
    facts: Facts = {
        "method": method,
        "target": model.target,
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": command,
        "files": list(files),
        "seed": seed,
        "versions": versions(),
        "n_rows": len(frame),
        "n_columns": len(model.columns_.used),
        "all_columns": len(frame.columns),
        "data": describe_columns(frame, model),
        "warnings": [*model.columns_.warnings, *notes],
        "plan": plan_of(model),
    }
    facts["importance"] = find_importance(model)
    facts["certificate"] = find_certificate(model)
    facts["embedding"] = place_rows(model, rows, y)
    if y is not None and hasattr(model, "classes_"):
        P, kind = held_out(model, frame, y, groups, seed, proba)
        facts["classes"] = [str(label) for label in model.classes_]
        facts["counts"] = np.bincount(model.labels_, minlength=len(model.classes_)).tolist()
        facts["held_out"] = evaluate_probabilities(P, model.labels_, kind, groups)
        facts["held_out"]["p_value"] = p_value(model, rows, y, groups)
        facts["surprising"] = find_surprising(model, rows, P)
        if is_collapsed(facts["embedding"]) and not is_certain(P):
            facts["embedding"] = place_by_probability(P, model.labels_, facts["classes"])
    return facts


def held_out(
    model: TableModel,
    frame: Rows,
    y: Array,
    groups: Array | None,
    seed: int,
    proba: Array | None = None,
) -> tuple[Array, str]:
    """Probabilities of training rows by fits that have not seen them, and how they came about."""
    proba = getattr(model.estimator_, "loo_proba_", None) if proba is None else proba
    if proba is not None:
        return proba, "leave-one-out" if groups is None else "leave-one-group-out"
    P = np.zeros((len(frame), len(model.classes_)))
    for test, part in held_out_probabilities(model, frame, y, model.columns_, groups, seed):
        P[test] = part
    return P, "cross-validation"


def evaluate_probabilities(
    P: Array, labels: Array, kind: str, groups: Array | None = None
) -> Facts:
    """Error, log loss, confusion and calibration of probabilities against labels."""
    n, k = P.shape
    said = P.argmax(axis=1)
    right = said == labels
    counts = np.bincount(labels, minlength=k)
    share = counts / n
    losses = -np.log(np.maximum(P[np.arange(n), labels], FLOOR))
    independent = n if groups is None else effective_number(right, groups)
    low, high = wilson(float(right.mean()), independent)
    reach = 1.96 * float(losses.std(ddof=1)) / np.sqrt(independent) if n > 1 else 0.0
    confusion = np.zeros((k, k), dtype=int)
    np.add.at(confusion, (labels, said), 1)
    certain = is_certain(P)
    return {
        "kind": kind,
        "n": n,
        "right": int(right.sum()),
        "accuracy": float(right.mean()),
        "low": low,
        "high": high,
        "log_loss": None if certain else float(losses.mean()),
        "log_loss_low": float(max(losses.mean() - reach, 0.0)),
        "log_loss_high": float(losses.mean() + reach),
        "balanced_accuracy": balanced_accuracy(right, labels),
        "uneven": is_uneven(counts),
        "naive_class": int(counts.argmax()),
        "naive_accuracy": float(share.max()),
        "naive_log_loss": float(-np.sum(share[share > 0] * np.log(share[share > 0]))),
        "confusion": confusion.tolist(),
        "calibration": [] if certain else calibration(P, right),
    }


def is_certain(P: Array) -> bool:
    """Whether these are predictions without probabilities."""
    return bool(np.all((P == 0) | (P == 1)))


def effective_number(right: Array, groups: Array) -> float:
    """So many independent rows would know the accuracy as well as these groups do."""
    sizes = np.unique(groups, return_inverse=True)[1]
    sums = np.bincount(sizes, right - right.mean())
    variance = float(np.sum(sums**2)) / len(right) ** 2
    spread = float(right.mean() * (1 - right.mean()))
    return spread / variance if variance > 0 else float(len(np.unique(groups)))


def wilson(share: float, n: float, z: float = 1.96) -> tuple[float, float]:
    """The interval of shares under which this one is not surprising; never beyond 0 and 1."""
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, float(middle - reach)), min(1.0, float(middle + reach))


def calibration(P: Array, right: Array, most: int = 8, least: int = 15) -> list[dict[str, float]]:
    """Rows in bins of equal size by stated probability: what was said, how often it was right."""
    said = P.max(axis=1)
    order = np.argsort(said, kind="stable")
    bins = np.array_split(order, max(1, min(most, len(order) // least)))
    found = []
    for rows in bins:
        share = float(right[rows].mean())
        low, high = wilson(share, len(rows))
        figures = {"said": float(said[rows].mean()), "right": share, "low": low, "high": high}
        found.append(figures | {"count": len(rows)})
    return found


def has_one_label(groups: Array, y: Array) -> bool:
    """Whether all rows of each group have the same label."""
    pairs = set(zip(np.asarray(groups).tolist(), np.asarray(y).tolist(), strict=True))
    return len(pairs) == len({group for group, _ in pairs})


def p_value(model: TableModel, rows: Rows, y: Array, groups: Array | None) -> float | None:
    """The share of shuffled labels that are predicted as well; None where that says nothing.

    Labels of groups are shuffled among them, which needs one label in each.
    """
    can_shuffle = hasattr(model.estimator_, "permutation_p_value")
    if groups is not None and not (can_shuffle and has_one_label(groups, y)):
        return None
    if can_shuffle:
        return float(model.estimator_.permutation_p_value(PERMUTATIONS))
    from kernel_learn.metrics import hsic_test

    some = some_rows(y, 1000)
    seen = take_rows(rows, some)
    return float(hsic_test(seen, y[some], n_permutations=PERMUTATIONS, random_state=0).p_value)


def find_surprising(model: TableModel, rows: Rows, P: Array) -> list[Facts]:
    """The rows whose own class the model thought least likely, and the rows most like them."""
    own = P[np.arange(len(P)), model.labels_]
    certain = is_certain(P)
    worst = np.argsort(own, kind="stable")[:SURPRISING]
    if certain:  # no probabilities: all errors are equally surprising
        worst = worst[own[worst] == 0]
    if not len(worst):
        return []
    near = find_neighbours(model, rows, worst)
    return [
        {
            "row": int(row),
            "truth": int(model.labels_[row]),
            "said": int(P[row].argmax()),
            "p_truth": None if certain else float(own[row]),
            "neighbours": [
                {"row": int(j), "label": int(model.labels_[j]), "alike": float(a)}
                for j, a in (() if near is None else zip(near[0][i], near[1][i], strict=True))
            ],
        }
        for i, row in enumerate(worst)
    ]


def find_neighbours(model: TableModel, rows: Rows, chosen: Array) -> tuple[Array, Array] | None:
    """The training rows most alike in the learned kernel, k(x, z) / sqrt(k(x, x) k(z, z))."""
    found = seek_fitted(model.estimator_, "kernel_")
    if found is None:
        return None
    kernel, seen = found.step.kernel_, found.see_checked(rows)
    pool = some_rows(model.labels_, MOST_SIMILAR)
    X, X_ref = take_rows(seen, chosen), take_rows(seen, pool)
    K = np.asarray(kernel(X, X_ref))
    own, others = np.asarray(kernel.diag(X)), np.asarray(kernel.diag(X_ref))
    alike = K / np.sqrt(np.maximum(np.outer(own, others), 1e-300))
    alike[chosen[:, None] == pool] = -np.inf
    order = np.argsort(-alike, axis=1, kind="stable")[:, : min(NEIGHBOURS, len(pool) - 1)]
    return pool[order], np.take_along_axis(alike, order, axis=1)


def find_relevance(model: TableModel) -> Relevance | None:
    """Of the columns, if the estimator knows it."""
    found = seek_fitted(model.estimator_, *RELEVANCES)
    return None if found is None else read_relevance(found)


def find_importance(model: TableModel) -> Facts:
    """Relevance of columns, members, kernel weights: as far as the estimator has them."""
    found: Facts = {}
    relevance = find_relevance(model)
    if relevance is not None:
        values, spread = relevance.values, relevance.spread
        found["relevance"] = [
            {
                "name": relevance.names[i],
                "value": float(values[i]),
                "spread": None if spread is None else float(spread[i]),
            }
            for i in relevance.order[:MOST_BARS]
        ]
        found["n_relevance"] = len(values)
    members = getattr(model.estimator_, "members_", None)
    if members:
        found["members"] = [
            {
                "name": member_name(member),
                "value": float(member.weight),
                "error": float(member.error),
                "log_loss": float(member.loss),
                "reg": float(member.reg),
            }
            for member in members
        ]
    bank = seek_fitted(model.estimator_, "kernel_weights_")
    if bank is not None:
        pairs = zip(bank.step.kernel_names_, bank.step.kernel_weights_, strict=True)
        weights = [{"name": str(name), "value": float(weight)} for name, weight in pairs]
        found["weights"] = weights[:MOST_KERNELS]
    return found


def find_certificate(model: TableModel) -> Facts | None:
    """Bounds and gap of a solver that proves its answer; steps of one that does not."""
    found = seek_fitted(model.estimator_, "history_")
    if found is None or not found.step.history_:
        return None
    step, history = found.step, found.step.history_
    lines = {look["label"]: none_where_unknown(track(history, key)) for key, look in LINES.items()}
    gaps = none_where_unknown(relative_gaps(history))
    ends = [getattr(step, name, None) for name in ("gap_", "objective_")]
    gap, objective = none_where_unknown(np.array(ends, dtype=float))  # nan in place of None
    return {
        "name": type(step).__name__,
        "steps": len(history),
        "lines": {k: v for k, v in lines.items() if any(x is not None for x in v)},
        "gaps": gaps if any(gap is not None for gap in gaps) else [],
        "gap": gap,
        "objective": objective,
    }


def none_where_unknown(values: Array) -> list[float | None]:
    """Values for JSON, which knows no nan."""
    return [float(value) if np.isfinite(value) else None for value in values]


def describe_columns(frame: Rows, model: TableModel) -> list[Facts]:
    """One line for each column that is shown: kind, holes, values."""
    left_out = dict.fromkeys(model.columns_.ids, "identifier, left out")
    left_out |= dict.fromkeys(model.columns_.constants, "constant, left out")
    left_out |= dict.fromkeys(model.columns_.dropped, "left out on request")
    found = []
    for name in columns_to_show(list(frame.columns), left_out, model):
        column = frame[name]
        kind = model.columns_.kinds.get(name, left_out.get(name, ""))
        found.append(
            {
                "name": name,
                "kind": kind,
                "missing": float(column.isna().mean()),
                "distinct": int(column.nunique()),
                "values": values_of(column, kind),
                "warning": "predicts the target alone" if name in model.columns_.leaks else "",
            }
        )
    return found


def columns_to_show(names: list[str], left_out: Facts, model: TableModel) -> list[str]:
    """In the order of the table: all, or those left out, those suspicious, those relevant."""
    if len(names) <= MOST_COLUMNS:
        return names
    first = [*left_out, *model.columns_.leaks][: MOST_COLUMNS // 2]
    found = find_relevance(model)
    relevant = [] if found is None else [found.names[i] for i in found.order]
    shown = set(list(dict.fromkeys([*first, *relevant, *names]))[:MOST_COLUMNS])
    return [name for name in names if name in shown]


def values_of(column: Rows, kind: str) -> str:
    """The range of numbers and dates, the most frequent levels; nothing of text and ids."""
    filled = column.dropna()
    if not len(filled):
        return ""
    if kind == "number":
        low, middle, high = np.quantile(filled.to_numpy(dtype=float), [0, 0.5, 1])
        return f"{low:.4g} to {high:.4g}, median {middle:.4g}"
    if kind == "date":
        return f"{filled.min()!s:.10} to {filled.max()!s:.10}"
    if kind == "category":
        counts = filled.astype(str).value_counts().head(3)
        return ", ".join(f"{shorten(level, 24)} ({count})" for level, count in counts.items())
    return ""


def plan_of(model: TableModel) -> str:
    """What was carried out, in the plan's words."""
    found = seek_fitted(model.estimator_, "plan_")
    return "" if found is None else str(found.step.plan_)


def versions() -> dict[str, str]:
    """Of what the model was made with."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"kernel-learn": __version__, "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def judge_new_rows(model: TableModel, facts: Facts, frame: Rows, y: Array) -> Facts:
    """The facts with accuracy and log loss of rows that the model has never seen."""
    known = {str(label): i for i, label in enumerate(model.classes_)}
    labels = np.array([known.get(str(label), -1) for label in y])
    inside = labels >= 0
    frame, labels = frame.loc[inside], labels[inside]
    seen = model.has_seen(frame)
    if seen.all():
        note = "The rows given as new are those the model was fitted to: they cannot test it."
        return {**facts, "warnings": [*facts["warnings"], note]}
    frame, labels = frame.loc[~seen], labels[~seen]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            P = model.predict_proba(frame)
        except AttributeError:
            said = np.searchsorted(model.classes_, model.predict(frame))
            P = np.eye(len(model.classes_))[said]
    new = evaluate_probabilities(P, labels, "new rows")
    new["unknown"], new["seen"] = int(np.sum(~inside)), int(np.sum(seen))
    old = facts.get("embedding")
    if old:
        some = some_rows(labels, MOST_POINTS // 2)
        new["points"] = place_new_rows(model, old, frame.iloc[some], P[some], labels[some], some)
    return {**facts, "new_rows": new}
