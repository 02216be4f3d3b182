"""Shapley values by all 2^d sets of columns."""

from itertools import combinations
from math import factorial

import numpy as np


def shapley_by_sets(f, x, background, share, blocks):
    """phi_j = sum over S without j of |S|! (d - |S| - 1)! / d! (v(S + j) - v(S)), (d, ...).

    v(S) is the weighted mean of f over the background rows with the columns of S taken from x.
    """
    d = len(blocks)

    def v(S):
        rows = background.copy()
        for j in S:
            rows[:, blocks[j]] = x[blocks[j]]
        return np.tensordot(share, f(rows), 1)

    worth = {S: v(S) for r in range(d + 1) for S in combinations(range(d), r)}
    phi = []
    for j in range(d):
        total = 0.0
        for S, value in worth.items():
            if j not in S:
                joined = tuple(sorted((*S, j)))
                share_of_orders = factorial(len(S)) * factorial(d - len(S) - 1) / factorial(d)
                total = total + share_of_orders * (worth[joined] - value)
        phi.append(total)
    return np.array(phi)
