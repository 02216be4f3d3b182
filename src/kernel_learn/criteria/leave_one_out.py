"""What a support vector machine would say of its own rows had it not seen them."""

from collections.abc import Callable

import numpy as np
from scipy import linalg
from scipy.optimize import brentq

from kernel_learn.criteria.margin import EDGE, MarginSolution
from kernel_learn.representations.base import Array

# Up to so many free rows their linear system is factorised, machine by machine.
FREE_ROWS = 400


def leave_one_out_scores(
    solution: MarginSolution,
    boxes: Array,  # (n,)
    rows: Array,  # (q,), the rows to be scored
    F: Array,  # (n, r), K = F F'
    lengths: Array,  # (r,), squared lengths of the columns of S^{1/2} F, which are orthogonal
    weight: Array,  # (n,), S
    block: Callable[[Array, Array], Array] | None = None,  # K[rows, columns], if K is there
) -> Array:
    """Scores (q, m) of rows by machines without them, and without a fit.

    Leaving out a row of weight alpha_i while the free rows stay free moves its
    score from f_i to (Chapelle & Vapnik's span rule)

        f_i - y_i alpha_i S_i,   S_i = min |phi_i - sum_j lambda_j phi_j|^2, 1'lambda = 1,

    over the free rows j without i; a row with alpha_i = 0 keeps its score.
    With many free rows S is that of a ridge regression on all rows with as
    many degrees of freedom as there are free rows, which the orthogonal
    columns of F give at once; with all rows free the two are the same.
    """
    scores = np.array(solution.scores[rows] + solution.intercept)
    for j, (alpha, y) in enumerate(zip(solution.alpha.T, solution.signs.T, strict=True)):
        touched = np.flatnonzero(alpha[rows] > EDGE * boxes[rows])
        i = rows[touched]
        free = np.flatnonzero((alpha > EDGE * boxes) & (alpha < (1 - EDGE) * boxes))
        if len(free) > FREE_ROWS:
            S = ridge_spans(F, lengths, weight, len(free), i)
        else:
            S = exact_spans(F, free, i, block)
        scores[touched, j] -= y[i] * alpha[i] * S
    return scores


def scores_as_new_rows(
    scores: Array,  # (q, m), left out, without intercept
    leverage: Array,  # (q,), H_ii
    smoothed: Array | None,  # (q, m), the sum of H_ij A_j over j != i; None: uncorrelated
    lam: float,
) -> Array:
    """What the left-out rows would score had they no part in Khat either.

    With H = G (G + lam)^{-1} and row i taken out of G, the kernel values of i
    with the others go from

        Khat = H:            H_ij          to  H_ij / (1 - H_ii),
        Khat = G - lam H:    G_ij - lam H_ij  to  G_ij - lam H_ij / (1 - H_ii).

    A row in the sample looks 1 - H_ii times as far from the others as a new
    row would: 0.15 on digits at reg = 1e-2, where probabilities were as wrong.
    """
    left = np.maximum(1.0 - leverage, 1e-3)[:, None]
    if smoothed is None:
        return np.asarray(scores / left)
    return np.asarray(scores - lam * (1.0 / left - 1.0) * smoothed)


def exact_spans(
    F: Array, free: Array, rows: Array, block: Callable[[Array, Array], Array] | None = None
) -> Array:
    """Squared distances of the rows from the affine hull of the free ones without themselves.

    Adding a constant to K changes no such distance; it makes K_FF regular.
    """
    if block is None:

        def block(i: Array, j: Array) -> Array:
            return np.asarray(F[i] @ F[j].T)

    diagonal = np.einsum("ij,ij->i", F[rows], F[rows])
    if not len(free) or not len(rows):
        return np.asarray(diagonal)
    K = block(free, free)
    shift = float(np.mean(np.diagonal(K)))
    K = K + shift
    K[np.diag_indices(len(free))] += 1e-10 * shift
    B = linalg.inv(K, check_finite=False)
    ones = B.sum(axis=0)
    K_rows = block(free, rows) + shift
    inside = np.einsum("ij,ij->j", K_rows, B @ K_rows)
    S = diagonal + shift - inside + (1.0 - ones @ K_rows) ** 2 / ones.sum()
    # a row that is one of the free ones: 1 / [bordered inverse]_ii
    place = np.searchsorted(free, rows)
    itself = free[np.minimum(place, len(free) - 1)] == rows
    corner = np.diagonal(B) - ones**2 / ones.sum()
    with np.errstate(divide="ignore"):
        S[itself] = 1.0 / np.maximum(corner[place[itself]], 0.0)
    return np.asarray(np.clip(S, 0.0, 4 * diagonal))


def ridge_spans(F: Array, lengths: Array, weight: Array, n_free: int, rows: Array) -> Array:
    """1 / [(K + delta)^{-1}]_ii - delta, without the constant direction.

    delta is such that sum h/(h + delta) = n_free, h the eigenvalues of K.
    """
    h = lengths

    def freedom(log_delta: float) -> float:
        return float(np.sum(h / (h + np.exp(log_delta)))) - n_free

    low, high = np.log(1e-14 * h.max()), np.log(len(h) * h.max())
    delta = float(np.exp(brentq(freedom, low, high))) if freedom(low) > 0 else float(np.exp(low))
    U2 = weight[rows, None] * F[rows] ** 2 / h
    rest = 1.0 - weight[rows] / weight.sum() - U2.sum(axis=1)
    rest = np.where(rest > 1e-8, rest, 0.0)  # what is left of a complete basis is rounding
    diagonal = U2 @ (1.0 / (h + delta)) + rest / delta
    return np.asarray(np.maximum(1.0 / diagonal - delta, 0.0) / weight[rows])
