"""KernelRegressor: a regressor for tables that needs no tuning."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, DataLike, MemoryBudget, PathLike, Rows
from kernel_learn.criteria.held_out.conformal import least_rows
from kernel_learn.criteria.held_out.intervals import (
    jackknife_intervals,
    rmse_interval,
    value_masses,
)
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.values import squared_errors
from kernel_learn.ensemble.assessment import LEVEL, VARIANCE_FACTOR, Assessment, assess
from kernel_learn.ensemble.estimator import EnsembleEstimator, Folder
from kernel_learn.ensemble.fit import fit_ensemble
from kernel_learn.ensemble.fitted import FittedEnsemble
from kernel_learn.ensemble.given.targets import GivenNumbers
from kernel_learn.ensemble.ingest import ColumnNames, Prepared
from kernel_learn.ensemble.ledger.number_ledger import NumberLedger
from kernel_learn.ensemble.ledger.shapley import how_far
from kernel_learn.ensemble.members import Ensemble
from kernel_learn.ensemble.summary import (
    Explanation,
    ValueExplanation,
    explain_rows,
    summarise,
)
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.block_results import ScoredRegressor, on_sources
from kernel_learn.fitting.parameters import FALSE, check_count, choice
from kernel_learn.fitting.uncertainty import check_coverage
from kernel_learn.rows.access import row_blocks
from kernel_learn.rows.table import Table
from kernel_learn.warn import warn_user

IntervalMethod = Literal["loo", "cv+"]
BLOCK_ENTRIES = 2**22  # ends of intervals that are held at a time


class KernelRegressor(ScoredRegressor, EnsembleEstimator, NumberLedger):
    """A regressor for tables that needs no tuning: many kernels, cross-validated and averaged.

    Columns are seen as z-scores, normal scores and ranks; on each view kernel
    ridge fits are compared by exact leave-one-out, some with one scale per
    column, learned by the marginal likelihood of a Gaussian process. A target
    that is never negative is fitted as it is or by its logarithm, whichever is
    surely better; members are averaged with weights by how surely the best of
    them is better.

    Parameters
    ----------
    quality : {"fast", "balanced"}
        How much is tried; ``"fast"`` takes about a third of the time.
    max_members : int
        At most so many kernels in the average; 1 gives one kernel and a small model.
    categorical : "auto" or list of names or positions
        As in :class:`KernelClassifier`.
    column_groups : dict of name to list of names or positions, optional
        As in :class:`KernelClassifier`.
    time_budget : float, optional
        Seconds; asked between members, and one member is always fitted.
    memory_budget : float or str, optional
        As in :class:`KernelClassifier`.
    assess : {"nested", "loo"} or False
        As in :class:`KernelClassifier`: up to 500 distinct rows the whole fit is repeated
        without each of five folds, which gives ``error_`` and the residuals of the intervals and
        takes five times as long. Otherwise these are by leave-one-out.
    n_jobs : int, optional
        Threads in which views are cross-validated, and leaves fitted, side by side; the result is
        the same. They share the cores with BLAS, which should have one thread then.
    random_state : int, RandomState instance or None
        Draws the order of the rows, and with it the parts of them from which scales are
        learned; None is a seed like any other, so that fits repeat. The order in which rows
        are given does not matter.
    verbose : int
        Above 0: one line per step.

    Attributes
    ----------
    members_ : tuple of Member
        View, kernel, reg, weight, held-out loss (squared error as a share of the variance) and
        error (its root) of each; prints as a table.
    loo_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Predictions of the training rows by models that have not seen them. Of a source that
        does not fit into memory of some rows: those at ``loo_rows_``.
    loo_rows_ : ndarray
        Where the rows of ``loo_prediction_`` stand in such a source.
    loo_rmse_ : float or ndarray of shape (n_targets,)
        Root mean squared error of these: what chose members and weights.
    loo_r2_ : float
        1 - squared error / variance, the mean over the targets.
    error_ : float or ndarray of shape (n_targets,)
        Root mean squared error that is expected on new rows, by ``assess``; absent if False.
    error_interval_ : tuple of two floats or ndarray of shape (n_targets, 2)
        Its 95 % interval.
    held_out_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The predictions that ``error_`` is of; ``loo_prediction_`` if ``assess="loo"``.
    held_out_std_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Standard deviation of y around these, by models that have not seen the row.
    feature_relevance_ : ndarray of shape (n_features_in_,)
        Share of each column in the squared gradient of a fit to normal scores.
    feature_relevance_std_ : ndarray of shape (n_features_in_,)
        Its standard deviation over five cross-validation folds.
    relevant_features_ : ndarray of shape (n_features_in_,)
        Whether each column surely matters: more than every one of 19 shuffled copies of columns.
    kernel_ : Combination
        sum of weight * kernel / mean diagonal, each on its view.
    row_values_ : ndarray of shape (n_samples,)
        How much worse all other rows are predicted without each row; negative: it harms.
    plan_ : EnsemblePlan
        What was carried out; prints itself.
    summary_ : str

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernel_learn import KernelRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> regressor = KernelRegressor(quality="fast").fit(X[::2], y[::2])
    >>> round(regressor.score(X[1::2], y[1::2]), 2)
    0.42
    """

    _parameters = EnsembleEstimator._parameters | {"assess": choice("nested", "loo") | FALSE}

    learns_values: ClassVar[bool] = True

    def __init__(
        self,
        *,
        quality: str = "balanced",
        max_members: int = 20,
        categorical: ColumnNames | str | None = "auto",
        column_groups: Mapping[str, ColumnNames] | None = None,
        time_budget: float | None = None,
        memory_budget: MemoryBudget = None,
        assess: str | bool = "nested",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.quality = quality
        self.max_members = max_members
        self.categorical = categorical
        self.column_groups = column_groups
        self.time_budget = time_budget
        self.memory_budget = memory_budget
        self.assess = assess
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @all_or_nothing
    def fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        checkpoint: Folder = None,
    ) -> Self:
        """Fit to a table and its numbers.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            As in :class:`KernelClassifier`.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Numbers; None for a source, which has its own and its own weights.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.
        groups : array-like of shape (n_samples,), optional
            Rows of one group (measures of one patient) are left out together.
        checkpoint : path, default=None
            As in :class:`KernelClassifier`.
        """
        return self._fit_ensemble(X, y, sample_weight, groups, checkpoint)

    def predict(
        self, X: DataLike, return_std: bool = False, *, out: PathLike | None = None
    ) -> Array | tuple[Array, Array]:
        """Expected values, (n_samples,) or (n_samples, n_targets) as at fit.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source
            Rows; of a source the predictions come in blocks.
        return_std : bool, default=False
            Also the standard deviation of a new y around each, for rows at hand: scaled so that
            (y - prediction) / deviation of held-out training rows has mean square one, see
            ``held_out_std_``.
        out : path, default=None
            A .npy file that is written in their place.
        """
        check_is_fitted(self)
        if not return_std:
            return self._values(X, out=out)  # type: ignore[call-arg]
        if out is not None:
            raise ValueError("predict(return_std=True) gives two arrays: leave out `out`.")
        table = self._table(X)
        s = self._spread_of(X)
        std = s * self._fitted.probe.spread.deviations
        return self._shaped(self._fitted.ensemble.predict(table)), self._shaped(std)

    @property
    def held_out_std_(self) -> Array:
        """Standard deviation of y around held-out predictions, by models without the row.

        (n_samples,) or (n_samples, n_targets): (y - ``held_out_prediction_``) / it has mean square
        one (``loo_prediction_`` if there was no nested assessment). Worked out when asked for; NaN
        for rows of weight zero, and, of many rows, for those from which it is not told.
        """
        check_is_fitted(self)
        given, probe = self._rows_of_fit("held_out_std_"), self._fitted.probe
        std = probe.row_scales * probe.spread.deviations
        found = np.full((int(given.distinct.max()) + 1, std.shape[1]), np.nan)
        found[slice(None) if probe.held_rows is None else probe.held_rows] = std
        return self._shaped(np.where(given.counting[:, None], found[given.distinct], np.nan))

    def predict_quantiles(self, X: Rows, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> Array:
        """Quantiles of a new y, (n_samples, m), or (n_samples, n_targets, m) of several targets.

        Those of held-out residuals around the prediction, in units of a scale that depends on
        the row.
        """
        check_is_fitted(self)
        shares = np.asarray(quantiles, dtype=np.float64)
        if shares.ndim != 1 or not len(shares) or not np.all((shares > 0) & (shares < 1)):
            raise ValueError(
                f"quantiles={quantiles!r}: give a list of shares between 0 and 1, both excluded."
            )
        centre = self._fitted.ensemble.predict(self._table(X))
        residuals = self._fitted.probe.spread.quantiles(shares)
        found = centre[:, :, None] + self._spread_of(X)[:, :, None] * residuals
        return np.asarray(found[:, 0] if self._single else found)

    @on_sources
    def predict_interval(
        self, X: DataLike, coverage: float = 0.9, method: IntervalMethod = "loo"
    ) -> Array:
        """From where to where a new y lies, as often as asked.

        By held-out training rows; exact where new rows are drawn as the training rows were, but
        for what was chosen by them. Drift, time, or groups that were not named at fit break it.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or a source of blocks
            Rows as at fit.
        coverage : float, default=0.9
            How often the interval shall hold the true value.
        method : {"loo", "cv+"}, default="loo"
            ``"loo"``: jackknife+, each held-out residual around what the same members say without
            its row (its group), in units of a scale that depends on the row; nearly exact in
            practice, though members were chosen by the same rows. ``"cv+"``: by the models of the
            nested assessment, residuals as they are, with a coverage of at least
            1 - 2 (1 - coverage) - sqrt(2 / n) that is proven.
            Without a nested assessment (``assess=False``, more than 500 rows) residuals are those
            of leave-one-out, by which members were chosen: of 40 simulated rows 87 % were held
            where 90 % were asked for, with it 91 %.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, n_targets, 2)
            Infinite, with a warning, where there are too few rows for such a coverage.
        """
        check_is_fitted(self)
        check_coverage(coverage, "KernelRegressor.predict_interval")
        if method not in ("loo", "cv+"):
            raise ValueError(f"method={method!r}: give 'loo' or 'cv+'.")
        table = self._table(X)
        if method == "cv+":
            found = self._cross_intervals(table, coverage)
        else:
            found = self._fitted.intervals(table, coverage)
        if np.isinf(found).any():
            warn_user(
                f"A coverage of {coverage:g} needs {least_rows(coverage)} rows (or groups) that "
                "are held out, and there are fewer: intervals are infinite."
            )
        return np.asarray(found[:, 0] if self._single else found)

    def _cross_intervals(self, table: Table, coverage: float) -> Array:
        how: Assessment | None = self._assessment
        if how is None or how.way != "nested":
            raise ValueError(
                "method='cv+' needs the models of a nested assessment, which this KernelRegressor "
                "does not keep: fit with assess='nested' to at most 500 rows, of more than two "
                "groups if there are groups, or use method='loo'."
            )
        fold_of = np.empty(sum(len(fold.rows) for fold in how.folds), dtype=int)
        for number, fold in enumerate(how.folds):
            fold_of[fold.rows] = number
        said = np.array([fold.ensemble.predict(table) for fold in how.folds])
        probe = self._fitted.probe
        if probe.held_rows is not None:
            fold_of = fold_of[probe.held_rows]
        targets, held = probe.sample.targets, probe.held
        assert isinstance(targets, NumberTargets) and held is not None
        own_fold = fold_of[targets.row]
        sizes = np.abs(targets.values - held[targets.row])
        mass = value_masses(targets.count, targets.row, targets.groups)
        found = np.empty((*said.shape[1:], 2))
        for rows in row_blocks(len(found), max(1, BLOCK_ENTRIES // len(own_fold))):
            for target in range(targets.n_targets):
                centres = said[own_fold, rows, target].T
                reach = np.broadcast_to(sizes[:, target], centres.shape)
                found[rows, target] = jackknife_intervals(centres, reach, mass, coverage)
        return found

    def explain(self, X: Rows, n_rows: int = 10, target: int = 0) -> Explanation:
        """The training rows that move each row's prediction most, of one of the targets.

        What all of them add, and the baseline, sum exactly to L(x), the average of what the
        members predict before each is kept within what was seen; ``fading`` and ``prior``, the
        mean of y, lead from there to ``predict``, and fading is 1 wherever nothing was cut. A
        member that predicts by log y is no sum over rows: what all of them have moved it is
        divided among them as they add to its logarithm.
        """
        check_is_fitted(self)
        table, ensemble = self._table(X), self._fitted.ensemble
        count = check_count("n_rows", n_rows, self)
        n_targets = ensemble.n_features
        if not (isinstance(target, int | np.integer) and 0 <= target < n_targets):
            raise ValueError(f"target={target!r}: it is one of 0 to {n_targets - 1}.")
        added, baseline = ensemble.value_contributions(table, int(target))
        said = ensemble.values(table)[:, target]
        found = explain_rows(added, baseline, self._first, said, count, ValueExplanation)
        targets = ensemble.targets
        assert isinstance(targets, NumberTargets)
        prior = np.full(len(said), targets.value_mean[target])
        return replace(found, fading=how_far(found.log_odds, said, prior), prior=prior)

    @property
    def summary_(self) -> str:
        """What was found, in words."""
        check_is_fitted(self)
        n_targets = self._fitted.ensemble.n_features
        rmse = ", ".join(f"{error:.4g}" for error in np.atleast_1d(self.loo_rmse_))
        many = "one target" if n_targets == 1 else f"{n_targets} targets"
        lines = [f"By leave-one-out, which chose the members: RMSE {rmse}, R2 {self.loo_r2_:.3f}."]
        if self._assessment is not None:
            expected = ", ".join(
                f"{error:.4g} ({low:.4g} to {high:.4g})"
                for error, (low, high) in zip(
                    np.atleast_1d(self.error_), np.atleast_2d(self.error_interval_), strict=True
                )
            )
            lines.insert(0, f"Expected RMSE {expected} by {self._assessment.words}.")
        return summarise(f"KernelRegressor: {many}", self.plan_, lines, self.members_)

    def read_targets(self, y: ArrayLike) -> GivenNumbers:
        """Numbers, checked."""
        return GivenNumbers.read(y)

    @on_sources
    def _values(self, X: Rows) -> Array:
        return self._shaped(self._fitted.ensemble.predict(self._table(X)))

    def _spread_of(self, X: Rows) -> Array:
        """How far rows lie from their predictions, in units of the residuals, (n_samples, q)."""
        return self._fitted.probe.spread_of(self._table(X))

    def _shaped(self, values: Array) -> Array:
        return values[:, 0] if self._single else values

    def _store_held(self, prepared: Prepared, fitted: FittedEnsemble) -> None:
        given, targets, some = prepared.given, prepared.rows.targets, fitted.held_rows
        assert isinstance(given, GivenNumbers) and isinstance(targets, NumberTargets)
        self._single = given.single
        self._given = prepared.given_rows
        self.__dict__.pop("_row_values", None)  # of an earlier fit
        self.loo_prediction_ = self._shaped(prepared.held_out(fitted, fitted.held))
        if some is not None:
            targets, self.loo_rows_ = targets.take(some), np.sort(prepared.first[some])
        errors = squared_errors(fitted.held, targets)
        spread = targets.count @ (targets.values - targets.value_mean) ** 2 / targets.total
        share = 1 - errors / np.where(spread > 0, spread, 1.0)
        self.loo_r2_ = float(np.mean(np.where(spread > 0, share, errors <= 0)))
        rmse = np.sqrt(errors)
        self.loo_rmse_ = float(rmse[0]) if self._single else rmse
        self._assessment: Assessment | None = None
        if self.assess:
            self._store_assessment(prepared, fitted, targets)

    def _store_assessment(
        self, prepared: Prepared, fitted: FittedEnsemble, targets: NumberTargets
    ) -> None:
        """Keeps the figures; intervals are told from the predictions that they are of."""
        found, held = assess(
            prepared.problem, fitted, fit_ensemble, Ensemble.predict, nested=self.assess == "nested"
        )
        self._assessment = found
        self.held_out_prediction_ = self._shaped(prepared.held_out(fitted, held))
        rmse = np.sqrt(squared_errors(held, targets))
        interval = rmse_interval(held, targets, LEVEL, VARIANCE_FACTOR)
        self.error_ = float(rmse[0]) if self._single else rmse
        self.error_interval_ = tuple(interval[0].tolist()) if self._single else interval
        if found.way == "nested":
            probe = fitted.probe
            own = held if probe.held_rows is None else held[probe.held_rows]
            self._fitted = replace(fitted, probe=replace(probe, held=own))
