"""Numbers, or zeros and ones, of distinct rows, in the place of class labels."""

from dataclasses import dataclass, field

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.targets import Targets


@dataclass(frozen=True)
class ValueTargets(Targets):
    """``counts`` are weighted sums of the values of each row, ``row_weight`` what the row counts.

    Ridge regression, its held-out errors and whatever is learned from them see the mean of each
    row and its weight, and so do not ask whether it is a class. For folds all rows are alike.
    """

    row_weight: Array = field(kw_only=True)  # (n,)

    @property
    def weight(self) -> Array:
        """(n,)."""
        return self.row_weight

    @property
    def total(self) -> float:
        """N = sum of all weights."""
        return float(self.row_weight.sum())

    @property
    def n_classes(self) -> int:
        """One: there are none to tell apart."""
        return 1

    @property
    def majority(self) -> Array:
        """All rows alike, (n,)."""
        return np.zeros(self.n, dtype=int)

    def take(self, rows: Array) -> "ValueTargets":
        """The targets of some rows."""
        part = Targets(self.counts, self.groups).take(rows)
        return ValueTargets(part.counts, part.groups, row_weight=self.row_weight[rows])

    def standardized(self) -> "ValueTargets":
        """Every target of mean zero and variance one, so that each counts the same.

        One that does not vary is zero.
        """
        Y = self.Y - self.mean
        sd = np.sqrt(self.row_weight @ Y**2 / self.total)
        Y = np.divide(Y, sd, out=np.zeros_like(Y), where=sd > 0)
        return ValueTargets(self.row_weight[:, None] * Y, self.groups, row_weight=self.row_weight)
