"""Sets of classes from the probabilities of an ONNX file: what the file says of them."""

import json

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.criteria.held_out.conformal import SAME, class_thresholds
from kernel_learn.criteria.held_out.stacking import softmax
from kernel_learn.fitting.uncertainty import HeldOutSets

COVERAGES = (0.8, 0.9, 0.95, 0.99)


def set_metadata(model: BaseEstimator) -> dict[str, str]:
    """Thresholds of ``predict_set``, as JSON; nothing of a model without sets.

    A class is in the set of a row if its probability is at least ``probabilities[coverage]`` of
    it (``by_class`` for coverage within each class), if it is the likeliest, or if no
    probability of the row differs from ``shares`` by ``same`` or more.
    """
    if not isinstance(model, HeldOutSets) or not hasattr(model, "_calibration"):
        return {}
    if getattr(model, "_several", False):  # labels of which none excludes another
        return {}
    calibration, classes = model._calibration, np.asarray(model.classes_)  # type: ignore[attr-defined]

    def least(by_class: bool) -> dict[str, list[float]]:
        found = {
            f"{c:g}": class_thresholds(calibration.held, len(classes), c, by_class=by_class)
            for c in COVERAGES
        }
        return {c: np.maximum(1.0 - own.largest, 0.0).tolist() for c, own in found.items()}

    told = {
        "classes": classes.tolist(),
        "probabilities": least(by_class=False),
        "by_class": least(by_class=True),
        "shares": softmax(calibration.fading.prior[None])[0].tolist(),
        "same": SAME,
    }
    return {"kernel_learn.sets": json.dumps(told)}
