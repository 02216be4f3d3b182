"""The permutation test: against refits, and uniform where there is no signal."""

import numpy as np
import pytest

from kernel_learn import KernelClassifier, KernelRegressor
from kernel_learn.criteria.held_out import permutation
from kernel_learn.criteria.held_out.permutation import permutation_p_value
from kernel_learn.criteria.held_out.ridge import RidgePath
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.kernels import Gaussian

REGS = 10.0 ** np.arange(-3, 2.0)


def error_of(K, counts):
    """The smallest held-out squared error along the path, refitted for these labels."""
    targets = Targets(counts)
    scores, least = RidgePath(K.copy(), targets).held_out(REGS)
    errors = np.sum(targets.weight[:, None] * (scores - targets.Y) ** 2, axis=(1, 2))
    return errors[least > 1e-5].min()


@pytest.mark.parametrize("signal", [0.0, 2.0])
def test_counts_refits(signal, rng):
    y = np.arange(24) % 3
    X = rng.standard_normal((24, 2)) + signal * np.eye(3)[y, :2]
    K, copies = Gaussian(0.3)(X), rng.integers(1, 3, size=24)
    given = np.repeat(np.arange(24), copies)  # the rows as they were given

    def merged(labels):
        counts = np.zeros((24, 3))
        np.add.at(counts, (given, labels), 1.0)
        return counts

    labels = y[given]
    found = permutation_p_value(
        RidgePath(K.copy(), Targets(merged(labels))), REGS, 30, np.random.default_rng(5)
    )
    again, own = np.random.default_rng(5), error_of(K, merged(labels))
    as_good = sum(
        error_of(K, merged(labels[again.permutation(len(labels))])) <= own for _ in range(30)
    )
    assert found == pytest.approx((1 + as_good) / 31)
    assert (found < 0.05) == (signal > 0)


def test_uniform_without_signal(rng):
    p = []
    for seed in range(60):
        X = np.random.default_rng(seed).standard_normal((20, 2))
        path = RidgePath(Gaussian(0.3)(X), Targets(np.eye(2)[np.arange(20) % 2]))
        p.append(permutation_p_value(path, REGS, 39, rng))
    assert 0.35 < np.mean(p) < 0.65 and np.mean(np.array(p) <= 0.1) < 0.25


@pytest.mark.parametrize("levels", [4, 30])
def test_uniform_where_rows_repeat_unequally_often(levels):
    """Mean labels of merged rows were shuffled, which are nearer to one half in heavy rows."""
    p = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        row = np.minimum(rng.geometric(2 / levels, 80) - 1, levels - 1)
        counts = np.zeros((levels, 2))
        np.add.at(counts, (row, rng.integers(0, 2, 80)), 1.0)
        counts = counts[counts.any(axis=1)]
        X = np.random.default_rng(1).standard_normal((len(counts), 3))
        p.append(permutation_p_value(RidgePath(Gaussian(0.3)(X), Targets(counts)), REGS, 39, rng))
    assert 0.35 < np.mean(p) < 0.65 and np.mean(np.array(p) <= 0.05) <= 0.15


@pytest.mark.parametrize("signal", [0.0, 2.0])
def test_a_row_with_a_weight_is_one_row(signal, rng):
    """Refits with the label of each row as given at another, where the weights stay."""
    y, weight = np.arange(24) % 2, rng.integers(1, 5, 24).astype(float)
    X = rng.standard_normal((24, 2)) + signal * np.eye(2)[y]
    K = Gaussian(0.3)(X)

    def weighed(labels):
        return weight[:, None] * np.eye(2)[labels]

    targets = Targets(weighed(y), given=np.ones(24))
    found = permutation_p_value(RidgePath(K.copy(), targets), REGS, 30, np.random.default_rng(5))
    again, own = np.random.default_rng(5), error_of(K, weighed(y))
    as_good = sum(error_of(K, weighed(y[again.permutation(24)])) <= own for _ in range(30))
    assert found == pytest.approx((1 + as_good) / 31)
    assert (found < 0.05) == (signal > 0)
    some = targets.take(np.array([3, 1])).as_given()
    np.testing.assert_array_equal(some.given, [1.0, 1.0])


@pytest.mark.parametrize("kind", ["classes", "labels", "numbers"])
def test_twice_the_weight_is_no_other_evidence(kind, rng):
    """Each row counted as two with labels of their own hid the clearest signal: p = .7."""
    X = rng.standard_normal((60, 3))
    z = X[:, 0] + 0.5 * rng.standard_normal(60)
    y = {"classes": z > 0, "labels": np.c_[z > 0, X[:, 1] > 0].astype(int), "numbers": z}[kind]
    model = KernelRegressor() if kind == "numbers" else KernelClassifier(assess=False)
    model.set_params(quality="fast", max_members=1)
    found = [model.fit(X, y, sample_weight=w * np.ones(60)).permutation_p_value(39) for w in (1, 2)]
    assert found == [1 / 40, 1 / 40]
    assert model.relevant_features_[0]


def test_groups_of_equal_rows_are_one_row_each(rng):
    """Counted as rows with labels of their own: p = 1."""
    X, group = rng.standard_normal((30, 3)), np.repeat(np.arange(30), 4)
    y = X[:, 0] + 0.3 * rng.standard_normal(30) > 0
    model = KernelClassifier(quality="fast", max_members=1, assess=False)
    assert model.fit(X[group], y[group], groups=group).permutation_p_value(39) == 1 / 40


def test_where_rows_given_are_not_known_a_weight_is_a_repetition(rng):
    """Of many rows those that are counted are in proportion."""
    counts = np.array([[3.0, 1.0], [0.0, 2.0], [5.0, 0.0], [1.0, 1.0]])
    Y = permutation._shuffle_rows(Targets(counts))(rng)
    found = Y * counts.sum(axis=1)[:, None]
    np.testing.assert_allclose(found, np.round(found), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=0), counts.sum(axis=0))
    np.testing.assert_allclose(Y.sum(axis=1), 1.0)
    many = permutation._shuffle_rows(Targets(counts * 1e6))(rng)
    np.testing.assert_allclose(many, np.tile([0.69, 0.31], (4, 1)), atol=0.02)


@pytest.mark.parametrize("signal", [0.0, 2.0])
def test_labels_of_groups_are_shuffled_among_them(signal, rng):
    """Refits with whole groups left out, each group with the label of another."""
    group = np.r_[np.arange(10), np.arange(10), np.arange(4), np.arange(10, 16)]  # 1 to 3 rows
    y = group % 2
    X = rng.standard_normal((16, 2))[group] + signal * np.eye(2)[y] + 0.1 * rng.normal(size=(30, 2))
    K, Y = Gaussian(0.3)(X), np.eye(2)[y]
    parts = tuple(np.flatnonzero(group == g) for g in range(10))

    def error(labels):
        targets = Targets(labels, parts)
        scores, least = RidgePath(K.copy(), targets).held_out(REGS)
        return np.sum((scores - targets.Y) ** 2, axis=(1, 2))[least > 1e-5].min()

    path = RidgePath(K.copy(), Targets(Y, parts))
    found = permutation_p_value(path, REGS, 30, np.random.default_rng(5))
    again, own = np.random.default_rng(5), error(Y)
    first = np.sort([np.flatnonzero(group == g)[0] for g in range(16)])
    place = np.searchsorted(first, [np.flatnonzero(group == g)[0] for g in group])
    as_good = sum(error(Y[first[again.permutation(16)][place]]) <= own for _ in range(30))
    assert found == pytest.approx((1 + as_good) / 31)
    assert signal == 0 or found < 0.1


def test_labels_that_differ_within_a_group_are_refused(rng):
    targets = Targets(np.eye(2)[np.arange(12) % 2], (np.array([0, 1]),))
    path = RidgePath(Gaussian(0.3)(rng.standard_normal((12, 2))), targets)
    with pytest.raises(ValueError, match="Rows of one group have different labels"):
        permutation_p_value(path, REGS, 10, rng)


def test_class_weights_go_with_labels_and_are_no_part_of_it():
    counts, factors = np.array([[3.0, 1.0], [0.0, 2.0], [5.0, 0.0]]), np.array([0.5, 4.0])
    weighted = Targets(counts * factors, (), factors)
    np.testing.assert_allclose(weighted.as_given().counts, counts)
    some = weighted.take(np.array([2, 0]))
    np.testing.assert_allclose(some.as_given().counts, counts[[2, 0]])
