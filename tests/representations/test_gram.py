import numpy as np
import pytest
from scipy import linalg

from kernel_learn.kernels import Gaussian, Linear
from kernel_learn.representations import GramForm
from kernel_learn.representations.linalg import eigh_positive, solve_shifted
from oracles import hsic as oracle
from tolerances import EXACT


@pytest.fixture
def rows(rng):
    return rng.normal(size=(12, 3)) + 5.0


@pytest.mark.parametrize("weighted", [False, True])
def test_centring_and_expansion_are_the_definition(rows, rng, weighted):
    weight = rng.uniform(0.5, 2, size=12) if weighted else None
    T = rng.normal(size=(12, 2))
    kernel = Gaussian(0.2)
    sample = GramForm([kernel], rows, T, weight).at(np.ones(1))
    root = np.ones(12) if weight is None else np.sqrt(weight)
    G = root[:, None] * oracle.center(kernel(rows), weight) * root
    np.testing.assert_allclose(sample.operator, G, atol=EXACT)
    np.testing.assert_allclose(sample.trace, np.trace(G))
    np.testing.assert_allclose(root @ sample.targets, 0, atol=EXACT)

    # f(x) = sum_i root_i b_i <phi(x) - m, phi(x_i) - m>, written out with all rows in one Gram
    B = rng.normal(size=(12, 2))
    X_new = rng.normal(size=(4, 3)) + 5.0
    K = kernel(np.vstack([rows, X_new]))
    s = np.zeros(16)
    s[:12] = root**2 / (root**2).sum()
    P = np.eye(16) - np.outer(np.ones(16), s)
    expected = (P @ K @ P.T)[12:, :12] @ (root[:, None] * B)
    np.testing.assert_allclose(sample.expand(B).transform(X_new), expected, atol=EXACT)


def test_uncentred(rows, rng):
    sample = GramForm([Linear()], rows, rng.normal(size=(12, 2)), center=False).at(np.ones(1))
    np.testing.assert_allclose(sample.operator, rows @ rows.T)
    B = rng.normal(size=(12, 2))
    np.testing.assert_allclose(sample.expand(B).transform(rows), rows @ rows.T @ B)


def test_solve_at_any_regularisation(rng):
    A = rng.normal(size=(9, 4))
    G = A @ A.T
    B = G @ rng.normal(size=(9, 2))
    for lam in (10.0, 1e-3, 1e-13, 1e-18):
        solution = solve_shifted(G, lam, B)
        w, U = eigh_positive(G)
        assert len(w) == 4
        exact = U @ ((U.T @ B) / (w + lam)[:, None])
        np.testing.assert_allclose(solution, exact, rtol=1e-5, atol=1e-7)


def test_rows_left_out_take_no_second_factorisation(rows, rng, monkeypatch):
    """Residuals of ridge fits without each of the first rows by key, one by one."""
    n, lam = len(rows), 0.7
    T, order = rng.normal(size=(n, 2)), rng.permutation(n)
    sample = GramForm([Gaussian(0.3)], rows, T, order=order).at(np.ones(1))
    solved = sample.solve(lam, sample.targets)
    G = sample.operator + lam * np.eye(n)
    np.testing.assert_allclose(solved, np.linalg.solve(G, sample.targets), atol=1e-10)
    monkeypatch.setattr(linalg, "cholesky", None)
    residuals, leverages, share = sample.left_out(lam, 4)
    K = Gaussian(0.3)(rows)
    for place, i in enumerate(order[:4]):
        others = np.delete(np.arange(n), i)
        C, P = K[np.ix_(others, others)], np.eye(n - 1) - 1 / (n - 1)
        A = np.linalg.solve(P @ C @ P + lam * np.eye(n - 1), P @ T[others])
        k = K[i, others] - C.mean(axis=0)
        said = T[others].mean(axis=0) + (k - k.mean()) @ A
        np.testing.assert_allclose(residuals[place], T[i] - said, atol=1e-9)
    assert np.all(leverages < 1) and np.allclose(share, 1 / n)


def test_solve_survives_an_indefinite_matrix():
    G = np.diag([1.0, 1.0, -1.0])
    assert np.isfinite(solve_shifted(G, 0.5, np.ones((3, 1)))).all()


def test_memory_at_peak(rng):
    import tracemalloc

    n = 400
    X = rng.normal(size=(n, 5))
    T = rng.normal(size=(n, 2))
    tracemalloc.start()
    sample = GramForm([Gaussian(0.1)], X, T).at(np.ones(1))
    sample.solve(0.1, sample.targets)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # one panel of the statistic (8 MB at most, all of it at this size) comes on top
    assert peak <= (2.5 * n**2 + n**2) * 8
