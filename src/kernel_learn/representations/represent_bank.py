"""From rows and several kernels to a bank: n x n, or moments if they are smaller."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernel_learn.kernels.bank import Combination, rows_for
from kernel_learn.kernels.base import Kernel, take_rows
from kernel_learn.kernels.pairwise import n_rows
from kernel_learn.representations.bank import WORKING_MATRICES, GramBank, KernelBank, MomentBank
from kernel_learn.representations.base import Array
from kernel_learn.representations.features import Features
from kernel_learn.representations.landmarks import Landmarks, check_landmarks
from kernel_learn.representations.plan import DEFAULT_LANDMARKS, EXACT_ROWS, parse_memory, plan
from kernel_learn.representations.represent import choose_landmarks
from kernel_learn.representations.sources import Sample

# Features of all kernels together if the rows are too many to be exact and
# nobody said how many: one factorisation of that size per step is a second.
DEFAULT_FEATURES = 2 * DEFAULT_LANDMARKS


def represent_bank(
    kernels: Sequence[Kernel],
    sample: Sample,
    mixing: Array,  # (q, r): L = T mixing
    landmarks: Any = "auto",
    memory_budget: float | str | None = None,
    random_state: Any = None,
) -> KernelBank:
    """The smaller of the two forms: n x n Gram matrices, or moments of all kernels' features.

    ``landmarks`` are per kernel. If the kernels' features together are not
    fewer than the rows the exact bank costs less and is taken.
    """
    n, M = sample.n_distinct, bank_features(kernels, sample, landmarks, memory_budget)
    if M is None or n <= M:
        return GramBank(
            kernels, sample.X, sample.T @ mixing, sample.weight, memory_budget=memory_budget
        )
    features = bank_feature_maps(kernels, sample, landmarks, M, memory_budget, random_state)
    block_rows = plan(n_rows(sample.X), M, memory_budget=memory_budget).block_rows
    return MomentBank.of(features, sample.X, sample.T, sample.weight, block_rows, mixing)


def bank_features(
    kernels: Sequence[Kernel], sample: Sample, landmarks: Any, memory_budget: float | str | None
) -> int | None:
    """How many features the kernels would have together; None if Gram matrices are wanted."""
    wanted, n, p = check_landmarks(landmarks), sample.n_distinct, len(kernels)
    if isinstance(wanted, Landmarks):
        return p * (wanted.count or max(1, DEFAULT_FEATURES // p))
    if not isinstance(wanted, str):
        return p * n_rows(wanted)
    if wanted == "all":
        return None
    if n <= EXACT_ROWS and WORKING_MATRICES * 8 * n**2 <= parse_memory(memory_budget):
        return None
    return p * max(1, DEFAULT_FEATURES // p)


def bank_feature_maps(
    kernels: Sequence[Kernel],
    sample: Sample,
    landmarks: Any,
    M: int,
    memory_budget: float | str | None,
    random_state: Any,
) -> list[Features]:
    """One map per kernel on common landmarks.

    The landmarks are chosen for the sum of the kernels, each scaled to mean
    diagonal one, and whitened for each kernel.
    """
    few = take_rows(sample.X, sample.first[:1000])
    diagonals = [float(np.mean(kernel.diag(rows_for(kernel, few)))) for kernel in kernels]
    total = Combination(kernels, np.array([1 / d if d > 0 else 0.0 for d in diagonals]))
    chosen = plan(sample.n_distinct, M // len(kernels), memory_budget=memory_budget)
    found = choose_landmarks(total, sample, chosen, landmarks, random_state)
    reference = found.rows
    if found.indices is not None:
        reference = total.reference(sample.X, found.indices)
    return [Features.whitened(kernel, reference, found.rows) for kernel in kernels]
