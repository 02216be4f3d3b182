"""Our estimators as a model of AutoGluon, and so of TabArena.

``TabularPredictor(...).fit(data, hyperparameters={KernelLearnModel: {}})``.
"""

import time
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from kernel_learn.arrays import Array
from kernel_learn.ensemble.ingest import prepare
from kernel_learn.estimators import KernelClassifier, KernelRegressor
from kernel_learn.representations.plan import parse_memory
from kernel_learn.threads import thread_controller

try:
    from autogluon.core.models import AbstractModel
except ImportError as error:
    raise ImportError(
        'kernel_learn.interop.autogluon needs AutoGluon: pip install "kernel-learn[autogluon]".'
    ) from error

TIME_SHARE = 0.9  # of the limit; the rest is for the last member and for predictions
NO_LIMIT = 1e18  # bytes
# A process that has imported all of it takes 214 MB; folds of a bag are fitted in processes.
PROCESS_BYTES = 2.2e8


class KernelLearnModel(AbstractModel):
    """``KernelClassifier`` where labels are classes, ``KernelRegressor`` where they are numbers.

    Hyperparameters are the parameters of these; ``assess`` is False unless it is given, since
    AutoGluon judges its models by itself. Its limit of time becomes ``time_budget``, its
    processors the threads of a fit, its seed ``random_state``. The memory that it asks for is
    that of the plan, which keeps to ``memory_budget``. Validation rows are not used: what is
    chosen is chosen by leave-one-out.
    """

    ag_key = "KERNEL_LEARN"
    ag_name = "KernelLearn"
    seed_name = "random_state"
    _supported_problem_types: ClassVar = ["binary", "multiclass", "regression", "quantile"]
    _default_auxiliary_params_extra: ClassVar = {
        "valid_raw_types": ["bool", "int", "float", "category"]
    }

    def _fit(
        self,
        X: Any,
        y: Any,
        time_limit: float | None = None,
        sample_weight: Any = None,
        num_cpus: int | None = None,
        **kwargs: Any,
    ) -> None:
        start = time.monotonic()
        X = self.preprocess(X, y=y)
        model = new_estimator(self.problem_type, self._get_model_params())
        if time_limit is not None:
            left = TIME_SHARE * (time_limit - (time.monotonic() - start))
            model.time_budget = min(model.time_budget or np.inf, max(left, 1e-3))
        with thread_controller().limit(limits=num_cpus):
            self.model = model.fit(X, y, sample_weight)

    def _predict_proba(self, X: Any, **kwargs: Any) -> Array:
        X = self.preprocess(X, **kwargs)
        if self.problem_type == "regression":
            return np.asarray(self.model.predict(X))
        if self.problem_type == "quantile":
            return self.model.predict_quantiles(X, self.quantile_levels)
        P = np.zeros((len(X), self.num_classes))
        P[:, self.model.classes_] = self.model.predict_proba(X)  # a fold may lack a class
        return self._convert_proba_to_unified_form(P)

    @classmethod
    def _estimate_memory_usage_static(
        cls,
        *,
        X: Any,
        y: npt.ArrayLike | None = None,
        hyperparameters: dict[str, Any] | None = None,
        problem_type: str = "binary",
        num_classes: int | None = None,
        **kwargs: Any,
    ) -> int:
        """Bytes of the plan: those of exact fits, or what the budget leaves of them."""
        model = new_estimator(problem_type, hyperparameters or {})
        budget, model.memory_budget = parse_memory(model.memory_budget), NO_LIMIT
        if y is None:
            y = np.arange(len(X)) % (num_classes or len(X))
        plan = prepare(model, X, y, None, None, seed=0).problem.plan
        return int(PROCESS_BYTES + max(plan.bytes_least, min(plan.bytes_needed, budget)))

    def _more_tags(self) -> dict[str, bool]:
        return {"can_refit_full": True}


def new_estimator(
    problem_type: str, parameters: dict[str, Any]
) -> KernelClassifier | KernelRegressor:
    """The estimator for a kind of problem, by AutoGluon's name of it, which it judges itself."""
    parameters = {"assess": False, **parameters}
    numbers = problem_type in ("regression", "quantile")
    return KernelRegressor(**parameters) if numbers else KernelClassifier(**parameters)
