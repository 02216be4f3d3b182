"""What parts of our own models must agree on among each other: checks of whole objects, by type.

``shapes`` says what arrays of one object satisfy. Here one object is held against those that it
holds: rows against the views that made them, coefficients against rows, maps against classes.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.label_targets import LabelMap, LabelTargets
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.stacking import LinearMap
from kernel_learn.ensemble.candidates import SCALED
from kernel_learn.ensemble.encoded_columns import EncodedColumn
from kernel_learn.interop.foreign_state import Held, all_finite, is_sane_csr, need
from kernel_learn.interop.trusted import OURS
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.columns import ColumnKernel
from kernel_learn.kernels.scaled import ScaledKernel
from kernel_learn.kernels.viewed import ViewKernel
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.codes import negative_zeros
from kernel_learn.rows.table import Table

LARGEST_LOG = 700.0  # whose exponential is a number


def need_positions(values: Held, below: int, where: str) -> None:
    """Whole numbers from 0 to below - 1."""
    values = np.asarray(values)
    if values.size:
        need(values.dtype.kind in "iu", f"{where} are no whole numbers")
        inside = int(values.min()) >= 0 and int(values.max()) < below
        need(inside, f"{where} lie beyond the {below} that there are")


def need_matrix(rows: Held, shape: tuple[int, int], where: str) -> None:
    """Finite numbers, dense or sparse, of this shape."""
    need(rows.shape == shape, f"{where} have the shape {rows.shape}, and {shape} is due")
    need(rows.dtype.kind in "fiub" and is_sane_csr(rows), f"{where} are no numbers")
    need(all_finite(rows), f"{where} hold entries that are not finite")


def is_matrix(rows: Held) -> bool:
    """Rows of numbers, not texts or tables."""
    return is_sparse(rows) or (
        isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype.kind in "fiub"
    )


# -- estimators of one kernel -------------------------------------------------------------


def check_kept_rows(model: Held) -> None:
    """Rows with which new ones are compared have as many columns as those, without holes."""
    reference: Held = getattr(getattr(model, "_calibration", None), "reference", None)
    kernel: Held = getattr(model, "kernel_", None)
    kept: dict[str, Held] = {
        "landmarks": getattr(kernel, "landmarks", None),
        "embedded rows": getattr(getattr(model, "embedding_", None), "landmarks", None),
        "support rows": getattr(model, "_support_rows", None),
        "expansion points": getattr(model, "expansion_points_", None),
        "reference rows": getattr(reference, "rows", None),
    }
    for what, rows in kept.items():
        where = f"The {what} of a model"
        if isinstance(rows, Table):
            own = reference.kernel if what == "reference rows" else kernel
            check_used_numbers(own, rows, where)
            keep_zeros_apart(own, rows)
        elif getattr(kernel, "input", "vectors") == "matrix":
            if rows is not None and np.ndim(rows) == 1:
                need_positions(rows, model.n_features_in_, where)
        elif is_matrix(rows):
            # a model of a state, or of texts, does not say how many columns there were
            columns = getattr(model, "n_features_in_", rows.shape[1])
            need_matrix(rows, (rows.shape[0], columns), where)
            check_scaled_columns(kernel, columns)


def check_used_numbers(kernel: Held, table: Held, where: str) -> None:
    """Columns that a kernel takes for numbers are, and finite."""
    places = table.place[np.unique(kernel.numeric_columns(table)).astype(int)]
    need(bool((places >= 0).all()), f"{where} hold texts where numbers are due")
    need(all_finite(table.numbers[:, places]), f"{where} hold entries that are not finite")


def keep_zeros_apart(kernel: Held, table: Held) -> None:
    """-0.0 becomes a category that no cell has, where a fit took it and 0.0 for two of them.

    So did earlier versions, and what was learned of rows with 0.0 holds for these alone.
    """
    if is_sparse(table.numbers):
        return
    categorical = np.setdiff1d(np.arange(table.shape[1]), kernel.numeric_columns(table))
    for p in table.place[categorical][table.place[categorical] >= 0]:
        column = table.numbers[:, p]
        negative = negative_zeros(column)
        if (negative != (column == 0)).any():
            column[negative] = -np.finfo(column.dtype).smallest_subnormal


def check_scaled_columns(kernel: Held, columns: int) -> None:
    """Scales and rows of kernels, and of kernels within them, are of so many columns."""
    if isinstance(kernel, ColumnKernel | ViewKernel):
        return  # which have columns of their own
    for name in ("landmarks", "X_graph"):
        rows: Held = getattr(kernel, name, None)
        if is_matrix(rows):
            need_matrix(rows, (rows.shape[0], columns), f"The rows of {type(kernel).__name__}")
    if isinstance(kernel, ScaledKernel):  # the kernel within it sees those without scale zero
        need(len(kernel.scales) == columns, "ScaledKernel has scales of other columns")
        return
    for part in (*getattr(kernel, "kernels", ()), *map(vars(kernel).get, ("kernel", "base"))):
        if isinstance(part, Kernel):
            check_scaled_columns(part, columns)


def check_machines(model: Held) -> None:
    """One machine for two classes, else one for each."""
    rows = 1 if len(model.classes_) == 2 else len(model.classes_)
    need(len(model.intercept_) == rows, f"{type(model).__name__} has machines of other classes")
    check_kept_rows(model)


def check_index(index: Held) -> None:
    """Features of two rows at least, as many as the model gives."""
    n, width = index.features_.shape
    held = vars(index.model)
    kernel = held.get("embedding_", held.get("kernel_"))
    due = getattr(kernel, "coef", index.features_).shape[1]
    need(n >= 2 and width == due, "KernelIndex holds features of another model")


# -- kernels ------------------------------------------------------------------------------


def check_combination(kernel: Held) -> None:
    """A weight for each kernel."""
    need(
        kernel.weights is None or len(kernel.weights) == len(kernel.kernels),
        "Combination has weights of other kernels",
    )


def check_stacked(kernel: Held) -> None:
    """A block of coefficients for each kernel."""
    count = len(kernel.kernel.kernels) * kernel.landmarks.shape[0]
    need(len(kernel.coef) == count, "StackedSubspaceKernel has coefficients of other rows")


# -- tables and their views ---------------------------------------------------------------


def check_table(table: Held) -> None:
    """Every column is in one of the two parts."""
    inside = table.numbers.shape[1] + table.others.shape[1]
    due = np.arange(-table.others.shape[1], table.numbers.shape[1])
    need(np.array_equal(np.sort(table.place), due), "Table places other columns than it has")
    need(table.names is None or len(table.names) == inside, "Table names other columns")


def check_reader(reader: Held) -> None:
    """Every column is a number or a category, and categories have their levels."""
    need(len(reader.levels) == len(reader.categories), "TableReader has levels of other columns")
    both = np.sort(np.concatenate([reader.numbers, reader.categories]))
    need(np.array_equal(both, np.arange(len(both))), "TableReader reads columns twice or never")


def check_read_rows(rows: Held) -> None:
    """The table is one of the reader's columns."""
    numbers, others = len(rows.reader.numbers), len(rows.reader.categories)
    need(rows.table.numbers.shape[1] == numbers, "ReadRows has numbers of other columns")
    need(rows.table.others.shape[1] == others, "ReadRows has categories of other columns")


def check_encoded_column(column: Held) -> None:
    """A shift and a factor for each part, one factor of a category."""
    due = 1 if column.kind == "category" else len(column.shift)
    need(len(column.factor) == due, "EncodedColumn has factors of other columns")


def check_pipeline(pipeline: Held) -> None:
    """A step takes the columns that the encoder before it gives."""
    for step, following in pairwise(step for _, step in pipeline.steps):
        columns = getattr(step, "columns_", None)
        if isinstance(columns, tuple) and all(isinstance(own, EncodedColumn) for own in columns):
            width = sum(column.width for column in columns)
            due = getattr(following, "n_features_in_", width)
            need(width == due, f"TableEncoder gives {width} columns to a step that takes {due}")


def check_blocks(encoder: Held) -> None:
    """A column for each level of each code."""
    sizes = [len(levels) for levels in encoder.levels_]
    need(len(sizes) == encoder.n_features_in_, "BlockOneHot has levels of other columns")
    need(len(encoder.factors_) == len(sizes), "BlockOneHot has factors of other columns")
    need(all_finite(np.array(encoder.factors_, dtype=float)), "BlockOneHot has infinite factors")
    blocks = np.repeat(np.arange(len(sizes)), sizes)
    need(np.array_equal(encoder.blocks_, blocks), "BlockOneHot has columns of other levels")
    for levels in encoder.levels_:
        need(levels.dtype.kind in "fiu" and all_finite(levels), "BlockOneHot has no codes")


def check_view(view: Held) -> None:
    """What transforms columns was fitted to as many; each column of the view has an owner."""
    for part, columns in ((view.of_numbers, view.numbers), (view.of_codes, view.categories)):
        need(part is None or part.n_features_in_ == len(columns), "TableView has other columns")
    need(view.of_numbers is not None or not len(view.numbers), "TableView lacks its numbers")
    need(len(view.owner) == width_of(view), "TableView does not say whose its columns are")


def width_of(view: Held) -> int:
    """The number of a view's columns."""
    codes = view.categories if view.of_codes is None else view.of_codes.blocks_
    return len(view.numbers) + len(codes)


# -- ensembles ----------------------------------------------------------------------------


def check_group_rows(targets: Held) -> None:
    """Groups are of rows that are there."""
    for group in targets.groups:
        need_positions(group, targets.n, "Rows of a group")


def check_label_targets(targets: Held) -> None:
    """A label is there as often as its row at the most."""
    most = targets.weight[:, None] * (1 + 1e-9)
    need(bool((targets.there <= most).all()), "LabelTargets have more labels than rows")
    check_group_rows(targets)


def check_value_rows(targets: Held) -> None:
    """Every row has values, one after the other."""
    steps = np.diff(targets.row)
    need(targets.row[0] == 0 and bool((steps <= 1).all()), "NumberTargets lack values of rows")
    weight = vars(targets).get("weight")  # worked out when it was asked for
    need(weight is None or len(weight) == targets.n, "NumberTargets weigh other rows")
    check_group_rows(targets)


def check_training_rows(known: Held) -> None:
    """Rows of every view that members see, as many as there are targets."""
    for space, rows in known.rows.items():
        view = known.views[space.removesuffix(SCALED)]
        need_matrix(rows, (known.targets.n, width_of(view)), f"Training rows of view {space!r}")


def check_ensemble(ensemble: Held) -> None:
    """Views of the reader's columns, members on their rows, maps to the outcomes."""
    reader, k = ensemble.reader, n_outcomes(ensemble.targets)
    for known in (ensemble.training, ensemble.for_features):
        for view in known.views.values():
            check_positions(view, reader)
        for member in ensemble.predicting:
            check_seen_columns(member, known)
    shares = ensemble.shares
    need(shares is None or len(shares) == k, "Ensemble has shares of other classes")
    leaves = check_leaves(ensemble)
    for member in ensemble.members:
        need(np.shape(member.share) in ((), (k,)), "Member has shares of other outcomes")
    for member in ensemble.predicting:
        check_member(member, leaves, k)
    if "discriminant" in vars(ensemble):
        model, projection = ensemble.discriminant
        n, q = ensemble.for_features.targets.n, len(projection.coef)
        need(model.coef.shape == (n, q), "Ensemble has features of other rows")


def n_outcomes(targets: Held) -> int:
    """Classes, numbers or labels that are predicted."""
    if isinstance(targets, NumberTargets):
        return targets.n_targets
    return targets.n_labels if isinstance(targets, LabelTargets) else int(targets.n_classes)


def check_positions(view: Held, reader: Held) -> None:
    """A view's columns are among those that are read."""
    need_positions(view.numbers, len(reader.numbers), "Numbers of a view")
    need_positions(view.categories, len(reader.categories), "Categories of a view")
    need_positions(view.owner, reader.n_columns, "Columns of a view")


def check_seen_columns(member: Held, known: Held) -> None:
    """A member's view is there, with its rows and a scale for each column."""
    view = known.views[member.plain_view]
    is_there = member.view in known.rows or member.plain_view in known.rows
    need(is_there, f"Member lacks its rows in view {member.view!r}")
    scales = member.scales
    need(scales is None or len(scales) == width_of(view), "Member has scales of other columns")
    check_scaled_columns(member.kernel, width_of(view))


def check_leaves(ensemble: Held) -> Sequence[Sequence[int]]:
    """Training rows in each leaf of each tree; one leaf of all rows where there are no trees."""
    forest, n = ensemble.forest, ensemble.training.targets.n
    if forest is None:
        return [[n]]
    width = width_of(ensemble.training.views[forest.view])
    need(forest.scales is None or len(forest.scales) == width, "Forest has other columns")
    for tree in forest.trees:
        need(tree.directions.shape[1] == width, "Tree has directions of other columns")
    for leaves in forest.leaf_rows:
        for rows in leaves:
            need_positions(rows, n, "Rows of a leaf")
    return [[len(rows) for rows in leaves] for leaves in forest.leaf_rows]


def check_member(member: Held, leaves: Sequence[Sequence[int]], k: int) -> None:
    """A coefficient for each training row of a leaf; maps from the scores to k outcomes."""
    need(len(member.models) == len(member.maps) == len(leaves), "Member lacks models of trees")
    for models, sizes, map in zip(member.models, leaves, member.maps, strict=True):
        need(len(models) == len(sizes), "Member lacks models of leaves")
        for model, size in zip(models, sizes, strict=True):
            need(len(model.coef) == size, "Dual has coefficients of other rows")
            check_map(map, model.coef.shape[1], k)


def check_map(map: Held, q: int, k: int) -> None:
    """From q scores to k outcomes."""
    if isinstance(map, LinearMap):
        need(map.coef.shape == (q, k), "LinearMap is of other classes or scores")
    elif isinstance(map, LabelMap):
        need(len(map.maps) == k <= q, "LabelMap is of other labels")
        need(all(one.coef.shape == (2, 2) for one in map.maps), "LabelMap is of other scores")
    else:
        need(len(map.columns) == k, "ValueMap is of other targets")
        need(len(map.transforms) == len(map.residuals) == k, "ValueMap is of other targets")
        need_positions(map.columns, q, "Scores of a ValueMap")
        for transform, residuals in zip(map.transforms, map.residuals, strict=True):
            reach = transform.scale * np.abs(residuals.values).max(initial=0.0)
            need(reach < LARGEST_LOG or not transform.is_log, "ValueMap has infinite residuals")


def check_forest(forest: Held) -> None:
    """As many leaves with rows as each tree has."""
    need(len(forest.trees) == len(forest.leaf_rows), "Forest has leaves of other trees")
    for tree, leaves in zip(forest.trees, forest.leaf_rows, strict=True):
        need(len(leaves) == tree.n_leaves, "Forest has rows of leaves that are not there")


def check_tree(tree: Held) -> None:
    """A path from the root ends: a child stands after its parent, and each leaf is one of them."""
    nodes = len(tree.thresholds)
    seen: list[Array] = []
    for children in (tree.below, tree.above):
        need(children.dtype.kind in "iu", "Tree has children that are no positions")
        inner = children >= 0
        own = np.arange(nodes)
        need(bool((children[inner] > own[inner]).all()), "Tree leads back to where it came from")
        seen.append(children)
    children = np.sort(np.concatenate(seen)) if nodes else np.array([-1])
    due = np.r_[np.arange(-nodes - 1, 0), np.arange(1, nodes)]
    need(np.array_equal(children, due), "Tree has nodes that are not there")


def check_fitted(fitted: Held) -> None:
    """Held-out predictions of the outcomes; rows that are compared are in their view."""
    ensemble, probe = fitted.ensemble, fitted.probe
    k, n_columns = n_outcomes(ensemble.targets), ensemble.reader.n_columns
    need(fitted.held.shape[1] == k, "FittedEnsemble holds predictions of other outcomes")
    need(probe.n_columns == n_columns, "Probe is of other columns")
    for view in (probe.reference_view, probe.fitted_view):
        if view is not None:
            check_positions(view, ensemble.reader)


def check_probe(probe: Held) -> None:
    """Rows of one view, a column of the table behind each of its columns."""
    sample, width = probe.sample, len(probe.owner)
    need_positions(probe.owner, probe.n_columns, "Columns of a Probe")
    need_matrix(sample.views[probe.view], (sample.targets.n, width), "Rows of a Probe")
    need(len(sample.folds) == sample.targets.n, "Sample has folds of other rows")
    need(probe.held is None or len(probe.held) == sample.targets.n, "Probe holds other rows")
    for scales in probe.learned or ():
        need(len(scales.relevance) == width, "Probe has relevance of other columns")
    reference, view = probe.reference, probe.reference_view
    if reference is not None and view is not None:
        rows = reference.rows
        need_matrix(rows, (rows.shape[0], width_of(view)), "Rows that are compared")


def check_reference(reference: Held) -> None:
    """Some row counts, and groups are of rows that are there."""
    need(reference.weight.sum() > 0, "ReferenceRows weigh nothing")
    if is_matrix(reference.rows):
        columns = reference.rows.shape[1]
        check_scaled_columns(reference.kernel, columns)
        mean = getattr(getattr(reference, "units", None), "mean", None)
        need(mean is None or len(mean) == columns, "ReferenceRows have units of other columns")
    for group in reference.groups:
        need_positions(group, len(reference.weight), "Rows of a group")


def check_ensemble_model(model: Held) -> None:
    """Where the ensemble's rows stood."""
    n = model._fitted.ensemble.targets.n
    need(len(model._first) == n, f"{type(model).__name__} knows the places of other rows")


BY_NAME: Mapping[str, Callable[[Held], None]] = {
    "AlignmentSubspace": check_kept_rows,
    "BlockOneHot": check_blocks,
    "Combination": check_combination,
    "EncodedColumn": check_encoded_column,
    "Ensemble": check_ensemble,
    "ExpansionSVC": check_machines,
    "FittedEnsemble": check_fitted,
    "Forest": check_forest,
    "HSICSubspace": check_kept_rows,
    "InductiveKernel": check_kept_rows,
    "KernelClassifier": check_ensemble_model,
    "KernelDiscriminant": check_kept_rows,
    "KernelDiscriminantQR": check_kept_rows,
    "KernelIndex": check_index,
    "KernelLMNN": check_kept_rows,
    "KernelMCML": check_kept_rows,
    "KernelMMC": check_kept_rows,
    "KernelNCA": check_kept_rows,
    "KernelOrthogonalCentroid": check_kept_rows,
    "KernelPLS": check_kept_rows,
    "KernelPLSRegressor": check_kept_rows,
    "KernelRCA": check_kept_rows,
    "KernelRegressor": check_ensemble_model,
    "LabelTargets": check_label_targets,
    "MultiKernelSVC": check_machines,
    "NumberTargets": check_value_rows,
    "PairClassifier": check_kept_rows,
    "Pipeline": check_pipeline,
    "Probe": check_probe,
    "ReadRows": check_read_rows,
    "ReferenceRows": check_reference,
    "StackedSubspaceKernel": check_stacked,
    "SubspaceSVC": check_machines,
    "Table": check_table,
    "TableReader": check_reader,
    "TableView": check_view,
    "Targets": check_group_rows,
    "TrainingRows": check_training_rows,
    "Tree": check_tree,
}
CHECKS: Mapping[str, Callable[[Held], None]] = MappingProxyType(
    {f"{OURS[name]}.{name}": check for name, check in BY_NAME.items()}
    | {"sklearn.pipeline.Pipeline": check_pipeline}
)
