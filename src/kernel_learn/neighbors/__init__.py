"""The learned kernel as an index: the nearest rows of new ones, for search and for graphs."""

from kernel_learn.neighbors.kernel_index import KernelIndex

__all__ = ["KernelIndex"]
