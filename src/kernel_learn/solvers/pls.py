"""Partial least squares on a symmetric operator, without the NIPALS loop."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from kernel_learn.solvers.eigen import fix_signs

Array = NDArray[Any]

# Covariance of scores and targets below this share of the first is rounding.
EXHAUSTED = 1e-12


class Sample(Protocol):
    """An operator O = Phi Phi' (or Phi'Phi), targets, and inner products in feature space."""

    operator: Array
    targets: Array

    def inner(self, A: Array, B: Array) -> Array: ...


@dataclass(frozen=True)
class Components:
    """Directions R whose scores t_a = Phi r_a are orthonormal, and loadings P = T'Y."""

    R: Array  # (m, n_components)
    P: Array  # (n_components, q)


def solve_pls(sample: Sample, n_components: int) -> Components:
    """Repeat: maximise the covariance of a score t = Phi d with the targets Y, then deflate both.

    With Y the deflated targets, c the top eigenvector of Y'KY (q x q) and
    d = Phi'Y c (Rosipal & Trejo 2001, whose inner loop is a power iteration
    for c):

        t = Phi d - T T'Phi d,  t <- t/|t|,  Y <- Y - t t'Y.

    Everything is written in directions r with t = Phi r, so the operator is
    never deflated: t_b'Phi d = <r_b, O d> and t'Y = <r, Y>. Ends early when
    the targets or the operator are exhausted.
    """
    Y = sample.targets.copy()
    R = np.zeros((len(Y), 0))
    P = np.zeros((0, Y.shape[1]))
    first = 0.0
    for _ in range(n_components):
        e, c = linalg.eigh(sample.inner(Y, Y))
        first = max(first, e[-1])
        if not e[-1] > EXHAUSTED * first:
            break
        d = Y @ fix_signs(c[:, -1:])
        length = np.sqrt(sample.inner(d, sample.operator @ d).item())
        for _ in range(2):  # twice: one pass leaves 1e-16 |d| / |t| of the old scores
            d = d - R @ sample.inner(R, sample.operator @ d)
        norm = np.sqrt(max(sample.inner(d, sample.operator @ d).item(), 0.0))
        if not norm > 1e-10 * length:
            break
        r = d / norm
        p = sample.inner(r, Y)
        Y = Y - (sample.operator @ r) @ p
        R, P = np.hstack([R, r]), np.vstack([P, p])
    return Components(R, P)
