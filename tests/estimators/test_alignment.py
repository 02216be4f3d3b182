"""AlignmentSubspace (SKFE) and ExpansionSVC."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_digits, load_wine, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from kernel_learn import AlignmentSubspace, ExpansionSVC, KernelOrthogonalCentroid
from kernel_learn.datasets import find_data
from kernel_learn.datasets.folder import MissingDataError
from kernel_learn.kernels import Cosine, Gaussian, Laplacian

X, y = load_wine(return_X_y=True)
X = scale(X)
X.setflags(write=False)
X_NEW = X[:30] + 0.1
GAMMA = 0.05
Y = np.eye(3)[y]


def alignment(K, Y):
    H = Y @ Y.T
    return np.sum(K * H) / (np.linalg.norm(K) * np.linalg.norm(H))


class TestAlignment:
    @pytest.mark.parametrize("center", [False, True])
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_reported_alignment_is_that_of_the_kernel(self, center):
        model = AlignmentSubspace(Gaussian(GAMMA), center=center, max_iter=100).fit(X, y)
        Y_used = Y - Y.mean(axis=0) if center else Y
        assert model.alignment_ == pytest.approx(alignment(model.kernel_(X), Y_used), rel=1e-8)

    @pytest.mark.parametrize("center", [False, True])
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_far_above_the_centroids(self, center):
        koc = KernelOrthogonalCentroid(Gaussian(GAMMA)).fit(X, y)
        plain = AlignmentSubspace(Gaussian(GAMMA), reg=0.0, center=center, max_iter=300).fit(X, y)
        if not center:
            start = alignment(koc.kernel_(X), Y)
            assert plain.history_[0]["value"] == pytest.approx(start, rel=1e-8)
        assert plain.history_[0]["value"] < 0.85
        assert plain.alignment_ > 0.99

    @pytest.mark.parametrize("init", ["koc", "hsic", "pca", "random"])
    def test_never_below_its_start_from_anywhere(self, init):
        model = AlignmentSubspace(init=init, random_state=0, max_iter=2000).fit(X, y)
        values = [step["value"] for step in model.history_]
        assert np.all(np.diff(values) >= 0)
        assert model.objective_ == values[-1] > values[0]
        assert model.grad_norm_ <= model.tol
        assert len(values) == model.n_iter_ + 1

    def test_starts_from_coefficients(self):
        koc = KernelOrthogonalCentroid(Gaussian(GAMMA)).fit(X, y)
        given = AlignmentSubspace(Gaussian(GAMMA), init=koc.kernel_.coef).fit(X, y)
        named = AlignmentSubspace(Gaussian(GAMMA), init="koc").fit(X, y)
        assert given.history_[0]["value"] == pytest.approx(named.history_[0]["value"], rel=1e-8)
        with pytest.raises(ValueError, match="init has shape"):
            AlignmentSubspace(init=np.ones((3, 2))).fit(X, y)

    @pytest.mark.parametrize("center", [False, True])
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_repeated_rows_with_other_labels_count_as_they_are(self, center):
        X_two, y_two = np.vstack([X, X[:40]]), np.concatenate([y, 1 + y[:40] % 2])
        model = AlignmentSubspace(Gaussian(GAMMA), center=center, max_iter=30).fit(X_two, y_two)
        Y_two = np.eye(3)[y_two]
        Y_two = Y_two - Y_two.mean(axis=0) if center else Y_two
        assert model.alignment_ == pytest.approx(alignment(model.kernel_(X_two), Y_two), rel=1e-7)

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_given_start_with_weights(self):
        weight = np.arange(len(y)) % 3 + 0.0  # a third of the rows left out
        koc = KernelOrthogonalCentroid(Gaussian(GAMMA)).fit(X, y, sample_weight=weight)
        W = np.zeros((len(y), 3))
        W[weight > 0] = koc.kernel_.coef
        given, named = (
            AlignmentSubspace(Gaussian(GAMMA), init=init, max_iter=1).fit(X, y, weight)
            for init in (W, "koc")
        )
        assert given.history_[0]["value"] == pytest.approx(named.history_[0]["value"], rel=1e-8)

    def test_fifty_starts_find_nothing_much_better(self):
        """From the centroids the local maximum is within one per cent of the best of 50."""
        rows = np.arange(0, len(y), 4)
        options = {"kernel": Gaussian(GAMMA), "max_iter": 400, "tol": 1e-4}
        ours = AlignmentSubspace(**options).fit(X[rows], y[rows]).objective_
        best = max(
            AlignmentSubspace(**options, init="random", random_state=seed)
            .fit(X[rows], y[rows])
            .objective_
            for seed in range(50)
        )
        assert ours >= 0.99 * best

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_regularisation_does_not_fit_random_labels(self):
        noise = np.random.default_rng(0).permutation(y)
        plain = AlignmentSubspace(reg=0.0).fit(X, noise)
        default = AlignmentSubspace().fit(X, noise)
        strong = AlignmentSubspace(reg=10.0).fit(X, noise)
        assert plain.alignment_ > 0.9  # by construction: see MATHS of the criterion
        assert default.alignment_ < plain.alignment_ - 0.1
        assert strong.alignment_ < 0.6
        true = AlignmentSubspace().fit(X, y)
        assert true.alignment_ > 0.95

    @pytest.mark.parametrize("load", [load_wine, load_digits])
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_held_out_not_worse_than_the_centroids(self, load):
        X_all, y_all = load(return_X_y=True)
        X_all, y_all = scale(X_all)[:600], y_all[:600]
        order = np.random.default_rng(0).permutation(len(y_all))
        scores = [
            cross_val_score(
                make_pipeline(model, KNeighborsClassifier(1)), X_all[order], y_all[order], cv=5
            ).mean()
            for model in (KernelOrthogonalCentroid(), AlignmentSubspace(max_iter=200))
        ]
        assert scores[1] >= scores[0]

    @pytest.mark.data
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_text_is_aligned_too(self):
        try:
            X_text, y_text = find_data().load("tr11")
        except MissingDataError as missing:
            pytest.skip(str(missing))
        koc = KernelOrthogonalCentroid(Cosine()).fit(X_text, y_text)
        model = AlignmentSubspace(Cosine()).fit(X_text, y_text)
        one_hot = (y_text[:, None] == np.unique(y_text)).astype(float)
        assert model.alignment_ > alignment(koc.kernel_(X_text), one_hot) + 0.05

    def test_all_rows_as_landmarks(self):
        exact = AlignmentSubspace(Gaussian(GAMMA), landmarks="all").fit(X, y)
        other = AlignmentSubspace(Gaussian(GAMMA), landmarks=len(X)).fit(X, y)
        assert other.objective_ == pytest.approx(exact.objective_, rel=1e-6)
        few = AlignmentSubspace(Gaussian(GAMMA), landmarks=30, random_state=0).fit(X, y)
        assert few.objective_ < exact.objective_

    def test_columns_are_orthonormal_directions(self):
        model = AlignmentSubspace(Gaussian(GAMMA), n_components=2).fit(X, y)
        W = model.kernel_.coef
        assert_allclose(W.T @ rbf_kernel(X, gamma=GAMMA) @ W, np.eye(2), atol=1e-8)

    def test_stopping_early_is_said(self):
        with pytest.warns(ConvergenceWarning, match="gradient of norm"):
            AlignmentSubspace(max_iter=2).fit(X, y)

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_radius_margin_is_another_criterion(self):
        rows = np.arange(0, len(y), 3)
        model = AlignmentSubspace(criterion="radius_margin", max_iter=20).fit(X[rows], y[rows])
        values = [step["value"] for step in model.history_]
        assert values[-1] > values[0] + 0.1
        other = AlignmentSubspace(max_iter=20).fit(X[rows], y[rows])
        assert np.abs(model.kernel_(X_NEW) - other.kernel_(X_NEW)).max() > 1e-3
        F, F_new = model.transform(X[rows]), model.transform(X[1::3])
        assert KNeighborsClassifier(1).fit(F, y[rows]).score(F_new, y[1::3]) > 0.9

    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"criterion": "beauty"}, "radius_margin"),
            ({"init": "best"}, "init must be"),
            ({"reg": -1}, "zero or positive"),
            ({"tol": 0}, "tol must be"),
            ({"max_iter": 0}, "max_iter must be"),
            ({"criterion": "radius_margin", "reg": 0.0}, "reg must be a positive"),
        ],
    )
    def test_bad_parameters(self, options, match):
        with pytest.raises(ValueError, match=match):
            AlignmentSubspace(**options).fit(X, y)

    def test_more_components_than_rank(self):
        with pytest.warns(UserWarning, match="determine 1"):
            model = AlignmentSubspace("linear", n_components=3).fit(X[:, :1], y)
        assert model.n_components_ == 1


class TestExpansion:
    def test_moving_points_helps(self):
        X_digits, y_digits = load_digits(return_X_y=True)
        options = {"n_points": 15, "C": 10, "random_state": 0, "max_iter": 30}
        with pytest.warns(ConvergenceWarning, match="gradient"):
            moved = ExpansionSVC(**options).fit(X_digits[::3], y_digits[::3])
        still = ExpansionSVC(**options, move_points=False).fit(X_digits[::3], y_digits[::3])
        assert moved.objective_ < 0.8 * still.objective_
        scores = [model.score(X_digits[1::3], y_digits[1::3]) for model in (moved, still)]
        assert scores[0] > scores[1]
        assert moved.history_[0]["value"] == pytest.approx(still.objective_, rel=1e-6)

    def test_decision_is_linear_in_the_features(self):
        model = ExpansionSVC(n_points=8, random_state=0, move_points=False).fit(X, y)
        F = model.transform(X_NEW)
        assert_allclose(model.decision_function(X_NEW), F @ model.coef_.T + model.intercept_)
        assert model.expansion_points_.shape == (8, X.shape[1])
        gamma = model.base_kernel_.gamma
        K_xz = rbf_kernel(X_NEW, model.expansion_points_, gamma=gamma)
        K_zz = rbf_kernel(model.expansion_points_, gamma=gamma)
        assert_allclose(model.kernel_(X_NEW), K_xz @ np.linalg.inv(K_zz) @ K_xz.T, atol=1e-5)

    def test_objective_is_recomputed(self):
        model = ExpansionSVC(n_points=5, C=3.0, random_state=0, move_points=False).fit(X, y)
        signs = np.where(Y > 0, 1, -1)
        slack = np.maximum(0, 1 - signs * model.decision_function(X))
        expected = 0.5 * np.sum(model.coef_**2) + 1.5 * np.sum(slack**2)
        assert model.objective_ == pytest.approx(expected, rel=1e-6)

    @pytest.mark.parametrize("C", [0.3, 30.0])
    def test_the_hinge_is_that_of_scikit_learn(self, C):
        """SVC on k(x, Z) K_ZZ^{-1} k(Z, y); with all rows as points on k itself."""
        options = {"C": C, "loss": "hinge", "move_points": False}
        model = ExpansionSVC("gaussian", init=X[:8], **options).fit(X, y > 0)
        gamma = model.base_kernel_.gamma
        K_xz, K_zz = rbf_kernel(X, X[:8], gamma=gamma), rbf_kernel(X[:8], gamma=gamma)
        K = K_xz @ np.linalg.solve(K_zz, K_xz.T)
        svc = SVC(C=C, kernel="precomputed", tol=1e-8).fit(K, y > 0)
        assert_allclose(model.decision_function(X), svc.decision_function(K), atol=1e-4)
        signs = np.where(y > 0, 1, -1)
        slack = np.maximum(0, 1 - signs * svc.decision_function(K))
        alpha = svc.dual_coef_[0]
        half = 0.5 * alpha @ K[np.ix_(svc.support_, svc.support_)] @ alpha
        assert model.objective_ == pytest.approx(half + C * slack.sum(), rel=1e-5)
        whole = ExpansionSVC("gaussian", init=X, **options).fit(X, y > 0)
        svc = SVC(C=C, gamma=gamma, tol=1e-8).fit(X, y > 0)
        assert_allclose(whole.decision_function(X_NEW), svc.decision_function(X_NEW), atol=2e-3)
        square = ExpansionSVC("gaussian", init=X[:8], C=C, move_points=False).fit(X, y > 0)
        assert not np.allclose(model.decision_function(X), square.decision_function(X), atol=1e-2)

    @pytest.mark.filterwarnings("ignore:ExpansionSVC stopped after")
    def test_points_move_under_the_hinge(self):
        options = {"n_points": 6, "loss": "hinge", "random_state": 0, "max_iter": 20}
        moved = ExpansionSVC(**options).fit(X, y)
        still = ExpansionSVC(**options, move_points=False).fit(X, y)
        assert moved.objective_ < 0.95 * still.objective_
        assert moved.history_[0]["value"] == pytest.approx(still.objective_, rel=1e-6)

    def test_class_weight_changes_the_answer(self):
        X_moons, y_moons = make_moons(200, noise=0.4, random_state=0)
        rare = np.concatenate([np.flatnonzero(y_moons == 0), np.flatnonzero(y_moons == 1)[:15]])
        options = {"n_points": 5, "random_state": 0, "move_points": False}
        plain = ExpansionSVC(**options).fit(X_moons[rare], y_moons[rare])
        balanced = ExpansionSVC(**options, class_weight="balanced").fit(
            X_moons[rare], y_moons[rare]
        )
        assert balanced.predict(X_moons).mean() > plain.predict(X_moons).mean() + 0.1

    def test_sparse_rows_and_given_points(self):
        S = sparse.csr_matrix(np.where(X > 0.5, X, 0))
        options = {"n_points": 4, "random_state": 0, "move_points": False}
        a = ExpansionSVC(**options, init=S[:4].toarray()).fit(S, y)
        b = ExpansionSVC(**options, init=S[:4].toarray()).fit(S.toarray(), y)
        assert_allclose(a.decision_function(S), b.decision_function(S.toarray()), atol=1e-6)

    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"n_points": 0}, "n_points must be"),
            ({"C": -1}, "C must be"),
            ({"init": "best"}, "init must be"),
            ({"init": np.ones((3, 2))}, "points are"),
            ({"kernel": Laplacian()}, "no derivative"),
            ({"class_weight": {0: 1.0, 1: 1.0, 2: 0.0}}, "must be positive and finite"),
        ],
    )
    def test_bad_parameters(self, options, match):
        with pytest.raises(ValueError, match=match):
            ExpansionSVC(**options).fit(X, y)
