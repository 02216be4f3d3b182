"""What a constructor parameter may be: one table per class, checked when ``fit`` starts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from kernel_learn.arrays import Seed
from kernel_learn.criteria.label_values import LABEL_KERNELS
from kernel_learn.kernels.bank import as_bank
from kernel_learn.kernels.base import KernelsLike
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.representations.landmarks import check_landmarks
from kernel_learn.representations.plan import parse_memory
from kernel_learn.rows.coerce import as_array
from kernel_learn.rows.targets import TARGET_TYPES
from kernel_learn.solvers.choice import SOLVERS


@dataclass(frozen=True)
class Condition:
    """A test of a value, and the words for what passes it; conditions add with ``|``."""

    words: tuple[str, ...]
    accepts: Callable[[object], bool]

    def __or__(self, other: "Condition") -> "Condition":
        return Condition(
            self.words + other.words, lambda value: self.accepts(value) or other.accepts(value)
        )

    def check(self, name: str, value: object, owner: object) -> None:
        """A sentence about what ``name`` must be, unless it is."""
        if not self.accepts(value):
            *first, last = self.words
            wanted = f"{', '.join(first)} or {last}" if first else last
            given = repr(value)
            if isinstance(value, np.ndarray) and value.ndim:  # whose values fill no sentence
                given = f"array of shape {value.shape}"
            raise ValueError(f"{type(owner).__name__}({name}={given}): {name} must be {wanted}.")


@dataclass(frozen=True)
class Read:
    """A parameter that a function reads, which refuses what it cannot read."""

    read: Callable[[Any], Any]

    def check(self, name: str, value: object, owner: object) -> None:
        self.read(value)


def check_parameters(estimator: BaseEstimator) -> None:
    """Refuse the first parameter that is not what the tables of its classes say."""
    for name, condition in getattr(estimator, "_parameters", {}).items():
        condition.check(name, getattr(estimator, name), estimator)


def choice(*words: str) -> Condition:
    """One of some words."""
    return Condition(
        tuple(map(repr, words)), lambda value: isinstance(value, str) and value in words
    )


def instance(kind: type, words: str) -> Condition:
    """An object of a class."""
    return Condition((words,), lambda value: isinstance(value, kind))


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not _is_bool(value) and bool(np.isfinite(float(value)))


def _is_positive(value: object) -> TypeGuard[float]:
    # beyond this range products of a price or a ridge with a kernel's values overflow
    return _is_number(value) and 1e-30 <= float(value) <= 1e30


def _is_moderate(value: object) -> bool:
    return _is_number(value) and abs(float(value)) <= 1e30


def _is_bool(value: object) -> bool:
    return isinstance(value, bool | np.bool_)


def is_whole(value: object, least: int) -> TypeGuard[int]:
    """A whole number, and no boolean, of at least so much."""
    return isinstance(value, Integral) and not _is_bool(value) and int(value) >= least


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    if isinstance(value, str | bytes | Mapping):
        return False
    return isinstance(value, Sequence) or len(getattr(value, "shape", ())) > 0


def _is_positive_list(value: object) -> bool:
    return _is_list(value) and len(value) > 0 and all(map(_is_positive, value))


def _read_kernel(spec: KernelsLike) -> object:
    return as_bank(spec) or as_kernel(spec)


def check_seed(random_state: Seed) -> None:
    """Refuse what scikit-learn cannot make a generator of, and integers that are no seeds."""
    if is_whole(random_state, -(2**200)) and not 0 <= random_state < 2**32:
        raise ValueError(
            f"random_state={random_state!r} cannot be a seed, which is between 0 and 2**32 - 1."
        )
    check_random_state(random_state)


def _is_jobs(value: object) -> bool:
    return value is None or (is_whole(value, -(2**31)) and value != 0)


def _is_array(value: object) -> bool:
    if not _is_list(value):
        return False
    try:
        A = np.asarray(value)
    except ValueError:  # rows of different lengths
        return False
    return A.dtype.kind in "fiub" and bool(np.isfinite(A).all())


UNLABELED = Condition(
    ("the label of rows without one", "None", "'raise' (there is no 'ignore')"),
    lambda value: not (isinstance(value, str) and value == "ignore"),
)
NONE = Condition(("None",), lambda value: value is None)
COLUMN_GROUPS = NONE | instance(Mapping, "a dict of names to lists of columns")
BOOLEAN = Condition(("True", "False"), _is_bool)
FALSE = Condition(("False",), lambda value: isinstance(value, bool | np.bool_) and not value)
POSITIVE = Condition(("a positive finite number (1e-30 to 1e30)",), _is_positive)
NOT_NEGATIVE = Condition(
    ("a number, zero or positive (1e-30 to 1e30)",),
    lambda value: _is_positive(value) or (_is_number(value) and value == 0),
)
INFINITE = Condition(("inf",), lambda value: isinstance(value, Real) and value == np.inf)
FRACTION = Condition(("a number between 0 and 1",), lambda v: _is_number(v) and 0 < v < 1)
COUNT = Condition(("a positive integer",), lambda value: is_whole(value, 1))
POSITIVE_LIST = Condition(("a list of positive numbers",), _is_positive_list)
ARRAY = Condition(("an array of finite numbers",), _is_array)
LIST = Condition(("a list",), _is_list)
FUNCTION = Condition(("a function",), callable)
JOBS = Condition(("None", "an integer other than 0"), _is_jobs)
KERNEL, KERNELS = Read(as_kernel), Read(_read_kernel)
LANDMARKS, MEMORY, RANDOM = Read(check_landmarks), Read(parse_memory), Read(check_seed)
REGS = POSITIVE | choice("loo") | POSITIVE_LIST
MOMENT_REGS = POSITIVE | choice("loo", "gcv") | POSITIVE_LIST
LABEL_KERNEL = choice(*LABEL_KERNELS) | FUNCTION | ARRAY
TARGET_TYPE = choice(*TARGET_TYPES)
CLASS_WEIGHT = (
    NONE
    | choice("balanced")
    | Condition(
        ("a dict of classes to numbers",),
        lambda value: isinstance(value, Mapping) and all(map(_is_moderate, value.values())),
    )
)

VERBOSE = Condition(("an integer, 0 for silence",), lambda v: _is_bool(v) or is_whole(v, 0))

ParameterTable = dict[str, Condition | Read]
# What all estimators share that draw, those of a subspace, and those that weigh kernels.
SEEDED: ParameterTable = {"memory_budget": MEMORY, "random_state": RANDOM}
SUBSPACE: ParameterTable = SEEDED | {
    "kernel": KERNEL,
    "n_components": COUNT | NONE,
    "landmarks": LANDMARKS,
}
# Those that learn from streams.
STREAMED: ParameterTable = SUBSPACE | {"verbose": VERBOSE}
WEIGHTS: ParameterTable = {
    "kernel": KERNELS,
    "weights": choice("learn", "loo", "uniform", "alignment") | ARRAY,
    "solver": choice("auto", *SOLVERS),
    "tol": POSITIVE,
    "max_iter": COUNT | NONE,
    "memory_budget": MEMORY,
}
# Those that weigh kernels before they learn.
BANK: ParameterTable = {
    "kernel": KERNELS,
    "weights": choice("loo", "uniform", "alignment") | ARRAY,
}


def check_positive(name: str, value: object, owner: object) -> float:
    """A positive finite number as a float."""
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < np.inf:
        return float(value)
    raise ValueError(
        f"{type(owner).__name__}({name}={value!r}): {name} must be a positive finite number."
    )


def check_regs(regs: object, owner: object, name: str = "reg") -> list[float]:
    """The values of a parameter along a path: positive numbers, one at least."""
    values = as_array(regs, f"{name}s").ravel().tolist()
    if not values:
        raise ValueError(f"{name}s is empty; a path needs at least one {name}.")
    return [check_positive(name, value, owner) for value in values]


def check_count(name: str, value: int, owner: object) -> int:
    """A positive integer."""
    COUNT.check(name, value, owner)
    return int(value)


def check_n_components(value: int | None, default: int, owner: object) -> int:
    """The number of components, ``default`` for None."""
    return default if value is None else check_count("n_components", value, owner)
