"""Constraints measured: their values and combinations in the features of their points.

C_c = sum_t w_t (u_t v_t' + v_t u_t')/2 is never formed: m constraints are
two arrays of as many rows, and <C_c, A> for all c or sum_c y_c C_c are products
of such arrays.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.constraint_terms import Terms
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.rows.access import row_blocks, take_rows

# Percentiles of the base kernel are taken over the pairs of so many distinct rows.
REFERENCE_ROWS = 1000
# A block of b pairs costs b^2 kernel values of which b are wanted: at 64 the
# matrix product still runs at its speed and the waste is small beside it.
BLOCK_PAIRS = 64


class LinearConstraints:
    """sg_c <C_c, A> <= b_c for all c at once, in the features Z of the points.

    ``inner(A)``: <C_c, A>, (m,);  ``combine(y)``: sum_c y_c C_c, (M, M).
    Where there are more terms than points, products go over the points with
    sparse combinations; else over the terms.
    """

    def __init__(
        self,
        Z: Array,  # (n_points, M)
        terms: Terms,  # points numbered as rows of Z
        bound: Array,  # (m,) on A itself
    ) -> None:
        self.Z, self.terms = Z, terms
        self.sign, self.bound = terms.sign, bound
        self.n, self.dimension = len(terms.sign), Z.shape[1]
        self.is_square = terms.left is terms.right or (
            np.array_equal(terms.left, terms.right)
            and np.array_equal(terms.left_coef, terms.right_coef)
        )
        self.V = combine_points(Z, terms.right, terms.right_coef)
        self.over_points = len(terms.left) > 2 * len(Z)
        if self.over_points:
            self.left = as_sparse(terms.left, terms.left_coef, len(Z))
            self.right = as_sparse(terms.right, terms.right_coef, len(Z))
        elif self.is_square:
            self.U = self.V
        else:
            self.U = combine_points(Z, terms.left, terms.left_coef)

    def inner(self, A: Array) -> Array:
        U_A = self.left @ (self.Z @ A) if self.over_points else self.U @ A
        products = np.einsum("ij,ij->i", U_A, self.V)
        return np.bincount(self.terms.owner, self.terms.weight * products, self.n)

    def combine(self, y: Array) -> Array:
        weight = self.terms.weight * y[self.terms.owner]
        if self.over_points:
            D = self.left.T @ (self.right.multiply(weight[:, None])).tocsr()
            X = self.Z.T @ (D @ self.Z)
        else:
            some = np.flatnonzero(weight)  # constraints that are met have multiplier zero
            # the copies of so many rows would cost more than they save
            used = slice(None) if len(some) > len(weight) // 2 else some
            X = self.U[used].T @ (weight[used, None] * self.V[used])
        return np.asarray((X + X.T) / 2)

    def entries(self, Q: Array, chosen: Array, i: Array, j: Array) -> Array:
        """[Q'C_c Q]_ij for the chosen constraints and the listed (i, j), (n_chosen, n_entries)."""
        position = np.full(self.n, -1)
        position[chosen] = np.arange(len(chosen))
        own = np.flatnonzero(position[self.terms.owner] >= 0)
        V = self.V[own] @ Q
        U = V
        if not self.is_square:
            U = self._left_sides(own) @ Q
        products = U[:, i] * V[:, j]
        if not self.is_square:
            products = (products + U[:, j] * V[:, i]) / 2
        products *= self.terms.weight[own, None]
        owner = position[self.terms.owner[own]]
        if len(own) == len(chosen) and np.array_equal(owner, np.arange(len(chosen))):
            return np.asarray(products)
        total = np.zeros((len(chosen), len(i)))
        np.add.at(total, owner, products)
        return total

    def products(self, W: Array, chosen: Array) -> Array:
        """<C_c, W C_e W> for the chosen constraints, (n_chosen, n_chosen)."""
        position = np.full(self.n, -1)
        position[chosen] = np.arange(len(chosen))
        own = np.flatnonzero(position[self.terms.owner] >= 0)
        V = self.V[own]
        VWV = V @ W @ V.T
        if self.is_square:
            products = VWV**2
        else:
            U = self._left_sides(own)
            UWV = U @ W @ V.T
            products = ((U @ W @ U.T) * VWV + UWV * UWV.T) / 2
        weight, owner = self.terms.weight[own], position[self.terms.owner[own]]
        if len(own) == len(chosen) and np.array_equal(owner, np.arange(len(chosen))):
            return np.asarray(products * (weight[:, None] * weight))
        gather = sparse.csr_matrix(
            (weight, (owner, np.arange(len(own)))), shape=(len(chosen), len(own))
        )
        return np.asarray(gather @ (gather @ products).T)

    def squares(self, Q: Array, d: Array) -> Array:
        """sum_c d_c [Q'C_c Q]_ij^2, (M, M), each term of a constraint squared by itself."""
        weight = self.terms.weight**2 * d[self.terms.owner]
        own = np.flatnonzero(weight)
        weight, V = weight[own, None], self.V[own] @ Q
        if self.is_square:
            V *= V
            return np.asarray(V.T @ (weight * V))
        U = self._left_sides(own) @ Q
        crossed = (U**2).T @ (weight * V**2)
        UV = U * V
        return np.asarray((crossed + crossed.T + 2 * UV.T @ (weight * UV)) / 4)

    def sizes(self) -> Array:
        """sum_t |w_t| |u_t| |v_t| >= |C_c|, (m,)."""
        size = np.einsum("ij,ij->i", self.V, self.V)
        if not self.is_square:
            U = self._left_sides(np.arange(len(self.V)))
            size = np.sqrt(size * np.einsum("ij,ij->i", U, U))
        return np.bincount(self.terms.owner, np.abs(self.terms.weight) * size, self.n)

    def _left_sides(self, own: Array) -> Array:
        """u_t of some terms, (n_own, M)."""
        return combine_points(self.Z, self.terms.left[own], self.terms.left_coef[own])

    def factors(self) -> list[tuple[Array, Array]]:
        """(F, J) for each c with C_c = F J F', F (M, r) with one column per side of a term."""
        order = np.argsort(self.terms.owner, kind="stable")
        own = np.split(order, np.cumsum(np.bincount(self.terms.owner, minlength=self.n))[:-1])
        return [self._factor(terms) for terms in own]

    def _factor(self, own: Array) -> tuple[Array, Array]:
        weight, V = self.terms.weight[own], self.V[own]
        if self.is_square:
            return V.T, np.diag(weight)
        U = self._left_sides(own)
        half = np.diag(weight) / 2
        zero = np.zeros_like(half)
        return np.concatenate([U, V]).T, np.block([[zero, half], [half, zero]])


def combine_points(Z: Array, points: Array, coef: Array) -> Array:
    """coef_0 z_0 + coef_1 z_1 for each term, (n_terms, M)."""
    result = Z[points[:, 0]] * coef[:, :1]
    result += Z[points[:, 1]] * coef[:, 1:]
    return np.asarray(result)


def as_sparse(points: Array, coef: Array, n_points: int) -> Rows:
    """The same combinations as a matrix (n_terms, n_points)."""
    rows = np.repeat(np.arange(len(points)), 2)
    return sparse.csr_matrix((coef.ravel(), (rows, points.ravel())), shape=(len(points), n_points))


class BaseReference:
    """Percentiles of squared distances and values of the base kernel between distinct rows."""

    def __init__(self, K: Array) -> None:  # (m, m)
        K = K[:REFERENCE_ROWS, :REFERENCE_ROWS]
        upper = [K[i, i + 1 :] for i in range(len(K))]
        d = np.diagonal(K)
        self.values = np.concatenate([*upper, np.empty(0)])
        apart = [d[i] + d[i + 1 :] - 2 * row for i, row in enumerate(upper)]
        self.distances = np.maximum(np.concatenate([*apart, np.empty(0)]), 0.0)
        self.mean_diagonal = float(np.mean(d))

    @property
    def scale(self) -> float:
        """The size of a squared distance; slack is measured in it."""
        return float(np.mean(self.distances)) if len(self.distances) else 0.0

    def distance(self, q: float) -> float:
        return float(np.percentile(self.distances, q))

    def similarity(self, q: float) -> float:
        return float(np.percentile(self.values, q))


class Measured(NamedTuple):
    """Constraints on A, and the bounds as they stand on the learned kernel."""

    constraints: LinearConstraints
    kernel_bound: Array  # (m,)


def measure_constraints(
    terms: Terms,  # points are rows or sums of them
    features_of: Callable[[Array], Array],  # of rows, by their indices
    alpha: float,
    base_values: Callable[[Terms], Array] | None,  # None: the features reproduce the base kernel
) -> Measured:
    """The constraints in the features of their points, with the bounds corrected.

    The learned kernel is alpha (k - z'z) + z'A z, so a constraint on it is one
    on A with b_c - alpha sg_c <C_c, K - Z Z'> in place of b_c (Jain et al., Theorem 2).
    """
    n_sums = len(terms.sums)
    ids = np.unique(np.concatenate([terms.left, terms.right]))
    rows = ids[ids >= 0]
    Z = features_of(rows)
    if n_sums:
        sums = zip(terms.sums, terms.sum_weights, strict=True)
        Z = np.vstack([*(w * features_of(members).sum(axis=0) for members, w in sums), Z])
    number = terms._replace(
        left=number_points(terms.left, rows, n_sums), right=number_points(terms.right, rows, n_sums)
    )
    constraints = LinearConstraints(Z, number, terms.bound)
    if base_values is None and not terms.base_share.any():
        return Measured(constraints, terms.bound)
    in_features = constraints.inner(np.eye(Z.shape[1]))
    base = in_features if base_values is None else base_values(terms)
    bound = terms.bound + terms.base_share * np.maximum(base, 0.0)
    constraints.bound = bound - alpha * terms.sign * (base - in_features)
    return Measured(constraints, bound)


def number_points(points: Array, rows: Array, n_sums: int) -> Array:
    """Rows of X and sums (negative) as positions in [sums, rows]."""
    return np.where(points < 0, -1 - points, n_sums + np.searchsorted(rows, points))


def base_values(terms: Terms, kernel: Kernel, X: Rows) -> Array:
    """<C_c, K> under the base kernel itself, from single entries of K."""
    total = np.zeros(len(terms.left))
    for a in range(2):
        for b in range(2):
            coef = terms.left_coef[:, a] * terms.right_coef[:, b]
            total += coef * point_products(terms, kernel, X, terms.left[:, a], terms.right[:, b])
    return np.bincount(terms.owner, terms.weight * total, len(terms.sign))


def point_products(terms: Terms, kernel: Kernel, X: Rows, left: Array, right: Array) -> Array:
    """K between points; the left ones are rows."""
    values = np.empty(len(left))
    plain = right >= 0
    same = plain & (left == right)
    if same.any():
        rows, inverse = np.unique(left[same], return_inverse=True)
        values[same] = own_values(kernel, X, rows)[inverse]
    other = plain & ~same
    values[other] = paired_values(kernel, X, left[other], right[other])
    for a, (members, weight) in enumerate(zip(terms.sums, terms.sum_weights, strict=True)):
        own = right == -1 - a
        if own.any():
            values[own] = weight * summed_values(kernel, X, left[own], members)
    return values


def paired_values(kernel: Kernel, X: Rows, i: Array, j: Array) -> Array:
    """k(x_i, x_j) for each pair of rows of X, in float64."""
    values = np.empty(len(i))
    for part in row_blocks(len(i), BLOCK_PAIRS):
        K = kernel(to_double(take_rows(X, i[part])), to_double(kernel.reference(X, j[part])))
        values[part] = np.diagonal(K)
    return values


def own_values(kernel: Kernel, X: Rows, i: Array) -> Array:
    """k(x_i, x_i) for some rows of X; a row of a kernel matrix knows its place in it."""
    if kernel.input == "matrix":
        return np.asarray(kernel.diag(to_double(X))[i])
    return np.asarray(kernel.diag(to_double(take_rows(X, i))), dtype=np.float64)


def summed_values(kernel: Kernel, X: Rows, i: Array, members: Array) -> Array:
    """sum over j in members of k(x_i, x_j), for each i."""
    values = np.empty(len(i))
    columns = to_double(kernel.reference(X, members))
    for part in row_blocks(len(i), max(1, 2**21 // max(1, len(members)))):
        values[part] = kernel(to_double(take_rows(X, i[part])), columns).sum(axis=1)
    return values
