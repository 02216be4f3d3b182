"""KernelClassifier as ONNX: views of columns of numbers, members, leaves."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.ensemble.kernel_features import KernelFeatures, WeightedKernel
from kernel_learn.ensemble.leaves import LeafMachine, scaled
from kernel_learn.ensemble.table_views import TableView
from kernel_learn.ensemble.trees import Tree
from kernel_learn.ensemble.views import (
    ClippedScores,
    NormalScores,
    UniformScores,
    UnitRows,
    ZScores,
)
from kernel_learn.interop.onnx.graph import Graph, Value
from kernel_learn.interop.onnx.kernels import OnnxExportError, kernel_values
from kernel_learn.rows.access import dense


def classifier_proba(g: Graph, model: Any, X: Value) -> Value:
    """``predict_proba``, (n, k)."""
    machine = model._fitted.machine
    _check_numbers(model, machine)
    if isinstance(machine, LeafMachine):
        return _leaf_proba(g, machine, X)
    if not machine.parts:
        share = machine.targets.counts.sum(axis=0) + 0.5
        return g.like_rows(X, share / share.sum())
    shares = []
    for part in machine.parts:
        K = _values(g, machine.kernels, part.kernel, X)
        scores = g.linear(K, part.model.coef, part.model.intercept)
        logits = g.linear(scores, part.second.coef, part.second.intercept)
        shares.append(g("Mul", g("Softmax", logits, axis=1), float(part.weight)))
    return _normalised(g, g.total(shares))


def classifier_features(g: Graph, model: Any, X: Value) -> Value:
    """``transform``, (n, k - 1)."""
    kernels: KernelFeatures = model._fitted.machine.kernels
    if not kernels.parts:
        return g.like_rows(X, np.zeros(kernels.targets.n_classes - 1))
    total = g.total(
        [g.scaled(_values(g, kernels, part, X), float(part.factor), X) for part in kernels.parts]
    )
    ridge, projection = kernels._discriminant
    scores = g.linear(total, ridge.coef, ridge.intercept)
    return g.linear(scores, projection.coef, projection.intercept)


def _check_numbers(model: Any, machine: Any) -> None:
    positions = np.asarray(machine.reader.categories, dtype=int)
    if len(positions):
        names = getattr(model, "feature_names_in_", np.arange(model.n_features_in_))[positions]
        raise OnnxExportError(
            f"KernelClassifier was fitted on columns of categories, {', '.join(map(str, names))}, "
            "which have no form in ONNX here. Encode them as numbers before it, "
            "make_pipeline(skrub.TableVectorizer(), KernelClassifier()), and the export starts "
            "after the encoder."
        )


def _values(g: Graph, kernels: KernelFeatures, part: WeightedKernel, X: Value) -> Value:
    """Kernel values of one member, (n, n_training); each once."""
    key = ("values", id(part))
    if key not in g.cache:
        Z = view_rows(g, kernels.views, part.candidate.view, X)
        if part.scales is not None:
            Z = _scaled(g, Z, part.scales)
        g.cache[key] = kernel_values(g, part.kernel, Z, kernels.rows[part.place])
    return str(g.cache[key])


def _scaled(g: Graph, Z: Value, scales: Array) -> Value:
    key = ("scaled", Z, scales.tobytes())
    if key not in g.cache:
        g.cache[key] = g("Mul", Z, scales[None, :])
    return str(g.cache[key])


def _normalised(g: Graph, P: Value) -> Value:
    return g("Div", P, g.row_sums(P))


def view_rows(g: Graph, views: Mapping[str, TableView], name: str, X: Value) -> Value:
    """The rows in a view, (n, d); each view once."""
    key = ("view", id(views[name]))
    if key not in g.cache:
        view = views[name]
        g.cache[key] = VIEWS[type(view.of_numbers)](g, view.of_numbers, g.columns(X, view.numbers))
    return str(g.cache[key])


def _filled(g: Graph, view: Any, X: Value) -> Value:
    """Missing numbers replaced by medians."""
    return g("Where", g("IsNaN", X), view.medians_[None, :], X)


def _z_scores(g: Graph, view: ZScores, X: Value) -> Value:
    centred = g("Sub", _filled(g, view, X), view.mean_[None, :])
    return g("Div", centred, view.scale_[None, :])


def _uniform_scores(g: Graph, view: UniformScores, X: Value) -> Value:
    return g.interpolate(_filled(g, view, X), view.knots_, view.ranks_)


def _normal_scores(g: Graph, view: NormalScores, X: Value) -> Value:
    ranks = _uniform_scores(g, view, X)
    inside = g("Max", g("Min", ranks, 1.0 - view.edge_), float(view.edge_))
    centred = g("Sub", g.normal_quantile(inside), view.mean_[None, :])
    return g("Div", centred, view.scale_[None, :])


def _clipped_scores(g: Graph, view: ClippedScores, X: Value) -> Value:
    centred = g("Sub", _filled(g, view, X), view.centre_[None, :])
    Z = g("Mul", centred, view.factor_[None, :])
    third = g("Div", Z, 3.0)
    return g("Div", Z, g("Sqrt", g("Add", g("Mul", third, third), 1.0)))


def _unit_rows(g: Graph, view: UnitRows, X: Value) -> Value:
    if view.power != 1.0:
        X = g("Mul", g("Sign", X), g("Pow", g("Abs", X), float(view.power)))
    if view.scale:
        X = g("Mul", X, view.factor_[None, :])
    length = g("Sqrt", g.row_sums(g("Mul", X, X)))
    return g("Div", X, g("Where", g("Greater", length, 0.0), length, 1.0))


VIEWS: dict[type, Any] = {
    ClippedScores: _clipped_scores,
    NormalScores: _normal_scores,
    UniformScores: _uniform_scores,
    UnitRows: _unit_rows,
    ZScores: _z_scores,
}


def _leaf_proba(g: Graph, machine: LeafMachine, X: Value) -> Value:
    """Kernel values with all training rows, those of other leaves set to zero."""
    view, scales = machine.guide
    guide = view_rows(g, machine.views, view, X)
    guide = guide if scales is None else _scaled(g, guide, scales)
    shares = []
    for t, tree in enumerate(machine.trees):
        leaf = _leaf(g, tree, guide)
        own = np.empty(machine.targets.n, dtype=int)
        for number, rows in enumerate(machine.leaf_rows[t]):
            own[rows] = number
        inside = g.cast(g("Equal", g("Unsqueeze", leaf, np.array([1])), own[None, :]), np.float64)
        for member in (member for member in machine.members if member.tree == t):
            K = g("Mul", _leaf_values(g, machine, member, X), inside)
            coef = np.empty((machine.targets.n, member.models[0].coef.shape[1]))
            for rows, model in zip(machine.leaf_rows[t], member.models, strict=True):
                coef[rows] = model.coef
            intercepts = np.array([model.intercept for model in member.models])
            scores = g("Add", g("MatMul", K, coef), g("Gather", intercepts, leaf, axis=0))
            logits = g.linear(scores, member.second.coef, member.second.intercept)
            shares.append(g("Mul", g("Softmax", logits, axis=1), float(member.weight)))
    return _normalised(g, g.total(shares))


def _leaf_values(g: Graph, machine: LeafMachine, member: Any, X: Value) -> Value:
    place, scales = member.chosen.candidate.place, member.chosen.scales
    key = ("leaf rows", place)
    if key not in g.cache:
        Z = view_rows(g, machine.views, place[0], X)
        known = np.asarray(dense(scaled(machine.rows[place[0]], scales)))
        g.cache[key] = (Z if scales is None else _scaled(g, Z, scales), known)
    Z, known = g.cache[key]
    return kernel_values(g, member.chosen.kernel, Z, known)


def _leaf(g: Graph, tree: Tree, Z: Value) -> Value:
    """The leaf of each row, (n,): down the tree, as many steps as it is deep."""
    n_leaves = len(tree.thresholds) + 1
    first = g.column(g.like_zeros(Z, 1))
    if n_leaves == 1:
        return first
    low = g("LessOrEqual", g("MatMul", Z, tree.directions.T), tree.thresholds[None, :])
    # a leaf is a node that leads to itself
    nodes = len(tree.thresholds)

    def numbered(children: Array) -> Array:
        own = np.where(children >= 0, children, nodes - 1 - children)
        return np.r_[own, np.arange(nodes, nodes + n_leaves)]

    below, above = g.constant(numbered(tree.below)), g.constant(numbered(tree.above))
    wide = g("Concat", g.cast(low, np.int64), g.like_zeros(Z, n_leaves), axis=1)
    place = first
    for _ in range(_depth(tree)):
        at = g("Unsqueeze", place, np.array([1]))
        is_low = g.cast(g.column(g("GatherElements", wide, at, axis=1)), bool)
        place = g("Where", is_low, g("Gather", below, place), g("Gather", above, place))
    return g("Sub", place, np.array(nodes))


def _depth(tree: Tree) -> int:
    depth = np.ones(len(tree.thresholds), dtype=int)
    for node in range(len(depth)):  # parents come before their children
        for child in (tree.below[node], tree.above[node]):
            if child >= 0:
                depth[child] = depth[node] + 1
    return int(depth.max())
