"""Learned kernels for classification, regression and features, as scikit-learn estimators."""

# Names are imported when they are first asked for: ``kernel-learn --help`` and reading a table need
# no solver, and scikit-learn alone takes a second to import.
from typing import TYPE_CHECKING

from kernel_learn._version import __version__
from kernel_learn.namespaces import import_when_asked as _import_when_asked
from kernel_learn.namespaces import list_only as _list_only

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

__dir__ = _list_only(__all__)
__getattr__ = _import_when_asked(
    __name__,
    {name: name if name.islower() else "estimators" for name in __all__}
    | {
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
    },
)
