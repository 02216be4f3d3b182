"""The ledger of an ensemble that predicts numbers."""

from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.contamination import outlier_probabilities
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.ensemble.deduplicate import GivenRows
from kernel_learn.ensemble.ledger.estimator import Ledger
from kernel_learn.ensemble.ledger.issues import LabelIssue, LabelIssues
from kernel_learn.ensemble.ledger.number_values import largest_value_changes, number_row_values
from kernel_learn.ensemble.ledger.shapley import Explained, Groups, ShapleyValues, number_shapley
from kernel_learn.fitting.parameters import check_count


class NumberLedger(Ledger):
    """Mixin of ensembles that predict numbers."""

    loo_prediction_: Array
    held_out_prediction_: Array
    _single: bool
    _held_names: ClassVar[tuple[str, str]] = ("loo_prediction_", "held_out_prediction_")

    @property
    def row_values_(self) -> Array:
        """How much worse all other rows are predicted without each row, (n_samples,).

        The rise of their summed squared error, of several targets of the sum of shares of their
        variances; each row is predicted by a model that has seen neither it (nor its group) nor
        the row in question, with kernels, regularisers, transforms of y and weights of members as
        they are: exact, without a refit. Negative: the row harms, as a wrong value does. Equal
        rows have one value, that of all of them; rows of weight zero have none, 0. Worked out
        when first asked for.
        """
        return self._values_by(number_row_values)

    def stability(self, X: Rows) -> Array:
        """The largest change of a prediction if any one training row were missing.

        (n_samples,), of several targets (n_samples, n_targets), in units of y. Exact at the
        kernels, regularisers, transforms of y and weights of the members, in leaves too; rows
        that are equal are missing together.
        """
        check_is_fitted(self)
        self._check_exact("stability", in_leaves=True)
        found = largest_value_changes(self._fitted.ensemble, self._table(X))
        return found[:, 0] if self._single else found

    def shapley(
        self, X: Rows, background: int | Rows = 100, column_groups: Groups | None = None
    ) -> ShapleyValues:
        """Which columns made each prediction: Shapley values of L(x), in units of y.

        L(x) is the average of what the members predict, before each is kept within what was seen
        and a tenth more: ``prior`` + ``fading`` (L - ``prior``) is ``predict``, prior the mean of
        y, and fading is 1 wherever nothing was cut. A column that is unknown has the values of
        background rows, averaged over them; values sum exactly to L(x) minus the mean of L
        over these rows. Exact for members that predict y as it is by kernels that are products or
        sums over columns; those of other kernels, in leaves, and those that predict by log y, which
        are led back to the mean of y and so are no sums over training rows, are sampled by
        permutations and their reverses, with a standard error for every value.

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
            ``values`` (n_samples, n_features), or (n_samples, n_features, n_targets).
        """
        return number_shapley(self._explained(X, background, column_groups)[1], single=self._single)

    def label_issues(self, n_rows: int = 20) -> LabelIssues:
        """The rows whose values are most likely wrong, the most doubtful first.

        By how far y lies from the prediction by models that have not seen the row
        (``held_out_prediction_``, or ``loo_prediction_`` where nothing was assessed), over how
        far rows like it lie from theirs (in leaves all rows); of several targets by the farthest.
        ``probability``: that the residual is not one of the normal distribution that most follow.
        A negative value of the row says that all others are predicted better without it.

        Parameters
        ----------
        n_rows : int
            At most so many.

        Returns
        -------
        issues : tuple of (row, label, suggested_label, probability, value)
            ``label`` is y, ``suggested_label`` the prediction; prints as a table.
        """
        check_is_fitted(self)
        count = check_count("n_rows", n_rows, self)
        self._check_exact("label_issues", in_leaves=True)
        given = self._rows_of_fit("label_issues")
        rows, values = np.flatnonzero(given.counting), self.row_values_
        held = getattr(self, "held_out_prediction_", self.loo_prediction_)
        said, y = held.reshape(len(held), -1)[rows], self._values_given(given)[rows]
        r = y - said
        if self._fitted.ensemble.forest is None:  # of many rows the scales of all are not known
            r = r / self._fitted.probe.value_scales[given.labels[rows]]
        told = [outlier_probabilities(own, given.weight[rows]) for own in r.T]
        wrong = np.max([own for own, _ in told], axis=0)
        far = np.max([np.abs(own) / sd for own, (_, sd) in zip(r.T, told, strict=True)], axis=0)
        order = np.argsort(-far, kind="stable")[:count]
        return LabelIssues(
            LabelIssue(
                int(rows[i]),
                self._as_label(y[i]),
                self._as_label(said[i]),
                float(wrong[i]),
                float(values[rows[i]]),
            )
            for i in order
        )

    def _sizes(self, explained: Explained) -> Array:
        targets = explained.ensemble.targets
        assert isinstance(targets, NumberTargets), "numbers are predicted"
        scale = np.array([one.scale for one in targets.transforms if not one.is_log])
        values = number_shapley(explained, single=False).values
        return np.asarray(np.mean(np.abs(values) / scale, axis=2))

    def _as_label(self, values: Array) -> float | tuple[float, ...]:
        return float(values[0]) if self._single else tuple(values.tolist())

    def _values_given(self, given: GivenRows) -> Array:
        targets = self._fitted.ensemble.targets
        assert isinstance(targets, NumberTargets), "numbers are predicted"
        return np.asarray(targets.values[given.labels])

    def _labels_given(self, given: GivenRows) -> Array:
        y = self._values_given(given)
        return y[:, 0] if self._single else y
