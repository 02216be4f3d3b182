"""Linear constraints on a learned kernel: pairs, triplets, similarities, class probabilities.

Every constraint is sg_c q_c(K_W) <= b_c (up to slack), where q_c is a sum of a
few products of two *points*, q_c = sum_t w_t u_t'A v_t. A point is a row's
feature vector z(x) or a weighted sum of some; a side u_t is a combination of
at most two points:

    pair distance      d(i, j)                u = v = z_i - z_j
    triplet            d(a, n) - d(a, p)      two such terms
    similarity         K_W(i, j)              u = z_i, v = z_j
    class probability  (sum over class of K_W(i, j)) - p (sum over all of K_W(i, j))
                                              u = z_i, v = z_class - p z_all

so C_c = sum_t w_t (u_t v_t' + v_t u_t')/2 is never formed: m constraints are
two arrays of as many rows, and <C_c, A> for all c or sum_c y_c C_c are products
of such arrays.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]
Indexer = Callable[[Array, str], Array]


class Reference(Protocol):
    """What bounds are taken from: quantiles of the base kernel on the constrained rows."""

    def distance(self, q: float) -> float: ...

    def similarity(self, q: float) -> float: ...


class Terms(NamedTuple):
    """Some constraints as products of points; a point -1-a is the a-th of ``sums``."""

    left: Array  # (n_terms, 2) points
    left_coef: Array  # (n_terms, 2)
    right: Array
    right_coef: Array
    weight: Array  # (n_terms,)
    owner: Array  # (n_terms,) which constraint
    sign: Array  # (m,) sg_c
    bound: Array  # (m,) b_c
    base_share: Array  # (m,) b_c grows by this times max(<C_c, K>, 0), K the base kernel
    sums: tuple[Array, ...] = ()  # rows of each sum, weights 1/len(all)
    sum_weights: tuple[float, ...] = ()


class Constraints(ABC):
    """Side information on a kernel; sets of constraints add with ``+``."""

    def __add__(self, other: "Constraints") -> "Combined":
        if not isinstance(other, Constraints):
            return NotImplemented
        return Combined((*self.families, *other.families))

    @property
    def families(self) -> tuple["Constraints", ...]:
        return (self,)

    @property
    @abstractmethod
    def holds_indices(self) -> bool:
        """Whether rows are named by their index in X, not given themselves."""

    @abstractmethod
    def indexed(self, index: Indexer) -> "Constraints":
        """The same constraints with every row as an index, found by ``index(tuples, name)``."""

    @abstractmethod
    def rows(self) -> Array:
        """Indices of the rows that take part (after ``indexed``)."""

    @abstractmethod
    def terms(self, reference: Reference) -> Terms:
        """The constraints as products of points, with their bounds (after ``indexed``)."""


@dataclass(frozen=True)
class Combined(Constraints):
    """Several families of constraints at once."""

    members: tuple[Constraints, ...]

    @property
    def families(self) -> tuple[Constraints, ...]:
        return self.members

    @property
    def holds_indices(self) -> bool:
        return any(member.holds_indices for member in self.members)

    def indexed(self, index: Indexer) -> "Combined":
        return Combined(tuple(member.indexed(index) for member in self.members))

    def rows(self) -> Array:
        return np.unique(np.concatenate([member.rows() for member in self.members]))

    def terms(self, reference: Reference) -> Terms:
        return concatenate_terms([member.terms(reference) for member in self.members])


class Pairs(Constraints):
    """Distances of pairs: d(i, j) <= similar_max if similar, >= dissimilar_min if dissimilar.

    d is the squared distance in the learned space, K(i,i) + K(j,j) - 2 K(i,j).

    Parameters
    ----------
    similar, dissimilar : array-like of shape (n_pairs, 2) or (n_pairs, 2, n_features)
        Indices of rows of X, or the rows themselves. A pair that is listed twice counts twice.
    similar_max, dissimilar_min : float or array-like of shape (n_pairs,), default=None
        Bounds on the squared distance; None: the 5th and the 95th percentile
        of the base kernel's squared distances between the rows that take part.
    """

    def __init__(
        self,
        similar: Any = None,
        dissimilar: Any = None,
        *,
        similar_max: Any = None,
        dissimilar_min: Any = None,
    ) -> None:
        self.similar = check_tuples(similar, 2, "Pairs(similar=)")
        self.dissimilar = check_tuples(dissimilar, 2, "Pairs(dissimilar=)")
        self.similar_max = check_bound(similar_max, len(self.similar), "Pairs(similar_max=)")
        self.dissimilar_min = check_bound(
            dissimilar_min, len(self.dissimilar), "Pairs(dissimilar_min=)"
        )
        check_some(self, self.similar, self.dissimilar)
        check_order(similar_max, dissimilar_min, "similar_max", "dissimilar_min")
        check_form(self, self.similar, self.dissimilar)

    @classmethod
    def from_signs(cls, pairs: Any, signs: Any, **bounds: Any) -> "Pairs":
        """Pairs with +1 for similar and -1 for dissimilar, as metric-learn takes them."""
        pairs, signs = np.asarray(pairs), np.asarray(signs)
        if signs.shape != (len(pairs),) or not np.isin(signs, (-1, 1)).all():
            raise ValueError("Pairs.from_signs: signs must hold +1 or -1 for each pair.")
        return cls(pairs[signs == 1], pairs[signs == -1], **bounds)

    @property
    def holds_indices(self) -> bool:
        return self.similar.ndim == 2 and self.dissimilar.ndim == 2

    def indexed(self, index: Indexer) -> "Pairs":
        return Pairs(
            index(self.similar, "Pairs(similar=)"),
            index(self.dissimilar, "Pairs(dissimilar=)"),
            similar_max=self.similar_max,
            dissimilar_min=self.dissimilar_min,
        )

    def rows(self) -> Array:
        return np.unique(np.concatenate([self.similar.ravel(), self.dissimilar.ravel()]))

    def contradictions(self) -> int:
        """How many pairs are listed as similar and as dissimilar."""
        similar = {tuple(sorted(pair)) for pair in self.similar.tolist()}
        return len(similar & {tuple(sorted(pair)) for pair in self.dissimilar.tolist()})

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

    def __init__(self, triplets: Any, *, margin: Any = None) -> None:
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
        far = distance_terms(self.triplets[:, [0, 2]], -1.0, -margin)
        near = distance_terms(self.triplets[:, [0, 1]], -1.0, -margin)
        pairs = np.concatenate([far.left, near.left])
        coef = np.concatenate([far.left_coef, near.left_coef])
        return far._replace(
            left=pairs,
            left_coef=coef,
            right=pairs,
            right_coef=coef,
            weight=np.concatenate([far.weight, -near.weight]),
            owner=np.concatenate([far.owner, near.owner]),
        )


class Similarities(Constraints):
    """Kernel values of pairs: K(i, j) >= similar_min if similar, <= dissimilar_max if dissimilar.

    Parameters
    ----------
    similar, dissimilar : array-like of shape (n_pairs, 2) or (n_pairs, 2, n_features)
        Indices of rows of X, or the rows themselves.
    similar_min, dissimilar_max : float or array-like of shape (n_pairs,), default=None
        None: the 95th and the 5th percentile of the base kernel's values
        between different rows that take part.
    """

    def __init__(
        self,
        similar: Any = None,
        dissimilar: Any = None,
        *,
        similar_min: Any = None,
        dissimilar_max: Any = None,
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
        check_order(dissimilar_max, similar_min, "dissimilar_max", "similar_min")
        check_form(self, self.similar, self.dissimilar)

    @property
    def holds_indices(self) -> bool:
        return self.similar.ndim == 2 and self.dissimilar.ndim == 2

    def indexed(self, index: Indexer) -> "Similarities":
        return Similarities(
            index(self.similar, "Similarities(similar=)"),
            index(self.dissimilar, "Similarities(dissimilar=)"),
            similar_min=self.similar_min,
            dissimilar_max=self.dissimilar_max,
        )

    def rows(self) -> Array:
        return np.unique(np.concatenate([self.similar.ravel(), self.dissimilar.ravel()]))

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
    at_least, at_most : float or array-like of shape (n_constraints,), default=None
        The bounds. Both None: at_least=0.9.
    mass : float, default=0.5
    unlabeled : default=-1
    """

    unlabeled: Any
    mass: float

    def __init__(
        self,
        rows: Any,
        classes: Any,
        labels: Any,
        *,
        at_least: Any = None,
        at_most: Any = None,
        mass: float = 0.5,
        unlabeled: Any = -1,
    ) -> None:
        self.indices = np.asarray(rows)
        self.classes = np.asarray(classes)
        self.labels = np.asarray(labels)
        m = len(self.indices)
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
        check_order(at_least, at_most, "at_least", "at_most", equal=True)
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


def is_unlabeled(labels: Array, unlabeled: Any) -> Array:
    """Which labels say "not known"; none if ``unlabeled`` is None."""
    if unlabeled is None or (labels.dtype.kind in "US" and not isinstance(unlabeled, str)):
        return np.zeros(len(labels), dtype=bool)
    return np.asarray(labels == unlabeled, dtype=bool)


def plain_terms(
    left: Array, left_coef: Array, right: Array, right_coef: Array, sign: float, bound: Array
) -> Terms:
    m = len(left)
    ones = np.ones(m)
    signs = np.full(m, sign)
    return Terms(left, left_coef, right, right_coef, ones, np.arange(m), signs, bound, np.zeros(m))


def distance_terms(pairs: Array, sign: float, bound: Array) -> Terms:
    coef = np.tile([1.0, -1.0], (len(pairs), 1))
    return plain_terms(pairs, coef, pairs, coef, sign, bound)


def product_terms(pairs: Array, sign: float, bound: Array) -> Terms:
    coef = np.tile([1.0, 0.0], (len(pairs), 1))
    return plain_terms(pairs[:, [0, 0]], coef, pairs[:, [1, 1]], coef, sign, bound)


def concatenate_terms(parts: Sequence[Terms]) -> Terms:
    """One numbering of constraints and sums for all parts."""
    m, n_sums, shifted = 0, 0, []
    for part in parts:
        sides = [np.where(side < 0, side - n_sums, side) for side in (part.left, part.right)]
        shifted.append(part._replace(left=sides[0], right=sides[1], owner=part.owner + m))
        m += len(part.sign)
        n_sums += len(part.sums)

    def column(name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in shifted])

    return Terms(
        column("left"),
        column("left_coef"),
        column("right"),
        column("right_coef"),
        column("weight"),
        column("owner"),
        column("sign"),
        column("bound"),
        column("base_share"),
        sums=tuple(rows for part in parts for rows in part.sums),
        sum_weights=tuple(weight for part in parts for weight in part.sum_weights),
    )


def check_tuples(tuples: Any, arity: int, name: str, *, distinct: bool = True) -> Array:
    """Index tuples (n, arity) of integers or row tuples (n, arity, n_features)."""
    if tuples is None:
        return np.empty((0, arity), dtype=np.intp)
    array = np.asarray(tuples)
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


def check_bound(bound: Any, n: int, name: str, *, negative: bool = False) -> Array | None:
    if bound is None:
        return None
    array = np.asarray(bound, dtype=np.float64)
    if array.shape not in ((), (n,)):
        raise ValueError(f"{name} has shape {array.shape}; one number or {n} numbers are needed.")
    if not np.isfinite(array).all() or (not negative and (array < 0).any()):
        least = "finite" if negative else "finite and not negative"
        raise ValueError(f"{name} must be {least}.")
    return array


def check_order(low: Any, high: Any, low_name: str, high_name: str, *, equal: bool = False) -> None:
    if low is None or high is None:
        return
    if np.ndim(low) or np.ndim(high):
        return  # bounds of single pairs: what contradicts ends in slack
    if float(low) > float(high) or (float(low) == float(high) and not equal):
        raise ValueError(
            f"{low_name}={float(low):g} and {high_name}={float(high):g} contradict each other: "
            f"{low_name} must be the smaller one."
        )


def check_some(owner: Constraints, *tuples: Array) -> None:
    if not sum(len(part) for part in tuples):
        raise ValueError(f"{type(owner).__name__} holds no constraint: give at least one tuple.")


def check_form(owner: Constraints, *tuples: Array) -> None:
    forms = {part.ndim for part in tuples if len(part)}
    if len(forms) > 1:
        raise ValueError(
            f"{type(owner).__name__} has indices in one argument and rows in the other; "
            "give both in the same form."
        )


def default_bound(bound: Array | None, n: int, default: Callable[[], float]) -> Array:
    return (
        np.full(n, default())
        if bound is None and n
        else np.broadcast_to(np.empty(0) if bound is None else bound, (n,)).astype(np.float64)
    )


class LinearConstraints:
    """sg_c <C_c, A> <= b_c for all c at once, in the features Z of the points.

    ``inner(A)``: <C_c, A>, (m,);  ``combine(y)``: sum_c y_c C_c, (M, M).
    Where there are more terms than points, products go over the points with
    sparse combinations; else over the terms.
    """

    def __init__(
        self,
        Z: Array,  # (n_points, M)
        terms: Terms,  # points numbered as rows of Z
        bound: Array,  # (m,) on A itself
    ) -> None:
        self.Z, self.terms = Z, terms
        self.sign, self.bound = terms.sign, bound
        self.n, self.dimension = len(terms.sign), Z.shape[1]
        self.is_square = terms.left is terms.right or (
            np.array_equal(terms.left, terms.right)
            and np.array_equal(terms.left_coef, terms.right_coef)
        )
        self.V = combine_points(Z, terms.right, terms.right_coef)
        self.over_points = len(terms.left) > 2 * len(Z)
        if self.over_points:
            self.left = as_sparse(terms.left, terms.left_coef, len(Z))
            self.right = as_sparse(terms.right, terms.right_coef, len(Z))
        elif self.is_square:
            self.U = self.V
        else:
            self.U = combine_points(Z, terms.left, terms.left_coef)

    def inner(self, A: Array) -> Array:
        U_A = self.left @ (self.Z @ A) if self.over_points else self.U @ A
        products = np.einsum("ij,ij->i", U_A, self.V)
        return np.bincount(self.terms.owner, self.terms.weight * products, self.n)

    def combine(self, y: Array) -> Array:
        weight = self.terms.weight * y[self.terms.owner]
        if self.over_points:
            D = self.left.T @ (self.right.multiply(weight[:, None])).tocsr()
            X = self.Z.T @ (D @ self.Z)
        else:
            used: Any = np.flatnonzero(weight)  # constraints that are met have multiplier zero
            if len(used) > len(weight) // 2:
                used = slice(None)  # the copies of so many rows would cost more than they save
            X = self.U[used].T @ (weight[used, None] * self.V[used])
        return np.asarray((X + X.T) / 2)

    def entries(self, Q: Array, chosen: Array, i: Array, j: Array) -> Array:
        """[Q'C_c Q]_ij for the chosen constraints and the listed (i, j), (n_chosen, n_entries)."""
        position = np.full(self.n, -1)
        position[chosen] = np.arange(len(chosen))
        own = np.flatnonzero(position[self.terms.owner] >= 0)
        V = self.V[own] @ Q
        U = V
        if not self.is_square:
            U = combine_points(self.Z, self.terms.left[own], self.terms.left_coef[own]) @ Q
        products = U[:, i] * V[:, j]
        if not self.is_square:
            products = (products + U[:, j] * V[:, i]) / 2
        products *= self.terms.weight[own, None]
        owner = position[self.terms.owner[own]]
        if len(own) == len(chosen) and np.array_equal(owner, np.arange(len(chosen))):
            return np.asarray(products)
        total = np.zeros((len(chosen), len(i)))
        np.add.at(total, owner, products)
        return total

    def factors(self) -> list[tuple[Array, Array]]:
        """(F, J) for each c with C_c = F J F', F (M, r) with one column per side of a term."""
        order = np.argsort(self.terms.owner, kind="stable")
        own = np.split(order, np.cumsum(np.bincount(self.terms.owner, minlength=self.n))[:-1])
        return [self._factor(terms) for terms in own]

    def _factor(self, own: Array) -> tuple[Array, Array]:
        weight, V = self.terms.weight[own], self.V[own]
        if self.is_square:
            return V.T, np.diag(weight)
        U = combine_points(self.Z, self.terms.left[own], self.terms.left_coef[own])
        half = np.diag(weight) / 2
        zero = np.zeros_like(half)
        return np.concatenate([U, V]).T, np.block([[zero, half], [half, zero]])


def combine_points(Z: Array, points: Array, coef: Array) -> Array:
    result = Z[points[:, 0]] * coef[:, :1]
    result += Z[points[:, 1]] * coef[:, 1:]
    return np.asarray(result)


def as_sparse(points: Array, coef: Array, n_points: int) -> Any:
    rows = np.repeat(np.arange(len(points)), 2)
    return sparse.csr_matrix((coef.ravel(), (rows, points.ravel())), shape=(len(points), n_points))
