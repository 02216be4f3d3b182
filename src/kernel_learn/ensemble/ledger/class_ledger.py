"""The ledger of an ensemble of classes."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, Rows
from kernel_learn.ensemble.deduplicate import GivenRows
from kernel_learn.ensemble.ledger.estimator import Ledger
from kernel_learn.ensemble.ledger.forgetting import ClassesLeft, Remaining, calibration_without
from kernel_learn.ensemble.ledger.issues import LabelIssues, doubtful_labels
from kernel_learn.ensemble.ledger.label_noise import doubting_proba
from kernel_learn.ensemble.ledger.row_log_odds import RowLogOdds, row_log_odds
from kernel_learn.ensemble.ledger.row_values import largest_changes, row_values
from kernel_learn.ensemble.ledger.shapley import Explained, Groups, ShapleyValues, class_shapley
from kernel_learn.ensemble.summary import contrasts
from kernel_learn.fitting.parameters import check_count
from kernel_learn.fitting.uncertainty import Calibration
from kernel_learn.rows.table import Table


class ClassLedger(Ledger):
    """Mixin of ensembles of classes."""

    classes_: Array
    loo_proba_: Array
    held_out_proba_: Array
    _calibration: Calibration
    _held_names: ClassVar[tuple[str, str]] = ("loo_proba_", "held_out_proba_")

    @property
    def row_values_(self) -> Array:
        """How much worse all other rows are predicted without each row, (n_samples,).

        The rise of their summed log loss, each row predicted by a model that has seen neither it
        (nor its group) nor the row in question, with kernels, regularisers, weights of members and
        shares of the classes as they are: exact, without a refit. Negative: the row harms, as a
        wrong label does. Equal rows have one value, that of all of them; rows of weight zero have
        none, 0. Squared-hinge members take no part. Worked out when first asked for.
        """
        return self._values_by(row_values)

    def stability(self, X: Rows) -> Array:
        """The largest change of a prediction if any one training row were missing, (n_samples,).

        Of the averaged log-odds L(x) of the class predicted, before they fade: log p1/p0 of two
        classes, else log p minus its mean over the classes. Exact at the kernels, regularisers
        and weights of the members, in leaves too; rows that are equal are missing together.
        """
        check_is_fitted(self)
        self._check_exact("stability", in_leaves=True)
        table = self._table(X)
        contrast = contrasts(self._row_log_odds(table).winners, len(self.classes_))
        return largest_changes(self._fitted.ensemble, table, contrast)

    def shapley(
        self, X: Rows, background: int | Rows = 100, column_groups: Groups | None = None
    ) -> ShapleyValues:
        """Which columns made each prediction: Shapley values of the averaged log-odds L(x).

        A column that is unknown takes the values of background rows, averaged over them. Values
        sum exactly to L(x) minus the mean of L over these rows; ``fading`` and ``prior`` lead
        from there to ``predict_proba``. Exact for kernels that are products or sums over columns;
        others (polynomial, arc-cosine, the exponential of a Euclidean distance), models in leaves
        and sparse rows, which are brought to length one, are sampled by permutations and their
        reverses, with a standard error for every value.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows as at fit.
        background : int, array-like or data frame
            So many training rows, drawn by their contents, or other rows.
        column_groups : dict of name to list of names or positions, optional
            Columns that are known or unknown together and have one value, before all others.

        Returns
        -------
        found : ShapleyValues
            Two classes: ``values`` (n_samples, n_features) of log p1/p0; more:
            (n_samples, n_features, n_classes) of log p minus its mean over the classes.
        """
        table, explained = self._explained(X, background, column_groups)
        return class_shapley(explained, self._row_log_odds(table))

    def label_issues(self, n_rows: int = 20) -> LabelIssues:
        """The rows whose labels are most likely wrong, the most doubtful first.

        By the probability that is given to a row's label without it, the geometric mean of two:
        ``held_out_proba_`` (``loo_proba_`` where nothing was assessed), and leave-one-out in
        which labels that the other rows find unlikely count as others, so that wrong ones do not
        speak for each other; in leaves by the first alone. A negative value of the row says that
        all others are predicted better without it.

        Parameters
        ----------
        n_rows : int
            At most so many.

        Returns
        -------
        issues : tuple of (row, label, suggested_label, probability, value)
            Prints as a table.
        """
        check_is_fitted(self)
        count = check_count("n_rows", n_rows, self)
        self._check_exact("label_issues", in_leaves=True)
        given = self._rows_of_fit("label_issues")
        P = self._label_proba(given)
        return doubtful_labels(P, given.labels, self.row_values_, self.classes_, count)

    def _sizes(self, explained: Explained) -> Array:
        nobody = row_log_odds(explained.ensemble, explained.table, None, lambda table: table)
        values = class_shapley(explained, nobody).values
        return np.abs(values.reshape(*values.shape[:2], -1)).mean(axis=2)

    def _label_proba(self, given: GivenRows) -> Array:
        """Of the rows given, by two ways that have not seen them, (n_given, k)."""
        P, ensemble = (
            np.array(getattr(self, "held_out_proba_", self.loo_proba_)),
            self._fitted.ensemble,
        )
        doubting = doubting_proba(ensemble) if ensemble.forest is None else None
        if doubting is None:
            return P
        both = np.sqrt(np.maximum(P, 1e-300) * doubting[given.distinct])
        return np.asarray(both / both.sum(axis=1, keepdims=True))

    def _labels_given(self, given: GivenRows) -> Array:
        return np.asarray(self.classes_[given.labels])

    def _check_remaining(self, left: Remaining) -> None:
        assert isinstance(left, ClassesLeft)
        empty = np.flatnonzero(left.counts.sum(axis=0) <= 0)
        if len(empty):
            raise ValueError(
                f"Nothing of class {self.classes_[empty[0]]} would be left, and the model is one "
                f"of {len(self.classes_)} classes. Fit the remaining rows anew."
            )
        super()._check_remaining(left)

    def _forget_more(self, left: Remaining) -> None:
        if "_calibration" in self.__dict__:
            assert isinstance(left, ClassesLeft)
            reference = self._fitted.probe.reference
            self._calibration = calibration_without(self._calibration, reference, left)

    @abstractmethod
    def _row_log_odds(self, table: Table) -> RowLogOdds:
        """Averaged log-odds of new rows."""
