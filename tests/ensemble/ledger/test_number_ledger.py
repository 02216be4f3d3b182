"""The ledger of KernelRegressor against refits and all sets of columns."""

import pickle

import numpy as np
import pytest

import kernel_learn as kl
from extras import optional
from kernel_learn.ensemble.ledger.row_values import training_gram
from kernel_learn.rows.keys import digest, row_keys
from oracles.refits import fit_ridge, predict_without
from oracles.shapley import shapley_by_sets

pd = optional("pandas")

CASES = ["plain", "weights", "groups", "duplicates", "log", "two"]


def table(case, n=60):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((n, 4))
    signal = np.sin(1.5 * X[:, 0]) + X[:, 1] * X[:, 2]
    y, more = signal + 0.3 * rng.standard_normal(n), {}
    if case == "weights":
        more["sample_weight"] = rng.uniform(0.5, 3.0, n)
    if case == "groups":
        more["groups"] = np.concatenate([[0, 0, 0, 1, 1], np.arange(2, n - 3)])
    if case == "duplicates":
        X[20:30] = X[:10]
        y[25:30] = y[5:10]
        more["sample_weight"] = np.where(np.arange(n) % 7 == 0, 2.0, 1.0)
        more["sample_weight"][15] = 0.0
    if case == "log":
        y = np.exp(2 * signal + 0.2 * rng.standard_normal(n))
    if case == "two":
        y = np.column_stack([y, np.exp(2 * X[:, 3] + 0.1 * rng.standard_normal(n))])
    return X, y, more


def fitted(case, n=60, **settings):
    X, y, more = table(case, n)
    settings = {"quality": "fast", "assess": False, **settings}
    return kl.KernelRegressor(**settings).fit(X, y, **more), X, y, more


def ridges(ensemble, target):
    """(map, weight, column, K, lam) of every member."""
    w = ensemble.targets.weight
    for member in ensemble.predicting:
        K, map = training_gram(ensemble, member), member.maps[0]
        column = map.columns[target]
        share = np.broadcast_to(member.share, (len(map.columns),))[target]
        regs = member.reg if member.regs is None else member.regs
        regs = np.broadcast_to(regs, member.models[0][0].coef.shape[1:])
        p = w / w.sum()
        yield member, map, share, column, K, regs[column] * (p @ np.diagonal(K) - p @ K @ p)


def predicted(map, target, scores):
    """What a map makes of scores of one target, written out."""
    t, e = map.transforms[target], map.residuals[target]
    y = t.mean + t.scale * scores
    if t.is_log:
        inside = [np.clip(y + t.scale * one, t.low, t.high) for one in e.values]
        y = sum(p * (np.exp(g) - t.shift) for p, g in zip(e.shares, inside, strict=True))
    return np.clip(y, map.low[target], map.high[target])


def units_of(targets):
    inside = {int(i) for group in targets.groups for i in group}
    return [*targets.groups, *[np.array([i]) for i in range(targets.n) if i not in inside]]


@pytest.mark.parametrize("case", CASES)
def test_row_values_are_those_of_refits(case):
    model, X, _, _ = fitted(case, 60 if case == "plain" else 32, max_members=3)
    ensemble = model._fitted.ensemble
    T = ensemble.targets
    w, expected = T.weight, np.zeros(T.n)
    for target in range(T.n_targets):
        known = list(ridges(ensemble, target))
        own = np.bincount(T.row, T.count * T.values[:, target]) / w
        spread = T.count @ (T.values[:, target] - T.value_mean[target]) ** 2 / T.total

        def loss(unit, gone, target=target, known=known, own=own):
            said = 0.0
            for _, map, share, c, K, lam in known:
                f = predict_without(K, K[unit], T.Y[:, [c]], w, lam, gone)[:, 0]
                said = said + share * predicted(map, target, f)
            return w[unit] @ (said - own[unit]) ** 2

        for unit in units_of(T):
            before = loss(unit, unit)
            for j in np.setdiff1d(np.arange(T.n), unit):
                more = loss(unit, np.append(unit, j)) - before
                expected[j] += more / (spread if T.n_targets > 1 else 1.0)
    found = model.row_values_
    assert found.shape == (len(X),)
    counting = model._given.counting
    scale = np.abs(expected).max()
    np.testing.assert_allclose(
        found[counting], expected[model._given.distinct[counting]], atol=1e-9 * scale, rtol=1e-9
    )
    assert (found[~counting] == 0).all()


@pytest.mark.parametrize("case", CASES)
def test_stability_is_that_of_refits(case):
    model, X, _, _ = fitted(case, 32, max_members=3)
    X_new = X[:5] + 0.1
    ensemble = model._fitted.ensemble
    T, new = ensemble.targets, model._table(X_new)
    cross = {id(member): K for _, member, K in ensemble.kernel_blocks(new)}
    found = model.stability(X_new).reshape(5, -1)
    for target in range(T.n_targets):
        moved = np.zeros((T.n, 5))
        for member, map, share, c, K, lam in ridges(ensemble, target):
            for j in range(T.n):
                both = [
                    predict_without(K, cross[id(member)], T.Y[:, [c]], T.weight, lam, gone)[:, 0]
                    for gone in ([], [j])
                ]
                said = [predicted(map, target, f) for f in both]
                moved[j] += share * (said[0] - said[1])
        # the difference of two predictions is known as well as these are
        size = np.abs(model.predict(X_new).reshape(5, -1)[:, target]).max()
        np.testing.assert_allclose(
            found[:, target], np.abs(moved).max(axis=0), rtol=1e-9, atol=1e-10 * size
        )
    assert model.stability(X_new).shape == ((5,) if case != "two" else (5, 2))


def gone_of(n, share):
    return np.sort(np.random.default_rng(5).permutation(n)[: max(1, round(n * share))])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("share", [0.01, 0.05, 0.3])
def test_forget_is_a_fit_of_the_others(case, share):
    model, X, y, more = fitted(case)
    gone = gone_of(60, share)
    left = np.setdiff1d(np.arange(60), gone)
    before = pickle.dumps(model)
    smaller = model.forget(gone)
    assert pickle.dumps(model) == before
    ensemble, small = model._fitted.ensemble, smaller._fitted.ensemble
    T = small.targets
    weight = more.get("sample_weight", np.ones(60))
    counting = left[weight[left] > 0]
    scale = ensemble.targets.total / weight.sum()
    y2 = y.reshape(60, -1)
    np.testing.assert_allclose(T.total, scale * weight[counting].sum())
    np.testing.assert_allclose(
        T.value_mean, weight[counting] @ y2[counting] / weight[counting].sum()
    )
    new = X[:20] + 0.05
    found = smaller.predict(new).reshape(20, -1)
    cross = {repr(m.kernel) + m.view: K for _, m, K in small.kernel_blocks(model._table(new))}
    own = {repr(m.kernel) + m.view: m for m in small.predicting}
    for target in range(T.n_targets):
        expected = 0.0
        for member, _, weight_m, c, _, lam in ridges(ensemble, target):
            name = repr(member.kernel) + member.view
            K = training_gram(small, own[name])
            a, b = fit_ridge(K, T.Y[:, [c]], T.weight, lam)
            f = (cross[name] @ a + b)[:, 0]
            expected = expected + weight_m * predicted(own[name].maps[0], target, f)
        np.testing.assert_allclose(
            found[:, target], expected, atol=1e-9 * np.abs(expected).max(), rtol=1e-9
        )
    told = smaller.forgotten_
    assert told.n_rows == len(gone) and told.distance < 1e-8 and told.redrawn == ()
    assert told.digest == digest(row_keys(X[counting]))
    assert any("logarithm" in kept for kept in told.kept)
    np.testing.assert_array_equal(smaller.loo_prediction_, model.loo_prediction_[left])


@pytest.mark.parametrize("case", CASES)
def test_at_once_or_one_after_the_other(case):
    model, X, _, _ = fitted(case)
    once, twice = model.forget([3, 25, 7]), model.forget([25]).forget([7]).forget([3])
    assert twice.forgotten_.n_rows == 3 and twice.forgotten_.digest == once.forgotten_.digest
    scale = np.abs(once.predict(X)).max()
    np.testing.assert_allclose(twice.predict(X), once.predict(X), atol=1e-9 * scale)
    np.testing.assert_allclose(
        twice.row_values_, once.row_values_, rtol=1e-6, atol=1e-9 * np.abs(once.row_values_).max()
    )
    assert len(once.row_values_) == 57
    again = kl.KernelRegressor(quality="fast", assess=False)
    assert type(model.forget([1])) is type(again)


@pytest.mark.parametrize("case", CASES)
def test_again_is_the_fit_from_scratch(case):
    model, X, y, more = fitted(case, random_state=3)
    gone = gone_of(60, 0.05)
    left = np.setdiff1d(np.arange(60), gone)
    if "sample_weight" in more:
        left = left[more["sample_weight"][left] > 0]
    found = model.forget(gone, choices="again")
    own = {name: values[left] for name, values in more.items()}
    alone = kl.KernelRegressor(quality="fast", assess=False, random_state=3)
    alone.fit(X[left], y[left], **own)
    np.testing.assert_array_equal(found.predict(X), alone.predict(X))
    assert found.forgotten_.kept == () and found.forgotten_.n_rows == len(gone)


def arrays_of(thing, found, seen):
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        found.append(thing)
    elif isinstance(thing, dict):
        for own in thing.values():
            arrays_of(own, found, seen)
    elif isinstance(thing, list | tuple | set | np.ndarray):
        for own in list(thing):
            arrays_of(own, found, seen)
    elif hasattr(thing, "__dict__"):
        arrays_of(vars(thing), found, seen)


@pytest.mark.parametrize("quality", ["fast", "balanced"])
def test_nothing_of_the_rows_is_left(quality):
    model, X, y, _ = fitted("log", quality=quality, assess="nested")
    model.row_values_, model.predict(X[:2], return_std=True), model.label_issues(3)
    model.novelty(X[:2]), model.transform(X[:2])
    gone = gone_of(60, 0.1)
    place = model._given.distinct[gone]
    views = model._fitted.ensemble.training.rows
    secrets = [np.asarray(Z)[place] for Z in views.values()] + [X[gone]]
    targets = model._fitted.ensemble.targets
    values = np.concatenate([y[gone], targets.Y[place].ravel(), model.loo_prediction_[gone]])
    values = np.concatenate([values, model.held_out_prediction_[gone]])
    smaller = model.forget(gone)
    arrays = []
    arrays_of(smaller, arrays, set())
    for array in arrays:
        if array.dtype == np.uint64:
            assert not np.isin(array, row_keys(X)[gone]).any()
        if array.ndim == 2 and array.shape[1] == X.shape[1] and len(array):
            for secret in secrets:
                assert np.abs(array[:, None] - secret).max(axis=2).min() > 1e-6
        if array.dtype.kind == "f":
            assert not np.isin(array, values).any()
    assert len(smaller.held_out_prediction_) == 54
    smaller.predict_interval(X[:3], method="cv+")
    smaller.predict_interval(X[:3])


def outputs(model, X):
    """L(x): the average before members are kept within what was seen."""
    ensemble, table = model._fitted.ensemble, model._table(X)
    q = ensemble.targets.n_targets
    L = np.zeros((len(X), q))
    for leaf, member, K in ensemble.kernel_blocks(table):
        map, scores = member.maps[0], member.models[0][0].scores(K)
        for t, c in enumerate(map.columns):
            share = np.broadcast_to(member.share, (q,))[t]
            L[leaf.new, t] += share * map.unbounded(t, scores[:, c])
    return L


def mixed(rng, n=70):
    frame = pd.DataFrame(
        {
            "height": rng.standard_normal(n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "size": np.exp(rng.standard_normal(n)),
            "sort": pd.Categorical(rng.choice(["a", "b"], n)),
        }
    )
    score = np.sin(frame["height"]) + 2.0 * (frame["colour"] == "red") - (frame["sort"] == "a")
    return frame, (score + 0.1 * rng.standard_normal(n)).to_numpy()


@pytest.mark.parametrize("kind", ["numbers", "mixed", "groups"])
def test_shapley_against_all_sets(kind, rng):
    X, y = mixed(rng)
    if kind == "numbers":
        X = X[["height", "size"]].assign(more=rng.standard_normal(len(y)))
    model = kl.KernelRegressor(quality="fast", assess=False).fit(X, y)
    assert not any(
        t.is_log for m in model._fitted.ensemble.predicting for t in m.maps[0].transforms
    )
    behind, new = X[:12], X[-3:]
    groups = {"looks": ["height", "size"]} if kind == "groups" else None
    found = model.shapley(new, background=behind, column_groups=groups)
    players = [np.array([c]) for c in range(X.shape[1])]
    if groups:
        players = [np.array([0, 2]), np.array([1]), np.array([3])]
        assert found.feature_names == ["looks", "colour", "sort"]

    def f(rows):
        return outputs(model, pd.DataFrame(rows, columns=X.columns).astype(X.dtypes.to_dict()))

    for i in range(3):
        x = new.to_numpy(dtype=object)[i]
        expected = shapley_by_sets(
            f, x, behind.to_numpy(dtype=object), np.full(12, 1 / 12), players
        )[:, 0]
        np.testing.assert_allclose(found.values[i], expected, atol=1e-10)
    assert found.exact and not found.standard_error.any()


@pytest.mark.parametrize("case", ["plain", "log", "two"])
@pytest.mark.parametrize("quality", ["fast", "balanced"])
def test_sums_lead_to_predict(case, quality):
    model, X, _, _ = fitted(case, quality=quality)
    new = np.vstack([X[:4] + 0.1, 8 * X[4:6]])  # the last are cut at what was seen
    found, said = model.shapley(new, background=15), model.predict(new)
    L = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(
        L.reshape(6, -1), outputs(model, new), rtol=1e-10, atol=1e-10 * np.abs(L).max()
    )
    np.testing.assert_allclose(found.prior + found.fading * (L - found.prior), said, rtol=1e-8)
    assert found.values.shape == ((6, 4) if case != "two" else (6, 4, 2))
    assert found.fading.shape == said.shape
    for target in range(said.reshape(6, -1).shape[1]):
        told = model.explain(new, n_rows=60, target=target)
        np.testing.assert_allclose(
            told.baseline + told.contributions.sum(axis=1),
            outputs(model, new)[:, target],
            rtol=1e-9,
        )
        own = told.prior + told.fading * (told.log_odds - told.prior)
        np.testing.assert_allclose(own, said.reshape(6, -1)[:, target], rtol=1e-8)
        np.testing.assert_allclose(told.labels, said.reshape(6, -1)[:, target], rtol=1e-9)


@pytest.mark.parametrize("wide", [False, True])
def test_logarithms_are_enumerated_or_sampled(wide):
    X, y, _ = table("log", 60 if wide else 90)  # with which a logarithm is chosen
    if wide:
        X = np.hstack([X, X[::-1, :2] + X[:, :2]])
    model = kl.KernelRegressor(quality="fast", assess=False).fit(X, y)
    assert any(t.is_log for m in model._fitted.ensemble.predicting for t in m.maps[0].transforms)
    found = model.shapley(X[:2], background=X[10:40])
    assert found.exact == (not wide)
    players = [np.array([c]) for c in range(X.shape[1])]
    for i in range(2):
        expected = shapley_by_sets(
            lambda rows: outputs(model, rows), X[i], X[10:40], np.full(30, 1 / 30), players
        )[:, 0]
        off = np.abs(found.values[i] - expected)
        assert (off <= 5 * found.standard_error[i] + 1e-9).all()


@pytest.mark.parametrize("case", ["plain", "log", "two"])
def test_wrong_values_come_first(case):
    X, y, _ = table(case, 120)
    wrong = [5, 70]
    planted = y.copy()
    for row in wrong:
        planted[row] = planted[row] + 40 * np.std(y, axis=0)
    model = kl.KernelRegressor(quality="fast", assess="loo").fit(X, planted)
    issues = model.label_issues(2)
    assert {issue.row for issue in issues} == set(wrong)
    for issue in issues:
        np.testing.assert_array_equal(issue.label, planted[issue.row])
        np.testing.assert_allclose(issue.suggested_label, model.held_out_prediction_[issue.row])
        assert issue.probability > 0.5 and issue.value == model.row_values_[issue.row]
    everyone = model.label_issues(1000)
    assert len(everyone) == 120 and everyone[-1].probability < 0.5
    assert len(str(issues).splitlines()) == 3


def largest_change_in_leaves(model, X_new):
    """Every leaf's ridge regressions without each of its rows."""
    ensemble = model._fitted.ensemble
    T = ensemble.targets
    moved = np.zeros((T.n, len(X_new)))
    for leaf, member, K_new in ensemble.kernel_blocks(model._table(X_new)):
        old, map = member.model_in(leaf), member.map_in(leaf)
        c, w = map.columns[0], T.weight[leaf.known]
        K = member.kernel(np.asarray(ensemble.training.rows[member.plain_view])[leaf.known])
        assert member.scales is None
        a, Y = old.coef[:, c] / w, T.Y[np.ix_(leaf.known, [c])]
        lam = a @ (Y[:, 0] - old.scores(K)[:, c]) / (a @ a)
        whole = predict_without(K, K_new, Y, w, lam, [])[:, 0]
        weight = np.broadcast_to(ensemble.weight_of(member), 1)[0]
        for place, j in enumerate(leaf.known):
            left = predict_without(K, K_new, Y, w, lam, [place])[:, 0]
            moved[j, leaf.new] += weight * (predicted(map, 0, whole) - predicted(map, 0, left))
    return np.abs(moved).max(axis=0)


@pytest.mark.filterwarnings("ignore:.*gives another model")
def test_in_leaves():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(900, 2))
    y = np.sin(6 * X[:, 0]) + 0.1 * rng.standard_normal(900)
    model = kl.KernelRegressor(memory_budget=2_060_000, quality="fast", assess=False).fit(X, y)
    assert model._fitted.ensemble.forest is not None
    found = largest_change_in_leaves(model, X[:3])
    np.testing.assert_allclose(model.stability(X[:3]), found, rtol=1e-9)
    assert model.row_values_.shape == (900,) and len(model.label_issues(7)) == 7
    told = model.explain(X[:9], n_rows=900)
    np.testing.assert_allclose(
        told.baseline + told.contributions.sum(axis=1), told.log_odds, atol=1e-9
    )
    own = told.prior + told.fading * (told.log_odds - told.prior)
    np.testing.assert_allclose(own, model.predict(X[:9]), rtol=1e-8)
    left = np.arange(10, 900)
    again = model.forget(np.arange(10), choices="again")
    alone = kl.KernelRegressor(memory_budget=2_060_000, quality="fast", assess=False)
    np.testing.assert_array_equal(again.predict(X), alone.fit(X[left], y[left]).predict(X))


def test_again_of_a_frame():
    _, X, y, _ = fitted("plain")
    frame = pd.DataFrame(X).assign(town=np.where(np.arange(len(y)) % 3, "north", "south"))
    frame.loc[1, "town"] = "west"
    found, alone = (kl.KernelRegressor(quality="fast", assess=False) for _ in range(2))
    left = np.delete(np.arange(len(y)), 1)
    frame.columns = frame.columns.astype(str)
    again = found.fit(frame, y).forget([1], choices="again")
    expected = alone.fit(frame.iloc[left], y[left]).predict(frame)
    np.testing.assert_array_equal(again.predict(frame), expected)


def test_refused():
    model, X, _, _ = fitted("plain")
    with pytest.raises(ValueError, match="Fewer than two different rows"):
        model.forget(np.arange(59))
    with pytest.raises(ValueError, match="in two of them"):
        model.shapley(X[:2], column_groups={"a": [0, 1], "b": [1]})
    for groups in ([[0, 1]], "ab", 3):
        with pytest.raises(ValueError, match="column_groups must be None or a dict of names to"):
            model.shapley(X[:2], column_groups=groups)
    del model._given
    with pytest.raises(ValueError, match="needs a fit to rows in memory"):
        model.label_issues()
