"""Constraints as products of points, the form in which they are measured.

Every constraint is sg_c q_c(K_W) <= b_c (up to slack), where q_c is a sum of a
few products of two *points*, q_c = sum_t w_t u_t'A v_t. A point is a row's
feature vector z(x) or a weighted sum of some; a side u_t is a combination of
at most two points:

    pair distance      d(i, j)                u = v = z_i - z_j
    triplet            d(a, n) - d(a, p)      two such terms
    quadruplet         d(c, d) - d(a, b)      two such terms
    similarity         K_W(i, j)              u = z_i, v = z_j
    any linear one     sum_ij C_ij K_W(i, j)  one such term for each entry of C
    class probability  (sum over class of K_W(i, j)) - p (sum over all of K_W(i, j))
                                              u = z_i, v = z_class - p z_all
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kernel_learn.arrays import Array

MOST_NAMED = 6  # terms of one constraint in a sentence


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


def plain_terms(
    left: Array, left_coef: Array, right: Array, right_coef: Array, sign: float, bound: Array
) -> Terms:
    """One term per constraint, of weight one."""
    m = len(left)
    ones = np.ones(m)
    signs = np.full(m, sign)
    return Terms(left, left_coef, right, right_coef, ones, np.arange(m), signs, bound, np.zeros(m))


def distance_terms(pairs: Array, sign: float, bound: Array) -> Terms:
    """sign d(i, j) <= bound for each pair."""
    coef = np.tile([1.0, -1.0], (len(pairs), 1))
    return plain_terms(pairs, coef, pairs, coef, sign, bound)


def product_terms(pairs: Array, sign: float, bound: Array) -> Terms:
    """sign K_W(i, j) <= bound for each pair."""
    coef = np.tile([1.0, 0.0], (len(pairs), 1))
    return plain_terms(pairs[:, [0, 0]], coef, pairs[:, [1, 1]], coef, sign, bound)


def relative_terms(near: Array, far: Array, margin: Array) -> Terms:
    """d(far) - d(near) >= margin for each pair of pairs."""
    m = len(margin)
    pairs = np.concatenate([far, near])
    terms = distance_terms(pairs, -1.0, -np.concatenate([margin, margin]))
    return terms._replace(
        weight=np.repeat([1.0, -1.0], m),
        owner=np.tile(np.arange(m), 2),
        sign=terms.sign[:m],
        bound=terms.bound[:m],
        base_share=terms.base_share[:m],
    )


def weighted_terms(
    pairs: Array,  # (n_entries, 2)
    weight: Array,  # (n_entries,)
    owner: Array,  # (n_entries,) which constraint
    bound: Array,  # (m,)
) -> Terms:
    """sum over the entries of a constraint of weight K_W(i, j) <= bound."""
    m = len(bound)
    products = product_terms(pairs, 1.0, np.zeros(len(pairs)))
    return products._replace(
        weight=weight, owner=owner, sign=np.ones(m), bound=bound, base_share=np.zeros(m)
    )


def concatenate_terms(parts: Sequence[Terms]) -> Terms:
    """One numbering of constraints and sums for all parts."""
    m, n_sums, shifted = 0, 0, []
    for part in parts:
        sides = [np.where(side < 0, side - n_sums, side) for side in (part.left, part.right)]
        shifted.append(part._replace(left=sides[0], right=sides[1], owner=part.owner + m))
        m += len(part.sign)
        n_sums += len(part.sums)

    *names, _, _ = Terms._fields  # all but the sums
    columns = [np.concatenate([getattr(part, name) for part in shifted]) for name in names]
    sums = tuple(rows for part in parts for rows in part.sums)
    sum_weights = tuple(weight for part in parts for weight in part.sum_weights)
    return Terms._make([*columns, sums, sum_weights])


def describe_constraint(terms: Terms, c: int) -> str:
    """What constraint c asks, in words: d(0, 1) <= 0.5 for a distance, k(0, 1) for a product."""
    parts: list[str] = []
    sign = terms.sign[c]
    for t in np.flatnonzero(terms.owner == c):
        left, right = terms.left[t], terms.right[t]
        if (right < 0).any():
            return f"the class probability of row {left[0]}"
        of = f"k({left[0]}, {right[0]})"
        if np.array_equal(left, right) and terms.left_coef[t, 1] != 0:
            of = f"d({left[0]}, {left[1]})"
        size = abs(terms.weight[t])
        of = of if size == 1 else f"{size:.3g} {of}"
        parts.append(f"- {of}" if terms.weight[t] < 0 else f"+ {of}" if parts else of)
        if len(parts) > MOST_NAMED:
            parts[-1] = "+ ..."
            break
    relation = "<=" if sign > 0 else ">="
    return f"{' '.join(parts)} {relation} {sign * terms.bound[c]:.3g}"
