"""What held-out rows say of new ones: sets of classes, novelty, probabilities that fade."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Literal, NoReturn

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, DataLike, Rows
from kernel_learn.criteria.held_out.conformal import (
    HeldOutScores,
    Thresholds,
    class_thresholds,
    conformal_scores,
    least_rows,
    threshold,
)
from kernel_learn.criteria.held_out.fading import (
    LEAST_KNOWN,
    Fading,
    bounded_fading,
    usual_nearby,
    usual_share,
)
from kernel_learn.criteria.held_out.folds import first_by_class
from kernel_learn.criteria.held_out.novelty import (
    ROUNDED,
    GaussianScreen,
    Variance,
    log_tails,
    novelty_p_values,
)
from kernel_learn.criteria.held_out.stacking import centered, softmax
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.fitting.block_results import on_sources
from kernel_learn.fitting.row_validation import validate_rows
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.stationary import Gaussian
from kernel_learn.representations.plan import COMPARED_ROWS
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.sources import ArraySource
from kernel_learn.rows.access import is_sparse, n_rows, row_blocks, take_rows
from kernel_learn.rows.table import Table
from kernel_learn.warn import warn_user

NOISE = 0.01  # of the mean diagonal of their kernel
LEAST_MANY = 100  # reference rows from which on some of them are asked first
CONSTANT = 1e-9  # a standard deviation below this share of the largest value is rounding
COLUMNS_AT_ONCE = 256
LARGEST = 1e100  # number whose distances can be taken

SetMethod = Literal["loo", "cv+"]


@dataclass(frozen=True, eq=False)
class ColumnUnits:
    """Columns of numbers in standard deviations, with ``log_tails``."""

    mean: Array | None = None  # (d,); None: rows are in standard deviations already
    scale: Array | None = None  # (d,) one over the standard deviation

    def __call__(self, rows: Rows) -> Rows:
        if is_sparse(rows):
            found = rows.astype(np.float64)  # a copy, as of dense rows
            log_tails(found.data)
            return found
        Z = np.array(rows, dtype=np.float64)
        if self.mean is not None and self.scale is not None:
            Z -= self.mean
            Z *= self.scale
        return log_tails(Z)


@dataclass(frozen=True, eq=False)
class ReferenceRows:
    """Some training rows, drawn by their keys, and the kernel by which others are unlike them."""

    kernel: Kernel
    rows: Rows
    weight: Array  # (m,)
    groups: Sequence[Array] = ()
    units: ColumnUnits | None = None  # in which the kernel takes rows, None: as they are

    @cached_property
    def placed(self) -> Rows:
        """The rows as the kernel takes them; this and what follows is worked out when asked for."""
        return self.rows if self.units is None else self.units(self.rows)

    @cached_property
    def resolved(self) -> Kernel:
        """The kernel with its width."""
        return self.kernel.resolve(self.placed, self.weight)

    @cached_property
    def variance(self) -> Variance:
        K = self.resolved(self.placed)
        lam = NOISE * (float(np.average(np.diagonal(K), weights=self.weight)) or 1.0)
        return Variance(np.asarray(K, dtype=np.float64), self.weight, lam, self.groups)

    @cached_property
    def known(self) -> Array:
        """The share of the variance of each row, left out, that the others take away, (m,)."""
        far = self.variance.far(np.diagonal(self.variance.K))
        return np.asarray(1.0 - self.variance.left_out / far)

    @cached_property
    def usual(self) -> float:
        """What rows like these have at the least."""
        return usual_share(self.known)

    @cached_property
    def unlike(self) -> Array:
        """Which of these rows are unlike the others."""
        return np.flatnonzero(self.known < self.usual)

    @property
    def mass(self) -> Array:
        """What each row counts: those of one group share one, (m,)."""
        mass = np.array(self.weight)
        if self.groups:
            mass[:] = 1.0
        for rows in self.groups:
            mass[rows] = self.weight[rows] / self.weight[rows].sum()
        return mass

    def place(self, X: Rows) -> Rows:
        """New rows as the kernel takes them."""
        X = X.numbers if isinstance(X, Table) and not isinstance(self.rows, Table) else X
        return X if self.units is None else self.units(X)

    def compare(self, X: Rows, rows: Rows) -> tuple[Array, Array]:
        """Values of placed rows with some of these, (n, m), and with themselves, (n,)."""
        K = np.asarray(self.resolved(X, rows), dtype=np.float64)
        return K, np.asarray(self.resolved.diag(X), dtype=np.float64)

    def __call__(self, X: Rows) -> Array:
        """Variances of new rows, (n,)."""
        return self.variance(*self.compare(self.place(X), self.placed))

    @cached_property
    def screens(self) -> list[Callable[[Rows], Array]]:
        """By ever more of these rows, the share known of placed new ones at the least, (n,)."""
        n, known, kernel = n_rows(self.rows), self.variance, self.resolved
        if n < LEAST_MANY:
            return []

        def part(every: int, most: float) -> tuple[Rows, Variance]:
            some = np.arange(0, n, every)
            weight = np.minimum(self.weight[some], most)
            own = Variance(known.K[np.ix_(some, some)], weight, known.lam)
            return take_rows(self.placed, some), own

        if isinstance(kernel, Gaussian) and not is_sparse(self.placed):
            gamma, far = float(kernel.gamma), float(known.far(np.ones(1))[0])
            return [GaussianScreen.of(*part(every, 1.0), gamma, far) for every in (5, 2, 1)]
        rows, own = part(5, np.inf)
        return [lambda X: self._known(own, *self.compare(X, rows))]

    def less_known(self, X: Rows) -> Array:
        """How much less is known of new rows than of rows like these near them, (n,).

        At least one, which is not less: where a few of these rows say so, the others, which take
        away more of the variance, need not be looked at.
        """
        X = self.place(X)
        less = np.ones(n_rows(X))
        rest = np.arange(len(less))
        for screen in self.screens:
            some = X if len(rest) == len(less) else take_rows(X, rest)
            rest = rest[~(screen(some) >= self.usual + ROUNDED)]
        if len(rest):
            less[rest] = self._less_known(X if len(rest) == len(less) else take_rows(X, rest))
        return less

    def _less_known(self, X: Rows) -> Array:
        K, diagonal = self.compare(X, self.placed)
        own = np.diagonal(self.variance.K)[self.unlike]
        lengths = np.sqrt(np.maximum(np.outer(diagonal, own), np.finfo(float).tiny))
        usual = usual_nearby(self.usual, K[:, self.unlike] / lengths)
        known = np.maximum(self._known(self.variance, K, diagonal), LEAST_KNOWN)
        return np.asarray(np.maximum(usual / known, 1.0))

    def _known(self, variance: Variance, K: Array, diagonal: Array) -> Array:
        """The share of their variance that rows take from new ones, (n,)."""
        far = np.maximum(self.variance.far(diagonal), np.finfo(float).tiny)
        return np.asarray(1.0 - variance(K, diagonal) / far)

    @property
    def floor(self) -> float:
        """The least p-value there is: of rows less like these than any of them."""
        return float(1.0 / (1.0 + self.mass.sum()))

    def p_values(self, X: Rows) -> Array:
        """How many of these rows, left out, are as unlike the others as new ones, (n,)."""
        return novelty_p_values(self(X), self.variance.left_out, self.mass)

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # as it was made


@dataclass(frozen=True, eq=False)
class Calibration:
    """What is kept of held-out rows."""

    held: HeldOutScores
    fading: Fading
    reference: ReferenceRows | None = None  # None where new rows have no k(x, x)

    def factor(self, L: Array, rows: Callable[[], Rows]) -> Array:
        """s(x) of rows with log-odds L (n, k), by how like those that were seen they are, (n,)."""
        known = self.reference
        return self.fading.factor(L, None if known is None else known.less_known(rows()))


def reference_of(kernel: Kernel, source: ArraySource | PooledSource) -> ReferenceRows | None:
    """The first training rows of each class by key; nothing of a kernel matrix."""
    if kernel.input == "matrix":
        return None
    summary = source.summary
    seen = np.flatnonzero(summary.weight > 0)
    room = COMPARED_ROWS - 2 * (source.n_classes or COMPARED_ROWS)  # beside two rows of each
    if len(seen) > COMPARED_ROWS and room >= COMPARED_ROWS // 2:
        labels = np.asarray(summary.labels[seen].argmax(axis=1)).reshape(-1)
        seen = seen[first_by_class(labels, room)]
    seen = seen[:COMPARED_ROWS]
    weight = np.asarray(summary.weight[seen], dtype=np.float64)
    rows = summary.rows[seen]
    found = make_reference(kernel, take_rows(source.X, rows), weight)
    return replace(found, groups=source.units(rows))


def make_reference(kernel: Kernel, rows: Rows, weight: Array) -> ReferenceRows:
    """Numbers are unlike by their distances, whatever a model makes of them; others by its kernel.

    In the eyes of a linear kernel a row that moves along a known direction is nothing new. How
    unlike rows are does not depend on units either.
    """
    numbers = plain_numbers(rows)
    if kernel.input != "vectors" and numbers is rows:
        return ReferenceRows(kernel, rows, weight)
    units = None if is_sparse(numbers) else column_units(np.asarray(numbers), weight)
    return ReferenceRows(Gaussian(), numbers, weight, units=units)


def column_units(rows: Array, weight: Array) -> ColumnUnits:
    """Means and standard deviations; of a column of one value, one."""
    d = rows.shape[1]
    mean, scale = np.zeros(d), np.ones(d)
    for some in row_blocks(d, COLUMNS_AT_ONCE):  # so that wide rows are not copied
        part = rows[:, some].astype(np.float64)
        mean[some] = np.average(part, axis=0, weights=weight)
        sd = np.sqrt(np.average((part - mean[some]) ** 2, axis=0, weights=weight))
        varies = sd > CONSTANT * np.abs(part).max(axis=0, initial=0.0)
        np.divide(1.0, sd, out=scale[some], where=varies)
    return ColumnUnits(mean, scale)


def plain_numbers(rows: Rows) -> Rows:
    """A table that is numbers, without holes, as its numbers; other rows as they are."""
    if not isinstance(rows, Table) or rows.others.shape[1]:
        return rows
    largest = abs(rows.numbers).max()  # of columns that no kernel uses, too
    return rows.numbers if largest < LARGEST else rows


def calibrate_rows(
    shares: Array,  # (k,) of the classes
    L: Array,  # (m, k) held-out log-odds
    targets: Targets,  # of these rows
    total: float,  # rows, with their weights, that were learned from
    reference: ReferenceRows | None,
) -> Calibration:
    """Sets and fading from the rows that were held out, none of which is far away."""
    fading = bounded_fading(shares, total)
    held = conformal_scores(softmax(fading(L)), targets.counts, targets.groups)
    return Calibration(held, fading, reference)


@dataclass(frozen=True, eq=False)
class HeldOutResiduals:
    """What is kept of held-out numbers."""

    sizes: Array  # (m, q) |y - what was said of it held out|
    mass: Array  # (m,) how often each was seen
    reference: ReferenceRows | None = None

    def reach(self, coverage: float) -> Array:
        """The ceil(coverage (N + 1))-th smallest of each target, (q,)."""
        return np.array([threshold(own, self.mass, coverage) for own in self.sizes.T])


class TellsNovelty:
    """Novelty of rows, for an estimator that keeps ``ReferenceRows``."""

    @on_sources
    def novelty(self, X: DataLike) -> Array:
        """How unlike the training rows each row is: a p-value, small for rows like none of them.

        The share of training rows, each left out, that are at least as unusual by the variance
        of a Gaussian process on at most 250 of them. For new rows drawn as the training rows
        were it is uniform; its least value is 1 / (n + 1), n the number of these rows.

        Returns
        -------
        p : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._reference().p_values(self._reference_rows(X))

    def novelty_floor(self) -> float:
        """The least value of ``novelty``: rows at it are less like the training rows than any."""
        check_is_fitted(self)
        return self._reference().floor

    def _reference(self) -> ReferenceRows:
        reference = self._kept_reference()
        if reference is None:
            raise ValueError(
                f"{type(self).__name__}.novelty needs k(x, x) of new rows, which a precomputed "
                "kernel matrix does not hold, and a model fitted by this version. Fit with a "
                "kernel on rows."
            )
        return reference

    def _kept_reference(self) -> ReferenceRows | None:
        calibration: Calibration | HeldOutResiduals | None = getattr(self, "_calibration", None)
        return None if calibration is None else calibration.reference

    def _reference_rows(self, X: Rows) -> Rows:
        """Rows as the reference's kernel takes them."""
        return validate_rows(self, self.base_kernel_, X, reset=False)  # type: ignore[attr-defined, no-any-return]


class HeldOutSets(TellsNovelty):
    """Sets of classes for a classifier with ``_calibration``."""

    _calibration: Calibration

    def predict_set(
        self,
        X: DataLike,
        coverage: float = 0.9,
        by_class: bool = False,
        method: SetMethod = "loo",
    ) -> Array:
        """The classes that cannot be excluded: sets that hold the true class as often as asked.

        From the probabilities of held-out training rows: a class is in the set of a row if its
        probability is not below those that the true classes of the training rows have but for
        1 - coverage of them. Nearly exact in practice where new rows are drawn as the
        training rows were; drift, time, or groups that were not named at fit break it.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or a source of blocks
            Rows as at fit.
        coverage : float, default=0.9
            How often the set shall hold the true class.
        by_class : bool, default=False
            With that coverage within each class, and not only over all of them.
        method : {"loo", "cv+"}, default="loo"
            ``"loo"``: by held-out rows that also chose the model, coverage as measured.
            ``"cv+"``: by models of folds that made all choices inside, with a coverage of at
            least 1 - 2 (1 - coverage) - sqrt(2 / n) that is proven; only of ensembles that keep
            such models.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            Never empty: the likeliest class is in. Everything where a row is so far from the
            training rows that its probabilities are the class shares; and, with a warning, where
            there are too few rows for such a coverage.
        """
        check_is_fitted(self)
        check_coverage(coverage, type(self).__name__)
        if method != "loo":
            return self._cross_sets(X, coverage, by_class, method)
        thresholds = self._thresholds(coverage, by_class)
        proba = self.predict_proba(X)  # type: ignore[attr-defined]
        if isinstance(proba, Iterator):
            return (thresholds.sets(P) for P in proba)  # type: ignore[return-value]
        if hasattr(proba, "map_blocks"):
            return proba.map_blocks(thresholds.sets, dtype=bool)  # type: ignore[no-any-return]
        return thresholds.sets(np.asarray(proba))

    def _cross_sets(self, X: DataLike, coverage: float, by_class: bool, method: str) -> Array:
        refuse_method(method, self, "KernelClassifier(assess='nested')")

    def _thresholds(self, coverage: float, by_class: bool) -> Thresholds:
        if not hasattr(self, "_calibration"):
            raise ValueError(nothing_held_out(self))
        classes: Array = self.classes_  # type: ignore[attr-defined]
        found = class_thresholds(self._calibration.held, len(classes), coverage, by_class=by_class)
        if found.void.any():
            name = classes[found.void][:1].tolist()[0]
            few = f"class {name!r} has" if by_class else "there are"
            warn_user(
                f"A coverage of {coverage:g} needs {least_rows(coverage)} rows (or groups) that "
                f"are held out, and {few} fewer: nothing can be excluded there."
            )
        return replace(found, shares=softmax(self._calibration.fading.prior[None])[0])

    def _faded_logits(self, X: Rows) -> Array:
        """Log-odds of ``predict_proba``."""
        L: Array = self._logits(X)  # type: ignore[attr-defined]
        calibration = getattr(self, "_calibration", None)
        if calibration is None:
            return L
        if isinstance(X, np.ndarray) and X.dtype == np.float64 and self._takes_vectors:
            return fade(calibration, L, lambda: X)  # every entry was looked at for L
        return fade(calibration, L, lambda: self._reference_rows(X))

    @property
    def _takes_vectors(self) -> bool:
        return self.base_kernel_.input == "vectors"  # type: ignore[attr-defined, no-any-return]


class HeldOutIntervals(TellsNovelty):
    """Intervals for a regressor with ``_calibration`` of residuals."""

    _calibration: HeldOutResiduals

    def predict_interval(
        self, X: DataLike, coverage: float = 0.9, method: SetMethod = "loo"
    ) -> Array:
        """From where to where a new y lies, as often as asked.

        By the residuals of held-out training rows around ``predict`` (the jackknife). Nearly
        exact in practice where new rows are drawn as the training rows were; drift, time, or
        groups that were not named at fit break it.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or a source of blocks
            Rows as at fit.
        coverage : float, default=0.9
            How often the interval shall hold the true value.
        method : {"loo"}, default="loo"
            ``"cv+"`` needs the models of folds, which
            :class:`KernelRegressor` keeps.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, n_targets, 2)
            Infinite, with a warning, where there are too few rows for such a coverage.
        """
        check_is_fitted(self)
        check_coverage(coverage, type(self).__name__)
        if method != "loo":
            refuse_method(method, self, "KernelRegressor(assess='nested')")
        if not hasattr(self, "_calibration"):
            raise ValueError(nothing_held_out(self))
        reach = self._calibration.reach(coverage)
        if np.isinf(reach).any():
            warn_user(
                f"A coverage of {coverage:g} needs {least_rows(coverage)} rows (or groups) that "
                "are held out, and there are fewer: intervals are infinite."
            )

        def around(values: Array) -> Array:
            own = reach if values.ndim > 1 else reach[0]
            return np.stack([values - own, values + own], axis=-1)

        values = self.predict(X)  # type: ignore[attr-defined]
        if isinstance(values, Iterator):
            return (around(own) for own in values)  # type: ignore[return-value]
        if hasattr(values, "map_blocks"):
            chunks, axis = (*values.chunks, (2,)), values.ndim
            return values.map_blocks(around, dtype=float, new_axis=axis, chunks=chunks)  # type: ignore[no-any-return]
        return around(np.asarray(values))


def refuse_method(method: str, model: object, other: str) -> NoReturn:
    """Why there are no intervals or sets by models of folds."""
    if method != "cv+":
        raise ValueError(f"method={method!r}: give 'loo' or 'cv+'.")
    raise ValueError(
        f"{type(model).__name__} keeps no models of folds, which method='cv+' needs. "
        f"Use method='loo', or {other}."
    )


def nothing_held_out(model: object) -> str:
    """Why there are no intervals or sets at all."""
    return (
        f"This {type(model).__name__} holds nothing of held-out rows: rows were too few or alike "
        "to be held out, or it comes from an earlier version. Fit it again."
    )


def fade(calibration: Calibration, L: Array, rows: Callable[[], Rows]) -> Array:
    """Log-odds of rows, (n, k), as far as the rows are like those that were seen."""
    L, prior = centered(L), calibration.fading.prior
    return np.asarray(prior + calibration.factor(L, rows)[:, None] * (L - prior))


def check_coverage(coverage: float, name: str) -> None:
    """Refuse what is not a share."""
    if isinstance(coverage, bool) or not isinstance(coverage, int | float | np.floating):
        raise TypeError(f"{name}: coverage is a number between 0 and 1, got {coverage!r}.")
    if not 0 < coverage < 1:
        raise ValueError(f"{name}: coverage is a number between 0 and 1, got {coverage!r}.")
