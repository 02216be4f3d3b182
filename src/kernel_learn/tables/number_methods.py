"""Methods for numbers by name: ours, and those of others they are compared with."""

from collections.abc import Callable, Sequence

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR

from kernel_learn.tables.methods import CLASSES, SVC_GRID, Roster, check_method, shrink
from kernel_learn.tables.model import Estimator
from kernel_learn.tables.names import (
    MEAN,
    NUMBER_AUTO,
    NUMBER_TRANSFORMERS,
    REGRESSORS,
    task_of_names,
)
from kernel_learn.tables.tasks import check_task

EPSILONS = [0.01, 0.1]  # of a target with standard deviation one


def tuned_svr(seed: int) -> Estimator:
    """An SVR of the scaled target, with C, gamma and epsilon chosen by cross-validation."""
    grid = {f"svr__{name}": values for name, values in SVC_GRID.items()}
    model = make_pipeline(FunctionTransformer(shrink), SVR())
    search = GridSearchCV(model, grid | {"svr__epsilon": EPSILONS}, cv=3)
    return TransformedTargetRegressor(search, transformer=StandardScaler())


def ridge(seed: int) -> Estimator:
    """Ridge regression with its penalty chosen by leave-one-out."""
    return RidgeCV(np.logspace(-3, 4, 15))


def lightgbm_regressor(seed: int) -> Estimator:
    """LightGBM with its defaults."""
    from lightgbm import LGBMRegressor

    return LGBMRegressor(random_state=seed, verbose=-1)


def catboost_regressor(seed: int) -> Estimator:
    """CatBoost with its defaults."""
    from catboost import CatBoostRegressor

    return CatBoostRegressor(random_seed=seed, verbose=False, allow_writing_files=False)


OTHERS: dict[str, Callable[[int], Estimator]] = {
    "SVR, tuned": tuned_svr,
    "ridge": ridge,
    "random forest": lambda seed: RandomForestRegressor(random_state=seed),
    "gradient boosting": lambda seed: HistGradientBoostingRegressor(random_state=seed),
    "LightGBM": lightgbm_regressor,
    "CatBoost": catboost_regressor,
    MEAN: lambda seed: DummyRegressor(),
}
NUMBERS = Roster(
    NUMBER_AUTO,
    REGRESSORS,
    NUMBER_TRANSFORMERS,
    OTHERS,
    KNeighborsRegressor,
    "numbers",
)


def roster_of(*, is_regression: bool) -> Roster:
    """The methods of a task."""
    return NUMBERS if is_regression else CLASSES


def task_of_methods(task: str, methods: Sequence[str]) -> str:
    """The task, as asked for or as a method for numbers alone tells; refuses unknown methods."""
    check_task(task)
    if task != "auto":
        for method in methods:
            check_method(method, roster_of(is_regression=task == "regress"))
        return task
    return task_of_names(methods)
