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
from kernel_learn.namespaces import list_only

# Files know classes by their own name, and Linear is a kernel there.
Linear = LinearInequalities
"""Any linear constraints: sum over i, j of C_ij K(i, j) <= bound."""

__all__ = [
    "ClassProbabilities",
    "Constraints",
    "Linear",
    "Pairs",
    "Quadruplets",
    "Similarities",
    "Triplets",
]

__dir__ = list_only(__all__)
