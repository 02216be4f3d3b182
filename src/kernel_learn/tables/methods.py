"""Methods by name: ours, and those of others they are compared with."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from kernel_learn.arrays import Array
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.model import Estimator, TableModel
from kernel_learn.tables.names import AUTO, CLASSIFIERS, TRANSFORMERS, as_typed

SVC_GRID = {"C": [1.0, 10.0, 100.0], "gamma": [0.03, 0.3, 3.0]}  # gamma relative to "scale"


def tuned_svc(seed: int) -> Estimator:
    """An SVC with C and gamma chosen by cross-validation."""
    grid = {"svc__C": SVC_GRID["C"], "svc__gamma": SVC_GRID["gamma"]}
    return GridSearchCV(make_pipeline(FunctionTransformer(shrink), SVC()), grid, cv=3)


def shrink(X: Array) -> Array:
    """Rows over sqrt(number of columns), so that gamma = 1 is scikit-learn's "scale"."""
    return X / np.sqrt(X.shape[1])


def logistic(seed: int) -> Estimator:
    """Logistic regression with C chosen by cross-validation."""
    model, grid = LogisticRegression(max_iter=5000), {"C": [0.01, 0.1, 1.0, 10.0]}
    return GridSearchCV(model, grid, scoring="neg_log_loss", cv=3)


def lightgbm(seed: int) -> Estimator:
    """LightGBM with its defaults."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, verbose=-1)


def catboost(seed: int) -> Estimator:
    """CatBoost with its defaults."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(random_seed=seed, verbose=False, allow_writing_files=False)


OTHERS: dict[str, Callable[[int], Estimator]] = {
    "SVC, tuned": tuned_svc,
    "logistic regression": logistic,
    "gradient boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "LightGBM": lightgbm,
    "CatBoost": catboost,
    "majority class": lambda seed: DummyClassifier(strategy="prior"),
}
EXTRAS = {"LightGBM": "lightgbm", "CatBoost": "catboost"}


@dataclass(frozen=True)
class Roster:
    """The methods of a task: ours, and those of others they are compared with."""

    auto: str
    own: tuple[str, ...]
    transformers: tuple[str, ...]  # with the five nearest neighbours behind them
    others: dict[str, Callable[[int], Estimator]]
    neighbours: Callable[..., Estimator]
    what: str  # is predicted

    @property
    def names(self) -> list[str]:
        """All of them."""
        return [*self.own, *self.transformers, *self.others]


CLASSES = Roster(AUTO, CLASSIFIERS, TRANSFORMERS, OTHERS, KNeighborsClassifier, "classes")
# These take about 2 ms of a fit for each column and each class they grow trees for.
SLOW_ON_COLUMNS, MOST_TREE_COLUMNS = ("gradient boosting", "CatBoost"), 5000


def compared(named: Sequence[str] = (), roster: Roster = CLASSES) -> list[str]:
    """What a comparison runs: ours, those named, the others that are installed."""
    others = [name for name in roster.others if name not in EXTRAS or find_spec(EXTRAS[name])]
    asked = (check_method(name, roster) for name in named)
    return list(dict.fromkeys([roster.auto, *asked, *others]))


def too_slow(
    methods: Sequence[str],
    named: Sequence[str],
    n_columns: int,
    n_classes: int,
    roster: Roster = CLASSES,
) -> list[str]:
    """The methods that a table is too wide for and that nobody asked for by name."""
    if n_columns * (1 if n_classes == 2 else n_classes) <= MOST_TREE_COLUMNS:
        return []
    asked = {check_method(name, roster) for name in named}
    return [name for name in methods if name in SLOW_ON_COLUMNS and name not in asked]


def check_method(name: str, roster: Roster = CLASSES) -> str:
    """The method's own spelling."""
    spelt = {known.lower(): known for known in roster.names} | {"auto": roster.auto}
    if name.lower() not in spelt:
        raise TableError(
            f"{name!r} is not a method for {roster.what}; choose one of {as_typed(roster.names)}."
        )
    return spelt[name.lower()]


def make_model(
    name: str,
    target: str,
    seed: int = 0,
    settings: Sequence[str] = (),
    memory: str | None = None,
    roster: Roster = CLASSES,
) -> TableModel:
    """The unfitted model of a method; settings are words such as ``quality=fast``."""
    name = check_method(name, roster)
    if name in roster.others:
        return TableModel(roster.others[name](seed), encoding="full", target=target)
    estimator = make_estimator(name, seed, settings, memory, roster)
    if name in roster.transformers:
        estimator = make_pipeline(estimator, roster.neighbours(5, algorithm="brute"))
    encoding = "light" if name == roster.auto else "full"
    return TableModel(estimator, encoding=encoding, target=target)


def make_estimator(
    name: str,
    seed: int = 0,
    settings: Sequence[str] = (),
    memory: str | None = None,
    roster: Roster = CLASSES,
) -> Estimator:
    """One of our estimators by name, with its settings."""
    chosen = find_estimator(name)()
    known = chosen.get_params(deep=False)
    given = starting_point(name)
    if "random_state" in known:
        given["random_state"] = seed
    if "target_type" in known:  # the targets were looked at already
        given["target_type"] = roster.what
    if memory is not None and "memory_budget" in known:
        given["memory_budget"] = memory
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in known:
            is_named = key and equals
            wrong = f"{name} has no parameter {key!r}" if is_named else "write name=value"
            raise TableError(
                f"--set {setting!r}: {wrong}; the parameters of {name} are "
                f"{', '.join(sorted(known))}."
            )
        try:
            given[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            given[key] = value
    return chosen.set_params(**given)


def find_estimator(name: str) -> type[BaseEstimator]:
    """The class of one of our estimators."""
    found: type[BaseEstimator] = getattr(import_module("kernel_learn.estimators"), name)
    return found


def starting_point(name: str) -> dict[str, object]:
    """Where a method's defaults need a choice of the user, a choice that suits most tables."""
    if name == "HSICSubspace":
        return {"uncorrelated": True, "reg": "loo"}
    if name == "MultiKernelSVC":
        from kernel_learn.kernels import gaussian_bank

        return {"kernel": gaussian_bank(7, relative=True)}
    return {}
