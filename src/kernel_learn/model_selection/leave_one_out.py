"""Leave-one-out predictions of kernel ridge regression for all regularisations at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.ridge import gone_shares
from kernel_learn.representations.base import Combined, SpectralBlock
from kernel_learn.representations.gram import Gram
from kernel_learn.representations.linalg import LEAST_SLACK, leave_out
from kernel_learn.rows.access import row_blocks
from kernel_learn.rows.groups import shared_places

# Above this leverage a prediction hangs on its own row alone, and y - (y - f)/(1 - h) is noise.
LEVERAGE_LIMIT = 1 - LEAST_SLACK
# Predictions that are held at a time, in numbers: 1 MB.
BLOCK_SIZE = 2**17
# Rows whose errors stand for a large sample, and how many lams are tried on it at the most.
SEARCH_ROWS, SEARCH_STEPS = 1200, 4
POOL_SCORES = 40_000  # held out, of a pool: 4000 rows of ten classes, SEARCH_ROWS at least


@dataclass(frozen=True)
class LeaveOneOutPath:
    """Mean squared leave-one-out errors along a path, and which setting is best."""

    lams: Array  # (n_lams,)
    errors: Array  # (n_lams,), inf where a leverage is too close to one
    max_leverage: Array  # (n_lams,)
    scores: Array | None = None  # (n_lams, n_rows, q) predictions of the rows left out

    @property
    def best(self) -> int:
        """The index of the smallest error; the strongest regularisation among equals."""
        if not np.isfinite(self.errors).any():
            return int(np.argmax(self.lams))
        low = self.errors <= self.errors.min() * (1 + 1e-9)
        return int(max(np.flatnonzero(low), key=lambda i: self.lams[i]))


def leave_one_out(
    sample: Combined,
    lams: Sequence[float],
    *,
    at_most: int | None = None,
    keep_scores: bool = False,
) -> LeaveOneOutPath:
    """Exact leave-one-out squared error of ridge regression with intercept on the targets T.

        f = mean + A (A'A + lam)^{-1} A'(T - mean)    A = centred rows, A'A = diag(w)
        h_i = sum_j A_ij^2 / (w_j + lam) + s_i / sum(s)
        T_i - f_(-i)(x_i) = (T_i - f_i) / (1 - h_i)

    Rows and targets carry the roots of their weights s, and a row of weight s
    is left out as a whole. All refits for all lam cost one decomposition, which
    stays with the sample. Of a sample of moments at most ``at_most`` rows are
    evaluated again: exact for them, with leverages from all rows. Scores are in
    the order of the sample's rows (of the summary's, for moments). Where the sample has groups,
    they are left out as a whole (``leave_groups_out``), and no scores are kept.
    """
    lam = np.asarray(lams, dtype=np.float64)
    if sample.groups is not None:
        return _leave_units_out(sample, lam, at_most)
    spectrum = sample.spectrum
    w, AT_T = spectrum.w, sample.spectral_targets(spectrum)
    shrink = 1 / (w[:, None] + lam)  # (rank, n_lams)
    total, largest, share_seen = np.zeros(len(lam)), np.zeros(len(lam)), 0.0
    scores: list[Array] = []
    size = max(1, BLOCK_SIZE // (len(lam) * max(1, AT_T.shape[1])))
    for A, T, share in small_blocks(sample.spectral_rows(spectrum, at_most), size):
        F = _fitted(A, shrink, AT_T)  # (n_lams, rows, q)
        H = np.square(A, out=A) @ shrink + share[:, None]  # (rows, n_lams)
        largest = np.maximum(largest, H.max(axis=0, initial=0.0))
        left_out = (T - F) / np.maximum(1 - H, 1e-12).T[:, :, None]
        total += np.einsum("lij,lij->l", left_out, left_out)
        share_seen += float(share.sum())
        if keep_scores:
            root = np.sqrt(share * sample.n)[:, None]
            scores.append((T - left_out) / root + sample.target_mean)
    errors = np.where(largest > LEVERAGE_LIMIT, np.inf, total / (sample.n * share_seen))
    kept = np.concatenate(scores, axis=1) if keep_scores else None
    return LeaveOneOutPath(lam, errors, largest, kept)


def _leave_units_out(sample: Combined, lam: Array, at_most: int | None) -> LeaveOneOutPath:
    total, largest, share_seen = np.zeros(len(lam)), np.zeros(len(lam)), 0.0
    for _, left_out, leverage, share, _ in _units_left_out(sample, lam, at_most):
        total += np.einsum("lij,lij->l", left_out, left_out)
        largest = np.maximum(largest, leverage)
        share_seen += float(share.sum())
    errors = np.where(largest > LEVERAGE_LIMIT, np.inf, total / (sample.n * share_seen))
    return LeaveOneOutPath(lam, errors, largest)


def _units_left_out(
    sample: Combined, lam: Array, at_most: int | None
) -> Iterator[tuple[Array, Array, Array, Array, Array]]:
    """Targets, residuals (n_lams, rows, q), leverages (n_lams,), shares, groups; block by block."""
    spectrum = sample.spectrum
    AT_T = sample.spectral_targets(spectrum)
    shrink = 1 / (spectrum.w[:, None] + lam)
    for A, T, share, groups in sample.spectral_units(spectrum, at_most):
        units, root = shared_places(groups), np.sqrt(share)
        residuals, leverages = np.empty((len(lam), *T.shape)), np.empty(len(lam))
        for i, own in enumerate(shrink.T):
            blocks = [
                np.eye(len(g)) - (A[g] * own) @ A[g].T - np.outer(root[g], root[g]) for g in units
            ]
            slack = 1 - np.square(A) @ own - share
            residuals[i], least = leave_out(units, T - A @ (own[:, None] * AT_T), slack, blocks)
            leverages[i] = 1 - least
        yield T, residuals, leverages, share, groups


def cross_validate_generally(sample: Combined, lams: Sequence[float]) -> LeaveOneOutPath:
    """Generalised cross-validation of the same ridge regression, from the moments alone.

        min over lam of  (RSS / n) / (1 - tr H / n)^2,
        RSS = tr T'T - sum_j |A'T|_j^2 (w_j + 2 lam) / (w_j + lam)^2,
        tr H = sum_j w_j / (w_j + lam) + 1

    the leave-one-out error if every row had the mean leverage tr H / n.
    """
    lam = np.asarray(lams, dtype=np.float64)
    spectrum = sample.spectrum
    w, squares = spectrum.w[:, None], np.sum(sample.spectral_targets(spectrum) ** 2, axis=1)
    residual = sample.target_square - squares @ ((w + 2 * lam) / (w + lam) ** 2)
    leverage = (np.sum(w / (w + lam), axis=0) + 1) / sample.n
    safe = leverage <= LEVERAGE_LIMIT
    errors = np.maximum(residual, 0.0) / sample.n / np.where(safe, 1 - leverage, 1.0) ** 2
    return LeaveOneOutPath(lam, np.where(safe, errors, np.inf), leverage)


def search_leave_one_out(
    sample: Gram, lams: Sequence[float], *, rows: int = SEARCH_ROWS, steps: int = SEARCH_STEPS
) -> LeaveOneOutPath:
    """The best lam for a sample too large for an eigendecomposition.

    From the best of ``rows`` rows (the size of lam does not depend on their number) downhill
    along the lams, with the exact leave-one-out errors of these rows in the whole sample:
    a factorisation for each step. The path holds the lams tried.
    """
    grid = np.sort(np.asarray(lams, dtype=np.float64))
    tried: dict[int, tuple[float, float]] = {}

    def error(i: int) -> float:
        if i not in tried:
            residuals, leverage, share = sample.left_out(float(grid[i]), rows)
            top = float(leverage.max())
            mean = float(np.sum(residuals**2)) / (sample.n * float(share.sum()))
            tried[i] = (np.inf if top > LEVERAGE_LIMIT else mean, top)
        return tried[i][0]

    here = leave_one_out(sample.sketched(rows), [float(lam) for lam in grid]).best
    down = here > 0 and error(here - 1) < error(here)
    step = -1 if down else 1
    here = here - 1 if down else here
    while len(tried) < steps and 0 <= here + step < len(grid):
        if not error(here + step) < error(here):
            break
        here += step
    found = np.array(sorted(tried))
    errors, leverages = (np.array([tried[i][j] for i in found]) for j in range(2))
    return LeaveOneOutPath(grid[found], errors, leverages)


@dataclass(frozen=True)
class HeldOut:
    """Ridge scores of rows left out, in the order of their keys, with what each row carries."""

    scores: Array  # (n_rows, q)
    counts: Array  # (n_rows, q), targets times weights
    max_leverage: float
    groups: Sequence[Array] = ()  # places of rows that are left out together

    @property
    def is_safe(self) -> bool:
        """Whether no row hangs on itself alone."""
        return self.max_leverage <= LEVERAGE_LIMIT


def held_out_scores(sample: Combined, lam: float, rows: int | None = None) -> HeldOut:
    """Predictions of the ridge regression above for held-out rows, as for new rows.

    A row left out takes its targets out of their mean, to which scores shrink: at a large
    lam it would be given away by being below it. A new row sees the mean of all, so what it
    takes is added (``gone_shares``). Of all rows where the sample is decomposed
    (of ``rows``, if it is one of moments; None: for POOL_SCORES), else of SEARCH_ROWS for one
    factorisation.
    """
    groups = None
    if isinstance(sample, Gram) and not sample.is_decomposed:
        few = sample.first_rows(SEARCH_ROWS)
        T, (left_out, H, share) = sample.targets[few], sample.left_out(lam, SEARCH_ROWS)
        groups = None if sample.groups is None else sample.groups[few]
    elif sample.groups is not None:
        rows = max(SEARCH_ROWS, POOL_SCORES // len(sample.target_mean)) if rows is None else rows
        found = [
            (T, own[0], np.full(len(share), top[0]), share, groups)
            for T, own, top, share, groups in _units_left_out(sample, np.array([lam]), rows)
        ]
        T, left_out, H, share, groups = (
            np.concatenate([part[i] for part in found]) for i in range(5)
        )
    else:
        spectrum = sample.spectrum
        shrink = 1 / (spectrum.w + lam)
        AT_T = shrink[:, None] * sample.spectral_targets(spectrum)
        parts = []
        rows = max(SEARCH_ROWS, POOL_SCORES // AT_T.shape[1]) if rows is None else rows
        for A, T, share in sample.spectral_rows(spectrum, rows):
            H = np.square(A) @ shrink + share
            parts.append((T, (T - A @ AT_T) / np.maximum(1 - H, 1e-12)[:, None], H, share))
        T, left_out, H, share = (np.concatenate([part[i] for part in parts]) for i in range(4))
        if isinstance(sample, Gram):
            T, left_out, H, share = (x[sample.order] for x in (T, left_out, H, share))
    counting = share > 0
    T, left_out, H, share = (x[counting] for x in (T, left_out, H, share))
    units = () if groups is None else shared_places(groups[counting])
    weight = share[:, None] * sample.n
    targets = T / np.sqrt(weight)  # centred
    moved = gone_shares(weight * targets, weight[:, 0], units, sample.n)
    scores = targets - left_out / np.sqrt(weight) + moved + sample.target_mean
    return HeldOut(scores, weight * (targets + sample.target_mean), float(H.max()), units)


def leave_groups_out(
    sample: Combined,
    lam: float,
    groups: Array,  # (n,) of the sample's rows
) -> Array:
    """Predictions (n, q) of the ridge regression above with all rows of a group left out together.

        T_g - f_(-g) = (I - H_gg)^{-1} (T_g - f_g),   H = A (A'A + lam)^{-1} A' + s^{1/2} s^{1/2}'/n

    exactly, for an exact sample: one decomposition and a system of each group's size.
    """
    spectrum = sample.spectrum
    blocks = list(sample.spectral_rows(spectrum))
    A, T, share = (np.concatenate([block[i] for block in blocks]) for i in range(3))
    groups = np.asarray(groups)
    if groups.shape != share.shape:
        raise ValueError(f"groups has shape {groups.shape}; one per row is {share.shape}.")
    shrink = 1 / (spectrum.w + lam)
    residual = T - A @ (shrink[:, None] * sample.spectral_targets(spectrum))
    B = np.column_stack([A * np.sqrt(shrink), np.sqrt(share)])  # H = BB'
    together = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    inner = [np.eye(len(own)) - B[own] @ B[own].T for own in together]
    left_out, _ = leave_out(together, residual, np.ones(len(B)), inner)
    root = np.sqrt(share * sample.n)[:, None]
    return np.asarray((T - left_out) / root + sample.target_mean)


def small_blocks(blocks: Iterator[SpectralBlock], size: int) -> Iterator[SpectralBlock]:
    """The same rows, so few at a time that predictions for all lams stay small."""
    for A, T, share in blocks:
        for rows in row_blocks(len(A), size):
            yield A[rows], T[rows], share[rows]


def _fitted(A: Array, shrink: Array, AT_T: Array) -> Array:
    """A diag(shrink_l) A'T for all l in one product, (n_lams, rows, q)."""
    right = shrink[:, :, None] * AT_T[:, None, :]  # (rank, n_lams, q)
    F = A @ right.reshape(len(right), -1)
    return F.reshape(len(A), *right.shape[1:]).transpose(1, 0, 2)
