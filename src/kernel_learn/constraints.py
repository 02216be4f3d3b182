"""Side information for :class:`kernel_learn.InductiveKernel`.

Families of constraints on a learned kernel, combined with ``+``::

    Pairs(similar=S, dissimilar=D) + Triplets(T)
"""

from kernel_learn.criteria.constraints import (
    ClassProbabilities,
    Constraints,
    Pairs,
    Similarities,
    Triplets,
)
from kernel_learn.criteria.general_forms.linear_constraints import LinearInequalities, Quadruplets

# Files know classes by their own name, and Linear is a kernel there.
Linear = LinearInequalities

__all__ = [
    "ClassProbabilities",
    "Constraints",
    "Linear",
    "Pairs",
    "Quadruplets",
    "Similarities",
    "Triplets",
]
