"""Error against time: KernelClassifier under time budgets, LightGBM and CatBoost by their trees.

3000 rows of 20 columns, two classes, 7000 new rows; processor time of one thread.

    python benchmarks/time_curve.py

The peers are left out where they are not installed.
"""

import time
from importlib import import_module

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from kernel_learn import KernelClassifier
from kernel_learn.ensemble import clock

N_ROWS, NEW = 3000, slice(6000, 13000)
BUDGETS = (1, 2, 4, 8, 16, None)
TREES = (20, 50, 100, 200, 500, 1000)


def peers():
    """Name, and how a model of so many trees is made."""
    makers = {
        "LightGBM": ("lightgbm", "LGBMClassifier", {"n_jobs": 1, "verbose": -1}),
        "CatBoost": ("catboost", "CatBoostClassifier", {"thread_count": 1, "verbose": False}),
    }
    for name, (module, estimator, given) in makers.items():
        try:
            make = getattr(import_module(module), estimator)
        except ImportError:
            continue
        for trees in TREES:
            yield f"{name}, {trees} trees", make(n_estimators=trees, **given)


def ours():
    for budget in BUDGETS:
        name = "no budget" if budget is None else f"`time_budget={budget}`"
        yield f"KernelClassifier, {name}", KernelClassifier(assess="loo", time_budget=budget)


def main():
    clock.now = time.process_time  # other work on the machine does not count
    X, y = make_classification(13000, 20, n_informative=8, random_state=0)
    print("| model | CPU s | error, % | log loss | members |\n|---|---|---|---|---|")
    for name, model in [*ours(), *peers()]:
        type(model)(**model.get_params()).fit(X[:60], y[:60])  # imports and first calls
        start = time.process_time()
        model.fit(X[:N_ROWS], y[:N_ROWS])
        spent = time.process_time() - start
        P = model.predict_proba(X[NEW])
        error = 100 * np.mean(P.argmax(axis=1) != y[NEW])
        members = len(model.members_) if hasattr(model, "members_") else ""
        line = f"| {name} | {spent:.1f} | {error:.2f} | {log_loss(y[NEW], P):.3f} | {members} |"
        print(line, flush=True)


if __name__ == "__main__":
    main()
