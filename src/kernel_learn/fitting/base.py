"""What all estimators of a learned subspace share."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from inspect import signature
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import (
    Array,
    DataLike,
    LabelsLike,
    MemoryBudget,
    PathLike,
    Rows,
    Seed,
    WeightsLike,
)
from kernel_learn.fitting.block_results import on_sources
from kernel_learn.fitting.pages import OwnPage
from kernel_learn.fitting.parameters import check_parameters
from kernel_learn.fitting.row_validation import validate_rows
from kernel_learn.fitting.state import PlainState
from kernel_learn.fitting.stream_training import read_training
from kernel_learn.fitting.training import (
    AnyTraining,
    Training,
    TrainingLike,
    validate_targets,
)
from kernel_learn.fitting.variance import check_distinct, check_variance, warn_of_scales
from kernel_learn.kernels.bank import common_input
from kernel_learn.kernels.base import InputKind, Kernel, KernelsLike
from kernel_learn.kernels.covariance import Bounds, CovarianceFunction
from kernel_learn.kernels.nested import nested_parameters, with_parameters
from kernel_learn.kernels.resolve import as_kernel, is_bank, named_kernels
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.representations.base import Combined, Representation
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.plan import Needs, Plan
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.represent import build_features, plan_source, represent
from kernel_learn.representations.sources import ArraySource
from kernel_learn.representations.state import StreamState
from kernel_learn.rows.named_columns import take_named, without_named
from kernel_learn.solvers.result import Result
from kernel_learn.streams.blocks import ArrayRows
from kernel_learn.streams.progress import with_callbacks
from kernel_learn.streams.row_source import source_names
from kernel_learn.streams.sources import as_source
from kernel_learn.threads import one_thread_if_small
from kernel_learn.warn import warn_user

Fit = TypeVar("Fit", bound=Callable[..., Any])


@contextmanager
def unchanged_if_it_fails(estimator: BaseEstimator) -> Iterator[None]:
    """Whatever is raised inside, the estimator is then as it was before."""
    own = estimator.__dict__
    before = dict(own)
    try:
        yield
    except BaseException:
        own.clear()
        own.update(before)
        raise


def is_fitted_name(name: str) -> bool:
    """``classes_``, but not ``_classes_``."""
    return name.endswith("_") and not name.startswith("_")


def all_or_nothing(fit: Fit) -> Fit:
    """A ``fit`` that checks parameters first and leaves the estimator as it was if it fails.

    What an earlier fit learned is gone once a new one succeeds: nothing of two
    fits is ever mixed. Labels, weights and groups may be names of columns of X.
    """
    arguments = list(signature(fit).parameters)[1:]

    @wraps(fit)
    def fit_or_restore(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_parameters(self)
        if "groups" in kwargs and "groups" not in arguments:
            raise TypeError(
                f"{type(self).__name__}.fit takes no groups: what it leaves out are rows. The "
                "classifiers, KernelRegressor and KernelPLSRegressor leave whole groups out."
            )
        if len(args) <= len(arguments):  # else Python has its sentence
            given = take_named({**dict(zip(arguments, args, strict=False)), **kwargs})
            args = tuple(given[name] for name in arguments[: len(args)])
            kwargs = {name: given[name] for name in kwargs}
        rows = args[0] if args else kwargs.get("X")
        try:
            with unchanged_if_it_fails(self), one_thread_if_small(rows):
                for name in list(self.__dict__):
                    if is_fitted_name(name):
                        delattr(self, name)
                return fit(self, *args, **kwargs)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                f"{type(self).__name__}: the kernel matrix is numerically singular ({error}). "
                "Centre and scale the columns of X, with StandardScaler say, or raise the "
                "regularisation."
            ) from error

    return fit_or_restore  # type: ignore[return-value]


class FitsAndTransforms(TransformerMixin):
    """``fit_transform`` where labels, weights or groups are columns of X: features of the rest."""

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """``fit`` and ``transform`` of the same rows."""
        rows = without_named({"X": X, "y": y, **fit_params})
        return self.fit(X, y, **fit_params).transform(rows)


class HasKernel(Protocol):
    """An estimator that has learned a kernel."""

    @property
    def kernel_(self) -> Kernel: ...


class Convertible:
    """The ways from an estimator to other tools: Gaussian processes of scikit-learn, and ONNX."""

    def as_gp_kernel(self: HasKernel, parameter_bounds: Bounds = (1e-5, 1e5)) -> CovarianceFunction:
        """The learned kernel for ``GaussianProcessRegressor``: ``kernel_.as_gp_kernel()``.

        Parameters
        ----------
        parameter_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
            Between which values each of ``kernel_.log_parameters`` is sought there.
        """
        check_is_fitted(self)
        return self.kernel_.as_gp_kernel(parameter_bounds)

    def onnx_parser(self) -> Any:
        """Asked by skl2onnx of an estimator that it does not know: our converters register then.

        By name, since converters know estimators, and nothing here knows converters.
        """
        return import_module("kernel_learn.interop.onnx").introduce(self)


class KernelEstimator(Convertible, OwnPage, PlainState, BaseEstimator):
    """An estimator with a parameter ``kernel``."""

    kernel: KernelsLike
    landmarks: LandmarksLike
    memory_budget: MemoryBudget
    random_state: Seed
    stream_needs = Needs()

    @contextmanager
    def _training(
        self,
        X: TrainingLike,
        y: LabelsLike | None,
        sample_weight: WeightsLike = None,
        *,
        groups: ArrayLike | None = None,
        checkpoint: PathLike | None = None,
    ) -> Iterator[Any]:
        """Checked training data: of arrays, of a source, or of the state of one.

        What fits from arrays needs them all; what comes in blocks may be more than
        memory holds. A checkpoint is given up when the fit is done.
        """
        source = as_source(X, y, sample_weight)
        if groups is not None and not (source is None and checkpoint is None):
            raise ValueError(
                "X comes in blocks, or goes to a checkpoint in blocks, which have no groups: pass "
                "the rows at once, and no checkpoint."
            )
        if isinstance(X, StreamState):
            yield self._state_training(X)
        elif source is None and checkpoint is None:
            checked = validate_targets(self, X, y, sample_weight, groups)
            check_distinct(checked.source)
            warn_of_scales(self, checked.kernels, checked.source)
            yield checked
        else:
            source = ArrayRows(X, y, sample_weight) if source is None else source
            with read_training(self, source, checkpoint=checkpoint) as data:
                check_distinct(data.source)
                warn_of_scales(self, data.kernels, data.source, source_names(source))
                yield data

    def _rows(
        self,
        X: TrainingLike,
        y: LabelsLike | None,
        sample_weight: WeightsLike = None,
        groups: ArrayLike | None = None,
    ) -> Any:
        """Checked training data for a fit that keeps all rows; a source may have as many."""
        with self._training(X, y, sample_weight, groups=groups) as data:
            return data

    def _settle(self, data: AnyTraining) -> AnyTraining:
        """With every rule of the kernels replaced by its value, before features are made."""
        return data.resolved()

    def _plan_stream(self, kernels: list[Kernel], pool: PooledSource) -> Plan:
        """The plan for a stream of which the summary is known."""
        return plan_source(kernels, pool, self.landmarks, self.memory_budget, self.stream_needs)

    def _stream_features(self, data: Training, chosen: Plan) -> FeatureMap:
        """The feature map of a stream, of kernels without rules, from its summary."""
        data = self._settle(data)
        return build_features(data.kernels, data.source, chosen, self.landmarks, self.random_state)

    def _state_training(self, state: StreamState) -> Training:
        raise ValueError(
            f"{type(self).__name__} learns from rows, and the state of a stream has none."
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; ``deep``: those of kernels too, ``kernel__view__gamma`` of a bank.

        ``kernel="gaussian"`` has the parameters of ``Gaussian()``.
        """
        params = super().get_params(deep=deep)
        nested = nested_parameters(self.kernel) if deep else {}
        return {f"kernel__{name}": value for name, value in nested.items()} | params

    def set_params(self, **params: object) -> Self:
        """Set parameters by name; one of a kernel makes a new kernel, the one given stays as it is.

        Returns
        -------
        self
        """
        inside = {key: params.pop(key) for key in list(params) if key.startswith("kernel__")}
        super().set_params(**params)
        if inside:
            changes = {key.removeprefix("kernel__"): value for key, value in inside.items()}
            self.kernel = with_parameters(self.kernel, changes)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kind = self._input_kind()
        tags.input_tags.pairwise = kind == "matrix"
        tags.input_tags.sparse = kind in ("vectors", "columns")
        tags.input_tags.string = kind == "strings"
        tags.target_tags.required = True
        return tags

    def _input_kind(self) -> InputKind:
        if is_bank(self.kernel) and len(self.kernel):
            return common_input([as_kernel(kernel) for kernel in named_kernels(self.kernel)[1]])
        return "vectors" if is_bank(self.kernel) else as_kernel(self.kernel).input


class SubspaceTransformer(ClassNamePrefixFeaturesOutMixin, FitsAndTransforms, KernelEstimator):
    """A transformer whose features are those of its fitted ``kernel_``."""

    n_components: int | None
    landmarks: LandmarksLike
    memory_budget: MemoryBudget
    random_state: Seed

    @on_sources
    def transform(self, X: DataLike) -> Array:
        """The learned features of each row.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or strings of shape (n_samples, ...)
            Rows as at fit; for a precomputed kernel K(X, X_train). Or a source of blocks.
        out : path, default=None
            A .npy file that the features are written to, block by block.

        Returns
        -------
        features : ndarray of shape (n_samples, n_components)
            Of a source an iterator of them, one for each block; of a Dask collection a Dask
            array; the path with ``out``.
        """
        return self._features(X)

    def _features(self, X: Rows) -> Array:
        """``transform`` without the output container that ``set_output`` asks for."""
        check_is_fitted(self)
        return self.kernel_.transform(validate_rows(self, self.base_kernel_, X, reset=False))

    def _represent(
        self,
        data: AnyTraining,
        source: ArraySource
        | PooledSource
        | None = None,  # the rows with other targets than the labels
        *,
        needs: Needs | None = None,
        merge: bool = True,
        is_exact: bool = False,  # whatever the number of rows
        **options: Any,
    ) -> tuple[AnyTraining, Representation]:
        """The sample in the form that the plan chooses, under kernels without rules.

        Sets ``plan_``; refuses what does not fit before anything is evaluated.
        """
        source = data.source if source is None else source
        landmarks = "all" if is_exact else self.landmarks
        self.plan_ = getattr(source, "plan", None) or plan_source(
            data.kernels, source, landmarks, self.memory_budget, needs, merge=merge
        )
        data = data.resolved()
        form = represent(
            data.kernels,
            source,
            self.plan_,
            landmarks,
            merge=merge,
            random_state=self.random_state,
            **options,
        )
        return data, form

    def _combine(self, form: Representation, theta: Array | None = None) -> Combined:
        """The sample under one kernel; sets ``base_kernel_`` and ``landmark_residual_``."""
        sample = form.at(np.ones(form.p) if theta is None else theta)
        form.release()
        self.base_kernel_ = sample.kernel
        self.landmark_residual_ = sample.residual
        check_variance(sample, getattr(self, "n_features_in_", None))
        return sample

    def _warn_if_fewer(self) -> None:
        """Say that there are fewer features than the user asked for; called by ``fit``."""
        wanted: int | None = self.n_components
        if wanted is not None and self.n_components_ < wanted:
            found = self.n_components_
            warn_user(
                f"n_components={wanted} features were asked for, and the targets and the kernel "
                f"determine {found}; transform gives {found} columns.",
            )

    def _store_result(self, result: Result) -> None:
        self.objective_ = result.value
        self.grad_norm_ = result.grad_norm
        self.n_iter_ = result.n_iter
        self.history_ = result.history

    def _store_kernel(self, kernel: SubspaceKernel) -> None:
        self.kernel_ = kernel
        self.n_components_ = self._n_features_out = kernel.coef.shape[1]


class StreamedSubspace(SubspaceTransformer):
    """A transformer that learns, by ``_fit``, from rows, from a source of blocks, or a state."""

    learns_values = False  # and nothing else

    @all_or_nothing
    @with_callbacks
    def fit(
        self,
        X: TrainingLike,
        y: LabelsLike | None = None,
        sample_weight: WeightsLike = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> Self:
        """Learn from the rows.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, strings, or a source of blocks
            Rows, (n_samples, ...). A source has its own labels and weights, and may have
            more rows than memory holds: see :mod:`kernel_learn.datasets`. Or a Dask array or
            data frame, which stays with its workers.
        y : array-like of shape (n_samples,), for a regression also (n_samples, n_targets)
            Class labels, or values for a regression; None for a source; for a data frame the
            name of a column, too.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two rows.
        checkpoint : path, default=None
            A folder that holds how far the fit has come: if it is ended before its time, the
            same call goes on from there.

        Returns
        -------
        self
        """
        with self._training(X, y, sample_weight, checkpoint=checkpoint) as data:
            return self._fit(data)

    @abstractmethod
    def _fit(self, data: Any) -> Self:
        """Learn from checked rows, labelled or with values; sets what is fitted."""


class GroupedSubspace(StreamedSubspace):
    """The same with ``groups`` at fit, whose rows are left out together."""

    @all_or_nothing
    @with_callbacks
    def fit(
        self,
        X: TrainingLike,
        y: LabelsLike | None = None,
        sample_weight: WeightsLike = None,
        groups: ArrayLike | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> Self:
        """Learn from the rows.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, strings, or a source of blocks
            Rows, (n_samples, ...). A source has its own labels and weights, and may have
            more rows than memory holds: see :mod:`kernel_learn.datasets`. Or a Dask array or
            data frame, which stays with its workers.
        y : array-like of shape (n_samples,), for a regression also (n_samples, n_targets)
            Class labels, or values for a regression; None for a source; for a data frame the
            name of a column, too.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two rows.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group (of one patient, say) are left out together: what is said of
            held-out rows, and the coverage of sets or intervals, is then that for a row of a new
            group. Of rows in memory.
        checkpoint : path, default=None
            A folder that holds how far the fit has come: if it is ended before its time, the
            same call goes on from there.

        Returns
        -------
        self
        """
        with self._training(X, y, sample_weight, groups=groups, checkpoint=checkpoint) as data:
            return self._fit(data)
