"""Whether what you added keeps its promises: the last step of writing it, and its test.

Each check raises AssertionError with a sentence that names the first promise that is broken.
"""

from kernel_learn.namespaces import list_only
from kernel_learn.testing.criterion import check_criterion
from kernel_learn.testing.estimator import check_estimator
from kernel_learn.testing.inductive import check_penalty, check_regularizer
from kernel_learn.testing.kernel import check_kernel
from kernel_learn.testing.solver import check_solver

__all__ = [
    "check_criterion",
    "check_estimator",
    "check_kernel",
    "check_penalty",
    "check_regularizer",
    "check_solver",
]

__dir__ = list_only(__all__)
