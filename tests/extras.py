"""Packages that need not be installed: a test that uses a missing one is skipped."""

import importlib
from typing import Any

import pytest


class Missing:
    """In the place of a package: its first use skips the test, or the file that is read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # pytest looks at every object of a file for ``__test__``
            raise AttributeError(attribute)
        pytest.skip(f"needs {self._name}", allow_module_level=True)


def optional(name: str) -> Any:
    """The package, or what skips where it is used."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return Missing(name)
