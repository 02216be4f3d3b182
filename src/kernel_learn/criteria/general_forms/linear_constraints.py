"""Constraints in their general form: any sum of kernel values, and distances compared."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from kernel_learn.arrays import Array
from kernel_learn.criteria.constraint_terms import Terms, relative_terms, weighted_terms
from kernel_learn.criteria.constraints import (
    BoundLike,
    Constraints,
    Indexer,
    Reference,
    TuplesLike,
    check_bound,
    check_some,
    check_tuples,
    default_bound,
)
from kernel_learn.rows.coerce import as_array

Coefficients = ArrayLike | sparse.sparray | sparse.spmatrix
MatricesLike = Coefficients | Sequence[Coefficients]


class LinearInequalities(Constraints):
    """Any linear constraints: sum over i, j of C_ij K(i, j) <= bound.

    All other families are of this form. For ">=" give -C and the negative bound, for "=" both
    ways round.

    Parameters
    ----------
    C : array-like or sparse matrix of shape (n_samples, n_samples), or several of them
        The coefficients of the kernel values of the rows of X, one matrix for each constraint:
        a list of matrices, or an array of shape (n_constraints, n_samples, n_samples). Entries
        of a pair add up, C_ij + C_ji; only those that are not zero are kept.
    bounds : float or array-like of shape (n_constraints,)
        One for all constraints, or one for each.

    Examples
    --------
    The mean similarity of rows 0, 1, 2 is to be at least .5:

    >>> import numpy as np
    >>> from kernel_learn.constraints import Linear
    >>> C = np.zeros((178, 178))
    >>> C[:3, :3] = -1 / 9
    >>> Linear(C, -0.5)
    Linear(1 constraint on 3 of 178 rows)
    """

    n_rows: int | None = None  # of X; not known in files of earlier versions

    def __init__(self, C: MatricesLike, bounds: BoundLike) -> None:
        matrices = as_matrices(C)
        parts = [read_entries(matrix, c) for c, matrix in enumerate(matrices)]
        sizes = list(dict.fromkeys(np.shape(matrix)[0] for matrix in matrices))
        if len(sizes) > 1:
            raise ValueError(
                f"Linear(C=) has matrices of {sizes[0]} and of {sizes[1]} rows; all need one for "
                "each row of X."
            )
        self.n_rows = sizes[0] if sizes else None
        self.pairs = np.concatenate([np.empty((0, 2), dtype=np.intp), *(p for p, _ in parts)])
        self.weight = np.concatenate([np.empty(0), *(w for _, w in parts)])
        self.owner = np.repeat(np.arange(len(parts)), [len(w) for _, w in parts])
        bound = check_bound(bounds, len(parts), "Linear(bounds=)", negative=True)
        if bound is None:
            raise ValueError("Linear(bounds=None): a linear constraint has no default bound.")
        check_some(self, self.pairs)
        self.bounds = np.broadcast_to(bound, len(parts)).copy()

    def __repr__(self) -> str:
        m, some = len(self.bounds), len(self.rows())
        return f"Linear({m} constraint{'s' * (m > 1)} on {some} of {self.n_rows} rows)"

    @property
    def holds_indices(self) -> bool:
        return True

    def check_rows(self, n: int) -> None:
        if self.n_rows not in (None, n):
            raise ValueError(
                f"Linear(C=) has matrices of {self.n_rows} rows and columns, and X has {n} rows: a "
                "row and a column are needed for each."
            )

    def indexed(self, index: Indexer) -> "LinearInequalities":
        renumbered = LinearInequalities.__new__(LinearInequalities)
        renumbered.__dict__ |= self.__dict__ | {"pairs": index(self.pairs, "Linear(C=)")}
        return renumbered

    def rows(self) -> Array:
        return np.unique(self.pairs)

    def terms(self, reference: Reference) -> Terms:
        return weighted_terms(self.pairs, self.weight, self.owner, self.bounds)


class Quadruplets(Constraints):
    """Distances compared: a and b are more alike than c and d, d(c, d) - d(a, b) >= margin.

    Parameters
    ----------
    quadruplets : array-like of shape (n_quadruplets, 4) or (n_quadruplets, 4, n_features)
        (a, b, c, d): indices of rows of X, or the rows themselves.
    margin : float or array-like of shape (n_quadruplets,), default=None
        None: the 5th percentile of the base kernel's squared distances.
    """

    def __init__(self, quadruplets: TuplesLike, *, margin: BoundLike = None) -> None:
        name = "Quadruplets(quadruplets=)"
        self.quadruplets = check_tuples(quadruplets, 4, name, distinct=False)
        self.margin = check_bound(margin, len(self.quadruplets), "Quadruplets(margin=)")
        check_some(self, self.quadruplets)
        if self.quadruplets.ndim == 2:
            for pair in (self.quadruplets[:, :2], self.quadruplets[:, 2:]):
                check_tuples(pair, 2, name)

    @property
    def holds_indices(self) -> bool:
        return self.quadruplets.ndim == 2

    def indexed(self, index: Indexer) -> "Quadruplets":
        return Quadruplets(index(self.quadruplets, "Quadruplets(quadruplets=)"), margin=self.margin)

    def rows(self) -> Array:
        return np.unique(self.quadruplets)

    def terms(self, reference: Reference) -> Terms:
        margin = default_bound(self.margin, len(self.quadruplets), lambda: reference.distance(5))
        return relative_terms(self.quadruplets[:, :2], self.quadruplets[:, 2:], margin)


def as_matrices(C: MatricesLike) -> list[Any]:
    """One matrix for each constraint."""
    if sparse.issparse(C):
        return [C]
    if isinstance(C, list | tuple) and any(len(getattr(part, "shape", ())) == 2 for part in C):
        return list(C)
    array = as_array(C, "Linear(C=)")
    return list(array) if array.ndim == 3 else [array]


def read_entries(matrix: Coefficients, c: int) -> tuple[Array, Array]:
    """(pairs, weights) of the entries that are not zero, i <= j, those of a pair added up."""
    name = f"Linear(C=), constraint {c},"
    if not sparse.issparse(matrix):
        matrix = as_array(matrix, name)
        if matrix.dtype.kind not in "fiub":
            raise ValueError(f"{name} holds {matrix.dtype}, and coefficients are real numbers.")
    shape = matrix.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"{name} has shape {shape}; a matrix with a row and a column for each row of X is "
            "needed."
        )
    entries = sparse.coo_array(matrix)
    if not np.isfinite(entries.data).all():
        raise ValueError(f"{name} holds coefficients that are not finite.")
    i, j = np.minimum(*entries.coords), np.maximum(*entries.coords)
    folded = sparse.coo_array((entries.data.astype(np.float64), (i, j)), shape=shape).tocsr()
    folded.sum_duplicates()
    folded.eliminate_zeros()
    kept = folded.tocoo()
    if not kept.nnz:
        raise ValueError(f"{name} has no coefficient that is not zero, so it asks for nothing.")
    return np.column_stack(kept.coords).astype(np.intp), kept.data
