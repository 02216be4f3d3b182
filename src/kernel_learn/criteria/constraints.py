"""Linear constraints on a learned kernel: pairs, triplets, similarities, class probabilities.

What a constraint is; ``draw`` takes some from labels, ``constraint_terms`` has
their common form, ``measure`` their values.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from kernel_learn.arrays import Array
from kernel_learn.criteria.constraint_terms import (
    Terms,
    concatenate_terms,
    distance_terms,
    plain_terms,
    product_terms,
    relative_terms,
)
from kernel_learn.rows.coerce import as_array, as_numbers

Indexer = Callable[[Array, str], Array]

TuplesLike = ArrayLike  # row indices (m, 2 or 3), or the rows themselves (m, 2 or 3, d)
PAIR_KINDS = ("similar", "dissimilar")
BoundLike = float | Sequence[float] | Array | None  # one for all tuples, or one for each


class Reference(Protocol):
    """What bounds are taken from: quantiles of the base kernel on the constrained rows."""

    def distance(self, q: float) -> float: ...

    def similarity(self, q: float) -> float: ...


class Constraints(ABC):
    """Side information on a kernel; sets of constraints add with ``+``."""

    def __add__(self, other: "Constraints") -> "ConstraintSet":
        if not isinstance(other, Constraints):
            return NotImplemented
        return ConstraintSet((*self.families, *other.families))

    @property
    def families(self) -> tuple["Constraints", ...]:
        """The families that were added up; itself if it is one."""
        return (self,)

    @property
    @abstractmethod
    def holds_indices(self) -> bool:
        """Whether rows are named by their index in X, not given themselves."""

    @abstractmethod
    def indexed(self, index: Indexer) -> "Constraints":
        """The same constraints with every row as an index, found by ``index(tuples, name)``."""

    def check_rows(self, n: int) -> None:
        """Refuse constraints that were made for another number of rows of X than ``n``."""
        return  # those that name rows are made for any number of them

    @abstractmethod
    def rows(self) -> Array:
        """Indices of the rows that take part (after ``indexed``)."""

    @abstractmethod
    def terms(self, reference: Reference) -> Terms:
        """The constraints as products of points, with their bounds (after ``indexed``)."""


@dataclass(frozen=True)
class ConstraintSet(Constraints):
    """Several families of constraints at once."""

    members: tuple[Constraints, ...]

    @property
    def families(self) -> tuple[Constraints, ...]:
        return self.members

    @property
    def holds_indices(self) -> bool:
        return any(member.holds_indices for member in self.members)

    def check_rows(self, n: int) -> None:
        for member in self.members:
            member.check_rows(n)

    def indexed(self, index: Indexer) -> "ConstraintSet":
        return ConstraintSet(tuple(member.indexed(index) for member in self.members))

    def rows(self) -> Array:
        return np.unique(np.concatenate([member.rows() for member in self.members]))

    def terms(self, reference: Reference) -> Terms:
        return concatenate_terms([member.terms(reference) for member in self.members])


class PairConstraints(Constraints):
    """Similar and dissimilar pairs, each kind with its bound, an argument of the family."""

    similar: Array
    dissimilar: Array
    bounds: ClassVar[tuple[str, str]]

    @property
    def holds_indices(self) -> bool:
        return self.similar.ndim == 2 and self.dissimilar.ndim == 2

    def indexed(self, index: Indexer) -> Self:
        name = type(self).__name__
        pairs = {kind: index(getattr(self, kind), f"{name}({kind}=)") for kind in PAIR_KINDS}
        return type(self)(**pairs, **{bound: getattr(self, bound) for bound in self.bounds})

    def rows(self) -> Array:
        return np.unique(np.concatenate([self.similar.ravel(), self.dissimilar.ravel()]))


class Pairs(PairConstraints):
    """Distances of pairs: d(i, j) <= similar_max if similar, >= dissimilar_min if dissimilar.

    d is the squared distance in the learned space, K(i,i) + K(j,j) - 2 K(i,j).

    Parameters
    ----------
    similar : array-like of shape (n_pairs, 2) or (n_pairs, 2, n_features)
        Indices of rows of X, or the rows themselves. A pair that is listed twice counts twice.
    dissimilar : array-like of shape (n_pairs, 2) or (n_pairs, 2, n_features)
        Indices of rows of X, or the rows themselves. A pair that is listed twice counts twice.
    similar_max : float or array-like of shape (n_pairs,), default=None
        Bound on the squared distance; None: the 5th percentile of the base kernel's squared
        distances between the rows that take part.
    dissimilar_min : float or array-like of shape (n_pairs,), default=None
        The same; None: the 95th percentile.
    """

    bounds = ("similar_max", "dissimilar_min")

    def __init__(
        self,
        similar: TuplesLike | None = None,
        dissimilar: TuplesLike | None = None,
        *,
        similar_max: BoundLike = None,
        dissimilar_min: BoundLike = None,
    ) -> None:
        self.similar = check_tuples(similar, 2, "Pairs(similar=)")
        self.dissimilar = check_tuples(dissimilar, 2, "Pairs(dissimilar=)")
        self.similar_max = check_bound(similar_max, len(self.similar), "Pairs(similar_max=)")
        self.dissimilar_min = check_bound(
            dissimilar_min, len(self.dissimilar), "Pairs(dissimilar_min=)"
        )
        check_some(self, self.similar, self.dissimilar)
        check_form(self, self.similar, self.dissimilar)

    @classmethod
    def from_signs(cls, pairs: TuplesLike, signs: ArrayLike, **bounds: BoundLike) -> "Pairs":
        """Pairs with +1 for similar and -1 for dissimilar, as metric-learn takes them."""
        pairs = as_array(pairs, "Pairs.from_signs: pairs")
        signs = as_array(signs, "Pairs.from_signs: signs")
        if signs.shape != pairs.shape[:1] or pairs.ndim == 0 or not np.isin(signs, (-1, 1)).all():
            raise ValueError("Pairs.from_signs: signs must hold +1 or -1 for each pair.")
        return cls(pairs[signs == 1], pairs[signs == -1], **bounds)

    def contradictions(self) -> int:
        """How many pairs are listed as similar and as dissimilar, with bounds that exclude it."""
        upper = default_bound(self.similar_max, len(self.similar), lambda: -np.inf)
        lower = default_bound(self.dissimilar_min, len(self.dissimilar), lambda: np.inf)
        most = strictest(self.similar, -upper)
        least = strictest(self.dissimilar, lower)
        return sum(-most[pair] < least[pair] for pair in most.keys() & least.keys())

    def terms(self, reference: Reference) -> Terms:
        upper = default_bound(self.similar_max, len(self.similar), lambda: reference.distance(5))
        lower = default_bound(
            self.dissimilar_min, len(self.dissimilar), lambda: reference.distance(95)
        )
        return concatenate_terms(
            [
                distance_terms(self.similar, 1.0, upper),
                distance_terms(self.dissimilar, -1.0, -lower),
            ]
        )


class Triplets(Constraints):
    """Relative distances: d(anchor, negative) - d(anchor, positive) >= margin.

    Parameters
    ----------
    triplets : array-like of shape (n_triplets, 3) or (n_triplets, 3, n_features)
        (anchor, positive, negative): indices of rows of X, or the rows themselves.
    margin : float or array-like of shape (n_triplets,), default=None
        None: the 5th percentile of the base kernel's squared distances.
    """

    def __init__(self, triplets: TuplesLike, *, margin: BoundLike = None) -> None:
        self.triplets = check_tuples(triplets, 3, "Triplets(triplets=)")
        self.margin = check_bound(margin, len(self.triplets), "Triplets(margin=)")
        check_some(self, self.triplets)

    @property
    def holds_indices(self) -> bool:
        return self.triplets.ndim == 2

    def indexed(self, index: Indexer) -> "Triplets":
        return Triplets(index(self.triplets, "Triplets(triplets=)"), margin=self.margin)

    def rows(self) -> Array:
        return np.unique(self.triplets)

    def terms(self, reference: Reference) -> Terms:
        margin = default_bound(self.margin, len(self.triplets), lambda: reference.distance(5))
        return relative_terms(self.triplets[:, [0, 1]], self.triplets[:, [0, 2]], margin)


class Similarities(PairConstraints):
    """Kernel values of pairs: K(i, j) >= similar_min if similar, <= dissimilar_max if dissimilar.

    Parameters
    ----------
    similar : array-like of shape (n_pairs, 2) or (n_pairs, 2, n_features)
        Indices of rows of X, or the rows themselves.
    dissimilar : array-like of shape (n_pairs, 2) or (n_pairs, 2, n_features)
        Indices of rows of X, or the rows themselves.
    similar_min : float or array-like of shape (n_pairs,), default=None
        None: the 95th percentile of the base kernel's values between different rows that
        take part.
    dissimilar_max : float or array-like of shape (n_pairs,), default=None
        None: the 5th percentile.
    """

    bounds = ("similar_min", "dissimilar_max")

    def __init__(
        self,
        similar: TuplesLike | None = None,
        dissimilar: TuplesLike | None = None,
        *,
        similar_min: BoundLike = None,
        dissimilar_max: BoundLike = None,
    ) -> None:
        self.similar = check_tuples(similar, 2, "Similarities(similar=)", distinct=False)
        self.dissimilar = check_tuples(dissimilar, 2, "Similarities(dissimilar=)", distinct=False)
        self.similar_min = check_bound(
            similar_min, len(self.similar), "Similarities(similar_min=)", negative=True
        )
        self.dissimilar_max = check_bound(
            dissimilar_max, len(self.dissimilar), "Similarities(dissimilar_max=)", negative=True
        )
        check_some(self, self.similar, self.dissimilar)
        check_form(self, self.similar, self.dissimilar)

    def terms(self, reference: Reference) -> Terms:
        lower = default_bound(self.similar_min, len(self.similar), lambda: reference.similarity(95))
        upper = default_bound(
            self.dissimilar_max, len(self.dissimilar), lambda: reference.similarity(5)
        )
        return concatenate_terms(
            [
                product_terms(self.similar, -1.0, -lower),
                product_terms(self.dissimilar, 1.0, upper),
            ]
        )


class ClassProbabilities(Constraints):
    """p(class | i) = sum over the class of K(i, j) / sum over all labelled j of K(i, j), bounded.

    Linear once the denominator is known to be positive, so that is a constraint
    too, with ``mass`` times its value under the base kernel as the least value.
    K is not bounded below by zero, so these "probabilities" may exceed 1.
    A row's own K(i, i) is left out of the sums it belongs to only if it has no label.

    Parameters
    ----------
    rows : array-like of shape (n_constraints,)
        Indices of rows of X.
    classes : array-like of shape (n_constraints,)
        Whose probability is bounded, for each of these rows.
    labels : array-like of shape (n_samples,)
        Labels of all rows of X; ``unlabeled`` marks those without.
    at_least : float or array-like of shape (n_constraints,), default=None
        Lower bound. If both are None: 0.9.
    at_most : float or array-like of shape (n_constraints,), default=None
        Upper bound.
    mass : float, default=0.5
        Least sum of similarities of a row, relative to that under the base kernel.
    unlabeled : default=-1
        What marks rows without label.
    """

    unlabeled: object
    mass: float

    def __init__(
        self,
        rows: TuplesLike,
        classes: ArrayLike,
        labels: ArrayLike,
        *,
        at_least: BoundLike = None,
        at_most: BoundLike = None,
        mass: float = 0.5,
        unlabeled: object = -1,
    ) -> None:
        self.indices = as_array(rows, "ClassProbabilities(rows=)")
        self.classes = as_array(classes, "ClassProbabilities(classes=)")
        self.labels = as_array(labels, "ClassProbabilities(labels=)")
        m = self.indices.size
        if self.labels.ndim != 1:
            raise ValueError(
                f"ClassProbabilities(labels=) has shape {self.labels.shape}; one label for each "
                "row of X is needed."
            )
        if self.indices.ndim != 1 or self.indices.dtype.kind not in "iu":
            raise ValueError("ClassProbabilities(rows=) must be a list of row indices.")
        if self.classes.shape != (m,):
            raise ValueError(
                f"ClassProbabilities(classes=) has shape {self.classes.shape}; "
                f"one class for each of the {m} rows is needed."
            )
        if at_least is None and at_most is None:
            at_least = 0.9
        self.at_least = check_bound(at_least, m, "ClassProbabilities(at_least=)")
        self.at_most = check_bound(at_most, m, "ClassProbabilities(at_most=)")
        check_bounds_agree(at_least, at_most, "at_least", "at_most", equal=True)
        if not (isinstance(mass, Real) and 0 <= mass < np.inf):
            raise ValueError(f"ClassProbabilities(mass={mass!r}): mass must be a number >= 0.")
        self.mass = float(mass)
        self.unlabeled = unlabeled
        known = np.unique(self.labels[~is_unlabeled(self.labels, unlabeled)])
        unknown = set(self.classes.tolist()) - set(known.tolist())
        if unknown:
            raise ValueError(
                f"ClassProbabilities(classes=) names {sorted(unknown)[0]!r}, and no row has that "
                "label."
            )
        check_some(self, self.indices)

    @property
    def holds_indices(self) -> bool:
        return True

    def check_rows(self, n: int) -> None:
        if len(self.labels) != n:
            raise ValueError(
                f"ClassProbabilities(labels=) has {len(self.labels)} entries, and X has {n} "
                "rows: give one for each, and ``unlabeled`` where it is not known."
            )

    def indexed(self, index: Indexer) -> "ClassProbabilities":
        index(np.column_stack([self.indices, self.indices]), "ClassProbabilities(rows=)")
        index(np.array([[0, len(self.labels) - 1]]), "ClassProbabilities(labels=)")
        return self

    def rows(self) -> Array:
        labelled = np.flatnonzero(~is_unlabeled(self.labels, self.unlabeled))
        return np.unique(np.concatenate([self.indices, labelled]))

    def terms(self, reference: Reference) -> Terms:
        labelled = ~is_unlabeled(self.labels, self.unlabeled)
        names, column = np.unique(self.classes, return_inverse=True)
        members = [np.flatnonzero(labelled & (self.labels == name)) for name in names]
        everyone = np.flatnonzero(labelled)
        sums = (everyone, *members)
        share = 1.0 / len(everyone)  # means, not sums: values of the size of the kernel's
        i = np.column_stack([self.indices, self.indices])
        one = np.tile([1.0, 0.0], (len(i), 1))
        v = np.column_stack([-2 - column, np.full(len(i), -1)])
        total = np.column_stack([np.full(len(i), -1), np.full(len(i), -1)])
        parts = []
        for bound, sg in ((self.at_least, -1.0), (self.at_most, 1.0)):
            if bound is not None:
                p = np.broadcast_to(bound, len(i))
                v_coef = np.column_stack([np.ones(len(i)), -p])
                parts.append(plain_terms(i, one, v, v_coef, sg, np.zeros(len(i))))
        positive = plain_terms(i, one, total, one, -1.0, np.zeros(len(i)))
        parts.append(positive._replace(base_share=np.full(len(i), -self.mass)))
        joined = concatenate_terms(parts)
        return joined._replace(sums=sums, sum_weights=(share,) * len(sums))


def is_unlabeled(labels: Array, unlabeled: object) -> Array:
    """Which labels say "not known"; none if ``unlabeled`` is None."""
    if unlabeled is None or (labels.dtype.kind in "US" and not isinstance(unlabeled, str)):
        return np.zeros(len(labels), dtype=bool)
    return np.asarray(labels == unlabeled, dtype=bool)


def strictest(pairs: Array, bound: Array) -> dict[tuple[int, int], float]:
    """The largest bound of each pair, whichever way round it is listed."""
    largest: dict[tuple[int, int], float] = {}
    for i, j, value in zip(*np.sort(pairs, axis=1).T.tolist(), bound.tolist(), strict=True):
        largest[i, j] = max(value, largest.get((i, j), -np.inf))
    return largest


def check_tuples(
    tuples: TuplesLike | None, arity: int, name: str, *, distinct: bool = True
) -> Array:
    """Index tuples (n, arity) of integers or row tuples (n, arity, n_features)."""
    if tuples is None:
        return np.empty((0, arity), dtype=np.intp)
    array = as_array(tuples, name)
    if array.size == 0:
        return np.empty((0, arity), dtype=np.intp)
    if array.ndim == 3 and array.shape[1] == arity and array.dtype.kind in "fiu":
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds rows with values that are not finite.")
        return array.astype(np.float32 if array.dtype == np.float32 else np.float64)
    if array.ndim != 2 or array.shape[1] != arity or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} has shape {array.shape} and type {array.dtype}. Give integers of shape "
            f"(n, {arity}), the indices of rows of X, or numbers of shape (n, {arity}, "
            "n_features), the rows themselves."
        )
    if array.min() < 0:
        raise ValueError(f"{name} has the negative index {array.min()}; indices count from 0.")
    if distinct:
        for a in range(arity):
            for b in range(a):
                same = np.flatnonzero(array[:, a] == array[:, b])
                if len(same):
                    raise ValueError(
                        f"{name} pairs row {array[same[0], a]} with itself (entry {same[0]}): "
                        "its distance is zero whatever the kernel."
                    )
    return array.astype(np.intp)


def check_bound(bound: BoundLike, n: int, name: str, *, negative: bool = False) -> Array | None:
    """A bound as float64, one number or one per tuple; None stays."""
    if bound is None:
        return None
    array = as_numbers(bound, name).astype(np.float64)
    if array.shape not in ((), (n,)):
        raise ValueError(f"{name} has shape {array.shape}; one number or {n} numbers are needed.")
    if not np.isfinite(array).all() or (not negative and (array < 0).any()):
        least = "finite" if negative else "finite and not negative"
        raise ValueError(f"{name} must be {least}.")
    return array


def check_bounds_agree(
    low: BoundLike, high: BoundLike, low_name: str, high_name: str, *, equal: bool = False
) -> None:
    """Refuse two bounds of all tuples that contradict each other."""
    if low is None or high is None or np.ndim(low) or np.ndim(high):
        return  # bounds of single pairs: what contradicts ends in slack
    least, most = float(np.asarray(low)), float(np.asarray(high))
    if least > most or (least == most and not equal):
        raise ValueError(
            f"{low_name}={least:g} and {high_name}={most:g} contradict each other: "
            f"{low_name} must be the smaller one."
        )


def check_some(owner: Constraints, *tuples: Array) -> None:
    """Refuse a family without a tuple."""
    if not sum(len(part) for part in tuples):
        raise ValueError(f"{type(owner).__name__} holds no constraint: give at least one tuple.")


def check_form(owner: Constraints, *tuples: Array) -> None:
    """Refuse indices in one argument and rows in the other."""
    forms = {part.ndim for part in tuples if len(part)}
    if len(forms) > 1:
        raise ValueError(
            f"{type(owner).__name__} has indices in one argument and rows in the other; "
            "give both in the same form."
        )


def default_bound(bound: Array | None, n: int, default: Callable[[], float]) -> Array:
    """The bound of each of n tuples; ``default()`` where the user gave none."""
    return (
        np.full(n, default())
        if bound is None and n
        else np.broadcast_to(np.empty(0) if bound is None else bound, (n,)).astype(np.float64)
    )
