"""Exact leave-one-out errors of kernel partial least squares, for every number of components.

The fit without row i is that of ``solve_pls`` with the weight of row i set to zero. It depends on
the targets nonlinearly, so there is no short cut through a hat matrix; but the fits without each of
many rows go side by side, and a component of all of them costs one product with K. With s_i the
roots of the weights without row i, p_i = s_i^2 / N_i and m_i = K p_i, the operator of the fit is

    G_i v = s_i * C_i v,   C_i v = P_i K P_i' (s_i * v) = K u - 1 p_i'K u - (m_i - 1 p_i'm_i) 1'u,

u = s_i * v, and row i of C_i r is the score of the row that was left out. A group is left out as
a row is: one column, and a score for each of its rows.
"""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.targets import Targets, units_of
from kernel_learn.rows.access import row_blocks
from kernel_learn.solvers.pls import EXHAUSTED

# Rows that are left out side by side: what is held is so many columns for each component.
SIDE_BY_SIDE = 50


def pls_loo_scores(
    K: Array,  # (n, n)
    targets: Targets,  # positive weights
    n_components: int,
) -> Array:
    """What fits without each row say of it, with 1, 2, ... components, (n_components, n, q).

    Rows of one group of the targets are left out together.
    """
    scores = np.empty((n_components, *targets.Y.shape))
    units = units_of(targets.n, targets.groups)
    for some in row_blocks(len(units), SIDE_BY_SIDE):
        own = units[some]
        scores[:, np.concatenate(own)] = left_out_scores(K, targets, own, n_components)
    return scores


def mean_squares(scores: Array, targets: Targets) -> Array:
    """Weighted mean squared errors of each target, with 1, 2, ... components, (n_components, q)."""
    squares = (scores - targets.Y) ** 2
    return np.asarray(np.einsum("i,aiq->aq", targets.weight, squares) / targets.total)


def left_out_scores(
    K: Array,
    targets: Targets,
    units: Sequence[Array],  # b sets of rows, m in all, each left out by itself
    n_components: int,
) -> Array:
    """What the fits without each set say of its rows, (n_components, m, q)."""
    fits = _Fits(K, targets, units)
    b, q, of = len(units), targets.Y.shape[1], fits.columns
    Y = fits.root * (targets.Y.T[:, :, None] - fits.mean[:, None, :])  # (q, n, b)
    images = [fits.apply(own) for own in Y]
    O_Y, at_row = (np.stack(part) for part in zip(*images, strict=True))
    O_R: list[Array] = []
    at_R: list[Array] = []
    scores = np.empty((n_components, len(of), q))
    said, first = fits.mean.T[of], np.zeros(b)
    for a in range(n_components):
        c, top = _leading(np.einsum("cni,eni->ice", O_Y, Y))
        first = np.maximum(first, top)
        O_d = np.einsum("ci,cni->ni", c, O_Y)
        own = np.einsum("cm,cm->m", c[:, of], at_row)
        length = np.linalg.norm(O_d, axis=0)
        for O_r, r in zip(O_R, at_R, strict=True):
            overlap = np.einsum("ni,ni->i", O_r, O_d)
            O_d, own = O_d - O_r * overlap, own - r * overlap[of]
        norm = np.linalg.norm(O_d, axis=0)
        goes_on = (top > EXHAUSTED * first) & (norm > 1e-10 * length)
        scale = np.divide(1.0, norm, out=np.zeros(b), where=goes_on)
        O_r, r = O_d * scale, own * scale[of]
        p = np.einsum("ni,cni->ci", O_r, Y)
        said = said + (r * p[:, of]).T
        scores[a] = said
        O_R.append(O_r)
        at_R.append(r)
        if a + 1 < n_components:
            O_O_r, own = fits.apply(O_r)
            Y = Y - O_r * p[:, None, :]
            O_Y, at_row = O_Y - O_O_r * p[:, None, :], at_row - own * p[:, of]
    return scores


def _leading(M: Array) -> tuple[Array, Array]:  # (b, q, q)
    """The eigenvectors (q, b) of the largest eigenvalues (b,)."""
    if M.shape[1] == 1:
        return np.ones((1, len(M))), M[:, 0, 0]
    e, V = np.linalg.eigh((M + M.transpose(0, 2, 1)) / 2)
    return V[:, :, -1].T, e[:, -1]


class _Fits:
    """The fits without each of some sets: their weights, means and operators, column by column."""

    def __init__(self, K: Array, targets: Targets, units: Sequence[Array]) -> None:
        self.K, self.rows = K, np.concatenate(units)
        self.columns = np.repeat(np.arange(len(units)), [len(unit) for unit in units])  # (m,)
        weight = np.repeat(targets.weight[:, None], len(units), axis=1)  # (n, b)
        weight[self.rows, self.columns] = 0.0
        self.p = weight / weight.sum(axis=0)
        self.root, self.mean = np.sqrt(weight), targets.Y.T @ self.p  # (n, b), (q, b)
        m = K @ self.p
        self.m = m - np.einsum("ni,ni->i", self.p, m)

    def apply(self, V: Array) -> tuple[Array, Array]:  # (n, b)
        """G_i v for each column, and what C_i v is at the rows that were left out, (m,)."""
        U = self.root * V
        C = self.K @ U
        C -= np.einsum("ni,ni->i", self.p, C) + self.m * U.sum(axis=0)
        return self.root * C, C[self.rows, self.columns]
