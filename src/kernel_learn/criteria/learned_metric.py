"""What a learned metric A gives: a kernel on any rows, and how many constraints it meets."""

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.measure import Measured
from kernel_learn.kernels.transformed import TransformedKernel
from kernel_learn.representations.feature_map import FeatureMap


def transformed_kernel(
    features: FeatureMap, weights: Array, V: Array, alpha: float
) -> TransformedKernel:
    """alpha (k - z'z) + sum_i weights_i (v_i'z)^2 as a kernel on any rows."""
    kept = np.abs(weights) > 1e-14 * max(1.0, float(np.abs(weights).max(initial=0.0)))
    expanded = features.expand(V[:, kept], np.zeros(len(V)))
    return TransformedKernel(
        features.kernels[0], expanded.landmarks, expanded.coef, weights[kept], alpha
    )


def satisfied_share(measured: Measured, A: Array, scale: float, *, is_reduced: bool) -> float:
    """Share of the constraints met, to within a hundredth of the mean squared distance ``scale``.

    An active constraint is always violated a little, by its multiplier over gamma.
    """
    constraints = measured.constraints
    bound = measured.kernel_bound if is_reduced else constraints.bound
    excess = constraints.sign * constraints.inner(A) - bound
    return float(np.mean(is_met(excess, scale)))


def is_met(excess: Array, scale: float) -> Array:
    """Which constraints are, to within a hundredth of the mean squared distance."""
    return np.asarray(excess <= 1e-2 * scale)
