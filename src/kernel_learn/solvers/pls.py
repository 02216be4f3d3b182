"""Partial least squares on a symmetric operator, without the NIPALS loop."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.solvers.eigen import fix_signs

# Covariance of scores and targets below this share of the first is rounding.
EXHAUSTED = 1e-12


class Deflatable(Protocol):
    """An operator O = Phi Phi' (or Phi'Phi), targets, and inner products in feature space."""

    operator: Array
    targets: Array

    def pairing(self, A: Array, O_A: Array) -> Array:
        """P with <A, B> = P'B for all B, given O A."""


@dataclass(frozen=True)
class Components:
    """Directions R whose scores t_a = Phi r_a are orthonormal, and loadings P = T'Y."""

    R: Array  # (m, n_components)
    P: Array  # (n_components, q)


def solve_pls(sample: Deflatable, n_components: int) -> Components:
    """Repeat: maximise the covariance of a score t = Phi d with the targets Y, then deflate both.

    With Y the deflated targets, c the top eigenvector of Y'KY (q x q) and
    d = Phi'Y c (Rosipal & Trejo 2001, whose inner loop is a power iteration
    for c):

        t = Phi d - T T'Phi d,  t <- t/|t|,  Y <- Y - t t'Y.

    Everything is written in directions r with t = Phi r, so the operator is
    never deflated: t_b'Phi d = <r_b, O d> and t'Y = <r, Y>. Images under O are
    carried along, so a component costs one product with O. Ends early when the
    targets or the operator are exhausted.
    """
    Y = sample.targets
    O_Y = sample.operator @ Y
    R = O_R = np.zeros((len(Y), 0))
    P = np.zeros((0, Y.shape[1]))
    first = 0.0
    for a in range(n_components):
        e, c = linalg.eigh(sample.pairing(Y, O_Y).T @ Y)
        first = max(first, e[-1])
        if not e[-1] > EXHAUSTED * first:
            break
        c = fix_signs(c[:, -1:])
        d, O_d = Y @ c, O_Y @ c
        length = _norm(sample, d, O_d)
        # once: a second pass would act on images that are as inexact as what it takes out
        overlap = sample.pairing(R, O_R).T @ O_d
        d, O_d = d - R @ overlap, O_d - O_R @ overlap
        norm = _norm(sample, d, O_d)
        if not norm > 1e-10 * length:
            break
        r, O_r = d / norm, O_d / norm
        p = sample.pairing(r, O_r).T @ Y
        R, O_R, P = np.hstack([R, r]), np.hstack([O_R, O_r]), np.vstack([P, p])
        if a + 1 < n_components:
            Y, O_Y = Y - O_r @ p, O_Y - (sample.operator @ O_r) @ p
    return Components(R, P)


def _norm(sample: Deflatable, d: Array, O_d: Array) -> float:
    """|Phi d|."""
    return float(np.sqrt(max((sample.pairing(d, O_d).T @ O_d).item(), 0.0)))
