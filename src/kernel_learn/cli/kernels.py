"""``kernel-learn learn-kernel``."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.cli.fitting import keep_facts, write_report
from kernel_learn.cli.session import Session, show_written
from kernel_learn.cli.training import (
    Given,
    check_reads_blocks,
    fit_table,
    read_learning_table,
)
from kernel_learn.constraints import Pairs
from kernel_learn.interop.files import save
from kernel_learn.report.placing import Facts
from kernel_learn.streams.readers import TableError, read_table
from kernel_learn.tables.methods import TRANSFORMERS, check_method, make_estimator
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.writing import check_output

LEARNERS = (*TRANSFORMERS, "KernelDiscriminant", "KernelPLS", "SubspaceSVC")
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
    if method.lower() == "auto":
        method = FROM_PAIRS if pairs is not None else "HSICSubspace"
    method = check_method(method)
    if method not in LEARNERS:
        raise TableError(f"{method} learns no features; choose one of {', '.join(LEARNERS)}.")
    if pairs is not None and method != FROM_PAIRS:
        raise TableError(f"{method} learns from labels; {FROM_PAIRS} learns from pairs.")
    estimator = make_estimator(method, given.seed, settings, given.memory)
    if components is not None:
        estimator.set_params(n_components=components)
    training = read_learning_table(run, given)
    check_reads_blocks(method, LEARNERS, training)
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
    print(f"{values['method']}: {values['features']} features from {values['rows']} rows.")
    if values["gap"] is not None:
        print(f"The optimum is proven to within {values['gap']:.1e}.")
    show_written(values["model"], values["report"])
