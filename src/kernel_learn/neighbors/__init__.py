"""The learned kernel as an index: the nearest rows of new ones, for search and for graphs."""

from kernel_learn.namespaces import list_only
from kernel_learn.neighbors.kernel_index import KernelGraph, KernelIndex

__all__ = ["KernelGraph", "KernelIndex"]

__dir__ = list_only(__all__)
