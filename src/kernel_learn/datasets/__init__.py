"""Where rows come from: sources that are read in blocks, and real data sets from a folder."""

from typing import TYPE_CHECKING

from kernel_learn.datasets.folder import DataFolder, DataSets, find_data
from kernel_learn.streams.blocks import Blocks
from kernel_learn.streams.files import CsvSource, LibsvmSource, NpySource
from kernel_learn.streams.parquet import ParquetSource

if TYPE_CHECKING:
    from kernel_learn.streams.dask import DaskSource

__all__ = [
    "Blocks",
    "CsvSource",
    "DaskSource",
    "DataFolder",
    "DataSets",
    "LibsvmSource",
    "NpySource",
    "ParquetSource",
    "find_data",
]


def __getattr__(name: str) -> object:
    if name != "DaskSource":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kernel_learn.streams.dask import DaskSource  # with all that workers do

    return DaskSource
