"""partial_forget: what comes and goes leaves the model of the rows that stay."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_learn as kl
from kernel_learn.fitting.partial import LASTING
from kernel_learn.kernels import Gaussian
from kernel_learn.representations import load_state, save_state

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = np.digitize(X[:, 0] + 0.3 * RNG.standard_normal(120), [-0.5, 0.6])
WEIGHT = RNG.uniform(0.5, 2.0, 120)
LANDMARKS = RNG.standard_normal((9, 3))


def made(kind=kl.KernelDiscriminant, **more):
    return kind(Gaussian(0.4), landmarks=LANDMARKS, **more)


def check_states(a, b):
    """Equal but for the rounding of sums."""
    assert a.n_rows == b.n_rows and a.digest == b.digest
    np.testing.assert_array_equal(a.classes, b.classes)
    np.testing.assert_allclose(a.moments.n, b.moments.n, rtol=1e-12)
    np.testing.assert_allclose(a.moments.mean, b.moments.mean, atol=1e-11)
    np.testing.assert_allclose(a.moments.scatter, b.moments.scatter, atol=1e-9)
    np.testing.assert_allclose(a.summary.counts, b.summary.counts, rtol=1e-10)
    np.testing.assert_array_equal(a.summary.keys, b.summary.keys)
    np.testing.assert_array_equal(a.summary.rows, b.summary.rows)
    np.testing.assert_allclose(a.summary.weight, b.summary.weight, rtol=1e-10)
    np.testing.assert_allclose(a.summary.labels.toarray(), b.summary.labels.toarray(), atol=1e-10)
    np.testing.assert_allclose(a.summary.columns.squares, b.summary.columns.squares, rtol=1e-9)
    assert a.summary.n_known == b.summary.n_known


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_in_any_order(data):
    parts = [np.arange(i, 120, 6) for i in range(6)]
    order = data.draw(st.permutations(range(6)))
    gone = data.draw(st.sets(st.integers(0, 5), max_size=4))
    model, pending = made(), []
    for i in order:
        model.partial_fit(X[parts[i]], Y[parts[i]], sample_weight=WEIGHT[parts[i]])
        if i in gone:
            pending.append(i)
        if len(pending) > 1 and data.draw(st.booleans()):
            some = parts[pending.pop(0)]
            model.partial_forget(X[some], Y[some], sample_weight=WEIGHT[some])
    for i in pending:
        model.partial_forget(X[parts[i]], Y[parts[i]], sample_weight=WEIGHT[parts[i]])
    stay = np.concatenate([parts[i] for i in range(6) if i not in gone])
    alone = made().partial_fit(X[stay], Y[stay], sample_weight=WEIGHT[stay])
    check_states(model.state_, alone.state_)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize(
    "kind", [kl.KernelDiscriminant, kl.HSICSubspace, kl.AlignmentSubspace, kl.KernelPLS]
)
def test_every_model_of_moments(kind):
    model = made(kind).partial_fit(X, Y).partial_forget(X[:30], Y[:30])
    alone = made(kind).partial_fit(X[30:], Y[30:])
    np.testing.assert_allclose(
        np.abs(model.transform(X[:40])), np.abs(alone.transform(X[:40])), atol=1e-9
    )


def test_of_values():
    values = X[:, 1:2] + 0.1 * RNG.standard_normal((120, 1))
    model = made(kl.HSICSubspace).partial_fit(X, values[:, 0]).partial_forget(X[:9], values[:9, 0])
    alone = made(kl.HSICSubspace).partial_fit(X[9:], values[9:, 0])
    np.testing.assert_allclose(
        np.abs(model.transform(X[:40])), np.abs(alone.transform(X[:40])), atol=1e-9
    )


def test_a_class_that_is_gone_is_no_class():
    first, rest = Y == 1, Y != 1
    model = made().partial_fit(X, Y).partial_forget(X[first], Y[first])
    check_states(model.state_, made().partial_fit(X[rest], Y[rest]).state_)
    assert model.classes_.tolist() == [0, 2]


def test_a_pool_that_was_cut_is_marked(monkeypatch):
    monkeypatch.setattr("kernel_learn.representations.summary.CAPACITY", 40)
    model = made().partial_fit(X, Y)
    assert model.state_.summary.n_known is None
    model.partial_forget(X[:60], Y[:60])
    summary = model.state_.summary
    assert summary.n_known is None and summary.capacity == len(summary.keys) < 40
    whole = made().partial_fit(X[60:], Y[60:]).state_.summary
    np.testing.assert_array_equal(summary.keys, whole.keys[: len(summary.keys)])
    np.testing.assert_allclose(summary.weight, whole.weight[: len(summary.keys)])


def test_refused_and_unchanged():
    model = kl.KernelDiscriminant(Gaussian(0.4), landmarks=20).partial_fit(X[:50], Y[:50])
    model.partial_fit(X[50:], Y[50:])
    before = model.state_
    cases = [
        (X[:50], Y[:50], "is a landmark"),
        (X[60:61] + 1.0, Y[60:61], "never in it"),
        (X[60:61], (Y[60:61] + 1) % 3, "never in it"),
        (X[60:61], [7], "not seen the label"),
        (np.vstack([X, X]), np.concatenate([Y, Y]), "nothing would be left"),
    ]
    for rows, labels, said in cases:
        with pytest.raises(ValueError, match=said):
            model.partial_forget(rows, labels)
        assert model.state_ is before
    with pytest.raises(ValueError, match="no rows of partial_fit"):
        made().fit(X, Y).partial_forget(X[:2], Y[:2])


@pytest.mark.parametrize("decays", [(9.0, None), (None, 9.0), (1e12, 1e12)])
@pytest.mark.parametrize("capacity", [40, 400])
def test_rows_that_fade_are_not_taken_out(decays, capacity, monkeypatch, tmp_path):
    monkeypatch.setattr("kernel_learn.representations.summary.CAPACITY", capacity)
    model = made()
    for some, decay in zip((slice(0, 60), slice(60, 120)), decays, strict=True):
        model.partial_fit(X[some], Y[some], decay=decay)
    model.partial_fit(X[:0:-8], Y[:0:-8])  # and rows that have not faded yet
    save_state(model.state_ + made().partial_fit(X, Y).state_, tmp_path / "state.npz")
    before = model.state_ = load_state(tmp_path / "state.npz")
    for row in (0, 119):
        with pytest.raises(ValueError, match="have faded"):
            model.partial_forget(X[[row]], Y[[row]])
        assert model.state_ is before


@pytest.mark.parametrize("kind", [kl.KernelDiscriminant, kl.KernelPLS])
def test_what_is_told_first_is_told_of_all_rows_that_came(kind):
    model = made(kind)
    for some in (slice(0, 60), slice(60, 120)):
        model.partial_fit(X[some], Y[some])
        solved = made(kind).partial_fit(X[: some.stop], Y[: some.stop])
        solved.predict_proba(X[:1])
        np.testing.assert_allclose(model.novelty(X), solved.novelty(X), rtol=1e-9)
        model.partial_fit(X[:1], Y[:1]).partial_forget(X[:1], Y[:1])
        np.testing.assert_array_equal(model.predict_set(X, 0.8), solved.predict_set(X, 0.8))


@pytest.mark.parametrize(
    "kind",
    [
        kl.KernelDiscriminant,
        kl.KernelPLS,
        kl.HSICSubspace,
        kl.AlignmentSubspace,
        kl.KernelOrthogonalCentroid,
    ],
)
def test_nothing_solved_is_kept(kind):
    """Not even before the next solution: it may hold rows."""
    model = made(kind).partial_fit(X, Y)
    model.transform(X[:1])
    model.partial_forget(X[:5], Y[:5])
    more = {"_single", "_is_set", "_skl_callbacks"}
    assert set(vars(model)) <= {*model.get_params(deep=False), *LASTING, *more}
    written = pickle.dumps(model)
    assert not any(row.tobytes() in written for row in X[:5])
    assert all(row.tobytes() in written for row in X[5:])
