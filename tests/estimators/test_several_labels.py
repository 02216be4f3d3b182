"""KernelClassifier with several labels per row: against one fit for each label."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import hamming_loss, log_loss

from extras import optional
from kernel_learn import KernelClassifier, load, save
from kernel_learn.criteria.held_out.label_targets import LabelTargets
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import candidates
from kernel_learn.ensemble.cross_validation import Sample, average_held, cross_validate, weigh
from kernel_learn.ensemble.pooling import pool_held_out

pd = optional("pandas")

N, L = 120, 4


@pytest.fixture(scope="module")
def data():
    return make_multilabel_classification(
        N + 80, n_features=8, n_classes=L, n_labels=2, random_state=0
    )


@pytest.fixture(scope="module")
def model(data):
    return KernelClassifier(quality="fast").fit(data[0][:N], data[1][:N])


def test_every_label_is_as_in_a_fit_of_its_own_with_the_same_members(data):
    """One decomposition, and yet regularisers, stacking, weights and average of each label."""
    X, Y = data[0][:N] - 5.0, data[1][:N].astype(float)
    weight = np.random.default_rng(0).integers(1, 4, N).astype(float)
    groups = [np.array([0, 5, 9]), np.array([20, 21])]
    folds = np.arange(N) % 5
    folds[[0, 5, 9]], folds[[20, 21]] = 0, 1
    tried = candidates("z", "rbf1 rbf3 lap1 lin")

    def found(targets):
        every, _ = cross_validate(Sample({"z": X}, targets, {}, {}, folds), tried)
        return sorted(every, key=lambda one: str(one.candidate))

    both = LabelTargets(Y * weight[:, None], weight, groups)
    several = found(both)
    weights, average = weigh(several, both), average_held(several, weigh(several, both), both)
    for i in range(L):
        own = Targets(np.stack([1 - Y[:, i], Y[:, i]], axis=1) * weight[:, None], groups)
        single = found(own)
        for one, alone in zip(several, single, strict=True):
            np.testing.assert_allclose(one.held[:, i], alone.held[:, 1], atol=1e-9)
            K = one.kernel(X)
            scores = one.models[0][0].scores(K)[:, i]
            np.testing.assert_allclose(scores, alone.models[0][0].scores(K)[:, 1], atol=1e-9)
            logits = one.maps[0](one.models[0][0].scores(K))[:, i]
            expected = alone.maps[0](alone.models[0][0].scores(K))
            np.testing.assert_allclose(logits, expected, atol=1e-8)
        np.testing.assert_allclose(weights[:, i], weigh(single, own), atol=1e-9)
        pooled = pool_held_out(
            [one.log_odds for one in single],
            [one.held for one in single],
            weigh(single, own),
            own.prior,
        )
        np.testing.assert_allclose(average[:, i], pooled.proba[:, 1], atol=1e-9)


def test_shapes_and_figures(model, data):
    X, Y = data
    P = model.predict_proba(X[N:])
    assert P.shape == (80, L) and model.loo_proba_.shape == (N, L)
    np.testing.assert_array_equal(model.classes_, np.arange(L))
    unfaded = 1 / (1 + np.exp(-model.decision_function(X[N:])))
    np.testing.assert_array_equal(model.predict(X[N:]), unfaded > 0.5)
    near = model._fitted.probe.reference.less_known(model._reference_rows(X[N:])) == 1
    assert near.mean() > 0.9
    np.testing.assert_allclose(P[near], unfaded[near], atol=1e-3)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X[N:])), P)
    assert hamming_loss(Y[N:], model.predict(X[N:])) < 0.25
    assert model.score(X[N:], Y[N:]) == np.mean(np.all((P > 0.5) == Y[N:], axis=1))
    assert model.loo_error_ == pytest.approx(hamming_loss(Y[:N], model.loo_proba_ > 0.5))
    losses = [log_loss(Y[:N, i], model.loo_proba_[:, i]) for i in range(L)]
    assert model.loo_log_loss_ == pytest.approx(np.mean(losses))
    assert model.transform(X).shape == (N + 80, L)
    assert model.permutation_p_value(30) == pytest.approx(1 / 31)
    assert "4 labels, several per row" in model.summary_


def test_lists_of_labels_are_binarised(model, data):
    X, Y = data
    names = np.array(["ant", "bee", "cat", "dog"])
    lists = [names[own == 1].tolist() for own in Y]
    series = pd.Series(lists, index=np.arange(len(lists))[::-1])
    for given in (lists, [set(own) for own in lists], [tuple(own) for own in lists], series):
        other = KernelClassifier(quality="fast").fit(X[:N], given[:N])
        np.testing.assert_array_equal(other.classes_, names)
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    for given in (lists, series):
        assert other.score(X[N:], given[N:]) == model.score(X[N:], Y[N:])
    with pytest.warns(UserWarning, match="'elk' that were not seen"):
        assert other.score(X[N:], [[*own, "elk"] for own in lists[N:]])
    for form in (Y[:N].astype(bool), Y[:N].tolist(), sparse.csr_matrix(Y[:N])):
        again = KernelClassifier(quality="fast").fit(X[:N], form)
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_weights_are_repetitions_and_order_does_not_matter(data):
    X, Y = data[0][:N], data[1][:N]
    weight = np.random.default_rng(1).integers(0, 3, N)
    often = np.random.default_rng(2).permutation(np.repeat(np.arange(N), weight))
    a = KernelClassifier(quality="fast").fit(X, Y, sample_weight=weight)
    b = KernelClassifier(quality="fast").fit(X[often], Y[often])
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-6)


def test_explanations_add_up_to_log_odds(model, data):
    X = data[0][N : N + 6]
    said = model.explain(X, n_rows=N)
    total = said.contributions.sum(axis=1) + said.baseline
    np.testing.assert_allclose(total, said.log_odds)
    winners = model.predict_proba(X).argmax(axis=1)
    np.testing.assert_array_equal(said.labels, winners)
    ensemble, table = model._fitted.ensemble, model._table(X)
    L = np.zeros(len(X))
    for leaf, member, K in ensemble.kernel_blocks(table):
        logits = member.map_in(leaf)(member.model_in(leaf).scores(K))
        own = np.take_along_axis(logits, winners[:, None, None], axis=1)[:, 0]
        L += np.broadcast_to(ensemble.weight_of(member), 4)[winners] * (own[:, 1] - own[:, 0])
    np.testing.assert_allclose(said.log_odds, L, atol=1e-9)


def check_lead(model, X):
    """Of the label explained, and of all labels, from what training rows add to predict_proba."""
    said, P = model.explain(X, n_rows=10**6), model.predict_proba(X)
    rows, label = np.arange(len(X)), np.searchsorted(model.classes_, said.labels)
    assert said.fading.shape == said.prior.shape == (len(X),)
    assert (said.fading > 0).all() and (said.fading <= 1).all()
    total = said.contributions.sum(axis=1) + said.baseline
    np.testing.assert_allclose(total, said.log_odds, atol=1e-12)
    odds = np.log(P) - np.log1p(-P)
    lead = said.prior + said.fading * (total - said.prior)
    np.testing.assert_allclose(lead, odds[rows, label], rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(label, P.argmax(axis=1))
    table, ensemble = model._table(X), model._fitted.ensemble
    every = model._label_log_odds(table)
    np.testing.assert_allclose(every.faded, odds, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(said.fading, every.fading[rows, label])
    for own in range(every.log_odds.shape[1]):
        added, rest = ensemble.label_contributions(table, own)
        np.testing.assert_allclose(added.sum(axis=1) + rest, every.log_odds[:, own], atol=1e-9)
        share = ensemble.targets.of_label(own).prior
        np.testing.assert_allclose(every.prior[own], np.log(share[1] / share[0]))
    return said


def test_explanations_lead_to_what_is_predicted(model, data):
    X = data[0][N:]
    near = check_lead(model, X)
    assert (near.fading < 0.99).any() and np.abs(near.log_odds).max() > 3
    assert "after fading" in repr(near)
    far = check_lead(model, 50.0 * X[:9])
    assert far.fading.max() < 0.1


def test_explanations_with_weights_and_without_members(data):
    X, Y = data[0][:N], data[1][:N]
    check_lead(KernelClassifier(quality="fast", assess="loo").fit(X, Y, np.arange(N) % 3 + 0.5), X)
    flat = KernelClassifier(quality="fast", assess="loo").fit(X, Y)
    flat._fitted = replace(flat._fitted, ensemble=replace(flat._fitted.ensemble, members=[]))
    said = check_lead(flat, X[:3])
    np.testing.assert_allclose(said.log_odds, said.prior)
    assert not said.contributions.any()


def test_a_label_that_is_nowhere_or_everywhere(data):
    X, Y = data[0][:N], np.c_[data[1][:N, :2], np.zeros(N), np.ones(N)]
    P = KernelClassifier(quality="fast").fit(X, Y).predict_proba(X)
    assert P[:, 2].max() < 0.1 and P[:, 3].min() > 0.9


@pytest.mark.filterwarnings("ignore:.*gives another model")
@pytest.mark.slow
def test_leaves_and_files(data, tmp_path):
    pytest.importorskip("skops")
    X, Y = make_multilabel_classification(900, n_features=5, n_classes=3, random_state=1)
    model = KernelClassifier(quality="fast", memory_budget=3_000_000).fit(X[:700], Y[:700])
    assert model.plan_.representation == "leaves"
    assert hamming_loss(Y[700:], model.predict(X[700:])) < 0.3
    check_lead(model, X[700:720])
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_what_is_refused(data):
    X, Y = data[0][:N], data[1][:N]
    with pytest.raises(ValueError, match="weighs classes, and y has several labels"):
        KernelClassifier(class_weight="balanced").fit(X, Y)
    with pytest.raises(ValueError, match=r"several labels per row.*matrix of zeros and ones.*sets"):
        KernelClassifier().fit(X, Y + 1)
    with pytest.raises(ValueError, match="values other than 0 and 1"):
        KernelClassifier().fit(X, np.where(np.arange(N)[:, None] == 3, np.nan, Y))
    pairs = [[own % 3, 3 + own % 2] for own in range(N)]
    with pytest.raises(ValueError, match="as a list of sets"):
        KernelClassifier().fit(X, pairs)
    with pytest.raises(ValueError, match="1 label in all"):
        KernelClassifier().fit(X, [["a"], []] * (N // 2))
    with pytest.raises(ValueError, match="inconsistent"):
        KernelClassifier().fit(X, Y[:-1])


def in_blocks(X, Y, size=50):
    return lambda: ((X[i : i + size], Y[i : i + size]) for i in range(0, len(X), size))


def test_a_source_gives_what_its_rows_give(model, data):
    X, Y = data
    found = KernelClassifier(quality="fast").fit(in_blocks(X[:N], Y[:N]))
    np.testing.assert_array_equal(found.predict_proba(X), model.predict_proba(X))
    score = model.score(X, Y)
    assert found.score(in_blocks(X, Y)) == score and 0 < score < 1
    dask = pytest.importorskip("dask.array")
    rows, labels = (dask.from_array(one[:N], chunks=(40, -1)) for one in (X, Y))
    found = KernelClassifier(quality="fast").fit(rows, labels)
    np.testing.assert_array_equal(found.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match=r"Block 1.*zeros and ones.*other values"):
        KernelClassifier().fit(in_blocks(X, np.where(np.arange(len(Y))[:, None] == 60, 2, Y)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*gives another model")
def test_rows_on_the_disk():
    X, Y = make_multilabel_classification(3000, n_features=8, n_classes=3, random_state=1)
    options = {"quality": "fast", "max_members": 1, "memory_budget": 3_000_000}
    found = KernelClassifier(**options).fit(in_blocks(X[:2500], Y[:2500], 300))
    assert found.plan_.disk_bytes > 0 and found.classes_.tolist() == [0, 1, 2]
    assert hamming_loss(Y[2500:], found.predict(X[2500:])) < 0.25
    with pytest.raises(ValueError, match="weighs classes"):
        KernelClassifier(class_weight="balanced", **options).fit(in_blocks(X, Y, 300))


def test_novelty_is_told_and_sets_are_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = KernelClassifier(quality="fast").fit(X, X[:, :2] > 0)
    p = model.novelty(np.vstack([X[:20], np.full((1, 3), 30.0)]))
    assert p[-1] < 0.05 and p[:20].mean() > 0.3
    for method in ("loo", "cv+"):
        with pytest.raises(ValueError, match="several labels, each there or not: predict_proba"):
            model.predict_set(X, method=method)


def test_far_away_the_shares_of_labels_are_left(model, data, rng):
    far = rng.uniform(-50, 50, (200, data[0].shape[1])) * data[0].std(axis=0)
    P = model.predict_proba(far)
    shares = (data[1][:N].sum(axis=0) + 0.5) / (N + 1)
    assert np.mean(np.abs(P - shares) < 0.01) > 0.97
    np.testing.assert_allclose(np.exp(model.predict_log_proba(far)), P)


@pytest.mark.parametrize("asked", ["shapley", "stability", "find_rows"])
def test_what_is_known_of_classes_is_refused(asked):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = KernelClassifier(quality="fast", assess=False).fit(X, X[:, :2] > 0)
    with pytest.raises(ValueError, match=f"{asked} is worked out for classes"):
        getattr(model, asked)(X[:2])
