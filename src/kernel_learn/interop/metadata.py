"""What is written beside a model, and how it is told."""

import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, SupportsInt

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline

from kernel_learn._version import __version__
from kernel_learn.arrays import Rows
from kernel_learn.ensemble.estimator import EnsembleEstimator
from kernel_learn.estimators.discriminant_qr import KernelDiscriminantQR
from kernel_learn.estimators.expansion import ExpansionSVC
from kernel_learn.estimators.feature_scales import FeatureScales
from kernel_learn.interop.archive import Node
from kernel_learn.interop.state import parts_of
from kernel_learn.interop.words import kernel_in_words, sum_in_words
from kernel_learn.kernels.base import Kernel
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.rows.access import n_rows
from kernel_learn.rows.keys import row_keys
from kernel_learn.warn import escaped

Held = Any  # a value of JSON
FORMAT = 2
MOST_CLASSES = 20
MOST_NAMES = 1000
# Where steps of scikit-learn's keep rows, and kernels of ours.
KEEPERS = ("_fit_X", "support_vectors_", "X_fit_")
KERNELS_ROWS = ("landmarks", "X_graph")
PACKAGES = ("scikit-learn", "numpy", "scipy", "skops")
FEWER = (
    "To make a model that carries fewer: landmarks=100 in HSICSubspace, KernelDiscriminant or "
    "SubspaceSVC keeps 100 rows, landmarks='kmeans' keeps averages of rows, ExpansionSVC keeps "
    "n_points points that are moved, and KernelClassifier(max_members=1) keeps the rows once, in "
    "one view. Classifiers keep up to 250 rows besides, which new rows are compared with."
)


def describe_model(model: BaseEstimator, *, uses_skrub: bool) -> Node:
    """The metadata of a fitted model."""
    packages = (*PACKAGES, "skrub") if uses_skrub else PACKAGES
    return {
        "format": FORMAT,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "class": _class_in_words(model),
        "versions": {
            "kernel-learn": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in packages},
        },
        "columns": _as_int(getattr(model, "n_features_in_", None)),
        "names": _column_names(model),
        "classes": _classes(model),
        "parts": [_describe_part(part) for part in our_parts(model)],
        "others": _rows_of_others(model),
    }


def _column_names(model: BaseEstimator) -> list[str]:
    """What a model that finds columns by name asks of a table; none of a wide or sparse one."""
    if not hasattr(model, "missing_columns") or model.is_sparse_:
        return []
    used: list[str] = model.columns_.used
    return used if len(used) <= MOST_NAMES else []


def our_parts(model: BaseEstimator) -> Iterator[BaseEstimator]:
    """The fitted estimators of this library within a model, itself included."""
    return filter(_is_our_estimator, held_estimators(model))


def _is_our_estimator(part: BaseEstimator) -> bool:
    """Whether it is a fitted estimator of this library; one around it may have its attributes."""
    return type(part).__module__.startswith("kernel_learn.") and hasattr(part, "plan_")


def _rows_of_others(model: BaseEstimator) -> list[Node]:
    """Steps of scikit-learn's that keep the rows which reach them, and how many."""
    if isinstance(model, Kernel):
        rows = _count_rows(_rows_of_kernels(model))
        return [{"class": type(model).__name__, "rows": rows}] if rows else []
    found = []
    for part in held_estimators(model):
        names = ("components_",) if isinstance(part, Nystroem) else KEEPERS
        held = next((vars(part)[name] for name in names if name in vars(part)), None)
        if held is not None and not type(part).__module__.startswith("kernel_learn."):
            found.append({"class": type(part).__name__, "rows": int(held.shape[0])})
    return found


def held_estimators(model: BaseEstimator) -> Iterator[BaseEstimator]:
    """The estimators within a model that are no part of one of ours, itself included."""
    waiting, seen = [model], set()
    while waiting:
        part = waiting.pop(0)
        if id(part) in seen or isinstance(part, Kernel):
            continue
        seen.add(id(part))
        if isinstance(part, list | tuple):
            waiting += part
        elif isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, BaseEstimator):
            yield part
            waiting += [] if _is_our_estimator(part) else vars(part).values()
        elif type(part).__module__ == "sklearn.calibration":  # holds a model, and is none
            waiting += vars(part).values()


def _describe_part(part: BaseEstimator) -> Node:
    return {
        "class": type(part).__name__,
        "kernel": _kernel(part),
        "plan": str(part.plan_),
        "rows": _as_int(getattr(part.plan_, "n_given", 0) or part.plan_.n_rows),
        "digest": getattr(part, "_rows_digest", ""),
        "carried": carried_rows(part),
        "carries": _what_is_carried(part),
    }


def carried_rows(model: BaseEstimator) -> int:
    """How many training rows a fitted model holds, wherever they stand in it."""
    if isinstance(model, EnsembleEstimator):
        return int(model._fitted.ensemble.targets.n)
    calibration = getattr(model, "_calibration", None)
    reference = None if calibration is None else calibration.reference
    blocks = [_compared_rows(model), None if reference is None else reference.rows]
    blocks += _rows_of_kernels(model.base_kernel_)
    blocks += _rows_of_constraints(getattr(model, "constraints", None))
    return _count_rows([rows for rows in blocks if rows is not None])


def predicting_rows(model: BaseEstimator) -> int:
    """How many of them its predictions are made of."""
    rows = _compared_rows(model)
    return 0 if rows is None else n_rows(rows)


def _compared_rows(model: BaseEstimator) -> Rows | None:
    """The training rows that new ones are compared with, if they are rows."""
    if not _holds_rows(model):
        return None
    rows = getattr(model, "_support_rows", None)
    kernel = getattr(model, "embedding_", getattr(model, "kernel_", None))
    rows = getattr(kernel, "landmarks", None) if rows is None else rows
    return getattr(model, "expansion_points_", None) if rows is None else rows


def _rows_of_kernels(kernel: Kernel) -> list[Rows]:
    """Rows that kernels hold themselves, at any depth: of a graph, or of an earlier fit."""
    found: list[Rows] = []
    for part in parts_of(kernel):
        if isinstance(part, Kernel):
            held = (getattr(part, name, None) for name in KERNELS_ROWS)
            found += [rows for rows in held if len(getattr(rows, "shape", ())) > 0]
    return found


def _rows_of_constraints(constraints: object) -> list[Rows]:
    """Rows that are given in pairs, triplets or quadruplets, (m, 2, d) and so on."""
    held = [own for part in parts_of(constraints) for own in vars(part).values()]
    arrays = [own for own in held if isinstance(own, np.ndarray)]
    given = [own for own in arrays if own.ndim == len("mpd") and own.size]
    return [own.reshape(-1, own.shape[-1]) for own in given]


def _count_rows(blocks: list[Rows]) -> int:
    """Those of the largest block, and those of others that are not in it."""
    if not blocks:
        return 0
    first, *others = sorted(blocks, key=n_rows, reverse=True)
    if not others:
        return n_rows(first)
    keys = [row_keys(rows) for rows in (first, *others)]
    return len(keys[0]) + len(np.setdiff1d(np.concatenate(keys[1:]), keys[0]))


def _holds_rows(model: BaseEstimator) -> bool:
    """Whether what the model compares new rows with are rows, not points made of them."""
    kernel = model.base_kernel_
    if kernel.input == "matrix" or model.plan_.representation == "explicit":
        return False
    if isinstance(model, ExpansionSVC):
        return not model.move_points and not _are_averages(model.init)
    if isinstance(model, KernelDiscriminantQR):
        return False  # class means
    averages = _are_averages(getattr(model, "landmarks", "auto"))
    return not (averages and model.plan_.n_landmarks < model.plan_.n_rows)


def _are_averages(landmarks: LandmarksLike) -> bool:
    rule = getattr(landmarks, "rule", landmarks)
    return isinstance(rule, str) and rule == "kmeans"


def _what_is_carried(model: BaseEstimator) -> str:
    if isinstance(model, EnsembleEstimator):
        count = len(model._fitted.ensemble.training.rows)
        return f"each in {count} view{'s' * (count > 1)}"
    if carried_rows(model):
        return ""
    if isinstance(model, FeatureScales):
        return "it holds scales of columns"
    if model.base_kernel_.input == "matrix":
        return "its rows were a kernel matrix"
    if model.plan_.representation == "explicit":
        return "the kernel has features of its own"
    return (
        "it holds points made of rows (centres, averages or moved points; the average of a "
        "single row is that row)"
    )


def _kernel(part: BaseEstimator) -> str:
    if isinstance(part, EnsembleEstimator):
        members = part.members_
        views = sorted({member.view for member in members})
        kernels = [member.kernel for member in members]
        if not kernels:
            return "none: every row looks the same"
        text = sum_in_words(kernels, [member.weight for member in members])
        return f"{text}; on the views {', '.join(views)}"
    return kernel_in_words(part.base_kernel_)


def _class_in_words(model: BaseEstimator) -> str:
    if isinstance(model, Pipeline):
        return f"Pipeline({', '.join(type(step).__name__ for _, step in model.steps)})"
    return type(model).__name__


def _classes(model: BaseEstimator) -> list[str] | None:
    classes = getattr(model, "classes_", None)
    if classes is None or len(classes) > MOST_CLASSES:
        return None
    return [str(label) for label in np.asarray(classes).tolist()]


def _as_int(value: SupportsInt | None) -> int | None:
    return None if value is None else int(value)


def escaped_parts(value: Held) -> Held:
    """What a file says with its texts written out, at any depth."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, dict):
        return {escaped_parts(key): escaped_parts(own) for key, own in value.items()}
    return [escaped_parts(own) for own in value] if isinstance(value, list) else value


def metadata_in_words(metadata: Node) -> str:
    """The text of kernel_learn.describe."""
    metadata = escaped_parts(metadata)
    versions = {str(name): str(number) for name, number in metadata["versions"].items()}
    own = versions.pop("kernel-learn", "?")
    others = ", ".join(f"{name} {number}" for name, number in versions.items())
    lines = [
        f"{metadata.get('class')}, written {metadata.get('written')} by kernel-learn {own} "
        f"({others})."
    ]
    if metadata.get("columns") is not None:
        lines.append(f"Columns: {metadata['columns']}.")
    if metadata.get("classes"):
        lines.append(f"Classes: {', '.join(map(str, metadata['classes']))}.")
    parts = [part for part in metadata.get("parts", []) if isinstance(part, dict)]
    for part in parts:
        lines += _part_in_words(part)
    steps = [step for step in metadata.get("others", []) if isinstance(step, dict)]
    lines += [
        f"{step.get('class')}: The file contains {step.get('rows')} training rows as they reach it."
        for step in steps
    ]
    if steps or any(part.get("carried") for part in parts):
        lines.append("Whoever has the file has these rows. " + FEWER)
    elif not parts:
        lines.append("No part of it is known to keep training rows.")
    return "\n".join(lines)


def _part_in_words(part: Node) -> list[str]:
    digest = f" (digest {part['digest']})" if part.get("digest") else ""
    why = f", {part['carries']}" if part.get("carries") else ""
    if part.get("carried"):
        held = f"The file contains {part['carried']} training rows{why}."
    else:
        held = f"The file contains no training row: {part.get('carries')}."
    return [
        f"{part.get('class')}:",
        f"  Kernel: {part.get('kernel')}.",
        f"  Plan: {part.get('plan')}.",
        f"  Fitted on {part.get('rows')} rows{digest}. {held}",
    ]
