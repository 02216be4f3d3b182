"""What fitted estimators say of rows, as ONNX: converters in the registry of skl2onnx.

skl2onnx is slow to import, so nothing is registered when this library is
imported. It asks an estimator that it does not know for ``onnx_parser``: then
our converters are registered, and the estimator is looked at again. So
``skl2onnx.to_onnx(pipeline, X)`` works without a word more.
"""

from collections.abc import Callable
from functools import cache
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier

import kernel_learn.estimators as estimators
from kernel_learn.arrays import Array
from kernel_learn.ensemble.estimator import EnsembleEstimator
from kernel_learn.estimators.feature_scales import FeatureScales
from kernel_learn.estimators.inductive import InductiveKernel
from kernel_learn.estimators.kernel_classifier import KernelClassifier
from kernel_learn.estimators.kernel_regressor import KernelRegressor
from kernel_learn.estimators.pairs import PairClassifier
from kernel_learn.estimators.pls import KernelPLS, KernelPLSRegressor
from kernel_learn.fitting.predictions import MachineClassifier
from kernel_learn.interop.onnx.fading import faded_proba
from kernel_learn.interop.onnx.graph import Container, Graph, Operator, Scope, Value, Variable
from kernel_learn.interop.onnx.kernels import (
    OnnxExportError,
    feature_values,
    kernel_values,
    pairs,
    scaled_columns,
)
from kernel_learn.interop.onnx.tables import (
    classifier_faded,
    classifier_logits,
    ensemble_features,
    label_faded,
    label_odds,
    regressor_values,
)

EXPORTED: tuple[type, ...] = tuple(
    found
    for name in estimators.__all__
    if isinstance(found := getattr(estimators, name), type) and hasattr(found, "fit")
)
Parsers = dict[type, Callable[..., list[Variable]]]  # of estimators, as skl2onnx takes them
ALIAS = "KernelLearn{}"
# Options that skl2onnx has for classifiers; zipmap: probabilities as a list of dicts; nocl: the
# numbers of the classes in place of their labels.
CLASSIFIER_OPTIONS = {
    "nocl": [True, False],
    "zipmap": [True, False, "columns"],
    "output_class_labels": [False, True],
    "raw_scores": [True, False],
}


def import_skl2onnx() -> ModuleType:
    """skl2onnx, or an error that names the extra."""
    try:
        import onnx  # noqa: F401
        import skl2onnx
    except ImportError as error:
        raise ImportError(
            'kernel_learn.export_onnx needs skl2onnx and onnx: pip install "kernel-learn[onnx]".'
        ) from error
    return skl2onnx


@cache
def register() -> None:
    """Make all estimators of this library known to skl2onnx; again is no harm."""
    skl2onnx = import_skl2onnx()
    for estimator in EXPORTED:
        alias = ALIAS.format(estimator.__name__)
        more = (
            {"options": CLASSIFIER_OPTIONS, "parser": parse_classifier}
            if is_classifier(estimator())
            else {}
        )
        skl2onnx.update_registered_converter(estimator, alias, set_output_types, convert, **more)


def parse_classifier(
    scope: Scope,
    model: BaseEstimator,
    inputs: list[Variable],
    custom_parsers: Parsers | None = None,
) -> list[Variable]:
    """As skl2onnx parses classifiers; of double rows probabilities are an array.

    A list of dicts (zipmap) holds single precision alone, and no runtime reads the file else.
    """
    from skl2onnx._parse import _parse_sklearn_classifier, _parse_sklearn_simple_model

    if predicts_values(model):
        return declare_outputs(scope, model, inputs, ["prediction"])
    zipmap = scope.get_options(model, {"zipmap": True}, fail=False)["zipmap"]
    as_array = zipmap is True and (are_double(inputs) or has_labels(model))
    parse = _parse_sklearn_simple_model if as_array else _parse_sklearn_classifier
    return parse(scope, model, inputs, custom_parsers=custom_parsers)


def declare_outputs(
    scope: Scope, model: BaseEstimator, inputs: list[Variable], names: list[str]
) -> list[Variable]:
    """An operator of the model with outputs of these names."""
    from skl2onnx import get_model_alias
    from skl2onnx.common.data_types import Int64TensorType

    operator = scope.declare_local_operator(get_model_alias(type(model)), model)
    operator.inputs, operator.kernel_learn_outputs = inputs, names
    for name in names:
        kind = Int64TensorType if name == "label" else number_type(inputs)
        operator.outputs.append(scope.declare_local_variable(name, kind()))
    return operator.outputs


def are_double(inputs: list[Variable]) -> bool:
    """Whether some columns are double: then so are the outputs."""
    from skl2onnx.common.data_types import DoubleTensorType

    return any(isinstance(variable.type, DoubleTensorType) for variable in inputs)


def number_type(inputs: list[Variable]) -> type:
    """The type of outputs that are numbers."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    return DoubleTensorType if are_double(inputs) else FloatTensorType


def introduce(model: BaseEstimator) -> Callable[..., list[Variable]] | None:
    """The parser of an estimator that skl2onnx does not know; None once it does."""
    from skl2onnx import get_model_alias

    if type(model) not in EXPORTED:
        return None  # a class of someone else, made of ours
    try:
        get_model_alias(type(model))
        return None
    except RuntimeError:
        register()

    def parse_again(scope: Scope, inputs: list[Variable]) -> list[Variable]:
        from skl2onnx._parse import _parse_sklearn

        # the operator without a type that was declared before it came here: it leaves the graph,
        # and its list of outputs holds variables that are those of others
        for name, operator in list(scope.operators.items()):
            if operator.raw_operator is model and operator.type is None:
                del scope.operators[name]
                vars(operator)["outputs"] = []
                for variable in inputs:
                    users = variable.operators_inputs_
                    users[:] = [user for user in users if user is not operator]
        return _parse_sklearn(scope, model, inputs)

    return parse_again


def option(operator: Operator, name: str) -> bool:
    """Whether an option was given for the estimator."""
    found = operator.scope_inst.get_options(operator.raw_operator, {name: False}, fail=False)
    return bool((found or {}).get(name, False))


def wanted_outputs(operator: Operator) -> list[str]:
    """Which outputs an operator has, by what was declared for it."""
    declared = getattr(operator, "kernel_learn_outputs", None)
    if declared is not None:
        return list(declared)
    model = operator.raw_operator
    if is_classifier(model):
        return ["label", "class_scores" if option(operator, "raw_scores") else "probabilities"]
    return ["prediction" if hasattr(model, "predict") else "features"]


def has_labels(model: BaseEstimator) -> bool:
    """Whether each row has several labels: a label is then there, 1, or not."""
    if isinstance(model, KernelClassifier):
        return model._several
    return getattr(model, "target_type_", "classes") == "labels"


def predicts_values(model: BaseEstimator) -> bool:
    """Whether predictions are numbers."""
    is_pls = isinstance(model, KernelPLS) and getattr(model, "target_type_", None) == "numbers"
    return is_pls or isinstance(model, KernelPLSRegressor | KernelRegressor)


def label_classes(operator: Operator) -> Array:
    """What labels are: the classes, or their numbers if that was asked for."""
    classes = operator.raw_operator.classes_
    return label_array(np.arange(len(classes)) if option(operator, "nocl") else classes)


def set_output_types(operator: Operator) -> None:
    """Labels are integers or texts, all else is of the type of the rows."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    model, number = operator.raw_operator, number_type(operator.inputs)
    for name, output in zip(wanted_outputs(operator), operator.outputs, strict=True):
        if name == "label" and has_labels(model):
            output.type = Int64TensorType([None, len(model.classes_)])
        elif name == "label":
            texts = label_classes(operator).dtype == object
            output.type = (StringTensorType if texts else Int64TensorType)([None])
        else:
            output.type = number(_shape(model, name))


def _shape(model: BaseEstimator, name: str) -> list[int | None]:
    if name == "features":
        return [None, len(model.get_feature_names_out())]
    if name == "prediction" and model._single:
        return [None]
    if name == "prediction":
        is_ensemble = isinstance(model, KernelRegressor)
        return [None, model._fitted.ensemble.n_features if is_ensemble else len(model.intercept_)]
    k = len(model.classes_)
    return [None] if name == "decision" and k == 2 and not has_labels(model) else [None, k]


def convert(scope: Scope, operator: Operator, container: Container) -> None:
    """The converter of every estimator of this library."""
    g = Graph(scope, container)
    found = ModelGraph(g, operator.raw_operator, joined_inputs(g, operator.inputs))
    for name, output in zip(wanted_outputs(operator), operator.outputs, strict=True):
        if name == "label" and has_labels(operator.raw_operator):
            value = g.cast(g("Greater", found["decision"], 0.0), np.int64)
        elif name == "label":
            value = g.labels(found["winners"], label_classes(operator))
        else:
            value = found[name]
            if not are_double(operator.inputs):
                value = g.cast(value, np.float32)
        g.rename(value, output.full_name)


def joined_inputs(g: Graph, inputs: list[Variable]) -> Value:
    """All columns side by side as double (n, d); a column of texts, which no kernel uses, as 0."""
    from skl2onnx.common.data_types import DoubleTensorType, StringTensorType

    numbers = [v for v in inputs if not isinstance(v.type, StringTensorType)]

    def as_double(variable: Variable) -> Value:
        if isinstance(variable.type, StringTensorType):
            return g("Mul", as_double(numbers[0]), 0.0)
        is_double = isinstance(variable.type, DoubleTensorType)
        return variable.full_name if is_double else g.cast(variable.full_name, np.float64)

    parts = [as_double(variable) for variable in inputs]
    return parts[0] if len(parts) == 1 else g("Concat", *parts, axis=1)


class ModelGraph:
    """One fitted estimator on the rows X (n, d) in double precision; each output is built once."""

    def __init__(self, g: Graph, model: BaseEstimator, X: Value) -> None:
        self.g, self.model, self.X = g, model, X
        self._found: dict[str, Value] = {}
        check_rows(model)

    def __getitem__(self, name: str) -> Value:
        if name not in self._found:
            self._found[name] = getattr(self, name)()
        return self._found[name]

    def features(self) -> Value:
        """``transform``."""
        if isinstance(self.model, EnsembleEstimator):
            return ensemble_features(self.g, self.model, self.X)
        if isinstance(self.model, FeatureScales):
            return scaled_columns(self.g, self.X, self.model.scales_)
        is_metric = isinstance(self.model, InductiveKernel)
        kernel = self.model.embedding_ if is_metric else self.model.kernel_
        return feature_values(self.g, kernel, self.X)

    def scores(self) -> Value:
        """One score per class, (n, k), or one value per machine."""
        g, model = self.g, self.model
        if isinstance(model, KernelRegressor):
            return regressor_values(g, model, self.X)
        if isinstance(model, KernelClassifier):
            P = self["probabilities"] if has_labels(model) else self._class_proba()
            return g("Log", g("Max", P, 1e-300))
        if hasattr(model, "_support_rows"):
            K = kernel_values(g, model.kernel_, self.X, model._support_rows)
            return g.linear(K, model.dual_coef_.T, model.intercept_)
        if hasattr(model, "loadings_"):
            return g.linear(self["features"], model.loadings_, model.intercept_)
        if getattr(model, "decision_", None) == "nearest_neighbor":
            return g("Log", self._neighbours())
        if hasattr(model, "_log_odds"):
            return g.linear(self["features"], model._log_odds.coef, model._log_odds.intercept)
        return g.linear(self["features"], model.coef_.T, model.intercept_)

    def _class_proba(self) -> Value:
        assert isinstance(self.model, KernelClassifier)
        return self.g("Softmax", classifier_logits(self.g, self.model, self.X), axis=1)

    def prediction(self) -> Value:
        """``predict`` of a regressor."""
        return self.g.column(self["scores"]) if self.model._single else self["scores"]

    def decision(self) -> Value:
        """``decision_function``: (n,) of two classes, else (n, k)."""
        if has_labels(self.model):
            return self._label_decision()
        g, scores = self.g, self["scores"]
        if self._has_one_machine:
            return g.column(scores)
        if len(self.model.classes_) > 2:
            return scores
        return g.column(g("Sub", g.columns(scores, [1]), g.columns(scores, [0])))

    def _label_decision(self) -> Value:
        """More than zero where a label is likelier there than not, (n, n_labels)."""
        if isinstance(self.model, KernelClassifier):
            return label_odds(self.g, self.model, self.X)
        return self.g("Sub", self["scores"], 0.5)

    def class_scores(self) -> Value:
        """(n, k) also of one machine, which speaks for the second of two classes."""
        if not self._has_one_machine:
            return self["scores"]
        g = self.g
        return g("Concat", g("Neg", self["scores"]), self["scores"], axis=1)

    def probabilities(self) -> Value:
        """``predict_proba``; the scores of the classes where a model has no probabilities."""
        g, model = self.g, self.model
        if isinstance(model, KernelClassifier):
            if has_labels(model):
                return label_faded(g, model, self.X)
            return classifier_faded(g, model, self.X)
        if has_labels(model):
            return self["decision"]
        if getattr(model, "decision_", None) == "nearest_neighbor":
            return self._neighbours()
        if not hasattr(model, "predict_proba"):
            return self["class_scores"]
        logits = self["scores"]
        if self._has_one_machine:
            logits = g("Concat", g("Mul", logits, 0.0), logits, axis=1)
        if hasattr(model, "sharpness_"):
            logits = g("Mul", logits, float(model.sharpness_))
        calibration = getattr(model, "_calibration", None)
        if calibration is None:
            return g("Softmax", logits, axis=1)
        return faded_proba(g, calibration, logits, self.X)

    def winners(self) -> Value:
        """The number of the class that ``predict`` gives, (n,)."""
        g = self.g
        if self._has_one_machine:
            return g.cast(g("Greater", g.column(self["scores"]), 0.0), np.int64)
        return g("ArgMax", self["scores"], axis=1, keepdims=0)

    @property
    def _has_one_machine(self) -> bool:
        machines = isinstance(self.model, MachineClassifier)
        return machines and len(self.model.intercept_) == 1

    def _neighbours(self) -> Value:
        """One at the class of the nearest training row, (n, k)."""
        if "neighbours" not in self._found:
            g, search = self.g, self.model._neighbor
            D = pairs(g, self["features"], np.asarray(search._fit_X))["euclidean"]
            nearest = g("ArgMin", D, axis=1, keepdims=0)
            own = np.eye(len(self.model.classes_))[search.classes_[search._y]]
            self._found["neighbours"] = g("Gather", own, nearest, axis=0)
        return self._found["neighbours"]


def check_rows(model: BaseEstimator) -> None:
    """Refuse models of other rows than rows of numbers."""
    if isinstance(model, PairClassifier):
        raise OnnxExportError(
            "PairClassifier compares two rows at a time, which has no form in ONNX here. Export "
            "its learner_, and compare the features of two rows."
        )
    kernel = getattr(model, "base_kernel_", None)
    if kernel is not None and kernel.input not in ("vectors", "columns"):
        what = "strings" if kernel.input == "strings" else "rows of a kernel matrix"
        raise OnnxExportError(
            f"{type(model).__name__} compares {what} ({type(kernel).__name__}), which has no "
            "form in ONNX. Models of rows of numbers have one."
        )


def output_names(model: BaseEstimator) -> list[str]:
    """All that can be asked of a model, the answer first."""
    if predicts_values(model):
        return ["prediction", "features"]
    if not hasattr(model, "classes_") or not hasattr(model, "predict"):
        return ["features"]
    asked = {"probabilities": "predict_proba", "decision": "predict", "features": "transform"}
    if has_labels(model) and not isinstance(model, KernelClassifier):
        del asked["probabilities"]
    return ["label", *(name for name, method in asked.items() if hasattr(model, method))]


def label_array(classes: ArrayLike) -> Array:
    """Classes as a tensor can hold them: integers, or texts."""
    classes = np.asarray(classes)
    if classes.dtype.kind in "iub":
        return classes.astype(np.int64)
    if classes.dtype.kind in "OUS":
        if all(isinstance(label, str) for label in classes.tolist()):
            return classes.astype(object)
        if all(isinstance(label, int) for label in classes.tolist()):
            return classes.astype(np.int64)
    if classes.dtype.kind == "f" and np.all(classes == np.round(classes)):
        return classes.astype(np.int64)
    raise OnnxExportError(
        f"The labels {classes.tolist()!r} have no form in ONNX: use integers or texts."
    )
