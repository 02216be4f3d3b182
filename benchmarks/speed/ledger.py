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


def forget(n=500):
    """A model without 5 % of its rows beside the fit of the others."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20))
    y = X[:, 0] + X[:, 1] * X[:, 2] > 0
    gone, stay = np.arange(n // 20), np.arange(n // 20, n)
    model = KernelClassifier(assess=False, random_state=0).fit(X, y)
    fit = seconds_of(lambda: KernelClassifier(assess=False, random_state=0).fit(X[stay], y[stay]))
    used = seconds_of(lambda: model.forget(gone))
    report_ratio(f"forget of 5 % of {n} rows / fit of the others", used / fit, 1.0)
