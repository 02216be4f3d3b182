"""What a report says of a model once rows were forgotten: figures of the rows that stay.

No row is quoted any more, and of the columns no values: both were gathered with all rows. What was
judged once, with the rows, stays as ``forgotten_.kept`` has it: the error told of the fit, whether
chance could do as well.
"""

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.ensemble.ledger.discriminant import DiscriminantLedger
from kernel_learn.report.coverage import held_out_coverage
from kernel_learn.report.facts import (
    NO_WISH,
    curve_of,
    decided_figures,
    find_certificate,
    find_importance,
    held_out_figures,
    is_certain,
    plan_of,
)
from kernel_learn.report.held_out import HeldOutAnswers, is_assessed, weight_of
from kernel_learn.report.placing import Facts
from kernel_learn.report.values import held_out_values
from kernel_learn.tables.deciding import decide_between, decision_figures, two_class_figures
from kernel_learn.tables.forgetting import ledger_of
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.streaming import held_out_answers

# What says nothing of rows.
PLAIN = (
    "method", "target", "made", "command", "files", "seed", "versions", "n_columns", "all_columns",
    "n_permutations", "classes",
)  # fmt: skip
# Of held-out rows, what was told of the fit with all rows and stays.
TOLD = (
    "error", "error_interval", "accuracy", "low", "high",
    "log_loss", "log_loss_low", "log_loss_high", "p_value",
)  # fmt: skip


def facts_of_rest(facts: Facts, model: TableModel) -> Facts:
    """From what was said of all rows to what can be said of a model without some of them."""
    ledger = ledger_of(model)
    groups = None
    if isinstance(ledger, DiscriminantLedger):
        n = len(ledger._rows_of_fit("forget").distinct)
    else:
        given = ledger._rows_of_fit("forget")
        n, groups = int(given.counting.sum()), given.groups
    note = (
        f"{ledger.forgotten_.n_rows} training rows were forgotten: figures are of the {n} others; "
        "error, interval, log loss and the test for chance are those of the fit with all rows."
    )
    if isinstance(ledger, DiscriminantLedger):
        note += " What is told of single classes and thresholds is by leave-one-out."
    found: Facts = {name: facts[name] for name in PLAIN if name in facts}
    found |= {
        "n_rows": n,
        "data": [{**column, "values": ""} for column in facts["data"]],
        "warnings": [*model.columns_.warnings, note],
        "plan": plan_of(model),
        "importance": find_importance(model) | {"shapley": None},
        "certificate": find_certificate(model),
    }
    more = number_facts if model.is_regression else class_facts
    return found | more(facts, model, groups)


def class_facts(facts: Facts, model: TableModel, groups: Array | None) -> Facts:
    """Of held-out probabilities; a discriminant's are those of its rows left out."""
    ledger, labels = ledger_of(model), model.labels_
    if by_rows := isinstance(ledger, DiscriminantLedger):
        P: Array | None = ledger._left_out_proba()
    else:
        P = held_out_answers(model.estimator_)
    assert P is not None, "an ensemble holds rows out"
    held = as_told(facts["held_out"], model, P)
    held_out = held_out_figures(model, held, groups) | {"p_value": facts["held_out"]["p_value"]}
    decision = decision_figures(P, labels, NO_WISH)
    if hasattr(model, "threshold_"):
        decision = two_class_figures(
            P, labels, positive=model.positive_, threshold=model.threshold_
        )
        said = decide_between(P, model.positive_, model.threshold_)
        held_out |= decided_figures(model, held, said, groups) | {"threshold": model.threshold_}
    if by_rows:
        told = facts["held_out"]
        held_out |= {name: told[name] for name in TOLD if name in told}
        held_out["n_judged"] = told.get("n_judged", told["n"])
    found: Facts = {
        "counts": np.bincount(labels, minlength=len(model.classes_)).tolist(),
        "held_out": held_out,
        "decision": decision,
    }
    if not is_certain(P):
        found |= {"curve": curve_of(P, labels), "coverage": held_out_coverage(P, labels, groups)}
    return found


def as_told(found: Facts, model: TableModel, said: Array) -> HeldOutAnswers:
    """Held-out answers of the rows that stay, in the words that were told of all of them."""
    weight = weight_of(model.estimator_, len(said))
    return HeldOutAnswers(said, found["kind"], is_assessed(found), weight)


def number_facts(facts: Facts, model: TableModel, groups: Array | None) -> Facts:
    """Of held-out predictions."""
    said, y = held_out_answers(model.estimator_), ledger_of(model)._labels_of_fit("forget")
    assert said is not None, "an ensemble holds rows out"
    numbers = held_out_values(model, y, as_told(facts["numbers"], model, said), groups, None)
    return {"numbers": numbers | {"p_value": facts["numbers"]["p_value"]}}
