"""The methods of compare.py: ours, and what people use instead.

``METHODS[name](X, y)`` is an estimator for training rows X and labels y that
is not fitted yet. Those of packages that are not installed are left out.
"""

import importlib.util

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from kernel_learn import KernelClassifier

CS = [0.1, 1.0, 10.0, 100.0, 1000.0]
WIDTHS = np.array([0.01, 0.1, 1.0, 10.0, 100.0])


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


def search(X, machine, grid):
    """Columns done once, then a grid by five folds; "gamma" in it is over (columns * variance)."""
    Z = columns_for(X).fit_transform(X)
    variance = Z.multiply(Z).mean() - Z.mean() ** 2 if sparse.issparse(Z) else Z.var()
    grid = {
        name: [float(v / (Z.shape[1] * variance)) for v in values] if "gamma" in name else values
        for name, values in grid.items()
    }
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return make_pipeline(columns_for(X), GridSearchCV(machine, grid, cv=folds))


def tuned_svc(X, y):
    """Five C times five gamma: 125 fits."""
    return search(X, SVC(), {"C": CS, "gamma": WIDTHS})


def calibrated(model, X, y):
    """Probabilities for a search around a machine without them, on the columns it saw."""
    fewest = int(np.unique(y, return_counts=True)[1].min())
    folds = min(5, max(2, fewest))
    machine = CalibratedClassifierCV(model[-1].best_estimator_, cv=folds)
    machine.fit(model[:-1].transform(X), y)
    return make_pipeline(model[:-1], machine)


def logistic_regression(X, y):
    return search(X, LogisticRegression(max_iter=1000), {"C": [0.001, 0.01, 0.1, 1.0, 10.0]})


def nystroem(X, y):
    """At most 300 landmarks, which is more than the folds of small sets have rows."""
    machine = make_pipeline(
        Nystroem(n_components=min(300, int(0.75 * len(y))), random_state=0), LinearSVC()
    )
    grid = {"nystroem__gamma": WIDTHS, "linearsvc__C": CS}
    return search(X, machine, grid)


def kernel_pca(X, y):
    """Half of the directions at most, 100 at most."""
    parts = KernelPCA(n_components=min(100, len(y) // 2), kernel="rbf", random_state=0)
    machine = make_pipeline(parts, LinearDiscriminantAnalysis())
    return search(X, machine, {"kernelpca__gamma": WIDTHS})


def to_dense(X):
    return X.toarray() if sparse.issparse(X) else X


def lda(X, y):
    return make_pipeline(
        columns_for(X), FunctionTransformer(to_dense), LinearDiscriminantAnalysis()
    )


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


def hist_gradient_boosting(X, y):
    machine = HistGradientBoostingClassifier(random_state=0)
    if not hasattr(X, "iloc"):
        return make_pipeline(FunctionTransformer(to_dense), machine)
    return make_pipeline(FunctionTransformer(with_categories), machine)


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


class WithValidation(ClassifierMixin, BaseEstimator):
    """xRFM asks for validation rows in fit: a fifth of the training rows."""

    def fit(self, X, y):
        from xrfm import xRFM

        self.classes_ = np.unique(y)
        labels = np.searchsorted(self.classes_, y)
        strata = labels if np.bincount(labels).min() > 1 else None
        parts = train_test_split(X, labels, test_size=0.2, stratify=strata, random_state=0)
        X_fit, X_held, y_fit, y_held = parts
        self.model_ = xRFM(device="cpu", n_threads=1, random_state=0, verbose=False)
        self.model_.fit(X_fit, y_fit, X_held, y_held)
        return self

    def predict_proba(self, X):
        return np.asarray(self.model_.predict_proba(X), dtype=float)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def xrfm(X, y):
    return make_pipeline(columns_for(X), FunctionTransformer(to_dense), WithValidation())


def real_mlp(X, y):
    from pytabkit import RealMLP_TD_Classifier

    machine = RealMLP_TD_Classifier(device="cpu", n_threads=1, random_state=0, verbosity=0)
    return make_pipeline(columns_for(X), FunctionTransformer(to_dense), machine)


METHODS = {
    "KernelClassifier": lambda X, y: KernelClassifier(),
    "loo": lambda X, y: KernelClassifier(assess="loo"),
    "fast": lambda X, y: KernelClassifier(quality="fast"),
    "SVC": tuned_svc,
    "logistic regression": logistic_regression,
    "Nystroem + LinearSVC": nystroem,
    "KernelPCA + LDA": kernel_pca,
    "LDA": lda,
    "HistGradientBoosting": hist_gradient_boosting,
}
OPTIONAL = {  # package -> name here, estimator
    "lightgbm": ("lightgbm", lightgbm),
    "catboost": ("catboost", catboost),
    "xrfm": ("xRFM", xrfm),
    "pytabkit": ("RealMLP", real_mlp),
}
METHODS |= {
    name: build for package, (name, build) in OPTIONAL.items() if importlib.util.find_spec(package)
}
# method -> packages whose versions matter beside ours
PACKAGES = {name: (package,) for package, (name, _) in OPTIONAL.items()}
PACKAGES |= {"xRFM": ("xrfm", "torch"), "RealMLP": ("pytabkit", "torch")}
