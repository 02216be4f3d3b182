"""Centred alignment of a combination of kernels with the labels: a cheap baseline."""

import numpy as np
from scipy.optimize import nnls

from kernel_learn.arrays import Array
from kernel_learn.representations.base import Representation


def align_weights(bank: Representation) -> Array:
    """max over d >= 0 of <G(d), L L'> / |G(d)|_F, scaled to the simplex (Cortes et al. 2012).

    The direction is that of min v'N v - 2 v'a, v >= 0, with N_ij = <G_i, G_j>
    and a_i = tr L'G_i L: least squares |R v - R^{-T} a| with N = R'R.
    """
    a = np.trace(bank.target_forms(), axis1=1, axis2=2)
    N = bank.inner_products()
    w, U = np.linalg.eigh(N)
    keep = w > 1e-14 * w[-1]  # duplicates: the minimum is on the range of N
    R = np.sqrt(w[keep])[:, None] * U[:, keep].T
    v, _ = nnls(R, (U[:, keep].T @ a) / np.sqrt(w[keep]))
    return np.asarray(v / v.sum()) if v.sum() > 0 else bank.uniform()
