"""Packages that need not be installed: a test that uses a missing one is skipped."""

import importlib
import importlib.util
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


def skip_if_missing(error: BaseException) -> None:
    """Skip where an error says that a package is not installed, and it is not."""
    cause = error.__cause__ if isinstance(error.__cause__, ImportError) else error
    package = (getattr(cause, "name", None) or "").partition(".")[0]
    if package and isinstance(cause, ImportError) and not importlib.util.find_spec(package):
        pytest.skip(f"needs {package}")
