"""The ledger of one discriminant, whose log-odds are linear in a ridge regression on the labels.

    L(x) = C'T'(f(x) - mean) + c = sum_j k(x, x_j) (coef C)_j + constant,

f the ridge regression on one-hot labels (``criteria.held_out.leave_out``), T from its scores to the
features, C and c the map from features to log-odds. So what training rows and columns add to L adds
up exactly, and L is known without any row at fixed T, C and c. On landmarks k(x, y) = z(x)'z(y), z
their features, and the same holds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.leave_out import (
    FeatureLeaveOut,
    LeaveOut,
    NotExactError,
    RidgeRows,
    squared,
)
from kernel_learn.criteria.held_out.stacking import LinearMap, centered, softmax
from kernel_learn.criteria.shapley import (
    MOST_ENUMERATED,
    Background,
    function_values,
    term_values,
)
from kernel_learn.ensemble.ledger.estimator import Choices
from kernel_learn.ensemble.ledger.forgetting import Forgotten, check_rows_to_forget
from kernel_learn.ensemble.ledger.issues import LabelIssues, doubtful_labels
from kernel_learn.ensemble.ledger.shapley import (
    SEED,
    Groups,
    ShapleyValues,
    is_background,
    of_first,
    players_of,
)
from kernel_learn.ensemble.summary import Explanation, contrasts, explain_rows
from kernel_learn.fitting.parameters import check_count
from kernel_learn.fitting.row_validation import validate_rows
from kernel_learn.fitting.uncertainty import Calibration
from kernel_learn.kernels.bank import Combination, StackedSubspaceKernel, as_bank
from kernel_learn.kernels.base import Kernel, KernelsLike
from kernel_learn.kernels.column_terms import ColumnTerm, column_terms, table_terms
from kernel_learn.kernels.columns import ColumnKernel
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.representations.landmarks import (
    COMBINING_RULES,
    Landmarks,
    LandmarksLike,
    check_landmarks,
)
from kernel_learn.representations.moment_form import FeatureSample
from kernel_learn.representations.plan import Plan
from kernel_learn.representations.sources import ArraySource
from kernel_learn.rows.access import is_sparse, take_rows
from kernel_learn.rows.access import n_rows as count_rows
from kernel_learn.rows.codes import TableCodes
from kernel_learn.rows.keys import are_among, digest, equal_keys, row_keys
from kernel_learn.rows.table import Table

KEPT = (
    "the kernel with its width, weights of kernels, lambda",
    "weights of the classes, and how classes are told apart in the subspace",
)


@dataclass(frozen=True)
class Kept:
    """What a fit after ``forget`` does not choose."""

    theta: Array | None  # of the kernels of a bank
    lam: float
    sample_weight: Array  # (n,) as given; the fit takes the rows as they counted by class_weight


class LandmarkRows:
    """The rows of a fit on landmarks and their features: those that were passed, and in no file.

    They are not copied, and nothing is worked out before it is asked for.
    """

    def __init__(
        self, source: ArraySource, sample_weight: Array, T: Array, sample: FeatureSample
    ) -> None:
        self.source, self.keys = source, np.array(source.content_keys)
        self.weight, self.sample_weight = np.array(source.weight), np.array(sample_weight)
        self.T, self.target_mean = T, np.array(sample.target_mean)
        self.features, self.theta = sample.form.features, sample.theta

    def check(self, asked: str) -> None:
        """The rows were not written over since."""
        if not np.array_equal(row_keys(self.source.X), self.keys):
            raise NotExactError(
                f"{asked} needs the rows of the fit, and the array that they are in was changed "
                "afterwards. Fit a copy of it."
            )

    @cached_property
    def _merged(self) -> tuple[Rows, Array, Array]:
        return self.source.merged()

    @property
    def X(self) -> Rows:
        """The distinct rows."""
        return self._merged[0]

    @cached_property
    def rows(self) -> RidgeRows:
        """Their targets and weights."""
        source, (_, Y, weight) = self.source, self._merged
        place = source.merged_place[source.inverse]
        return RidgeRows(
            Y,
            weight,
            place,
            source.labels,
            self.weight,
            self.sample_weight,
            self.T,
            self.target_mean,
            source.groups,
        )

    def see(self, X: Rows) -> Array:
        """z(x) with k(x, y) = z(x)'z(y), (n, M)."""
        root = np.sqrt(np.repeat(self.theta, self.features.sizes))
        return np.asarray(root * self.features(X), dtype=np.float64)

    @cached_property
    def Z(self) -> Array:
        """Of the distinct training rows."""
        return self.see(self.X)


class DiscriminantLedger:
    """Mixin of ``KernelDiscriminant``: what its factorisation knows of every training row."""

    classes_: Array
    kernel: KernelsLike
    kernel_: SubspaceKernel
    base_kernel_: Kernel
    reg_: float
    decision_: str
    forgotten_: Forgotten
    landmarks: LandmarksLike
    plan_: Plan
    _log_odds: LinearMap
    _ridge_rows: RidgeRows
    _landmark_rows: LandmarkRows
    _kept: Kept

    @property
    def row_values_(self) -> Array:
        """How much worse all other rows are predicted without each row, (n_samples,).

        The rise of the summed squared error of the ridge regression on the one-hot labels that the
        subspace comes from, at its kernel and ``reg_``, every row predicted without itself: exact,
        without a refit. Negative: the row harms. Equal rows are left out together and have one
        value. Of fits to rows in memory; on landmarks the rows are with the model, and not in
        its file, so that there it is refused, as ``stability``, ``label_issues``, ``explain`` and
        ``forget`` are.
        """
        rows = self._rows_of_fit("row_values_")
        return self._leave_out(rows).values(squared)[rows.distinct]

    def stability(self, X: Rows) -> Array:
        """The largest change of a prediction if any one training row were missing, (n_samples,).

        Of the log-odds L(x) of the class predicted, before they fade: log p1/p0 of two classes,
        else log p minus its mean over the classes. Exact at the kernel and ``reg_``, with the
        directions and the map to log-odds as they are; rows that are equal are missing together.
        """
        rows = self._linear_rows("stability")
        X = self._ledger_rows(X)
        winners = self._linear_logits(X).argmax(axis=1)
        toward = contrasts(winners, len(self.classes_)) @ (rows.T @ self._log_odds.coef).T
        found, known = self._leave_out(rows), self._landmark_rows_held
        pull = found.pull(self._kernel_values(X) if known is None else known.see(X))
        return np.asarray(np.abs(pull * (toward @ found.alone.T)).max(axis=1))

    def label_issues(self, n_rows: int = 20) -> LabelIssues:
        """The rows whose labels are most likely wrong, the most doubtful first.

        By the probability of its label where a row, with those equal to it, is left out of the
        ridge regression. A negative value of the row says that all others are predicted better
        without it.

        Parameters
        ----------
        n_rows : int
            At most so many.

        Returns
        -------
        issues : tuple of (row, label, suggested_label, probability, value)
            Prints as a table.
        """
        rows = self._linear_rows("label_issues")
        count = check_count("n_rows", n_rows, self)
        found = self._leave_out(rows)
        P, values = self._left_out_proba(found), found.values(squared)[rows.distinct]
        return doubtful_labels(P, rows.labels, values, self.classes_, count)

    def _left_out_proba(self, found: LeaveOut | None = None) -> Array:
        """Of the rows given, each without itself and those equal to it, (n_given, k)."""
        rows = self._linear_rows("label_issues")
        found = self._leave_out(rows) if found is None else found
        L = centered(self._log_odds((rows.Y - found.residuals - rows.mean) @ rows.T))
        calibration = self._ledger_calibration
        P = softmax(L if calibration is None else calibration.fading(L))
        return np.asarray(P[rows.distinct])

    def explain(self, X: Rows, n_rows: int = 10) -> Explanation:
        """The training rows that speak loudest for and against the class of each new row.

        Contributions of all training rows and ``baseline`` add up exactly to the log-odds L(x) of
        the class predicted, as :meth:`shapley` has them; ``fading`` and ``prior`` lead from there
        to ``predict_proba``.

        Parameters
        ----------
        X : rows as at fit
            To be explained.
        n_rows : int
            Training rows given for each.
        """
        rows, count = self._linear_rows("explain"), check_count("n_rows", n_rows, self)
        X = self._ledger_rows(X)
        K, (weight, constant) = self._kernel_values(X), self._row_expansion(rows)
        L = K @ weight + constant
        winners = L.argmax(axis=1)
        contrast = contrasts(winners, len(self.classes_))
        added = K * (contrast @ weight.T)
        _, first = np.unique(rows.distinct, return_index=True)
        labels = self.classes_[winners]
        found = explain_rows(added, contrast @ constant, first, labels, count)
        fading, prior = self._fading_of(L, X)
        return replace(found, fading=fading, prior=contrast @ prior)

    def shapley(
        self, X: Rows, background: int | Rows = 100, column_groups: Groups | None = None
    ) -> ShapleyValues:
        """Which columns made each prediction: Shapley values of the log-odds L(x).

        As :meth:`KernelClassifier.shapley`: exact for kernels that are products or sums over
        columns, and of up to five columns; sampled with standard errors for others. Of rows with
        columns: numbers, and tables for kernels of columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows as at fit.
        background : int or array-like
            So many of the rows that the model holds, drawn by their contents, or other rows.
        column_groups : dict of name to list of names or positions, optional
            Columns that are known or unknown together and have one value, before all others.
        """
        self._check_linear("shapley")
        given = self._rows_of_columns(self._ledger_rows(X))
        names = getattr(self, "feature_names_in_", None)
        named = given if isinstance(given, Table) else X  # of which columns are called by name
        names, players = players_of(named, column_groups, names, self)
        rows, share = self._background(background)
        known = to_double(self.kernel_.landmarks)
        cells: Callable[[Array], Rows] = np.asarray
        if isinstance(given, Table):
            assert isinstance(rows, Table) and isinstance(known, Table)
            codes, (X, Z, X_ref) = TableCodes.of(given, rows, known)
            cells, data = codes.table, given.cells()
        else:
            X, Z, X_ref, data = given, np.asarray(rows), np.asarray(known), given
        behind = Background(Z, share)
        k = len(self.classes_)
        out = np.array([[-1.0], [1.0]]) if k == 2 else np.eye(k) - 1 / k
        values = np.zeros((len(X), len(players), out.shape[1]))
        error = np.zeros_like(values)
        found = [(self._terms_of(kernel, given), coef) for kernel, coef in self._kernel_parts()]
        terms = None if any(own is None for own, _ in found) else found
        if terms is None:
            for i, x in enumerate(X):
                values[i], error[i] = function_values(
                    lambda A: self._linear_logits(cells(A)) @ out, x, behind, players, SEED
                )
        for own, coef in terms or ():
            for term in own or ():
                values += term_values(term, X, X_ref, coef @ out, behind, players)
        base = np.tile(share @ self._linear_logits(rows) @ out, (len(X), 1))
        fading, prior = self._fading_of(self._linear_logits(given), given)
        exact = terms is not None or len(players) <= MOST_ENUMERATED
        told = ShapleyValues(values, base, data, names, error, exact, fading, prior @ out)
        return of_first(told) if k == 2 else told

    def find_rows(self, X: Rows) -> Array:
        """Which training rows are equal to one of some rows, by places among those given to fit."""
        return np.unique(self.equal_rows(X)[1])

    def equal_rows(self, X: Rows) -> tuple[Array, Array]:
        """Pairs of equal rows: places among some rows, and among those given to fit."""
        rows = self._rows_of_fit("find_rows")
        known = row_keys(self._distinct_rows)[rows.distinct]
        return equal_keys(row_keys(self._ledger_rows(X)), known)

    def forget(self, rows: Sequence[int] | Array, choices: Choices = "keep") -> Self:
        """A model that never saw some of the training rows; this one stays as it is.

        Parameters
        ----------
        rows : sequence of int
            Places among the rows given to fit. Those that stay move up.
        choices : {"keep", "again"}
            ``"keep"``: a fit of the rows that stay at the same kernel, weights of kernels, lambda,
            decision and landmarks; if a landmark is forgotten, or landmarks are averages of rows,
            they are drawn anew. ``"again"``: the fit of these rows from scratch, as if the others
            had never been given, of fewer classes if none of a class stays.

        Returns
        -------
        model : KernelDiscriminant
            With ``forgotten_``: n_rows, digest, distance, redrawn, kept; it prints itself.
        """
        if choices not in ("keep", "again"):
            raise ValueError(f"choices={choices!r}: give 'keep' or 'again'.")
        known = self._rows_of_fit("forget")
        n = len(known.distinct)
        stay = np.setdiff1d(np.arange(n), check_rows_to_forget(rows, n))
        X, labels = take_rows(self._distinct_rows, known.distinct[stay]), known.labels[stay]
        weight = (known.counted if choices == "keep" else known.sample_weight)[stay]
        self._check_classes_left(labels[weight > 0], choices)
        redrawn = self._landmarks_without(X) if len(stay) < n else ()
        kept: tuple[str, ...] = KEPT
        model: Any = clone(self)  # type: ignore[type-var]
        if choices == "keep":
            model.set_params(**self._choices(redrawn=bool(redrawn)))
            model._kept = Kept(self._kept_theta, self.reg_, known.sample_weight[stay])
        groups = None if known.groups is None else known.groups[stay]
        rows = X if choices == "keep" else self._as_given(X)
        model.fit(rows, self.classes_[labels], None if np.all(weight == 1.0) else weight, groups)
        before: Forgotten | None = getattr(self, "forgotten_", None)
        gone = n - len(stay) + (0 if before is None else before.n_rows)
        if choices == "again":
            redrawn, kept = ("everything",), ()
        distance = model._distance(self.reg_) if choices == "keep" else 0.0
        model.forgotten_ = Forgotten(gone, digest(row_keys(X)), distance, redrawn, kept)
        if choices == "keep":
            model.set_params(**self.get_params(deep=False))  # type: ignore[attr-defined]
            for name in ("kernel_weights_", "kernel_names_"):
                if hasattr(self, name):
                    setattr(model, name, getattr(self, name))
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        found: Self = model
        return found

    def _check_classes_left(self, labels: Array, choices: Choices) -> None:
        """Refuse to forget so much that there is no fit; from scratch it may be one of fewer."""
        lacking = np.setdiff1d(np.arange(len(self.classes_)), labels)
        if choices == "again" and len(self.classes_) - len(lacking) < 2:
            raise ValueError(
                "Rows of fewer than two classes would be left, and classes are told apart. Forget "
                "fewer rows."
            )
        if choices == "keep" and len(lacking):
            raise ValueError(
                f"Nothing of class {self.classes_[lacking[0]]} would be left, and the model is "
                f"one of {len(self.classes_)} classes. Fit the remaining rows anew, by "
                "choices='again' say."
            )

    def _as_given(self, X: Rows) -> Rows | list[Rows]:
        """Rows as a fit from scratch takes them: several tables, if these were given."""
        bank, known = as_bank(self.kernel), getattr(self.base_kernel_, "kernels", ())
        if bank is None or not isinstance(X, Table):
            return X
        spans = [
            own.columns
            for own, given in zip(known, bank[1], strict=True)
            if isinstance(own, ColumnKernel)
            and isinstance(own.columns, slice)
            and repr(own.columns) != repr(getattr(given, "columns", None))
        ]
        return [X.select(span).matrix() for span in spans] or X

    def _landmarks_without(self, X: Rows) -> tuple[str, ...]:
        """What has to be drawn anew if these rows stay; refused where it was given."""
        if self._landmark_rows_held is None or self.plan_.representation == "explicit":
            return ()
        spec = check_landmarks(self.landmarks)
        if isinstance(spec, Landmarks) and spec.rule in ("kmeans", *COMBINING_RULES):
            return ("landmarks, which are averages of rows",)
        lost = ~are_among(row_keys(self.kernel_.landmarks), row_keys(X))
        if isinstance(spec, str | Landmarks):
            return ("landmarks, of which one was forgotten",) if lost.any() else ()
        seen = are_among(row_keys(self.kernel_.landmarks), row_keys(self._distinct_rows))
        if np.asarray(spec).ndim == 1 or (lost & seen).any():
            raise ValueError(
                "A row to be forgotten is one of the landmarks that were given, or these were "
                "given by their places. Fit the remaining rows with landmarks=, a number or rows."
            )
        return ()

    @property
    def _kept_theta(self) -> Array | None:
        """Weights of the kernels, where each has features of its own."""
        stacked = isinstance(self.kernel_, StackedSubspaceKernel)
        return np.asarray(self.base_kernel_.weights) if stacked else None  # type: ignore[attr-defined]

    def _choices(self, *, redrawn: bool) -> dict[str, object]:
        """Parameters with which a fit of some rows has this kernel and decision."""
        held = self._landmark_rows_held
        landmarks: Any = "all"
        if held is not None:
            given = redrawn or self.plan_.representation == "explicit"
            landmarks = self.landmarks if given else self.kernel_.landmarks
        bank = self._kept_theta is not None
        return {
            "kernel": list(self.base_kernel_.kernels) if bank else self.kernel_.kernel,  # type: ignore[attr-defined]
            "reg": 1.0,
            "decision": self.decision_,
            "class_weight": None,
            "criterion": "discriminant",
            "landmarks": landmarks,
        }

    def _distance(self, lam: float) -> float:
        """How far the features are from those of the ridge regression at lam.

        F = (y - mean) T - lam coef / w at the training rows; relative to the largest of F.
        """
        held = self._landmark_rows_held
        if held is not None:
            rows, Z = held.rows, held.Z - held.rows.weight @ held.Z / held.rows.weight.sum()
            F = self.kernel_.transform(held.X)
            a = rows.weight[:, None] * ((rows.Y - rows.mean) @ rows.T - F) / lam
            return float(np.abs(F - Z @ (Z.T @ a)).max() / np.abs(F).max())
        rows, coef = self._ridge_rows, self.kernel_.coef
        F = self._kernel_values(self.kernel_.landmarks) @ coef - self.kernel_.offset
        off = (rows.Y - rows.mean) @ rows.T - F - lam * coef / rows.weight[:, None]
        return float(np.abs(off).max() / np.abs(F).max())

    def _rows_of_fit(self, asked: str) -> RidgeRows:
        check_is_fitted(self)
        held = self._landmark_rows_held
        if held is not None:
            held.check(f"{type(self).__name__}.{asked}")
        rows: RidgeRows | None = self.__dict__.get("_ridge_rows") if held is None else held.rows
        if rows is None or self.kernel_.input == "matrix":
            raise NotExactError(
                f"{type(self).__name__}.{asked} is exact or not at all: it needs a fit by this "
                "version to rows in memory, all with a label and a positive weight. A model on "
                "landmarks has its rows until it is saved, copied or pickled; what partial_fit "
                "has learned, partial_forget takes out again."
            )
        return rows

    def _labels_of_fit(self, asked: str) -> Array:
        return np.asarray(self.classes_[self._rows_of_fit(asked).labels])

    def _linear_rows(self, asked: str) -> RidgeRows:
        rows = self._rows_of_fit(asked)
        self._check_linear(asked)
        return rows

    @property
    def _landmark_rows_held(self) -> LandmarkRows | None:
        return self.__dict__.get("_landmark_rows")

    @property
    def _distinct_rows(self) -> Rows:
        held = self._landmark_rows_held
        return self.kernel_.landmarks if held is None else held.X

    def __getstate__(self) -> dict[str, object]:
        state = dict(super().__getstate__())  # type: ignore[call-overload]
        state.pop("_landmark_rows", None)  # the rows themselves: not in files
        return state

    def _check_linear(self, asked: str) -> None:
        check_is_fitted(self)
        if self.decision_ == "nearest_neighbor":
            raise NotExactError(
                f"{type(self).__name__}.{asked} needs log-odds that are linear in the features: "
                "use decision='auto', 'ridge' or 'centroid'."
            )

    def _leave_out(self, rows: RidgeRows) -> LeaveOut:
        held = self._landmark_rows_held
        if held is not None and rows.units:
            raise NotExactError(
                f"{type(self).__name__} on landmarks leaves rows out one by one afterwards, and it "
                "was fitted with groups. Fit with landmarks='all', or without groups."
            )
        if held is not None:
            return FeatureLeaveOut(held.Z, rows.Y, rows.weight, self.reg_)
        K = np.array(self.kernel_.kernel(to_double(self.kernel_.landmarks)), dtype=np.float64)
        return LeaveOut(K, rows.Y, rows.weight, self.reg_, rows.units)

    @property
    def _ledger_calibration(self) -> Calibration | None:
        return getattr(self, "_calibration", None)

    @property
    def _expansion(self) -> tuple[Array, Array]:
        """L(x) = k(x, landmarks) weight + constant: (n, k), (k,), of mean zero over the classes."""
        kernel, C = self.kernel_, centered(self._log_odds.coef)
        constant = centered(self._log_odds.intercept[None])[0] - kernel.offset @ C
        return kernel.coef @ C, constant

    def _kernel_parts(self) -> list[tuple[Kernel, Array]]:
        """L(x) = constant + the sum over kernels of k(x, landmarks) coef."""
        kernel, weight = self.kernel_.kernel, self._expansion[0]
        if not isinstance(self.kernel_, StackedSubspaceKernel):
            return [(kernel, weight)]
        assert isinstance(kernel, Combination)
        return list(zip(kernel.kernels, np.split(weight, len(kernel.kernels)), strict=True))

    def _row_expansion(self, rows: RidgeRows) -> tuple[Array, Array]:
        """The same over the training rows."""
        held = self._landmark_rows_held
        if held is None:
            return self._expansion
        found = self._leave_out(rows)
        assert isinstance(found, FeatureLeaveOut)
        C = centered(self._log_odds.coef)
        weight = found.a @ rows.T @ C
        constant = centered(self._log_odds.intercept[None])[0]
        return weight, constant - found.mean @ (held.Z.T @ weight)

    def _linear_logits(self, X: Rows) -> Array:
        return centered(self._log_odds(self.kernel_.transform(X)))

    def _kernel_values(self, X: Rows) -> Array:
        held = self._landmark_rows_held
        if held is not None:
            return np.asarray(held.see(X) @ held.Z.T)
        return np.asarray(self.kernel_.kernel(X, self.kernel_.landmarks), dtype=np.float64)

    def _fading_of(self, L: Array, X: Rows) -> tuple[Array, Array]:
        """s(x) and the prior: from L(x) to the log-odds of ``predict_proba``."""
        calibration = self._ledger_calibration
        if calibration is None:
            return np.ones(len(L)), np.zeros(L.shape[1])
        return calibration.factor(L, lambda: X), calibration.fading.prior

    def _ledger_rows(self, X: Rows) -> Rows:
        return to_double(validate_rows(self, self.base_kernel_, X, reset=False))

    def _rows_of_columns(self, X: Rows) -> Array | Table:
        """Rows, checked before, that have columns."""
        if isinstance(X, Table) and not is_sparse(X.numbers):
            return X
        if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f":
            raise ValueError(
                f"{type(self).__name__}.shapley tells columns of tables apart, and these rows are "
                "something else. Use explain, which tells training rows apart."
            )
        return X

    def _terms_of(self, kernel: Kernel, X: Array | Table) -> list[ColumnTerm] | None:
        if isinstance(X, Table):
            return table_terms(kernel, X)
        return column_terms(kernel, X.shape[1])

    def _background(self, background: int | Rows) -> tuple[Array | Table, Array]:
        """Rows that stand for a column that is not known, and their shares."""
        if is_background(background, self):
            X = self._rows_of_columns(self._ledger_rows(background))
            return X, np.full(len(X), 1 / len(X))
        known = self._rows_of_columns(to_double(self.kernel_.landmarks))
        count = min(int(background), count_rows(known))
        some = np.argsort(row_keys(known), kind="stable")[:count]
        rows: RidgeRows | None = self.__dict__.get("_ridge_rows")  # of landmarks that are all rows
        weight = np.ones(len(some)) if rows is None else rows.weight[some]
        return known[some], weight / weight.sum()
