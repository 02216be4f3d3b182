"""What estimators of an ensemble share: fit, what they hold, and what they say of themselves."""

import os
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, Rows
from kernel_learn.ensemble.fitted import FittedEnsemble
from kernel_learn.ensemble.given.targets import GivenTargets
from kernel_learn.ensemble.ingest import Prepared, prepare, read_rows
from kernel_learn.ensemble.plan import EnsemblePlan
from kernel_learn.ensemble.quality import QUALITIES
from kernel_learn.ensemble.source_fitting import fit_prepared, fit_source
from kernel_learn.ensemble.summary import Members, member_name
from kernel_learn.fitting.base import Convertible, FitsAndTransforms
from kernel_learn.fitting.block_results import on_sources
from kernel_learn.fitting.pages import Card, OwnPage, page_address
from kernel_learn.fitting.parameters import (
    BOOLEAN,
    COLUMN_GROUPS,
    COUNT,
    JOBS,
    LIST,
    NONE,
    NOT_NEGATIVE,
    POSITIVE,
    SEEDED,
    check_count,
    choice,
)
from kernel_learn.fitting.state import PlainState
from kernel_learn.fitting.uncertainty import ReferenceRows, TellsNovelty
from kernel_learn.kernels import Combination
from kernel_learn.rows.table import Table
from kernel_learn.streams.sources import as_source

Folder = str | os.PathLike[str] | None


class EnsembleEstimator(
    ClassNamePrefixFeaturesOutMixin,
    FitsAndTransforms,
    TellsNovelty,
    Convertible,
    OwnPage,
    PlainState,
    BaseEstimator,
):
    """Base of the estimators with many kernels on several views of the columns."""

    _parameters = SEEDED | {
        "quality": choice(*QUALITIES),
        "max_members": COUNT,
        "categorical": choice("auto") | NONE | LIST,
        "column_groups": COLUMN_GROUPS,
        "time_budget": POSITIVE | NONE,
        "n_jobs": JOBS,
        "verbose": BOOLEAN | NOT_NEGATIVE,
    }

    streams = True
    learns_values: ClassVar[bool] = False

    random_state: int | np.random.RandomState | None
    plan_: EnsemblePlan
    _fitted: FittedEnsemble

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def read_targets(self, y: ArrayLike) -> GivenTargets:
        """Targets of rows, checked."""

    @abstractmethod
    def _store_held(self, prepared: Prepared, fitted: FittedEnsemble) -> None:
        """What held-out predictions say."""

    @property
    @abstractmethod
    def summary_(self) -> str:
        """What was found, in words."""

    def _card(self) -> Card:
        members = self.members_
        said = self.summary_.partition(f"{len(members)} members:")[0].splitlines()
        head = ("weight", "loss", "error", "kernel and view")
        rows = [
            (f"{m.weight:.3f}", f"{m.loss:.4f}", f"{m.error:.4f}", member_name(m)) for m in members
        ]
        return Card(repr(self), said, head, rows, page_address(type(self).__name__))

    def _fit_ensemble(
        self, X: Rows, y: Any, sample_weight: Any, groups: Any, checkpoint: Folder
    ) -> Self:
        seed = 0 if self.random_state is None else _seed(self.random_state)
        source = as_source(X, y, sample_weight)
        if source is not None:
            if groups is not None:
                raise ValueError("X comes in blocks, which have no groups: pass the rows at once.")
            prepared, fitted = fit_source(self, source, seed, checkpoint)
        else:
            prepared = prepare(self, X, y, sample_weight, groups, seed)
            prepared, fitted = fit_prepared(self, prepared, checkpoint)
        self._fitted = fitted
        known = slice(None) if fitted.known_rows is None else fitted.known_rows
        self._first = prepared.first[known]  # of the ensemble's rows
        self._rows_digest = prepared.rows.digest
        self._seed = seed
        self._n_features_out = fitted.ensemble.n_features
        self.plan_ = fitted.plan
        self._store_held(prepared, fitted)
        return self

    @on_sources
    def transform(self, X: Rows) -> Array:
        """Features of ``kernel_``: discriminant ones of classes, (n_samples, n_classes - 1);
        of numbers, (n_samples, n_targets), those of ``HSICSubspace(kernel_,
        label_kernel="linear")``, in which targets count by their variance.
        """
        check_is_fitted(self)
        return self._fitted.ensemble.features(self._table(X))

    def permutation_p_value(self, n_permutations: int = 200) -> float:
        """Is there any signal at all? The share of shuffled labels that are predicted as well.

        By a kernel that has not seen the labels, on at most 1000 rows; one
        decomposition serves all permutations. Groups keep one label each, which is
        shuffled among them; refused where labels differ within a group. Weights of rows stay with
        them: where they follow the labels, signal is harder to see (``class_weight`` goes with
        the labels).
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

        ``(n_features_in_,)``; of sparse rows, which have none, to rows of length one.
        """
        check_is_fitted(self)
        return self._fitted.probe.relevance[0]

    @property
    def feature_relevance_std_(self) -> Array:
        """Its standard deviation over five cross-validation folds."""
        check_is_fitted(self)
        return self._fitted.probe.relevance[1]

    @property
    def relevant_features_(self) -> Array:
        """Which columns surely matter, ``(n_features_in_,)`` booleans.

        Those more relevant than every one of 19 shuffled copies of all columns; none where
        ``permutation_p_value`` is above .05. Of labels by chance, one table in twenty has any.
        """
        check_is_fitted(self)
        return self._fitted.probe.relevant

    @property
    def kernel_(self) -> Combination:
        """sum of weight * kernel / mean diagonal, each on its view."""
        check_is_fitted(self)
        return self._fitted.ensemble.kernel_object()

    def _kept_reference(self) -> ReferenceRows | None:
        return self._fitted.probe.reference

    def _reference_rows(self, X: Rows) -> Rows:
        return self._in_view(self._table(X))

    def _in_view(self, table: Table) -> Rows:
        """Rows as those are kept by which novel ones are told."""
        view = self._fitted.probe.reference_view
        assert view is not None
        return view.rows(table)

    def _table(self, X: Rows) -> Table:
        return self._fitted.ensemble.reader.read(self._read(X))

    def _read(self, X: Rows) -> Rows:
        return read_rows(self, X, reset=False)


def _seed(random_state: int | np.random.RandomState) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
