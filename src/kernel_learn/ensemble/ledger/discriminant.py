"""The ledger of one discriminant, whose log-odds are linear in a ridge regression on the labels.

    L(x) = C'T'(f(x) - mean) + c = sum_j k(x, x_j) (coef C)_j + constant,

f the ridge regression on one-hot labels (``criteria.held_out.leave_out``), T from its scores to the
features, C and c the map from features to log-odds. So what training rows and columns add to L adds
up exactly, and L is known without any row at fixed T, C and c.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.leave_out import (
    LeaveOut,
    NotExactError,
    RidgeRows,
    squared,
)
from kernel_learn.criteria.held_out.stacking import LinearMap, centered, softmax
from kernel_learn.criteria.shapley import Background, sampled_values, term_values
from kernel_learn.ensemble.ledger.estimator import Choices
from kernel_learn.ensemble.ledger.forgetting import Forgotten, check_rows_to_forget
from kernel_learn.ensemble.ledger.issues import LabelIssues, doubtful_labels
from kernel_learn.ensemble.ledger.shapley import (
    SEED,
    Groups,
    ShapleyValues,
    is_background,
    players_of,
)
from kernel_learn.ensemble.summary import Explanation, contrasts, explain_rows
from kernel_learn.fitting.parameters import check_count
from kernel_learn.fitting.row_validation import validate_rows
from kernel_learn.fitting.uncertainty import Calibration
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.column_terms import column_terms
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.rows.access import n_rows as count_rows
from kernel_learn.rows.access import take_rows
from kernel_learn.rows.keys import digest, row_keys

KEPT = (
    "the kernel with its width, weights of kernels, lambda",
    "weights of the classes, and how classes are told apart in the subspace",
)


class DiscriminantLedger:
    """Mixin of ``KernelDiscriminant``: what its factorisation knows of every training row."""

    classes_: Array
    kernel_: SubspaceKernel
    base_kernel_: Kernel
    reg_: float
    decision_: str
    forgotten_: Forgotten
    _log_odds: LinearMap
    _ridge_rows: RidgeRows

    @property
    def row_values_(self) -> Array:
        """How much worse all other rows are predicted without each row, (n_samples,).

        The rise of the summed squared error of the ridge regression on the one-hot labels that the
        subspace comes from, at its kernel and ``reg_``, every row predicted without itself: exact,
        without a refit. Negative: the row harms. Equal rows are left out together and have one
        value. Of exact fits, with a kernel on rows: on landmarks, or with the decision
        ``"nearest_neighbor"``, it is refused, as ``stability``, ``label_issues``, ``explain`` and
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
        rows, k = self._rows_of_fit("stability"), len(self.classes_)
        found, K = self._leave_out(rows), self._kernel_values(self._ledger_rows(X))
        weight, constant = self._expansion
        winners = (K @ weight + constant).argmax(axis=1)
        toward = contrasts(winners, k) @ (rows.T @ self._log_odds.coef).T
        pull = found.pull(K)
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
        rows = self._rows_of_fit("label_issues")
        count = check_count("n_rows", n_rows, self)
        found = self._leave_out(rows)
        L = centered(self._log_odds((rows.Y - found.residuals - rows.mean) @ rows.T))
        calibration = self._ledger_calibration
        P = softmax(L if calibration is None else calibration.fading(L))[rows.distinct]
        values = found.values(squared)[rows.distinct]
        return doubtful_labels(P, rows.labels, values, self.classes_, count)

    def explain(self, X: Rows, n_rows: int = 10) -> Explanation:
        """The training rows that speak loudest for and against the class of each new row.

        Contributions of all training rows and ``baseline`` add up exactly to the log-odds L(x) of
        the class predicted, as :meth:`shapley` has them; ``fading`` and ``prior`` lead from there to
        ``predict_proba``.

        Parameters
        ----------
        X : rows as at fit
            To be explained.
        n_rows : int
            Training rows given for each.
        """
        rows, count = self._rows_of_fit("explain"), check_count("n_rows", n_rows, self)
        X = self._ledger_rows(X)
        K, (weight, constant) = self._kernel_values(X), self._expansion
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
        columns, sampled with standard errors for others. Of rows of numbers.

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
        names = getattr(self, "feature_names_in_", None)
        names, players = players_of(X, column_groups, names)
        X, behind = self._dense_rows(self._ledger_rows(X)), self._background(background)
        k, d = len(self.classes_), X.shape[1]
        out = np.array([[-1.0], [1.0]]) if k == 2 else np.eye(k) - 1 / k
        values = np.zeros((len(X), len(players), out.shape[1]))
        error = np.zeros_like(values)
        plain = isinstance(self.kernel_, SubspaceKernel)
        terms = column_terms(self.kernel_.kernel, d) if plain else None
        if terms is None:
            for i, x in enumerate(X):
                values[i], error[i] = sampled_values(
                    lambda rows: self._linear_logits(rows) @ out,
                    x,
                    behind,
                    players,
                    np.random.default_rng(SEED),
                )
        for term in terms or ():
            known = np.asarray(to_double(self.kernel_.landmarks))
            values += term_values(term, X, known, self._expansion[0] @ out, behind, players)
        base = np.tile(behind.share @ self._linear_logits(behind.rows) @ out, (len(X), 1))
        fading, prior = self._fading_of(self._linear_logits(X), X)
        told = values, base, X, names, error, terms is not None, fading, prior @ out
        if k > 2:
            return ShapleyValues(*told)
        return ShapleyValues(
            values[:, :, 0], base[:, 0], X, names, error[:, :, 0], told[5], fading, (prior @ out)[0]
        )

    def find_rows(self, X: Rows) -> Array:
        """Which training rows are equal to one of some rows, by places among those given to fit."""
        rows = self._rows_of_fit("find_rows")
        known = row_keys(self.kernel_.landmarks)
        return np.flatnonzero(np.isin(known, row_keys(self._ledger_rows(X)))[rows.distinct])

    def forget(self, rows: Sequence[int] | Array, choices: Choices = "keep") -> Self:
        """A model that never saw some of the training rows; this one stays as it is.

        Parameters
        ----------
        rows : sequence of int
            Places among the rows given to fit. Those that stay move up.
        choices : {"keep", "again"}
            ``"keep"``: a fit of the rows that stay at the same kernel, weights of kernels, lambda
            and decision. ``"again"``: the fit of these rows from scratch, as if the others had
            never been given.

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
        X, labels = take_rows(self.kernel_.landmarks, known.distinct[stay]), known.labels[stay]
        weight = (known.counted if choices == "keep" else known.sample_weight)[stay]
        lacking = np.setdiff1d(np.arange(len(self.classes_)), labels[weight > 0])
        if len(lacking):
            raise ValueError(
                f"Nothing of class {self.classes_[lacking[0]]} would be left, and the model is "
                f"one of {len(self.classes_)} classes. Fit the remaining rows anew."
            )
        model: Any = clone(self)  # type: ignore[type-var]
        if choices == "keep":
            model.set_params(**self._choices_for(X, weight))
        model.fit(X, self.classes_[labels], None if np.all(weight == 1.0) else weight)
        before: Forgotten | None = getattr(self, "forgotten_", None)
        gone = n - len(stay) + (0 if before is None else before.n_rows)
        redrawn, kept = ((), KEPT) if choices == "keep" else (("everything",), ())
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

    def _distance(self, lam: float) -> float:
        """How far the features are from those of the ridge regression at lam.

        F = (y - mean) T - lam coef / w at the training rows; relative to the largest of F.
        """
        rows, coef = self._ridge_rows, self.kernel_.coef
        F = self._kernel_values(self.kernel_.landmarks) @ coef - self.kernel_.offset
        off = (rows.Y - rows.mean) @ rows.T - F - lam * coef / rows.weight[:, None]
        return float(np.abs(off).max() / np.abs(F).max())

    def _choices_for(self, X: Rows, weight: Array) -> dict[str, object]:
        """Parameters with which a fit of some rows has this kernel, lambda and decision.

        ``reg`` is relative: lambda = reg tr(G) / N, tr(G) = sum_i w_i k(x_i, x_i) - N |mean|^2.
        """
        kernel, share = self.kernel_.kernel, weight / weight.sum()
        seen, place = np.unique(row_keys(X), return_inverse=True)
        first = np.zeros(len(seen), dtype=int)
        first[place[::-1]] = np.arange(len(place))[::-1]
        own = to_double(take_rows(X, first))
        p = np.bincount(place, share, len(seen))
        variance = float(p @ kernel.diag(own) - p @ (np.asarray(kernel(own)) @ p))
        return {
            "kernel": kernel,
            "reg": self.reg_ / variance,
            "decision": self.decision_,
            "class_weight": None,
            "criterion": "discriminant",
            "landmarks": "all",
        }

    def _rows_of_fit(self, asked: str) -> RidgeRows:
        check_is_fitted(self)
        rows: RidgeRows | None = self.__dict__.get("_ridge_rows")
        if rows is None or self.kernel_.input == "matrix":
            raise NotExactError(
                f"{type(self).__name__}.{asked} is exact or not at all: it needs an exact fit by "
                "this version to rows in memory (landmarks='all'), all with a label and a positive "
                "weight."
            )
        self._check_linear(asked)
        return rows

    def _check_linear(self, asked: str) -> None:
        check_is_fitted(self)
        if self.decision_ == "nearest_neighbor":
            raise NotExactError(
                f"{type(self).__name__}.{asked} needs log-odds that are linear in the features: "
                "use decision='auto', 'ridge' or 'centroid'."
            )

    def _leave_out(self, rows: RidgeRows) -> LeaveOut:
        K = np.array(self.kernel_.kernel(to_double(self.kernel_.landmarks)), dtype=np.float64)
        return LeaveOut(K, rows.Y, rows.weight, self.reg_)

    @property
    def _ledger_calibration(self) -> Calibration | None:
        return getattr(self, "_calibration", None)

    @property
    def _expansion(self) -> tuple[Array, Array]:
        """L(x) = k(x, landmarks) weight + constant: (n, k), (k,), of mean zero over the classes."""
        kernel, C = self.kernel_, centered(self._log_odds.coef)
        constant = centered(self._log_odds.intercept[None])[0] - kernel.offset @ C
        return kernel.coef @ C, constant

    def _linear_logits(self, X: Rows) -> Array:
        return centered(self._log_odds(self.kernel_.transform(X)))

    def _kernel_values(self, X: Rows) -> Array:
        return np.asarray(self.kernel_.kernel(X, self.kernel_.landmarks), dtype=np.float64)

    def _fading_of(self, L: Array, X: Rows) -> tuple[Array, Array]:
        """s(x) and the prior: from L(x) to the log-odds of ``predict_proba``."""
        calibration = self._ledger_calibration
        if calibration is None:
            return np.ones(len(L)), np.zeros(L.shape[1])
        return calibration.factor(L, lambda: X), calibration.fading.prior

    def _ledger_rows(self, X: Rows) -> Rows:
        return to_double(validate_rows(self, self.base_kernel_, X, reset=False))

    def _dense_rows(self, X: Rows) -> Array:
        """Rows, checked before, that are numbers."""
        if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f":
            raise ValueError(
                f"{type(self).__name__}.shapley tells columns of numbers apart, and these rows are "
                "something else. Use explain, which tells training rows apart."
            )
        return X

    def _background(self, background: int | Rows) -> Background:
        if is_background(background, self):
            X = self._dense_rows(self._ledger_rows(background))
            return Background(X, np.full(len(X), 1 / len(X)))
        known = self._dense_rows(to_double(self.kernel_.landmarks))
        count = min(int(background), count_rows(known))
        some = np.argsort(row_keys(known), kind="stable")[:count]
        rows: RidgeRows | None = self.__dict__.get("_ridge_rows")
        weight = np.ones(len(some)) if rows is None else rows.weight[some]
        return Background(known[some], weight / weight.sum())
