"""What fitted estimators say of rows, as ONNX: features, decisions, probabilities, labels."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array
from kernel_learn.estimators.feature_scales import FeatureScales
from kernel_learn.estimators.inductive import InductiveKernel
from kernel_learn.estimators.kernel_classifier import KernelClassifier
from kernel_learn.estimators.pairs import PairClassifier
from kernel_learn.estimators.pls import KernelPLSRegressor
from kernel_learn.fitting.predictions import MachineClassifier
from kernel_learn.interop.onnx.graph import Graph, Value
from kernel_learn.interop.onnx.kernels import (
    OnnxExportError,
    feature_values,
    kernel_values,
    pairs,
    scaled_columns,
)
from kernel_learn.interop.onnx.tables import classifier_features, classifier_proba


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
        if isinstance(self.model, KernelClassifier):
            return classifier_features(self.g, self.model, self.X)
        if isinstance(self.model, FeatureScales):
            return scaled_columns(self.g, self.X, self.model.scales_)
        is_metric = isinstance(self.model, InductiveKernel)
        kernel = self.model.embedding_ if is_metric else self.model.kernel_
        return feature_values(self.g, kernel, self.X)

    def scores(self) -> Value:
        """One score per class, (n, k), or one value per machine."""
        g, model = self.g, self.model
        if isinstance(model, KernelClassifier):
            return g("Log", g("Max", self["probabilities"], 1e-300))
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

    def prediction(self) -> Value:
        """``predict`` of a regressor."""
        return self.g.column(self["scores"]) if self.model._single else self["scores"]

    def decision(self) -> Value:
        """``decision_function``: (n,) of two classes, else (n, k)."""
        g, scores = self.g, self["scores"]
        if self._has_one_machine:
            return g.column(scores)
        if len(self.model.classes_) > 2:
            return scores
        return g.column(g("Sub", g.columns(scores, [1]), g.columns(scores, [0])))

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
            return classifier_proba(g, model, self.X)
        if getattr(model, "decision_", None) == "nearest_neighbor":
            return self._neighbours()
        if not hasattr(model, "predict_proba"):
            return self["class_scores"]
        logits = self["scores"]
        if self._has_one_machine:
            logits = g("Concat", g("Mul", logits, 0.0), logits, axis=1)
        if hasattr(model, "sharpness_"):
            logits = g("Mul", logits, float(model.sharpness_))
        return g("Softmax", logits, axis=1)

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
    if isinstance(model, KernelPLSRegressor):
        return ["prediction", "features"]
    if not hasattr(model, "classes_") or not hasattr(model, "predict"):
        return ["features"]
    asked = {"probabilities": "predict_proba", "decision": "predict", "features": "transform"}
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
