"""Which weights should be the default of a bank? Folds inside training rows of several sources.

    python -m benchmarks.default_weights --data DATA

For each set two draws of 250 rows, of which three folds are held out in turn; no other row is
looked at. Errors in per cent by estimator and weighting.
"""

import argparse
import warnings
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier

import kernel_learn as kl
from kernel_learn.datasets import DataSets, find_data
from kernel_learn.papers.protocol import make_table
from kernel_learn.papers.sources import view_kernels

ROWS, DRAWS, FOLDS = 250, 2, 3
SETS = ("jaffe_kernels", "proteinfold", "mfeat")
WEIGHTS = ("learn", "loo", "uniform")


def make_models(weights: str) -> dict[str, BaseEstimator]:
    """The estimators that learn weights, on a stack of kernel matrices."""
    options = {"kernel": "precomputed", "weights": weights}
    return {
        "KernelDiscriminant": kl.KernelDiscriminant(**options),
        "HSICSubspace, 1-NN": kl.HSICSubspace(uncorrelated=True, reg=0.1, **options),
        "SubspaceSVC": kl.SubspaceSVC(**options),
        "MultiKernelSVC": kl.MultiKernelSVC(**options),
    }


def folds(data: DataSets, name: str) -> Iterator[tuple[np.ndarray, ...]]:
    """(K, K_held, y, y_held) of every fold."""
    content, y = data.load(name)
    y = np.unique(y, return_inverse=True)[1]
    for draw in range(DRAWS):
        size = min(ROWS, len(y) // 2)
        rows, _ = train_test_split(
            np.arange(len(y)), train_size=size, stratify=y, random_state=draw
        )
        is_stack = name == "jaffe_kernels"
        K = np.stack(content, axis=2) if is_stack else view_kernels(content, rows)
        held = StratifiedKFold(FOLDS, shuffle=True, random_state=draw).split(rows, y[rows])
        for a, b in ((rows[a], rows[b]) for a, b in held):
            yield K[np.ix_(a, a)], K[np.ix_(b, a)], y[a], y[b]


def error(model: BaseEstimator, K, K_held, y, y_held) -> float:
    """Of held rows, per cent; a transformer's by the nearest neighbour."""
    model.fit(K, y)
    if not hasattr(model, "predict"):
        F, F_held = model.transform(K), model.transform(K_held)
        return 100 * float(np.mean(KNeighborsClassifier(1).fit(F, y).predict(F_held) != y_held))
    return 100 * float(np.mean(model.predict(K_held) != y_held))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    data = find_data(parser.parse_args().data)
    rows = []
    for name in SETS:
        found = defaultdict(list)
        for fold in folds(data, name):
            for weights in WEIGHTS:
                for title, model in make_models(weights).items():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        found[title, weights].append(error(model, *fold))
        for title in make_models("learn"):
            means = (f"{np.mean(found[title, weights]):.1f}" for weights in WEIGHTS)
            rows.append([name, title, *means])
    print(make_table(["set", "estimator", *WEIGHTS], rows))


if __name__ == "__main__":
    main()
