"""Where models leave the process: files without pickle, ONNX, AutoGluon."""

from typing import TYPE_CHECKING

from kernel_learn.namespaces import import_when_asked, list_only

if TYPE_CHECKING:
    from kernel_learn.interop import files, onnx

__all__ = ["files", "onnx"]

__dir__ = list_only(__all__)
__getattr__ = import_when_asked(  # no list has autogluon: it needs that package
    __name__,
    {"autogluon": "interop.autogluon", "files": "interop.files", "onnx": "interop.onnx"},
)
