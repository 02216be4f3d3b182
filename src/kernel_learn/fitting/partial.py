"""``partial_fit``: a model that grows with its rows, and is solved when it is first used."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from kernel_learn.fitting.base import is_fitted_name, unchanged_if_it_fails
from kernel_learn.fitting.drift import faded_weights, measure_drift
from kernel_learn.fitting.kernel_rows import KernelRows
from kernel_learn.fitting.parameters import NONE, POSITIVE, check_parameters
from kernel_learn.fitting.stream_training import (
    block_target,
    check_stream,
    start_features,
    training_of,
)
from kernel_learn.fitting.training import Training, stream_kernels
from kernel_learn.fitting.variance import warn_of_scales
from kernel_learn.representations.block import CheckedBlock, rebatch
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.state import StreamState, sum_states
from kernel_learn.representations.subtraction import subtract_state
from kernel_learn.rows.access import n_rows
from kernel_learn.rows.named_columns import take_named
from kernel_learn.streams.blocks import READ_ROWS, ArrayRows
from kernel_learn.streams.checked_blocks import UNTOLD, CheckedBlocks, Target
from kernel_learn.streams.progress import CallbackSupport
from kernel_learn.streams.sources import as_source

# What a model of growing rows keeps from one call to the next.
LASTING = ("state_", "drift_", "n_features_in_", "feature_names_in_")
# What a solution has beside fitted attributes; some of it holds training rows.
SOLVED = (
    "_n_features_out",
    "_calibration",
    "_held_out_error",
    "_log_odds",
    "_neighbor",
    "_ridge_rows",
    "_landmark_rows",
)


def is_solved_name(name: str) -> bool:
    """Whether an attribute is part of a solution, which goes when rows come or go."""
    return (is_fitted_name(name) and name not in LASTING) or name in SOLVED


def _can_grow(estimator: Any) -> bool:
    """Whether rows may come one after the other: not with a precomputed kernel, for example."""
    if estimator._input_kind() == "matrix":
        return False
    try:
        check_stream(estimator, rewinds=False)
    except ValueError as error:
        raise AttributeError(str(error)) from error
    return True


class PartialFit(CallbackSupport):
    """A mixin for estimators that learn from moments: ``_fit(data)``.

    Fitted by ``partial_fit``: ``state_``, a value. ``a.state_ + b.state_`` is that of the
    rows of both, and ``fit(state)`` gives its model.
    """

    streams = True
    learns_values = False

    @available_if(_can_grow)
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        decay: float | None = None,
    ) -> Self:
        """Add rows to the model, which is solved when it is next used.

        The rows of the first call (after ``fit`` it begins anew) give the landmarks, and the
        widths of kernels where these are rules; after that any order and size of blocks gives
        the same model. It is always one of landmarks.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or strings of shape (n_samples, ...)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            The labels that may come: others are refused. None: labels are taken as they
            come. ``classes_`` are those that have come so far.
        sample_weight : array-like of shape (n_samples,), default=None
        decay : float, default=None
            Half-life in rows: after so many more a row counts half as much, whatever the blocks.
            None: rows are never forgotten. The landmarks stay those of the first call.

        Returns
        -------
        self
            With ``drift_``, a dict: the mean ``discrepancy`` of these rows from those before them
            in the features, and its ``p_value``, small where they are others; None at first.
        """
        X, y, sample_weight = take_named({"X": X, "y": y, "sample_weight": sample_weight}).values()
        with unchanged_if_it_fails(self):
            self._add_rows(X, y, classes, sample_weight, decay)
        return self

    @available_if(_can_grow)
    def partial_forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows out of the model again, exactly: the inverse of ``partial_fit``.

        What is left is the model of the other rows, in whatever order rows came and went: its
        moments, counts and digest are theirs, and its pool where all rows were in it. Rows that
        were never in the model with this label and weight are refused, and so are a landmark, and
        any row of a model with ``decay``. Two things it cannot tell: whether a row beyond its pool
        (20,000 distinct rows, fewer of wide ones) was ever there, and, until the last of several
        equal rows goes, which label or value, and which weight, was whose. A state of before rows
        were counted knows weights and values by their sums alone.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or strings of shape (n_samples, ...)
            Rows as they were given to ``partial_fit``.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        X, y, sample_weight = take_named({"X": X, "y": y, "sample_weight": sample_weight}).values()
        with unchanged_if_it_fails(self):
            state: StreamState | None = self.__dict__.get("state_")
            if state is None or state.features is None:
                raise ValueError(
                    f"This {type(self).__name__} has no rows of partial_fit, which are those that "
                    "partial_forget takes out again."
                )
            blocks = self._read_rows(X, y, None, sample_weight, state)
            self._drop_solution(state)
            part = sum_states(blocks, None, state.features)
            self.state_ = subtract_state(state, part, is_set=self._state_is_set())
        return self

    def _add_rows(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, decay: float | None
    ) -> None:
        state: StreamState | None = self.__dict__.get("state_")
        self._drop_solution(state)
        check_parameters(self)
        (NONE | POSITIVE).check("decay", decay, self)
        blocks = self._read_rows(X, y, classes, sample_weight, state, decay)
        kernels, names, _ = stream_kernels(self)
        features: FeatureMap | None
        if state is None:
            first = sum_states(blocks, None)
            warn_of_scales(self, kernels, PooledSource(first))  # type: ignore[arg-type]
            features = start_features(self, kernels, names, first)
        else:
            features = state.features
        added = sum_states(blocks, None, features)
        self.drift_ = None if state is None else measure_drift(state, added)
        if state is not None:
            kept = 1.0 if decay is None else 0.5 ** (n_rows(X) / decay)
            added = state.faded(kept) + added
        state = added if decay is None else added.with_effective_rows()
        if classes is not None and state.classes is not None:
            strange = np.setdiff1d(state.classes, np.asarray(classes))
            if len(strange):
                raise ValueError(
                    f"The label {strange.tolist()[0]!r} is not among the classes given."
                )
        self.state_ = state

    def _drop_solution(self, state: StreamState | None) -> None:
        """What was solved of other rows goes; without a state everything that was fitted."""
        for name in list(self.__dict__):
            if is_solved_name(name) or (state is None and is_fitted_name(name)):
                delattr(self, name)

    def _read_rows(
        self,
        X: Any,
        y: Any,
        classes: Any,
        sample_weight: Any,
        state: StreamState | None,
        decay: float | None = None,
    ) -> list[CheckedBlock]:
        """Rows of one call, checked."""
        if as_source(X) is not None:
            raise TypeError(
                "X is a source of blocks, and partial_fit adds the rows and labels of one: "
                "fit(source) reads all of them."
            )
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        kernel = stream_kernels(self)[2]
        reader = KernelRows(self, kernel, reset=state is None)  # type: ignore[arg-type]
        source = ArrayRows(X, y, sample_weight)
        if decay is not None:
            source.weight = faded_weights(source.weight, int(source.X.shape[0]), decay)
        checked = CheckedBlocks(reader, source, self._block_target(state, classes))
        blocks = list(rebatch(checked.read(READ_ROWS), READ_ROWS))
        if not blocks:
            raise ValueError("There are no rows of positive weight.")
        self._single, self._is_set = checked.single, checked.is_set
        return blocks

    def _block_target(self, state: StreamState | None, classes: Any) -> Target:
        """What the targets of the next rows are: those of the first rows, once there were some."""
        wanted = block_target(self)  # type: ignore[arg-type]
        if wanted not in UNTOLD or (state is None and classes is None):
            return wanted
        if state is None or state.classes is not None:
            return "labels"
        return "sets" if self._is_set else "values"

    def _state_training(self, state: StreamState) -> Training:
        """What ``_fit`` learns from, of a state with moments."""
        if state.features is None or state.moments is None or state.summary is None:
            raise ValueError("This state has no moments: it is not one of partial_fit.")
        _, names, _ = stream_kernels(self)
        kernels = state.features.kernels
        if len(kernels) != len(names or [""]):
            raise ValueError(
                f"The state has {len(kernels)} kernels, and this {type(self).__name__} has "
                f"{len(names or [''])}."
            )
        pool = PooledSource(state, rewinds=False, is_open=True)
        chosen = self._plan_stream(kernels, pool)  # type: ignore[attr-defined]
        chosen = replace(chosen, n_landmarks=max(state.features.sizes))
        source = PooledSource(state, chosen, rewinds=False)
        single = self.__dict__.get("_single", True)
        return training_of(kernels, names, source, state.classes, single, self._state_is_set())

    def _state_is_set(self) -> bool:
        """Whether the values of a state are sets of labels: as read, or as ``target_type`` says."""
        told: bool = self.__dict__.get("_is_set", False)
        return told or getattr(self, "target_type", None) == "labels"

    def __getattr__(self, name: str) -> Any:
        """What is solved of a model that has grown since: solve it."""
        own = self.__dict__
        if is_solved_name(name) and "state_" in own and "kernel_" not in own:
            with unchanged_if_it_fails(self):
                check_parameters(self)
                self._fit(self._state_training(own["state_"]))  # type: ignore[attr-defined]
        return object.__getattribute__(self, name)  # or what it says of an attribute not there
