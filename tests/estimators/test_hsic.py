"""HSICSubspace from raw rows to predictions."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from kernel_learn import HSICSubspace, Landmarks
from kernel_learn.kernels import ColumnKernel, Gaussian, Linear, Precomputed, Spectrum
from oracles import hsic as oracle
from tolerances import EXACT

X, y = load_wine(return_X_y=True)
X = scale(X)
X.setflags(write=False)
y.setflags(write=False)
X_NEW = X[:30] + 0.1


@pytest.mark.parametrize("uncorrelated", [False, True])
@pytest.mark.parametrize("kind", ["normalized", "indicator"])
def test_equals_the_paper(kind, uncorrelated):
    model = HSICSubspace(Gaussian(0.05), uncorrelated=uncorrelated, label_kernel=kind).fit(X, y)
    G = oracle.center(rbf_kernel(X, gamma=0.05))
    lam = 1e-3 * np.trace(G) / len(G)
    assert model.reg_ == pytest.approx(lam)
    W, value = oracle.subspace(G, oracle.label_kernel(y, kind), lam, 2, uncorrelated)
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    assert model.eigenvalues_.sum() == pytest.approx(model.objective_)
    assert_allclose(model.kernel_(X), oracle.subspace_kernel(G, W, lam, uncorrelated), atol=1e-6)


def test_uncorrelated_features_are_orthonormal_up_to_the_regulariser():
    for reg, off in ((1e-2, 1e-1), (1e-4, 2e-3), (1e-8, 1e-6)):
        F = HSICSubspace(Gaussian(0.05), reg=reg, uncorrelated=True).fit(X, y).transform(X)
        assert np.abs(F.T @ F - np.eye(2)).max() < off
        assert_allclose(F.mean(axis=0), 0, atol=1e-10)
    F = HSICSubspace(Gaussian(0.05), reg=1e-8).fit(X, y).transform(X)
    assert np.abs(F.T @ F - np.eye(2)).max() > 0.1  # the option changes the answer


@pytest.mark.parametrize("uncorrelated", [False, True])
def test_learned_kernel_is_a_kernel(uncorrelated):
    model = HSICSubspace(uncorrelated=uncorrelated).fit(X, y)
    F = model.transform(X_NEW)
    assert_allclose(model.kernel_(X_NEW), F @ F.T, atol=EXACT)
    assert_allclose(model.kernel_(X_NEW, X), F @ model.transform(X).T, atol=EXACT)
    assert_allclose(model.kernel_.diag(X_NEW), np.diag(F @ F.T), atol=EXACT)
    again = HSICSubspace(kernel=model.kernel_).fit(X, y)
    assert again.transform(X_NEW).shape == (30, 2)
    svc = SVC(kernel=model.kernel_).fit(X, y)
    assert svc.score(X, y) > 0.98
    assert clone(again).kernel is not None
    assert_allclose(
        clone(HSICSubspace(kernel=model.kernel_)).fit(X, y).transform(X_NEW),
        again.transform(X_NEW),
    )


def test_kernel_of_the_user_is_kept():
    kernel = Gaussian()
    model = HSICSubspace(kernel=kernel).fit(X, y)
    assert model.kernel is kernel
    assert kernel.gamma == "median"
    assert isinstance(model.base_kernel_.gamma, float)


@pytest.mark.parametrize("uncorrelated", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian(0.05), Linear()], ids=["gaussian", "linear"])
def test_all_rows_as_landmarks_are_exact(kernel, uncorrelated):
    exact = HSICSubspace(kernel, uncorrelated=uncorrelated, landmarks="all").fit(X, y)
    assert exact.plan_.representation == "gram"
    for landmarks in (len(X), X, np.arange(len(X)), Landmarks("uniform", len(X))):
        other = HSICSubspace(kernel, uncorrelated=uncorrelated, landmarks=landmarks).fit(X, y)
        assert other.plan_.representation == "landmarks"
        assert other.objective_ == pytest.approx(exact.objective_, rel=EXACT)
        assert_allclose(other.transform(X_NEW), exact.transform(X_NEW), atol=1e-8)


def test_linear_kernel_uses_its_own_features():
    exact = HSICSubspace("linear", landmarks="all").fit(X, y)
    explicit = HSICSubspace("linear").fit(X, y)
    assert explicit.plan_.representation == "explicit"
    assert explicit.objective_ == pytest.approx(exact.objective_, rel=EXACT)
    assert_allclose(explicit.transform(X_NEW), exact.transform(X_NEW), atol=1e-9)


def test_few_landmarks_come_close():
    X_digits, y_digits = load_digits(return_X_y=True)
    train = np.arange(len(y_digits)) % 3 > 0
    scores, residuals = [], []
    for landmarks in (20, 300, "all"):
        model = make_pipeline(
            HSICSubspace(landmarks=landmarks, uncorrelated=True, reg=1e-2, random_state=0),
            KNeighborsClassifier(5),
        ).fit(X_digits[train], y_digits[train])
        scores.append(model.score(X_digits[~train], y_digits[~train]))
        residuals.append(model[0].landmark_residual_)
    assert residuals[0] > residuals[1] > residuals[2] == 0.0
    assert scores[0] < scores[1] - 0.02
    assert scores[1] > 0.96
    assert scores[2] > 0.97


@pytest.mark.parametrize("uncorrelated", [False, True])
@pytest.mark.parametrize("landmarks", ["all", 60])
def test_path_is_many_fits(uncorrelated, landmarks):
    regs = [1e-4, 1e-2, 1.0]
    options = {"uncorrelated": uncorrelated, "landmarks": landmarks, "random_state": 0}
    template = HSICSubspace(Gaussian(0.05), **options)
    coefs, values = template.path(X, y, regs)
    assert not hasattr(template, "kernel_")
    for reg, coef, value in zip(regs, coefs, values, strict=True):
        model = HSICSubspace(Gaussian(0.05), reg=reg, **options).fit(X, y)
        assert value == pytest.approx(model.objective_, rel=1e-8)
        assert_allclose(coef, model.kernel_.coef, atol=1e-7 * np.abs(coef).max())


def test_rescaling_the_kernel_changes_nothing():
    for uncorrelated in (False, True):
        models = [
            HSICSubspace(lambda A, B, c=c: c * rbf_kernel(A, B, 0.05), uncorrelated=uncorrelated)
            for c in (1.0, 1e6)
        ]
        F, F_scaled = (model.fit(X, y).transform(X_NEW) for model in models)
        assert_allclose(F_scaled / np.linalg.norm(F_scaled), F / np.linalg.norm(F), atol=1e-9)
        if uncorrelated:
            assert_allclose(F_scaled, F, atol=1e-9)


def test_weights_and_imbalance():
    weight = 1.0 + np.arange(len(y)) % 3
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    weighted = HSICSubspace().fit(X, y, sample_weight=weight)
    expanded = HSICSubspace().fit(X[repeated], y[repeated])
    assert weighted.base_kernel_.gamma == pytest.approx(expanded.base_kernel_.gamma)
    assert_allclose(weighted.transform(X_NEW), expanded.transform(X_NEW), atol=1e-9)
    plain = HSICSubspace().fit(X, y)
    assert np.abs(plain.transform(X_NEW) - weighted.transform(X_NEW)).max() > 1e-3
    # the normalised label kernel gives a small class the same say, the indicator one does not
    rare = np.concatenate([np.flatnonzero(y < 2), np.flatnonzero(y == 2)[:4]])
    normalized = HSICSubspace(n_components=2).fit(X[rare], y[rare])
    indicator = HSICSubspace(n_components=2, label_kernel="indicator").fit(X[rare], y[rare])
    ratio = [m.eigenvalues_[1] / m.eigenvalues_[0] for m in (normalized, indicator)]
    assert ratio[0] > 2 * ratio[1]


def test_zero_weight_is_absence():
    weight = (np.arange(len(y)) % 4 > 0).astype(float)
    kept = weight > 0
    assert_allclose(
        HSICSubspace().fit(X, y, sample_weight=weight).transform(X_NEW),
        HSICSubspace().fit(X[kept], y[kept]).transform(X_NEW),
    )
    H = np.eye(len(y)) + (y[:, None] == y)
    assert_allclose(
        HSICSubspace(label_kernel=H).fit(X, y, sample_weight=weight).transform(X_NEW),
        HSICSubspace(label_kernel=H[np.ix_(kept, kept)]).fit(X[kept], y[kept]).transform(X_NEW),
        atol=1e-8,
    )
    K = rbf_kernel(X, gamma=0.05)
    full = HSICSubspace("precomputed").fit(K, y, sample_weight=weight)
    part = HSICSubspace("precomputed").fit(K[np.ix_(kept, kept)], y[kept])
    assert_allclose(full.transform(K), part.transform(K[:, kept]), atol=1e-8)


def test_row_order_does_not_matter(rng):
    order = rng.permutation(len(y))
    for landmarks in ("all", 40, Landmarks("kmeans", 20)):
        a = HSICSubspace(landmarks=landmarks, random_state=0).fit(X, y)
        b = HSICSubspace(landmarks=landmarks, random_state=0).fit(X[order], y[order])
        assert_allclose(a.transform(X_NEW), b.transform(X_NEW), atol=1e-7)


def test_precomputed_in_cross_validation():
    K = rbf_kernel(X, gamma=0.05)
    direct = make_pipeline(HSICSubspace(Gaussian(0.05)), KNeighborsClassifier(3))
    given = make_pipeline(HSICSubspace("precomputed"), KNeighborsClassifier(3))
    assert_array_equal(cross_val_score(given, K, y), cross_val_score(direct, X, y))
    landmarks = HSICSubspace("precomputed", landmarks=50, random_state=0).fit(K, y)
    assert landmarks.transform(K[:5]).shape == (5, 2)


def test_indefinite_matrix_is_repaired_alike_for_new_rows(rng):
    K = rbf_kernel(X, gamma=0.05)
    E = rng.normal(size=K.shape) * 0.02
    K_bad = K + (E + E.T) / 2
    with pytest.warns(UserWarning, match="negative eigenvalues"):
        model = HSICSubspace("precomputed").fit(K_bad, y)
    w, V = np.linalg.eigh(K_bad)
    clipped = (V * np.maximum(w, 0)) @ V.T
    P = V[:, w > 0] @ V[:, w > 0].T
    reference = HSICSubspace("precomputed").fit(clipped, y)
    assert_allclose(model.transform(K_bad[:9]), reference.transform(K_bad[:9] @ P), atol=1e-7)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        HSICSubspace(Precomputed(psd="error")).fit(K_bad, y)


def test_grid_search_reaches_the_kernel():
    X_iris, y_iris = load_iris(return_X_y=True)
    grid = {"hsicsubspace__kernel__gamma": [1e3, 0.3], "hsicsubspace__reg": [1e-3, 1e-1]}
    pipeline = make_pipeline(HSICSubspace(kernel=Gaussian()), KNeighborsClassifier(1))
    search = GridSearchCV(pipeline, grid, cv=3).fit(X_iris, y_iris)
    assert search.best_params_["hsicsubspace__kernel__gamma"] == 0.3
    assert search.best_score_ > 0.9


def test_better_than_raw_neighbours(rng):
    """Columns of noise mislead distances; the learned subspace leaves them out."""
    noisy = np.hstack([X, rng.normal(size=(len(X), 60))])
    learned = make_pipeline(HSICSubspace(reg=1e-1, uncorrelated=True), KNeighborsClassifier(1))
    raw = cross_val_score(KNeighborsClassifier(1), noisy, y).mean()
    assert cross_val_score(learned, noisy, y).mean() > raw + 0.02


def test_float32_and_sparse():
    exact = HSICSubspace(Gaussian(0.05)).fit(X, y)
    single = HSICSubspace(Gaussian(0.05)).fit(X.astype(np.float32), y)
    F = single.transform(X_NEW.astype(np.float32))
    assert F.dtype == np.float32
    assert_allclose(F, exact.transform(X_NEW), atol=1e-3)
    single = HSICSubspace(Gaussian(0.05), landmarks=60, random_state=0)
    assert single.fit(X.astype(np.float32), y).transform(X_NEW.astype(np.float32)).dtype == "f4"
    S = sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0))
    for kernel in ("linear", "cosine", "gaussian", "polynomial"):
        dense = HSICSubspace(kernel).fit(S.toarray(), y)
        assert_allclose(
            HSICSubspace(kernel).fit(S, y).transform(S[:9]),
            dense.transform(S[:9].toarray()),
            atol=1e-8,
        )


def test_strings_and_columns():
    pd = pytest.importorskip("pandas")
    words = ["abcabc", "bcabca", "cabcab", "abcbca", "xyzxyz", "zyxzyx", "yzxyzx", "xxyyzz"]
    labels = ["abc"] * 4 + ["xyz"] * 4
    model = HSICSubspace(Spectrum(2)).fit(words, labels)
    F = model.transform(["abcab", "zxyzx"])
    assert F.shape == (2, 1)
    assert F[0, 0] * F[1, 0] < 0
    frame = pd.DataFrame({"word": words, "size": np.arange(8.0), "noise": 0.0})
    by_name = HSICSubspace(ColumnKernel(Spectrum(2), "word")).fit(frame, labels)
    assert_allclose(by_name.transform(frame), model.transform(words), atol=1e-10)
    numbers = HSICSubspace(ColumnKernel(Gaussian(), ["size", "noise"])).fit(frame, labels)
    direct = HSICSubspace(Gaussian()).fit(frame[["size", "noise"]].to_numpy(), labels)
    assert_allclose(numbers.transform(frame), direct.transform(frame[["size", "noise"]].to_numpy()))
    assert list(numbers.feature_names_in_) == ["word", "size", "noise"]


def test_names_and_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=load_wine().feature_names)
    model = HSICSubspace().set_output(transform="pandas").fit(frame, y)
    out = model.transform(frame)
    assert list(out.columns) == ["hsicsubspace0", "hsicsubspace1"]
    assert list(model.get_feature_names_out()) == list(out.columns)


def test_labels_may_be_strings_and_models_pickle():
    names = load_wine().target_names[y]
    model = HSICSubspace().fit(X, names)
    assert list(model.classes_) == list(load_wine().target_names)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.transform(X_NEW), model.transform(X_NEW))


def test_number_of_components():
    assert HSICSubspace().fit(X, y).n_components_ == 2
    assert HSICSubspace(n_components=1).fit(X, y).transform(X).shape[1] == 1
    with pytest.warns(UserWarning, match=r"n_components=5.*determine 2"):
        model = HSICSubspace(n_components=5).fit(X, y)
    assert model.transform(X).shape == (len(X), 2)
    one_column = HSICSubspace("linear").fit(X[:, :1], y)  # the kernel has rank 1, the labels 2
    assert one_column.n_components_ == 1


def test_constant_columns_and_duplicates_are_ordinary():
    padded = np.hstack([X, np.ones((len(X), 1))])
    assert_allclose(
        HSICSubspace().fit(padded, y).transform(padded),
        HSICSubspace().fit(X, y).transform(X),
        atol=1e-9,
    )
    contradictory = np.vstack([X, X[:5]]), np.concatenate([y, 1 - np.minimum(y[:5], 1)])
    assert np.isfinite(HSICSubspace().fit(*contradictory).transform(X)).all()


def spoil(value):
    bad = X.copy()
    bad[3, 2] = value
    return bad


@pytest.mark.parametrize(
    ("make", "X_bad", "y_bad", "match"),
    [
        (HSICSubspace, spoil(np.nan), y, "NaN"),
        (HSICSubspace, spoil(np.inf), y, "infinity"),
        (HSICSubspace, X, np.zeros(len(y)), "at least 2 classes"),
        (HSICSubspace, X[:1], y[:1], "minimum of 2"),
        (HSICSubspace, X[:0], y[:0], "minimum of 2|0 sample"),
        (HSICSubspace, X, y[:-1], "inconsistent numbers"),
        (
            lambda: HSICSubspace(target_type="classes"),
            X,
            np.linspace(0, 1, len(y)),
            "continuous",
        ),
        (HSICSubspace, X, np.array(["a", 1] * 89, dtype=object), "mixes labels|unknown"),
        (HSICSubspace, np.ones_like(X), y, "zero variance"),
        (lambda: HSICSubspace("precomputed"), X, y, "square"),
        (lambda: HSICSubspace("precomputed"), np.triu(X @ X.T), y, "not symmetric"),
        (lambda: HSICSubspace(reg=0.0), X, y, "reg must be a positive"),
        (lambda: HSICSubspace(reg=-1.0), X, y, "reg must be a positive"),
        (lambda: HSICSubspace(reg="small"), X, y, "reg must be a positive"),
        (lambda: HSICSubspace(n_components=0), X, y, "n_components must be"),
        (lambda: HSICSubspace(landmarks="all", memory_budget="100kB"), X, y, "memory budget"),
        (lambda: HSICSubspace(memory_budget="much"), X, y, "amount of memory"),
        (lambda: HSICSubspace("gaussin"), X, y, "Known names"),
        (lambda: HSICSubspace(Gaussian), X, y, "instance, not the class"),
        (lambda: HSICSubspace(Gaussian(-1)), X, y, "gamma must be"),
        (lambda: HSICSubspace(landmarks="best"), X, y, "landmarks"),
        (lambda: HSICSubspace(label_kernel="best"), X, y, "label_kernel"),
        (lambda: HSICSubspace(lambda A, B: A), X, y, "returned shape"),
        (lambda: HSICSubspace(lambda A, B: np.full((len(A), len(B)), np.nan)), X, y, "not finite"),
        (lambda: HSICSubspace(ColumnKernel(Gaussian(), "age")), X, y, "without column names"),
    ],
)
def test_bad_input_says_what_and_what_to_do(make, X_bad, y_bad, match):
    with pytest.raises(ValueError, match=match):
        make().fit(X_bad, y_bad)


def test_bad_input_at_transform_and_path():
    model = HSICSubspace().fit(X, y)
    with pytest.raises(ValueError, match="expecting 13 features"):
        model.transform(X[:, :5])
    for regs in ([1e-3, 0.0], [-1.0]):
        with pytest.raises(ValueError, match="reg must be a positive"):
            HSICSubspace().path(X, y, regs)
    for weight in (np.full(len(y), -1.0), np.zeros(len(y)), np.ones(3)):
        with pytest.raises(ValueError, match="sample_weight"):
            HSICSubspace().fit(X, y, sample_weight=weight)


def test_nothing_of_the_user_is_changed():
    parameters = {"kernel": Gaussian(), "landmarks": X[:20].copy(), "label_kernel": np.eye(3)}
    model = HSICSubspace(**parameters)
    weight = np.ones(len(y))
    weight.setflags(write=False)
    model.fit(X, y, sample_weight=weight)  # X and y are read-only
    assert model.get_params(deep=False).items() >= {"kernel": parameters["kernel"]}.items()
    assert_array_equal(parameters["landmarks"], X[:20])
    assert parameters["kernel"].gamma == "median"
