"""Models as ONNX files, for programs that have neither Python nor this library."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernel_learn._version import __version__
from kernel_learn.arrays import PathLike, Rows, RowsLike
from kernel_learn.atomic_write import check_folder, write_whole
from kernel_learn.fitting.row_validation import as_views, side_by_side
from kernel_learn.interop.onnx.converters import (
    EXPORTED,
    Parsers,
    check_rows,
    declare_outputs,
    import_skl2onnx,
    output_names,
    register,
)
from kernel_learn.interop.onnx.graph import Scope, Variable
from kernel_learn.interop.onnx.kernels import OnnxExportError
from kernel_learn.interop.onnx.set_metadata import set_metadata
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.frames import as_pandas, is_frame
from kernel_learn.rows.table import column_names
from kernel_learn.warn import warn_user

InputTypes = list[tuple[str, object]]  # names, and the types of skl2onnx


def export_onnx(model: BaseEstimator, path: PathLike, X: RowsLike | None = None) -> None:
    """Write a fitted model as an ONNX file.

    Estimators of this library give all they can say, by name: ``label``,
    ``probabilities``, ``decision``, ``features``, ``prediction``. The number
    of rows is free. Inside all is computed in double precision. Thresholds for
    sets of classes (``predict_set``) are in the metadata, ``kernel_learn.sets``. Steps of
    skrub before the model (text, dates) have no form in ONNX: the file then
    starts after them, and a warning says so.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library, or a Pipeline with steps of
        scikit-learn that skl2onnx knows. ``skl2onnx.to_onnx`` takes them too.
    path : str or path
        Where to write.
    X : array or data frame, optional
        A few rows, which say what the file takes: float32 or float64 in one
        input ``X``, or for a frame one input for each column, by its name.
        Needed for a model fitted on a frame; else float64 by default. A name
        that ONNX does not allow, or that an output has, is changed; the order
        stays.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import kernel_learn as kl
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> X = scale(X)
    >>> model = kl.KernelDiscriminant().fit(X, y)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "wine.onnx"
    >>> kl.export_onnx(model, path)
    >>> import onnxruntime
    >>> label, probabilities, decision, features = onnxruntime.InferenceSession(path).run(
    ...     None, {"X": X}
    ... )
    >>> print((label != model.predict(X)).sum(), "of", len(X), "differ")
    0 of 178 differ
    """
    path = Path(path)
    skl2onnx = import_skl2onnx()
    register()
    if not isinstance(model, BaseEstimator) or isinstance(model, type):
        raise OnnxExportError(f"export_onnx takes fitted estimators, not {type(model).__name__}.")
    check_is_fitted(model)
    check_folder(path)
    left, model, X = _after_encoders(model, X)
    for step in _steps(model):
        if type(step) in EXPORTED:
            check_rows(step)
    parsers, options = _parsers(model), _options(model)
    try:
        found = skl2onnx.convert_sklearn(
            model,
            name=type(model).__name__,
            initial_types=_input_types(model, X, by_name=not left),
            doc_string=_doc(left),
            custom_parsers=parsers,
            options=options,
        )
    except OnnxExportError:
        raise
    except Exception as error:
        raise OnnxExportError(f"skl2onnx cannot convert {type(model).__name__}: {error}") from error
    found.producer_name, found.producer_version = "kernel-learn", __version__
    for key, value in set_metadata(list(_steps(model))[-1]).items():
        found.metadata_props.add(key=key, value=value)
    write_whole(path, found.SerializeToString(), private=True)
    if left:
        warn_user(f"{path.name}: {_doc(left)}")


def _steps(model: BaseEstimator) -> Iterator[BaseEstimator]:
    """The model, or the steps of a pipeline, nested ones too."""
    if not isinstance(model, Pipeline):
        yield model
        return
    for _, step in model.steps:
        yield from _steps(step)


def _is_encoder(step: BaseEstimator) -> bool:
    return type(step).__module__.split(".")[0] == "skrub"


def _after_encoders(model: BaseEstimator, X: Rows) -> tuple[list[str], BaseEstimator, Rows]:
    """The names of skrub's steps at the start, the rest of the pipeline, and X after them."""
    if not isinstance(model, Pipeline):
        return [], model, X
    count = 0
    while count < len(model.steps) and _is_encoder(model.steps[count][1]):
        count += 1
    if not count:
        return [], model, X
    names = [type(step).__name__ for _, step in model.steps[:count]]
    if count == len(model.steps):
        raise OnnxExportError(f"{', '.join(names)} of skrub have no form in ONNX.")
    # what an encoder gives is a frame of numbers in a known order: one input of all of them
    after = None if X is None else np.asarray(model[:count].transform(X), dtype=np.float64)
    rest = model[count:]
    return names, rest.steps[0][1] if len(rest.steps) == 1 else rest, after


def _doc(left: list[str]) -> str:
    if not left:
        return "Written by kernel-learn."
    names = ", ".join(left)
    return (
        f"the ONNX file starts after {names}, which has no form in ONNX. Feed it what "
        f"{names} gives: pipeline[:{len(left)}].transform(X), as one array of float64."
    )


def _input_types(model: BaseEstimator, X: Rows, *, by_name: bool) -> InputTypes:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    first = next(_steps(model))
    if X is None:
        if by_name and hasattr(first, "feature_names_in_"):
            raise OnnxExportError(
                f"{type(model).__name__} was fitted on a data frame: pass a few of its rows as X, "
                "so that the file has an input for each column."
            )
        return [("X", DoubleTensorType([None, int(first.n_features_in_)]))]
    if is_frame(X):
        X = as_pandas(X)
        if all(isinstance(name, str) for name in X.columns):
            _check_columns(first, X)
            return _column_types(X.iloc[:1])
    views = as_views(X)
    X = X if views is None else side_by_side(views)[0]
    X = X[:1].toarray() if is_sparse(X) else np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise OnnxExportError(f"X of shape {X.shape} and type {X.dtype} are not rows of numbers.")
    _check_columns(first, X)
    single = X.dtype == np.float32
    return [("X", (FloatTensorType if single else DoubleTensorType)([None, X.shape[1]]))]


def _check_columns(first: BaseEstimator, X: Rows) -> None:
    """Refuse other columns than those of fit: a graph knows columns by their places alone."""
    known = list(getattr(first, "feature_names_in_", [])) if is_frame(X) else []
    if known and known != column_names(X):
        raise OnnxExportError(
            f"X has the columns {_few(column_names(X))}, and {type(first).__name__} was fitted on "
            f"{_few(known)}: pass these, in this order."
        )
    width = getattr(first, "n_features_in_", X.shape[1])
    if width != X.shape[1]:
        raise OnnxExportError(
            f"X has {X.shape[1]} columns, and {type(first).__name__} was fitted on {width}."
        )


def _few(names: list[str]) -> str:
    return ", ".join(names[:10]) + ", ..." * (len(names) > 10)


def _column_types(X: Rows) -> InputTypes:
    """One input for each column: double where cells may be missing, texts for categories."""
    from skl2onnx.common.data_types import guess_data_type

    plain: dict[str, type] = {}
    for name, kind in X.dtypes.items():
        if hasattr(kind, "numpy_dtype") and kind.numpy_dtype.kind in "fiub":
            plain[name] = np.float64
        elif kind == "category":
            plain[name] = str
    return guess_data_type(X.astype(plain))


def _options(model: BaseEstimator) -> dict[int, dict[str, bool]]:
    """Probabilities as an array, not as a list of dicts."""
    last = list(_steps(model))[-1]
    return {id(last): {"zipmap": False}} if is_classifier(last) else {}


def _parsers(model: BaseEstimator) -> Parsers:
    """For our estimators: all outputs of the last step, features of those before it."""
    steps = list(_steps(model))
    last = steps[-1]

    def parse(
        scope: Scope,
        step: BaseEstimator,
        inputs: list[Variable],
        custom_parsers: Parsers | None = None,
    ) -> list[Variable]:
        names = output_names(step) if step is last else ["features"]
        return declare_outputs(scope, step, inputs, names)

    return {type(step): parse for step in steps if type(step) in EXPORTED}
