"""Learning kernels for classification, with the interface of scikit-learn."""

# Names are imported when they are first asked for: ``kernel-learn --help`` and reading a table need
# no solver, and scikit-learn alone takes a second to import.
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kernel_learn._version import __version__

if TYPE_CHECKING:
    from kernel_learn import constraints, inspection, kernels, metrics, presets
    from kernel_learn.estimators import (
        AlignmentSubspace,
        ExpansionSVC,
        FeatureScales,
        HSICSubspace,
        InductiveKernel,
        KernelClassifier,
        KernelDiscriminant,
        KernelDiscriminantQR,
        KernelLMNN,
        KernelMCML,
        KernelMMC,
        KernelNCA,
        KernelOrthogonalCentroid,
        KernelPLS,
        KernelPLSRegressor,
        KernelRCA,
        MultiKernelSVC,
        PairClassifier,
        SubspaceSVC,
    )
    from kernel_learn.interop.files import describe, load, save
    from kernel_learn.interop.onnx import export_onnx
    from kernel_learn.representations import Landmarks

__all__ = [
    "AlignmentSubspace",
    "ExpansionSVC",
    "FeatureScales",
    "HSICSubspace",
    "InductiveKernel",
    "KernelClassifier",
    "KernelDiscriminant",
    "KernelDiscriminantQR",
    "KernelLMNN",
    "KernelMCML",
    "KernelMMC",
    "KernelNCA",
    "KernelOrthogonalCentroid",
    "KernelPLS",
    "KernelPLSRegressor",
    "KernelRCA",
    "Landmarks",
    "MultiKernelSVC",
    "PairClassifier",
    "SubspaceSVC",
    "__version__",
    "constraints",
    "describe",
    "export_onnx",
    "inspection",
    "kernels",
    "load",
    "metrics",
    "presets",
    "save",
]

# Where a name stands, unless in kernel_learn.estimators. Lower-case names are modules.
HOMES = {
    "Landmarks": "representations",
    "describe": "interop.files",
    "export_onnx": "interop.onnx",
    "load": "interop.files",
    "save": "interop.files",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'kernel_learn' has no attribute {name!r}")
    if name.islower() and name not in HOMES:
        return import_module(f"kernel_learn.{name}")
    value = getattr(import_module(f"kernel_learn.{HOMES.get(name, 'estimators')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
