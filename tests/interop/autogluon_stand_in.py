"""What our model asks of AutoGluon's ``AbstractModel``, where AutoGluon is not installed.

Names, arguments and order of calls as in AutoGluon 1.6.
"""

import sys
import types


class AbstractModel:
    """Seeds, parameters, the order of a fit, and one form of probabilities."""

    ag_key = None
    seed_name = None
    _supported_problem_types = None
    _default_auxiliary_params_extra = None

    def __init__(self, path=None, name=None, problem_type=None, hyperparameters=None):
        self.path, self.name, self.problem_type = path, name, problem_type
        self._user_params = dict(hyperparameters or {})
        self.quantile_levels = self.num_classes = self.model = None

    def _set_default_params(self):
        pass

    def _set_default_param_value(self, name, value):
        self.params.setdefault(name, value)

    def _get_model_params(self):
        return dict(self.params)

    def preprocess(self, X, **kwargs):
        return X[self.features]

    def fit(self, *, X, y, random_seed=0, **kwargs):
        self.features = list(X.columns)
        if self.problem_type in ("binary", "multiclass"):
            self.num_classes = int(y.max()) + 1
        self.params = dict(self._user_params)
        if self.seed_name is not None:
            self.params.setdefault(self.seed_name, random_seed)
        self._set_default_params()
        self._fit(X=X, y=y, **{"X_val": None, "y_val": None, "num_gpus": 0, **kwargs})
        return self

    def predict_proba(self, X):
        return self._predict_proba(X)

    def _convert_proba_to_unified_form(self, P):
        return P[:, 1] if self.problem_type == "binary" else P


def install():
    """AutoGluon itself where it is installed, or this in its place."""
    try:
        import autogluon.core.models  # noqa: F401
    except ImportError:
        names = ["autogluon", "autogluon.core", "autogluon.core.models"]
        sys.modules.update({name: types.ModuleType(name) for name in names})
        sys.modules["autogluon.core.models"].AbstractModel = AbstractModel
