"""What a user passes as a source of blocks; Dask's collections too, where Dask is there."""

import sys

from kernel_learn.rows.block import Given
from kernel_learn.rows.frames import is_frame
from kernel_learn.streams.blocks import Blocks, RowSource
from kernel_learn.streams.derived import Derivable, DerivedSource
from kernel_learn.streams.parquet import ParquetSource


def is_collection(X: Given) -> bool:
    """Whether X is an array or frame of Dask."""
    return hasattr(type(X), "__dask_graph__")


def as_source(X: Given, y: Given = None, weight: Given = None) -> RowSource | None:
    """X as a source of blocks; None if it is rows, as lists, arrays and frames are.

    A Dask collection takes labels and weights with it; any other source has its own.
    """
    if is_collection(X):
        from kernel_learn.streams.dask import DaskSource

        return DaskSource(X, y, weight)
    source = _own_source(X)
    if source is not None and not (y is None and weight is None):
        raise ValueError(
            "X is a source of blocks, which has its own labels and weights: pass it alone."
        )
    return source


def _own_source(X: Given) -> RowSource | None:
    if isinstance(X, RowSource) and not is_frame(X):
        return X
    is_rows = hasattr(X, "shape") or hasattr(X, "__array__") or is_frame(X)
    if not is_rows and (callable(X) or hasattr(X, "__next__")):
        return Blocks(X)
    return None


def spread_source(source: RowSource) -> RowSource:
    """The source as the workers of a connected Dask client read it, if they can."""
    if "distributed" in sys.modules and isinstance(source, DerivedSource):
        inner = spread_source(source.source)
        if inner is source.source:
            return source
        assert isinstance(inner, Derivable)
        return inner.derived(source.change, source.what, keeps_rows=hasattr(source, "n_rows"))
    if "distributed" not in sys.modules or not isinstance(source, ParquetSource):
        return source
    from kernel_learn.streams.dask import parquet_rows

    return parquet_rows(source)
