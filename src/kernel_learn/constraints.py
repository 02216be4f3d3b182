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

__all__ = ["ClassProbabilities", "Constraints", "Pairs", "Similarities", "Triplets"]
