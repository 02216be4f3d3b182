"""Rows of blocks as kernels take them, checked against those of the first block or of fit."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Rows
from kernel_learn.fitting.row_validation import validate_rows
from kernel_learn.kernels.base import Kernel
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.block import Given
from kernel_learn.rows.table import Table
from kernel_learn.streams.checked_blocks import bad_row


@dataclass
class KernelRows:
    """The reader of rows for the kernel of an estimator, see ``RowReader``."""

    estimator: BaseEstimator
    kernel: Kernel
    reset: bool = True  # the first block says what rows look like; else fit has said so

    def read(self, X: Given) -> Rows:
        rows = validate_rows(self.estimator, self.kernel, X, reset=self.reset, least=1)
        self.reset = False
        return rows

    def keys(self, rows: Rows) -> None:
        return None

    def bad_row(self, X: Given) -> int | None:
        return bad_row(X)

    def kind(self, rows: Rows) -> str:
        if isinstance(rows, Table):
            numbers = int(np.count_nonzero(rows.place >= 0))
            where = "".join("n" if p >= 0 else "o" for p in rows.place)
            return f"{rows.shape[1]} columns, {numbers} of them {rows.dtype} numbers ({where})"
        if is_sparse(rows):
            return f"sparse {rows.dtype}"
        kind = np.asarray(rows).dtype
        return "texts" if kind.kind in "OUS" else f"dense {kind}"

    def detached(self) -> "KernelRows":
        own = type(self.estimator)(**self.estimator.get_params(deep=False))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator, name):
                setattr(own, name, getattr(self.estimator, name))
        return KernelRows(own, self.kernel, self.reset)
