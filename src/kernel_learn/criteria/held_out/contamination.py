"""Which of some residuals are not of the kind of the others.

    r_i ~ (1 - share) Normal(0, sd^2) + share Uniform(over the range of r),

the share and sd by expectation and maximisation; how likely each came of the second is its answer.
"""

import numpy as np

from kernel_learn.arrays import Array

FIRST_SHARE, MOST_SHARE = 0.05, 0.5
STEPS = 100
NORMAL_MAD = 1.4826  # standard deviations in a median absolute deviation of normal residuals


def outlier_probabilities(
    r: Array,  # (n,)
    weight: Array,  # (n,)
) -> tuple[Array, float]:
    """How likely each is not of the kind of the others, (n,), and the sd of these."""
    wide = float(np.ptp(r))
    sd = NORMAL_MAD * float(np.median(np.abs(r))) or float(np.sqrt(np.mean(r**2)))
    if not sd > 0 or not wide > 0:
        return np.zeros(len(r)), 1.0
    least, share, other = 1e-6 * wide, FIRST_SHARE, np.zeros(len(r))
    for _ in range(STEPS):
        usual = (1 - share) * np.exp(-0.5 * (r / sd) ** 2) / (np.sqrt(2 * np.pi) * sd)
        other = (share / wide) / (usual + share / wide)
        w = weight * (1 - other)
        sd = max(float(np.sqrt(w @ r**2 / w.sum())), least)
        share = min(float(weight @ other / weight.sum()), MOST_SHARE)
    return other, sd
