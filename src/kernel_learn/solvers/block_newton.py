"""Squared-hinge machines on rows that come in blocks: Newton's method, a pass a step.

For machines j = 1..q, rows f_i with signs y_ij and prices C_i:

    min over v_j, b_j of  1/2 |v_j|^2 + 1/2 sum_i C_i max(0, 1 - y_ij (v_j'f_i + b_j))^2.

With S the rows of positive slack s = 1 - y (Fv + b), X = [F, 1] and D = diag(1, ..., 1, 0):
gradient D u - X_S'C (y s)_S, generalised Hessian D + X_S'C X_S. The dual is

    max over alpha >= 0, y'alpha = 0 of  1'alpha - 1/2 |F'(y alpha)|^2 - 1/2 sum_i alpha_i^2 / C_i.

alpha = C max(0, s), with that of the heavier side scaled down to y'alpha = 0, is feasible at
every point, and its sums come with those of the gradient: each pass gives both bounds.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.solvers.result import Result

Blocks = Callable[[], Iterable[tuple[Array, Array, Array]]]  # F (n, m), signs (n, q), prices (n,)
Change = Callable[[Array], Array]  # of the features of a block

# A free intercept on separated rows is not unique: a trace of a price on it.
INTERCEPT_RIDGE = 1e-10
ARMIJO, LEAST_STEP = 1e-4, 1e-6
# Rows that are multiplied together where Hessians are kept: adding up is then cheap beside it.
GATHERED = 4096
# A Hessian may be that of some rows of S, so many for each feature (GATHERED at the least), while S
# changes by more than this share of it, in so many steps at the most.
SAMPLED, CHANGING, ROUGH_STEPS = 4, 0.1, 8


@dataclass(frozen=True)
class HingeMeasure:
    """What one pass at the points u = [v; b] says of each machine."""

    values: Array  # (q,)
    lowers: Array  # (q,) of the dual
    gradients: Array  # (m + 1, q)
    hessians: list[Array | None]  # (m + 1, m + 1) each, None where not asked for
    sides: Array  # (2, m + 1, q) X'alpha of the rows with y > 0, and with y < 0
    squares: Array  # (2, q) sums of alpha^2 / C


@dataclass(frozen=True)
class HingeResult(Result):
    """And the lower Cholesky factor of each machine's Hessian there, (m + 1, m + 1) each."""

    factors: list[Array] = field(default_factory=list, repr=False)


def solve_squared_hinges(
    blocks: Blocks,
    m: int,
    q: int,
    *,
    change: Change | None = None,  # rows are the blocks' features changed so
    start: Array | None = None,  # (m + 1, q)
    tol: float = 1e-6,
    max_iter: int = 50,
) -> HingeResult:
    """All machines at once; the point is [v; b], (m + 1, q). ``n_iter`` counts the passes.

    A machine whose own bounds have met is left where it is. Full steps, halved where a
    value does not fall; on float32 rows the bounds are those of rounded sums.
    """
    U = np.zeros((m + 1, q)) if start is None else start.copy()
    best, values = U.copy(), np.full(q, np.inf)
    lowers = np.full(q, -np.inf)
    steps, slopes, t = np.zeros_like(U), np.zeros(q), np.ones(q)
    history: list[dict[str, float]] = []
    open_ = np.ones(q, dtype=bool)
    factors = [np.empty((0, 0))] * q
    for _ in range(max_iter):
        found = measure_hinges(blocks, U, open_, change)
        lowers = np.maximum(lowers, found.lowers)
        for j in np.flatnonzero(open_):
            enough = values[j] + ARMIJO * t[j] * slopes[j]
            if found.values[j] <= enough or not np.isfinite(values[j]):
                best[:, j], values[j], t[j] = U[:, j], found.values[j], 1.0
                factors[j] = lower_factor(found.hessians[j])
                steps[:, j] = newton_step(factors[j], found.gradients[:, j])
                slopes[j] = float(found.gradients[:, j] @ steps[:, j])
            else:
                t[j] /= 2
        open_ = (values - lowers > tol * np.abs(values)) & (t > LEAST_STEP)
        gap = float(np.sum(values - lowers))
        history.append({"lower": float(lowers.sum()), "upper": float(values.sum())})
        if not open_.any() or gap <= tol * float(values.sum()):
            break
        U = np.where(open_, best + t * steps, best)
    total = float(values.sum())
    gap = max(total - float(lowers.sum()), 0.0)
    return HingeResult(
        point=best,
        value=total,
        values=values,
        gap=gap,
        n_iter=len(history),
        status="optimal" if gap <= tol * total else "stopped",
        history=tuple(history),
        factors=factors,
    )


def lower_factor(H: Array | None) -> Array:
    """L of H = L L', zeros or rubbish above it; H is overwritten."""
    assert H is not None
    factor, _ = linalg.cho_factor(H.T, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(factor)


def newton_step(factor: Array, gradient: Array) -> Array:
    """-H^{-1} gradient."""
    return np.asarray(linalg.cho_solve((factor, True), -gradient, check_finite=False))


@dataclass(frozen=True)
class HingeSums:
    """What a pass adds up, of each machine; those of two sets of rows add."""

    loss: Array  # (q,) sums of C s^2
    squares: Array  # (2, q) sums of alpha^2 / C, of the rows with y > 0, and with y < 0
    sides: Array  # (2, m + 1, q) X'alpha of these
    hessians: list[Array | None]  # X_S'C X_S, None where not asked for

    def __add__(self, other: "HingeSums") -> "HingeSums":
        pairs = zip(self.hessians, other.hessians, strict=True)
        return HingeSums(
            self.loss + other.loss,
            self.squares + other.squares,
            self.sides + other.sides,
            [None if H is None or G is None else H + G for H, G in pairs],
        )


class KeptHessians:
    """X_S'C X_S of each machine over rows that are held, from as few rows as will do.

    While many rows enter S or leave it, a step needs no exact Hessian: that of some rows of S,
    scaled up, does. Then it is that of the last step and the rows that have changed, that of S
    alone, or ``total``, the sum over all rows, if it is known, without those that are not in S.
    """

    def __init__(self, m: int, q: int, total: Array | None = None) -> None:
        self._m, self._total = m, total
        self._hessians = [np.zeros((m + 1, m + 1)) for _ in range(q)]
        self._masks: list[Array] | None = None  # (n, q) of each block, the rows of the Hessians
        self._seen: list[Array] | None = None  # (n, q) S of the last pass
        self._rough = np.zeros(q, dtype=int)  # steps of each machine by some rows

    def at(
        self,
        blocks: list[tuple[Array, Array, Array]],
        active: list[Array],  # (n, q) whether a row is in S, of each block
        wanted: Array,
    ) -> list[Array | None]:
        """The Hessians of the machines wanted, their rows S being these."""
        if self._masks is None:
            self._masks = [np.zeros_like(own) for own in active]
        moved = count_rows(active, self._seen or [~own for own in active])
        sizes, enough = count_rows(active), max(GATHERED, SAMPLED * (self._m + 1))
        # the last pass of a machine that is not wanted is not its last step, and does no harm
        self._seen = active
        rough = (moved > np.maximum(enough, CHANGING * sizes)) & (sizes > enough)
        rough &= self._rough < ROUGH_STEPS
        found: list[Array | None] = [None] * len(wanted)
        for j in np.flatnonzero(wanted):
            if rough[j]:
                self._rough[j] += 1
                found[j] = self._sampled(blocks, [own[:, j] for own in active], enough)
            else:
                found[j] = self._exact(blocks, active, int(j))
        return found

    def _sampled(
        self, blocks: list[tuple[Array, Array, Array]], active: list[Array], enough: int
    ) -> Array:
        """Of every so-many-th row of S, times their number."""
        places = np.flatnonzero(np.concatenate(active))
        stride = -(-len(places) // enough)
        some = np.zeros(sum(map(len, active)), dtype=bool)
        some[places[::stride]] = True
        H = np.zeros((self._m + 1, self._m + 1))
        for F, prices in gather_rows(blocks, split_like(some, active)):
            _add_hessian(H, F, prices, 1.0)
        H *= len(places) / len(places[::stride])
        return H

    def _exact(
        self, blocks: list[tuple[Array, Array, Array]], active: list[Array], j: int
    ) -> Array:
        assert self._masks is not None
        S, was = (np.concatenate([own[:, j] for own in masks]) for masks in (active, self._masks))
        n_active, H = int(S.sum()), self._hessians[j]
        changes = int(np.sum(was != S))
        if self._total is not None and len(S) - n_active < min(changes, n_active):
            H[...], was = self._total, np.ones_like(S)
        elif n_active < changes:
            H[...], was = 0.0, np.zeros_like(S)
        for sign, changed in ((1.0, S & ~was), (-1.0, was & ~S)):
            for F, prices in gather_rows(blocks, split_like(changed, active)):
                _add_hessian(H, F, prices, sign)
        for own, kept in zip(active, self._masks, strict=True):
            kept[:, j] = own[:, j]
        return H


def count_rows(active: list[Array], other: list[Array] | None = None) -> Array:
    """Rows in S of each machine, (q,), or those in one of two S and not in the other."""
    pairs = zip(active, other or [np.zeros_like(own) for own in active], strict=True)
    return np.asarray(sum(np.sum(own != was, axis=0) for own, was in pairs))


def split_like(mask: Array, blocks: list[Array]) -> list[Array]:
    """A mask of all rows as one of each block."""
    return np.split(mask, np.cumsum([len(own) for own in blocks])[:-1])


def gather_rows(
    blocks: list[tuple[Array, Array, Array]], masks: list[Array]
) -> Iterator[tuple[Array, Array]]:
    """Some rows of all blocks with their prices, enough together for a product to pay."""
    parts: list[tuple[Array, Array]] = []
    size = 0
    for (F, _, prices), mask in zip(blocks, masks, strict=True):
        own = np.flatnonzero(mask)
        if len(own):
            parts.append((F[own], prices[own]))
            size += len(own)
        if size >= GATHERED:
            yield np.concatenate([F for F, _ in parts]), np.concatenate([p for _, p in parts])
            parts, size = [], 0
    if parts:
        yield np.concatenate([F for F, _ in parts]), np.concatenate([p for _, p in parts])


def sum_blocks(
    blocks: Iterable[tuple[Array, Array, Array]],
    U: Array,
    wanted: Array,
    active: list[Array] | None = None,
) -> HingeSums:
    """The sums over some blocks at the points U, with Hessians of the machines wanted.

    With a list ``active`` it takes of each block which rows have positive slack, (n, q), in the
    place of Hessians.
    """
    m, q = U.shape[0] - 1, U.shape[1]
    loss, squares = np.zeros(q), np.zeros((2, q))
    sides = np.zeros((2, m + 1, q))
    summed = wanted & (active is None)
    hessians = [np.zeros((m + 1, m + 1)) if summed[j] else None for j in range(q)]
    for F, signs, prices in blocks:
        V = U[:m].astype(F.dtype)
        margins = F @ V + U[m].astype(F.dtype)
        slack = np.maximum(1 - signs * margins, 0).astype(np.float64)
        alpha = prices[:, None] * slack
        loss += np.einsum("ij,ij->j", alpha, slack)
        parts = np.hstack([np.where(own, alpha, 0.0) for own in (signs > 0, signs < 0)])
        FT_parts = F.T @ parts.astype(F.dtype)  # of both sides: F is read once
        for side, own in enumerate((slice(0, q), slice(q, 2 * q))):
            sides[side, :m] += FT_parts[:, own]
            sides[side, m] += parts[:, own].sum(axis=0)
            squares[side] += np.einsum("ij,ij->j", parts[:, own], slack)
        if active is not None:
            active.append(slack > 0)
        for j, H in enumerate(hessians):
            own = slack[:, j] > 0
            if H is not None and own.any():
                _add_hessian(H, F[own], prices[own])
    return HingeSums(loss, squares, sides, hessians)


def map_blocks(
    blocks: Iterable[tuple[Array, Array, Array]], change: Change | None
) -> Iterator[tuple[Array, Array, Array]]:
    """Blocks of features, signs and prices, the features changed if there is a change."""
    for Z, signs, prices in blocks:
        yield Z if change is None else change(Z), signs, prices


def measure_hinges(
    blocks: Blocks, U: Array, wanted: Array, change: Change | None = None
) -> HingeMeasure:
    """Values, gradients, dual bounds and (of the machines wanted) Hessians in one pass.

    Blocks that can add up by themselves, where their rows are, have ``sums(U, wanted, change)``.
    """
    own = getattr(blocks, "sums", None)
    sums: HingeSums
    sums = own(U, wanted, change) if own else sum_blocks(map_blocks(blocks(), change), U, wanted)
    ridge = np.append(np.ones(len(U) - 1), INTERCEPT_RIDGE)
    values = 0.5 * np.sum(ridge[:, None] * U**2, axis=0) + 0.5 * sums.loss
    gradients = ridge[:, None] * U - (sums.sides[0] - sums.sides[1])
    hessians = [None if H is None else H.copy() for H in sums.hessians]  # some are kept
    for H in hessians:
        if H is not None:
            H[np.diag_indices(len(U))] += ridge
    lowers = dual_point(sums.sides, sums.squares).value()
    return HingeMeasure(values, lowers, gradients, hessians, sums.sides, sums.squares)


def _add_hessian(H: Array, F: Array, prices: Array, sign: float = 1.0) -> None:
    """H += sign X'C X for some rows F, which are overwritten."""
    m = F.shape[1]
    if np.all(prices == prices[0]):
        factor = sign * float(prices[0])
        column = F.sum(axis=0, dtype=np.float64)
    else:
        factor, root = sign, np.sqrt(prices).astype(F.dtype)
        F *= root[:, None]
        column = F.T @ root
    square = F.T @ F
    square *= factor
    H[:m, :m] += square
    H[:m, m] += factor * column
    H[m, :m] += factor * column
    H[m, m] += sign * prices.sum()


@dataclass(frozen=True)
class HingeDual:
    """A feasible alpha by its sums: 1'alpha, sum alpha^2 / C, and F'(y alpha), of each machine."""

    linear: Array  # (q,)
    squares: Array  # (q,)
    normals: Array  # (m, q)

    def value(self) -> Array:
        return np.asarray(self.linear - 0.5 * self.squares - 0.5 * np.sum(self.normals**2, axis=0))


def dual_point(
    sides: Array, squares: Array, length: Callable[[Array], Array] | None = None
) -> HingeDual:
    """alpha with its heavier side scaled down to y'alpha = 0, and its best multiple.

    ``length`` gives the squared norm (q,) of F'(y alpha), if it is not the plain one.
    """
    m = sides.shape[1] - 1
    weights = sides[:, m]  # (2, q), 1'alpha of each side
    least = weights.min(axis=0)
    scale = least / np.where(weights > 0, weights, 1.0)  # (2, q), at most one
    normals = scale[0] * sides[0, :m] - scale[1] * sides[1, :m]
    penalty = np.sum(scale**2 * squares, axis=0)
    own = np.sum(normals**2, axis=0) if length is None else length(normals)
    linear, quadratic = 2 * least, penalty + own
    # c linear - c^2 quadratic / 2 is largest at
    c = np.where(quadratic > 0, linear / np.where(quadratic > 0, quadratic, 1.0), 0.0)
    return HingeDual(c * linear, c**2 * penalty, c * normals)
