import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel_learn.representations import Moments
from kernel_learn.representations.feature_map import merge_all
from tolerances import EXACT


def naive(Z, T, weight):
    V = np.hstack([Z, T])
    mean = np.average(V, axis=0, weights=weight)
    D = V - mean
    return mean, (weight[:, None] * D).T @ D


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_any_blocks_in_any_order(sizes, seed):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    Z, T, weight = rng.normal(size=(n, 3)), rng.normal(size=(n, 2)), rng.uniform(0.1, 3, size=n)
    edges = np.cumsum([0, *sizes])
    blocks = [Moments.of(Z[a:b], T[a:b], weight[a:b]) for a, b in itertools.pairwise(edges)]
    mean, scatter = naive(Z, T, weight)
    for order in (blocks, blocks[::-1], list(rng.permutation(np.array(blocks, dtype=object)))):
        merged = merge_all(order)
        np.testing.assert_allclose(merged.mean, mean, atol=1e-12)
        np.testing.assert_allclose(merged.scatter, scatter, atol=1e-10)
        assert merged.n == pytest.approx(weight.sum())


def test_parts(rng):
    Z, T = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    moments = Moments.of(Z, T)
    P = np.eye(20) - 1 / 20
    np.testing.assert_allclose(moments.C, Z.T @ P @ Z, atol=EXACT)
    np.testing.assert_allclose(moments.S, Z.T @ P @ T, atol=EXACT)
    np.testing.assert_allclose(moments.R, T.T @ P @ T, atol=EXACT)
    np.testing.assert_allclose(moments.feature_mean, Z.mean(axis=0))
    np.testing.assert_allclose(moments.target_mean, T.mean(axis=0))


def test_an_offset_costs_no_digits(rng):
    Z, T = rng.normal(size=(3000, 4)), rng.normal(size=(3000, 1))
    exact = Moments.of(Z, T)
    far = merge_all(Moments.of(Z[i : i + 100] + 1e6, T[i : i + 100]) for i in range(0, 3000, 100))
    np.testing.assert_allclose(far.C, exact.C, rtol=1e-9, atol=1e-6)
    raw = (Z + 1e6).T @ (Z + 1e6) - 3000 * np.outer((Z + 1e6).mean(0), (Z + 1e6).mean(0))
    assert np.abs(raw - exact.C).max() > 100 * np.abs(far.C - exact.C).max()


def test_inputs_are_left_alone(rng):
    Z, T, weight = rng.normal(size=(5, 2)), rng.normal(size=(5, 1)), np.ones(5)
    copies = Z.copy(), T.copy(), weight.copy()
    for array in (Z, T, weight):
        array.setflags(write=False)
    Moments.of(Z, T, weight)
    for array, copy in zip((Z, T, weight), copies, strict=True):
        np.testing.assert_array_equal(array, copy)
