"""scikit-learn's Pipeline, which takes sources of blocks and Dask collections too."""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, Self, TypeVar

from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline as RowPipeline
from sklearn.pipeline import make_pipeline as make_row_pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from kernel_learn.arrays import DataLike, PathLike
from kernel_learn.estimators.column_steps import StandIn, fit_means, learns_columns, needs_means
from kernel_learn.fitting.base import unchanged_if_it_fails
from kernel_learn.fitting.block_results import on_sources
from kernel_learn.representations.summary import CAPACITY
from kernel_learn.rows.access import is_plain, is_sparse
from kernel_learn.rows.block import Block
from kernel_learn.rows.frames import is_frame
from kernel_learn.rows.named_columns import take_named
from kernel_learn.streams.blocks import READ_ROWS, ArrayRows, NoRowsError, RowSource
from kernel_learn.streams.derived import mapped
from kernel_learn.streams.sources import as_source, is_collection
from kernel_learn.streams.splitting import check_rewinds

Method = TypeVar("Method", bound=Callable[..., Any])


def has_method(name: str) -> Callable[[Any], bool]:
    """Whether the last step has a method."""

    def check(self: Any) -> bool:
        if name != "transform" or not is_nothing(self._final_estimator):
            getattr(self._final_estimator, name)  # or its own AttributeError
        return True

    return check


class Pipeline(RowPipeline):
    """A thin subclass of scikit-learn's ``Pipeline`` whose steps learn from blocks of rows.

    On arrays and frames it is scikit-learn's, but for StandardScaler and means of SimpleImputer
    before an estimator with landmarks: their sums are exact, so that rows in memory, any blocks and
    any workers give the same to the bit. (Landmarks are chosen by a hash of the rows; one bit more
    would choose others.)

    On a source each transformer is fitted in one pass over the rows as the steps before it give
    them: ours by ``fit(source)``, those of scikit-learn by ``partial_fit``; what needs no fit takes
    no pass. RobustScaler, QuantileTransformer, SimpleImputer, OneHotEncoder and OrdinalEncoder
    learn from the values of each column and how often they come, and share a pass where they
    follow each other: exactly, but for quantiles of more than 20,000 rows, which are those of
    20,000 values of the column. The last step, an estimator of ours, then reads the transformed
    source as often as it needs to.

    Parameters
    ----------
    steps : list of (str, estimator)
        As in scikit-learn.
    transform_input : list of str, default=None
        As in scikit-learn; for rows in memory.
    memory : str or joblib.Memory, default=None
        As in scikit-learn; for rows in memory.
    verbose : bool, default=False
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernel_learn import KernelDiscriminant, make_pipeline
    >>> from kernel_learn.datasets import Blocks
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(200, 3)) * [1, 1, 1000], np.arange(200) % 2
    >>> source = Blocks([(X[i::10] + 2 * y[i::10, None], y[i::10]) for i in range(10)])
    >>> model = make_pipeline(StandardScaler(), KernelDiscriminant(landmarks=20, random_state=0))
    >>> round(model.fit(source).score(source), 2)
    0.9
    """

    steps: list[tuple[str, Any]]

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit the steps, one after the other; a source has its own labels and weights.

        Of a frame y may be the name of a column.
        """
        X, y = take_named({"X": X, "y": y}).values()
        source = as_source(X, y, params.get("sample_weight"))
        if source is None:
            return self._fit_rows("fit", X, y, params)
        with unchanged_if_it_fails(self):
            self._check_blocks(source, params)
            self.steps = list(self.steps)
            places = [place for place, _ in self._transformers()]
            fitted, source = fit_steps([self.steps[place][1] for place in places], source)
            for place, step in zip(places, fitted, strict=True):
                self.steps[place] = (self.steps[place][0], step)
            name, last = self.steps[-1]
            if not is_nothing(last):
                self.steps[-1] = (name, fit_step(clone(last), source))
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """``fit`` and ``transform`` of the same rows; of a source the transformed source."""
        X, y = take_named({"X": X, "y": y}).values()
        if as_source(X, y, params.get("sample_weight")) is None:
            return self._fit_rows("fit_transform", X, y, params)
        return self.fit(X, y, **params).transform(X)

    @available_if(has_method("transform"))
    def transform(self, X: DataLike, **params: Any) -> Any:
        """The transformed rows; of a source the transformed source."""
        source = None if is_collection(X) else as_source(X)
        if source is not None:
            return mapped(source, self)
        return self._of("transform", X, None, params)

    @available_if(has_method("predict"))
    def predict(self, X: DataLike, *, out: PathLike | None = None, **params: Any) -> Any:
        """Predictions; of a source an iterator of them, or the file ``out``."""
        return self._of("predict", X, out, params)

    @available_if(has_method("predict_proba"))
    def predict_proba(self, X: DataLike, *, out: PathLike | None = None, **params: Any) -> Any:
        """Probabilities; of a source an iterator of them, or the file ``out``."""
        return self._of("predict_proba", X, out, params)

    @available_if(has_method("decision_function"))
    def decision_function(self, X: DataLike, *, out: PathLike | None = None, **params: Any) -> Any:
        """Decision values; of a source an iterator of them, or the file ``out``."""
        return self._of("decision_function", X, out, params)

    @available_if(has_method("score"))
    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
        """The score of the last step; of a source by its own labels and weights."""
        X, y = take_named({"X": X, "y": y}).values()
        source = as_source(X, y, sample_weight)
        if source is None:
            return float(super().score(X, y, sample_weight, **params))
        for _, step in self._transformers():
            source = mapped(source, step)
        return float(self.steps[-1][1].score(source))

    def _of(self, method: str, X: DataLike, out: PathLike | None, params: dict[str, Any]) -> Any:
        own = getattr(RowPipeline, method)
        if out is None and as_source(X) is None:
            return own.__get__(self)(X, **params)

        def on_rows(self: Any, X: Any) -> Any:
            return own.__get__(self)(X, **params)

        on_rows.__name__ = method
        of_blocks: Callable[..., Any] = on_sources(on_rows)
        return of_blocks(self, X, out=out)

    def _fit_rows(self, method: str, X: Any, y: Any, params: dict[str, Any]) -> Any:
        """Of rows in memory as scikit-learn does it, but for means: those are of a source."""
        own: Any = getattr(RowPipeline, method).__get__(self)
        n = 0 if params or self.verbose else self._count_means(X)
        if not n:
            return own(X, y, **params)
        given = self.steps
        with unchanged_if_it_fails(self):
            first: list[tuple[str, Any]] = []
            for name, step in given[:n]:
                fitted = step if is_nothing(step) else fit_step(clone(step), ArrayRows(X))
                X = X if is_nothing(step) else fitted.transform(X)
                first.append((name, fitted))
            self.steps = list(given[n:])
            found = own(X, y)
            self.steps = [*first, *self.steps]
        return found

    def _count_means(self, X: Any) -> int:
        """How many of the first steps look at columns alone, the last of them at their means.

        It matters before an estimator that may choose landmarks, and is slower: none elsewhere.
        """
        simple = is_frame(X) or (is_plain(X) and X.ndim == 2)
        last = self.steps[-1][1]
        if not simple or not len(X) or self.memory is not None or not fits_sources(last):
            return 0
        if getattr(last, "landmarks", None) is None and len(X) <= CAPACITY:
            return 0
        steps = [step for _, step in self.steps[:-1]]
        known = [is_nothing(s) or learns_columns(s) or needs_means(s) for s in steps]
        head = steps[: known.index(False)] if False in known else steps
        return max((i + 1 for i, step in enumerate(head) if needs_means(step)), default=0)

    def _transformers(self) -> list[tuple[int, Any]]:
        steps = enumerate(step for _, step in self.steps[:-1])
        return [(place, step) for place, step in steps if not is_nothing(step)]

    def _check_blocks(self, source: RowSource, params: dict[str, Any]) -> None:
        given = sorted(set(params) - {"sample_weight"})
        if given:
            raise ValueError(
                f"{', '.join(given)} cannot be passed with a source, whose blocks are (X, y, "
                "weight). Set them on the steps."
            )
        if self.memory is not None or getattr(self, "transform_input", None):
            raise ValueError(
                "Pipeline(memory=, transform_input=) are for rows in memory, and X is a source of "
                "blocks. Leave them out."
            )
        if self._transformers():
            check_rewinds(source, "a pipeline")
        for _, step in self.steps:
            if not is_nothing(step) and not can_learn(step):
                raise ValueError(
                    f"{type(step).__name__} learns from all rows at once, and X is a source of "
                    "blocks. A step needs partial_fit, as StandardScaler has it, is one of "
                    "ours, such as TableEncoder, or looks at columns, as RobustScaler and "
                    "SimpleImputer do."
                )


def make_pipeline(*steps: Any, memory: Any = None, verbose: bool = False) -> Pipeline:
    """A :class:`Pipeline` of these steps, named as in scikit-learn.

    Parameters
    ----------
    *steps : estimators
        Transformers, and an estimator at the end.
    memory : str or joblib.Memory, default=None
        As in scikit-learn; for rows in memory.
    verbose : bool, default=False
        As in scikit-learn.
    """
    return Pipeline(make_row_pipeline(*steps).steps, memory=memory, verbose=verbose)


def is_nothing(step: Any) -> bool:
    """Whether a step does nothing."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def fits_sources(step: Any) -> bool:
    """Whether ``fit`` takes a source: one of ours that learns from streams, or an encoder."""
    return bool(getattr(step, "streams", False) or getattr(step, "fits_sources", False))


def can_learn(step: Any) -> bool:
    """Whether a step can be fitted to blocks."""
    by_blocks = fits_sources(step) or learns_columns(step) or hasattr(step, "partial_fit")
    return by_blocks or not get_tags(step).requires_fit


def fit_steps(steps: Iterable[Any], source: RowSource) -> tuple[list[Any], RowSource]:
    """Transformers fitted one after the other, and the source as they give it.

    Steps that follow each other and learn from the values of columns share a pass.
    """
    fitted: list[Any] = []
    columns: StandIn | None = None
    for step in map(clone, steps):
        if learns_columns(step):
            if columns is None or not columns.serves(step):
                columns = StandIn.of(source)
            columns = columns.fit(step)
        else:
            columns = None
            fit_step(step, source)
        fitted.append(step)
        source = mapped(source, step)
    return fitted, source


def fit_step(step: BaseEstimator, source: RowSource) -> BaseEstimator:
    """A step fitted to a source: by itself if it can, else block by block."""
    if fits_sources(step):
        return step.fit(source)
    blocks = (block for block in source.read(READ_ROWS) if block.n_rows)
    first = next(blocks, None)
    if first is None:
        raise NoRowsError
    if needs_means(step) and not is_sparse(first.X):
        return fit_means(step, source, chain([first], blocks))
    if learns_columns(step):
        StandIn.of(source).fit(step)
        return step
    if not hasattr(step, "partial_fit"):
        return step.fit(first.X)  # which needs none, and looks at the columns
    weighs = has_fit_parameter(step, "sample_weight")
    for block in chain([first], blocks):
        _learn_block(step, block, weighs)
    return step


def _learn_block(step: Any, block: Block, weighs: bool) -> None:
    weight = {"sample_weight": block.weight} if weighs and block.weight is not None else {}
    step.partial_fit(block.X, **weight)
