"""ONNX: models for programs without Python."""

from kernel_learn.interop.onnx.converters import introduce, register
from kernel_learn.interop.onnx.export import export_onnx
from kernel_learn.interop.onnx.kernels import OnnxExportError
from kernel_learn.namespaces import list_only

__all__ = ["OnnxExportError", "export_onnx", "introduce", "register"]

__dir__ = list_only(__all__)
