"""KernelRegressor: exactness against refits, weights, groups, several targets, what it says."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_score

from extras import optional
from kernel_learn import (
    HSICSubspace,
    KernelClassifier,
    KernelDiscriminant,
    KernelPLSRegressor,
    KernelRegressor,
)
from kernel_learn.criteria.held_out.number_targets import merge_values
from kernel_learn.criteria.held_out.ridge import RIDGE_REGS
from kernel_learn.ensemble.candidates import candidates
from kernel_learn.ensemble.cross_validation import Sample, cross_validate
from kernel_learn.ensemble.ingest import prepare
from kernel_learn.ensemble.problem import fit_views, sample_of

pd = optional("pandas")

N = 60


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(N, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=N)


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture(scope="module")
def fitted(diabetes):
    return KernelRegressor().fit(*diabetes[:2])


def refit(K, y, weight, lam, inside, outside):
    """min sum w (y - b - f)^2 + lam |f|^2 on some rows, said of others: the bordered system."""
    n = len(inside)
    A = np.zeros((n + 1, n + 1))
    A[:n, :n] = K[np.ix_(inside, inside)] + lam * np.diag(1 / weight[inside])
    A[:n, n] = A[n, :n] = 1.0
    solution = np.linalg.solve(A, np.append(y[inside], 0.0))
    return K[np.ix_(outside, inside)] @ solution[:n] + solution[n]


def centred_unit(K, weight):
    p = weight / weight.sum()
    Kc = K - K @ p - (K @ p)[:, None] + p @ K @ p
    return weight @ np.diag(Kc) / weight.sum()


@pytest.mark.parametrize("grouped", [False, True])
def test_held_out_predictions_are_those_of_refits(rows, rng, grouped):
    X, y = rows
    weight = rng.integers(1, 4, N).astype(float)
    group = np.arange(N) // 3 if grouped else np.arange(N)
    groups = [np.flatnonzero(group == g) for g in range(N // 3)] if grouped else []
    Y = np.c_[y, np.exp(X[:, 2] + 0.3 * rng.normal(size=N))]  # the second by its logarithm
    targets = merge_values(Y, weight, np.arange(N), groups)
    sample = Sample({"z": X}, targets, {}, {}, np.arange(N) % 5)
    tried, regs = candidates("z", "rbf1 lin lap1"), RIDGE_REGS[6:]  # no row stands alone
    found = cross_validate(sample, tried, dict.fromkeys(tried, regs))[0]
    assert len(found) == 3
    rest = [(np.flatnonzero(group != g), np.flatnonzero(group == g)) for g in np.unique(group)]
    for one in found:
        K = one.kernel(X)
        for target, transform in enumerate(one.maps[0].transforms):
            t, path = transform.forward(Y), np.empty((len(regs), N))
            for f, reg in zip(path, regs, strict=True):
                lam = reg * centred_unit(K, weight)
                for inside, outside in rest:
                    f[outside] = refit(K, t, weight, lam, inside, outside)
            f = path[((path - t) ** 2 @ weight).argmin()]
            e = np.repeat(t - f, weight.astype(int))
            expected = np.mean([transform.back(f + r) for r in e], axis=0)
            if not transform.is_log:
                expected = transform.back(f)
            low, high = Y[:, target].min(), Y[:, target].max()
            expected = np.clip(expected, 1.1 * low - 0.1 * high, 1.1 * high - 0.1 * low)
            np.testing.assert_allclose(one.held[:, target], expected, atol=1e-7)


def test_one_of_several_targets_is_fitted_as_alone(rows):
    X, y = rows
    Y = np.c_[y, np.exp(X[:, 2])]

    def found(values):
        targets = merge_values(values, np.ones(N), np.arange(N))
        sample = Sample({"z": X}, targets, {}, {}, np.arange(N) % 5)
        every = cross_validate(sample, candidates("z", "rbf1 rbf3 lin"))[0]
        return {str(one.candidate): one for one in every}

    both = found(Y)
    for target in (0, 1):
        for name, one in found(Y[:, [target]]).items():
            np.testing.assert_allclose(both[name].held[:, target], one.held[:, 0], atol=1e-9)


@pytest.mark.parametrize("quality", ["fast", "balanced"])
def test_weights_are_repetitions_and_order_does_not_matter(rows, rng, quality):
    X, y = rows
    weight = rng.integers(0, 4, N)
    often = rng.permutation(np.repeat(np.arange(N), weight))
    a = KernelRegressor(quality=quality).fit(X, y, sample_weight=weight)
    b = KernelRegressor(quality=quality).fit(X[often], y[often])
    np.testing.assert_allclose(a.predict(X), b.predict(X), atol=1e-6)
    np.testing.assert_allclose(a.loo_prediction_[often], b.loo_prediction_, atol=1e-6)
    assert a.loo_rmse_ == pytest.approx(b.loo_rmse_, abs=1e-6)
    for one, other in zip(
        a.predict(X, return_std=True), b.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_equal_rows_with_other_values_leave_together(rng):
    """Each row twice: with one of them left in, the other would be predicted by it."""
    X = np.repeat(rng.normal(size=(40, 3)), 2, axis=0)
    y = np.repeat(rng.normal(size=40), 2) + 0.01 * rng.normal(size=80)
    model = KernelRegressor(quality="fast").fit(X, y)
    assert model.plan_.n_rows == 40 and model.loo_r2_ < 0.3
    expected = np.sqrt(np.mean((y - model.loo_prediction_) ** 2))
    assert model.loo_rmse_ == pytest.approx(expected)


def test_groups_leave_together(rng):
    group = np.repeat(np.arange(20), 4)
    X = np.repeat(rng.normal(size=(20, 3)), 4, axis=0) + 0.01 * rng.normal(size=(80, 3))
    y = np.repeat(rng.normal(size=20), 4) + 0.01 * rng.normal(size=80)
    assert KernelRegressor(quality="fast").fit(X, y).loo_r2_ > 0.9
    assert KernelRegressor(quality="fast").fit(X, y, groups=group).loo_r2_ < 0.3


def test_better_than_a_line_on_diabetes(diabetes, fitted):
    X, y, X_new, y_new = diabetes
    ridge = RidgeCV(np.logspace(-5, 3, 17)).fit(X, y).score(X_new, y_new)
    assert fitted.score(X_new, y_new) > ridge - 0.01
    assert fitted.loo_r2_ == pytest.approx(
        1 - np.mean((y - fitted.loo_prediction_) ** 2) / np.var(y)
    )
    assert len(fitted.members_) == 11 and sum(m.weight for m in fitted.members_) == pytest.approx(1)
    assert fitted.permutation_p_value(50) == pytest.approx(1 / 51)
    assert fitted.feature_relevance_.shape == (10,)
    assert fitted.feature_relevance_.argmax() in (2, 8)  # body mass index, blood serum 5


def test_scales_by_likelihood_find_what_matters(rng):
    X = rng.uniform(-2, 2, size=(240, 6))
    y = np.sin(3 * X[:, 0]) * X[:, 1] + 0.05 * rng.normal(size=240)
    model = KernelRegressor().fit(X[:160], y[:160])
    assert model.score(X[160:], y[160:]) > 0.9
    assert "ScaledKernel" in repr(max(model.members_, key=lambda m: m.weight).kernel)


def test_explanations_add_up_to_predictions(diabetes, fitted):
    _, _, X_new, _ = diabetes
    said = fitted.explain(X_new[:5], n_rows=3)
    np.testing.assert_allclose(said.labels, fitted.predict(X_new[:5]), rtol=1e-9)
    assert said.indices.shape == (5, 3) and "new row 0: " in repr(said)
    everything = fitted.explain(X_new[:2], n_rows=221)
    total = everything.contributions.sum(axis=1) + everything.baseline
    np.testing.assert_allclose(total, everything.labels, rtol=1e-9)
    with pytest.raises(ValueError, match="target=1: it is one of 0 to 0"):
        fitted.explain(X_new[:2], target=1)


def test_explanations_of_logarithms_add_up_too(rng):
    X = rng.normal(size=(80, 2))
    y = np.exp(2 * X[:, 0] + 0.3 * rng.normal(size=80))
    model = KernelRegressor(quality="fast").fit(X, y)
    assert any(m.maps[0].transforms[0].is_log for m in model.members_ if m.maps)
    np.testing.assert_allclose(model.explain(X[:9]).labels, model.predict(X[:9]), rtol=1e-9)


def test_features_are_those_of_the_largest_dependence(rows):
    """HSIC with the linear label kernel by brute force: a generalised eigenproblem of all rows."""
    from scipy.linalg import eigh

    X, y = rows
    Y = np.c_[y, X[:, 2] ** 2]
    model = KernelRegressor(quality="fast").fit(X, Y)
    K = model.kernel_(X)
    H = np.eye(N) - 1 / N
    G = H @ K @ H
    L = H @ Y
    lam = 1e-3 * np.trace(G) / N
    _, W = eigh(G @ L @ L.T @ G, G + lam * np.eye(N))
    expected = G @ W[:, ::-1][:, :2]
    F = model.transform(X)
    assert F.shape == (N, 2)
    expected *= np.sign(np.sum(expected * F, axis=0))
    np.testing.assert_allclose(F, expected, atol=1e-6)


def mixed_frame(rng, n=70):
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    frame.loc[::9, "a"] = np.nan
    frame["grade"] = pd.Categorical(rng.choice(["low", "mid", "high"], n))
    frame["flag"] = rng.random(n) < 0.5
    frame["count"] = pd.array(rng.integers(0, 5, n), dtype="Int64")
    y = frame.b + (frame.grade == "low") + 0.5 * frame.flag + 0.1 * rng.normal(size=n)
    return frame, y.to_numpy()


@pytest.mark.parametrize("form", ["array", "frame", "sparse"])
@pytest.mark.parametrize("learner", [KernelRegressor, KernelClassifier])
def test_the_learned_kernel_is_a_kernel_of_every_estimator(rng, learner, form):
    X, y = mixed_frame(rng)
    classes = (y > np.median(y)).astype(int)
    X = X if form == "frame" else X[["b", "c"]].to_numpy()
    X = sparse.csr_matrix(np.c_[X[:, 0], np.maximum(X[:, 1], 0)]) if form == "sparse" else X
    own = classes if learner is KernelClassifier else y
    kernel = learner(quality="fast", assess=False).fit(X, own).kernel_
    K = kernel(X)
    for estimator, target in (
        (HSICSubspace(), y),
        (KernelPLSRegressor(n_components=3), y),
        (KernelDiscriminant(), classes),
    ):
        expected = clone(estimator).set_params(kernel="precomputed").fit(K, target).transform(K)
        for given in (kernel, [kernel]):
            found = clone(estimator).set_params(kernel=given).fit(X, target).transform(X)
            scale = np.sqrt(np.mean(found**2, axis=0) / np.mean(expected**2, axis=0))
            np.testing.assert_allclose(found, expected * scale, atol=1e-8)
            if given is kernel:
                np.testing.assert_allclose(scale, 1.0, atol=1e-8)


@pytest.mark.parametrize("several", [False, True])
def test_features_are_those_of_hsic_with_the_learned_kernel(rng, several):
    X, y = mixed_frame(rng)
    y = np.c_[y, 3 * X.c + 0.3 * rng.normal(size=len(X))] if several else y
    model = KernelRegressor(quality="fast", assess=False).fit(X, y)
    features = HSICSubspace(model.kernel_, label_kernel="linear").fit(X, y).transform(X)
    sign = np.sign(np.sum(features * model.transform(X), axis=0))
    np.testing.assert_allclose(model.transform(X), sign * features, atol=1e-8)


def test_deviations_and_quantiles_follow_the_noise():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(800, 2))
    noise = 0.1 + 0.9 * (X[:, 0] > 0)
    y = X[:, 1] + noise * rng.normal(size=800)
    model = KernelRegressor(quality="fast").fit(X[:400], y[:400])
    f, std = model.predict(X[400:], return_std=True)
    assert np.var((y[400:] - f) / std) == pytest.approx(1, abs=0.25)
    quiet = X[400:, 0] < -0.2
    assert 2 * std[quiet].mean() < std[X[400:, 0] > 0.2].mean()
    Q = model.predict_quantiles(X[400:], [0.05, 0.5, 0.95])
    assert Q.shape == (400, 3) and np.all(np.diff(Q, axis=1) > 0)
    inside = (y[400:] > Q[:, 0]) & (y[400:] < Q[:, 2])
    assert inside.mean() == pytest.approx(0.9, abs=0.05)
    np.testing.assert_array_equal(f, model.predict(X[400:]))
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_quantiles(X, [0.0, 0.5])
    with pytest.raises(ValueError, match="leave out"):
        model.predict(X, return_std=True, out="x.npy")


def test_deviations_make_held_out_residuals_of_mean_square_one(fitted, diabetes):
    spread, probe = fitted._fitted.probe.spread, fitted._fitted.probe
    (scale,) = spread.scales
    assert scale.deviation**2 == pytest.approx(np.mean(scale.residuals**2))
    assert len(scale.residuals) == 221 and probe.held.shape == (221, 1)


@pytest.mark.parametrize("assess", ["nested", "loo", False])
def test_held_out_deviations_are_those_of_held_out_residuals(rng, assess):
    X = rng.uniform(-1, 1, size=(80, 2))
    X[70:] = X[:10]
    weight = rng.integers(0, 3, 80)
    Y = np.c_[X[:, 1] + (0.1 + (X[:, 0] > 0)) * rng.normal(size=80), 100 * rng.normal(size=80)]
    for target in (Y, Y[:, 0]):
        model = KernelRegressor(quality="fast", assess=assess).fit(X, target, sample_weight=weight)
        std, n = model.held_out_std_, weight.sum()
        held = model.held_out_prediction_ if assess else model.loo_prediction_
        assert std.shape == target.shape and np.isnan(std[weight == 0]).all()
        seen = weight > 0
        squares = weight[seen] @ ((target - held)[seen] / std[seen]) ** 2 / n
        np.testing.assert_allclose(squares, 1.0, atol=1e-9)
    assert std[seen & (X[:, 0] > 0)].mean() > 1.5 * std[seen & (X[:, 0] < 0)].mean()


def test_held_out_deviations_of_many_rows(rng):
    X = rng.normal(size=(1500, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=1500)
    model = KernelRegressor(quality="fast").fit(X, y)
    std = model.held_out_std_
    told = np.isfinite(std)
    assert std.shape == (1500,) and told.sum() >= 200
    ratio = ((y - model.held_out_prediction_) / std)[told]
    assert np.mean(ratio**2) == pytest.approx(1.0, abs=0.02)


def test_quantiles_rise_with_their_shares(rows):
    X, y = rows
    model = KernelRegressor(quality="fast", assess=False).fit(X, np.c_[y, np.exp(y)])
    shares = np.r_[1e-6, np.linspace(0.01, 0.99, 197), 1 - 1e-6]
    Q = model.predict_quantiles(X[:3], shares)
    assert Q.shape == (3, 2, 199) and np.all(np.diff(Q, axis=2) >= 0)
    np.testing.assert_array_equal(model.predict_quantiles(X[:3], shares[::-1]), Q[:, :, ::-1])


def test_chance_is_told_from_signal(rng):
    """Of numbers by chance p is uniform; of signal it is the least that shuffles can say."""
    p = []
    for _ in range(12):
        X = rng.normal(size=(40, 3))
        noise = KernelRegressor(quality="fast", assess=False, max_members=1)
        p.append(noise.fit(X, rng.normal(size=40)).permutation_p_value(39))
    assert min(p) >= 1 / 40 and 0.25 < np.mean(p) < 0.75
    signal = KernelRegressor(quality="fast", assess=False, max_members=1).fit(X, X[:, 0] ** 2)
    assert signal.permutation_p_value(99) <= 0.02


@pytest.mark.filterwarnings("error")
def test_a_target_that_is_the_same_everywhere_beside_another(rows):
    X, y = rows
    model = KernelRegressor(quality="fast", assess=False).fit(X, np.c_[y, np.full(N, 3.0)])
    said, std = model.predict(X[:4], return_std=True)
    np.testing.assert_allclose(said[:, 1], 3.0)
    assert np.all(std[:, 0] > 0) and np.all(std[:, 1] == 0)
    np.testing.assert_allclose(model.predict_interval(X[:4])[:, 1], 3.0)


def test_several_targets(rows):
    X, y = rows
    Y = np.c_[y, np.exp(X[:, 1])]
    model = KernelRegressor().fit(X, Y)
    assert model.predict(X).shape == model.loo_prediction_.shape == (N, 2)
    assert model.loo_rmse_.shape == (2,) and isinstance(model.loo_r2_, float)
    r2 = 1 - model.loo_rmse_**2 / Y.var(axis=0)
    assert model.loo_r2_ == pytest.approx(r2.mean())
    assert model.predict_quantiles(X, [0.1, 0.9]).shape == (N, 2, 2)
    assert model.predict(X, return_std=True)[1].shape == (N, 2)
    np.testing.assert_allclose(model.explain(X, target=1).labels, model.predict(X)[:, 1])
    assert "2 targets" in model.summary_
    column = KernelRegressor(quality="fast").fit(X, Y[:, :1])
    assert column.predict(X).shape == (N, 1) and column.loo_rmse_.shape == (1,)
    single = KernelRegressor(quality="fast").fit(X, Y[:, 0])
    np.testing.assert_allclose(column.predict(X)[:, 0], single.predict(X))


def test_frames_with_categories_and_holes_lists_of_views_and_sparse_rows(rng):
    n = 80
    colour = rng.choice(["red", "green", "blue"], n)
    x = rng.normal(size=n)
    y = np.where(colour == "red", 3.0, 0.0) + x + 0.1 * rng.normal(size=n)
    frame = pd.DataFrame({"colour": colour, "x": np.where(rng.random(n) < 0.1, np.nan, x)})
    model = KernelRegressor().fit(frame, y)
    assert model.loo_r2_ > 0.8 and model.feature_relevance_.shape == (2,)
    assert np.isfinite(model.predict(frame.assign(colour="new"))).all()
    X = rng.normal(size=(n, 4))
    views = KernelRegressor(quality="fast").fit([X[:, :2], X[:, 2:]], X[:, 0] + X[:, 3])
    assert views.predict([X[:, :2], X[:, 2:]]).shape == (n,)
    named = KernelRegressor(quality="fast", column_groups={"a": [0, 1], "b": [2, 3]})
    assert named.fit(X, X[:, 0] + X[:, 3]).loo_r2_ > 0.8
    S = sparse.random(n, 50, 0.2, format="csr", random_state=0)
    words = KernelRegressor().fit(S, S @ np.arange(50.0))
    assert words.loo_r2_ > 0.5
    np.testing.assert_allclose(words.predict(S.tocsc()), words.predict(S))


def test_more_rows_than_are_screened(rng):
    X = rng.normal(size=(900, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.2 * rng.normal(size=900)
    model = KernelRegressor().fit(X[:700], y[:700])
    assert model.plan_.screen_rows == 500 and 1 <= len(model.members_) <= 4
    assert model.score(X[700:], y[700:]) > 0.9
    assert len(model._fitted.probe.held) == 200  # rows that have not seen the scales
    order = rng.permutation(700)
    again = KernelRegressor().fit(X[order], y[order])
    np.testing.assert_allclose(again.predict(X[700:]), model.predict(X[700:]), atol=1e-7)


def test_max_members_time_and_seed(rows):
    X, y = rows
    assert len(KernelRegressor(max_members=2).fit(X, y).members_) == 2
    assert len(KernelRegressor(time_budget=1e-9).fit(X, y).members_) >= 1
    a, b = (KernelRegressor(random_state=s).fit(X, y).predict(X) for s in (0, 1))
    assert np.abs(a - b).max() > 1e-6
    threads = KernelRegressor(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(threads.predict(X), clone(threads).fit(X, y).predict(X))


def test_what_is_refused(rows):
    X, y = rows
    for bad, message in [
        (None, "requires y"),
        (np.where(y > 0, np.nan, y), "NaN"),
        (y[:-1], "inconsistent"),
        (np.array(["a"] * N), "not a number"),
    ]:
        with pytest.raises(ValueError, match=message):
            KernelRegressor(quality="fast").fit(X, bad)
    with pytest.raises(ValueError, match="zero variance"):
        KernelRegressor().fit(np.ones((10, 2)), np.arange(10.0))


def test_a_constant_target_is_predicted(rows):
    X, _ = rows
    model = KernelRegressor(quality="fast").fit(X, np.full(N, 7.0))
    np.testing.assert_allclose(model.predict(X), 7.0)
    assert model.loo_rmse_ == pytest.approx(0) and np.isfinite(model.predict_quantiles(X)).all()


def test_the_summary_says_how_well(fitted):
    assert "one target" in fitted.summary_ and f"R2 {fitted.loo_r2_:.3f}" in fitted.summary_


def test_cross_validation_of_scikit_learn(rows):
    X, y = rows
    assert cross_val_score(KernelRegressor(quality="fast"), X, y, cv=3).mean() > 0.3


def test_the_problem_has_the_bank_of_numbers(rows):
    X, y = rows
    problem = prepare(KernelRegressor(), X, y, None, None, 0).problem
    names = [str(one) for one in problem.candidates]
    assert names.count("z: matern (likelihood)") == 1 and len(names) == 11
    assert set(sample_of(problem, fit_views(problem)).views) == {"z", "q", "u"}


class TestIntervals:
    def test_coverage_of_new_rows(self):
        """Nine of ten hold, and they are narrower where there is less noise."""
        rng = np.random.default_rng(3)
        covered, widths = {"loo": [], "cv+": []}, []
        for _ in range(6):
            X = rng.uniform(-1, 1, size=(460, 3))
            y = np.sin(2 * X[:, 0]) + X[:, 1] + (0.1 + 0.4 * (X[:, 2] > 0)) * rng.normal(size=460)
            model = KernelRegressor(quality="fast", max_members=2).fit(X[:60], y[:60])
            for method, own in covered.items():
                low, high = model.predict_interval(X[60:], 0.9, method).T
                own.append(np.mean((low <= y[60:]) & (y[60:] <= high)))
            low, high = model.predict_interval(X[60:]).T
            quiet = X[60:, 2] < 0
            widths.append((high - low)[quiet].mean() / (high - low)[~quiet].mean())
        assert 0.84 <= np.mean(covered["loo"]) <= 0.96
        assert 0.86 <= np.mean(covered["cv+"]) <= 0.98
        assert np.mean(widths) < 0.9

    def test_sizes_are_of_the_predictions_of_the_assessment(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 2))
        Y = np.stack([X[:, 0], X[:, 1]], axis=1) + 0.3 * rng.normal(size=(40, 2))
        model = KernelRegressor(quality="fast", max_members=1).fit(X, Y)
        assert model.predict_interval(X[:5], 0.8).shape == (5, 2, 2)
        plain = [one.model is None for one in model._fitted.probe.spread.scales]
        assert any(plain)  # where the scale is one
        for target in np.flatnonzero(plain):
            e = Y[:, target] - model.held_out_prediction_[:, target]
            residuals = model._fitted.probe.spread.scales[target].residuals
            np.testing.assert_allclose(np.sort(e), residuals)

    def test_the_error_is_that_of_the_nested_predictions(self):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(50, 3))
        y = X[:, 0] + rng.normal(size=50)
        model = KernelRegressor(quality="fast", max_members=2).fit(X, y)
        error = np.sqrt(np.mean((y - model.held_out_prediction_) ** 2))
        assert model.error_ == pytest.approx(error, abs=1e-12)
        low, high = model.error_interval_
        assert low < model.error_ < high and "nested cross-validation" in model.summary_
        fold = model._assessment.folds[0]
        assert not np.allclose(model.held_out_prediction_, model.loo_prediction_)
        assert len(fold.rows) == 10
        plain = KernelRegressor(quality="fast", max_members=2, assess=False).fit(X, y)
        np.testing.assert_array_equal(plain.predict(X), model.predict(X))
        assert not hasattr(plain, "error_")
        with pytest.raises(ValueError, match="needs the models of a nested assessment"):
            plain.predict_interval(X, method="cv+")
        loo = KernelRegressor(quality="fast", max_members=2, assess="loo").fit(X, y)
        assert loo.error_ == pytest.approx(loo.loo_rmse_)

    def test_refusals_and_too_few_rows(self):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(12, 2))
        model = KernelRegressor(quality="fast", max_members=1).fit(X, X[:, 0])
        for method in ("loo", "cv+"):
            with pytest.warns(UserWarning, match="needs 19 rows"):
                assert np.isinf(model.predict_interval(X, 0.95, method)).all()
            assert np.isfinite(model.predict_interval(X, 0.9, method)).all()
        with pytest.raises(ValueError, match="between 0 and 1"):
            model.predict_interval(X, 1.5)
        with pytest.raises(ValueError, match="give 'loo' or 'cv\\+'"):
            model.predict_interval(X, method="split")

    def test_novelty(self):
        rng = np.random.default_rng(4)
        X = rng.normal(size=(80, 3))
        model = KernelRegressor(quality="fast", max_members=1, assess=False).fit(X, X[:, 0])
        p = model.novelty(np.vstack([rng.normal(size=(200, 3)), np.full((1, 3), 40.0)]))
        assert p[-1] == pytest.approx(1 / 81) and 0.35 < p[:-1].mean() < 0.65
