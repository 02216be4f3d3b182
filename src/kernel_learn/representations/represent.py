"""From rows to a representation: the one place that carries out a plan."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kernel_learn.kernels.base import Kernel, take_rows
from kernel_learn.kernels.pairwise import n_rows
from kernel_learn.representations.base import Representation
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
from kernel_learn.representations.sources import Sample


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
    features: Features | None = None,
    center: bool = True,
    merge: bool = True,
    random_state: Any = None,
) -> Representation:
    """The representation that the plan asks for; ``merge=False`` keeps repeated rows apart."""
    if chosen_plan.representation == "gram":
        rows = sample.merged() if merge else (sample.X, sample.T, sample.weight)
        return Gram(kernel, *rows, center=center)
    if features is None:
        features = build_features(kernel, sample, chosen_plan, landmarks, random_state)
    moments = features.moments(sample.X, sample.T, sample.weight, chosen_plan.block_rows)
    return FeatureSample(
        features, moments, center=center, sample=sample, block_rows=chosen_plan.block_rows
    )


def build_features(
    kernel: Kernel, sample: Sample, chosen_plan: Plan, landmarks: Any, random_state: Any
) -> Features:
    """The feature map of a plan: the kernel's own, or whitened landmarks."""
    if chosen_plan.representation == "explicit":
        return Features(kernel, kernel.explicit_landmarks(sample.X), None, residual=0.0)
    spec = check_landmarks(landmarks)
    if isinstance(spec, Landmarks) and spec.rule in COMBINING_RULES:
        return combine_features(kernel, sample, chosen_plan.n_landmarks, spec, random_state)
    chosen = choose_landmarks(kernel, sample, chosen_plan, landmarks, random_state)
    if chosen.indices is None:
        return Features.whitened(kernel, chosen.rows)
    reference = kernel.reference(sample.X, chosen.indices)
    return Features.whitened(kernel, reference, chosen.rows, chosen.residual)


def choose_landmarks(
    kernel: Kernel, sample: Sample, chosen_plan: Plan, landmarks: Any, random_state: Any
) -> Chosen:
    """The rows that the user gave, or those that a rule picks."""
    spec = check_landmarks(landmarks)
    spec = Landmarks() if isinstance(spec, str) else spec
    if isinstance(spec, Landmarks) and spec.rule in COMBINING_RULES:
        raise ValueError(f'landmarks="{spec.rule}" combines rows, and rows are needed here.')
    if isinstance(spec, Landmarks):
        return select_landmarks(
            spec.rule,
            chosen_plan.n_landmarks,
            kernel,
            sample.X,
            sample.first,
            sample.distinct_weight,
            chosen_plan.pool_rows,
            check_random_state(random_state),
        )
    if np.ndim(spec) == 1 and np.asarray(spec).dtype.kind in "iu":
        return Chosen(take_rows(sample.X, spec), np.asarray(spec), None)
    return Chosen(spec, None, None)


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
