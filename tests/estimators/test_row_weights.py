"""Weights of rows and classes, and probabilities, of every classifier."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.preprocessing import scale
from sklearn.svm import SVC

import kernel_learn as kl
from kernel_learn.kernels import Gaussian, Linear

BANK = [Gaussian(0.05), Gaussian(0.5), Linear()]
X, y = load_wine(return_X_y=True)
X, y = scale(X)[::2], y[::2]
X_NEW, Y_NEW = scale(load_wine().data)[1::2], load_wine().target[1::2]
MACHINES = [
    kl.SubspaceSVC(Gaussian(0.05)),
    kl.SubspaceSVC(Gaussian(0.05), class_weight="balanced", C=3.0),
    kl.SubspaceSVC(BANK),
    kl.ExpansionSVC(Gaussian(0.05), n_points=5, random_state=0, tol=1e-5, max_iter=300),
    kl.ExpansionSVC(
        Gaussian(0.05), n_points=5, random_state=0, move_points=False, class_weight="balanced"
    ),
    kl.MultiKernelSVC(BANK),
    kl.MultiKernelSVC(BANK, class_weight="balanced"),
    kl.MultiKernelSVC(BANK, loss="squared_hinge", C="learn", class_weight={0: 2.0, 1: 1.0, 2: 0.5}),
    kl.KernelDiscriminant(Gaussian(0.05), class_weight="balanced"),
    kl.MultiKernelSVC(
        BANK[:2], loss="squared_hinge", class_weight="balanced", landmarks=10, random_state=0
    ),
    kl.SubspaceSVC(Gaussian(0.05), landmarks=20, random_state=0),
    kl.KernelPLS(Gaussian(0.05)),
]


@pytest.mark.parametrize("model", MACHINES, ids=repr)
def test_a_weight_is_a_repetition(model, rng):
    w = rng.integers(0, 4, len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), w))
    weighted = model.fit(X, y, sample_weight=w)
    values, proba = weighted.decision_function(X_NEW), weighted.predict_proba(X_NEW)
    repeated = model.fit(X[rows], y[rows])
    tolerance = 2e-2 if isinstance(model, kl.ExpansionSVC) else 2e-3
    np.testing.assert_allclose(values, repeated.decision_function(X_NEW), atol=tolerance)
    np.testing.assert_allclose(proba, repeated.predict_proba(X_NEW), atol=tolerance)
    plain = model.fit(X, y).decision_function(X_NEW)
    assert np.abs(values - plain).max() > 3 * tolerance


def test_rows_that_carry_a_weighted_machine():
    w = np.arange(len(y)) % 3
    model = kl.SubspaceSVC(Gaussian(0.05)).fit(X, y, sample_weight=w)
    assert set(model.support_) <= set(np.flatnonzero(w))
    assert np.all(np.abs(model.dual_coef_) <= w[model.support_] * model.C * (1 + 1e-9))
    K = Gaussian(0.05)(X)
    matrix = kl.SubspaceSVC("precomputed").fit(K, y, sample_weight=w)
    np.testing.assert_allclose(
        matrix.decision_function(Gaussian(0.05)(X_NEW, X)),
        model.decision_function(X_NEW),
        atol=1e-3,
    )


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_class_weights_of_several_kernels_are_factors_on_C(loss):
    """With one kernel it is scikit-learn's machine."""
    price = {False: 3.0, True: 0.2}
    model = kl.MultiKernelSVC(Gaussian(0.05), class_weight=price, loss=loss).fit(X, y == 0)
    plain = kl.MultiKernelSVC(Gaussian(0.05), loss=loss).fit(X, y == 0)
    assert np.abs(model.decision_function(X_NEW) - plain.decision_function(X_NEW)).max() > 0.05
    if loss == "hinge":
        svc = SVC(gamma=0.05, class_weight=price, tol=1e-8).fit(X, y == 0)
        np.testing.assert_allclose(
            model.decision_function(X_NEW), svc.decision_function(X_NEW), atol=1e-4
        )
    else:
        weights = np.where(y == 0, 0.2, 3.0)
        weighted = kl.MultiKernelSVC(Gaussian(0.05), loss=loss).fit(X, y == 0, weights)
        np.testing.assert_allclose(
            model.decision_function(X_NEW), weighted.decision_function(X_NEW), atol=1e-3
        )


def test_class_weights_of_the_discriminant_are_weights_of_rows():
    price = {0: 2.0, 1: 1.0, 2: 3.0}
    weights = np.array([2, 1, 3])[y]
    model = kl.KernelDiscriminant(class_weight=price, kernel=Gaussian(0.05)).fit(X, y)
    expected = kl.KernelDiscriminant(Gaussian(0.05)).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.predict_proba(X_NEW), expected.predict_proba(X_NEW), atol=1e-8)
    np.testing.assert_allclose(model.priors_, expected.priors_)
    balanced = kl.KernelDiscriminant(class_weight="balanced").fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(balanced.priors_, 1 / 3)
    priors = [0.2, 0.3, 0.5]
    both = kl.KernelDiscriminant(class_weight="balanced", priors=priors).fit(X, y)
    np.testing.assert_allclose(both.priors_, priors)


@pytest.mark.parametrize(
    "model",
    [
        kl.KernelPLS(n_components=4),
        kl.KernelPLS(n_components=4, landmarks=40, random_state=0),
        kl.ExpansionSVC(n_points=8, C=10.0, random_state=0),
        kl.MultiKernelSVC(BANK, C=10.0),
        kl.MultiKernelSVC(BANK, loss="squared_hinge", C="learn"),
    ],
    ids=repr,
)
def test_probabilities(model):
    model.fit(X, y)
    proba = model.predict_proba(X_NEW)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X_NEW))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X_NEW)), proba, atol=1e-12)
    assert log_loss(Y_NEW, proba) < 0.35  # by the frequencies 1.09
    moons, labels = make_moons(600, noise=0.4, random_state=0)  # nobody can be sure here
    model.fit(moons[:300], labels[:300])
    held_out = log_loss(labels[300:], model.predict_proba(moons[300:]))
    sharp = 10 * model.decision_function(moons[300:])
    too_sure = log_loss(labels[300:], 1 / (1 + np.exp(-model.sharpness_ * sharp)))
    assert held_out < 0.42 and held_out < too_sure


def test_probabilities_of_a_stream():
    model = kl.KernelPLS(landmarks=30)
    for part in np.array_split(np.arange(len(y)), 4):
        model.partial_fit(X[part], y[part], classes=[0, 1, 2])
    assert log_loss(Y_NEW, model.predict_proba(X_NEW)) < 0.5


@pytest.mark.parametrize(
    "model",
    [
        kl.HSICSubspace(),
        kl.KernelClassifier(quality="fast"),
        kl.KernelDiscriminant(),
        kl.SubspaceSVC(),
    ],
    ids=repr,
)
def test_normalised_weights_are_warned_of(model):
    """Weights are counts: rescaling would change what a weight of 2 means."""
    with pytest.warns(UserWarning, match=r"w \* n / w.sum\(\)"):
        model.fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    mixed = np.where(np.arange(len(y)) % 2, 0.5, 1.5)
    mixed[0] = 2.0
    model.fit(X, y, sample_weight=mixed)  # as many as there are rows
    model.fit(X, y, sample_weight=np.arange(len(y)) % 2)  # rows of weight zero do not count


EVERY = [
    kl.AlignmentSubspace(n_components=1, random_state=0),
    kl.ExpansionSVC(Gaussian(0.05), n_points=5, random_state=0, max_iter=3),
    kl.FeatureScales(n_features=3),
    kl.HSICSubspace(),
    kl.HSICSubspace(BANK, uncorrelated=True),
    kl.KernelClassifier(quality="fast", random_state=0),
    kl.KernelDiscriminant(),
    kl.KernelDiscriminant(BANK),
    kl.KernelDiscriminant(landmarks=20, random_state=0),
    kl.KernelDiscriminantQR(),
    kl.KernelOrthogonalCentroid(),
    kl.KernelPLS(),
    kl.KernelPLSRegressor(),
    kl.MultiKernelSVC(Gaussian(0.05)),
    kl.MultiKernelSVC(Gaussian(0.05), loss="squared_hinge", landmarks=20, random_state=0),
    kl.SubspaceSVC(Gaussian(0.05)),
    kl.SubspaceSVC(Gaussian(0.05), landmarks=20, random_state=0),
]


def answers(model):
    """What a model says of new rows, in numbers."""
    for name in ("predict_proba", "predict", "transform"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(X_NEW), dtype=float)
    raise AssertionError(f"{model!r} says nothing.")


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_weights_at_the_ends_of_floating_point(model, rng):
    """One row in all, or 1e8 for each, is where models stop changing."""
    w = rng.integers(1, 4, len(y)).astype(float)
    ends = {1e-300: w / w.sum(), 1e-150: w / w.sum(), 1e150: 1e8 * w * len(w) / w.sum()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 3 steps; machines with C = 1e8
        warnings.filterwarnings("ignore", message="sample_weight counts")
        for c, safe in ends.items():
            expected = answers(clone(model).fit(X, y, sample_weight=safe))
            found = answers(clone(model).fit(X, y, sample_weight=w * c))
            scale = np.abs(expected).max()
            np.testing.assert_allclose(found, expected, atol=1e-3 * scale)
            assert np.ptp(found, axis=0).max() > 1e-3 * scale  # not the same for all rows


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_a_row_that_counts_for_nothing_beside_others(model):
    w = np.ones(len(y))
    w[3] = 1e-300
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="sample_weight counts")
        model = clone(model).fit(X, y, sample_weight=w)
    if hasattr(model, "predict_proba"):
        assert model.score(X_NEW, Y_NEW) > 0.9
    assert np.isfinite(answers(model)).all()


def test_weights_of_a_stream():
    """Its sum is known at its end, so weights must be of the size of counts."""
    model = kl.KernelDiscriminant(landmarks=20)
    blocks = [(X[part], y[part]) for part in np.array_split(np.arange(len(y)), 3)]
    with pytest.raises(ValueError, match=r"Block 0, row 0.*the weight is 1e-300.*w \* n / w.sum"):
        model.fit(lambda: iter([(A, b, np.full(len(b), 1e-300)) for A, b in blocks]))
    with pytest.warns(UserWarning, match=r"w \* n / w.sum\(\)"):
        model.fit(lambda: iter([(A, b, np.full(len(b), 0.1)) for A, b in blocks]))


@pytest.mark.parametrize(
    ("weight", "match"),
    [
        (np.r_[-1.0, np.ones(len(y) - 1)], "negative weights, -1 the smallest"),
        (np.zeros(len(y)), "zero for every row"),
        (np.ones(len(y) - 1), "one weight per row"),
    ],
    ids=["negative", "zeros", "too few"],
)
@pytest.mark.parametrize(
    "model", [*MACHINES[::3], kl.HSICSubspace(), kl.KernelClassifier()], ids=repr
)
def test_weights_that_are_no_counts_are_refused(model, weight, match):
    model = clone(model)
    with pytest.raises(ValueError, match=match):
        model.fit(X, y, sample_weight=weight)
    assert not hasattr(model, "classes_")
