"""Where rows come from: sources that are read in blocks, and real data sets from a folder."""

from typing import TYPE_CHECKING

from kernel_learn.datasets.folder import DataFolder, DataSets, find_data
from kernel_learn.namespaces import import_when_asked, list_only
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

__dir__ = list_only(__all__)
__getattr__ = import_when_asked(  # with all that workers do
    __name__, {"DaskSource": "streams.dask"}
)
