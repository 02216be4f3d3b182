"""Discriminant analysis: the classifier that goes with a discriminant subspace."""

from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.representations.base import Combined


@dataclass(frozen=True)
class ClassScores:
    """log p(j | x) + const = log prior_j - |f(x) - m_j|^2 / 2 in the within-class metric."""

    means: Array  # (k, l)
    scale: Array  # (l,): one over the within-class variance of each feature
    log_priors: Array  # (k,)

    def __call__(self, F: Array) -> Array:
        """(n, k)."""
        A, m = F * np.sqrt(self.scale), self.means * np.sqrt(self.scale)
        squared = np.sum(m * m, axis=1) - 2 * A @ m.T  # |A|^2 is the same for all classes
        return np.asarray(self.log_priors - squared / 2)


def class_scores(
    sample: Combined, W: Array, eigenvalues: Array, counts: Array, priors: Array
) -> ClassScores:
    """The classifier in the subspace W of uncorrelated HSIC with the normalised label kernel.

    There W'(S_t + lam I)W = I and W'S_b W = diag(e): the regularised
    within-class scatter of the features is I - diag(e), diagonal and positive.
    For a linear kernel and lam -> 0 this is linear discriminant analysis.
    """
    means = sample.inner(W, sample.targets).T / counts[:, None]
    within = np.maximum(1 - eigenvalues, 1e-15) / sample.n
    return ClassScores(means, 1 / within, np.log(priors))
