"""Fits in leaves: what is said of rows left out, which rows scales see, and who goes on."""

import threading

import numpy as np
import pytest
from sklearn.datasets import make_moons
from tests.oracles.refits import predict_without

from kernel_learn import KernelClassifier
from kernel_learn.criteria.held_out.column_scales import ColumnScales
from kernel_learn.criteria.held_out.number_targets import merge_values
from kernel_learn.criteria.held_out.ridge import ridge_at_lam
from kernel_learn.criteria.held_out.stacking import fit_stacking, softmax
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble import leaves
from kernel_learn.ensemble.candidates import Candidate, CrossValidated
from kernel_learn.ensemble.ingest import prepare
from kernel_learn.ensemble.problem import fit_views, sample_of
from kernel_learn.ensemble.sample import Sample
from kernel_learn.kernels import Gaussian


def one_kernel(learned=False):
    candidate = Candidate("z", "rbf", 1.0, learned=learned).on_rows(Gaussian(0.5))
    return CrossValidated(candidate, 0.1, 0.0, np.empty((0, 2)), lam=0.5)


def test_probabilities_of_rows_that_stacking_sees_are_those_without_them(rng):
    X = rng.normal(size=(60, 2))
    targets = Targets(np.eye(2)[(X[:, 0] + rng.normal(size=60) > 0).astype(int)])
    sample = Sample({"z": X}, targets, {}, {}, np.arange(60) % 5)
    everything, unseen = np.arange(60), np.arange(40)
    (found,) = leaves.fit_leaves(sample, [one_kernel()], [everything], everything, unseen)
    scores, _ = ridge_at_lam(Gaussian(0.5)(X), targets, 0.5)
    stacking = fit_stacking(scores[:40], targets.take(unseen), sample.folds[:40])
    np.testing.assert_allclose(found.held[:40], stacking.proba())
    np.testing.assert_allclose(found.held[40:], softmax(stacking.map(scores[40:])))
    (again,) = leaves.fit_leaves(sample, [found], [everything], everything, unseen)
    np.testing.assert_allclose(again.held, 2 * found.held)  # one more tree
    assert len(again.models) == len(again.maps) == 2


def test_leaves_side_by_side_are_the_same(rng, monkeypatch):
    X = rng.normal(size=(90, 2))
    targets = Targets(np.eye(2)[(X[:, 0] + rng.normal(size=90) > 0).astype(int)])
    sample = Sample({"z": X}, targets, {}, {}, np.arange(90) % 5)
    parts, everything = np.array_split(rng.permutation(90), 3), np.arange(90)
    threads, fit = set(), leaves.fit_one_leaf

    def fit_one_leaf(*arguments):
        threads.add(threading.get_ident())
        return fit(*arguments)

    monkeypatch.setattr(leaves, "fit_one_leaf", fit_one_leaf)
    one, two = (
        leaves.fit_leaves(sample, [one_kernel()], parts, everything, everything, n_jobs=n)[0]
        for n in (None, 2)
    )
    assert threads - {threading.get_ident()}
    np.testing.assert_array_equal(one.held, two.held)
    for a, b in zip(one.models[0], two.models[0], strict=True):
        np.testing.assert_array_equal(a.coef, b.coef)


def test_numbers_in_leaves_are_left_out_exactly(rng):
    """Scores of classes are moved to the shares of all rows, numbers are not."""
    X = rng.normal(size=(12, 2))
    targets = merge_values(rng.normal(size=(12, 1)), np.ones(12), np.arange(12)).as_given()
    sample = Sample({"z": X}, targets, {}, {}, np.arange(12) % 5)
    ((_, held),) = leaves.fit_one_leaf(sample, [one_kernel()], np.arange(12), np.arange(12))
    K = Gaussian(0.5)(X)
    for i in range(12):
        expected = predict_without(K, K[[i]], targets.Y, np.ones(12), 0.5, np.array([i]))
        np.testing.assert_allclose(held[i], expected[0], atol=1e-9)


@pytest.mark.parametrize(("rows_per_scale", "step"), [(0, 1), (1e9, 2)])
def test_scales_of_many_columns_see_half_of_the_rows(rows_per_scale, step, monkeypatch):
    asked = []

    def leaf_scales(sample, views, some):
        asked.extend(some)
        return dict.fromkeys(views, ColumnScales(np.ones(2), np.ones(2)))

    monkeypatch.setattr(leaves, "leaf_scales", leaf_scales)
    monkeypatch.setattr(leaves, "ROWS_PER_SCALE", rows_per_scale)
    monkeypatch.setattr(leaves, "tune_on_leaves", lambda *given, least: [])
    problem = prepare(KernelClassifier(), *make_moons(300, random_state=0), None, None, 0).problem
    sample = sample_of(problem, fit_views(problem))
    monkeypatch.setattr(leaves, "most_rows", lambda problem: 40)
    _, _, seen = leaves.choose_kernels(problem, sample, [one_kernel(learned=True)], {}, 2)
    whole, _ = leaves.divide_leaves(leaves.divide_sample(sample, ("z", None), 40)[1], False)
    assert [rows.tolist() for rows in asked] == [rows[::step].tolist() for rows in whole]
    assert seen.tolist() == ([] if step == 1 else np.concatenate(asked).tolist())


@pytest.mark.filterwarnings("ignore:.*gives another model")
@pytest.mark.parametrize(("weight", "n_members"), [(0.021, 2), (0.019, 1)])
def test_members_of_a_fiftieth_go_on(weight, n_members, monkeypatch):
    def weigh_trees(chosen, held_out, unseen):
        return np.array([0.9, weight, *np.full(len(chosen), 0.001)])[: len(chosen)]

    monkeypatch.setattr(leaves, "weigh_trees", weigh_trees)
    X, y = make_moons(400, noise=0.25, random_state=0)
    model = KernelClassifier(quality="fast", memory_budget=1_500_000).fit(X, y)
    assert model._fitted.ensemble.forest is not None and len(model.members_) == n_members
