"""row_values_ of KernelDiscriminant against refits of its ridge regression."""

import numpy as np
import pytest

import kernel_learn as kl
from kernel_learn.kernels import Gaussian, Laplacian
from oracles.refits import row_values


@pytest.mark.parametrize("case", ["plain", "weights", "duplicates", "bank"])
def test_row_values_are_those_of_refits(case, rng):
    n = 60 if case == "plain" else 30
    X = rng.standard_normal((n, 3))
    y = (X[:, 0] + 0.5 * rng.standard_normal(n) > 0).astype(int) + (X[:, 1] > 0.8)
    weight = rng.integers(1, 4, n).astype(float) if case == "weights" else np.ones(n)
    if case == "duplicates":
        X[20:25], y[20:23] = X[:5], y[:3]
    kernel = [Gaussian(0.2), Laplacian(0.4)] if case == "bank" else Gaussian(0.2)
    model = kl.KernelDiscriminant(kernel, reg=0.1).fit(X, y, sample_weight=weight)
    distinct, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
    counts = np.zeros((len(first), 3))
    np.add.at(counts, (place.ravel(), y), weight)
    w = counts.sum(axis=1)

    def gram(kernel):
        D = np.abs(distinct[:, None] - distinct)
        return np.exp(-0.2 * (D**2).sum(2)) if kernel == 0 else np.exp(-0.4 * D.sum(2))

    K = gram(0)
    if case == "bank":
        K = model.kernel_weights_[0] * gram(0) + model.kernel_weights_[1] * gram(1)
    units = [np.array([i]) for i in range(len(w))]
    expected = row_values(
        K, counts / w[:, None], w, model.reg_, units, lambda r: (r**2).sum(axis=1)
    )
    found = model.row_values_
    assert found.shape == (n,)
    np.testing.assert_allclose(found, expected[place.ravel()], rtol=1e-9, atol=1e-10)


def test_wrong_labels_harm(rng):
    X = np.concatenate([rng.normal(-2, 1, (40, 2)), rng.normal(2, 1, (40, 2))])
    y = np.repeat([0, 1], 40)
    y[[3, 60]] = [1, 0]
    values = kl.KernelDiscriminant(reg=0.1).fit(X, y).row_values_
    assert set(np.argsort(values)[:2].tolist()) == {3, 60} and values[3] < 0


def test_not_of_a_kernel_matrix(rng):
    X, y = rng.standard_normal((60, 2)), np.arange(60) % 2
    with pytest.raises(ValueError, match="exact or not at all"):
        _ = kl.KernelDiscriminant("precomputed").fit(X @ X.T + np.eye(60), y).row_values_
