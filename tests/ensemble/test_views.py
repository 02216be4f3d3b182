"""Views of columns: definitions, weights as repetitions, missing and new values."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm, rankdata
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernel_learn.ensemble.views import (
    BlockOneHot,
    ClippedScores,
    NormalScores,
    UniformScores,
    UnitRows,
    ZScores,
    column_quantiles,
)
from tolerances import EXACT

VIEWS = [ZScores(), UniformScores(), NormalScores(), ClippedScores()]
every_view = pytest.mark.parametrize("view", VIEWS, ids=lambda view: type(view).__name__)


@pytest.fixture
def X(rng):
    """Skewed, tied, constant, nearly constant."""
    X = np.exp(rng.standard_normal((40, 5)))
    X[:, 1] = rng.integers(0, 4, size=40)
    X[:, 2] = 3.0
    X[:, 3] = 0.0
    X[5, 3] = 1.0
    return X


@parametrize_with_checks([*VIEWS, UnitRows(), UnitRows(0.5, True), BlockOneHot()])
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        check(estimator)


@every_view
def test_weights_are_repetitions(view, X, rng):
    weight = rng.integers(0, 4, size=40)
    weighted = view.fit(X, sample_weight=weight).transform(X)
    repeated = view.fit(np.repeat(X, weight, axis=0)).transform(X)
    np.testing.assert_allclose(weighted, repeated, atol=EXACT)


@every_view
def test_missing_numbers_are_medians(view, X):
    holes = X.copy()
    holes[::3, 0] = np.nan
    holes[:, 4] = np.nan  # nothing known
    filled = holes.copy()
    filled[::3, 0] = np.median(X[np.arange(40) % 3 > 0, 0])
    filled[:, 4] = 0.0
    expected = view.fit(filled).transform(filled)
    before = holes.copy()
    np.testing.assert_allclose(view.fit(holes).transform(holes), expected, atol=EXACT)
    np.testing.assert_array_equal(holes, before)


@every_view
def test_constant_columns_say_nothing(view, X):
    Z = view.fit(X).transform(X)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(
        Z[:, 2],
        0.5 if isinstance(view, UniformScores) and not isinstance(view, NormalScores) else 0.0,
    )


@every_view
def test_order_is_kept_and_outliers_are_bounded(view, X):
    view.fit(X)
    grid = np.tile(np.linspace(-5, 50, 101)[:, None], (1, 5))
    Z = view.transform(grid)
    assert (np.diff(Z, axis=0) >= -EXACT).all()
    if not isinstance(view, ZScores):
        assert np.abs(view.transform(np.full((1, 5), 1e9))).max() <= 8


def test_definitions(X):
    z = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    np.testing.assert_allclose(ZScores().fit_transform(X)[:, 0], z)
    U = (np.column_stack([rankdata(x) for x in X.T]) - 0.5) / 40
    np.testing.assert_allclose(UniformScores().fit_transform(X), U, atol=EXACT)
    Q = norm.ppf(U[:, :2])
    np.testing.assert_allclose(
        NormalScores().fit_transform(X)[:, :2], (Q - Q.mean(0)) / Q.std(0), atol=EXACT
    )
    q1, q2, q3 = np.quantile(X[:, 0], (0.25, 0.5, 0.75), method="averaged_inverted_cdf")
    c = (X[:, 0] - q2) / (q3 - q1)
    np.testing.assert_allclose(ClippedScores().fit_transform(X)[:, 0], c / np.sqrt(1 + c**2 / 9))
    # the quartiles of a nearly constant column coincide: half its range is the unit
    np.testing.assert_allclose(ClippedScores().fit_transform(X)[5, 3], 2 / np.sqrt(1 + 4 / 9))


def test_normal_scores_stop_at_half_a_row():
    """A row that counts little at the edge stands where half a whole row would."""
    X, weight = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0.1, 2.0, 1.7, 0.2])
    view = NormalScores().fit(X, sample_weight=weight)
    ranks = np.array([0.05, 1.1, 2.95, 3.9]) / 4
    Q = norm.ppf(np.clip(ranks, 0.125, 0.875))
    mean = weight @ Q / 4
    std = np.sqrt(weight @ (Q - mean) ** 2 / 4)
    expected = (Q - mean) / std
    assert norm.ppf(0.125) == Q[0] == -Q[3]  # both were outside
    np.testing.assert_allclose(view.transform(X)[:, 0], expected)
    outside = view.transform(np.array([[-9.0], [9.0]]))[:, 0]
    np.testing.assert_allclose(outside, expected[[0, 3]])
    light = NormalScores().fit(X, sample_weight=weight / 100)  # in all less than one row
    assert light.edge_ == 0.5


def test_new_values_lie_between_their_neighbours():
    view = UniformScores().fit(np.array([[1.0], [2.0], [4.0], [4.0]]))
    U = view.transform(np.array([[0.0], [1.5], [3.0], [4.0], [9.0]]))
    np.testing.assert_allclose(U.ravel(), [0.125, 0.25, 0.5625, 0.75, 0.75])


def test_quantiles(rng):
    X = rng.integers(0, 9, size=(12, 3)).astype(float)
    for share in (0.25, 0.5, 0.9):
        expected = np.quantile(X, share, axis=0, method="averaged_inverted_cdf")
        np.testing.assert_allclose(column_quantiles(X, np.ones(12), (share,))[0], expected)


def test_blocks_of_equal_spread(rng):
    codes = np.column_stack([rng.integers(-1, 4, size=60), np.zeros(60)]).astype(float)
    view = BlockOneHot().fit(codes)
    Z = view.transform(codes)
    assert view.blocks_.tolist() == [0] * 5 + [1]
    assert Z[:, :5].var(axis=0).sum() == pytest.approx(1) and not Z[:, 5].any()
    assert not view.transform(np.array([[7.0, 0.0]])).any()  # not seen at fit
    weight = rng.integers(1, 3, size=60)
    np.testing.assert_allclose(
        BlockOneHot().fit(codes, sample_weight=weight).transform(codes),
        BlockOneHot().fit(np.repeat(codes, weight, axis=0)).transform(codes),
    )


@pytest.mark.parametrize("view", [UnitRows(), UnitRows(0.5), UnitRows(0.0, scale=True)], ids=repr)
def test_unit_rows_stay_sparse(view):
    S = sparse.random(20, 50, density=0.1, format="csr", random_state=0)
    before = S.copy()
    Z = view.fit(S).transform(S)
    assert sparse.issparse(Z) and Z.nnz == S.nnz and (before != S).nnz == 0
    dense = view.fit(S.toarray()).transform(S.toarray())
    np.testing.assert_allclose(Z.toarray(), dense, atol=EXACT)
    lengths = np.linalg.norm(dense, axis=1)
    np.testing.assert_allclose(lengths[lengths > 0], 1)


def test_ranks_hold_each_value_once(rng):
    """And columns in one piece; a column of fewer values repeats its last."""
    X = np.column_stack([rng.integers(0, 4, 50), rng.integers(0, 2, 50), np.full(50, 3)])
    view = UniformScores().fit(X.astype(float))
    assert view.knots_.T.tolist() == [[0, 1, 2, 3], [0, 1, 1, 1], [3, 3, 3, 3]]
    assert view.knots_.T.flags.c_contiguous and view.ranks_.T.flags.c_contiguous
    expected = (rankdata(X, axis=0) - 0.5) / 50
    np.testing.assert_allclose(view.transform(X), expected, atol=EXACT)
    np.testing.assert_allclose(view.transform([[9, 9, 9]])[0], expected.max(axis=0), atol=EXACT)
