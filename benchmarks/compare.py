"""KernelClassifier against what people use: error, log loss and CPU time on fixed splits.

    KERNEL_LEARN_DATA=folder python benchmarks/compare.py --sets wine sonar --out out/compare.csv

Sets: every data set of the folder, and its ``mixed/*.csv`` (data frames with a
column ``target``). Of each set at most 300 rows per class, drawn with
``default_rng(0)`` in class order; then half of them is for training by
``StratifiedShuffleSplit(1, test_size=0.5, random_state=s)``, s = 0..4. With
``--inner`` the training half alone is split once more (70 : 30): choices are
made there, so that the test halves choose nothing. Each figure is written as
soon as it is known; what the file already holds is not done again. LightGBM,
CatBoost and xRFM take part where they are installed. One thread.
"""

import argparse
import csv
import importlib.util
import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from kernel_learn import KernelClassifier
from kernel_learn.datasets.folder import VARIABLE, find_data

FIELDS = ["set", "split", "method", "n", "error", "log_loss", "cpu"]
MOST_PER_CLASS = 300
SPLITS = 5


def load(folder, name):
    """(X, y) with at most 300 rows per class; y as indices of sorted classes."""
    if name.startswith("mixed/"):
        import pandas as pd

        frame = pd.read_csv(folder.path / f"{name}.csv")
        X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    else:
        X, y = folder.load(name)
        X = np.hstack(X) if isinstance(X, list) else X
    y = np.unique(y, return_inverse=True)[1]
    rng = np.random.default_rng(0)
    rows = [
        rng.permutation(np.flatnonzero(y == c))[:MOST_PER_CLASS] for c in range(int(y.max()) + 1)
    ]
    rows = np.concatenate(rows)
    return (X.iloc[rows] if hasattr(X, "iloc") else X[rows]), y[rows]


def split(X, y, s, inner):
    train, test = next(StratifiedShuffleSplit(1, test_size=0.5, random_state=s).split(y, y))
    if inner:
        outer = train
        few = np.isin(y[outer], np.flatnonzero(np.bincount(y[outer]) < 2))
        strata = np.where(few, np.bincount(y).argmax(), y[outer])
        parts = StratifiedShuffleSplit(1, test_size=0.3, random_state=s).split(strata, strata)
        a, b = next(parts)
        train, test = outer[a], outer[b]

    def take(rows):
        return X.iloc[rows] if hasattr(X, "iloc") else X[rows]

    return take(train), y[train], take(test), y[test]


def columns_for(X):
    """What a machine of numbers needs: unit rows of text, z-scores, one-hot categories."""
    if sparse.issparse(X):
        return Normalizer()
    numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    if not hasattr(X, "iloc"):
        return numbers
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        sparse_threshold=0,
    )


def tuned_svc(X, y):
    """Five C times five gamma around 1 / (columns * variance), by 5-fold; columns done once."""
    Z = columns_for(X).fit_transform(X)
    variance = Z.multiply(Z).mean() - Z.mean() ** 2 if sparse.issparse(Z) else Z.var()
    grid = {
        "C": [0.1, 1.0, 10.0, 100.0, 1000.0],
        "gamma": list(np.array([0.01, 0.1, 1.0, 10.0, 100.0]) / (Z.shape[1] * variance)),
    }
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return make_pipeline(columns_for(X), GridSearchCV(SVC(), grid, cv=folds))


def calibrated_svc(X, y):
    """The SVC found by the search, with probabilities by cross-validation."""
    columns, search = tuned_svc(X, y).fit(X, y).steps
    fewest = int(np.bincount(y)[np.unique(y)].min())
    folds = min(5, max(2, fewest))
    return make_pipeline(columns[1], CalibratedClassifierCV(search[1].best_estimator_, cv=folds))


def with_categories(X):
    """A frame whose columns of strings are categories; LightGBM keeps the levels of fit."""
    texts = X.select_dtypes(exclude="number").columns
    return X.assign(**{name: X[name].astype("category") for name in texts})


def with_missing_level(X):
    """A frame whose missing categories are a level of their own, as CatBoost asks for."""
    texts = X.select_dtypes(exclude="number").columns
    return X.assign(
        **{name: X[name].astype(object).fillna("missing").astype(str) for name in texts}
    )


def lightgbm(X, y):
    from lightgbm import LGBMClassifier

    machine = LGBMClassifier(n_estimators=200, n_jobs=1, verbose=-1)
    if not hasattr(X, "iloc"):
        return make_pipeline(columns_for(X), machine)
    return make_pipeline(FunctionTransformer(with_categories), machine)


def catboost(X, y):
    from catboost import CatBoostClassifier

    options = {"verbose": 0, "thread_count": 1, "random_seed": 0, "allow_writing_files": False}
    if not hasattr(X, "iloc"):
        return CatBoostClassifier(**options)
    names = list(X.select_dtypes(exclude="number").columns)
    machine = CatBoostClassifier(cat_features=names, **options)
    return make_pipeline(FunctionTransformer(with_missing_level), machine)


def xrfm(X, y):
    from xrfm import xRFM

    return make_pipeline(columns_for(X), xRFM())


METHODS = {
    "KernelClassifier": lambda X, y: KernelClassifier(),
    "fast": lambda X, y: KernelClassifier(quality="fast"),
    "SVC": tuned_svc,
    "calibrated SVC": calibrated_svc,
}
METHODS |= {
    name: method
    for name, method in {"lightgbm": lightgbm, "catboost": catboost, "xrfm": xrfm}.items()
    if importlib.util.find_spec(name)
}


def measure(method, X, y, X_new, y_new):
    """Error in per cent, log loss (nan without probabilities) and CPU seconds."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # of the peers, on classes of one row
        start = time.process_time()
        model = METHODS[method](X, y).fit(X, y)
        labels = np.ravel(model.predict(X_new))
        cpu = time.process_time() - start
        loss = np.nan
        if hasattr(model, "predict_proba"):
            P = np.zeros((len(y_new), int(max(y.max(), y_new.max())) + 1))
            P[:, model.classes_] = model.predict_proba(X_new)
            P = np.maximum(P, 1e-9)
            loss = log_loss(y_new, P / P.sum(axis=1, keepdims=True), labels=np.arange(P.shape[1]))
    return 100 * float(np.mean(labels != y_new)), float(loss), cpu


def known(path):
    if not path.exists():
        return set()
    with path.open() as file:
        return {(row["set"], int(row["split"]), row["method"]) for row in csv.DictReader(file)}


def report(path, against="SVC"):
    """Means per set, and geometric means of ratios to one method."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    table = {}
    for row in rows:
        values = [float(row[field]) for field in ("error", "log_loss", "cpu")]
        table.setdefault(row["set"], {}).setdefault(row["method"], {})[row["split"]] = values
    print(f"{'set':22}" + "".join(f"{method:>26}" for method in methods))
    ratios = {method: [] for method in methods}
    for name, found in table.items():
        means = {method: np.mean(list(found[method].values()), axis=0) for method in found}
        cells = [
            f"{means[m][0]:9.2f} {means[m][1]:7.3f} {means[m][2]:7.2f}s" if m in means else ""
            for m in methods
        ]
        print(f"{name:22}" + "".join(f"{cell:>26}" for cell in cells))
        for method in methods:
            if method in means and against in means:
                pair = np.maximum(means[method][[0, 2]], [0.25, 1e-3])
                ratios[method].append(pair / np.maximum(means[against][[0, 2]], [0.25, 1e-3]))
    for method in methods:
        if ratios[method] and method != against:
            error, cpu = np.exp(np.mean(np.log(ratios[method]), axis=0))
            won = np.mean([r[0] < 1 for r in ratios[method]])
            print(
                f"{method}: error {error:.3f} x {against} (fewer errors on {100 * won:.0f} %), "
                f"CPU {cpu:.2f} x, on {len(ratios[method])} sets"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", help="by default all")
    parser.add_argument("--methods", nargs="*", default=["KernelClassifier", "SVC"])
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--inner", action="store_true", help="split the training halves only")
    parser.add_argument("--out", type=Path, default=Path("out/compare.csv"))
    arguments = parser.parse_args()
    if not os.environ.get(VARIABLE):
        print(f"Set {VARIABLE} to the folder of data sets to run this comparison.")
        return
    folder = find_data()
    mixed = sorted(f"mixed/{path.stem}" for path in folder.path.glob("mixed/*.csv"))
    everything = [name for name in folder.names() if not name.endswith("_kernels")] + mixed
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    done = known(arguments.out)
    with arguments.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        for name in arguments.sets or everything:
            X, y = load(folder, name)
            for s in range(arguments.splits):
                for method in arguments.methods:
                    if (name, s, method) in done:
                        continue
                    data = split(X, y, s, arguments.inner)
                    error, loss, cpu = measure(method, *data)
                    values = [name, s, method, len(data[1]), round(error, 4), loss, round(cpu, 3)]
                    writer.writerow(dict(zip(FIELDS, values, strict=True)))
                    file.flush()
    report(arguments.out)


if __name__ == "__main__":
    main()
