"""Dask collections, and Parquet files on a Dask client, as sources of rows; lazy results.

Needs the extra ``dask``.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array, Rows
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.block import Block, Given
from kernel_learn.streams.blocks import READ_ROWS, RowSource, source_text
from kernel_learn.streams.checked_blocks import bad_block, bad_row
from kernel_learn.streams.checkpoint import CONTENTS, EITHER
from kernel_learn.streams.dask_rows import SpreadRows
from kernel_learn.streams.dask_tree import (
    Graph,
    connected_client,
    itself,
    need_dask,
    one_thread_each,
)
from kernel_learn.streams.files import choose_columns
from kernel_learn.streams.parquet import ParquetSource

Collection = Any  # a Dask array or frame
Names = str | list[str]  # of columns


class DaskSource(SpreadRows):
    """Rows of a Dask array or frame with their labels, read block by block on the workers.

    ``fit(X, y)`` takes collections themselves; a source of them can be split and transformed
    first, and what it gives is read by the workers too.

    Parameters
    ----------
    X : Dask array or data frame
        An array of shape (n, d), or a frame.
    y : Dask collection, array, str or list of str, default=None
        The labels, in the blocks of X; of a frame the name of their column, or several.
    weight : Dask collection, array or str, default=None
        The weights alike.

    Notes
    -----
    Needs the extra ``dask``.
    """

    def __init__(self, X: Collection, y: Given = None, weight: Given = None) -> None:
        dask = need_dask()
        if not hasattr(type(X), "__dask_graph__"):
            raise TypeError(
                f"X is a {type(X).__name__}; a DaskSource is of a Dask array or data frame. "
                "Rows in memory are passed to fit as they are."
            )
        given = {"y": y, "sample_weight": weight}
        columns: dict[str, Names] = {}
        if is_dask_frame(X):
            columns = {name: own for name, own in given.items() if is_column(X, own)}
            given.update(dict.fromkeys(columns))
        elif len(getattr(X, "shape", ())) not in (1, 2):
            raise TypeError(
                f"X is a Dask {type(X).__name__}; rows are a Dask array of shape (n, d) or a Dask "
                "data frame."
            )
        X = whole_rows(X)
        others = (own if own is None else with_blocks_of(X, own, k) for k, own in given.items())
        parts = [X, *others]
        # labels and weights may be columns of the rows
        named = {EITHER: X} if columns else dict(zip(CONTENTS, parts, strict=False))
        graph, keys = graph_of(parts)
        super().__init__(
            graph,
            keys,
            partial(open_part, columns),
            known_sizes(X),
            {name: dask.base.tokenize(own) for name, own in named.items()} | columns,
            largest_block(X),
        )
        gone = [name for names in columns.values() for name in as_list(names)]
        width = X.shape[1] - len(gone) if len(X.shape) == 2 else 1
        target = columns.get("y", None if y is None else type(y).__name__)
        where = f"{type(X).__name__} of {self.n_blocks:,} blocks"
        self.text = source_text(self, where, self.n_rows, width, target)


def graph_of(parts: list[Collection | None]) -> tuple[Graph, list[list[object]]]:
    """One graph of collections with the same blocks, and their keys block by block."""
    dask = need_dask()
    given = [own for own in parts if own is not None]
    arrays = iter(dask.optimize(*(own for own in given if not is_tabular(own))))
    graph: Graph = {}
    keys: list[list[object]] = []
    for own in parts:
        if own is None:
            keys.append([None] * n_blocks(given[0]))
            continue
        # what arrays share is computed once; frames read the columns that they need, and none of
        # their blocks is fused with another, which would be others for rows than for labels
        own = own.simplify() if is_tabular(own) else next(arrays)
        graph.update(own.__dask_graph__())
        keys.append(list(dask.core.flatten(own.__dask_keys__())))
    return graph, [list(part) for part in zip(*keys, strict=True)]


def lazy_results(
    X: Collection, estimator: BaseEstimator, method: str, /, *args: Given, **options: Given
) -> Collection:
    """``estimator.method(X, ...)`` as a Dask array with the blocks of X."""
    rows = DaskSource(X)
    none = np.asarray(getattr(estimator, method)(few_rows(X), *args, **options))[:0]
    of_block = partial(result_of, args=args, options=options)
    name = f"kernel-learn-{method}-{uuid4().hex}"
    model, graph = f"{name}-model", dict(rows.graph)
    graph[model] = (itself, estimator)  # once, and not in every task
    starts = [None] * rows.n_blocks if rows.sizes is None else np.cumsum([0, *rows.sizes]).tolist()
    for i, part in enumerate(rows.parts):
        key = (name, i, *(0 for _ in none.shape[1:]))
        graph[key] = (of_block, model, method, none, i, starts[i], part[0])
    sizes = [np.nan] * rows.n_blocks if rows.sizes is None else rows.sizes
    chunks = (tuple(sizes), *((n,) for n in none.shape[1:]))
    return need_dask().array.Array(graph, name, chunks, meta=none)


def result_of(
    model: BaseEstimator,
    method: str,
    none: Array,  # the result for no rows
    number: int,
    start: int | None,
    X: Given,
    args: Sequence[Given] = (),
    options: Mapping[str, Given] = MappingProxyType({}),
) -> Array:
    """What a method gives for one block; what is wrong is named by block and row."""
    if Block(X).n_rows == 0:
        return none
    try:
        with one_thread_each():
            return getattr(model, method)(X, *args, **options)
    except ValueError as error:
        raise bad_block(error, number, bad_row(X), start) from error


def open_part(columns: dict[str, Names], part: list[Given]) -> Iterator[Block]:
    """A raw block of ``[rows, labels, weights]``; labels and weights may be columns of the rows."""
    X, *own = part
    for i, name in enumerate(("y", "sample_weight")):
        own[i] = X[columns[name]] if name in columns else own[i]
        own[i] = own[i].to_numpy() if hasattr(own[i], "to_numpy") else own[i]
    gone = [name for names in columns.values() for name in as_list(names)]
    beside = {name: X[name].to_numpy() for name in gone}
    yield Block(X.drop(columns=gone) if gone else X, *own).put_beside(beside)


def as_list(names: Given) -> list[str]:
    """One name or several, as several."""
    return list(names) if isinstance(names, list) else [names]


# -- blocks of collections ---------------------------------------------------------------


def is_tabular(X: Collection) -> bool:
    """Whether X is a Dask frame or series, not an array."""
    return hasattr(X, "divisions")


def is_dask_frame(X: Collection) -> bool:
    """Whether X is a Dask data frame, not a series or an array."""
    return is_tabular(X) and hasattr(X, "columns")


def is_column(X: Collection, names: Given) -> bool:
    """Whether it is the name of a column or a list of some; refuses those that are not there."""
    names = as_list(names)
    if not all(isinstance(name, str) for name in names):
        return False
    choose_columns(list(X.columns), names, None, None, "The Dask frame")
    return True


def n_blocks(X: Collection) -> int:
    """How many blocks of rows a collection has."""
    return int(X.npartitions) if is_tabular(X) else len(X.chunks[0])


def known_sizes(X: Collection) -> list[int] | None:
    """Rows of each block; None if they are not known before they are computed."""
    if is_tabular(X) or np.isnan(X.chunks[0]).any():
        return None
    return [int(size) for size in X.chunks[0]]


def largest_block(X: Collection) -> float:
    """Bytes of the largest block; 0 if that is not known."""
    sizes = known_sizes(X)
    if sizes is None or X.dtype.kind == "O" or is_sparse(X._meta):
        return 0.0
    return float(max(sizes, default=0)) * X.dtype.itemsize * np.prod(X.shape[1:])


def whole_rows(X: Collection) -> Collection:
    """No row is cut in two."""
    return X if is_tabular(X) or X.ndim == 1 else X.rechunk({1: -1})


def with_blocks_of(X: Collection, values: Given, name: str) -> Collection:
    """Labels or weights as a collection with the blocks of X."""
    dask, sizes = need_dask(), known_sizes(X)
    if not hasattr(type(values), "__dask_graph__"):
        values = np.asarray(values)
        if values.ndim == 0:
            raise ValueError(f"{name} is {values.item()!r}; one of each row is needed.")
        if sizes is None:
            raise ValueError(
                f"{name} is an array, and it is not known how many rows the blocks of X have. "
                f"Pass {name} as a Dask collection with the same blocks, or call "
                "X.compute_chunk_sizes() on an array."
            )
        if len(values) != sum(sizes):
            raise ValueError(f"X has {sum(sizes)} rows and {name} has {len(values)}.")
        return dask.array.from_array(values, chunks=(tuple(sizes), *values.shape[1:]))
    own, values = known_sizes(values), whole_rows(values)
    if own is not None and sizes is not None:
        if sum(own) != sum(sizes):
            raise ValueError(f"X has {sum(sizes)} rows and {name} has {sum(own)}.")
        return values.rechunk({0: tuple(sizes)})
    # frames keep their blocks (``graph_of``), arrays of them have those of reads that were fused
    alike = n_blocks(values) == n_blocks(X)
    framed = is_tabular(X) and is_tabular(values)
    if alike and (framed or count_blocks(X, 1) == count_blocks(values, 1)):
        return values
    return recut(values, sizes or count_blocks(X), name)


def recut(values: Collection, sizes: list[int], name: str) -> Collection:
    """Labels or weights in blocks of these sizes; those of their own are counted.

    Arrays of what Dask has read from files have other blocks than those of other columns.
    """
    values = values.values if is_tabular(values) else values
    own = known_sizes(values) or count_blocks(values)
    if sum(own) != sum(sizes):
        raise ValueError(f"X has {sum(sizes)} rows and {name} has {sum(own)}.")
    chunks, array = (tuple(own), *values.chunks[1:]), need_dask().array.Array
    known = array(values.__dask_graph__(), values.name, chunks, meta=values._meta)
    return known.rechunk({0: tuple(sizes)})


def count_blocks(X: Collection, most: int | None = None) -> list[int]:
    """The rows of each block, or of the first of them, which are computed for it."""
    from dask.delayed import Delayed

    graph, parts = graph_of([X])
    parts = parts[:most]
    name = f"kernel-learn-count-{uuid4().hex}"
    graph.update({(name, i): (count_rows, part) for i, (part,) in enumerate(parts)})
    counts = need_dask().compute(*(Delayed((name, i), graph) for i in range(len(parts))))
    return [int(n) for n in counts]


def count_rows(X: Given) -> int:
    """The rows of a block."""
    return Block(X).n_rows


def few_rows(X: Collection) -> Rows:
    """Two rows of the type of X, to see what a method makes of them."""
    if is_tabular(X):
        return X._meta_nonempty.iloc[[0, 0]]  # the second one has missing texts
    shape = (2, *X.shape[1:])
    if X.dtype.kind in "OUS":
        return np.full(shape, "a", dtype=X.dtype)
    rows = np.ones(shape, dtype=X.dtype)
    return type(X._meta)(rows) if is_sparse(X._meta) else rows


# -- Parquet files -----------------------------------------------------------------------


def parquet_rows(source: ParquetSource) -> RowSource:
    """The files as a connected client's workers read them, a row group at a time."""
    if connected_client() is None:
        return source
    source = copy(source)
    source.files = [file.resolve() for file in source.files]
    groups = source.row_groups()
    read = partial(read_group, source, groups)
    sizes = [rows for _, _, rows in groups]
    return SpreadRows({}, range(len(groups)), read, sizes, source.identity())


def read_group(
    source: ParquetSource, groups: list[tuple[int, int, int]], number: int
) -> Iterator[Block]:
    """The rows of a row group, a few thousand at a time; refuses a file that has more or fewer."""
    file, group, _ = groups[number]
    known, found = [own for own, *_ in groups].count(file), source.count_groups(file)
    if found != known:
        raise ValueError(
            f"{source.files[file].name} had {known} row groups when the fit began and has {found} "
            "in a later pass: the file was changed. Fit again when nothing writes to it."
        )
    return source.read_file(file, READ_ROWS, [group])
