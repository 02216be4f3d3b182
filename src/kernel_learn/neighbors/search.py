"""Nearest rows by Euclidean distance of features: all of them looked at, or by faiss."""

from types import ModuleType
from typing import Protocol

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.access import row_blocks

BLOCK_BYTES = 2**26  # of distances at a time
LINKS, WIDTH = 32, 128  # of faiss' graph: neighbours of a node, nodes that a search looks at


class NeighborSearch(Protocol):
    """The k nearest of some rows of features."""

    def query(self, Z_new: Array, k: int) -> tuple[Array, Array]:
        """(squared distances (n_new, k), positions (n_new, k)), nearest first."""


class ExactSearch:
    """All distances, in blocks of rows; of equal ones the row that stands first."""

    def __init__(self, Z: Array) -> None:  # (n, M)
        self.Z, self.squares = Z, np.einsum("ij,ij->i", Z, Z)

    def query(self, Z_new: Array, k: int) -> tuple[Array, Array]:
        """(squared distances (n_new, k), positions (n_new, k)), nearest first."""
        distances, found = np.empty((len(Z_new), k)), np.empty((len(Z_new), k), dtype=np.intp)
        for rows in row_blocks(len(Z_new), max(1, BLOCK_BYTES // (8 * len(self.Z)))):
            Z = Z_new[rows]
            D = self.squares - 2 * (Z @ self.Z.T)
            D += np.einsum("ij,ij->i", Z, Z)[:, None]
            distances[rows], found[rows] = nearest(np.maximum(D, 0.0, out=D), k)
        return distances, found


class GraphSearch:
    """Malkov & Yashunin's graph (HNSW) by faiss: most of the nearest, and not always all."""

    def __init__(self, Z: Array) -> None:  # (n, M)
        faiss = import_faiss()
        self.index = faiss.IndexHNSWFlat(Z.shape[1], LINKS)
        self.index.hnsw.efConstruction = 2 * WIDTH
        faiss.omp_set_num_threads(1)  # the order in which threads add rows changes the graph
        self.index.add(np.ascontiguousarray(Z, dtype=np.float32))

    def query(self, Z_new: Array, k: int) -> tuple[Array, Array]:
        """(squared distances (n_new, k), positions (n_new, k)), nearest first."""
        self.index.hnsw.efSearch = max(WIDTH, 2 * k)
        D, found = self.index.search(np.ascontiguousarray(Z_new, dtype=np.float32), k)
        return np.asarray(D, dtype=np.float64), np.asarray(found, dtype=np.intp)


def nearest(D: Array, k: int) -> tuple[Array, Array]:
    """The k least entries of each row of D and where they are, the least first."""
    if k < D.shape[1]:
        # candidates to the k-th value, of which equal ones are told apart by position
        limit = np.partition(D, k - 1, axis=1)[:, k - 1]
        order = [np.flatnonzero(row <= top) for row, top in zip(D, limit, strict=True)]
    else:
        order = [np.arange(D.shape[1])] * len(D)
    chosen = [
        own[np.argsort(row[own], kind="stable")[:k]] for row, own in zip(D, order, strict=True)
    ]
    found = np.array(chosen, dtype=np.intp).reshape(len(D), k)
    return np.take_along_axis(D, found, axis=1), found


def import_faiss() -> ModuleType:
    """faiss, or an error that names the extra."""
    try:
        import faiss
    except ImportError as error:
        raise ImportError(
            'KernelIndex(search="approximate") needs faiss: pip install "kernel-learn[index]". '
            'search="exact" needs nothing.'
        ) from error
    module: ModuleType = faiss
    return module
