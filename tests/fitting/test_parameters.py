"""Parameter tables: complete, and what they refuse."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris

import kernel_learn as kl

X, y = load_iris(return_X_y=True)
X, y = X[::5], y[::5]
ROWS, SAME = np.arange(20).reshape(10, 2), np.arange(10) % 2 == 0
PUBLIC = {name: getattr(kl, name) for name in kl.__all__}
ESTIMATORS = {
    name: value
    for name, value in PUBLIC.items()
    if inspect.isclass(value) and issubclass(value, BaseEstimator)
}
# Values that no parameter of that name takes.
REFUSED = {
    "kernel": ["gaussin", 3, None],
    "n_components": [0, -1, 1.5, True, "all"],
    "n_neighbors": [True, 0, 2.0],
    "max_levels": [True, 1, 2.0, "all"],
    "n_features": [True, 0, 2.0, "all"],
    "penalty": [-1.0, "none", None, True],
    "n_points": [True, 0, 2.0],
    "n_constraints": [True, 0, 2.0],
    "max_members": [True, 0, 2.0],
    "clusters_per_class": [True, 0, 2.0],
    "max_iter": [True, 0, 2.5],
    "max_rows": [True, 0, 2.5],
    "reg": [None, -1.0, 0.0 - 1e-9, "auto", True, np.nan, np.inf, {"reg": 1}, []],
    "C": [None, 0.0, -1.0, "auto", True, np.inf, [1.0]],
    "tol": [None, 0.0, "small", True],
    "slack": [None, 0.0, "small", True, -np.inf, np.nan],
    "tau": [None, 0.0, "small", True],
    "mu": [0, 1, True, "half"],
    "smoothing": [0, None, True],
    "uncorrelated": ["yes", 1, None],
    "center": ["x", 1, None],
    "move_points": ["no", 0, None],
    "landmarks": [object(), None, 1.5, True, 0, "none", {"a": 1}],
    "memory_budget": [np.inf, "1.2.3GB", "much", 0, -1, True, object()],
    "priors": ["uniform", [], [0.5, -0.5, 1.0], 0.5],
    "random_state": ["abc", 1.5, object()],
    "weights": ["even", None, 1.0, object(), ["a", "b"]],
    "solver": ["simplex", None, 1],
    "init": ["best", None, 1.0],
    "label_kernel": ["identity", None, 1.0],
    "target_type": ["regression", None, 1],
    "criterion": ["hsic", None],
    "decision": ["svm", None],
    "coupling": ["loose", None],
    "learner": [3, "inductive"],
    "threshold": ["auc", None, 1.0, True],
    "cv": [1, 2.5, None],
    "method": ["best", None],
    "loss": ["log", None],
    "components": ["both", None],
    "constraints": ["quadruplets", None, 3],
    "regularizer": ["l1", None, 3],
    "class_weight": ["even", 2.0, [1.0, 2.0]],
    "quality": ["worst", None],
    "assess": ["folds", True, None],
    "categorical": ["some", 1.0],
    "column_groups": ["a", [["a"]]],
    "time_budget": [0, -1, "1h", True],
    "n_jobs": [0, 1.5, "all"],
    "verbose": [-1, "loud", None],
}
CASES = [
    (name, parameter, value)
    for name, estimator in ESTIMATORS.items()
    for parameter in inspect.signature(estimator).parameters
    for value in REFUSED.get(parameter, [])
]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_is_in_the_table(name):
    parameters = set(inspect.signature(ESTIMATORS[name]).parameters)
    assert set(ESTIMATORS[name]._parameters) == parameters
    untested = parameters - set(REFUSED) - {"unlabeled"}
    assert not untested, f"no value that {name} refuses is known for {untested}"


@pytest.mark.parametrize(("name", "parameter", "value"), CASES)
def test_refused_before_anything_is_done(name, parameter, value):
    model = clone(ESTIMATORS[name]()).set_params(**{parameter: value})
    before = dict(vars(model))
    with pytest.raises(ValueError, match=parameter if parameter != "random_state" else "seed"):
        model.fit(X, *([ROWS, SAME] if name == "PairClassifier" else [y]))
    assert vars(model) == before


@pytest.mark.parametrize("name", ESTIMATORS)
def test_numpy_numbers_are_numbers(name):
    """np.int64(3), np.float32(0.1) and np.bool_ come out of grids."""
    model = ESTIMATORS[name]()
    for parameter, value in model.get_params(deep=False).items():
        if isinstance(value, bool | int | float):
            model.set_params(**{parameter: np.array([value])[0]})
    for parameter, condition in model._parameters.items():
        condition.check(parameter, getattr(model, parameter), model)


def test_the_sentence():
    with pytest.raises(ValueError, match=r"^KernelLMNN\(n_neighbors=True\): n_neighbors must be a"):
        kl.KernelLMNN(n_neighbors=True).fit(X, y)
    with pytest.raises(
        ValueError, match=r"reg must be a positive finite number .1e-30 to 1e30., 'loo', 'gcv' or a"
    ):
        kl.HSICSubspace(reg="auto").fit(X, y)
