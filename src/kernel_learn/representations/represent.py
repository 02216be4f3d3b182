"""From rows to a representation: the one place that carries out a plan."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kernel_learn.arrays import Array, MemoryBudget, Rows, Seed
from kernel_learn.kernels.bank import Combination, rows_for
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.rules import MEDIAN_ROWS
from kernel_learn.representations.base import Representation
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.gram import GramForm
from kernel_learn.representations.landmarks import (
    COMBINING_RULES,
    Chosen,
    Landmarks,
    LandmarksLike,
    check_landmark_rows,
    check_landmarks,
    combine_rows,
    select_landmarks,
)
from kernel_learn.representations.moment_form import MomentForm
from kernel_learn.representations.plan import Needs, Plan, Size, plan
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.sources import ArraySource
from kernel_learn.representations.summary import row_bytes
from kernel_learn.rows.access import n_columns, take_rows
from kernel_learn.rows.frames import Frame, is_frame
from kernel_learn.rows.table import Table

AnySource = ArraySource | PooledSource

# Rows on which kernels of a bank are brought to a common scale before landmarks are chosen.
SCALE_ROWS = 1000


def plan_source(
    kernels: Sequence[Kernel],
    source: AnySource,
    landmarks: LandmarksLike = "auto",
    memory_budget: MemoryBudget = None,
    needs: Needs | None = None,
    *,
    merge: bool = True,
    default_landmarks: int = 1000,
    **options: Any,
) -> Plan:
    """The plan for some rows, the landmarks asked for and the memory budget."""
    wanted = check_landmarks(landmarks)
    uses_pool, gives, rule = isinstance(wanted, str), False, Landmarks().rule
    if isinstance(wanted, Landmarks):
        rule = wanted.rule
        uses_pool = wanted.rule not in ("uniform", "stratified")
        wanted = wanted.count or default_landmarks
    elif not isinstance(wanted, str):
        gives, wanted = True, check_landmark_rows(wanted, kernels, source.X)
    size = plan_size(kernels, source, merge=merge, uses_pool=uses_pool)
    size = replace(size, gives_landmarks=gives, rule=rule)
    return plan(
        size,
        wanted,  # type: ignore[arg-type]  # one of its words, or a number
        needs,
        memory_budget=memory_budget,
        default_landmarks=default_landmarks,
        **options,
    )


def plan_size(
    kernels: Sequence[Kernel], source: AnySource, *, merge: bool = True, uses_pool: bool = True
) -> Size:
    """What a plan needs to know of these rows and kernels."""
    n, few = source.n_distinct, source.summary.weight[:MEDIAN_ROWS]
    is_weighted = bool(np.any(few != few[0]))
    return Size(
        n_rows=source.n_rows,
        n_distinct=n,
        n_kernels=len(kernels),
        n_targets=max(1, source.n_targets),
        row_bytes=0.0 if source.is_matrix else row_bytes(source.X),
        itemsize=4 if getattr(source.X, "dtype", None) == np.float32 else 8,
        row_copies=max(kernel.row_copies for kernel in kernels),
        gram_copies=max(kernel.gram_copies(n_columns(source.X)) for kernel in kernels),
        rule_bytes=max(kernel.rule_bytes(n, is_weighted) for kernel in kernels),
        rule_rows=max(rule_rows(kernel, n) for kernel in kernels),
        pool=len(source.summary.rows) if uses_pool else 0,
        explicit=kernels[0].explicit_dimension(source.X) if len(kernels) == 1 else None,
        merges=merge,
        copied_bytes=source.copied_bytes,
        is_stream=isinstance(source, PooledSource),
        is_open=isinstance(source, PooledSource) and source.is_open,
    )


def rule_rows(kernel: Kernel, n: int) -> int:
    """How many of n distinct rows the rules of a kernel look at."""
    if kernel.rule_bytes(n) == 0 or kernel.input == "matrix":
        return 0
    return n if kernel.pool_rows is None else min(n, kernel.pool_rows)


def represent(
    kernels: Sequence[Kernel],
    source: AnySource,
    chosen_plan: Plan,
    landmarks: LandmarksLike = "auto",
    *,
    mixing: Array | None = None,
    center: bool = True,
    merge: bool = True,
    random_state: Seed = None,
    holds: Callable[[Plan, FeatureMap], bool] | None = None,
    **options: Any,
) -> Representation:
    """The representation that the plan asks for; ``merge=False`` keeps repeated rows apart.

    ``holds`` says whether landmark features of rows in memory are kept for further passes.
    """
    if chosen_plan.representation == "gram":
        order, groups = None, source.groups
        if merge or isinstance(source, PooledSource):
            X, T, weight = source.merged()
            order = source.merged_place
            groups = None if groups is None else groups[np.sort(source.first)]
        else:
            X, T, weight = source.X, source.targets(source.labels), source.weight
        options |= {"mixing": mixing, "center": center, "n_kept": chosen_plan.n_kept}
        options |= {"order": order, "groups": groups}
        form: Representation = GramForm(kernels, X, T, weight, **options)
        form.again = partial(GramForm, kernels, X, T, weight, **options)
        return form
    held: list[Array] | None = None
    if isinstance(source, PooledSource):
        assert source.state.features is not None and source.state.moments is not None
        features, moments = source.state.features, source.state.moments
    else:
        features = build_features(kernels, source, chosen_plan, landmarks, random_state)
        held = [] if holds is not None and holds(chosen_plan, features) else None
        moments = features.moments(source, chosen_plan.block_rows, held)
    form = MomentForm(
        features,
        moments,
        mixing=mixing,
        center=center,
        source=source,
        block_rows=chosen_plan.block_rows,
        held=held,
    )
    form.again = lambda: form
    return form


def build_features(
    kernels: Sequence[Kernel],
    source: AnySource,
    chosen_plan: Plan,
    landmarks: LandmarksLike,
    random_state: Seed,
) -> FeatureMap:
    """The feature map of a plan: the kernel's own, or whitened landmarks."""
    kernel, X = kernels[0], source.X
    if chosen_plan.representation == "explicit":
        return FeatureMap(kernels, kernel.explicit_landmarks(X), [None], residual=0.0)
    if chosen_plan.representation == "gram":
        rows = take_rows(X, source.first)
        return FeatureMap.whitened(kernels, kernel.reference(X, source.first), rows, 0.0)
    spec = check_landmarks(landmarks)
    if isinstance(spec, Landmarks) and spec.rule in COMBINING_RULES and len(kernels) == 1:
        return combine_features(kernel, source, chosen_plan.n_landmarks, spec, random_state)
    total = kernel if len(kernels) == 1 else scaled_sum(kernels, source)
    chosen = landmark_rows(total, source, chosen_plan, landmarks, random_state)
    if chosen.indices is None:
        return FeatureMap.whitened(kernels, chosen.rows)
    reference = kernel.reference(X, chosen.indices)
    return FeatureMap.whitened(kernels, reference, chosen.rows, chosen.residual)


def scaled_sum(kernels: Sequence[Kernel], source: AnySource) -> Combination:
    """The sum of the kernels, each scaled to mean diagonal one: common landmarks are for it."""
    few = take_rows(source.X, source.summary.rows[:SCALE_ROWS])
    diagonals = [float(np.mean(kernel.diag(rows_for(kernel, few)))) for kernel in kernels]
    return Combination(kernels, np.array([1 / d if d > 0 else 0.0 for d in diagonals]))


def landmark_rows(
    kernel: Kernel,
    source: AnySource,
    chosen_plan: Plan,
    landmarks: LandmarksLike,
    random_state: Seed,
) -> Chosen:
    """The rows that the user gave, or those that a rule picks."""
    spec = check_landmarks(landmarks)
    spec = Landmarks() if isinstance(spec, str) else spec
    if isinstance(spec, Landmarks) and spec.rule in COMBINING_RULES:
        raise ValueError(f'landmarks="{spec.rule}" combines rows, and rows are needed here.')
    if isinstance(spec, Landmarks):
        return select_landmarks(
            spec.rule,
            chosen_plan.n_landmarks,
            kernel,
            source.X,
            source.summary.rows[: chosen_plan.pool_rows or None],
            source.summary.weight[: chosen_plan.pool_rows or None],
            check_random_state(random_state),
            source.summary.labels[: chosen_plan.pool_rows or None] if source.n_classes else None,
        )
    rows = spec if hasattr(spec, "shape") else np.asarray(spec)
    if is_frame(rows):
        return Chosen(read_frame(rows, kernel, source.X), None, None)
    if len(rows.shape) == 1 and rows.dtype.kind in "iu":
        return Chosen(take_rows(source.X, rows), rows, None)
    return Chosen(rows, None, None)


def read_frame(frame: Frame, kernel: Kernel, X: Rows) -> Rows:
    """A frame of landmarks as rows of the kind of X."""
    rows = Table.of(frame, kernel.numeric_columns(frame))
    if not isinstance(X, Table):
        return rows.matrix()
    if X.names is not None and rows.names != X.names:
        raise ValueError(
            f"landmarks has the columns {', '.join(rows.names or ())}, and X {', '.join(X.names)}: "
            "give landmarks the columns of X, in their order."
        )
    return rows


def combine_features(
    kernel: Kernel,
    source: AnySource,
    count: int,
    spec: Landmarks,
    random_state: Seed,
) -> FeatureMap:
    """A map onto combinations of all rows of the summary."""
    if spec.rule == "clusters" and kernel.input != "vectors":
        raise ValueError(
            f'landmarks="clusters" averages rows, and a row here is one of {kernel.input}. '
            'Use "random".'
        )
    pool = source.summary.rows
    rows, rng = take_rows(source.X, pool), check_random_state(random_state)
    J = combine_rows(spec.rule, count, rows, source.summary.weight, rng)
    return FeatureMap.combined(kernel, kernel.reference(source.X, pool), J, rows)
