"""From rows to a representation: the one place that carries out a plan."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kernel_learn.kernels.base import Kernel, take_rows
from kernel_learn.kernels.pairwise import n_rows
from kernel_learn.kernels.rows import distinct_rows
from kernel_learn.representations.base import Array, Representation, Rows
from kernel_learn.representations.features import Features, FeatureSample
from kernel_learn.representations.gram import Gram
from kernel_learn.representations.landmarks import (
    COMBINING_RULES,
    Chosen,
    Landmarks,
    check_landmarks,
    combine_rows,
    select_landmarks,
)
from kernel_learn.representations.plan import DEFAULT_LANDMARKS, Plan, plan


class Sample:
    """Training rows with their targets and weights, and which of the rows are distinct."""

    def __init__(self, kernel: Kernel, X: Rows, T: Array, weight: Array | None = None) -> None:
        n = n_rows(X)
        self.X, self.T = X, T
        self.weight = np.ones(n) if weight is None else weight
        if kernel.input == "matrix":
            self.first = self.inverse = np.arange(n)
        else:
            self.first, self.inverse = distinct_rows(X)
        self.distinct_weight = np.bincount(self.inverse, self.weight, len(self.first))

    @property
    def n_distinct(self) -> int:
        return len(self.first)

    def merged(self) -> tuple[Rows, Array, Array]:
        """Distinct rows in their first order, with averaged targets and summed weights."""
        if self.n_distinct == n_rows(self.X):
            return self.X, self.T, self.weight
        order = np.argsort(self.first)
        w = self.distinct_weight
        T = np.stack(
            [np.bincount(self.inverse, self.weight * column, len(w)) for column in self.T.T],
            axis=1,
        )
        return take_rows(self.X, self.first[order]), (T / w[:, None])[order], w[order]


def plan_sample(
    kernel: Kernel,
    sample: Sample,
    landmarks: Any = "auto",
    memory_budget: float | str | None = None,
    matrices: float = 2.5,
) -> Plan:
    """The plan for a sample and what the user said of landmarks and memory."""
    wanted = check_landmarks(landmarks)
    if isinstance(wanted, Landmarks):
        wanted = wanted.count or DEFAULT_LANDMARKS
    elif not isinstance(wanted, str):
        wanted = n_rows(wanted)
    return plan(
        sample.n_distinct,
        wanted,
        explicit=kernel.explicit_dimension(sample.X),
        matrices=matrices,
        itemsize=4 if getattr(sample.X, "dtype", None) == np.float32 else 8,
        memory_budget=memory_budget,
    )


def represent(
    kernel: Kernel,
    sample: Sample,
    chosen_plan: Plan,
    landmarks: Any = "auto",
    *,
    center: bool = True,
    merge: bool = True,
    random_state: Any = None,
) -> Representation:
    """The representation that the plan asks for; ``merge=False`` keeps repeated rows apart."""
    if chosen_plan.representation == "gram":
        rows = sample.merged() if merge else (sample.X, sample.T, sample.weight)
        return Gram(kernel, *rows, center=center)
    features = build_features(kernel, sample, chosen_plan, landmarks, random_state)
    moments = features.moments(sample.X, sample.T, sample.weight, chosen_plan.block_rows)
    return FeatureSample(features, moments, center=center)


def build_features(
    kernel: Kernel, sample: Sample, chosen_plan: Plan, landmarks: Any, random_state: Any
) -> Features:
    """The feature map of a plan: the kernel's own, or whitened landmarks."""
    if chosen_plan.representation == "explicit":
        return Features(kernel, kernel.explicit_landmarks(sample.X), None, residual=0.0)
    spec = check_landmarks(landmarks)
    spec = Landmarks() if isinstance(spec, str) else spec
    if isinstance(spec, Landmarks) and spec.rule in COMBINING_RULES:
        return combine_features(kernel, sample, chosen_plan.n_landmarks, spec, random_state)
    if isinstance(spec, Landmarks):
        chosen = select_landmarks(
            spec.rule,
            chosen_plan.n_landmarks,
            kernel,
            sample.X,
            sample.first,
            sample.distinct_weight,
            chosen_plan.pool_rows,
            check_random_state(random_state),
        )
    elif np.ndim(spec) == 1 and np.asarray(spec).dtype.kind in "iu":
        chosen = Chosen(take_rows(sample.X, spec), np.asarray(spec), None)
    else:
        chosen = Chosen(spec, None, None)
    if chosen.indices is None:
        return Features.whitened(kernel, chosen.rows)
    reference = kernel.reference(sample.X, chosen.indices)
    return Features.whitened(kernel, reference, chosen.rows, chosen.residual)


def combine_features(
    kernel: Kernel, sample: Sample, count: int, spec: Landmarks, random_state: Any
) -> Features:
    """A map onto combinations of all distinct rows."""
    if spec.rule == "clusters" and kernel.input != "vectors":
        raise ValueError(
            f'landmarks="clusters" averages rows, and a row here is one of {kernel.input}. '
            'Use "random".'
        )
    rows = take_rows(sample.X, sample.first)
    rng = check_random_state(random_state)
    J = combine_rows(spec.rule, count, rows, sample.distinct_weight, rng)
    return Features.combined(kernel, kernel.reference(sample.X, sample.first), J, rows)
