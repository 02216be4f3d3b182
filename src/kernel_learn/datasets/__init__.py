"""Where rows come from: sources that are read in blocks, and real data sets from a folder."""

from kernel_learn.datasets.folder import DataFolder, DataSets, find_data
from kernel_learn.streams.blocks import Blocks
from kernel_learn.streams.files import CsvSource, LibsvmSource, NpySource
from kernel_learn.streams.parquet import ParquetSource

__all__ = [
    "Blocks",
    "CsvSource",
    "DataFolder",
    "DataSets",
    "LibsvmSource",
    "NpySource",
    "ParquetSource",
    "find_data",
]
