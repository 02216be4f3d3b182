"""KernelClassifier and KernelRegressor as ONNX: views of columns of numbers, members, leaves."""

from collections.abc import Callable, Mapping

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.fading import bounded_fading
from kernel_learn.criteria.held_out.label_targets import LabelMap, LabelTargets, both_sides
from kernel_learn.criteria.held_out.stacking import LinearMap
from kernel_learn.criteria.held_out.target_transforms import (
    SmearingResiduals,
    Transform,
    ValueMap,
)
from kernel_learn.ensemble.estimator import EnsembleEstimator
from kernel_learn.ensemble.members import Ensemble, Member, TrainingRows
from kernel_learn.ensemble.outcomes.kinds import outcome_of
from kernel_learn.ensemble.pooling import LEAST_FADING, TINY
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
from kernel_learn.estimators.kernel_classifier import KernelClassifier
from kernel_learn.estimators.kernel_regressor import KernelRegressor
from kernel_learn.interop.onnx.fading import faded_logits, faded_proba, far_factor
from kernel_learn.interop.onnx.graph import Graph, Value
from kernel_learn.interop.onnx.kernels import OnnxExportError, kernel_values
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.rows.access import dense


def classifier_logits(g: Graph, model: KernelClassifier, X: Value) -> Value:
    """The members' average as log-odds, (n, k)."""
    return g.once(("logits", id(model)), lambda: _pooled_logits(g, model, X))


def _pooled_logits(g: Graph, model: KernelClassifier, X: Value) -> Value:
    ensemble: Ensemble = model._fitted.ensemble
    _check_numbers(model, ensemble)
    if not ensemble.predicting:
        return g.like_rows(X, np.log(ensemble.class_targets.prior))
    logits = [
        (member, _member_logits(g, member, tree, scores))
        for member, tree, scores in _member_scores(g, ensemble, X)
    ]
    weights = [float(ensemble.weight_of(member)) for member, _ in logits]
    P = g.total(
        [
            g("Mul", g("Softmax", own, axis=1), w)
            for w, (_, own) in zip(weights, logits, strict=True)
        ]
    )
    if ensemble.shares is None:
        return g("Log", g("Max", P, 1e-300))
    L = g.total([g.scaled(own, w, X) for w, (_, own) in zip(weights, logits, strict=True)])
    return _faded(g, L, P, ensemble.shares)


def label_odds(g: Graph, model: KernelClassifier, X: Value) -> Value:
    """Log-odds that each of several labels is there, (n, n_labels)."""
    return g.once(("label odds", id(model)), lambda: _pooled_odds(g, model, X))


def _pooled_odds(g: Graph, model: KernelClassifier, X: Value) -> Value:
    ensemble: Ensemble = model._fitted.ensemble
    _check_numbers(model, ensemble)
    shares = outcome_of(ensemble.targets).without_members(ensemble.targets)
    if not ensemble.predicting:
        return g.like_rows(X, np.log(shares) - np.log1p(-shares))
    members = [
        (np.broadcast_to(ensemble.weight_of(member), shares.shape), member.maps[tree], scores)
        for member, tree, scores in _member_scores(g, ensemble, X)
    ]
    found = []
    for label, share in enumerate(shares):
        log_odds, proba = [], []
        for weight, end, scores in members:
            assert isinstance(end, LabelMap), "log-odds of labels"
            if weight[label] > 0:
                logits = _both_logits(g, end.maps[label], g.columns(scores, [label]))
                log_odds.append(g.scaled(logits, float(weight[label]), X))
                proba.append(g("Mul", g("Softmax", logits, axis=1), float(weight[label])))
        pooled = _faded(g, g.total(log_odds), g.total(proba), both_sides(share))
        found.append(g("Sub", g.columns(pooled, [1]), g.columns(pooled, [0])))
    return found[0] if len(found) == 1 else g("Concat", *found, axis=1)


def label_faded(g: Graph, model: KernelClassifier, X: Value) -> Value:
    """``predict_proba`` of several labels: each fades to its share."""
    targets, probe = model._fitted.ensemble.targets, model._fitted.probe
    assert isinstance(targets, LabelTargets), "rows have several labels"
    far, L = None, label_odds(g, model, X)
    if probe.reference is not None and probe.reference_view is not None:
        rows = view_rows(g, {"": probe.reference_view}, "", X)
        far = far_factor(g, probe.reference, rows)
    found = []
    for label in range(targets.n_labels):
        own = targets.of_label(label)
        two = g("Mul", g.columns(L, [label, label]), np.array([[-0.5, 0.5]]))
        two = g("Softmax", faded_logits(g, bounded_fading(own.prior, own.total), two, far), axis=1)
        found.append(g.columns(two, [1]))
    return found[0] if len(found) == 1 else g("Concat", *found, axis=1)


def _both_logits(g: Graph, end: LinearMap, score: Value) -> Value:
    """Log-odds of absence and presence, against their mean, at the score of presence (n, 1)."""
    coef = end.coef - end.coef.mean(axis=1, keepdims=True)
    start = coef[0] + end.intercept - end.intercept.mean()
    return g("Add", g("Mul", score, (coef[1] - coef[0])[None, :]), start[None, :])


def regressor_values(g: Graph, model: KernelRegressor, X: Value) -> Value:
    """The members' average, (n, n_targets)."""
    ensemble: Ensemble = model._fitted.ensemble
    _check_numbers(model, ensemble)
    if not ensemble.predicting:
        return g.like_rows(X, outcome_of(ensemble.targets).without_members(ensemble.targets))
    parts = []
    for member, tree, scores in _member_scores(g, ensemble, X):
        weight = np.atleast_1d(ensemble.weight_of(member))[None, :]
        parts.append(g("Mul", _member_values(g, member, tree, scores), weight))
    return g.total(parts)


def _member_values(g: Graph, member: Member, tree: int, scores: Value) -> Value:
    """Scores on the targets' own scales, (n, q): the formulas of ``target_transforms``."""
    end = member.maps[tree]
    assert isinstance(end, ValueMap), "numbers are predicted"
    found = [
        _smeared(g, transform, residuals, g.columns(scores, [int(c)]))
        for transform, residuals, c in zip(end.transforms, end.residuals, end.columns, strict=True)
    ]
    values = found[0] if len(found) == 1 else g("Concat", *found, axis=1)
    return g("Min", g("Max", values, end.low[None, :]), end.high[None, :])


def _smeared(g: Graph, transform: Transform, residuals: SmearingResiduals, f: Value) -> Value:
    """The mean of a target at its scores f (n, 1), (n, 1)."""
    if not transform.is_log:
        return g("Add", g("Mul", f, transform.scale), transform.mean)
    t = g("Add", f, residuals.values[None, :])
    on_scale = g("Add", g("Mul", t, transform.scale), transform.mean)
    kept = g("Min", g("Max", on_scale, transform.low), transform.high)
    mean = g("MatMul", g("Exp", kept), residuals.shares[:, None])
    return g("Sub", mean, transform.shift * float(residuals.shares.sum()))


def classifier_faded(g: Graph, model: KernelClassifier, X: Value) -> Value:
    """``predict_proba``, from log-odds: probabilities of sure rows are zero but for one."""
    logits = classifier_logits(g, model, X)
    calibration, view = getattr(model, "_calibration", None), model._fitted.probe.reference_view
    if calibration is None or view is None:
        return g("Softmax", logits, axis=1)
    return faded_proba(g, calibration, logits, view_rows(g, {"": view}, "", X))


def _member_logits(g: Graph, member: Member, tree: int, scores: Value) -> Value:
    """A member's log-odds, each class against the mean of all."""
    end = member.maps[tree]
    assert isinstance(end, LinearMap), "log-odds of classes"
    coef = end.coef - end.coef.mean(axis=1, keepdims=True)
    return g.linear(scores, coef, end.intercept - end.intercept.mean())


def _faded(g: Graph, L: Value, P: Value, shares: Array) -> Value:
    """Log-odds by the formula of ``ensemble.pooling``."""
    prior = np.log(shares)[None, :] - np.log(shares).mean()
    P = g("Max", P, TINY)
    v = g("Mul", g("Add", P, g("Softmax", L, axis=1)), 0.5)
    top = g("ArgMax", P, axis=1, keepdims=1)
    D = g("Sub", L, prior)
    d, e = (
        g("Sub", all_classes, g("GatherElements", all_classes, top, axis=1))
        for all_classes in (D, g("Sub", g("Log", P), prior))
    )
    weighed = g("Mul", v, d)
    mean = g.row_sums(weighed)
    square = g("Sub", g.row_sums(g("Mul", weighed, d)), g("Mul", mean, mean))
    cross = g("Mul", mean, g.row_sums(g("Mul", v, e)))
    cross = g("Sub", g.row_sums(g("Mul", weighed, e)), cross)
    some = g("Greater", square, 0.0)
    s = g("Div", cross, g("Where", some, square, 1.0))
    s = g("Min", g("Max", g("Where", some, s, 1.0), LEAST_FADING), 1.0)
    return g("Add", g("Mul", s, D), prior)


def ensemble_features(g: Graph, model: EnsembleEstimator, X: Value) -> Value:
    """``transform``, (n, k - 1) of classes, (n, q) of numbers."""
    ensemble: Ensemble = model._fitted.ensemble
    _check_numbers(model, ensemble)
    if not ensemble.predicting:
        return g.like_rows(X, np.zeros(ensemble.n_features))
    total = g.total(
        [
            g.scaled(_values(g, ensemble.for_features, member, X), float(member.factor), X)
            for member in ensemble.predicting
        ]
    )
    ridge, projection = ensemble.discriminant
    scores = g.linear(total, ridge.coef, ridge.intercept)
    return g.linear(scores, projection.coef, projection.intercept)


def _check_numbers(model: EnsembleEstimator, ensemble: Ensemble) -> None:
    positions = np.asarray(ensemble.reader.categories, dtype=int)
    if len(positions):
        names = getattr(model, "feature_names_in_", np.arange(model.n_features_in_))[positions]
        raise OnnxExportError(
            f"{type(model).__name__} was fitted on columns of categories, "
            f"{', '.join(map(str, names))}, which have no form in ONNX here. Encode them as "
            f"numbers before it, make_pipeline(skrub.TableVectorizer(), {type(model).__name__}()), "
            "and the export starts after the encoder."
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


def _member_scores(g: Graph, ensemble: Ensemble, X: Value) -> list[tuple[Member, int, Value]]:
    """(member, tree, its scores) of every member that predicts, in every tree if there are some."""
    if ensemble.forest is not None:
        return _leaf_scores(g, ensemble, ensemble.forest, X)
    found = []
    for member in ensemble.predicting:
        ridge = member.models[0][0]
        K = _values(g, ensemble.training, member, X)
        found.append((member, 0, g.linear(K, ridge.coef, ridge.intercept)))
    return found


def _leaf_scores(
    g: Graph, ensemble: Ensemble, forest: Forest, X: Value
) -> list[tuple[Member, int, Value]]:
    """Members' scores; kernel values with training rows of other leaves are set to zero."""
    training, n = ensemble.training, ensemble.targets.n
    Z = view_rows(g, training.views, forest.view, X)
    Z = Z if forest.scales is None else _scale_rows(g, Z, forest.scales)
    found = []
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
            found.append((member, t, scores))
    return found


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
