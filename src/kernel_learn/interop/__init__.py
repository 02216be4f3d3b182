"""Where models leave the process: files without pickle, ONNX, AutoGluon."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernel_learn.interop import files, onnx

__all__ = ["files", "onnx"]


def __getattr__(name: str) -> object:
    # autogluon cannot be imported without that package, so that no list has it
    if name != "autogluon" and name not in __all__:
        raise AttributeError(f"module 'kernel_learn.interop' has no attribute {name!r}")
    return _import_module(f"kernel_learn.interop.{name}")
