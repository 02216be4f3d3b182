"""What MultiKernelSVC does on landmark features: weights and machines by passes over blocks."""

from typing import Self

import numpy as np

from kernel_learn.arrays import Array, ClassWeight, Rows
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.criteria.landmark_margin import LandmarkMargin
from kernel_learn.fitting.base import KernelEstimator
from kernel_learn.fitting.block_machines import bank_criterion
from kernel_learn.fitting.kernel_weights import WeightLearner
from kernel_learn.fitting.probabilities import Sharpness, fit_sharpness, pool_kernel
from kernel_learn.fitting.training import Labelled, Training, class_prices
from kernel_learn.kernels.bank import Combination
from kernel_learn.kernels.base import Kernel
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.moment_form import MomentForm
from kernel_learn.representations.plan import Needs, Plan
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.represent import build_features, plan_source, represent
from kernel_learn.solvers.margin import Loss, one_vs_rest_signs, solve_margin

BLOCK_NEEDS = Needs(features=16.0, compared=True)
PART_TOL = 1e-3  # of machines whose scores decide one factor


class LandmarkMachines(WeightLearner, KernelEstimator):
    """For MultiKernelSVC: SM2 on landmark features."""

    streams, stream_needs = True, BLOCK_NEEDS
    C: float | str
    loss: Loss
    class_weight: ClassWeight

    def _landmark_plan(self, data: Labelled) -> Plan | None:
        """The plan of a fit on landmark features; None: exact, if they would not be fewer."""
        if isinstance(data.source, PooledSource):
            assert data.source.plan is not None
            return data.source.plan
        if isinstance(self.landmarks, str) and self.landmarks == "all":
            return None
        self._check_stream()
        chosen = plan_source(
            data.kernels, data.source, self.landmarks, self.memory_budget, BLOCK_NEEDS
        )
        return None if chosen.representation == "gram" else chosen

    def _check_stream(self) -> None:
        if self.loss != "squared_hinge" or isinstance(self.C, str):
            raise ValueError(
                f"MultiKernelSVC(loss={self.loss!r}, C={self.C!r}) on landmarks or a stream: give "
                "loss='squared_hinge' and a number for C, or landmarks='all'."
            )

    def _plan_stream(self, kernels: list[Kernel], pool: PooledSource) -> Plan:
        pool.check_rewinds(type(self).__name__)
        landmarks = "auto" if isinstance(self.landmarks, str) else self.landmarks
        return plan_source(kernels, pool, landmarks, self.memory_budget, BLOCK_NEEDS, exact_rows=0)

    def _stream_features(self, data: Training, chosen: Plan) -> FeatureMap:
        data = data.resolved()
        landmarks = "auto" if isinstance(self.landmarks, str) else self.landmarks
        return build_features(data.kernels, data.source, chosen, landmarks, self.random_state)

    def _fit_on_landmarks(self, data: Labelled, chosen: Plan) -> Self:
        """min over the weights of the optimum of the machines; sets what is fitted."""
        self.classes_, self.plan_, source = data.classes, chosen, data.source
        data = data.resolved()
        form = represent(
            data.kernels,
            source,
            self.plan_,
            self.landmarks,
            center=False,
            random_state=self.random_state,
        )
        assert isinstance(form, MomentForm)
        prices = float(self.C) * class_prices(self.class_weight, data)
        criterion, self.plan_ = bank_criterion(
            LandmarkMargin, data, form.features, prices, self.plan_, self.tol
        )
        found = self._weigh_bank(form, data.names or ["kernel"], criterion)
        theta = found.theta
        machines = found.criterion.machines(form.point(theta))
        self.C_, self.objective_ = float(self.C), machines.value
        kept = np.flatnonzero(form.spread(theta))
        V = machines.point[:-1]
        self.intercept_ = machines.point[-1]
        self._machines = form.features.expand(V, np.zeros(len(kept)), theta)
        self.kernel_ = self.base_kernel_ = Combination(list(form.kernels), theta)
        targets, K = pool_kernel(form.at(theta), source)
        boxes = prices[targets.majority] * targets.weight
        self._sharpen(machine_sharpness(K, targets, boxes, self.loss), source)
        return self

    def _landmark_values(self, X: Rows) -> Array:
        return np.asarray(self._machines.transform(X) + self.intercept_, dtype=np.float64)


def machine_sharpness(K: Array, targets: Targets, boxes: Array, loss: Loss) -> Sharpness:
    """The factor on decision values, from scores of rows held out of machines on K."""

    def score_fold(inside: Array, outside: Array) -> Array:
        signs = one_vs_rest_signs(targets.majority[inside], targets.n_classes)
        K_in = K[np.ix_(inside, inside)]
        machines = solve_margin(K_in, signs, boxes[inside], loss=loss, tol=PART_TOL)
        return np.asarray(K[np.ix_(outside, inside)] @ machines.A + machines.intercept)

    return fit_sharpness(targets, score_fold)
