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
from kernel_learn.ensemble.assessment import error_interval
from kernel_learn.ensemble.summary import NOT_ASSESSED, Headline, member_name
from kernel_learn.inspection.convergence import LINES, relative_gaps, track
from kernel_learn.inspection.reading import (
    RELEVANCES,
    Relevance,
    read_relevance,
    seek_fitted,
    some_rows,
)
from kernel_learn.report.coverage import (
    SHOWN_SET,
    find_unlike,
    held_out_coverage,
    held_out_sets,
    new_coverage,
)
from kernel_learn.report.held_out import HeldOutAnswers, is_assessed, own_answers
from kernel_learn.report.ledger import column_importances, row_values_of, rows_to_doubt, with_values
from kernel_learn.report.placing import (
    MOST_POINTS,
    Facts,
    is_collapsed,
    place_by_probability,
    place_new_rows,
    place_rows,
)
from kernel_learn.report.shares import effective_rows, wilson
from kernel_learn.report.values import (
    describe_rows,
    held_out_predictions,
    held_out_values,
    intervals_of,
    most_surprising,
    range_labels,
)
from kernel_learn.rows.access import n_rows, take_rows
from kernel_learn.rows.short_names import shorten
from kernel_learn.tables.comparing import (
    FLOOR,
    has_rare_classes,
    held_out_probabilities,
)
from kernel_learn.tables.deciding import (
    Wish,
    decide_between,
    decision_curve,
    decision_figures,
    positive_class,
    two_class_figures,
)
from kernel_learn.tables.model import TableModel

NO_WISH = Wish()
SURPRISING, NEIGHBOURS = 10, 5
MOST_VALUES, MOST_KERNELS, MOST_COLUMNS = 60, 40, 60
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
    assessed_by: str | None = None,  # and how it came about, if not as the estimator has it
    wish: Wish = NO_WISH,
    task: str = "classify",  # or regress
) -> Facts:
    """All facts of a report about a fitted model and its training rows."""
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
        "n_permutations": PERMUTATIONS,
    }
    facts["importance"] = find_importance(model)
    facts["importance"]["shapley"] = column_importances(model, rows)
    facts["certificate"] = find_certificate(model)
    is_number = y is not None and (model.is_regression or task == "regress")
    if y is not None and is_number:
        codes, names = range_labels(y)
        facts["embedding"] = place_rows(model, rows, codes)
        if facts["embedding"] is not None:
            facts["embedding"]["names"] = names
        if model.is_regression:
            facts["embedding"] = None  # one feature: predicted against true says more
            held = held_out_predictions(model, frame, y, groups, seed, proba, assessed_by)
            said, intervals = held.said, intervals_of(model, frame)
            worst = most_surprising(y, said, intervals)
            near = find_neighbours(model, rows, worst)
            facts["numbers"] = held_out_values(model, y, held, groups, intervals)
            facts["numbers"]["p_value"] = p_value(model, rows, y, groups)
            facts["look_at"] = with_values(
                describe_rows(y, said, intervals, worst, near), row_values_of(model, len(frame))
            )
        return facts
    facts["embedding"] = place_rows(model, rows, y)
    if y is not None and hasattr(model, "classes_"):
        held = held_out(model, frame, y, groups, seed, proba, assessed_by)
        P = held.said
        facts["classes"] = [str(label) for label in model.classes_]
        facts["counts"] = np.bincount(model.labels_, minlength=len(model.classes_)).tolist()
        facts["held_out"] = held_out_figures(model, held, groups)
        facts["decision"] = decision_figures(P, model.labels_, wish)
        said = P.argmax(axis=1)
        if wish.is_there and (decision := facts["decision"]) is not None:
            said = decide_between(P, decision["positive"], decision["threshold"])
            facts["held_out"] |= decided_figures(model, held, said, groups)
            facts["held_out"]["threshold"] = decision["threshold"]
        facts["held_out"]["p_value"] = p_value(model, rows, y, groups)
        facts["surprising"] = find_surprising(model, rows, P, said)
        if not is_certain(P):
            facts |= certainty_figures(model, rows, P, said, groups)
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
    assessed_by: str | None = None,
) -> HeldOutAnswers:
    """Probabilities of training rows by fits that have not seen them."""
    found = own_answers(model, groups, proba, assessed_by)
    if found is not None:
        return found
    P = np.zeros((len(frame), len(model.classes_)))
    for test, part in held_out_probabilities(model, frame, y, model.columns_, groups, seed):
        P[test] = part
    return HeldOutAnswers(P, assessed_by or "cross-validation")


def held_out_figures(model: TableModel, held: HeldOutAnswers, groups: Array | None) -> Facts:
    """Figures of held-out rows; those that the estimator gives itself in their place."""
    P, labels = held.said, model.labels_
    found = evaluate_probabilities(P, labels, held.words, groups, weight=held.weight)
    return found | {"assessed": held.assessed} | own_figures(model, P, found)


def certainty_figures(
    model: TableModel, rows: Rows, P: Array, said: Array, groups: Array | None
) -> Facts:
    """What thresholds and sets of classes do on held-out rows, and which rows are like none."""
    labels = model.labels_
    sets = held_out_sets(P, labels, groups, SHOWN_SET)
    return {
        "curve": curve_of(P, labels),
        "coverage": held_out_coverage(P, labels, groups),
        "unlike": find_unlike(model, rows, P, labels, sets, said),
    }


def decided_figures(
    model: TableModel, held: HeldOutAnswers, said: Array, groups: Array | None
) -> Facts:
    """What depends on the threshold that was asked for: errors, not probabilities."""
    P, labels, weight = held.said, model.labels_, held.weight
    found = evaluate_probabilities(P, labels, "", groups, said, weight)
    if own_figures(model, P, found):  # its fits share rows, which widens the interval
        n = independent_rows(said == labels, groups, weight)
        low, high = error_interval(found["error"], n)
        found |= {"low": 1 - high, "high": 1 - low, "error_interval": [low, high]}
    depends = ("right", "right_share", "error", "error_interval", "accuracy", "low", "high")
    return {key: found[key] for key in (*depends, "confusion", "balanced_accuracy", "recalls")}


def curve_of(P: Array, labels: Array, positive: int | None = None) -> list[list[float]] | None:
    """Recall, precision and false alarms of two classes at every threshold."""
    if P.shape[1] != 2:
        return None
    if positive is None:
        positive = positive_class(np.bincount(labels, minlength=2))
    return decision_curve(P[:, positive], labels == positive)


def own_figures(model: TableModel, P: Array, found: Facts) -> Facts:
    """The figures that the estimator gives itself, if it does and they are of these rows.

    ``found`` are those of all of the rows; where fewer were judged, intervals are wider.
    """
    headline: Headline | None = getattr(model.estimator_, "_headline", None)
    if headline is None or np.shape(P) != np.shape(model.estimator_.held_out_proba_):
        return {}
    (low, high), middle = headline.interval, headline.log_loss
    reach = found["log_loss_reach"] * np.sqrt(len(P) / headline.n_rows)
    return {
        "error": headline.error,
        "error_interval": [low, high],
        "accuracy": 1 - headline.error,
        "low": 1 - high,
        "high": 1 - low,
        "log_loss": middle,
        "log_loss_low": float(max(middle - reach, 0.0)),
        "log_loss_high": float(middle + reach),
        "counts_as": headline.counts_as,
        "n_judged": headline.n_rows,
    }


def headline_of(held_out: Facts) -> Headline | None:
    """What is expected of new rows; None where it was not assessed."""
    if not is_assessed(held_out):
        return None
    error = held_out.get("error", 1 - held_out["accuracy"])  # files of before have one of them
    low, high = held_out.get("error_interval", (1 - held_out["high"], 1 - held_out["low"]))
    threshold, log_loss = held_out.get("threshold"), held_out["log_loss"]
    n: int = held_out.get("n_judged") or held_out["n"]
    counts_as = held_out.get("counts_as")
    if threshold is not None:  # at which all rows are judged
        n, counts_as = held_out["n"], None
    return Headline(held_out["kind"], error, (low, high), log_loss, n, counts_as, threshold)


def headline_words(held_out: Facts) -> str:
    """What a report, a terminal and the estimator's summary say of held-out rows."""
    return str(headline_of(held_out) or NOT_ASSESSED)


def evaluate_probabilities(
    P: Array,
    labels: Array,
    kind: str,
    groups: Array | None = None,
    said: Array | None = None,  # None: the likeliest class of each row
    weight: Array | None = None,  # (n,) how often each row counts; None: all alike
) -> Facts:
    """Error, log loss, confusion and calibration of probabilities against labels.

    Shares, losses and their intervals are of weighted rows; ``right`` and ``confusion`` count rows.
    """
    n, k = P.shape
    said = P.argmax(axis=1) if said is None else said
    right = said == labels
    w = np.ones(n) if weight is None else weight
    counts = np.bincount(labels, minlength=k)
    share = np.bincount(labels, w, minlength=k) / w.sum()
    losses = -np.log(np.maximum(P[np.arange(n), labels], FLOOR))
    share_right, error = (float(np.average(own, weights=w)) for own in (right, ~right))
    loss = float(np.average(losses, weights=w))
    independent = independent_rows(right, groups, weight)
    low, high = wilson(share_right, independent)
    reach = 1.96 * deviation(losses, w) / np.sqrt(independent)
    confusion = np.zeros((k, k), dtype=int)
    np.add.at(confusion, (labels, said), 1)
    certain = is_certain(P)
    recalls = recalls_of(right, labels, w)
    return {
        "kind": kind,
        "n": n,
        "right": int(right.sum()),
        "weighted": weight is not None,
        "right_share": share_right,  # of all n rows
        "error": error,
        "error_interval": [1 - high, 1 - low],
        "accuracy": share_right,
        "low": low,
        "high": high,
        "log_loss": None if certain else loss,
        "log_loss_low": max(loss - reach, 0.0),
        "log_loss_high": loss + reach,
        "log_loss_reach": reach,
        "balanced_accuracy": float(np.mean([own for own, _ in recalls])),
        "recalls": recalls,
        "uneven": has_rare_classes(counts) and bool(np.count_nonzero(counts) > 1),
        "naive_class": int(share.argmax()),
        "naive_accuracy": float(share.max()),
        "naive_log_loss": float(-np.sum(share[share > 0] * np.log(share[share > 0]))),
        "confusion": confusion.tolist(),
        "calibration": [] if certain else calibration(P, P.argmax(axis=1) == labels, weight=weight),
    }


def recalls_of(right: Array, labels: Array, w: Array) -> list[tuple[float, float]]:
    """Of every class that rows have: the share that is right, and of how many rows."""
    found = [(right[labels == c], w[labels == c]) for c in np.unique(labels[w > 0])]
    return [(float(np.average(own, weights=v)), effective_rows(v)) for own, v in found]


def deviation(losses: Array, w: Array) -> float:
    """The standard deviation of rows that count so often."""
    n = effective_rows(w)
    variance = np.average((losses - np.average(losses, weights=w)) ** 2, weights=w)
    return float(np.sqrt(variance * n / (n - 1))) if n > 1 else 0.0


def is_certain(P: Array) -> bool:
    """Whether these are predictions without probabilities."""
    return bool(np.all((P == 0) | (P == 1)))


def independent_rows(
    right: Array, groups: Array | None = None, weight: Array | None = None
) -> float:
    """So many independent rows of equal weight would know the accuracy as well as these do."""
    w = np.ones(len(right)) if weight is None else weight
    if groups is None:
        return effective_rows(w)
    codes, share = np.unique(groups, return_inverse=True)[1], np.average(right, weights=w)
    sums = np.bincount(codes, w * (right - share))
    variance = float(np.sum(sums**2)) / w.sum() ** 2
    spread = float(share * (1 - share))
    return spread / variance if variance > 0 else effective_rows(np.bincount(codes, w))


def calibration(
    P: Array, right: Array, most: int = 8, least: int = 15, weight: Array | None = None
) -> list[dict[str, float]]:
    """Rows in bins of equal size by stated probability: what was said, how often it was right."""
    said, w = P.max(axis=1), np.ones(len(P)) if weight is None else weight
    order = np.argsort(said, kind="stable")
    order = order[w[order] > 0]
    bins = np.array_split(order, max(1, min(most, len(order) // least)))
    found = []
    for rows in bins:
        share = float(np.average(right[rows], weights=w[rows]))
        low, high = wilson(share, effective_rows(w[rows]))
        stated = float(np.average(said[rows], weights=w[rows]))
        figures = {"said": stated, "right": share, "low": low, "high": high}
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
    kind = "numbers" if model.is_regression else "classes"
    found = hsic_test(seen, y[some], n_permutations=PERMUTATIONS, random_state=0, target_type=kind)
    return float(found.p_value)


def find_surprising(model: TableModel, rows: Rows, P: Array, said: Array) -> list[Facts]:
    """The rows whose own class the model thought least likely, and the rows most like them."""
    own = P[np.arange(len(P)), model.labels_]
    certain = is_certain(P)
    worst = rows_to_doubt(model, len(P), SURPRISING)
    if worst is None:
        worst = np.argsort(own, kind="stable")[:SURPRISING]
    if certain:  # no probabilities: all errors are equally surprising
        worst = worst[own[worst] == 0]
    if not len(worst):
        return []
    near = find_neighbours(model, rows, worst)
    found = [
        {
            "row": int(row),
            "truth": int(model.labels_[row]),
            "said": int(said[row]),
            "p_truth": None if certain else float(own[row]),
            "neighbours": [
                {"row": int(j), "label": int(model.labels_[j]), "alike": float(a)}
                for j, a in (() if near is None else zip(near[0][i], near[1][i], strict=True))
            ],
        }
        for i, row in enumerate(worst)
    ]
    return with_values(found, row_values_of(model, len(P)))


def find_neighbours(model: TableModel, rows: Rows, chosen: Array) -> tuple[Array, Array] | None:
    """The training rows most alike in the learned kernel, k(x, z) / sqrt(k(x, x) k(z, z))."""
    found = seek_fitted(model.estimator_, "kernel_")
    if found is None:
        return None
    kernel, seen = found.step.kernel_, found.see_checked(rows)
    labels = getattr(model, "labels_", np.zeros(n_rows(rows)))
    pool = some_rows(labels, MOST_SIMILAR)
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
        sure = getattr(model.estimator_, "relevant_features_", np.ones(len(values), dtype=bool))
        shown = [i for i in relevance.order if sure[i]]
        found["relevance"] = [
            {
                "name": relevance.names[i],
                "value": float(values[i]),
                "spread": None if spread is None else float(spread[i]),
            }
            for i in shown[:MOST_VALUES]
        ]
        found["n_relevance"] = len(shown)
        found["n_columns"] = len(values)
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
    """The facts, with accuracy and log loss on new rows."""
    known = {str(label): i for i, label in enumerate(model.classes_)}
    labels = np.array([known.get(str(label), -1) for label in y])
    inside = labels >= 0
    if not inside.any():
        note = f"No new row has a class that the model knows: {', '.join(list(known)[:5])}."
        return {**facts, "warnings": [*facts["warnings"], note]}
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
            more: Facts = {"coverage": new_coverage(model, P, labels)}
        except AttributeError:
            said = np.searchsorted(model.classes_, model.predict(frame))
            P, more = np.eye(len(model.classes_))[said], {}
    new = evaluate_probabilities(P, labels, "new rows", said=model.decide(P))
    if (decision := facts.get("decision")) and "threshold" in decision:
        own = {key: decision[key] for key in ("positive", "threshold")}
        new["decision"] = two_class_figures(P, labels, **own)
        if new["decision"]["auc"] is not None:
            more["curve"] = curve_of(P, labels, decision["positive"])
    new |= more
    new["unknown"], new["seen"] = int(np.sum(~inside)), int(np.sum(seen))
    old = facts.get("embedding")
    if old:
        some = some_rows(labels, MOST_POINTS // 2)
        new["points"] = place_new_rows(model, old, frame.iloc[some], P[some], labels[some], some)
    return {**facts, "new_rows": new}
