"""Some rows of a sample in the features of a map, each distinct row evaluated once."""

from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.representations.feature_map import FeatureMap, whitening
from kernel_learn.representations.sources import ArraySource
from kernel_learn.rows.access import row_blocks, take_rows

BLOCK_ROWS = 2048


@dataclass(frozen=True)
class Points:
    """Features Z of the distinct ones among some rows, and where to find each row's."""

    rows: Array  # (m,) indices, ascending
    place: Array  # (m,) which row of Z
    Z: Array  # (n_distinct, M), float64

    def __call__(self, rows: Array) -> Array:
        """Features of some of the rows, by their indices."""
        return np.asarray(self.Z[self.place[np.searchsorted(self.rows, rows)]])

    def second_moment(self) -> Array:
        """Z'Z over all rows, (M, M)."""
        counts = np.bincount(self.place, minlength=len(self.Z))
        return np.asarray((self.Z * counts[:, None]).T @ self.Z)


def exact_points(
    kernel: Kernel,
    source: ArraySource,
    rows: Array,  # indices of some of its rows, ascending
    part: ArraySource,  # these rows
) -> tuple[FeatureMap, Points, Array]:
    """The map on the distinct ones among the rows, their features, and their kernel matrix.

    From one evaluation: with K = U w U' the features are Z = K W = U w^{1/2}.
    """
    own = rows[part.first]
    landmarks = kernel.reference(source.X, own)
    if kernel.input == "matrix":
        K = kernel(to_double(take_rows(source.X, own)), landmarks)
    else:
        K = kernel(to_double(landmarks))
    K = K.astype(np.float64, copy=False)
    dtype = getattr(source.X, "dtype", None)
    w, W = whitening(K.copy(), dtype)
    features = FeatureMap([kernel], landmarks, [W], residual=0.0)
    return features, Points(rows, part.inverse, W.astype(np.float64) * w), K


def feature_points(
    features: FeatureMap, source: ArraySource, rows: Array, part: ArraySource
) -> Points:
    """The features of the distinct ones among the rows, in blocks."""
    own = rows[part.first]
    Z = np.empty((len(own), features.dimension))
    for block in row_blocks(len(own), BLOCK_ROWS):
        Z[block] = features(take_rows(source.X, own[block]))
    return Points(rows, part.inverse, Z)
