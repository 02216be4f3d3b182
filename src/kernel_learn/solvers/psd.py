"""Minimise a smooth convex function over positive semidefinite matrices."""

from typing import Protocol

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.smooth import solve_smooth

FIRST_ROUND = 10  # steps before the first look at the certificate
NEW_DIRECTIONS = 10  # per round, at most
NEW_SIZE = 1e-2  # of a new direction, beside the largest
LEAST_STEP = 1e-15  # relative change of F below which there is nothing left to gain
STEPS = (1.0, 0.3, 0.1, 0.01, 0.0)  # of a step that left out terms which matter
SHARES = (0.1, 0.03, 0.01, 0.003, 0.001)  # of singular values that an answer may do without
EMPTY = 1e-4  # singular values of L below this share of the largest are dropped


class Criterion(Protocol):
    """F(A) for A = L L', L (M, r)."""

    def evaluate(self, L: Array) -> tuple[float, Array]:
        """(value, gradient in L). It may leave out terms, so that it bounds F from below."""

    def complete(self, L: Array) -> tuple[float, Array]:
        """(value of F, gradient in A), with every term; those that matter here stay in."""

    def bound(self, value: float, G_A: float, smallest: float) -> float:
        """Of F(A) - F(A*), from F(A), <G, A> and the smallest eigenvalue of the gradient G."""


def solve_psd(
    criterion: Criterion,
    L: Array,  # (M, r), where to start
    *,
    tol: float = 1e-4,
    max_iter: int = 500,
) -> Result:
    """min F(A) s.t. A >= 0, by L-BFGS on a factor of A; stops on a certified gap.

    Optimal A have low rank, so few columns L suffice (Burer & Monteiro 2003), and F is
    convex in A, so the answer is certified whatever path led to it: for any A* >= 0,
    F(A) - F(A*) <= <G, A> - <G, A*> <= <G, A> + lam tr A* with lam = max(0, -smallest
    eigenvalue of G); the criterion turns that into a number with what it knows of tr A*.
    Where the certificate fails for lack of a direction, its eigenvectors are added to L
    (Journee et al. 2010). The point of the result is L.
    """
    history: list[dict[str, float]] = []
    size, n_iter, steps, ftol = float(np.sum(L**2)), 0, FIRST_ROUND, 1e-3 * tol
    while True:
        most = min(steps, max_iter - n_iter)
        found = solve_smooth(criterion.evaluate, L, tol=0.0, ftol=ftol, max_iter=most)
        n_iter, steps = n_iter + found.n_iter, 2 * steps
        # Zero is where it goes when it goes there, and never arrives.
        vanishes = np.sum(found.point**2) <= 1e-8 * size
        L, value, G = step_to(criterion, L, 0.0 * L if vanishes else found.point)
        w, V = linalg.eigh(G, subset_by_index=(0, min(NEW_DIRECTIONS, len(G)) - 1))
        gap = criterion.bound(value, float(np.sum(L * (G @ L))), float(w[0]))
        history.append({"value": value, "lower": value - gap})
        if gap <= tol * abs(value) or n_iter >= max_iter or ftol < LEAST_STEP:
            break
        ftol /= 10 if found.status == "optimal" else 1
        L = add_directions(L, V[:, w < 0])
    L, value, gap = drop_directions(criterion, L, value, gap, 0.1 * tol * abs(value))
    history.append({"value": value, "lower": value - gap})
    return Result(
        point=L,
        value=value,
        gap=gap,
        n_iter=n_iter,
        status="optimal" if gap <= tol * abs(value) else "stopped",
        grad_norm=float(np.linalg.norm(2 * G @ L)),
        history=tuple(history),
    )


def step_to(criterion: Criterion, L: Array, target: Array) -> tuple[Array, float, Array]:
    """(L, F, gradient in A) at the target, or as far on the way as F itself does not rise."""
    before, _ = criterion.evaluate(L)  # nothing is left out here: it was completed near L
    for share in STEPS:
        reached = L + share * (target - L)
        value, G = criterion.complete(reached)
        if value <= before + 1e-9 * abs(before):
            break
    return reached, value, G


def drop_directions(
    criterion: Criterion, L: Array, value: float, gap: float, price: float
) -> tuple[Array, float, float]:
    """The fewest directions with which F is ``price`` higher at most; the gap grows alike."""
    U, s, _ = linalg.svd(L, full_matrices=False)
    for share in SHARES:
        kept = s > share * s[0]
        fewer = U[:, kept] * s[kept]
        if criterion.evaluate(fewer)[0] <= value + price:
            last, _ = criterion.complete(fewer)  # evaluate may have left out terms
            if last <= value + price:
                return fewer, last, max(gap + last - value, 0.0)
    return L, value, gap


def add_directions(
    L: Array,
    V: Array,  # (M, q) orthonormal, in which F falls
) -> Array:
    """L without its empty columns, and with V: small, since zero is a stationary point."""
    U, s, _ = linalg.svd(L, full_matrices=False)
    kept = s > EMPTY * s[0]
    L = np.hstack([U[:, kept] * s[kept], NEW_SIZE * max(s[0], NEW_SIZE) * V])
    if L.shape[1] > len(L):
        U, s, _ = linalg.svd(L, full_matrices=False)
        L = U * s
    return np.asarray(L)
