"""A ledger of the training rows: what each is worth, which look wrong, what hangs on one."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.label_targets import LabelTargets
from kernel_learn.criteria.held_out.leave_out import NotExactError
from kernel_learn.criteria.held_out.targets import units_of
from kernel_learn.ensemble.assessment import Assessment
from kernel_learn.ensemble.deduplicate import GivenRows
from kernel_learn.ensemble.fitted import FittedEnsemble
from kernel_learn.ensemble.ledger.forgetting import (
    KEPT,
    Forgotten,
    Remaining,
    assessment_without,
    check_folds,
    check_rest,
    check_rows_to_forget,
    fitted_without,
    remaining_rows,
)
from kernel_learn.ensemble.ledger.issues import LabelIssues
from kernel_learn.ensemble.ledger.shapley import (
    Explained,
    Groups,
    ShapleyValues,
    can_explain,
    is_background,
    players_of,
)
from kernel_learn.ensemble.members import Ensemble
from kernel_learn.ensemble.plan import EnsemblePlan
from kernel_learn.ensemble.summary import Explanation
from kernel_learn.rows.access import dense, is_sparse
from kernel_learn.rows.columns import ReadRows
from kernel_learn.rows.keys import digest, equal_keys, row_keys
from kernel_learn.rows.table import Table

Choices = Literal["keep", "again"]


class Ledger:
    """Mixin of ensembles: what the factorisations know of every training row."""

    plan_: EnsemblePlan
    _fitted: FittedEnsemble
    _given: GivenRows | None
    _first: Array
    _rows_digest: str
    _assessment: Assessment | None
    forgotten_: Forgotten
    _held_names: ClassVar[tuple[str, str]]  # attributes with a row for every row given

    @property
    @abstractmethod
    def row_values_(self) -> Array:
        """How much worse all other rows are predicted without each row, (n_samples,)."""

    @abstractmethod
    def stability(self, X: Rows) -> Array:
        """The largest change of a prediction if any one training row were missing."""

    @abstractmethod
    def label_issues(self, n_rows: int = 20) -> LabelIssues:
        """The rows whose labels or values are most likely wrong, the most doubtful first."""

    @abstractmethod
    def shapley(
        self, X: Rows, background: int | Rows = 100, column_groups: Groups | None = None
    ) -> ShapleyValues:
        """Which columns made each prediction."""

    @abstractmethod
    def explain(self, X: Rows, n_rows: int = 10) -> Explanation:
        """The training rows that speak loudest."""

    def _values_by(self, work_out: Callable[[Ensemble], Array]) -> Array:
        """Values of the rows given, from those of the distinct rows; worked out once."""
        check_is_fitted(self)
        self._check_exact("row_values_", in_leaves=True)
        given = self._rows_of_fit("row_values_")
        targets = self._fitted.ensemble.targets
        if targets.n - max(map(len, units_of(targets.n, targets.groups))) < 2:
            raise NotExactError(
                f"{type(self).__name__}.row_values_ judges a row by what the others say of it "
                "without each of them, and for some row there is but one other, of another group "
                "if there are groups: without that one nothing is said. Fit more rows."
            )
        if "_row_values" not in self.__dict__:
            self._row_values = work_out(self._fitted.ensemble)
        return np.where(given.counting, self._row_values[given.distinct], 0.0)

    def find_rows(self, X: Rows) -> Array:
        """Which training rows are equal to one of some rows, by places among those given to fit."""
        return np.unique(self.equal_rows(X)[1])

    def equal_rows(self, X: Rows) -> tuple[Array, Array]:
        """Pairs of equal rows: places among some rows, and among those given to fit."""
        check_is_fitted(self)
        given = self._rows_of_fit("find_rows")
        known = np.flatnonzero(given.counting)
        new, old = equal_keys(row_keys(self._table(X)), given.keys[known])
        return new, known[old]

    def forget(self, rows: Sequence[int] | Array, choices: Choices = "keep") -> Self:
        """A model that never saw some of the training rows; this one stays as it is.

        Every member is the fit of the rows that remain, with the kernels, regularisers, maps and
        weights that were chosen with all of them, and nothing of the forgotten rows is held any
        more. What was chosen with them and stays is listed in ``forgotten_.kept``: statistics and
        rank tables of single columns among it, in which single values can be read.

        Parameters
        ----------
        rows : sequence of int
            Places among the rows given to fit. Those that stay move up.
        choices : {"keep", "again"}
            ``"keep"``: what was chosen with all rows stays; of a model in leaves only the leaves
            of these rows are fitted again.
            ``"again"``: everything is chosen without them, by the fit of the remaining rows from
            scratch.

        Returns
        -------
        model : estimator
            With ``forgotten_``: n_rows, digest, distance, redrawn, kept; it prints itself.
        """
        check_is_fitted(self)
        if choices not in ("keep", "again"):
            raise ValueError(f"choices={choices!r}: give 'keep' or 'again'.")
        if choices == "keep":
            self._check_exact("forget", in_leaves=True)
        given = self._rows_of_fit("forget")
        gone = check_rows_to_forget(rows, len(given.distinct))
        check_rest(given, gone)
        if choices == "again":
            return self._fit_others(given, gone)
        left = remaining_rows(given, self._fitted.ensemble.targets, gone)
        self._check_remaining(left)
        found = copy(self)
        found.__dict__.pop("_row_values", None)
        found._forget(given, gone, left)
        return found

    def _check_remaining(self, left: Remaining) -> None:
        """Refuse to forget so much that the choices have no meaning."""
        if self._assessment is not None:
            check_folds(self._assessment, left)

    def _fit_others(self, given: GivenRows, gone: Array) -> Self:
        """The fit from scratch."""
        if given.rows is None:
            raise ValueError(
                f"This {type(self).__name__} was fitted to a data frame by an earlier version, "
                "which kept views and not the cells. Fit the remaining rows, or use "
                "choices='keep'."
            )
        some = given.take(np.setdiff1d(np.flatnonzero(given.counting), gone))
        model: Any = clone(self)  # type: ignore[type-var]
        rows, y = given.rows[some.distinct], self._labels_given(some)
        rows = rows.read_again() if isinstance(rows, ReadRows) else rows
        model.fit(rows, y, some.sample_weight, some.groups)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        n_rows = len(gone) + self._n_forgotten
        model.forgotten_ = Forgotten(n_rows, model._rows_digest, 0.0, ("everything",), ())
        found: Self = model
        return found

    @abstractmethod
    def _labels_given(self, given: GivenRows) -> Array:
        """What rows were given to fit with."""

    def _labels_of_fit(self, asked: str) -> Array:
        return self._labels_given(self._rows_of_fit(asked))

    @property
    def _n_forgotten(self) -> int:
        before: Forgotten | None = getattr(self, "forgotten_", None)
        return 0 if before is None else before.n_rows

    def _forget(self, given: GivenRows, gone: Array, left: Remaining) -> None:
        n = self._fitted.ensemble.targets.n
        self._fitted, distance = fitted_without(self._fitted, left)
        stay = np.setdiff1d(np.arange(len(given.distinct)), gone)
        some = given.take(stay)
        moved = np.searchsorted(left.rows, some.distinct)
        self._given = replace(
            some,
            distinct=np.where(some.counting, moved, -1),
            labels=left.moved_labels(some.labels),
            rows=None if some.rows is None else some.rows[left.rows],
        )
        self._forget_levels()
        counting = np.flatnonzero(some.counting)
        place, first = np.unique(self._given.distinct[counting], return_index=True)
        self._first = counting[first]
        assert len(place) == len(left.rows)
        for name in self._held_names:
            if name in self.__dict__:
                setattr(self, name, getattr(self, name)[stay])
        self.plan_ = replace(self._fitted.plan, n_given=len(stay))
        self._fitted = replace(self._fitted, plan=self.plan_)
        self._forget_more(left)
        if self._assessment is not None:
            reader = self._fitted.ensemble.reader
            self._assessment = assessment_without(self._assessment, n, left, reader)
        self._rows_digest = digest(some.keys[some.counting])
        total = len(gone) + self._n_forgotten
        kept: list[str] = list(KEPT[left.kind])
        redrawn: list[str] = []
        if self._fitted.ensemble.forest is not None:
            kept.append("trees, whose cuts lie between rows")
            redrawn.append("rows of the features that transform gives")
        self.forgotten_ = Forgotten(total, self._rows_digest, distance, tuple(redrawn), tuple(kept))

    def _forget_levels(self) -> None:
        """Words of categories that no row has any more."""
        assert self._given is not None
        if not isinstance(self._given.rows, ReadRows):
            return
        rows = self._given.rows.without_others()
        self._given = replace(self._given, rows=rows)
        ensemble = replace(self._fitted.ensemble, reader=rows.reader)
        self._fitted = replace(self._fitted, ensemble=ensemble)

    def _forget_more(self, left: Remaining) -> None:
        """What else is held of rows."""

    def _rows_of_fit(self, asked: str) -> GivenRows:
        self._check_one_label(asked)
        given = getattr(self, "_given", None)
        if given is None:
            raise NotExactError(
                f"This {type(self).__name__} comes from an earlier version, or from a source of "
                f"blocks, and does not know which row was given where: {asked} needs a fit to rows "
                "in memory."
            )
        return given

    def _check_one_label(self, asked: str) -> None:
        if isinstance(self._fitted.ensemble.targets, LabelTargets):
            raise NotExactError(
                f"{type(self).__name__}.{asked} is worked out for classes of which a row has one, "
                "and these rows have several labels. Fit one label at a time."
            )

    def _check_exact(self, asked: str, *, in_leaves: bool = False) -> None:
        self._check_one_label(asked)
        has_leaves = self._fitted.ensemble.forest is not None
        if not (in_leaves if has_leaves else self.plan_.exact):
            raise NotExactError(
                f"{type(self).__name__}.{asked} is exact or not at all, and this model was fitted "
                "in leaves or on landmarks. Fit fewer rows, or with a larger memory_budget."
            )

    def _explained(
        self, X: Rows, background: int | Rows, groups: Groups | None
    ) -> tuple[Table, Explained]:
        """New rows, and what their Shapley values are told against."""
        check_is_fitted(self)
        ensemble = self._fitted.ensemble
        self._check_one_label("shapley")
        read = self._read(X)
        names, players = players_of(read, groups, getattr(self, "feature_names_in_", None), self)
        table = self._table(X)
        behind: int | Table
        share = None
        if is_background(background, self):
            behind = self._table(background)
        else:
            behind = min(int(background), ensemble.targets.n)
            if not can_explain(ensemble):
                share = ensemble.targets.weight[:behind] / ensemble.targets.weight[:behind].sum()
                behind = self._first_rows(behind)
        data = dense(read) if is_sparse(read) else np.asarray(read)
        return table, Explained(ensemble, table, behind, players, data, names, share)

    def _first_rows(self, n: int) -> Table:
        """So many distinct training rows, which stand in an order drawn by their contents."""
        rows = getattr(getattr(self, "_given", None), "rows", None)
        if rows is None:
            raise ValueError(
                f"This {type(self).__name__} keeps no whole training rows (it was fitted to a "
                "source of blocks, or by an earlier version): pass background= some rows."
            )
        some = rows[np.arange(n)]
        return some.table if isinstance(some, ReadRows) else self._table(some)

    def held_out_column_values(
        self,
        X: Rows,
        n_rows: int = 15,
        background: int = 10,
        column_groups: Groups | None = None,
    ) -> Array | None:
        """The mean size of the columns' Shapley values over some held-out rows, (n_players,).

        By the models of the nested assessment, each of rows that it has not seen; in the mean
        over classes or targets, these in units of their spread. None where there are no such
        models, or columns are none of their own.

        Parameters
        ----------
        X : array-like or data frame
            The training rows.
        n_rows : int
            Of all folds together.
        background : int
            Training rows that stand for a column that is not known.
        column_groups : dict of name to list of names or positions, optional
            Columns that have one value, as in :meth:`shapley`.
        """
        check_is_fitted(self)
        how = self._assessment
        if how is None or how.way != "nested" or not can_explain(self._fitted.ensemble):
            return None
        known = getattr(self, "feature_names_in_", None)
        names, players = players_of(self._read(X), column_groups, known, self)
        table, sizes = self._table(X), []
        for fold in (fold for fold in how.folds if len(fold.rows)):
            some = table[self._first[fold.rows[: -(-n_rows // len(how.folds))]]]
            count = min(background, fold.ensemble.targets.n)
            data = np.empty((some.numbers.shape[0], len(names)))
            sizes.append(self._sizes(Explained(fold.ensemble, some, count, players, data, names)))
        return np.asarray(np.mean(np.concatenate(sizes), axis=0))

    @abstractmethod
    def _sizes(self, explained: Explained) -> Array:
        """The size of every value, averaged over outputs, (n, n_features)."""

    @abstractmethod
    def _read(self, X: Rows) -> Rows:
        """Rows as a frame or an array, checked against fit."""

    @abstractmethod
    def _table(self, X: Rows) -> Table:
        """The cells of such rows."""
