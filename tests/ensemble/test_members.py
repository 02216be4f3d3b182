"""Members and their average: who predicts, with what weight, in which leaf."""

from dataclasses import replace

import numpy as np
import pytest

from kernel_learn import KernelClassifier
from kernel_learn.criteria.held_out.ridge import Dual
from kernel_learn.criteria.held_out.stacking import LinearMap
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble import leaves, members
from kernel_learn.ensemble.candidates import Candidate, CrossValidated
from kernel_learn.ensemble.members import Ensemble, TrainingRows, average_members
from kernel_learn.ensemble.views import fit_view
from kernel_learn.kernels import Gaussian, Linear
from kernel_learn.rows.columns import learn_table

N = 30


@pytest.fixture
def table(rng):
    X = rng.normal(size=(N, 3)) * [1.0, 5.0, 0.2] + 2.0
    reader = learn_table(X, "auto")
    return reader, reader.read(X)


@pytest.fixture
def found(rng):
    """Members of three weights, one of them on scaled columns."""
    scales = np.array([2.0, 1.0, 0.5])
    candidates = [
        Candidate("z", "rbf", 1.0).on_rows(Gaussian(0.3)),
        Candidate("z", "rbf", 1.0, learned=True).on_rows(Gaussian(0.1), scales),
        Candidate("z", "rbf", 3.0).on_rows(Gaussian(0.01)),
    ]
    return [
        CrossValidated(
            candidate,
            0.1,
            0.5,
            rng.dirichlet(np.ones(2), N),
            ((Dual(rng.normal(size=(N, 2)), rng.normal(size=2)),),),
            (LinearMap(rng.normal(size=(2, 2)), rng.normal(size=2)),),
        )
        for candidate in candidates
    ]


def average(table, found, weights):
    reader, rows = table
    targets = Targets(np.eye(2)[np.arange(N) % 2])
    view = fit_view("z", rows, reader, np.ones(N))
    own = {"z": view.rows(rows)}
    return average_members(reader, found, np.array(weights), {"z": view}, own, targets, targets)


def softmax(L):
    E = np.exp(L - L.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


def test_members_below_a_thousandth_do_not_predict(table, found):
    ensemble = average(table, found, [0.998, 1.1e-3 * 0.998, 0.9e-3 * 0.998])
    heavy, light, negligible = ensemble.members
    assert ensemble.predicting == [heavy, light]
    assert heavy.share + light.share == pytest.approx(1, abs=1e-15)
    assert light.share / heavy.share == pytest.approx(1.1e-3)
    assert ensemble.weight_of(heavy) == heavy.share > heavy.weight
    assert negligible.share == 0 and not negligible.models and negligible.weight > 0
    assert list(ensemble.training.rows) == ["z", "z scaled"]
    assert len(ensemble.kernel_object().kernels) == 2


def test_probabilities_and_contributions_by_hand(table, found, monkeypatch):
    monkeypatch.setattr(members, "BLOCK_ENTRIES", 7 * N)  # more than one block
    ensemble = average(table, found, [0.5, 0.3, 0.2])
    rows = table[1]
    Z = ensemble.training.views["z"].rows(rows)
    P, logits = np.zeros((N, 2)), np.zeros((N, 2))
    for one, weight in zip(found, [0.5, 0.3, 0.2], strict=True):
        s = 1.0 if one.scales is None else one.scales
        L = one.maps[0](one.models[0][0].scores(one.kernel(Z * s)))
        P += weight * softmax(L)
        logits += weight * L
    pooled = ensemble.pooled(rows)
    np.testing.assert_allclose(pooled.mean_proba, P, atol=1e-12)
    centred = logits - logits.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(pooled.log_odds, centred, atol=1e-12)
    np.testing.assert_array_equal(ensemble.proba(rows), pooled.proba)
    earlier = replace(ensemble, shares=None)  # of a file from before log-odds were averaged
    np.testing.assert_allclose(earlier.proba(rows), P, atol=1e-12)
    contrast = np.tile([1.0, -1.0], (N, 1))
    added, rest = ensemble.contributions(rows, contrast)
    np.testing.assert_allclose(added.sum(axis=1) + rest, logits @ [1.0, -1.0], atol=1e-9)
    # of Gaussian kernels the mean diagonal is one
    assert [member.factor for member in ensemble.predicting] == pytest.approx([0.5, 0.3, 0.2])


def test_rows_are_scaled_once(table, found):
    """Kept scaled, or kept as they are and scaled when they are read: the same values."""
    ensemble = average(table, found, [0.5, 0.3, 0.2])
    scaled = ensemble.predicting[1]
    kept = ensemble.training
    plain = TrainingRows(kept.views, {"z": kept.rows["z"]}, kept.targets)
    for known in (None, np.array([3, 1, 4])):
        np.testing.assert_array_equal(
            kept.statistics(scaled, kept.rows["z"], known)["sqeuclidean"],
            plain.statistics(scaled, kept.rows["z"], known)["sqeuclidean"],
        )


def test_without_members_the_prior_is_predicted(table):
    ensemble = average(table, [], [])
    assert isinstance(ensemble, Ensemble) and not ensemble.predicting
    np.testing.assert_array_equal(ensemble.proba(table[1]), [[0.5, 0.5]] * N)
    targets = Targets(np.array([[5.0, 0.0], [2.0, 0.0]]))
    uneven = Ensemble(ensemble.reader, [], *[TrainingRows({}, {}, targets)] * 2)
    np.testing.assert_array_equal(uneven.proba(table[1]), [[7.5 / 8, 0.5 / 8]] * N)
    assert not uneven.features(table[1]).any()


@pytest.mark.filterwarnings("ignore:.*gives another model")
def test_members_of_little_weight_leave_the_trees(rng, monkeypatch):
    X = rng.uniform(-2, 2, size=(700, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    seen = []

    def weigh(chosen, held_out, unseen):
        seen.append(len(chosen))
        return np.array([0.5, 0.4, 0.0201, 0.0199, *[0.01] * 9])[: len(chosen)]

    monkeypatch.setattr(leaves, "weigh_trees", weigh)
    model = KernelClassifier(memory_budget="2MB").fit(X, y)
    assert seen[0] >= 4 and seen[1:] == [3] * (len(seen) - 1) and len(seen) == model.plan_.trees
    weights = [member.weight for member in model.members_]
    np.testing.assert_allclose(weights, np.array([0.5, 0.4, 0.0201]) / 0.9201)


def test_a_leaf_has_no_more_rows_than_pays(rng, monkeypatch):
    """Also where the plan was one exact fit, for which there was no time."""
    monkeypatch.setattr(leaves, "LEAF_ROWS", 150)
    monkeypatch.setattr("kernel_learn.ensemble.fit.within_time", lambda problem, kept: [])
    X = rng.uniform(-2, 2, size=(700, 2))
    model = KernelClassifier(quality="fast", time_budget=100.0).fit(
        X, (X[:, 0] * X[:, 1] > 0).astype(int)
    )
    assert (model.plan_.representation, model.plan_.leaf_rows) == ("leaves", 150)
    sizes = [len(rows) for rows in model._fitted.ensemble.forest.leaf_rows[0]]
    assert max(sizes) <= 150 and sum(sizes) == 700


def test_errors_count_weights_as_repetitions():
    """Class 0 is said of both rows: right of the first, which was seen three times."""
    candidate = Candidate("z", "rbf").on_rows(Gaussian(1.0))
    one = CrossValidated(candidate, 0.1, 0.5, np.array([[0.9, 0.1], [0.6, 0.4]]))
    targets = Targets(np.array([[3.0, 0.0], [0.0, 1.0]]))
    (member,) = members.make_members([one], np.ones(1), np.zeros(1), None, targets)
    assert member.error == pytest.approx(0.25)


def test_kernels_are_summed_at_a_mean_diagonal_of_one():
    """x^2 is 1 and 4, seen once and three times: 13 / 4 on average."""
    candidate = Candidate("z", "lin").on_rows(Linear())
    one = CrossValidated(candidate, 0.1, 0.5, np.full((2, 2), 0.5))
    targets = Targets(np.array([[1.0, 0.0], [0.0, 3.0]]))
    known = TrainingRows({}, {"z": np.array([[1.0], [2.0]])}, targets)
    (member,) = members.make_members([one], np.ones(1), np.full(1, 0.5), known, targets)
    assert member.factor == pytest.approx(0.5 / 3.25) and member.share == 0.5
