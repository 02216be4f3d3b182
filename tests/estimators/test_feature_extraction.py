"""KOC, AKDA/QR, KPLS and RKDA against textbook definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_wine, make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

from kernel_learn import (
    HSICSubspace,
    KernelDiscriminant,
    KernelDiscriminantQR,
    KernelOrthogonalCentroid,
    KernelPLS,
    KernelPLSRegressor,
)
from kernel_learn.kernels import Gaussian, Linear, Spectrum
from kernel_learn.model_selection import held_out_scores
from kernel_learn.representations import GramForm
from oracles import classifier as oracle

X, y = load_wine(return_X_y=True)
X = scale(X)
X.setflags(write=False)
X_NEW = X[:30] + 0.1
GAMMA = 0.05
Y = np.eye(3)[y]


class TestOrthogonalCentroid:
    @pytest.mark.parametrize("landmarks", ["all", len(X)])
    def test_definition(self, landmarks):
        K, K_new = rbf_kernel(X, gamma=GAMMA), rbf_kernel(X_NEW, X, gamma=GAMMA)
        E = Y / Y.sum(axis=0)
        R = linalg.cholesky(E.T @ K @ E)
        expected = K_new @ E @ np.linalg.inv(R)
        model = KernelOrthogonalCentroid(Gaussian(GAMMA), landmarks=landmarks).fit(X, y)
        assert_allclose(model.transform(X_NEW), expected, atol=1e-9)
        assert_allclose(model.kernel_(X_NEW), expected @ expected.T, atol=1e-9)

    def test_linear_kernel_is_an_orthogonal_projection(self):
        X_off = X + 1.0  # centred rows have dependent centroids
        model = KernelOrthogonalCentroid("linear").fit(X_off, y)
        centroids = np.stack([X_off[y == j].mean(axis=0) for j in range(3)])
        Q, _ = np.linalg.qr(centroids.T)
        assert_allclose(model.kernel_(X_NEW), X_NEW @ Q @ Q.T @ X_NEW.T, atol=1e-9)
        assert KernelOrthogonalCentroid("linear").fit(X, y).n_components_ == 2

    def test_weights_are_repetitions(self):
        weight = 1.0 + np.arange(len(y)) % 3
        repeated = np.repeat(np.arange(len(y)), weight.astype(int))
        a = KernelOrthogonalCentroid().fit(X, y, sample_weight=weight)
        b = KernelOrthogonalCentroid().fit(X[repeated], y[repeated])
        assert_allclose(a.transform(X_NEW), b.transform(X_NEW), atol=1e-9)

    def test_clusters_see_lumps(self):
        rng = np.random.default_rng(0)
        corners = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]) * 6.0
        X_xor = np.vstack([c + rng.normal(size=(40, 2)) for c in corners])
        X_xor = np.hstack([X_xor, rng.normal(size=(160, 40))])  # columns that tell nothing
        y_xor = np.repeat([0, 0, 1, 1], 40)
        errors = []
        for clusters in (1, 2):
            model = KernelOrthogonalCentroid(
                "linear", clusters_per_class=clusters, random_state=0
            ).fit(X_xor[::2], y_xor[::2])
            knn = KNeighborsClassifier(1).fit(model.transform(X_xor[::2]), y_xor[::2])
            errors.append(1 - knn.score(model.transform(X_xor[1::2]), y_xor[1::2]))
        assert errors[1] < 0.05 < errors[0]

    def test_equal_centroids_are_one(self):
        X_twice = np.vstack([X[y == 0], X[y == 0], X[y == 1]])
        n0, n1 = (y == 0).sum(), (y == 1).sum()
        y_twice = np.repeat([0, 1, 2], [n0, n0, n1])
        assert KernelOrthogonalCentroid().fit(X_twice, y_twice).n_components_ == 2

    def test_bad_clusters(self):
        with pytest.raises(ValueError, match="clusters_per_class must be"):
            KernelOrthogonalCentroid(clusters_per_class=0).fit(X, y)

    def test_clusters_of_a_precomputed_matrix(self):
        rng = np.random.default_rng(0)
        corners = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]) * 6.0
        A = np.vstack([c + rng.normal(size=(20, 2)) for c in corners])
        labels = np.repeat([0, 0, 1, 1], 20)
        options = {"clusters_per_class": 2, "random_state": 0}
        rows = KernelOrthogonalCentroid(Gaussian(0.1), **options).fit(A, labels)
        K = Gaussian(0.1)(A)
        matrix = KernelOrthogonalCentroid("precomputed", **options).fit(K, labels)
        assert matrix.n_components_ == rows.n_components_ == 4
        F, F_rows = matrix.transform(K), rows.transform(A)
        assert_allclose(F @ F.T, F_rows @ F_rows.T, atol=1e-8)


class TestDiscriminantQR:
    def test_definition(self):
        c = np.stack([X[y == j].mean(axis=0) for j in range(3)])
        K_cc = rbf_kernel(c, gamma=GAMMA)
        R = linalg.cholesky(K_cc)
        Z = rbf_kernel(X, c, gamma=GAMMA) @ np.linalg.inv(R)
        Z_new = rbf_kernel(X_NEW, c, gamma=GAMMA) @ np.linalg.inv(R)
        Z_c = K_cc @ np.linalg.inv(R)
        total = (Z - Z.mean(0)).T @ (Z - Z.mean(0))
        mu = 1e-3 * np.trace(total) / len(X)
        counts = np.bincount(y)
        D = np.sqrt(counts)[:, None] * (Z_c - counts @ Z_c / counts.sum())
        _, V = linalg.eigh(D.T @ D, total + mu * np.eye(3))
        F = (Z_new - Z.mean(0)) @ V[:, ::-1]
        model = KernelDiscriminantQR(Gaussian(GAMMA)).fit(X, y)
        assert_allclose(np.abs(model.transform(X_NEW)), np.abs(F), atol=1e-8)
        assert model.n_components_ == 3

    @pytest.mark.parametrize("n", [60, 178])
    def test_counts_kernel_values(self, n):
        evaluated = []

        def kernel(A, B):
            evaluated.append(len(A) * len(B))
            return rbf_kernel(A, B, gamma=GAMMA)

        rows = np.argsort(np.arange(len(y)) % 3, kind="stable")[:n]
        model = KernelDiscriminantQR(kernel).fit(X[rows], y[rows])
        assert evaluated.pop(0) == min(n, 100) ** 2  # is the function a kernel at all?
        assert sum(evaluated) <= n * 3 + 2 * 9  # K(X, c), and K(c, c) for R and the centroids
        evaluated.clear()
        model.transform(X_NEW)
        assert sum(evaluated) == len(X_NEW) * 3

    def test_sparse_rows_stay_sparse(self):
        S = sparse.csr_matrix(np.where(X > 0.5, X, 0))
        for kernel in ("linear", "gaussian"):
            model = KernelDiscriminantQR(kernel).fit(S, y)
            assert sparse.issparse(model.kernel_.landmarks)
            dense = KernelDiscriminantQR(kernel).fit(S.toarray(), y)
            assert_allclose(model.transform(S), dense.transform(S.toarray()), atol=1e-7)

    def test_fewer_features_than_asked_for_are_said(self):
        with pytest.warns(UserWarning, match="determine 3"):
            assert KernelDiscriminantQR(n_components=5).fit(X, y).n_components_ == 3

    def test_needs_rows_that_average(self):
        with pytest.raises(ValueError, match="averages rows"):
            KernelDiscriminantQR(Spectrum(2)).fit(["ab", "bc", "cd"], [0, 1, 1])


class TestPLS:
    @pytest.mark.parametrize("landmarks", ["all", len(X)])
    @pytest.mark.parametrize("n_components", [1, 2, 5])
    def test_linear_kernel_is_scikit_learns_pls(self, n_components, landmarks):
        reference = PLSRegression(n_components, scale=False, tol=1e-30, max_iter=10_000).fit(X, Y)
        model = KernelPLS("linear", n_components=n_components, landmarks=landmarks).fit(X, y)
        assert_allclose(model._regress(model.transform(X_NEW)), reference.predict(X_NEW), atol=1e-8)
        scores = reference.transform(X_NEW)
        assert_allclose(
            np.abs(model.transform(X_NEW)),
            np.abs(scores / np.linalg.norm(reference.x_scores_, axis=0)),
            atol=1e-6,
        )

    def test_gaussian_kernel_is_nipals(self):
        """Rosipal & Trejo, step by step: power iteration and deflation of G and Y."""
        P = np.eye(len(X)) - 1 / len(X)
        G = P @ rbf_kernel(X, gamma=GAMMA) @ P
        G0, Y_left = G.copy(), Y - Y.mean(axis=0)
        T, U = [], []
        for _ in range(4):
            u = Y_left[:, :1]
            for _ in range(500):
                t = G @ u
                t /= np.linalg.norm(t)
                c = Y_left.T @ t
                u = Y_left @ c
                u /= np.linalg.norm(u)
            T.append(t)
            U.append(u)
            D = np.eye(len(X)) - t @ t.T
            G, Y_left = D @ G @ D, Y_left - t @ (t.T @ Y_left)
        T, U = np.hstack(T), np.hstack(U)
        K_new = rbf_kernel(X_NEW, X, gamma=GAMMA)
        G_new = (K_new - rbf_kernel(X, gamma=GAMMA).mean(axis=0)) @ P
        expected = G_new @ U @ np.linalg.inv(T.T @ G0 @ U)
        model = KernelPLS(Gaussian(GAMMA), n_components=4).fit(X, y)
        assert_allclose(np.abs(model.transform(X_NEW)), np.abs(expected), atol=1e-7)

    def test_scores_are_orthonormal(self):
        F = KernelPLS(n_components=20).fit(X, y).transform(X)
        assert_allclose(F.T @ F, np.eye(20), atol=1e-8)

    def test_exhausted_targets(self):
        with pytest.warns(UserWarning, match="determine 2"):
            model = KernelPLS("linear", n_components=9).fit(X[:, :2], y)
        assert model.n_components_ == 2

    def test_regression_with_several_targets(self):
        X_d, y_d = load_diabetes(return_X_y=True)
        Y_d = np.column_stack([y_d, X_d[:, 0] ** 2])
        model = KernelPLSRegressor(n_components=4).fit(X_d, Y_d)
        assert model.predict(X_d).shape == Y_d.shape
        listed = KernelPLSRegressor(n_components=4).fit(X_d.tolist(), Y_d.tolist())
        assert_allclose(listed.predict(X_d), model.predict(X_d))
        one = KernelPLSRegressor(n_components=4).fit(X_d, y_d)
        assert one.predict(X_d).shape == y_d.shape
        assert one.score(X_d, y_d) > 0.5
        # all components: least squares in feature space, the limit of ridge
        full = KernelPLSRegressor("linear", n_components=10).fit(X_d, y_d)
        ridge = KernelRidge(alpha=1e-10).fit(X_d, y_d - y_d.mean())
        assert_allclose(full.predict(X_d), ridge.predict(X_d) + y_d.mean(), rtol=1e-4)


class TestDiscriminant:
    @pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
    def test_linear_kernel_is_linear_discriminant_analysis(self, load):
        X_all, y_all = load(return_X_y=True)
        X_all = X_all[:, X_all.std(axis=0) > 0]
        train = np.arange(len(y_all)) % 2 == 0
        lda = LinearDiscriminantAnalysis().fit(X_all[train], y_all[train])
        model = KernelDiscriminant("linear", reg=1e-10, decision="centroid")
        model.fit(X_all[train], y_all[train])
        assert_array_equal(model.predict(X_all), lda.predict(X_all))
        # its solver "svd" divides by n - k in scikit-learn 1.7 and by n since, "lsqr" always by n
        least_squares = LinearDiscriminantAnalysis(solver="lsqr").fit(X_all[train], y_all[train])
        logs = [m.decision_function(X_all) for m in (model, least_squares)]
        ours, theirs = (L - L[:, :1] for L in logs)
        sharp = np.sum(ours * theirs) / np.sum(theirs**2)  # the scale of rows left out
        assert_allclose(ours, sharp * theirs, atol=1e-3 * np.abs(ours).max())

    def test_total_scatter_metric_would_differ(self):
        """The within-class metric matters: with the identity in its place iris changes."""
        X_iris, y_iris = load_iris(return_X_y=True)
        model = KernelDiscriminant("linear", reg=1e-10, decision="centroid").fit(X_iris, y_iris)
        F = model.transform(X_iris)
        total = ((F[:, None] - model.means_) ** 2).sum(axis=2)
        assert np.mean(np.argmin(total, axis=1) != model.predict(X_iris)) > 0.02

    def test_same_subspace_as_uhsic(self):
        a = KernelDiscriminant(Gaussian(GAMMA), reg=1e-2).fit(X, y)
        b = HSICSubspace(Gaussian(GAMMA), reg=1e-2, uncorrelated=True).fit(X, y)
        assert_allclose(a.transform(X_NEW), b.transform(X_NEW), atol=1e-10)
        assert a.objective_ == pytest.approx(b.objective_)

    def test_objective_is_the_trace_ratio(self):
        """tr((S_t + lam I)^{-1} S_b) in the coordinates of the Gram matrix."""
        P = np.eye(len(X)) - 1 / len(X)
        w, U = np.linalg.eigh(P @ rbf_kernel(X, gamma=GAMMA) @ P)
        Z = U * np.sqrt(np.maximum(w, 0))
        lam = 1e-2 * w.sum() / len(X)
        S_b = sum((y == j).sum() * np.outer(Z[y == j].mean(0), Z[y == j].mean(0)) for j in range(3))
        expected = np.trace(np.linalg.solve(Z.T @ Z + lam * np.eye(len(X)), S_b))
        model = KernelDiscriminant(Gaussian(GAMMA), reg=1e-2).fit(X, y)
        assert model.objective_ == pytest.approx(expected, rel=1e-8)

    @pytest.mark.parametrize("landmarks", ["all", 40])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_leave_one_out_is_exact(self, landmarks, weighted):
        """Against n refits of ridge regression with intercept on the same features."""
        rows = np.arange(0, len(y), 4)
        X_s, y_s = X[rows], y[rows]
        weight = np.random.default_rng(1).uniform(0.5, 2, len(rows)) if weighted else None
        model = KernelDiscriminant(
            Gaussian(GAMMA), reg=[1e-3, 1e-1, 10.0], landmarks=landmarks, random_state=0
        ).fit(X_s, y_s, sample_weight=weight)
        s = np.ones(len(rows)) if weight is None else weight
        landmark_rows = X_s if landmarks == "all" else model.kernel_.landmarks
        K_mm = rbf_kernel(landmark_rows, gamma=GAMMA)
        w, U = np.linalg.eigh(K_mm)
        keep = w > 1e-12 * w[-1]
        Z = rbf_kernel(X_s, landmark_rows, gamma=GAMMA) @ (U[:, keep] / np.sqrt(w[keep]))
        mean = s @ Z / s.sum()
        trace = np.sum(s[:, None] * (Z - mean) ** 2)
        T = np.eye(3)[y_s]
        for reg, found in zip(model.loo_regs_, model.loo_errors_, strict=True):
            lam = reg * trace / s.sum()
            total = 0.0
            for i in range(len(rows)):
                o = np.arange(len(rows)) != i
                m, t = s[o] @ Z[o] / s[o].sum(), s[o] @ T[o] / s[o].sum()
                A = np.sqrt(s[o])[:, None] * (Z[o] - m)
                b = np.sqrt(s[o])[:, None] * (T[o] - t)
                W = np.linalg.solve(A.T @ A + lam * np.eye(Z.shape[1]), A.T @ b)
                total += s[i] * np.sum((T[i] - t - (Z[i] - m) @ W) ** 2)
            assert found == pytest.approx(total / s.sum(), rel=1e-6)
        assert model.reg_ == pytest.approx(
            model.loo_regs_[np.argmin(model.loo_errors_)] * trace / s.sum()
        )

    def test_repeated_rows_do_not_leak_into_leave_one_out(self):
        X_two, y_two = np.vstack([X, X]), np.concatenate([y, y])
        once = KernelDiscriminant().fit(X, y, sample_weight=np.full(len(y), 2.0))
        twice = KernelDiscriminant().fit(X_two, y_two)
        assert_allclose(twice.loo_errors_, once.loo_errors_, rtol=1e-8)

    def test_a_second_fit_forgets_the_first(self):
        model = KernelDiscriminant().fit(X, y)
        assert model.loo_errors_ is not None
        assert model.set_params(reg=1e-2).fit(X, y).loo_errors_ is None

    def test_loo_avoids_the_noise_of_full_leverage(self):
        X_moons, y_moons = make_moons(60, noise=0.3, random_state=0)
        model = KernelDiscriminant(Gaussian(1e4), reg=[1e-9, 1e-1]).fit(X_moons, y_moons)
        assert model.loo_errors_[0] == np.inf
        assert model.reg_ == pytest.approx(1e-1, rel=0.1)

    def test_priors_and_decision_change_the_answer(self):
        X_moons, y_moons = make_moons(200, noise=0.5, random_state=0)
        plain = KernelDiscriminant(reg=1e-1).fit(X_moons, y_moons)
        biased = KernelDiscriminant(reg=1e-1, priors=[0.99, 0.01]).fit(X_moons, y_moons)
        assert (biased.predict(X_moons) == 0).mean() > (plain.predict(X_moons) == 0).mean() + 0.1
        neighbor = KernelDiscriminant(reg=1e-1, decision="nearest_neighbor").fit(X_moons, y_moons)
        assert neighbor.score(X_moons, y_moons) == 1.0
        assert plain.score(X_moons, y_moons) < 1.0
        one_nn = make_pipeline(
            HSICSubspace(reg=1e-1, uncorrelated=True), KNeighborsClassifier(1)
        ).fit(X_moons, y_moons)
        grid = np.random.default_rng(0).uniform(-2, 2, size=(50, 2))
        assert_array_equal(neighbor.predict(grid), one_nn.predict(grid))

    @pytest.mark.parametrize("landmarks", ["all", 40])
    @pytest.mark.parametrize("reg", [1e-2, "loo"])
    @pytest.mark.parametrize("n_components", [None, 1])
    def test_decisions_on_rows_left_out(self, reg, landmarks, n_components):
        """The losses that choose, from refits without each row; the choice is the smaller."""
        rows = np.arange(0, len(y), 3)
        X_s, y_s = X[rows], y[rows]
        models = {
            decision: KernelDiscriminant(
                Gaussian(GAMMA), reg=reg, decision=decision, landmarks=landmarks,
                n_components=n_components, random_state=0,
            ).fit(X_s, y_s)
            for decision in ("auto", "ridge", "centroid")
        }  # fmt: skip
        losses = {d: models[d].loo_log_loss_ for d in ("ridge", "centroid")}
        best = min(losses, key=losses.get)
        assert models["auto"].decision_ == best
        assert models["auto"].loo_log_loss_ == pytest.approx(losses[best])
        assert_allclose(models["auto"].predict_proba(X_NEW), models[best].predict_proba(X_NEW))
        assert losses["ridge"] != pytest.approx(losses["centroid"])

    def test_held_out_scores_are_those_of_refits(self):
        """And move with the class shares as a new row's do, not as those without the row."""
        rows = np.arange(0, len(y), 4)
        weight = np.random.default_rng(0).integers(1, 3, len(rows)).astype(float)
        K, Y = rbf_kernel(X[rows], gamma=GAMMA), np.eye(3)[y[rows]]
        form = GramForm([Gaussian(GAMMA)], X[rows], Y, weight)
        for decomposed in (False, True):
            sample = form.at(np.ones(1))
            if decomposed:
                assert sample.spectrum.w.size
            held = held_out_scores(sample, 0.3)
            groups = [[i] for i in range(len(rows))]
            expected = oracle.ridge_left_out(K, weight[:, None] * Y, 0.3, groups)
            mean = weight @ Y / weight.sum()
            without = (weight @ Y - weight[:, None] * Y) / (weight.sum() - weight)[:, None]
            assert_allclose(held.scores, expected + mean - without, atol=1e-9)
            assert_allclose(held.counts, weight[:, None] * Y, atol=1e-12)

    def test_probabilities_are_those_of_new_rows(self):
        """On wide rows the within-class scatter of the training rows says nothing."""
        rng = np.random.default_rng(0)
        labels = np.arange(80) % 2
        wide = rng.normal(size=(80, 2000)) + 0.12 * labels[:, None]
        for decision in ("auto", "ridge", "centroid"):
            model = KernelDiscriminant(decision=decision).fit(wide[:40], labels[:40])
            assert log_loss(labels[40:], model.predict_proba(wide[40:])) < 0.75
            shares = KernelDiscriminant(decision=decision, priors=[0.9, 0.1])
            shares.fit(wide[:40], labels[:40])
            moved = shares.decision_function(wide) - model.decision_function(wide)
            assert_allclose(moved, np.log(0.1 / 0.9), atol=1e-6)

    def test_rows_that_cannot_be_left_out(self):
        model = KernelDiscriminant(Gaussian(GAMMA), reg=1e-12).fit(X[::20], y[::20])
        assert model.decision_ == "centroid" and np.isnan(model.loo_log_loss_)

    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"reg": "learn more"}, "'loo'"),
            ({"reg": []}, "a list of positive numbers"),
            ({"reg": [1e-3, -1]}, "positive"),
            ({"decision": "vote"}, "nearest_neighbor"),
            ({"priors": [0.5, 0.5]}, "one per class"),
        ],
    )
    def test_bad_parameters(self, options, match):
        with pytest.raises(ValueError, match=match):
            KernelDiscriminant(**options).fit(X, y)


ALL = [
    HSICSubspace(),
    KernelOrthogonalCentroid(),
    KernelDiscriminantQR(),
    KernelPLS(),
    KernelDiscriminant(),
    KernelDiscriminant(reg=1e-2),
]


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
class TestEverySubspace:
    def test_kernel_is_that_of_the_features(self, model):
        model.fit(X, y)
        F = model.transform(X_NEW)
        assert_allclose(model.kernel_(X_NEW), F @ F.T, atol=1e-10)

    def test_tiny_classes_and_wide_rows(self, model):
        """One member in a class, n << d, string labels."""
        rng = np.random.default_rng(0)
        X_wide = rng.normal(size=(23, 400))
        labels = np.array(["a"] * 12 + ["b"] * 10 + ["single"])
        X_wide[labels == "b"] += 0.8
        X_wide[labels == "single"] -= 2.0
        model.fit(X_wide, labels)
        F = model.transform(X_wide)
        assert np.isfinite(F).all()
        assert list(model.classes_) == ["a", "b", "single"]
        knn = KNeighborsClassifier(1).fit(F, labels)
        assert knn.score(F, labels) > 0.9
        if hasattr(model, "predict"):
            assert set(model.predict(X_wide)) <= set(labels)

    def test_two_classes(self, model):
        rows = y < 2
        F = model.fit(X[rows], y[rows]).transform(X[rows])
        assert F.shape[1] in (1, 2)
        assert KNeighborsClassifier(3).fit(F, y[rows]).score(F, y[rows]) > 0.95

    def test_linear_and_precomputed_agree(self, model):
        if isinstance(model, KernelDiscriminantQR):
            pytest.skip("averages rows")
        a = type(model)(**{**model.get_params(deep=False), "kernel": Linear()}).fit(X, y)
        b = type(model)(**{**model.get_params(deep=False), "kernel": "precomputed"}).fit(X @ X.T, y)
        assert_allclose(a.transform(X_NEW), b.transform(X_NEW @ X.T), atol=1e-6)


class TestClustersOfCentroids:
    @pytest.mark.parametrize(
        ("weight", "alone"), [([9, 9, 1, 1, 1, 1], 0), ([1, 1, 9, 9, 1, 1], 3)]
    )
    def test_weights_move_the_border(self, weight, alone):
        """The row that is a cluster alone is in the span of the centroids, and no other is."""
        rows = np.array([[0.0], [4.0], [5.5], [10.0], [30.0], [31.0]])
        labels, weight = np.array([0, 0, 0, 0, 1, 1]), np.array(weight)

        def fitted(rows, labels, **options):
            model = KernelOrthogonalCentroid(Gaussian(0.01), clusters_per_class=2, random_state=0)
            return model.fit(rows, labels, **options).kernel_

        kernel = fitted(rows, labels, sample_weight=weight.astype(float))
        inside = kernel.diag(rows)[:4] > 1 - 1e-6
        assert_array_equal(np.flatnonzero(inside), [alone])
        copies = np.repeat(np.arange(6), weight)
        repeated = fitted(rows[copies], labels[copies])
        assert_allclose(kernel(rows), repeated(rows), atol=1e-9)
