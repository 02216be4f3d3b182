"""Real data sets from a folder that the user names."""

from kernel_learn.datasets.folder import DataFolder, find_data

__all__ = ["DataFolder", "find_data"]
