"""Where rows come from: sources that are read in blocks, and real data sets from a folder."""

from kernel_learn.datasets.blocks import Blocks
from kernel_learn.datasets.folder import DataFolder, find_data

__all__ = ["Blocks", "DataFolder", "find_data"]
