"""The problem that an inductive kernel solves: what goes together, and how it is scored."""

from typing import Protocol

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.constraints import Constraints
from kernel_learn.criteria.general_forms.penalties import (
    Penalty,
    PricedPenalty,
    SquaredHinge,
    as_penalty,
)
from kernel_learn.criteria.inductive import RegularizedDual
from kernel_learn.criteria.learned_metric import is_met
from kernel_learn.criteria.measure import (
    REFERENCE_ROWS,
    BaseReference,
    LinearConstraints,
    base_values,
)
from kernel_learn.criteria.regularizers import BY_TAU, Regularizer, as_regularizer
from kernel_learn.fitting.inductive_rows import number_rows
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.rows.access import n_rows, take_rows


class Choices(Protocol):
    """The parameters of an estimator that make the problem."""

    regularizer: str | Regularizer
    penalty: str | Penalty
    slack: float
    tau: float
    solver: str


def read_parts(chosen: Choices) -> tuple[Regularizer, Penalty | None]:
    """Regulariser and penalty (None: the squared hinge), or a sentence on what does not go."""
    name, is_hard = chosen.regularizer, not np.isfinite(chosen.slack)
    by_tau = isinstance(name, str) and name in BY_TAU
    if by_tau and chosen.tau >= 1:
        raise ValueError(
            f"InductiveKernel(tau={chosen.tau!r}): tau is relative to the value from which on "
            "the learned kernel is zero, so it must be less than 1."
        )
    regularizer, penalty = as_regularizer(name, float(chosen.tau)), as_penalty(chosen.penalty)
    if is_hard and chosen.solver in ("bregman", "uzawa"):
        raise ValueError(
            f'slack=inf is for solver="auto" and "quasi-newton"; "{chosen.solver}" needs a '
            "finite slack."
        )
    if is_hard and by_tau:
        raise ValueError(
            "tau is relative to the value from which on the learned kernel is zero, and under "
            'slack=inf there is none: give a finite slack, or use "pola", "frobenius" or '
            '"logdet".'
        )
    if chosen.solver == "bregman" and name != "logdet":
        raise ValueError(
            'solver="bregman" projects in closed form, which logdet alone allows; '
            'use "quasi-newton".'
        )
    if chosen.solver == "uzawa" and np.isfinite(regularizer.domain):
        raise ValueError(
            'solver="uzawa" takes steps of fixed length, and the dual of this regulariser '
            'has a boundary that they would cross; use "quasi-newton" or "bregman".'
        )
    plain = type(penalty) is SquaredHinge
    special = not plain or not regularizer.is_strictly_convex
    if special and (is_hard or chosen.solver != "auto"):
        what = "this regulariser, which is not strictly convex," if plain else "this penalty"
        raise ValueError(f'{what} is for solver="auto" and a finite slack.'.capitalize())
    return regularizer, None if plain else penalty


def build_dual(
    regularizer: Regularizer,
    constraints: LinearConstraints,
    chosen: Choices,
    gamma: float,
    price: PricedPenalty | None,
) -> tuple[RegularizedDual, float | None]:
    """(the dual, tau as a number); refuses a problem whose answer is the zero kernel."""
    dual = RegularizedDual(regularizer, constraints, gamma)
    if regularizer.alpha != 0:
        return dual, None
    threshold = dual.zero_threshold(price)
    if threshold <= 0:
        raise ValueError(
            f"regularizer={chosen.regularizer!r} starts from the zero kernel, and the zero "
            "kernel meets all of these constraints: the answer would be zero. Add "
            "constraints that ask for distance or similarity (dissimilar pairs, say), or "
            'use "logdet" or "frobenius", which start from the base kernel.'
        )
    if not (isinstance(chosen.regularizer, str) and chosen.regularizer in BY_TAU):
        return dual, None
    tau = float(chosen.tau) * threshold
    return RegularizedDual(as_regularizer(chosen.regularizer, tau), constraints, gamma), tau


def met_share(constraints: Constraints, X: Rows, base: Kernel, learned: Kernel) -> float:
    """Share of constraints on rows X that a learned kernel meets, by their own values under it."""
    constraints.check_rows(n_rows(X))
    indexed, rows = number_rows(base, X, constraints)
    few = to_double(take_rows(rows, indexed.rows()[:REFERENCE_ROWS]))
    reference = BaseReference(base(few))
    terms = indexed.terms(reference)
    bound = terms.bound
    if terms.base_share.any():
        bound = bound + terms.base_share * np.maximum(base_values(terms, base, rows), 0.0)
    excess = terms.sign * base_values(terms, learned, rows) - bound
    return float(np.mean(is_met(excess, reference.scale)))


def nearest_accuracy(D: Array, labels: Array) -> float:
    """Share of rows whose nearest other row has their label."""
    D = D.copy()
    np.fill_diagonal(D, np.inf)
    return float(np.mean(labels[np.argmin(D, axis=1)] == labels))
