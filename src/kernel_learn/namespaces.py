"""What the public packages show, and what they import only when it is asked for."""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module


def list_only(names: Iterable[str]) -> Callable[[], list[str]]:
    """A package's ``__dir__``: its public names, and nothing that it merely imports."""
    return lambda: sorted(names)


def import_when_asked(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """A package's ``__getattr__``: each name from its home below ``kernel_learn``.

    A home that ends with the name is itself what is asked for.
    """

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(f"kernel_learn.{homes[name]}")
        value = home if homes[name].split(".")[-1] == name else getattr(home, name)
        setattr(sys.modules[package], name, value)
        return value

    return find
