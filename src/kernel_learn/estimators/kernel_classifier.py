"""KernelClassifier: a classifier for tables that needs no tuning."""

import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import (
    Array,
    MemoryBudget,
    Rows,
)
from kernel_learn.criteria.held_out.ensemble_weights import mean_and_error
from kernel_learn.criteria.held_out.stacking import log_losses
from kernel_learn.ensemble.fitted import FittedEnsemble
from kernel_learn.ensemble.ingest import ColumnNames, Prepared, prepare, read_rows
from kernel_learn.ensemble.quality import QUALITIES
from kernel_learn.ensemble.source_fitting import fit_prepared, fit_source
from kernel_learn.ensemble.summary import Explanation, Members, contrasts, explain_rows, summarise
from kernel_learn.fitting.base import Convertible, all_or_nothing
from kernel_learn.fitting.pages import OwnPage
from kernel_learn.fitting.parameters import (
    BOOLEAN,
    CLASS_WEIGHT,
    COUNT,
    JOBS,
    LIST,
    NONE,
    NOT_NEGATIVE,
    POSITIVE,
    SEEDED,
    check_count,
    choice,
    instance,
)
from kernel_learn.fitting.predictions import ProbabilityClassifier
from kernel_learn.fitting.state import PlainState
from kernel_learn.kernels import Combination
from kernel_learn.rows.table import Table
from kernel_learn.streams.sources import (
    as_source,
)


class KernelClassifier(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ProbabilityClassifier,
    Convertible,
    OwnPage,
    PlainState,
    BaseEstimator,
):
    """Many kernels on several views of the columns, cross-validated and averaged.

    Columns are seen as z-scores, normal scores, ranks and clipped scores; on
    each view kernel ridge fits of several families and widths are compared by
    exact leave-one-out, some of them on columns scaled by what was learned;
    a discriminant on the held-out scores turns them into probabilities; those
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
        Seconds; asked between members, and one member is always fitted.
    memory_budget : float or str, optional
        Bytes, or a string such as "2GB"; by default half of what is free. Where
        exact fits would take more, leaves are smaller, with a warning. The rows of a
        source stay on the disk if they and the fits would take more.
    n_jobs : int, optional
        Threads in which the views are cross-validated side by side; the result is the same.
    random_state : int, RandomState instance or None
        Draws the cross-validation folds; None is a seed like any other, so
        that fits repeat. The order of the rows does not matter.
    verbose : int
        Above 0: one line per step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    members_ : tuple of Member
        View, kernel, reg, weight, held-out loss and error of each; prints as a table.
    loo_proba_ : ndarray of shape (n_samples, n_classes)
        Probabilities of the training rows by models that have not seen them. Of a source
        that does not fit into memory it is of some rows: those at ``loo_rows_``.
    loo_rows_ : ndarray
        Where the rows of ``loo_proba_`` stand in such a source.
    loo_error_ : float
        Share of errors among those.

        Members and weights were chosen by the same rows; over 30 tables that
        cost nothing (13.5 % held out, 13.2 % on new rows), but labels by
        chance look like 42 to 44 % instead of 50: ask ``permutation_p_value``.
    loo_error_se_ : float
        Its standard error.
    loo_log_loss_ : float
        Log loss of those.
    loo_log_loss_se_ : float
        Its standard error.
    feature_relevance_ : ndarray of shape (n_features_in_,)
        Share of each column in the squared gradient of a fit to normal scores.
    feature_relevance_std_ : ndarray of shape (n_features_in_,)
        Its standard deviation over five cross-validation folds.
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
    >>> classifier.score(X[1::2], y[1::2]) > 0.95
    True
    """

    _parameters = SEEDED | {
        "quality": choice(*QUALITIES),
        "max_members": COUNT,
        "categorical": choice("auto") | NONE | LIST,
        "column_groups": NONE | instance(Mapping, "a dict of names to lists of columns"),
        "class_weight": CLASS_WEIGHT,
        "time_budget": POSITIVE | NONE,
        "n_jobs": JOBS,
        "verbose": BOOLEAN | NOT_NEGATIVE,
    }

    streams = True

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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags

    @all_or_nothing
    def fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
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
            Class labels; None for a source, which has its own and its own weights.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.
        groups : array-like of shape (n_samples,), optional
            Rows of one group (measures of one patient) are left out together.
        checkpoint : path, default=None
            A folder. Where there are so many rows that they are fitted in leaves, those that are
            done are kept there, and a fit that was stopped, or killed, goes on after them: rows
            are read and kernels chosen again, with the same result. Removed when the fit is done.
        """
        seed = 0 if self.random_state is None else _seed(self.random_state)
        source = as_source(X, y, sample_weight)
        if source is not None:
            if groups is not None:
                raise ValueError("X comes in blocks, which have no groups: pass the rows at once.")
            self._store(*fit_source(self, source, seed, checkpoint), seed)
            return self
        prepared = prepare(self, X, y, sample_weight, groups, seed)
        self._store(*fit_prepared(self, prepared, checkpoint), seed)
        return self

    def transform(self, X: Rows) -> Array:
        """Discriminant features of ``kernel_``, (n_samples, n_classes - 1)."""
        check_is_fitted(self)
        return self._fitted.ensemble.features(self._table(X))

    def explain(self, X: Rows, n_rows: int = 10) -> Explanation:
        """The training rows that speak loudest for each row's predicted class."""
        check_is_fitted(self)
        table = self._table(X)
        count = check_count("n_rows", n_rows, self)
        winners = self._fitted.ensemble.proba(table).argmax(axis=1)
        contrast = contrasts(winners, len(self.classes_))
        added, baseline = self._fitted.ensemble.contributions(table, contrast)
        return explain_rows(added, baseline, self._first, self.classes_[winners], count)

    def permutation_p_value(self, n_permutations: int = 200) -> float:
        """Is there any signal at all? The share of shuffled labels that are predicted as well.

        By a kernel that has not seen the labels, on at most 1000 rows; one
        decomposition serves all permutations. Groups keep one label each, which is
        shuffled among them; refused where labels differ within a group.
        """
        check_is_fitted(self)
        count = check_count("n_permutations", n_permutations, self)
        return self._fitted.probe.p_value(count, self._seed)

    @property
    def members_(self) -> Members:
        """What predicts, with weights; prints as a table."""
        check_is_fitted(self)
        return Members(self._fitted.members)

    @property
    def feature_relevance_(self) -> Array:
        """Share of each column in the squared gradient of a fit to normal scores.

        (n_features_in_,); of sparse rows, which have none, to rows of length one.
        """
        check_is_fitted(self)
        return self._fitted.probe.relevance[0]

    @property
    def feature_relevance_std_(self) -> Array:
        """Its standard deviation over five cross-validation folds."""
        check_is_fitted(self)
        return self._fitted.probe.relevance[1]

    @property
    def kernel_(self) -> Combination:
        """sum of weight * kernel / mean diagonal, each on its view."""
        check_is_fitted(self)
        return self._fitted.ensemble.kernel_object()

    @property
    def summary_(self) -> str:
        """What was found, in words."""
        check_is_fitted(self)
        return summarise(
            f"KernelClassifier: {len(self.classes_)} classes",
            self.plan_,
            (self.loo_error_, self.loo_error_se_),
            (self.loo_log_loss_, self.loo_log_loss_se_),
            self.members_,
        )

    def _class_scores(self, X: Rows) -> Array:
        check_is_fitted(self)
        return np.log(np.maximum(self._fitted.ensemble.proba(self._table(X)), 1e-300))

    def _table(self, X: Rows) -> Table:
        return self._fitted.ensemble.reader.read(read_rows(self, X, reset=False))

    def _store(self, prepared: Prepared, fitted: FittedEnsemble, seed: int) -> None:
        rows, some = prepared.rows, fitted.proba_rows
        targets = rows.targets if some is None else rows.targets.take(some)
        self.classes_ = prepared.classes
        self._fitted = fitted
        first = prepared.first
        known = slice(None) if fitted.known_rows is None else fitted.known_rows
        self._first = first[known]  # of the ensemble's rows
        self._rows_digest = rows.digest
        self._seed = seed
        self._n_features_out = len(self.classes_) - 1
        self.plan_ = fitted.plan
        if some is None:
            self.loo_proba_ = prepared.held_out(fitted)
        else:
            order = np.argsort(first[some])
            self.loo_rows_ = first[some][order]
            self.loo_proba_ = fitted.proba[order]
        wrong = 1.0 - np.eye(len(self.classes_))[fitted.proba.argmax(axis=1)]
        self.loo_error_, self.loo_error_se_ = mean_and_error(wrong, targets)
        losses = log_losses(fitted.proba)
        self.loo_log_loss_, self.loo_log_loss_se_ = mean_and_error(losses, targets)


def _seed(random_state: int | np.random.RandomState) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
