"""Banks in estimators without a criterion for weights: weighed first, then one kernel."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

import kernel_learn as kl
from kernel_learn.kernels import ColumnKernel, Combination, Gaussian, Linear, Polynomial, Spectrum
from kernel_learn.kernels.base import Kernel
from oracles import hsic as oracle

X, Y = load_wine(return_X_y=True)
X, Y = scale(X)[::2], Y[::2]
X_NEW = scale(load_wine().data)[1::2][:20]
BANK = {"narrow": Gaussian(1.0), "wide": Gaussian(0.02), "linear": Linear()}
VALUES = X[:, 0] + X[:, 1] ** 2
MAKERS = {
    "alignment": lambda **o: kl.AlignmentSubspace(tol=1e-7, max_iter=5000, **o),
    "centred alignment": lambda **o: kl.AlignmentSubspace(center=True, n_components=2, **o),
    "numbers": lambda **o: kl.AlignmentSubspace(n_components=1, target_type="numbers", **o),
    "koc": lambda **o: kl.KernelOrthogonalCentroid(**o),
    "clusters": lambda **o: kl.KernelOrthogonalCentroid(clusters_per_class=2, random_state=0, **o),
    "pls": lambda **o: kl.KernelPLS(**o),
    "pls of values": lambda **o: kl.KernelPLSRegressor(**o),
    "qr": lambda **o: kl.KernelDiscriminantQR(**o),
    "expansion": lambda **o: kl.ExpansionSVC(n_points=5, random_state=0, max_iter=5, **o),
    "hinge": lambda **o: kl.ExpansionSVC(n_points=5, random_state=0, max_iter=5, loss="hinge", **o),
}
OF_VALUES = ("numbers", "pls of values")
UNCENTRED = ("alignment", "numbers", "koc", "clusters")
pytestmark = pytest.mark.filterwarnings("ignore:ExpansionSVC stopped after")


def fit(name, rows=X, **options):
    return MAKERS[name](**options).fit(rows, VALUES if name in OF_VALUES else Y)


def output(model, rows=X_NEW):
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.transform(rows)


def traces(name):
    """Of the Gram matrices as the estimator sees them; of n x k values by their centroids."""
    Ks = [kernel(X) for kernel in BANK.values()]
    if name == "qr":
        means = np.array([X[c == Y].mean(axis=0) for c in range(3)])
        Ks = [
            k(X, means) @ np.linalg.inv(k(means)) @ k(means, X)
            if not isinstance(k, Linear)
            else k(X, means) @ np.linalg.pinv(k(means)) @ k(means, X)
            for k in BANK.values()
        ]
    return np.array([np.trace(K if name in UNCENTRED else oracle.center(K)) for K in Ks])


@pytest.mark.parametrize("weights", ["loo", "uniform", "alignment", (0.5, 2.0, 1.0)])
@pytest.mark.parametrize("name", MAKERS)
def test_a_bank_is_the_one_kernel_of_its_weights(name, weights):
    bank = fit(name, kernel=BANK, weights=weights)
    assert bank.kernel_names_.tolist() == list(BANK) and bank.kernel is BANK
    assert bank.kernel_weights_ @ traces(name) == pytest.approx(len(X), rel=1e-8)
    one = fit(name, kernel=Combination(list(BANK.values()), bank.kernel_weights_))
    assert not hasattr(one, "kernel_weights_")
    close = 1e-4 if isinstance(bank, kl.AlignmentSubspace) else 1e-7  # a descent on each
    np.testing.assert_allclose(output(bank), output(one), rtol=10 * close, atol=close)
    kept = bank.base_kernel_ if name != "qr" else bank.kernel_.kernel
    np.testing.assert_allclose(kept(X_NEW, X), one.base_kernel_(X_NEW, X), rtol=1e-9)


@pytest.mark.parametrize("name", MAKERS)
def test_uniform_and_given_weights(name):
    uniform = fit(name, kernel=BANK, weights="uniform").kernel_weights_
    np.testing.assert_allclose(uniform, len(X) / (3 * traces(name)), rtol=1e-8)
    given = fit(name, kernel=BANK, weights=[3.0, 0.0, 1.0]).kernel_weights_
    assert given[1] == 0 and given[0] / given[2] == pytest.approx(3)


@pytest.mark.parametrize("name", ["alignment", "koc", "pls", "expansion"])
def test_leave_one_out_and_alignment_are_those_of_the_centred_kernels(name):
    """Whatever the estimator's own form: the same as where forms are centred."""
    for weights in ("loo", "alignment"):
        found = fit(name, kernel=BANK, weights=weights).kernel_weights_
        known = best_alignment(np.eye(3)[Y])
        if weights == "loo":
            known = kl.KernelDiscriminant(BANK, weights="loo", reg=0.1).fit(X, Y).kernel_weights_
        np.testing.assert_allclose(found / found.sum(), known / known.sum(), rtol=1e-4, atol=1e-6)


def best_alignment(L):
    """max over theta >= 0 of <G, LL'> / |G|, by the stationary point of every subset of kernels."""
    Gs = [oracle.center(kernel(X)) for kernel in BANK.values()]
    H = oracle.center(L @ L.T)
    best, found = -np.inf, None
    for subset in ([0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]):
        N = np.array([[np.vdot(Gs[i], Gs[j]) for j in subset] for i in subset])
        v = np.linalg.solve(N, [np.vdot(Gs[i], H) for i in subset])
        if v.min() >= 0:
            G = sum(w * Gs[i] for w, i in zip(v, subset, strict=True))
            value = np.vdot(G, H) / np.linalg.norm(G)
            if value > best:
                best, found = value, np.zeros(3)
                found[subset] = v
    return found


@pytest.mark.parametrize("name", MAKERS)
def test_equal_kernels_are_one(name):
    bank = fit(name, kernel=[Gaussian(0.05), Gaussian(0.05)])
    alone = fit(name, kernel=[Gaussian(0.05)])
    assert bank.kernel_weights_.sum() == pytest.approx(alone.kernel_weights_[0], rel=1e-6)
    np.testing.assert_allclose(output(bank), output(alone), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["alignment", "koc", "pls", "pls of values", "qr"])
@pytest.mark.parametrize("weights", ["loo", "alignment", "uniform"])
def test_blocks_and_arrays_are_the_same(name, weights):
    """From one pass over blocks with moments of all kernels; labels come with the rows."""
    y = VALUES if name in OF_VALUES else Y
    given = {} if name == "qr" else {"landmarks": X[::4]}
    if name == "pls of values":
        given["n_components"] = 2
    options = {"kernel": BANK, "weights": weights, **given}
    whole = MAKERS[name](**options).fit(X, y)
    blocks = MAKERS[name](**options).fit(
        lambda: ((X[rows], y[rows]) for rows in np.array_split(np.arange(len(X)), 4))
    )
    np.testing.assert_allclose(blocks.kernel_weights_, whole.kernel_weights_, rtol=1e-6)
    np.testing.assert_allclose(output(blocks), output(whole), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["alignment", "koc", "pls"])
def test_all_rows_as_landmarks_are_exact(name):
    exact = fit(name, kernel=BANK, weights="alignment", landmarks="all")
    landmarks = fit(name, kernel=BANK, weights="alignment", landmarks=X)
    np.testing.assert_allclose(landmarks.kernel_weights_, exact.kernel_weights_, rtol=1e-5)
    F, F_exact = landmarks.transform(X_NEW), exact.transform(X_NEW)
    np.testing.assert_allclose(F @ F.T, F_exact @ F_exact.T, rtol=1e-3, atol=1e-4)


def test_a_row_of_weight_two_is_two_rows():
    twice = np.concatenate([np.arange(len(X)), np.arange(20)])
    weight = 1.0 + (np.arange(len(X)) < 20)
    for name in ("alignment", "koc", "pls", "qr", "expansion"):
        weighed = MAKERS[name](kernel=BANK).fit(X, Y, sample_weight=weight)
        repeated = MAKERS[name](kernel=BANK).fit(X[twice], Y[twice])
        np.testing.assert_allclose(weighed.kernel_weights_, repeated.kernel_weights_, rtol=1e-4)


def test_views_columns_and_stacks():
    parts = [ColumnKernel(Gaussian(), slice(0, 6)), ColumnKernel(Gaussian(), slice(6, 13))]
    for name in ("alignment", "koc", "pls", "qr", "expansion"):
        columns = fit(name, kernel=parts)
        views = fit(name, rows=[X[:, :6], X[:, 6:]], kernel=[Gaussian(), Gaussian()])
        np.testing.assert_allclose(views.kernel_weights_, columns.kernel_weights_, rtol=1e-6)
        if name in ("qr", "expansion"):
            continue  # which need the rows themselves
        Ks = np.stack([kernel(X) for kernel in BANK.values()], axis=2)
        stack = fit(name, rows=Ks, kernel="precomputed")
        known = fit(name, kernel=BANK)
        np.testing.assert_allclose(stack.kernel_weights_, known.kernel_weights_, rtol=1e-6)


class SumOfParts(Kernel):
    """2 exp(-.3 |x_a - z_a|^2) + exp(-.1 |x_b - z_b|^2) + .5 x'z written out, on vectors."""

    def __call__(self, X, X_ref=None):
        Z = X if X_ref is None else X_ref
        D = (np.asarray(X)[:, None] - np.asarray(Z)) ** 2
        near = 2 * np.exp(-0.3 * D[..., :6].sum(axis=2)) + np.exp(-0.1 * D[..., 6:].sum(axis=2))
        return near + 0.5 * (X @ Z.T)

    def reference_gradient(self, X, X_ref, A):
        total = np.zeros(X_ref.shape)
        for step in np.ndindex(*X_ref.shape):
            move = np.zeros(X_ref.shape)
            move[step] = 1e-5
            change = self(X, X_ref + move) - self(X, X_ref - move)
            total[step] = np.sum(A * change) / 2e-5
        return total


@pytest.mark.parametrize("name", ["qr", "expansion", "hinge"])
def test_kernels_of_some_columns_where_rows_are_averaged_or_moved(name):
    """By position in an array and by name in a frame: the kernel of all rows, written out."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdefghijklm"))
    parts = [(Gaussian(0.3), slice(0, 6)), (Gaussian(0.1), list(range(6, 13)))]
    bank = [*(ColumnKernel(k, own) for k, own in parts), Linear()]
    named = [ColumnKernel(k, list(frame.columns[own])) for k, own in parts] + [Linear()]
    found = fit(name, kernel=bank, weights=[2.0, 1.0, 0.5])
    scale = found.kernel_weights_[2] / 0.5
    by_name = fit(name, rows=frame, kernel=named, weights=[2.0, 1.0, 0.5])
    new = frame.iloc[:20]
    np.testing.assert_allclose(output(by_name, new), output(found, X[:20]), atol=1e-10)
    written = fit(name, kernel=Combination([SumOfParts()], np.array([scale])))
    np.testing.assert_allclose(output(written), output(found), atol=1e-5)
    if name != "qr":
        assert found.expansion_points_.shape == (5, 13)
    with pytest.raises(ValueError, match=r"averages rows|among vectors"):
        fit(name, rows=frame.assign(text="x"), kernel=named[:2])


def test_partial_fit_of_a_bank():
    model = kl.KernelPLS(BANK, landmarks=X[::4], weights="alignment")
    for rows in np.array_split(np.arange(len(X)), 3):
        model.partial_fit(X[rows], Y[rows], classes=np.unique(Y))
    whole = clone(model).fit(X, Y)
    np.testing.assert_allclose(model.kernel_weights_, whole.kernel_weights_, rtol=1e-6)


def test_other_codings_of_the_labels_move_the_weights_by_alignment():
    H = np.eye(3)
    H[0, 1] = H[1, 0] = 0.9
    plain = kl.AlignmentSubspace(BANK, weights="alignment").fit(X, Y)
    coded = kl.AlignmentSubspace(BANK, weights="alignment", label_kernel=H).fit(X, Y)
    w, U = np.linalg.eigh(H)
    L = np.eye(3)[Y] @ (U * np.sqrt(np.maximum(w, 0)))
    found = coded.kernel_weights_ / coded.kernel_weights_.sum()
    known = best_alignment(L)
    np.testing.assert_allclose(found, known / known.sum(), rtol=1e-5, atol=1e-8)
    assert not np.allclose(coded.kernel_weights_, plain.kernel_weights_, rtol=1e-2)


def test_similarities_of_samples_and_weights_by_leave_one_out():
    H = np.equal.outer(Y, Y).astype(float)
    coded = kl.AlignmentSubspace(BANK, label_kernel=H).fit(X, Y)
    plain = kl.AlignmentSubspace(BANK).fit(X, Y)
    np.testing.assert_allclose(coded.kernel_weights_, plain.kernel_weights_, rtol=1e-6)


def test_what_is_refused():
    for name in ("alignment", "koc", "pls", "qr", "expansion"):
        with pytest.raises(ValueError, match="weights must be"):
            fit(name, kernel=BANK, weights="learn")
        with pytest.raises(ValueError, match="the bank has 3 kernels"):
            fit(name, kernel=BANK, weights=[1.0, 2.0])
    with pytest.raises(ValueError, match="coefficients on the rows of one kernel"):
        kl.AlignmentSubspace(BANK, init=np.ones((len(X), 2))).fit(X, Y)
    with pytest.raises(ValueError, match="no derivative"):
        kl.ExpansionSVC([Gaussian(0.1), kl.kernels.Laplacian(0.1)], weights="uniform").fit(X, Y)
    with pytest.raises(ValueError, match="averages rows"):
        kl.KernelDiscriminantQR([Spectrum(2), Spectrum(3)]).fit(
            ["ab", "cd", "ef"] * 4, [0, 1, 0] * 4
        )


@pytest.mark.filterwarnings("ignore:Kernels that take one value on all rows")
def test_a_kernel_without_variance_gets_no_weight():
    for name in ("alignment", "koc", "pls", "qr", "expansion"):
        model = fit(name, kernel=[Gaussian(0.05), Polynomial(1, 1e-30, 1.0)])
        assert model.kernel_weights_[1] == 0 and np.isfinite(output(model)).all()
