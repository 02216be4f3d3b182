"""Learning kernels for classification, with the interface of scikit-learn."""

# Names are imported when they are first asked for: ``kernel-learn --help`` and reading a table need
# no solver, and scikit-learn alone takes a second to import.
from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from kernel_learn._version import __version__

if TYPE_CHECKING:
    from kernel_learn import (
        constraints,
        datasets,
        inspection,
        interop,
        kernels,
        metric_learning,
        metrics,
        model_selection,
        neighbors,
        papers,
        presets,
        report,
        tables,
        testing,
    )
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
        KernelRegressor,
        MultiKernelSVC,
        PairClassifier,
        SubspaceSVC,
        TableEncoder,
    )
    from kernel_learn.estimators.pipeline import make_pipeline
    from kernel_learn.interop.files import describe, load, save
    from kernel_learn.interop.onnx import export_onnx
    from kernel_learn.representations import Landmarks
    from kernel_learn.streams.blocks import Blocks
    from kernel_learn.streams.dask import DaskSource
    from kernel_learn.streams.files import CsvSource, LibsvmSource, NpySource
    from kernel_learn.streams.parquet import ParquetSource

__all__ = [
    "AlignmentSubspace",
    "Blocks",
    "CsvSource",
    "DaskSource",
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
    "KernelRegressor",
    "Landmarks",
    "LibsvmSource",
    "MultiKernelSVC",
    "NpySource",
    "PairClassifier",
    "ParquetSource",
    "SubspaceSVC",
    "TableEncoder",
    "__version__",
    "constraints",
    "datasets",
    "describe",
    "export_onnx",
    "inspection",
    "interop",
    "kernels",
    "load",
    "make_pipeline",
    "metric_learning",
    "metrics",
    "model_selection",
    "neighbors",
    "papers",
    "presets",
    "report",
    "save",
    "tables",
    "testing",
]

# Where a name stands, unless in kernel_learn.estimators. Other lower-case names are modules.
_HOMES = {
    "Blocks": "streams.blocks",
    "CsvSource": "streams.files",
    "DaskSource": "streams.dask",
    "Landmarks": "representations",
    "LibsvmSource": "streams.files",
    "NpySource": "streams.files",
    "ParquetSource": "streams.parquet",
    "describe": "interop.files",
    "export_onnx": "interop.onnx",
    "load": "interop.files",
    "make_pipeline": "estimators.pipeline",
    "save": "interop.files",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'kernel_learn' has no attribute {name!r}")
    if name.islower() and name not in _HOMES:
        return _import_module(f"kernel_learn.{name}")
    value = getattr(_import_module(f"kernel_learn.{_HOMES.get(name, 'estimators')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
