"""``kernel-learn learn-kernel``."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kernel_learn.cli.fitting import keep_facts, write_report
from kernel_learn.cli.reading import Given
from kernel_learn.cli.session import Session, put, show_written
from kernel_learn.cli.training import (
    check_reads_blocks,
    fit_table,
    read_learning_table,
)
from kernel_learn.constraints import Pairs
from kernel_learn.interop.files import save
from kernel_learn.report.placing import Facts
from kernel_learn.streams.readers import TableError, read_table
from kernel_learn.tables.methods import CLASSES, TRANSFORMERS, Roster, make_estimator
from kernel_learn.tables.model import Estimator, TableModel
from kernel_learn.tables.number_methods import NUMBERS, roster_of
from kernel_learn.tables.tasks import check_task
from kernel_learn.tables.writing import check_output

LEARNERS = (*TRANSFORMERS, "KernelDiscriminant", "KernelPLS", "SubspaceSVC")
NUMBER_LEARNERS = (*NUMBERS.transformers, *NUMBERS.own)
FROM_PAIRS = "InductiveKernel"


def learn_kernel_command(
    run: Session,
    given: Given,
    *,
    output: str,
    pairs: str | None,
    method: str,
    components: int | None,
    settings: Sequence[str],
    report: str | None,
) -> None:
    """Learn a kernel from labels or pairs and keep it."""
    check_output(output, ".skops")
    check_output(report, ".html")
    if (given.target is None) == (pairs is None):
        raise TableError(
            "A kernel is learned from labels (--target) or from pairs (--pairs): give one."
        )
    if check_task(given.task) == "regress" and pairs is not None:
        raise TableError("--task is for a target, and --pairs has none; leave out one of them.")
    if method.lower() == "auto":
        method = FROM_PAIRS if pairs is not None else "HSICSubspace"
    asked = roster_of(is_regression=given.task == "regress")
    if given.task == "auto" and is_learner(method, NUMBERS) and not is_learner(method, CLASSES):
        given, asked = replace(given, task="regress"), NUMBERS
    method = check_learner(method, asked)
    if pairs is not None and method != FROM_PAIRS:
        raise TableError(f"{method} learns from labels; {FROM_PAIRS} learns from pairs.")
    estimator = make_learner(method, given, settings, components, asked)
    training = read_learning_table(run, given)
    roster = roster_of(is_regression=training.task.is_regression)
    if roster is not asked:
        method = check_learner(method, roster)
        estimator = make_learner(method, given, settings, components, roster)
    check_reads_blocks(method, learners_of(roster), training)
    constraints = None if pairs is None else read_pair_rows(pairs, len(training.frame))
    model = TableModel(estimator, encoding="full", target=given.target or "")
    with run.progress(f"learning a kernel from {training.n_rows} rows"):
        training = fit_table(run, model, training, constraints)
    if hasattr(model, "classes_"):  # features are asked of this model, not classes
        del model.classes_, model.labels_
    facts = keep_facts(model, training, method, given.seed)
    save(model, output)
    if report is not None:
        write_report(facts, report, None, output, model)
    features = int(np.shape(model.transform(training.frame.iloc[:1]))[1])
    values = {
        "model": output,
        "method": method,
        "rows": facts["n_rows"],
        "features": features,
        "gap": (facts["certificate"] or {}).get("gap"),
        "report": report,
    }
    run.result(values, lambda: show_kernel(values))


def learners_of(roster: Roster) -> tuple[str, ...]:
    """The methods of a task that have features."""
    return NUMBER_LEARNERS if roster is NUMBERS else LEARNERS


def is_learner(method: str, roster: Roster) -> bool:
    """Whether a method of this name learns features for a task."""
    return method.lower() in map(str.lower, learners_of(roster))


def check_learner(method: str, roster: Roster) -> str:
    """The method's own spelling."""
    known = learners_of(roster)
    for name in known:
        if name.lower() == method.lower():
            return name
    raise TableError(
        f"{method} learns no features from {roster.what}; choose one of {', '.join(known)}."
    )


def make_learner(
    method: str, given: Given, settings: Sequence[str], components: int | None, roster: Roster
) -> Estimator:
    """The unfitted method with its settings."""
    estimator = make_estimator(method, given.seed, settings, given.memory, roster)
    if components is not None:
        if "n_components" not in estimator.get_params():
            raise TableError(f"{method} has one feature for each target; leave out --components.")
        estimator.set_params(n_components=components)
    return estimator


ALIKE = ("1", "1.0", "true", "yes", "same")
UNLIKE = ("0", "0.0", "-1", "-1.0", "false", "no", "different")


def read_pair_rows(path: str, n: int) -> Pairs:
    """Rows a, b (counted from 0) and whether they are alike, as constraints."""
    table = read_table([path])
    if table.shape[1] < 3:
        raise TableError(
            f"{path!r} must have three columns: row a, row b, and same (1 alike, 0 not)."
        )
    named = all(name in table.columns for name in ("a", "b", "same"))
    chosen = table[["a", "b", "same"]] if named else table.iloc[:, :3]
    rows = chosen.iloc[:, :2].to_numpy()
    if rows.dtype.kind not in "iu" or not len(rows):
        raise TableError(f"{path!r}: rows must be whole numbers from 0 to {n - 1}.")
    if rows.min() < 0 or rows.max() >= n:
        bad = rows.min() if rows.min() < 0 else rows.max()
        raise TableError(f"{path!r} names row {bad}, and rows are numbered from 0 to {n - 1}.")
    said = chosen.iloc[:, 2].astype(str).str.lower()
    same = said.isin(ALIKE)
    odd = said[~said.isin((*ALIKE, *UNLIKE))]
    if len(odd):
        raise TableError(
            f"{path!r}: the third column says whether two rows are alike, 1 or 0, and line "
            f"{odd.index[0] + 2} says {odd.iloc[0]!r}."
        )
    return Pairs(similar=rows[same.to_numpy()], dissimilar=rows[~same.to_numpy()])


def show_kernel(values: Facts) -> None:
    """What was learned, in a few lines."""
    put(f"{values['method']}: {values['features']} features from {values['rows']} rows.")
    if values["gap"] is not None:
        put(f"The optimum is proven to within {values['gap']:.1e}.")
    show_written(values["model"], values["report"])
