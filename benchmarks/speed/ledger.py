"""What the ledger of an ensemble costs: seconds of processor time for a row explained."""

from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits
from timing import report_ratio

from kernel_learn import KernelClassifier
from kernel_learn.criteria.shapley import Background, term_values
from kernel_learn.kernels import Gaussian
from kernel_learn.kernels.column_terms import column_terms


def seconds_of(work):
    with threadpool_limits(1):
        start = process_time()
        work()
        return process_time() - start


def shapley(n=500, n_new=5):
    """Shapley values against 100 background rows: one Gaussian, and the default ensemble."""
    rng = np.random.default_rng(0)
    for d, limit in ((20, 0.06), (70, 0.8)):
        X, Z = rng.standard_normal((n, d)), rng.standard_normal((100, d))
        a, new = rng.standard_normal((n, 1)), rng.standard_normal((n_new, d))
        behind, players = Background(Z, np.full(100, 0.01)), list(np.arange(d)[:, None])
        term = column_terms(Gaussian(1 / (2 * d)), d)[0]
        used = seconds_of(lambda: term_values(term, new, X, a, behind, players))  # noqa: B023
        name = f"Shapley values, {n} x {d}, 100 background rows, one Gaussian: seconds a row"
        report_ratio(name, used / n_new, limit)
    X = rng.standard_normal((n, 20))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n) > 0
    model = KernelClassifier(assess=False, random_state=0).fit(X, y)
    new = rng.standard_normal((n_new, 20))
    used = seconds_of(lambda: model.shapley(new, background=100))
    report_ratio(
        f"Shapley values, {n} x 20, the default ensemble: seconds a row", used / n_new, 1.5
    )


def forget(sizes=((500, "2GB"), (2000, "2GB"), (2000, "7MB"))):
    """Models without 1, 5 and 30 % of their rows beside their fit; of the last in leaves."""
    rng = np.random.default_rng(0)
    for n, budget in sizes:
        X = rng.standard_normal((n, 20))
        y = X[:, 0] + X[:, 1] * X[:, 2] > 0
        model = KernelClassifier(assess=False, random_state=0, memory_budget=budget)
        fit = seconds_of(lambda: model.fit(X, y))  # noqa: B023
        forest = model._fitted.ensemble.forest
        leaves = "" if forest is None else f" in leaves of up to {len(forest.leaf_rows[0][0])}"
        for count in (1, n // 100, n // 20, 3 * n // 10):
            gone = np.arange(count)
            used = seconds_of(lambda: model.forget(gone))  # noqa: B023
            report_ratio(f"forget {count} of {n} rows{leaves} / fit of all", used / fit, 1.0)
