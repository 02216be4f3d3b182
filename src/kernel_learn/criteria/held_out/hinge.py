"""Squared-hinge machines, for tables that follow rules without noise.

    min over f of  sum_i w_i max(0, 1 - s_i f(x_i))^2 + lam |f|^2,

a class (s_i = 1) against the rest (s_i = -1); a row seen with both has their
mean sign and the square loss. With a penalised offset: K + u for K, u = tr(Kc)/N, and
lam = reg u. On the rows S that count, those with s_i f_i < 1, with
Q = (K_SS + lam W_S^{-1})^{-1}: A_S = Q s_S, f = K_.S A_S. Left out, a row of S
scores s_i - A_i / Q_ii, exactly while S stays as it is; other rows keep their
score. Of a group g left out together, with h = g in S,

    A_{-g} = A - Q_.h (Q_hh)^{-1} A_h,   f_{-g}(x_j) = K_jS A_{-g} for every j in g.
"""

from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.ridge import Dual
from kernel_learn.criteria.held_out.targets import Targets, kernel_variance
from kernel_learn.representations.lapack import factorise, invert_factor, solve_factor

HINGE_REGS = 10.0 ** np.arange(-4, 0.5)
ROUNDS = 20
ONLY_ADD = 10  # after so many rounds no row is taken out any more, which ends the search


@dataclass(frozen=True)
class Machines:
    """Held-out scores of q machines at one reg, and their model."""

    scores: Array  # (n, q)
    model: Dual
    roles: Array  # (q, k): 1 if the machine speaks for the class, -1 if against


def fit_hinges(K: Array, targets: Targets, regs: Array) -> list[Machines]:
    """One machine per class against the rest; one in all for two classes. K is overwritten."""
    roles = roles_of(targets.n_classes)
    signs = targets.Y @ roles.T
    unit = kernel_variance(K, targets)
    K += unit
    found = []
    active: list[Array | None] = [None] * len(roles)
    for reg in sorted(regs, reverse=True):  # from many active rows to few
        machines = [
            _hinge(K, s, reg * unit, targets, start)
            for s, start in zip(signs.T, active, strict=True)
        ]
        active = [machine[2] for machine in machines]
        found.append(_collect(machines, unit, roles))
    order = np.argsort(np.argsort(-np.asarray(regs)))
    return [found[i] for i in order]


def _hinge(
    K: Array,
    s: Array,
    lam: float,
    targets: Targets,
    start: Array | None,
    out: Array | None = None,  # rows that never count
) -> tuple[Array, Array, Array]:
    """Repeat: solve on the rows that count, see which rows count."""
    rows = np.arange(len(s)) if start is None else start
    for i in range(ROUNDS):
        scores = _solve(K, s, lam, targets, rows, held_out=False)[0]
        counts = (s * scores < 1.0) | (np.abs(s) < 1.0)
        if i >= ONLY_ADD:
            counts[rows] = True
        if out is not None:
            counts[out] = False
        fresh = np.flatnonzero(counts)
        if len(fresh) < 2 or np.array_equal(fresh, rows):
            break
        rows = fresh
    return _solve(K, s, lam, targets, rows)


def refit_hinges(
    K: Array,  # (n, n) of the kernel
    targets: Targets,  # of all rows; those that are gone may carry anything
    reg: float,
    model: Dual,  # the machines of all rows
    gone: Array,
    changed: Array,  # rows whose weight or label is another one now
) -> Dual:
    """The machines without some rows, with offset and lam as they are; coefficients of all rows.

    The rows that count are followed from those that did until they stay the same. A machine in
    which none of the rows counted is as it was.
    """
    unit = offset_of(model)
    signs, K = targets.Y @ roles_of(targets.n_classes).T, K + unit
    A, touched = model.coef.copy(), np.union1d(gone, changed)
    for c, s in enumerate(signs.T):
        active = np.flatnonzero(A[:, c])
        if np.isin(touched, active).any():
            start = np.setdiff1d(active, gone)
            A[:, c] = _hinge(K, s, reg * unit, targets, start, gone)[1]
    return Dual(A, unit * A.sum(axis=0))


def hinge_distance(
    K: Array,  # (n, n) of the kernel
    targets: Targets,
    lam: float,
    model: Dual,
) -> float:
    """How far machines are from the optimum: lam a_i / w_i = s_i - f_i where a row counts, else 0.

    The largest difference of the two sides, in units of the margin.
    """
    s, f = targets.Y @ roles_of(targets.n_classes).T, model.scores(K)
    due = np.where((s * f < 1.0) | (np.abs(s) < 1.0), s - f, 0.0)
    return float(np.abs(lam * model.coef / targets.weight[:, None] - due).max(initial=0.0))


def offset_of(model: Dual) -> float:
    """u, of intercept = u 1'A."""
    sums = model.coef.sum(axis=0)
    return float(model.intercept @ sums / (sums @ sums))


def roles_of(k: int) -> Array:
    """One machine per class against the rest; one in all for two classes, (q, k)."""
    return np.array([[-1.0, 1.0]]) if k == 2 else 2.0 * np.eye(k) - 1.0


def _solve(
    K: Array, s: Array, lam: float, targets: Targets, rows: Array, *, held_out: bool = True
) -> tuple[Array, Array, Array]:
    """(scores of all rows, coefficients of all rows, rows): those in ``rows`` left out."""
    C = K[np.ix_(rows, rows)].T  # in LAPACK's order
    C[np.diag_indices(len(rows))] += lam / targets.weight[rows]
    if not factorise(C):
        raise np.linalg.LinAlgError(f"K + {lam:.3g} is not positive definite.")
    A = np.zeros(len(s))
    A[rows] = solve_factor(C, s[rows])
    scores = K @ A
    if held_out:
        invert_factor(C)
        scores[rows] = s[rows] - A[rows] / np.diagonal(C)
        for group in targets.groups:
            scores[group] = _without_group(K, A, C, rows, group)
    return scores, A, rows


def _without_group(K: Array, A: Array, Q: Array, rows: Array, group: Array) -> Array:
    """Scores of a group's rows by the machine without them; Q has a lower half only."""
    here = np.flatnonzero(np.isin(rows, group))
    if not len(here):
        return np.asarray(K[group] @ A)
    columns = np.tril(Q)[:, here] + np.tril(Q, -1).T[:, here]
    without = A[rows] - columns @ np.linalg.solve(columns[here], A[rows[here]])
    return np.asarray(K[np.ix_(group, rows)] @ without)


def _collect(machines: list[tuple[Array, Array, Array]], unit: float, roles: Array) -> Machines:
    A = np.stack([machine[1] for machine in machines], axis=1)
    scores = np.stack([machine[0] for machine in machines], axis=1)
    return Machines(scores, Dual(A, unit * A.sum(axis=0)), roles)
