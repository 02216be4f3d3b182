"""The rows that constraints touch: their numbering, the plan of the fit, and their features."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array, MemoryBudget, Rows, Seed
from kernel_learn.criteria.constraint_terms import Terms, describe_constraint
from kernel_learn.criteria.constraints import Constraints, Pairs
from kernel_learn.criteria.inductive import NEWTON_BLOCK, NEWTON_SIZE
from kernel_learn.criteria.inductive_solve import NEWTON_SLACK
from kernel_learn.criteria.measure import REFERENCE_ROWS, base_values
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.plan import Needs, Plan
from kernel_learn.representations.points import Points, exact_points, feature_points
from kernel_learn.representations.represent import build_features, plan_source
from kernel_learn.representations.sources import ArraySource
from kernel_learn.representations.summary import stack_rows
from kernel_learn.rows.access import is_sparse, n_rows, take_rows
from kernel_learn.rows.check_rows import check_magnitude
from kernel_learn.solvers.metric_system import DIRECT_SIZE
from kernel_learn.warn import warn_user

# Up to so many constrained rows the problem is solved exactly without being asked
# to: each of some dozen evaluations decomposes a matrix of that size.
EXACT_ROWS = 1000
DEFAULT_LANDMARKS = 500
NAMED = 5  # of the constraints that contradict each other


@dataclass(frozen=True)
class ConstrainedRows:
    """The rows of a fit, and the constraints on some of them."""

    kernel: Kernel
    source: ArraySource  # the rows of X, and those that came with the constraints
    whole: ArraySource  # the rows of X
    constraints: Constraints
    rows: Array  # indices of the constrained ones, ascending

    @cached_property
    def constrained(self) -> ArraySource:
        return self.source.subset(self.rows)

    def resolved(self) -> "ConstrainedRows":
        pool = self.whole.summary.pool(self.whole.X)
        resolved = replace(self, kernel=self.kernel.resolve_on(pool))
        resolved.__dict__["constrained"] = self.constrained
        return resolved

    def plan(
        self, landmarks: LandmarksLike, memory_budget: MemoryBudget, slack: float
    ) -> tuple[Plan, LandmarksLike]:
        """How the fit is carried out, and on what landmarks."""
        terms = self.constraints.terms(UnitReference())
        n_terms, n_constraints = len(terms.left), len(terms.sign)

        def extra(n: int, M: int) -> float:
            """Sides of the constraints and their image, features of the rows, Newton's matrices."""
            q = M * (M + 1) // 2
            newton = 8.0 * q * (2 * q + 3 * NEWTON_BLOCK) if q <= NEWTON_SIZE else 0.0
            if slack > NEWTON_SLACK and n_constraints <= DIRECT_SIZE:  # products of terms in pairs
                newton = max(newton, 8.0 * 6 * n_terms**2)
            return 8.0 * M * (6 * n_terms + 2 * len(self.rows)) + newton

        def planned(landmarks: LandmarksLike, source: ArraySource) -> Plan:
            return plan_source(
                [self.kernel],
                source,
                landmarks,
                memory_budget,
                Needs(16.0, 16.0, reordered=True, extra=extra, remedy="fewer constraints"),
                exact_rows=EXACT_ROWS,
                default_landmarks=DEFAULT_LANDMARKS,
            )

        if isinstance(landmarks, str) and landmarks in ("auto", "all"):
            plan = planned(landmarks, self.constrained)
            if plan.representation != "landmarks":
                return plan, landmarks
            return planned(plan.n_landmarks, self.whole), plan.n_landmarks
        return planned(landmarks, self.whole), landmarks

    def measure(
        self, plan: Plan, landmarks: LandmarksLike, rng: Seed
    ) -> tuple[FeatureMap, Points, Array]:
        """The feature map, the constrained rows in it, and their kernel; each value once.

        The kernel is the base kernel among (some of) the distinct ones, in the order of keys.
        """
        source, rows = self.source, self.rows
        if plan.representation == "gram":
            return exact_points(self.kernel, source, rows, self.constrained)
        chosen_from = self.constrained if plan.representation == "explicit" else self.whole
        features = build_features([self.kernel], chosen_from, plan, landmarks, rng)
        points = feature_points(features, source, rows, self.constrained)
        few = rows[self.constrained.first[:REFERENCE_ROWS]]
        X_few = to_double(take_rows(source.X, few))
        is_matrix = self.kernel.input == "matrix"
        X_ref = to_double(self.kernel.reference(source.X, few)) if is_matrix else None
        return features, points, self.kernel(X_few, X_ref)

    def base_values(self, plan: Plan) -> Callable[[Terms], Array] | None:
        """<C_c, K> under the base kernel; None where the features reproduce it."""
        if plan.representation != "landmarks":
            return None
        return partial(base_values, kernel=self.kernel, X=self.source.X)


class UnitReference:
    """Stands for the base kernel's percentiles where only the constraints are counted."""

    def distance(self, q: float) -> float:
        return 1.0

    def similarity(self, q: float) -> float:
        return 1.0


def number_rows(kernel: Kernel, X: Rows, constraints: Constraints) -> tuple[Constraints, Rows]:
    """The constraints by numbers of rows: those of X, and after them those that they bring."""
    parts, n = [X], n_rows(X)

    def index(tuples: Array, name: str) -> Array:
        if tuples.ndim == 2:
            if tuples.size and tuples.max() >= n:
                raise ValueError(
                    f"{name} names row {tuples.max()}, and X has {n} rows (indices 0 to {n - 1})."
                )
            return tuples
        start = sum(map(n_rows, parts))
        flat = brought_rows(kernel, X, tuples, name)
        parts.append(sparse.csr_matrix(flat) if is_sparse(X) else flat)
        return np.arange(start, start + len(flat)).reshape(tuples.shape[:2])

    indexed = constraints.indexed(index)
    return indexed, stack_rows(*parts)


def brought_rows(kernel: Kernel, X: Rows, tuples: Array, name: str) -> Array:
    """The rows that constraints hold, one below the other; refuses those that are not as X's."""
    if kernel.input != "vectors":
        raise ValueError(
            f"{name} holds rows of numbers, and a row here is one of {kernel.input}: "
            "give indices of rows of X."
        )
    if tuples.shape[2] != X.shape[1]:
        raise ValueError(f"{name} holds rows of {tuples.shape[2]} columns, and X has {X.shape[1]}.")
    flat = tuples.reshape(-1, tuples.shape[2]).astype(X.dtype)
    check_magnitude(flat, name)
    return flat


def check_constraints(constraints: object) -> None:
    """Refuse what is not a set of constraints."""
    if not isinstance(constraints, Constraints):
        raise ValueError(
            f"constraints={type(constraints).__name__} is not a set of constraints; see "
            "kernel_learn.constraints: Pairs, Triplets, Quadruplets, Similarities, "
            "ClassProbabilities, Linear."
        )


def ordered_digest(source: ArraySource) -> str:
    """Of the rows in their order, which indices of constraints mean."""
    rows = source.X if source.is_matrix else source.keys
    return hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()


@dataclass(frozen=True)
class Earlier:
    """What ``partial_fit`` keeps of the constraints before."""

    constraints: Constraints
    order_digest: str
    multipliers: Array  # (m,)

    def with_more(self, more: Constraints, order_digest: str) -> Constraints:
        """All constraints so far; refuses other rows."""
        if order_digest != self.order_digest:
            raise ValueError(
                "partial_fit adds constraints on the rows of the calls before, in their order, and "
                "X is not these rows. fit(X, constraints=...) starts anew."
            )
        return self.constraints + more

    def begin(self, m: int) -> Array:
        """Multipliers to start from: those before, and 0 for what is new."""
        return np.concatenate([self.multipliers, np.zeros(m - len(self.multipliers))])


def warn_of_contradictions(constraints: Constraints) -> None:
    """Say how many pairs are listed as similar and as dissimilar."""
    n = sum(family.contradictions() for family in constraints.families if isinstance(family, Pairs))
    if n:
        warn_user(
            f"{n} pairs are listed as similar and as dissimilar; both cannot hold, and the slack "
            "settles between them.",
        )


def refuse_hard(terms: Terms, weight: Array, *, proven: bool) -> None:
    """Name the constraints that weigh most in the proof that not all can be met."""
    order = np.argsort(-weight, kind="stable")
    part = order[weight[order] > 1e-3 * weight[order[0]]]
    named = "; ".join(describe_constraint(terms, c) for c in part[:NAMED])
    others = f" and {len(part) - NAMED} others" if len(part) > NAMED else ""
    what = "cannot all be met" if proven else "were not all met, to the tolerance"
    raise ValueError(
        f"slack=inf allows no violation, and these constraints {what} by any kernel of this form: "
        f"{named}{others}. Give a finite slack, slack=1000 say, or leave some of them out."
    )
