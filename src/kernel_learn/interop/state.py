"""What a file says of a model's state, looked at before the model is given out.

A type that is on the list can still hold arrays that its code trusts: LIBSVM reads beyond an
array whose counts are wrong, a tree whose nodes point back never ends. Every object of a model is
held against the rules of its type.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from types import FunctionType

import numpy as np
from scipy.sparse import sparray, spmatrix
from sklearn.base import BaseEstimator

from kernel_learn.interop import foreign_state, own_state
from kernel_learn.interop.errors import WrongStateError
from kernel_learn.interop.foreign_state import Held
from kernel_learn.interop.shapes import ArrayRule, rules_of_types
from kernel_learn.interop.trusted import OURS
from kernel_learn.rows.access import is_sparse

RULES = rules_of_types(OURS)
CHECKS = {**foreign_state.CHECKS, **own_state.CHECKS}
NUMBERS = "fiub"
# Types and functions are names that were looked up, and sparse matrices were looked at before.
WITHOUT_STATE = (type, FunctionType, np.ufunc, spmatrix, sparray)


def check_state(model: object, trusted: Collection[str] = ()) -> None:
    """Look at every object that a model holds but those of types the user trusts."""
    for part in parts_of(model):
        name = full_name(type(part))
        if name in trusted:
            continue
        check_own_attributes(part)
        check_has_parameters(part)
        sizes: dict[str, int] = {}
        features = vars(part).get("n_features_in_")
        if isinstance(features, int | np.integer):
            sizes["p"] = int(features)
        elif features is not None:
            raise WrongStateError(f"{type(part).__name__} does not say how many columns it takes")
        for rule in RULES.get(name, ()):
            check_attribute(part, rule, sizes)
        if name in CHECKS and is_filled(part):
            check_whole(part, CHECKS[name])


def is_filled(part: object) -> bool:
    """Whether it was fitted, if it is something that is."""
    is_estimator = hasattr(part, "get_params") and hasattr(part, "fit")
    return not is_estimator or any(name.endswith("_") for name in vars(part))


def check_whole(part: object, check: Callable[[object], None]) -> None:
    """A check of a whole object, for which what it asks about may not be there at all."""
    try:
        check(part)
    except WrongStateError:
        raise
    except Exception as error:
        raise WrongStateError(f"{type(part).__name__} is not whole: {error}") from error


def full_name(kind: type) -> str:
    """A type by its module and name."""
    return f"{kind.__module__}.{kind.__qualname__}"


def parts_of(model: object) -> Iterator[object]:
    """Every object with attributes in a model, itself included, each once."""
    waiting, seen = [model], {id(model)}
    while waiting:
        part = waiting.pop()
        inside: list[object] = []
        if isinstance(part, dict):
            inside = [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple | set | frozenset):
            inside = list(part)
        elif isinstance(part, np.ndarray):
            inside = part.ravel().tolist() if part.dtype == object else []
        elif hasattr(part, "__dict__") and not isinstance(part, WITHOUT_STATE):
            yield part
            inside = list(vars(part).values())
        for value in inside:
            if id(value) not in seen:
                seen.add(id(value))
                waiting.append(value)


def check_own_attributes(part: object) -> None:
    """Nothing of a class is replaced: a file gives values, and code asks its class how to run."""
    kind = type(part)
    known = {field.name for field in fields(part)} if is_dataclass(part) else set()
    for name in vars(part):
        if name in known or not hasattr(kind, name):
            continue
        if not isinstance(getattr(kind, name), cached_property) and not is_placeholder(kind, name):
            raise WrongStateError(
                f"{kind.__name__} has its own {name!r}, which belongs to its class"
            )


def check_has_parameters(part: object) -> None:
    """An estimator has all of its parameters."""
    if isinstance(part, BaseEstimator):
        try:
            part.get_params(deep=False)
        except AttributeError as error:
            raise WrongStateError(f"{type(part).__name__} lacks a parameter ({error})") from error


def is_placeholder(kind: type, name: str) -> bool:
    """Whether a class holds the attribute for its objects to replace: None until it is known."""
    return getattr(kind, name) is None


def check_attribute(part: object, rule: ArrayRule, sizes: dict[str, int]) -> None:
    """One attribute, whose letters are known or become so."""
    value: Held = part
    for name in rule.attribute.split("."):
        value = getattr(value, name, None)
    if value is None:
        return
    where = f"{type(part).__name__}.{rule.attribute}"
    if rule.equals:
        if not isinstance(value, int | np.integer) or value != sizes.get(rule.equals):
            raise WrongStateError(f"{where} counts {value!r}, and {sizes.get(rule.equals)} are due")
        return
    if isinstance(value, list | tuple):
        try:
            value = np.asarray(value)
        except ValueError as error:
            raise WrongStateError(f"{where} holds lists of several lengths") from error
    shape = () if isinstance(value, int | float) else getattr(value, "shape", None)
    if not isinstance(shape, tuple):
        raise WrongStateError(f"{where} is a {type(value).__name__} and no array")
    check_dimensions(shape, rule.dimensions, sizes, where)
    if isinstance(value, float):
        value = np.asarray(value)
    if is_sparse(value):
        value = value.data
    if isinstance(value, np.ndarray):
        check_entries(value, rule, sizes, where)


def check_dimensions(
    shape: tuple[int, ...], letters: str, sizes: dict[str, int], where: str
) -> None:
    """As many dimensions as letters, each as long as its letter says."""
    named = letters.removesuffix("*")
    is_open = letters.endswith("*")
    if len(shape) < len(named) or (len(shape) > len(named) and not is_open):
        raise WrongStateError(f"{where} has the shape {shape}, and {len(named)} dimensions are due")
    for letter, size in zip(named, shape, strict=False):
        if sizes.setdefault(letter, size) != size:
            raise WrongStateError(
                f"{where} has the shape {shape}, and {sizes[letter]} entries are due where it has "
                f"{size}"
            )


def check_entries(value: np.ndarray, rule: ArrayRule, sizes: dict[str, int], where: str) -> None:
    """Numbers, finite, ascending or in range where the rule says so."""
    if not rule.may_miss and value.dtype.kind == "f" and not np.isfinite(value).all():
        raise WrongStateError(f"{where} holds entries that are not finite")
    if rule.is_any_type:
        return
    if value.dtype.kind not in NUMBERS:
        raise WrongStateError(f"{where} holds {value.dtype} and no numbers")
    if rule.is_positive and value.size and not value.min() >= 0:
        raise WrongStateError(f"{where} holds negative numbers")
    if rule.ascends and len(value) and np.any(np.diff(value, axis=0) < 0):
        raise WrongStateError(f"{where} is not in ascending order")
    if rule.below and value.size:
        is_whole = value.dtype.kind in "iu"
        if not is_whole or value.min() < 0 or value.max() >= sizes.get(rule.below, 0):
            raise WrongStateError(
                f"{where} holds positions beyond the {sizes.get(rule.below, 0)} that there are"
            )
