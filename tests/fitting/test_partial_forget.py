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
from kernel_learn.rows.keys import row_keys

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


VALUES = X[:, 1] + 0.1 * RNG.standard_normal(120)
SETS = (X > 0).astype(int)
GIVEN = {"classes": Y, "numbers": VALUES, "labels": SETS}
OTHER = {"classes": (Y + 1) % 3, "numbers": VALUES + 1e-6, "labels": 1 - SETS}


def made_of(kind):
    if kind == "classes":
        return made()
    return made(kl.HSICSubspace, target_type=kind)


def check_refused(model, rows, labels, weight=None):
    """In one sentence, and nothing of the model is touched."""
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="were never in it with this label and weight"):
        model.partial_forget(rows, labels, sample_weight=weight)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("kind", GIVEN)
def test_rows_with_another_target_are_refused(kind):
    model = made_of(kind).partial_fit(X, GIVEN[kind])
    check_refused(model, X[60:61], OTHER[kind][60:61])
    check_refused(model, X[58:62], np.concatenate([GIVEN[kind][58:61], OTHER[kind][61:62]]))
    model.partial_forget(X[60:61], GIVEN[kind][60:61])
    check_refused(model, X[60:61], GIVEN[kind][60:61])
    alone = made_of(kind).partial_fit(np.delete(X, 60, 0), np.delete(GIVEN[kind], 60, 0))
    np.testing.assert_array_equal(model.state_.summary.seen, alone.state_.summary.seen)


@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize(
    "given, forgotten", [(None, 0.5), (2.0, None), (1.0, 2.0), (1.0, 1 - 1e-12)]
)
def test_rows_with_another_weight_are_refused(kind, given, forgotten):
    given = None if given is None else np.full(120, given)
    model = made_of(kind).partial_fit(X, GIVEN[kind], sample_weight=given)
    forgotten = None if forgotten is None else np.full(10, forgotten)
    check_refused(model, X[50:60], GIVEN[kind][50:60], forgotten)
    model.partial_forget(X[50:60], GIVEN[kind][50:60], None if given is None else given[:10])
    assert model.state_.n_rows == 110 and len(model.state_.summary.weight) == 110


@pytest.mark.parametrize("kind", GIVEN)
def test_equal_rows_are_told_apart_with_the_last_of_them(kind):
    y = GIVEN[kind]
    model = made_of(kind).partial_fit(X, y)
    model.partial_fit(X[[0, 0]], y[[0, 0]], sample_weight=[2.0, 0.25])
    check_refused(model, X[:1], y[:1], [3.25])  # nothing of three rows by one
    check_refused(model, X[[0, 0, 0, 0]], y[[0, 0, 0, 0]], [1.0, 1.0, 1.0, 0.25])
    check_refused(model, X[[0, 0, 0]], y[[0, 0, 0]], [1.0, 2.0, 0.5])
    model.partial_forget(X[[0, 0]], y[[0, 0]], sample_weight=[0.25, 1.0])
    check_refused(model, X[:1], y[:1])
    model.partial_forget(X[:1], y[:1], sample_weight=[2.0])
    assert model.state_.n_rows == 119 == len(model.state_.summary.weight)


def test_more_of_a_label_than_there_was():
    twice = np.repeat(X, 2, axis=0)
    model = made_of("labels").partial_fit(twice, np.repeat(SETS, 2, axis=0))
    check_refused(model, X[:1], 1 - SETS[:1])  # of two equal rows one is left
    model = made_of("classes").partial_fit(twice, np.repeat(Y, 2))
    check_refused(model, X[:1], Y[:1] + 1 - 2 * (Y[:1] > 0))


@pytest.mark.parametrize("kind", GIVEN)
def test_a_state_of_before_rows_were_counted(kind, tmp_path):
    """It knows weights and values by their sums, and forgets as before."""
    model = made_of(kind).partial_fit(X, GIVEN[kind])
    del vars(model.state_.summary)["seen"]  # as it is in a pickle of then
    model = pickle.loads(pickle.dumps(model))
    model.partial_fit(X[:7], GIVEN[kind][:7]).partial_forget(X[:3], GIVEN[kind][:3])
    wrong = OTHER[kind] + (kind == "numbers")
    check_refused(model, X[60:61], wrong[60:61])
    check_refused(model, X[60:61], GIVEN[kind][60:61], [2.0])
    save_state(model.state_, tmp_path / "state.npz")
    model.state_ = load_state(tmp_path / "state.npz")
    model.partial_forget(X[60:61], GIVEN[kind][60:61])
    assert model.state_.n_rows == 123 and len(model.state_.summary.weight) == 119


def test_true_is_one():
    model = made().partial_fit(X, Y > 0)
    model.partial_forget(X[:9], (Y[:9] > 0).astype(int))
    model.partial_fit(X[:9], (Y[:9] > 0).astype(float)).partial_forget(X[:9], Y[:9] > 0)
    assert model.state_.n_rows == 111


def test_of_a_pool_that_was_cut(monkeypatch):
    monkeypatch.setattr("kernel_learn.representations.summary.CAPACITY", 40)
    model = made().partial_fit(X, Y)
    last, more = model.state_.summary.keys[-1], RNG.standard_normal((50, 3))
    model.partial_forget(more[row_keys(more) > last], np.zeros(np.sum(row_keys(more) > last), int))
    model = made().partial_fit(X, Y)
    check_refused(model, more[row_keys(more) < last][:1], [0])  # it would have been kept
    beyond = X[row_keys(X) > last]
    assert (Y == 2).sum() < len(beyond)
    check_refused(model, beyond, np.full(len(beyond), 2))  # more of a class than there was
    check_refused(model, beyond[:1], Y[:1], [121.0])
    inside = row_keys(X) <= last
    with pytest.raises(ValueError, match="None of the 40 rows that the model keeps would be left"):
        model.partial_forget(X[inside], Y[inside])


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
