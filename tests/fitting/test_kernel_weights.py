"""Several kernels in one estimator: weights, scales, stacks, odd banks."""

import warnings
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from sklearn.svm import SVC

import kernel_learn as kl
from extras import optional
from kernel_learn.kernels import (
    ColumnKernel,
    FunctionKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Precomputed,
    Spectrum,
    gaussian_bank,
)
from oracles import hsic as oracle
from oracles.margin import dual_value, joint_kernel

pd = optional("pandas")

X, Y = load_wine(return_X_y=True)
X, Y = scale(X)[::2], Y[::2]
X_NEW = scale(load_wine().data)[1::2][:20]
BANK = {"narrow": Gaussian(1.0), "wide": Gaussian(0.02), "linear": Linear(), "city": Laplacian(0.1)}
MAKERS = {
    "hsic": lambda **o: kl.HSICSubspace(uncorrelated=True, **o),
    "discriminant": lambda **o: kl.KernelDiscriminant(reg=1e-2, **o),
    "learned reg": lambda **o: kl.KernelDiscriminant(reg="learn", **o),
    "svc": lambda **o: kl.SubspaceSVC(**o),
    "sm1": lambda **o: kl.MultiKernelSVC(**o),
    "sm2": lambda **o: kl.MultiKernelSVC(loss="squared_hinge", **o),
    "sm2_c": lambda **o: kl.MultiKernelSVC(loss="squared_hinge", C="learn", **o),
}


def output(model, rows=X_NEW):
    if hasattr(model, "decision_function"):
        return model.decision_function(rows)
    return model.transform(rows)


class Scaled(Kernel):
    """c times another kernel."""

    def __init__(self, kernel, c):
        self.kernel = kernel
        self.c = c

    def __call__(self, X, X_ref=None):
        return self.c * self.kernel(X, X_ref)


class Watched(Kernel):
    calls = 0

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def __call__(self, X, X_ref=None):
        type(self).calls += 1
        return Gaussian(self.gamma)(X, X_ref)


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_fitted(name):
    model = MAKERS[name](kernel=BANK).fit(X, Y)
    assert model.kernel_names_.tolist() == list(BANK)
    assert model.kernel_weights_.shape == (4,) and model.kernel_weights_.min() >= 0
    report = model.weights_report_
    assert report.learned <= min(report.uniform, report.best_single) * (1 + 1e-6)
    assert report.best_single_name in BANK and report.best_single_name in str(report)
    assert 0 <= model.gap_ <= 1.01e-6 * abs(report.learned)
    assert model.n_iter_ >= 1 and len(model.history_) >= 1
    Ks = [kernel(X) for kernel in BANK.values()]
    if not name.startswith("sm"):
        Ks = [oracle.center(K) for K in Ks]
    total = sum(w * np.trace(K) for w, K in zip(model.kernel_weights_, Ks, strict=True))
    assert total == pytest.approx(len(X), rel=1e-9)
    assert model.kernel is BANK


@pytest.mark.parametrize("name", MAKERS)
def test_scale_of_a_kernel_does_not_matter(name):
    """K_i -> c K_i leaves the learned kernel as it is; 1e8 is no exception."""
    plain = MAKERS[name](kernel=[Gaussian(1.0), Gaussian(0.02), Linear()]).fit(X, Y)
    for c in (1e8, 1e-8):
        bank = [Gaussian(1.0), Scaled(Gaussian(0.02), c), Linear()]
        other = MAKERS[name](kernel=bank).fit(X, Y)
        np.testing.assert_allclose(
            other.kernel_weights_ * [1, c, 1], plain.kernel_weights_, rtol=1e-4, atol=1e-5
        )
        np.testing.assert_allclose(output(other), output(plain), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["hsic", "discriminant", "svc"])
def test_a_bank_of_one_is_that_kernel(name):
    alone = MAKERS[name](kernel=Gaussian(0.05)).fit(X, Y)
    bank = MAKERS[name](kernel=[Gaussian(0.05)]).fit(X, Y)
    np.testing.assert_allclose(output(bank), output(alone), rtol=1e-6, atol=1e-7)


def test_one_kernel_is_scikit_learns_svc():
    ours = kl.MultiKernelSVC(Gaussian(0.05), C=3.0).fit(X, Y == 1)
    theirs = SVC(C=3.0, gamma=0.05, tol=1e-8).fit(X, Y == 1)
    np.testing.assert_allclose(
        ours.decision_function(X_NEW), theirs.decision_function(X_NEW), atol=1e-4
    )
    assert ours.kernel_weights_ == pytest.approx([1.0])
    np.testing.assert_array_equal(ours.support_, np.sort(theirs.support_))


@pytest.mark.parametrize("name", MAKERS)
def test_duplicates_share_one_weight(name):
    once = MAKERS[name](kernel=[Gaussian(0.5), Linear()]).fit(X, Y)
    twice = MAKERS[name](kernel=[Gaussian(0.5), Linear(), Gaussian(0.5)]).fit(X, Y)
    assert twice.kernel_weights_[0] + twice.kernel_weights_[2] == pytest.approx(
        once.kernel_weights_[0], abs=2e-3
    )
    np.testing.assert_allclose(output(twice), output(once), rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("name", MAKERS)
def test_a_kernel_without_variance_gets_no_weight(name):
    zero = FunctionKernel(zero_kernel)
    with pytest.warns(UserWarning, match="one value on all rows"):
        model = MAKERS[name](kernel={"zero": zero, "wide": Gaussian(0.02)}).fit(X, Y)
    assert model.kernel_weights_[0] == 0
    with pytest.raises(ValueError, match="zero variance"):
        MAKERS[name](kernel=[zero, zero]).fit(X, Y)


def zero_kernel(X, X_ref):
    return np.zeros((len(X), len(X_ref)))


@pytest.mark.parametrize("name", MAKERS)
def test_the_identity_as_a_kernel(name):
    """exp(-1e9 d^2) is the identity: it tells everything and predicts nothing; no failure."""
    model = MAKERS[name](kernel=[Gaussian(1e9), Gaussian(0.02)]).fit(X, Y)
    assert np.isfinite(output(model)).all()
    assert model.gap_ <= 1.01e-6 * abs(model.weights_report_.learned)


@pytest.mark.parametrize("name", MAKERS)
def test_fifty_kernels(name):
    model = MAKERS[name](kernel=gaussian_bank(50, 0.1, 1000)).fit(X, Y)
    assert np.sum(model.kernel_weights_ > 0) < 25
    assert model.gap_ <= 1.01e-6 * abs(model.weights_report_.learned)


@pytest.mark.parametrize("name", MAKERS)
def test_stacks(name):
    """A stack (n, n, p) is the bank; new rows are (m, n, p); layers can be named."""
    kernels = list(BANK.values())
    stack = np.stack([kernel(X) for kernel in kernels], axis=2)
    new = np.stack([kernel(X_NEW, X) for kernel in kernels], axis=2)
    rows = MAKERS[name](kernel=kernels).fit(X, Y)
    stacked = MAKERS[name](kernel="precomputed").fit(stack, Y)
    np.testing.assert_allclose(stacked.kernel_weights_, rows.kernel_weights_, atol=1e-5)
    np.testing.assert_allclose(output(stacked, new), output(rows), atol=1e-4)
    assert stacked.kernel_names_[1] == "kernel_1"
    named = {"b": Precomputed(layer=1), "c": Precomputed(layer=2)}
    few = MAKERS[name](kernel=named).fit(stack, Y)
    assert few.kernel_names_.tolist() == ["b", "c"]


def test_stacks_in_cross_validation():
    stack = np.stack([kernel(X) for kernel in BANK.values()], axis=2)
    for maker in (MAKERS["learned reg"], MAKERS["sm1"]):
        folds = {"cv": 4}
        np.testing.assert_allclose(
            cross_val_score(maker(kernel="precomputed"), stack, Y, **folds),
            cross_val_score(maker(kernel=BANK), X, Y, **folds),
            atol=0.05,
        )
    search = GridSearchCV(kl.MultiKernelSVC("precomputed"), {"C": [0.1, 10.0]}, cv=3)
    assert search.fit(stack, Y).best_score_ > 0.9


def test_weights_are_options():
    models = {
        weights: kl.HSICSubspace(BANK, uncorrelated=True, weights=weights).fit(X, Y)
        for weights in ("learn", "uniform", "alignment", (1.0, 0.0, 2.0, 0.0))
    }
    objectives = [model.objective_ for model in models.values()]
    assert objectives[0] == max(objectives) and len(set(objectives)) == 4
    given = models[1.0, 0.0, 2.0, 0.0].kernel_weights_
    assert given[2] == pytest.approx(2 * given[0]) and given[1] == given[3] == 0
    learned = models["learn"]
    for model in models.values():
        assert model.gap_ >= learned.objective_ - model.objective_ - 1e-9
        report = model.weights_report_
        assert report.uniform == pytest.approx(learned.weights_report_.uniform)
    for weights in ("best", [1.0, 2.0], [0.0] * 4, [1, 1, 1, -1]):
        with pytest.raises(ValueError, match="weights"):
            kl.HSICSubspace(BANK, uncorrelated=True, weights=weights).fit(X, Y)


def test_objective_and_reg_mean_what_they_mean():
    """tr(K_w H) of the combined kernel, and reg relative to it."""
    model = kl.HSICSubspace(BANK, uncorrelated=True, reg=0.02).fit(X, Y)
    G = oracle.center(
        sum(w * k(X) for w, k in zip(model.kernel_weights_, BANK.values(), strict=True))
    )
    H = oracle.label_kernel(Y, "normalized")
    _, value = oracle.subspace(G, H, 0.02, 2, True)
    assert model.reg_ == pytest.approx(0.02)
    assert model.objective_ == pytest.approx(value, rel=1e-7)
    assert model.weights_report_.learned == pytest.approx(np.trace(H) - value, rel=1e-6)


def test_not_uncorrelated_takes_the_best_single_kernel():
    model = kl.HSICSubspace(BANK, reg=1e-2).fit(X, Y)
    assert np.sum(model.kernel_weights_ > 0) == 1 and model.gap_ == 0
    values = {}
    for name, kernel in BANK.items():
        G = oracle.center(kernel(X))
        G *= len(X) / np.trace(G)
        values[name] = oracle.subspace(G, oracle.label_kernel(Y, "normalized"), 1e-2, 2, False)[1]
    best = max(values, key=values.get)
    assert model.kernel_names_[np.argmax(model.kernel_weights_)] == best
    assert model.weights_report_.best_single_name == best
    assert model.objective_ == pytest.approx(values[best], rel=1e-6)
    uniform = kl.HSICSubspace(BANK, reg=1e-2, weights="uniform").fit(X, Y)
    assert uniform.gap_ == pytest.approx(values[best] - uniform.objective_, rel=1e-6)


def test_solvers_agree_and_say_when_they_stop():
    values = [
        kl.HSICSubspace(BANK, uncorrelated=True, solver=solver).fit(X[::4], Y[::4]).objective_
        for solver in ("newton", "silp", "bundle")
    ]
    assert values == pytest.approx([values[0]] * 3, rel=1e-6)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        kl.HSICSubspace(BANK, uncorrelated=True, solver="silp", max_iter=1).fit(X, Y)
    loose = kl.HSICSubspace(BANK, uncorrelated=True, solver="silp", tol=0.1).fit(X, Y)
    tight = kl.HSICSubspace(BANK, uncorrelated=True, solver="silp").fit(X, Y)
    assert loose.n_iter_ < tight.n_iter_ and loose.gap_ > tight.gap_
    for option in ({"solver": "best"}, {"tol": 0.0}, {"max_iter": 0}):
        with pytest.raises(ValueError, match=next(iter(option))):
            kl.HSICSubspace(BANK, uncorrelated=True, **option).fit(X, Y)


def test_sdp_from_an_estimator():
    pytest.importorskip("cvxpy", reason="needs the extra sdp")
    few = slice(None, None, 5)
    sdp = kl.HSICSubspace(BANK, uncorrelated=True, solver="sdp", tol=1e-4).fit(X[few], Y[few])
    newton = kl.HSICSubspace(BANK, uncorrelated=True).fit(X[few], Y[few])
    assert sdp.objective_ == pytest.approx(newton.objective_, rel=1e-6)


def test_weightless_kernels_are_never_evaluated_again():
    bank = [Watched(100.0), Gaussian(0.02)]
    for model in (
        kl.HSICSubspace(bank, uncorrelated=True, weights=[0, 1]),
        kl.MultiKernelSVC(bank, weights=[0, 1]),
        kl.KernelDiscriminant(bank, weights=[0, 1]),
        kl.HSICSubspace(bank, uncorrelated=True, weights=[0, 1], landmarks=10),
    ):
        model.fit(X, Y)
        Watched.calls = 0
        output(model)
        assert Watched.calls == 0


def test_landmarks():
    """Moments of features: the objective is that of the stacked map, and grows with landmarks."""
    digits, labels = load_digits(return_X_y=True)
    A, y = digits[:400] / 16, labels[:400]
    bank = gaussian_bank(3, 1, 100)
    exact = kl.HSICSubspace(bank, uncorrelated=True).fit(A, y)
    last = 0.0
    for landmarks in (10, 40, 100):
        model = kl.HSICSubspace(bank, uncorrelated=True, landmarks=landmarks, random_state=0)
        model.fit(A, y)
        assert last < model.objective_ <= exact.objective_ * (1 + 1e-9)
        assert model.weights_report_.learned == pytest.approx(9 - model.objective_, rel=1e-6)
        assert model.reg_ == pytest.approx(1e-3, rel=1e-9)
        last = model.objective_
        Z = model.transform(A)
        np.testing.assert_allclose(model.kernel_(A[:5], A), Z[:5] @ Z.T, atol=1e-10)
    full = kl.HSICSubspace(bank, uncorrelated=True, landmarks=200, random_state=0).fit(A, y)
    np.testing.assert_allclose(full.kernel_weights_, exact.kernel_weights_, rtol=1e-6)
    assert "exact" in str(full.plan_)  # 3 x 200 features are more than 400 rows


def test_learned_reg():
    learned = kl.KernelDiscriminant(BANK, reg="learn").fit(X, Y)
    J = lambda reg: kl.KernelDiscriminant(BANK, reg=reg).fit(X, Y).weights_report_.learned  # noqa: E731

    def joint(reg):
        """tr H'M^{-1}H with M = theta_0 I + G of total trace n."""
        return J(reg) / reg * (1 + reg)

    reg = learned.reg_
    assert joint(reg) <= min(joint(0.5 * reg), joint(2 * reg)) * (1 + 1e-6)
    alone = kl.KernelDiscriminant(Gaussian(0.05), reg="learn").fit(X, Y)
    assert alone.kernel_weights_.shape == (1,) and alone.reg_ > 0
    by_loo = kl.KernelDiscriminant(BANK).fit(X, Y)
    np.testing.assert_allclose(by_loo.kernel_weights_, learned.kernel_weights_, rtol=1e-6)
    assert len(by_loo.loo_errors_) > 1


def test_several_types_in_one_bank():
    """Column groups and strings beside numbers; the informative column wins."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=60),
            "signal": y + 0.3 * rng.normal(size=60),
            "text": ["aabb" if label else "bbaa" for label in y],
        }
    )
    frame.loc[::7, "text"] = "abab"
    bank = {
        "noise": ColumnKernel(Gaussian(1.0), "noise"),
        "signal": ColumnKernel(Gaussian(1.0), "signal"),
        "text": ColumnKernel(Spectrum(2), "text"),
    }
    for maker in MAKERS.values():
        model = maker(kernel=bank).fit(frame, y)
        shares = model.kernel_weights_ / model.kernel_weights_.sum()
        assert shares[0] < 0.5, maker
        assert len(output(model, frame[:5])) == 5
    assert kl.KernelDiscriminant(bank, reg="learn").fit(frame, y).score(frame, y) > 0.95


def test_svc_bounds_hold_for_all_weights(rng):
    model = kl.SubspaceSVC(BANK, C=5.0).fit(X, Y)
    assert model.lower_bound_ <= model.upper_bound_ <= model.weights_report_.learned * (1 + 1e-6)
    for weights in rng.dirichlet(np.ones(4), size=5):
        other = kl.SubspaceSVC(BANK, C=5.0, weights=weights).fit(X, Y)
        assert other.upper_bound_ >= model.lower_bound_
    fixed = kl.SubspaceSVC(BANK, uncorrelated=False, weights="uniform").fit(X, Y)
    assert np.isfinite(fixed.decision_function(X_NEW)).all()
    with pytest.raises(ValueError, match="exact"):
        kl.SubspaceSVC(BANK, landmarks=5).fit(X, Y)
    with pytest.raises(ValueError, match="no path"):
        kl.SubspaceSVC(BANK).path(X, Y, [1.0])
    with pytest.raises(ValueError, match="no path"):
        kl.HSICSubspace(BANK).path(X, Y, [1.0])


def test_projected_svc_learns_weights_locally():
    """No worse than a grid of weights, uniform ones, each kernel alone; all above the bound."""
    rows, labels = X[::2], Y[::2]
    bank = [Gaussian(1.0), Linear()]
    options = {"uncorrelated": False, "C": 3.0, "reg": 0.3}
    model = kl.SubspaceSVC(bank, **options).fit(rows, labels)
    Gs = [oracle.center(kernel(rows)) for kernel in bank]
    Gs = [G * len(G) / np.trace(G) for G in Gs]
    shares = model.kernel_weights_ * [np.trace(oracle.center(k(rows))) for k in bank] / len(rows)
    assert shares.sum() == pytest.approx(1, rel=1e-8)

    def value(share):
        Khat = joint_kernel(share * Gs[0] + (1 - share) * Gs[1], 0.3, uncorrelated=False)
        signs = np.where(labels[:, None] == np.arange(3), 1.0, -1.0)
        return sum(dual_value(Khat, y, 3.0) for y in signs.T)

    assert model.upper_bound_ == pytest.approx(value(shares[0]), rel=1e-5)
    least = min(map(value, np.linspace(0, 1, 11)))
    assert model.upper_bound_ <= least * (1 + 1e-4)
    assert 0.85 * least < model.lower_bound_ < least
    assert model.gap_ == model.upper_bound_ - model.lower_bound_
    uniform = kl.SubspaceSVC(bank, weights="uniform", **options).fit(rows, labels)
    assert model.upper_bound_ < 0.999 * uniform.upper_bound_
    assert "worse" in str(model.weights_report_)
    with pytest.warns(ConvergenceWarning, match="local search"):
        kl.SubspaceSVC(BANK, max_iter=1, **options).fit(rows, labels)


@pytest.mark.parametrize("weight", [None, np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)])
def test_bound_of_projected_weights(weight):
    """min over d of SM1 on G_i (G_i + reg)^{-1} G_i, by CVXPY; met where one kernel is best."""
    cp = pytest.importorskip("cvxpy")
    bank, options = [Gaussian(1.0), Linear()], {"uncorrelated": False, "C": 3.0, "reg": 0.3}
    rows, labels = X[::3], Y[::3]
    weight = None if weight is None else weight[: len(rows)]
    model = kl.SubspaceSVC(bank, **options).fit(rows, labels, sample_weight=weight)
    again = slice(None) if weight is None else np.repeat(np.arange(len(rows)), weight.astype(int))
    rows, labels = rows[again], labels[again]
    Gs = [oracle.center(kernel(rows)) for kernel in bank]
    Khats = [joint_kernel(G * len(G) / np.trace(G), 0.3, uncorrelated=False) for G in Gs]
    signs = np.where(labels[:, None] == np.arange(3), 1.0, -1.0)
    alpha, t = cp.Variable(signs.shape, nonneg=True), cp.Variable()
    A = cp.multiply(signs, alpha)
    squares = [cp.sum_squares(oracle_root(Khat).T @ A) / 2 for Khat in Khats]
    limits = [alpha <= 3.0, cp.sum(A, axis=0) == 0, *(square <= t for square in squares)]
    found = cp.Problem(cp.Maximize(cp.sum(alpha) - t), limits).solve(solver="CLARABEL")
    assert model.lower_bound_ == pytest.approx(found, rel=1e-5)
    one = kl.SubspaceSVC(bank, uncorrelated=False, C=0.01, reg=1.0).fit(X, Y)
    assert 0 <= one.gap_ <= 1e-5 * one.upper_bound_ and (one.kernel_weights_ > 0).sum() == 1


def oracle_root(K):
    """R with R R' = K."""
    w, U = np.linalg.eigh(K)
    return U * np.sqrt(np.maximum(w, 0))


def test_svc_class_prices_move_the_weights():
    plain = kl.SubspaceSVC(BANK).fit(X, Y)
    priced = kl.SubspaceSVC(BANK, class_weight={0: 10.0, 1: 1.0, 2: 1.0}).fit(X, Y)
    assert np.abs(plain.kernel_weights_ - priced.kernel_weights_).max() > 1e-4
    assert priced.gap_ <= 2e-6 * priced.upper_bound_


def test_multi_kernel_svc_options():
    hinge = kl.MultiKernelSVC(BANK).fit(X, Y)
    squared = kl.MultiKernelSVC(BANK, loss="squared_hinge").fit(X, Y)
    learned = kl.MultiKernelSVC(BANK, loss="squared_hinge", C="learn").fit(X, Y)
    assert hinge.C_ == squared.C_ == 1.0 and learned.C_ > 0 and learned.C_ != 1.0
    assert np.abs(hinge.decision_function(X) - squared.decision_function(X)).max() > 1e-2
    fixed = kl.MultiKernelSVC(
        BANK, loss="squared_hinge", C=learned.C_, weights=learned.kernel_weights_
    )
    np.testing.assert_allclose(
        fixed.fit(X, Y).decision_function(X_NEW), learned.decision_function(X_NEW), atol=1e-3
    )
    K = sum(w * k(X) for w, k in zip(hinge.kernel_weights_, BANK.values(), strict=True))
    f = K[:, hinge.support_] @ hinge.dual_coef_.T + hinge.intercept_
    np.testing.assert_allclose(f, hinge.decision_function(X), atol=1e-8)
    signs = np.where(Y[:, None] == np.arange(3), 1, -1)
    A = np.zeros((len(X), 3))
    A[hinge.support_] = hinge.dual_coef_.T
    primal = 0.5 * np.sum(A * (K @ A)) + np.maximum(0, 1 - signs * f).sum()
    assert hinge.objective_ == pytest.approx(primal, rel=1e-9)
    assert hinge.gap_ >= hinge.objective_ - (np.abs(A).sum() - 0.5 * np.sum(A * (K @ A))) - 1e-4
    for options in ({"loss": "log"}, {"C": "learn"}, {"C": 0.0}, {"C": "auto"}):
        with pytest.raises(ValueError, match="MultiKernelSVC"):
            kl.MultiKernelSVC(BANK, **options).fit(X, Y)


def test_banks_that_cannot_be():
    with pytest.raises(ValueError, match="empty bank"):
        kl.HSICSubspace([], uncorrelated=True).fit(X, Y)
    with pytest.raises(ValueError, match="different rows"):
        kl.HSICSubspace([Gaussian(), Spectrum(2)], uncorrelated=True).fit(X, Y)
    with pytest.raises(ValueError, match="one kernel is needed"):
        kl.KernelLMNN(kernel=BANK).fit(X, Y)


def test_memory_budget_is_kept_and_changes_nothing():
    n = len(X)
    large = kl.HSICSubspace(BANK, uncorrelated=True).fit(X, Y)
    least = large.plan_.bytes_least
    small = kl.HSICSubspace(BANK, uncorrelated=True, memory_budget=least).fit(X, Y)
    assert (small.plan_.n_kept, large.plan_.n_kept) == (0, 4)
    np.testing.assert_allclose(small.kernel_weights_, large.kernel_weights_, rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match="memory budget"):
        kl.MultiKernelSVC(BANK, memory_budget=2 * 8 * n**2).fit(X, Y)


def test_in_pipelines_and_clones():
    model = make_pipeline(kl.HSICSubspace(BANK, uncorrelated=True), kl.MultiKernelSVC())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clone(model).fit(X, Y).score(X, Y) > 0.95
    again = clone(kl.KernelDiscriminant(BANK, reg="learn")).fit(X, Y)
    np.testing.assert_array_equal(
        again.kernel_weights_, kl.KernelDiscriminant(BANK, reg="learn").fit(X, Y).kernel_weights_
    )


LOO_MAKERS = {name: make for name, make in MAKERS.items() if name not in ("learned reg", "sm2_c")}
LOO_MAKERS["hsic, projected"] = lambda **o: kl.HSICSubspace(**o)
LOO_MAKERS["svc, projected"] = lambda **o: kl.SubspaceSVC(uncorrelated=False, **o)


@pytest.mark.parametrize("name", LOO_MAKERS)
def test_leave_one_out_weights(name):
    """The same weights whatever the estimator, which is the one at these weights."""
    model = LOO_MAKERS[name](kernel=BANK, weights="loo").fit(X, Y)
    other = kl.KernelDiscriminant(BANK, weights="loo").fit(X, Y)
    shares = [m.kernel_weights_ / m.kernel_weights_.sum() for m in (model, other)]
    np.testing.assert_allclose(*shares, rtol=1e-3)
    assert np.isnan(model.gap_) and model.n_iter_ == len(model.history_) - 1 > 1
    assert set(model.history_[0]) == {"value", "grad_norm"}
    assert model.history_[-1]["value"] < model.history_[0]["value"]
    given = LOO_MAKERS[name](kernel=BANK, weights=model.kernel_weights_).fit(X, Y)
    np.testing.assert_allclose(output(model), output(given), rtol=1e-4, atol=1e-6)


def test_leave_one_out_does_not_take_the_narrowest_kernel():
    """A kernel so narrow that it only knows its own row fits every training row."""
    bank = {"narrow": Gaussian(100.0), "wide": Gaussian(0.02)}
    noisy = np.where(np.random.default_rng(0).random(len(Y)) < 0.3, (Y + 1) % 3, Y)
    names = {}
    for rule in ("learn", "loo"):
        model = kl.KernelDiscriminant(bank, reg=1e-2, weights=rule).fit(X, noisy)
        names[rule] = model.kernel_names_[np.argmax(model.kernel_weights_)]
    assert names == {"learn": "narrow", "loo": "wide"}


@pytest.mark.parametrize("landmarks", ["all", 30])
def test_leave_one_out_weights_count_a_row_as_often_as_it_weighs(landmarks):
    weight = np.random.default_rng(0).integers(1, 4, size=len(Y))
    many = np.repeat(np.arange(len(Y)), weight)
    for name in ("hsic", "discriminant"):
        models = [
            MAKERS[name](kernel=BANK, weights="loo", landmarks=landmarks, random_state=0)
            for _ in range(3)
        ]
        models[0].fit(X, Y, sample_weight=weight)
        models[1].fit(X[many], Y[many])
        models[2].fit(X, Y)
        found, repeated, plain = (model.kernel_weights_ for model in models)
        np.testing.assert_allclose(found, repeated, rtol=1e-4)
        assert np.abs(plain / found - 1).max() > 1e-2


def test_leave_one_out_weights_with_other_targets():
    """Similarities of the samples as label kernel: the weights still come from the labels."""
    H = (Y[:, None] == Y).astype(float)
    model = kl.HSICSubspace(BANK, weights="loo", label_kernel=H, uncorrelated=True)
    expected = kl.HSICSubspace(BANK, weights="loo").fit(X, Y).kernel_weights_
    np.testing.assert_allclose(model.fit(X, Y).kernel_weights_, expected, rtol=1e-6)
    with pytest.raises(ValueError, match="landmarks='all'"):
        model.set_params(landmarks=20).fit(X, Y)


def test_leave_one_out_weights_are_refused_with_a_learned_constant():
    with pytest.raises(ValueError, match="reg='loo'"):
        kl.KernelDiscriminant(BANK, reg="learn", weights="loo").fit(X, Y)
    with pytest.raises(ValueError, match="Give a number for C"):
        kl.MultiKernelSVC(BANK, loss="squared_hinge", C="learn", weights="loo").fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 steps"):
        kl.HSICSubspace(BANK, weights="loo", max_iter=1).fit(X, Y)


def test_svc_bounds_of_weights_that_are_not_optimal():
    """After one step the machines' bounds hold for their own weights: the optimum is lower."""
    pytest.importorskip("cvxpy")
    from oracles import kernel_weights as weights_oracle

    rows = slice(None, None, 4)
    signs = np.where(Y[rows, None] == np.unique(Y), 1.0, -1.0)
    Gs = [weights_oracle.centred_kernel(kernel(X[rows])) for kernel in BANK.values()]
    value = weights_oracle.svm_mkl(Gs, signs, 1.0, 0.1)
    model = kl.SubspaceSVC(BANK, C=1.0, reg=0.1, solver="silp", max_iter=1)
    with pytest.warns(ConvergenceWarning):
        model.fit(X[rows], Y[rows])
    assert model.lower_bound_ <= value * (1 + 1e-6)
    assert model.upper_bound_ > value * (1 + 1e-4)  # or nothing was shown
    assert model.gap_ == pytest.approx(model.upper_bound_ - model.lower_bound_)


class TestCriteriaOfYeAndKim:
    """coupling= and criterion= of KernelDiscriminant."""

    bank: ClassVar = [Gaussian(0.02), Gaussian(0.2), Linear()]

    def test_exact_approximate_and_k_times_exact(self):
        X, y = load_wine(return_X_y=True)
        X, y = scale(X)[::4], y[::4]
        for reg in (0.1, "learn"):
            exact, approximate = (
                kl.KernelDiscriminant(self.bank, reg=reg, coupling=coupling).fit(X, y)
                for coupling in ("exact", "approximate")
            )
            low, high = (m.weights_report_.learned for m in (exact, approximate))
            assert low <= high <= 3 * low
            assert np.abs(exact.kernel_weights_ - approximate.kernel_weights_).max() > 1e-4
            assert approximate.gap_ <= 1e-6 * high

    def test_kim_is_the_best_ratio(self):
        """(m_1 - m_2)'(S_w + lam/n)^{-1}(m_1 - m_2), by features, against other weights."""
        X, y = load_wine(return_X_y=True)
        X, y = scale(X)[::4], (y[::4] == 1).astype(int)
        n = len(y)
        Ks = [kernel(X) for kernel in self.bank]
        P = np.eye(n) - 1 / n
        traces = [np.trace(P @ K @ P) for K in Ks]

        def ratio(theta):
            K = sum(t * K for t, K in zip(theta, Ks, strict=True))
            w, U = np.linalg.eigh(K)
            F = U * np.sqrt(np.maximum(w, 0))
            lam = 0.1 * np.trace(P @ K @ P) / n
            means = [F[y == c].mean(axis=0) for c in (0, 1)]
            S = sum((F[y == c] - means[c]).T @ (F[y == c] - means[c]) for c in (0, 1)) / n
            gap = means[1] - means[0]
            return gap @ np.linalg.solve(S + lam / n * np.eye(n), gap)

        model = kl.KernelDiscriminant(self.bank, reg=0.1, criterion="kim").fit(X, y)
        best = ratio(model.kernel_weights_)
        assert model.weights_report_.learned == pytest.approx(-best, rel=1e-8)
        rng = np.random.default_rng(0)
        for _ in range(30):
            assert ratio(rng.dirichlet(np.ones(3)) * n / traces) <= best * (1 + 1e-6)
        # at one lambda tr((S_t + lam)^{-1} S_b) = t / (1 + t), t = ratio n_0 n_1 / n^2: one optimum
        other = kl.KernelDiscriminant(self.bank, reg=0.1).fit(X, y)
        np.testing.assert_allclose(other.kernel_weights_, model.kernel_weights_, atol=1e-4)
        t = best * np.sum(y == 0) * np.sum(y == 1) / n**2
        assert other.objective_ == pytest.approx(t / (1 + t), rel=1e-5)

    def test_kim_counts_rows(self, rng):
        X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
        X[:, 0] += y
        X[1] = X[0]  # with both labels
        w = rng.integers(1, 4, 30)
        rows = np.repeat(np.arange(30), w)
        model = kl.KernelDiscriminant(self.bank, reg=0.1, criterion="kim")
        weighted = model.fit(X, y, sample_weight=w).kernel_weights_
        np.testing.assert_allclose(
            weighted, model.fit(X[rows], y[rows]).kernel_weights_, rtol=1e-4, atol=1e-6
        )

    def test_kim_with_reg_by_leave_one_out(self, rng):
        X = rng.normal(size=(40, 3))
        y = (X[:, 0] > 0).astype(int)
        model = kl.KernelDiscriminant(self.bank, criterion="kim").fit(X, y)
        assert model.score(X, y) > 0.8 and len(model.loo_regs_) > 5
        # weights at the reg of equal weights, not at a reg that is learned with them
        other = kl.KernelDiscriminant(self.bank).fit(X, y)
        assert np.abs(other.kernel_weights_ - model.kernel_weights_).max() > 1e-3

    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"reg": "learn"}, "no reg to learn"),
            ({"coupling": "approximate"}, "one pair of classes"),
            ({"landmarks": 5}, "kernel matrices themselves"),
        ],
    )
    def test_what_kim_refuses(self, options, match, rng):
        X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
        with pytest.raises(ValueError, match=match):
            kl.KernelDiscriminant(self.bank, criterion="kim", **options).fit(X, y)
        with pytest.raises(ValueError, match="two classes, and y has 3"):
            kl.KernelDiscriminant(self.bank, criterion="kim").fit(X, np.arange(30) % 3)
