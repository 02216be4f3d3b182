"""Log-odds that fade far from the training rows, as ONNX: ``criteria.held_out.fading``."""

import numpy as np

from kernel_learn.criteria.held_out.fading import (
    BEND,
    HALF,
    LEAST_KNOWN,
    ROOM,
    STEEP,
    WIDER,
    Fading,
)
from kernel_learn.criteria.held_out.novelty import TAIL
from kernel_learn.fitting.uncertainty import Calibration, ColumnUnits, ReferenceRows
from kernel_learn.interop.onnx.graph import Graph, Value
from kernel_learn.interop.onnx.kernels import kernel_values


def faded_proba(g: Graph, calibration: Calibration, logits: Value, rows: Value) -> Value:
    """Probabilities from log-odds (n, k) of the model, with the rows as its reference sees them."""
    far = None if calibration.reference is None else far_factor(g, calibration.reference, rows)
    return g("Softmax", faded_logits(g, calibration.fading, logits, far), axis=1)


def faded_logits(g: Graph, fading: Fading, logits: Value, far: Value | None) -> Value:
    """prior + s (L - prior), (n, k), by how far away rows are (n, 1)."""
    mean = g("Div", g.row_sums(logits), float(len(fading.prior)))
    D = g("Sub", g("Sub", logits, mean), fading.prior[None])
    s = _limited(g, fading, D)
    s = s if far is None else g("Mul", s, far)
    return g("Add", g("Mul", s, D), fading.prior[None])


def _limited(g: Graph, fading: Fading, D: Value) -> Value:
    """By how much the first class leads, (n, 1)."""
    k = len(fading.prior)
    first_at = g("ArgMax", D, axis=1, keepdims=1)
    is_first = g("Equal", first_at, np.arange(k)[None])
    others = g("Where", is_first, -1e300, D)
    second_at = g("ArgMax", others, axis=1, keepdims=1)
    first, second = (g("GatherElements", D, at, axis=1) for at in (first_at, second_at))
    shares = [g("Gather", fading.prior, at, axis=0) for at in (first_at, second_at)]
    most = g("Max", g("Sub", fading.lead, g("Sub", *shares)), 1.0)
    R = g("Div", g("Sub", first, second), most)
    return g("Pow", g("Add", g("Pow", R, float(BEND)), 1.0), -1.0 / BEND)


def _in_units(g: Graph, units: ColumnUnits, rows: Value) -> Value:
    """Standard deviations, and their logarithm in the tails, (n, d)."""
    if units.mean is not None and units.scale is not None:
        rows = g("Mul", g("Sub", rows, units.mean[None]), units.scale[None])
    size = g("Abs", rows)
    tail = g("Mul", g("Log", g("Div", g("Max", size, TAIL), TAIL)), TAIL)
    return g("Mul", g("Sign", rows), g("Add", g("Min", size, TAIL), tail))


def far_factor(g: Graph, reference: ReferenceRows, rows: Value) -> Value:
    """By how unlike the training rows a row is, (n, 1)."""
    inverse, u = reference.variance.solved
    if reference.units is not None:
        rows = _in_units(g, reference.units, rows)
    K = kernel_values(g, reference.resolved, rows, reference.placed)
    explained = g.row_sums(g("Mul", g("MatMul", K, inverse), K))
    mean = g("Sub", 1.0, g("MatMul", K, u[:, None]))
    v = g("Sub", 1.0, explained)  # k(x, x) of a Gaussian kernel
    v = g("Max", g("Add", v, g("Div", g("Mul", mean, mean), float(u.sum()))), 0.0)
    known = g("Sub", 1.0, g("Div", v, float(1.0 + 1.0 / u.sum())))
    usual: Value | float = reference.usual
    if len(reference.unlike):
        others = g("Gather", K, reference.unlike, axis=1)
        nearest = g("GatherElements", others, g("ArgMax", others, axis=1, keepdims=1), axis=1)
        near = g("Min", g("Mul", g("Pow", nearest, WIDER), ROOM), 1.0)
        usual = g("Mul", g("Sub", 1.0, near), usual)
    less = g("Div", usual, g("Max", known, LEAST_KNOWN))
    over = g("Max", g("Sub", less, 1.0), 0.0)
    return g("Div", 1.0, g("Add", g("Pow", g("Div", over, HALF), float(STEEP)), 1.0))
