"""KernelClassifier as ONNX: views of columns of numbers, members, leaves."""

from collections.abc import Callable, Mapping

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.ensemble.members import Ensemble, Member, TrainingRows
from kernel_learn.ensemble.trees import Forest, Tree
from kernel_learn.ensemble.views import (
    ClippedScores,
    ColumnView,
    NormalScores,
    TableView,
    UniformScores,
    UnitRows,
    ZScores,
)
from kernel_learn.estimators import KernelClassifier
from kernel_learn.interop.onnx.graph import Graph, Value
from kernel_learn.interop.onnx.kernels import OnnxExportError, kernel_values
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.rows.access import dense


def classifier_proba(g: Graph, model: KernelClassifier, X: Value) -> Value:
    """``predict_proba``, (n, k)."""
    ensemble: Ensemble = model._fitted.ensemble
    _check_numbers(model, ensemble)
    if not ensemble.predicting:
        return g.like_rows(X, ensemble.targets.prior)
    if ensemble.forest is not None:
        shares = _leaf_shares(g, ensemble, ensemble.forest, X)
    else:
        shares = []
        for member in ensemble.predicting:
            ridge = member.models[0][0]
            K = _values(g, ensemble.training, member, X)
            scores = g.linear(K, ridge.coef, ridge.intercept)
            shares.append(_member_proba(g, ensemble, member, 0, scores))
    P = g.total(shares)
    return g("Div", P, g.row_sums(P))


def _member_proba(g: Graph, ensemble: Ensemble, member: Member, tree: int, scores: Value) -> Value:
    """What a member adds to the average."""
    logits = g.linear(scores, member.maps[tree].coef, member.maps[tree].intercept)
    return g("Mul", g("Softmax", logits, axis=1), float(ensemble.weight_of(member)))


def classifier_features(g: Graph, model: KernelClassifier, X: Value) -> Value:
    """``transform``, (n, k - 1)."""
    ensemble: Ensemble = model._fitted.ensemble
    if not ensemble.predicting:
        return g.like_rows(X, np.zeros(ensemble.targets.n_classes - 1))
    total = g.total(
        [
            g.scaled(_values(g, ensemble.for_features, member, X), float(member.factor), X)
            for member in ensemble.predicting
        ]
    )
    ridge, projection = ensemble.discriminant
    scores = g.linear(total, ridge.coef, ridge.intercept)
    return g.linear(scores, projection.coef, projection.intercept)


def _check_numbers(model: KernelClassifier, ensemble: Ensemble) -> None:
    positions = np.asarray(ensemble.reader.categories, dtype=int)
    if len(positions):
        names = getattr(model, "feature_names_in_", np.arange(model.n_features_in_))[positions]
        raise OnnxExportError(
            f"KernelClassifier was fitted on columns of categories, {', '.join(map(str, names))}, "
            "which have no form in ONNX here. Encode them as numbers before it, "
            "make_pipeline(skrub.TableVectorizer(), KernelClassifier()), and the export starts "
            "after the encoder."
        )


def _values(g: Graph, training: TrainingRows, member: Member, X: Value) -> Value:
    """Kernel values of one member, (n, n_training); each once."""

    def values() -> Value:
        Z = _new_rows(g, training, member, X)
        return kernel_values(g, member.kernel, Z, training.rows[member.view])

    return g.once(("values", id(training), id(member)), values)


def _new_rows(g: Graph, training: TrainingRows, member: Member, X: Value) -> Value:
    """The rows as a member sees them."""
    Z = view_rows(g, training.views, member.plain_view, X)
    return Z if member.scales is None else _scale_rows(g, Z, member.scales)


def _scale_rows(g: Graph, Z: Value, scales: Array) -> Value:
    return g.once(("scaled", Z, scales.tobytes()), lambda: g("Mul", Z, scales[None, :]))


def view_rows(g: Graph, views: Mapping[str, TableView], name: str, X: Value) -> Value:
    """The rows in a view, (n, d); each view once."""
    view, own = views[name], views[name].of_numbers
    seen = VIEWS[type(own)]
    return g.once(("view", id(view)), lambda: seen(g, own, g.columns(X, view.numbers)))


def _filled(g: Graph, view: ColumnView, X: Value) -> Value:
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


VIEWS: dict[type, Callable[..., Value]] = {
    ClippedScores: _clipped_scores,
    NormalScores: _normal_scores,
    UniformScores: _uniform_scores,
    UnitRows: _unit_rows,
    ZScores: _z_scores,
}


def _leaf_shares(g: Graph, ensemble: Ensemble, forest: Forest, X: Value) -> list[Value]:
    """Kernel values with all training rows, those of other leaves set to zero."""
    training, n = ensemble.training, ensemble.targets.n
    Z = view_rows(g, training.views, forest.view, X)
    Z = Z if forest.scales is None else _scale_rows(g, Z, forest.scales)
    shares = []
    for t, tree in enumerate(forest.trees):
        leaf = _leaf(g, tree, Z)
        own = np.empty(n, dtype=int)
        for number, rows in enumerate(forest.leaf_rows[t]):
            own[rows] = number
        inside = g.cast(g("Equal", g("Unsqueeze", leaf, np.array([1])), own[None, :]), np.float64)
        for member in ensemble.predicting:
            K = g("Mul", _leaf_values(g, training, member, X), inside)
            models = member.models[t]
            coef = np.empty((n, models[0].coef.shape[1]))
            for rows, model in zip(forest.leaf_rows[t], models, strict=True):
                coef[rows] = model.coef
            intercepts = np.array([model.intercept for model in models])
            scores = g("Add", g("MatMul", K, coef), g("Gather", intercepts, leaf, axis=0))
            shares.append(_member_proba(g, ensemble, member, t, scores))
    return shares


def _leaf_values(g: Graph, training: TrainingRows, member: Member, X: Value) -> Value:
    """Kernel values with all training rows, which are kept without their scales."""

    def both() -> tuple[Value, Array]:
        known = np.asarray(dense(scale_columns(training.rows[member.plain_view], member.scales)))
        return _new_rows(g, training, member, X), known

    return kernel_values(g, member.kernel, *g.once(("leaf rows", member.view), both))


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
