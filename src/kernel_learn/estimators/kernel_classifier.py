"""KernelClassifier: a classifier for tables that needs no tuning."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, DataLike, MemoryBudget, Rows
from kernel_learn.criteria.held_out.conformal import Thresholds, cross_sets
from kernel_learn.criteria.held_out.ensemble_weights import mean_and_error, row_mean_and_error
from kernel_learn.criteria.held_out.label_targets import LabelTargets
from kernel_learn.criteria.held_out.stacking import centered, log_losses, softmax
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.assessment import (
    WORDS,
    Assessment,
    assess,
    effective_number,
    error_interval,
)
from kernel_learn.ensemble.estimator import EnsembleEstimator, Folder
from kernel_learn.ensemble.fit import fit_ensemble
from kernel_learn.ensemble.fitted import FittedEnsemble
from kernel_learn.ensemble.given.targets import GivenClasses, GivenLabels
from kernel_learn.ensemble.ingest import ColumnNames, Prepared
from kernel_learn.ensemble.ledger.class_ledger import ClassLedger
from kernel_learn.ensemble.ledger.row_log_odds import (
    LabelLogOdds,
    RowLogOdds,
    label_log_odds,
    row_log_odds,
)
from kernel_learn.ensemble.members import Ensemble
from kernel_learn.ensemble.outcomes.base import AnyTargets
from kernel_learn.ensemble.outcomes.labels import hamming_losses, label_losses
from kernel_learn.ensemble.summary import (
    Explanation,
    Headline,
    contrasts,
    explain_rows,
    headline_lines,
    summarise,
)
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.block_results import on_sources
from kernel_learn.fitting.parameters import CLASS_WEIGHT, FALSE, check_count, choice
from kernel_learn.fitting.predictions import ProbabilityClassifier
from kernel_learn.fitting.targets import choose_kind
from kernel_learn.fitting.uncertainty import calibrate_rows, fade
from kernel_learn.rows.table import Table
from kernel_learn.rows.targets import CLASSES_OR_LABELS, binarise


class KernelClassifier(ProbabilityClassifier, EnsembleEstimator, ClassLedger):
    """A classifier for tables that needs no tuning: many kernels, cross-validated and averaged.

    Columns are seen as z-scores, normal scores, ranks and clipped scores; on
    each view kernel ridge fits of several families and widths are compared by
    exact leave-one-out, some of them on columns scaled by what was learned;
    a discriminant on the held-out scores turns them into log-odds; those
    are averaged with weights by how surely the best member is better.

    Parameters
    ----------
    quality : {"fast", "balanced"}
        How much is tried; ``"fast"`` takes about a third of the time.
    max_members : int
        At most so many kernels in the average; 1 gives one kernel and a small model.
    categorical : "auto" or list of names or positions
        Columns that are categories. ``"auto"``: those of category, string,
        object and boolean type; integers are numbers. Columns of these types
        are categories in any case.
    column_groups : dict of name to list of names or positions, optional
        Columns that belong together; they get members of their own beside
        those of all columns.
    class_weight : dict or "balanced", optional
        Weights of the classes; they change shares, not the number of rows.
    time_budget : float, optional
        Seconds; asked between members, and one member is always fitted. The assessment takes what
        is left of them: fewer folds, or none.
    memory_budget : float or str, optional
        Bytes, or a string such as "2GB"; by default half of what is free. Where
        exact fits would take more, leaves are smaller, with a warning. The rows of a
        source stay on the disk if they and the fits would take more.
    assess : {"nested", "loo"} or False
        Where ``error_`` comes from. ``"nested"``: up to 500 distinct rows the whole procedure is
        repeated without each of five folds, and the fit takes four to five times as long; up to
        1000 without each of three, about three times as long (five where many classes have fewer
        than 30 rows); of more rows those are judged on which no kernel was chosen, by regularisers
        and weights chosen without their fold, which costs nothing that shows. Where classes have
        fewer than 30 rows there, or are more than ten, scores and stacking are without a tenth of
        the rows, for 1.3 to 2.6 times the time. Three folds too where nearly all rows are in a few
        large groups.
        ``"loo"``: from what chose the members, for nothing. ``False``: there is no ``error_``,
        and report and terminal say so.
    n_jobs : int, optional
        Threads in which views are cross-validated, and leaves fitted, side by side; the result is
        the same. They share the cores with BLAS, which should have one thread then.
    random_state : int, RandomState instance or None
        Draws the cross-validation folds; None is a seed like any other, so
        that fits repeat. The order of the rows does not matter.
    verbose : int
        Above 0: one line per step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Or the labels where rows have several; of an indicator the numbers of its columns.
    members_ : tuple of Member
        View, kernel, reg, weight, held-out loss and error of each; prints as a table.
    error_ : float
        Share of errors to expect of new rows like these. Up to 1000 distinct rows that of rows held
        out of the whole procedure. Equal rows are left out together, and so are groups. Of more
        rows those are judged on which no kernel was chosen, half of them, and of more than 3000 all
        but 1500; of more than 5000 all of them, by weights that have not seen their fold. A time
        budget that is too short for this leaves rows that chose the members; ``summary_`` says so.
    error_interval_ : tuple of two floats
        Its 95 % interval; wider than that of so many independent rows, since rows share fits.
        Weights count as (sum w)^2 / sum w^2 rows, a group as one.
    log_loss_ : float
        Log loss of the same rows. A probability below 1e-9 counts as 1e-9, in ``loo_log_loss_``
        too: where ``held_out_proba_`` holds a zero for the class of a row the loss is 20.7 there,
        and with ``sklearn.metrics.log_loss``, which cuts at 2.2e-16, it is 36.
    held_out_proba_ : ndarray of shape (n_samples, n_classes)
        Probabilities of all rows, those judged among them; ``loo_proba_`` if ``assess="loo"``.
    loo_proba_ : ndarray of shape (n_samples, n_classes)
        Probabilities of the training rows by models that have not seen them. Of a source
        that does not fit into memory it is of some rows: those at ``loo_rows_``.
    loo_rows_ : ndarray
        Where the rows of ``loo_proba_`` stand in such a source.
    loo_error_ : float
        Share of errors among those, which chose members and weights, hence too small on few rows
        (labels by chance on 24 rows: 41 %); see ``error_``. Of several labels the Hamming loss.
    loo_error_se_ : float
        Its standard error.
    loo_log_loss_ : float
        Log loss of those; of several labels its mean over them.
    loo_log_loss_se_ : float
        Its standard error.
    feature_relevance_ : ndarray of shape (n_features_in_,)
        Share of each column in the squared gradient of a fit to normal scores.
    feature_relevance_std_ : ndarray of shape (n_features_in_,)
        Its standard deviation over five cross-validation folds.
    relevant_features_ : ndarray of shape (n_features_in_,)
        Whether each column surely matters: more than every one of 19 shuffled copies of columns.
    row_values_ : ndarray of shape (n_samples,)
        How much worse all other rows are predicted without each row; negative: it harms.
    kernel_ : Combination
        sum of weight * kernel / mean diagonal, each on its view.
    plan_ : EnsemblePlan
        What was carried out; prints itself.
    summary_ : str

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernel_learn import KernelClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> classifier = KernelClassifier().fit(X[::2], y[::2])
    >>> round(classifier.score(X[1::2], y[1::2]), 2)
    0.98
    """

    _parameters = EnsembleEstimator._parameters | {
        "class_weight": CLASS_WEIGHT,
        "assess": choice("nested", "loo") | FALSE,
    }

    def __init__(
        self,
        *,
        quality: str = "balanced",
        max_members: int = 20,
        categorical: ColumnNames | str | None = "auto",
        column_groups: Mapping[str, ColumnNames] | None = None,
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.time_budget = time_budget
        self.memory_budget = memory_budget
        self.assess = assess
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.class_weight is None
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
        """Fit to a table and its labels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers, categories, strings and booleans, with missing cells; or a
            list of such arrays, one per group of columns. Or a source of blocks: if its rows
            do not fit into memory they are written to the disk, in the folder for temporary
            files, and leaves are filled from there; if they do not fit there, members are
            fitted on landmarks, with a warning.
        y : array-like of shape (n_samples,)
            Class labels; None for a source, which has its own and its own weights. Or several
            labels per row: 0 and 1, (n_samples, n_labels), or lists of labels.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.
        groups : array-like of shape (n_samples,), optional
            Rows of one group (measures of one patient) are left out together.
        checkpoint : path, default=None
            A folder. Where there are so many rows that they are fitted in leaves, those that are
            done are kept there, and a fit that was stopped, or killed, goes on after them: rows
            are read and kernels chosen again, with the same result. Removed when the fit is done.
        """
        return self._fit_ensemble(X, y, sample_weight, groups, checkpoint)

    def explain(self, X: Rows, n_rows: int = 10) -> Explanation:
        """The training rows that speak loudest for each row's predicted class.

        What all of them add, and the baseline, sum exactly to the averaged log-odds L(x) of that
        class, as :meth:`shapley` has them; ``fading`` and ``prior`` lead from there to
        ``predict_proba``.
        Of several labels for the one that is likeliest there by ``predict_proba``, in the same
        way: log-odds that it is there, which fade to those of its share.
        """
        check_is_fitted(self)
        table = self._table(X)
        count = check_count("n_rows", n_rows, self)
        if self._several:
            return self._explain_labels(table, count)
        odds = self._row_log_odds(table)
        contrast = contrasts(odds.winners, len(self.classes_))
        added, baseline = self._fitted.ensemble.contributions(table, contrast)
        labels = self.classes_[odds.winners]
        found = explain_rows(added, baseline, self._first, labels, count)
        return replace(found, fading=odds.fading, prior=contrast @ odds.prior)

    def _explain_labels(self, table: Table, count: int) -> Explanation:
        ensemble, odds = self._fitted.ensemble, self._label_log_odds(table)
        winners = odds.faded.argmax(axis=1)
        added, baseline = np.zeros((len(winners), ensemble.targets.n)), np.zeros(len(winners))
        for label in np.unique(winners):
            rows = np.flatnonzero(winners == label)
            added[rows], baseline[rows] = ensemble.label_contributions(table[rows], int(label))
        found = explain_rows(added, baseline, self._first, self.classes_[winners], count)
        fading = odds.fading[np.arange(len(winners)), winners]
        return replace(found, fading=fading, prior=odds.prior[winners])

    @property
    def summary_(self) -> str:
        """What was found, in words."""
        check_is_fitted(self)
        headline = self._headline
        is_loo = headline is not None and headline.words == WORDS["loo"]
        loo = None if is_loo else (self.loo_error_, self.loo_log_loss_)
        many = "labels, several per row" if self._several else "classes"
        found = f"KernelClassifier: {len(self.classes_)} {many}"
        return summarise(found, self.plan_, headline_lines(headline, loo), self.members_)

    @property
    def _several(self) -> bool:
        """Whether rows have several labels."""
        return isinstance(self._fitted.ensemble.targets, LabelTargets)

    @on_sources
    def predict(self, X: DataLike) -> Array:
        """The most likely class of each row, (n_samples,).

        Of several labels per row which of them are more likely there than not: 0 and 1,
        (n_samples, n_classes).
        """
        check_is_fitted(self)
        if self._several:
            return (self._fitted.ensemble.predict(self._table(X)) > 0.5).astype(int)
        return super().predict(X)

    @on_sources
    def predict_proba(self, X: DataLike) -> Array:
        """Probabilities of the classes, or of each of several labels, (n_samples, n_classes).

        Far from the training rows they fade to the shares of the classes, or of each label.
        """
        check_is_fitted(self)
        if self._several:
            return np.exp(self._label_log_proba(X))
        return super().predict_proba(X)

    @on_sources
    def predict_log_proba(self, X: DataLike) -> Array:
        """Logarithms of ``predict_proba``, finite where those round to zero."""
        check_is_fitted(self)
        return self._label_log_proba(X) if self._several else super().predict_log_proba(X)

    @on_sources
    def decision_function(self, X: DataLike) -> Array:
        """Log probabilities of the classes, (n_samples, n_classes); of two their difference.

        Of several labels the log-odds of each, (n_samples, n_classes).
        """
        check_is_fitted(self)
        if not self._several:
            return super().decision_function(X)
        return self._fitted.ensemble.label_odds(self._table(X))

    @property
    def _headline(self) -> Headline | None:
        """None if nothing was assessed, or the file of the model is of before."""
        how: Assessment | None = getattr(self, "_assessment", None)
        if how is None:
            return None
        n = getattr(self, "_n_judged", len(self.held_out_proba_))
        counts_as = getattr(self, "_n_independent", None)  # files of before have none
        return Headline(how.words, self.error_, self.error_interval_, self.log_loss_, n, counts_as)

    def _label_log_proba(self, X: Rows) -> Array:
        """Of several labels, (n_samples, n_labels)."""
        return np.asarray(-np.logaddexp(0.0, -self._label_log_odds(self._table(X)).faded))

    def _label_log_odds(self, table: Table) -> LabelLogOdds:
        fitted = self._fitted
        return label_log_odds(fitted.ensemble, table, fitted.probe.reference, self._in_view)

    def _class_scores(self, X: Rows) -> Array:
        check_is_fitted(self)
        return self._log_proba(self._table(X))

    def _log_proba(self, table: Table) -> Array:
        return np.log(np.maximum(self._fitted.ensemble.predict(table), 1e-300))

    def _faded_logits(self, X: Rows) -> Array:
        table = self._table(X)
        if self._fitted.ensemble.shares is not None:
            return self._row_log_odds(table).faded
        L, calibration = self._log_proba(table), getattr(self, "_calibration", None)
        return L if calibration is None else fade(calibration, L, lambda: self._in_view(table))

    def _cross_sets(self, X: DataLike, coverage: float, by_class: bool, method: str) -> Array:
        how: Assessment | None = getattr(self, "_assessment", None)
        if method != "cv+" or how is None or how.way != "nested":
            if method == "cv+" and self.assess == "nested":
                raise ValueError(
                    "method='cv+' needs models of folds that made all choices by themselves, and "
                    "KernelClassifier keeps them of at most 1000 distinct rows; it was fitted to "
                    "more, or time_budget= ended before. Use method='loo'."
                )
            return super()._cross_sets(X, coverage, by_class, method)
        thresholds = self._thresholds(coverage, by_class)  # says where there are too few rows
        table, fold_of = self._table(X), np.empty(self._fitted.ensemble.targets.n, dtype=int)
        proba = []
        for number, fold in enumerate(how.folds):
            fold_of[fold.rows] = number
            L = np.log(np.maximum(fold.ensemble.proba(table), 1e-300))
            proba.append(softmax(self._calibration.fading(centered(L))))
        held = self._calibration.held
        sets = cross_sets(np.array(proba), held, fold_of[held.rows], coverage, by_class=by_class)
        return sets | thresholds.unknown(self.predict_proba(X))[:, None]

    def _thresholds(self, coverage: float, by_class: bool) -> Thresholds:
        if self._several:
            raise ValueError(
                "predict_set gives the classes of which one is right, and these rows have several "
                "labels, each there or not: predict_proba says how likely each is."
            )
        return super()._thresholds(coverage, by_class)

    def _row_log_odds(self, table: Table) -> RowLogOdds:
        calibration = getattr(self, "_calibration", None)
        return row_log_odds(self._fitted.ensemble, table, calibration, self._in_view)

    def read_targets(self, y: ArrayLike) -> GivenClasses | GivenLabels:
        """Class labels as indices, or several labels per row as an indicator."""
        if choose_kind(y, CLASSES_OR_LABELS) == "classes":
            return GivenClasses.read(y, self.class_weight)
        return GivenLabels.of(*binarise(y), self.class_weight)

    def _store_held(self, prepared: Prepared, fitted: FittedEnsemble) -> None:
        given, targets, some = prepared.given, prepared.rows.targets, fitted.held_rows
        assert isinstance(given, GivenClasses | GivenLabels)
        self.classes_ = given.classes
        self._fitted = replace(fitted, cross_chosen=None, unseen=None)  # see held_out_proba_
        self._given = prepared.given_rows
        self.__dict__.pop("_row_values", None)  # of an earlier fit
        if some is not None:
            targets, self.loo_rows_ = targets.take(some), np.sort(prepared.first[some])
        held = fitted.held
        self.loo_proba_ = prepared.held_out(fitted, held)
        (self.loo_error_, self.loo_error_se_), (self.loo_log_loss_, self.loo_log_loss_se_) = (
            figures_of(held, targets)
        )
        self._assessment: Assessment | None = None
        if self.assess:
            held = self._store_assessment(prepared, fitted, targets)
        self.__dict__.pop("_calibration", None)  # of an earlier fit
        if isinstance(targets, Targets):
            shares, L = fitted.ensemble.shares, centered(np.log(np.maximum(held, 1e-300)))
            assert shares is not None
            reference = fitted.probe.reference
            self._calibration = calibrate_rows(shares, L, targets, targets.total, reference)

    def _store_assessment(
        self, prepared: Prepared, fitted: FittedEnsemble, targets: AnyTargets
    ) -> Array:
        """Keeps the figures; gives the probabilities of the distinct rows that they are of."""
        found, proba = assess(
            prepared.problem, fitted, fit_ensemble, Ensemble.predict, nested=self.assess == "nested"
        )
        self._assessment, is_loo = found, found.way == "loo"
        self.held_out_proba_ = self.loo_proba_ if is_loo else prepared.held_out(fitted, proba)
        squares = prepared.rows.squares
        if squares is not None and fitted.held_rows is not None:
            squares = squares[fitted.held_rows]
        judged, unseen = proba, fitted.unseen
        self._n_judged = len(self.held_out_proba_)
        if found.way == "unseen" and unseen is not None:
            self._n_judged = int(np.isin(prepared.rows.inverse, unseen).sum())
            judged, targets = proba[unseen], targets.take(unseen)
            squares = None if squares is None else squares[unseen]
        (self.error_, _), (self.log_loss_, _) = figures_of(judged, targets)
        self._n_independent = effective_number(targets, squares)
        self.error_interval_ = error_interval(self.error_, self._n_independent)
        return proba


Figure = tuple[float, float]  # and its standard error


def figures_of(proba: Array, targets: AnyTargets) -> tuple[Figure, Figure]:
    """Error and log loss of rows; of several labels the Hamming loss, and the mean over labels."""
    if isinstance(targets, LabelTargets):
        wrong, losses = hamming_losses(proba, targets), label_losses(proba, targets)
        weight = targets.weight
        return row_mean_and_error(wrong, weight), row_mean_and_error(losses, weight)
    assert isinstance(targets, Targets), "classes are told apart"
    return mean_and_error(zero_one(proba), targets), mean_and_error(log_losses(proba), targets)


def zero_one(proba: Array) -> Array:
    """Whether the likeliest class of each row is wrong, had the row each class, (n, k)."""
    return np.asarray(1.0 - np.eye(proba.shape[1])[proba.argmax(axis=1)])
