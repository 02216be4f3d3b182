"""Parameters of kernels by name, through banks too: ``kernel__gamma``, ``kernel__view__gamma``.

What the user gave is never written to: a changed kernel is a new one, and so is
the dict or list it stands in.
"""

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

from kernel_learn.kernels.base import Bank, KernelLike, KernelsLike
from kernel_learn.kernels.resolve import as_kernel, is_bank, named_kernels


def nested_parameters(spec: KernelsLike) -> dict[str, object]:
    """Parameters of what was given for ``kernel=``, by their names below ``kernel__``."""
    if not is_bank(spec):
        try:
            return dict(as_kernel(spec).get_params(deep=True)) if isinstance(spec, str) else {}
        except ValueError:  # an unknown name is refused by fit
            return {}
    found: dict[str, object] = {}
    for name, kernel in zip(*named_kernels(spec), strict=True):
        found[name] = kernel
        inside = kernel.get_params(deep=True) if hasattr(kernel, "get_params") else {}
        for key, value in {**inside, **nested_parameters(kernel)}.items():
            found[f"{name}__{key}"] = value
    return found


def with_parameters(spec: KernelsLike, changes: Mapping[str, object]) -> KernelsLike:
    """What was given for ``kernel=``, with some parameters changed: a new object."""
    if is_bank(spec):
        return _bank_with(spec, changes)
    kernel = as_kernel(spec) if isinstance(spec, str) else spec
    if not hasattr(kernel, "set_params") or isinstance(kernel, type):
        raise ValueError(
            f"kernel={spec!r} has no parameters that can be set by name: {', '.join(changes)}. "
            "Give an object of kernel_learn.kernels."
        )
    changed: KernelLike = clone(kernel).set_params(**changes)
    return changed


def _bank_with(spec: Bank, changes: Mapping[str, object]) -> Bank:
    names, kernels = named_kernels(spec)
    bank: dict[str, Any] = dict(zip(names, kernels, strict=True))
    inside: dict[str, dict[str, object]] = {}
    for key, value in changes.items():
        # a name may hold "__" itself: the longest that fits
        fitting = [name for name in names if key == name or key.startswith(f"{name}__")]
        if not fitting:
            raise ValueError(
                f"kernel__{key} names no kernel of the bank, whose kernels are {', '.join(names)}."
            )
        name = max(fitting, key=len)
        if key == name:
            bank[name] = value
        else:
            inside.setdefault(name, {})[key.removeprefix(f"{name}__")] = value
    for name, own in inside.items():
        bank[name] = with_parameters(bank[name], own)
    if isinstance(spec, Mapping):
        return dict(zip(spec, bank.values(), strict=True))
    return type(spec)(bank.values())  # type: ignore[call-arg]  # a list or a tuple
