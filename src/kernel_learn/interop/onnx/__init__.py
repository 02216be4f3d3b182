"""ONNX: models for programs without Python."""

from kernel_learn.interop.onnx.converters import introduce, register
from kernel_learn.interop.onnx.export import export_onnx
from kernel_learn.interop.onnx.kernels import OnnxExportError

__all__ = ["OnnxExportError", "export_onnx", "introduce", "register"]
