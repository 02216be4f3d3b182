import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.cluster import KMeans

from kernel_learn.kernels import Gaussian, Linear, Precomputed, Spectrum
from kernel_learn.representations import (
    ArraySource,
    FeatureMap,
    Landmarks,
    plan_source,
    represent,
)
from kernel_learn.representations.feature_map import whitening
from kernel_learn.representations.landmarks import (
    check_landmarks,
    combine_rows,
    select_landmarks,
    select_rpcholesky,
    select_uniform,
)
from kernel_learn.representations.moments import Moments
from kernel_learn.rows.keys import distinct_rows


def residual_share(K, chosen, weight):
    """sum w (k_ii - k_i' K_cc^+ k_i) / sum w k_ii, naive."""
    left = np.diag(K) - np.diag(
        K[:, chosen] @ np.linalg.pinv(K[np.ix_(chosen, chosen)]) @ K[chosen]
    )
    return weight @ left / (weight @ np.diag(K))


@pytest.mark.parametrize("count", [1, 5, 23])
def test_rpcholesky_residual_is_recomputed(rng, count):
    X = rng.normal(size=(60, 3))
    weight = rng.uniform(0.5, 2, size=60)
    kernel = Gaussian(0.3)
    chosen, residual = select_rpcholesky(count, kernel, X, weight, RandomState(0))
    assert len(set(chosen)) == count
    assert residual == pytest.approx(residual_share(kernel(X), chosen, weight), abs=1e-8)


def test_rpcholesky_stops_at_the_rank(rng):
    X = rng.normal(size=(40, 3))
    chosen, residual = select_rpcholesky(20, Linear(), X, np.ones(40), RandomState(0))
    assert len(chosen) == 3
    assert residual < 1e-10


def test_rpcholesky_beats_uniform_where_the_data_is_uneven():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(480, 2)) * 0.05, rng.normal(size=(20, 2)) * 3])
    kernel, weight = Gaussian(0.5), np.ones(500)
    adaptive = [select_rpcholesky(15, kernel, X, weight, RandomState(s))[1] for s in range(10)]
    uniform = [
        residual_share(kernel(X), select_uniform(15, weight, RandomState(s)), weight)
        for s in range(10)
    ]
    assert np.mean(adaptive) < 0.5 * np.mean(uniform)


def test_block_draws_follow_the_sequential_law():
    """First pivots are proportional to w d: compare frequencies with probabilities."""
    X = np.array([[0.0], [0.1], [3.0], [9.0]])
    weight = np.array([1.0, 1.0, 2.0, 4.0])
    counts = np.zeros(4)
    second = np.zeros(4)
    for seed in range(800):
        chosen, _ = select_rpcholesky(2, Gaussian(1.0), X, weight, RandomState(seed))
        counts[chosen[0]] += 1
        second[chosen[1]] += 1
    np.testing.assert_allclose(counts / 800, weight / 8, atol=0.05)
    K = Gaussian(1.0)(X)
    law = np.zeros(4)
    for i in range(4):
        d = weight * (1 - K[:, i] ** 2)
        law += weight[i] / 8 * d / d.sum()
    np.testing.assert_allclose(second / 800, law, atol=0.06)


@pytest.mark.parametrize("rule", ["uniform", "kmeans", "rpcholesky"])
def test_order_and_repetition_do_not_matter(rng, rule):
    X = rng.normal(size=(30, 2))
    weight = 1.0 + np.arange(30) % 3
    T = rng.normal(size=(30, 2))
    repeated = np.repeat(np.arange(30), weight.astype(int))
    shuffled = rng.permutation(repeated)
    spec = Landmarks(rule, 8)
    found = []
    for rows, w in ((X, weight), (X[repeated], None), (X[shuffled], None)):
        t = T if w is not None else T[repeated]
        source = ArraySource(rows, t, w)
        plan = plan_source([Gaussian(0.5)], source, spec, None)
        representation = represent([Gaussian(0.5)], source, plan, spec, random_state=3)
        found.append(np.sort(representation.features.landmarks, axis=0))
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)
    np.testing.assert_allclose(found[0], found[2], atol=1e-10)


def test_all_rows_as_landmarks_are_exact(rng):
    X = rng.normal(size=(25, 3))
    X_new = rng.normal(size=(6, 3))
    features = FeatureMap.whitened([Gaussian(0.2)], X)
    Z, Z_new = features(X), features(X_new)
    np.testing.assert_allclose(Z @ Z.T, Gaussian(0.2)(X), atol=1e-10)
    np.testing.assert_allclose(Z_new @ Z.T, Gaussian(0.2)(X_new, X), atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_whitening_is_a_triangle_where_landmarks_are_well_conditioned(rng, dtype):
    """The same features up to a rotation, so the same kernel and the same moments."""
    X, rows = rng.normal(size=(60, 4)).astype(dtype), rng.normal(size=(30, 4)).astype(dtype)
    tight, loose = (FeatureMap.whitened([Gaussian(gamma)], X) for gamma in (3.0, 1e-3))
    assert tight.triangular == [True] and loose.triangular == [False]
    turned = FeatureMap([Gaussian(3.0)], X, [whitening(Gaussian(3.0)(X), X.dtype)[1]])
    tolerance = 1e-10 if dtype == np.float64 else 1e-5
    Z, Z_turned = tight(rows), turned(rows)
    assert Z.dtype == dtype and not turned.triangular[0]
    np.testing.assert_allclose(Z @ Z.T, Z_turned @ Z_turned.T, atol=tolerance)
    T = np.eye(3)[np.arange(30) % 3]
    own, expected = tight.block_moments(rows, T), Moments.of(Z, T)
    np.testing.assert_allclose(own.scatter, expected.scatter, atol=tolerance)
    before = Gaussian(3.0)(rows, X)
    tight._whitened(0, before)
    np.testing.assert_array_equal(before, Gaussian(3.0)(rows, X))  # not written over


def test_float32_is_cut_at_what_float64_says(rng):
    """K(landmarks, landmarks) is float64: eigenvalues down to 1e-8 of the largest are kept."""
    X = rng.normal(size=(80, 2)).astype(np.float32)
    single = FeatureMap.whitened([Gaussian(0.05)], X)
    double = FeatureMap.whitened([Gaussian(0.05)], X.astype(np.float64))
    w = np.linalg.eigvalsh(Gaussian(0.05)(X.astype(np.float64)))
    assert single.whiten[0].dtype == np.float32
    assert single.dimension == np.sum(w > 1e-8 * w[-1])
    assert np.sum(w > 80 * np.finfo(np.float32).eps * w[-1]) < single.dimension < double.dimension
    Z = single(X)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z @ Z.T, Gaussian(0.05)(X), atol=2e-3)


def test_precomputed_and_strings_have_landmarks(rng):
    X = rng.normal(size=(20, 3))
    K = Gaussian(0.3)(X)
    first, inverse = np.arange(20), np.arange(20)
    for rule in ("uniform", "rpcholesky"):
        chosen = select_landmarks(rule, 5, Precomputed(), K, first, np.ones(20), RandomState(0))
        features = FeatureMap.whitened(
            [Precomputed()], Precomputed().reference(K, chosen.indices), chosen.rows
        )
        direct = FeatureMap.whitened([Gaussian(0.3)], X[chosen.indices])
        np.testing.assert_allclose(features(K) @ features(K).T, direct(X) @ direct(X).T, atol=1e-9)
    words = np.array(["abcab", "bcabc", "xyzxy", "zxyzx", "abxyz", "abcab"], dtype=object)
    first, inverse = distinct_rows(words)
    chosen = select_landmarks(
        "rpcholesky", 3, Spectrum(2), words, first, np.bincount(inverse), RandomState(0)
    )
    assert len(chosen.rows) == 3
    with pytest.raises(ValueError, match="averages rows"):
        select_landmarks("kmeans", 3, Spectrum(2), words, first, np.ones(5), RandomState(0))


@pytest.mark.parametrize("bad", ["nearest", 0, -3, 1.5, None, True])
def test_what_is_not_a_landmark_rule(bad):
    with pytest.raises(ValueError, match="landmark"):
        check_landmarks(bad)


def test_landmarks_object_checks_itself():
    with pytest.raises(ValueError, match="rules are"):
        Landmarks("nearest")
    with pytest.raises(ValueError, match="positive integer"):
        Landmarks("uniform", 0)


def test_uniform_draws_follow_the_weights():
    """A row of weight w is drawn first with probability w / sum w."""
    weight = np.array([1.0, 2.0, 7.0])
    drawn = [int(select_uniform(1, weight, RandomState(s))[0]) for s in range(2000)]
    shares = np.bincount(drawn, minlength=3) / 2000
    np.testing.assert_allclose(shares, weight / 10, atol=0.04)
    assert set(select_uniform(3, np.array([1.0, 0.0, 2.0]), RandomState(0))) == {0, 2}


def test_kmeans_centres_are_weighted_means():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    weight = np.array([3.0, 1.0, 1.0, 1.0])
    chosen = select_landmarks("kmeans", 2, Gaussian(0.1), X, np.arange(4), weight, RandomState(0))
    np.testing.assert_allclose(np.sort(chosen.rows.ravel()), [0.25, 10.5])


def test_clusters_are_those_of_weighted_rows():
    X = np.array([[0.0], [4.0], [6.0], [10.0]])  # the weights decide where the middle goes
    for weight in ([9.0, 9.0, 1.0, 1.0], [1.0, 1.0, 9.0, 9.0]):
        repeated = np.repeat(X, np.array(weight, dtype=int), axis=0)
        J = combine_rows("clusters", 2, X, np.array(weight), RandomState(0))
        K = KMeans(2, random_state=RandomState(0).randint(2**31 - 1), n_init=1).fit(repeated)
        own = K.predict(X)
        assert np.array_equal(J @ J.T, own[:, None] == own)


def test_stratified_landmarks_are_balanced_over_the_classes(rng):
    X = rng.normal(size=(1000, 2))
    labels = np.where(np.arange(1000) < 5, 2, (np.arange(1000) < 60).astype(int))
    source = ArraySource(X, labels, n_classes=3)
    plan = plan_source([Gaussian(1.0)], source, Landmarks("stratified", 100))
    form = represent([Gaussian(1.0)], source, plan, Landmarks("stratified", 100), random_state=0)
    own = labels[np.isin(X[:, 0], form.features.landmarks[:, 0])]
    assert np.bincount(own).tolist() == [48, 47, 5]  # all of the smallest, the others alike
    values = ArraySource(X, X[:, :1])
    with pytest.raises(ValueError, match="there are no classes"):
        represent([Gaussian(1.0)], values, plan, Landmarks("stratified", 100), random_state=0)
