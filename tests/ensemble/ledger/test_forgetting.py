"""Models without some rows, against refits of the others, and what is left of the rows."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

import kernel_learn as kl
from kernel_learn.criteria.held_out.hinge import hinge_distance, offset_of
from kernel_learn.criteria.held_out.leave_out import NotExactError
from kernel_learn.ensemble.ledger.row_values import is_ridge, training_gram
from kernel_learn.rows.keys import digest, row_keys
from oracles.refits import fit_ridge


def table(case):
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(y))[:90]
    X, y, more = X[rows] + 1e-9 * rng.standard_normal((90, 13)), y[rows], {}
    if case == "weights":
        more["sample_weight"] = rng.uniform(0.5, 3.0, 90)
    if case == "groups":
        more["groups"] = np.arange(90) // 3
    if case == "duplicates":
        X[40:60] = X[:20]
        y[40:45] = (y[:5] + 1) % 3
        more["sample_weight"] = np.where(np.arange(90) % 7 == 0, 2.0, 1.0)
        more["sample_weight"][80] = 0.0
    return X, y, more


CASES = ["plain", "weights", "groups", "duplicates"]


def forgotten_rows(case, share=0.05):
    return np.sort(np.random.default_rng(5).permutation(90)[: max(1, round(90 * share))])


def refitted_log_odds(model, smaller, X_new):
    """L(x) of the members of ``model``, each fitted to the rows of ``smaller``."""
    ensemble, left = model._fitted.ensemble, smaller._fitted.ensemble
    w, targets = ensemble.targets.weight, left.targets
    p = w / w.sum()
    L = np.zeros((len(X_new), targets.n_classes))
    blocks = left.kernel_blocks(model._table(X_new))
    old = {(m.view, repr(m.kernel)): m for m in ensemble.predicting}
    for _, member, K_new in blocks:
        before = old[member.view, repr(member.kernel)]
        K_old, K = training_gram(ensemble, before), training_gram(left, member)
        lam = before.reg * (p @ np.diagonal(K_old) - p @ K_old @ p)
        a, b = fit_ridge(K, targets.Y, targets.weight, lam)
        logits = before.maps[0](K_new @ a + b)
        L += before.share * (logits - logits.mean(axis=1, keepdims=True))
    return L


def naive_counts(model, y, weight, left):
    """Counts of the distinct rows of those that stay, in any order."""
    scale = model._fitted.ensemble.targets.total / weight.sum()
    return scale * np.array([weight[left][y[left] == c].sum() for c in model.classes_])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("share", [0.01, 0.05, 0.3])
def test_is_a_fit_of_the_others(case, share):
    X, y, more = table(case)
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X, y, **more)
    gone = forgotten_rows(case, share)
    left = np.setdiff1d(np.arange(90), gone)
    before = pickle.dumps(model)
    smaller = model.forget(gone)
    assert pickle.dumps(model) == before
    ensemble = smaller._fitted.ensemble
    assert all(is_ridge(member) for member in ensemble.predicting)
    weight = more.get("sample_weight", np.ones(90))
    np.testing.assert_allclose(
        ensemble.targets.counts.sum(axis=0), naive_counts(model, y, weight, left)
    )
    expected = refitted_log_odds(model, smaller, X[:30])
    found = smaller._row_log_odds(smaller._table(X[:30])).log_odds
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())
    told = smaller.forgotten_
    counting = left[weight[left] > 0]
    assert told.n_rows == len(gone) and told.digest == digest(row_keys(X[counting]))
    assert told.distance < 1e-8 and told.kept and told.redrawn == ()
    np.testing.assert_array_equal(smaller.loo_proba_, model.loo_proba_[left])


@pytest.mark.parametrize("case", CASES)
def test_at_once_or_one_after_the_other(case):
    X, y, more = table(case)
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X, y, **more)
    once = model.forget([3, 50, 7])
    twice = model.forget([50]).forget([7]).forget([3])
    assert twice.forgotten_.n_rows == 3 and twice.forgotten_.digest == once.forgotten_.digest
    np.testing.assert_allclose(twice.predict_proba(X), once.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(twice.row_values_, once.row_values_, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(twice._first, once._first)
    rows = np.delete(X, [3, 7, 50], axis=0)
    seen = once.explain(X[:3], n_rows=5)
    assert seen.indices.max() < len(rows)


@pytest.mark.parametrize("kind", [kl.KernelClassifier, kl.KernelRegressor])
@pytest.mark.parametrize("n", [300, 1010])
def test_again_and_again_of_more_rows_than_are_sampled(kind, n):
    """Samples of 250 and 1000 rows know which rows are theirs after the first were forgotten."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    y = X[:, 0] + 0.5 * rng.standard_normal(n)
    y = (y > 0).astype(int) if kind is kl.KernelClassifier else y
    model = kind(quality="fast", max_members=1, assess=False).fit(X, y)
    once, found = model.forget(np.arange(12)), model
    for rows in (np.arange(2), np.arange(5), np.arange(5)):
        found = found.forget(rows)
    found = pickle.loads(pickle.dumps(found))
    for sampled in ("sample_rows", "reference_rows"):
        own, due = (getattr(m._fitted.probe, sampled) for m in (found, once))
        np.testing.assert_array_equal(own, due)
    own, due = found._fitted.probe, once._fitted.probe
    np.testing.assert_array_equal(own.reference.rows, due.reference.rows)
    np.testing.assert_array_equal(own.sample.views[own.view], due.sample.views[own.view])
    np.testing.assert_array_equal(own.sample.targets.Y, due.sample.targets.Y)
    gone = np.asarray(due.reference_view.rows(model._table(X[:12])))
    for held in (own.reference.rows, *own.sample.views.values()):
        assert np.abs(np.asarray(held)[:, None] - gone).max(axis=2).min() > 1e-9
    np.testing.assert_allclose(found.novelty(X), once.novelty(X))
    earlier = replace(once._fitted.probe, sample_rows=None, reference_rows=None)
    once._fitted = replace(once._fitted, probe=earlier)
    with pytest.raises(ValueError, match="forgotten rows by an earlier version"):
        once.forget([0])


def test_stability_is_kept():
    """What one row moves is the largest change by forgetting one."""
    X, y = load_iris(return_X_y=True)
    X, y = X[::4] + 1e-6 * np.arange(38)[:, None], y[::4]
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X, y)
    new = X[:4] + 0.2
    # the fit itself drops directions of rounding, which forgetting does not
    L = model.forget(np.empty(0, int))._row_log_odds(model._table(new))
    own = L.log_odds[np.arange(4), L.winners]
    moved = [
        own - model.forget([j])._row_log_odds(model._table(new)).log_odds[np.arange(4), L.winners]
        for j in range(len(y))
    ]
    np.testing.assert_allclose(
        model.stability(new), np.abs(moved).max(axis=0), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("kind", [kl.KernelClassifier, kl.KernelRegressor])
def test_what_a_kernel_does_not_see_is_left_out(kind):
    """There coefficients would be residuals / lam: huge, and for nothing."""
    rng = np.random.default_rng(1)
    X, weight = rng.standard_normal((90, 3)), rng.uniform(0.5, 2.0, 90)
    y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(90)
    y = (y > 0).astype(int) if kind is kl.KernelClassifier else y
    model = kind(quality="fast", assess=False).fit(X, y, sample_weight=weight)
    old, smaller = model._fitted.ensemble, model.forget(np.arange(10))
    left = smaller._fitted.ensemble
    pairs = [
        (before, after)
        for before, after in zip(old.members, left.members, strict=True)
        if repr(before.kernel) == "Linear()" and np.any(before.share)
    ]
    assert pairs and smaller.forgotten_.distance < 1e-11
    p, w, Y = old.targets.weight / old.targets.total, left.targets.weight, left.targets.Y
    for before, after in pairs:
        K_old, K = training_gram(old, before), training_gram(left, after)
        lam = before.reg * (p @ np.diagonal(K_old) - p @ K_old @ p)
        root, centring = np.sqrt(w)[:, None], np.eye(80) - w / w.sum()
        d, U = np.linalg.eigh(root * (centring @ K @ centring.T) * root.T)
        d, U = d[-3:], U[:, -3:]
        A = root * (U @ ((U.T @ (root * (centring @ Y))) / (d[:, None] + lam)))
        found = after.models[0][0].coef
        np.testing.assert_allclose(found, A, rtol=1e-9, atol=1e-11 * np.abs(A).max())
    none, every = model.forget([]).explain(X[:2], n_rows=90), model.explain(X[:2], n_rows=90)
    size = np.abs(every.contributions).max()
    assert np.abs(none.contributions).max() < 1.1 * size
    if kind is kl.KernelRegressor:
        np.testing.assert_array_equal(none.indices[:, 0], every.indices[:, 0])
        np.testing.assert_allclose(none.contributions, every.contributions, atol=1e-9 * size)


def test_machines_are_those_of_the_others():
    X = np.random.default_rng(0).integers(1, 6, (120, 4)).astype(float)
    X += 1e-6 * np.arange(120)[:, None]
    y = np.sign(X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]).astype(int) + 1
    model = kl.KernelClassifier(assess=False).fit(X, y)
    machines = [m for m in model._fitted.ensemble.predicting if not is_ridge(m)]
    assert machines
    smaller = model.forget(np.arange(0, 40))
    targets = smaller._fitted.ensemble.targets
    by_kernel = {repr(m.kernel): m for m in smaller._fitted.ensemble.predicting if not is_ridge(m)}
    for before in machines:
        after = by_kernel[repr(before.kernel)]
        K = training_gram(smaller._fitted.ensemble, after)
        sums = before.models[0][0].coef.sum(axis=0)
        unit = before.models[0][0].intercept[0] / sums[0]
        signs = 2 * targets.Y - 1
        A = after.models[0][0].coef
        scores = (K + unit) @ A
        for c in range(3):  # stationary: lam a_i / w_i = s_i - f_i where a margin is missed, else 0
            missed = np.maximum(0.0, 1 - signs[:, c] * scores[:, c]) * signs[:, c]
            np.testing.assert_allclose(
                before.reg * unit * A[:, c] / targets.weight, missed, atol=1e-9
            )
    distance = max(
        hinge_distance(
            training_gram(smaller._fitted.ensemble, m),
            targets,
            before.reg * offset_of(before.models[0][0]),
            by_kernel[repr(before.kernel)].models[0][0],
        )
        for before in machines
        for m in [by_kernel[repr(before.kernel)]]
    )
    assert 0 < distance <= smaller.forgotten_.distance < 1e-8
    off = replace(A := machines[0].models[0][0], coef=1.01 * A.coef)
    K = training_gram(model._fitted.ensemble, machines[0])
    assert hinge_distance(K, model._fitted.ensemble.targets, 1.0, off) > 1e-3


def floats_of(thing, found, seen):
    """All arrays that an object holds, at any depth."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        if thing.dtype == object:
            for own in thing.ravel():
                floats_of(own, found, seen)
        else:
            found.append(thing)
    elif isinstance(thing, dict):
        for own in thing.values():
            floats_of(own, found, seen)
    elif isinstance(thing, list | tuple | set):
        for own in thing:
            floats_of(own, found, seen)
    elif hasattr(thing, "__dict__"):
        floats_of(vars(thing), found, seen)


@pytest.mark.parametrize("quality", ["fast", "balanced"])
def test_nothing_of_the_rows_is_left(quality):
    X, y, _ = table("plain")
    model = kl.KernelClassifier(quality=quality).fit(X, y)
    model.row_values_, model.feature_relevance_, model.transform(X[:2])
    gone = forgotten_rows("plain", 0.1)
    views = model._fitted.ensemble.training.rows
    place = model._given.distinct[gone]
    secrets = [np.asarray(Z)[place] for Z in views.values()] + [X[gone]]
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    secrets.append(z[gone])
    keys = row_keys(X)[gone]
    smaller = model.forget(gone)
    arrays = []
    floats_of(smaller, arrays, set())
    for array in arrays:
        if array.dtype == np.uint64:
            assert not np.isin(array, keys).any()
        if array.ndim == 2 and array.shape[1] == X.shape[1] and len(array):
            for secret in secrets:
                apart = np.abs(array[:, None] - secret).max(axis=2)
                assert apart.min() > 1e-6
        assert 90 not in array.shape or array.ndim == 2  # rank tables of columns stay
    assert all(len(a) != 90 for a in (smaller.loo_proba_, smaller.held_out_proba_, smaller._first))
    again = pickle.loads(pickle.dumps(smaller))
    np.testing.assert_array_equal(again.predict_proba(X), smaller.predict_proba(X))


def test_everything_still_answers():
    X, y, _ = table("plain")
    model = kl.KernelClassifier(quality="fast").fit(X, y).forget([1, 2, 3])
    assert model.predict_set(X, method="cv+").shape == (90, 3)
    assert model.predict_set(X).any(axis=1).all()
    assert model.novelty(X).shape == (90,)
    assert model.feature_relevance_.shape == (13,)
    assert model.transform(X).shape == (90, 2)
    assert model.permutation_p_value(19) < 0.2
    assert len(model.label_issues(200)) == 87
    assert "87" in model.summary_ or "exact" in model.summary_
    assert "rows forgotten" in str(model.forgotten_)


@pytest.mark.parametrize("name", ["KernelClassifier", "KernelRegressor"])
def test_signal_is_seen_among_the_rows_with_weights_that_stay(name):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] if name == "KernelRegressor" else (X[:, 0] > 0).astype(int)
    model = getattr(kl, name)(quality="fast", max_members=1).fit(X, y, sample_weight=[2.0] * 60)
    assert model.forget([1, 2, 3]).permutation_p_value(39) == 1 / 40


def test_refused():
    X, y = load_iris(return_X_y=True)
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X, y)
    with pytest.raises(ValueError, match="Nothing of class"):
        model.forget(np.flatnonzero(y == 1))
    with pytest.raises(ValueError, match="rows has 150"):
        model.forget([150])
    with pytest.raises(ValueError, match="places of training rows"):
        model.forget(y == 1)
    nobody = model.forget(np.empty(0, int))
    np.testing.assert_allclose(nobody.predict_proba(X), model.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_again_is_the_fit_from_scratch(case):
    X, y, more = table(case)
    model = kl.KernelClassifier(quality="fast", random_state=3).fit(X, y, **more)
    gone = forgotten_rows(case)
    left = np.setdiff1d(np.arange(90), gone)
    if "sample_weight" in more:
        left = left[more["sample_weight"][left] > 0]
    found = model.forget(gone, choices="again")
    own = {name: values[left] for name, values in more.items()}
    alone = kl.KernelClassifier(quality="fast", random_state=3).fit(X[left], y[left], **own)
    np.testing.assert_array_equal(found.predict_proba(X), alone.predict_proba(X))
    np.testing.assert_array_equal(found.held_out_proba_, alone.held_out_proba_)
    assert found.forgotten_.kept == () and found.forgotten_.n_rows == len(gone)
    assert found.forgotten_.digest == digest(row_keys(X[left]))


def mixed_frame(n=90):
    """Numbers with holes, whole numbers, booleans, texts of which some are rare, categories."""
    pd = pytest.importorskip("pandas")
    X, y, _ = table("plain")
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({f"x{c}": X[:, c] for c in range(4)})
    frame.loc[[3, 40], "x1"] = np.nan
    frame["whole"] = rng.integers(0, 9, n)
    frame["flag"] = X[:, 5] > np.median(X[:, 5])
    frame["town"] = rng.choice(["north", "south", "west"], n)
    frame.loc[[7, 8], "town"] = ["Anna Meier", "Zoe Adam"]
    frame.loc[11, "town"] = None
    frame["grade"] = pd.Categorical(rng.choice([3, 1, 2], n), categories=[3, 1, 2, 7])
    return frame, y


@pytest.mark.parametrize("kind", ["mixed", "numbers", "objects", "views", "sparse", "polars"])
def test_again_of_rows_of_every_kind(kind):
    frame, y = mixed_frame()
    more, rng = {}, np.random.default_rng(0)
    if kind == "mixed":
        more = {"sample_weight": rng.uniform(0.5, 2.0, 90), "groups": rng.permutation(90) // 2}
    if kind == "polars":
        X = pytest.importorskip("polars").from_pandas(frame.drop(columns="grade"))
        take = lambda rows: X[rows.tolist()]  # noqa: E731
    elif kind == "views":
        A = frame.iloc[:, :4].fillna(0.0).to_numpy()
        X = [A[:, :2], A[:, 2:]]
        take = lambda rows: [own[rows] for own in X]  # noqa: E731
    elif kind in ("mixed", "numbers"):
        X = frame if kind == "mixed" else frame.iloc[:, :5]
        take = lambda rows: X.iloc[rows]  # noqa: E731
    else:
        X = frame.astype(object).to_numpy()
        if kind == "sparse":
            X = pytest.importorskip("scipy.sparse").csr_array(np.abs(frame.iloc[:, [0, 2, 4]]))
        take = lambda rows: X[rows]  # noqa: E731
    gone = np.array([7, 8, 11, 30, 61])
    left = np.setdiff1d(np.arange(90), gone)
    model = kl.KernelClassifier(quality="fast", assess="loo", random_state=3).fit(X, y, **more)
    own = {name: values[left] for name, values in more.items()}
    alone = kl.KernelClassifier(quality="fast", assess="loo", random_state=3).fit(
        take(left), y[left], **own
    )
    for found in (
        model.forget(gone, choices="again"),
        model.forget(gone[:2]).forget(gone[2:] - 2, choices="again"),
        pickle.loads(pickle.dumps(model)).forget(gone, choices="again"),
    ):
        np.testing.assert_array_equal(found.predict_proba(X), alone.predict_proba(X))
        np.testing.assert_array_equal(found.held_out_proba_, alone.held_out_proba_)
        assert found.forgotten_.digest == alone._rows_digest
        assert found.n_features_in_ == alone.n_features_in_
        names = [getattr(m, "feature_names_in_", None) for m in (found, alone)]
        np.testing.assert_array_equal(*names)


def test_levels_of_forgotten_rows_alone_are_gone(tmp_path):
    frame, y = mixed_frame()
    model = kl.KernelClassifier(quality="fast").fit(frame, y)
    for gone in ([7], [8], [7, 8]):
        smaller = model.forget(gone)
        kl.save(smaller, tmp_path / "smaller.skops")
        for found in (smaller, kl.load(tmp_path / "smaller.skops")):
            arrays = []
            floats_of(found, arrays, set())
            words = " ".join(w for a in arrays if a.dtype.kind == "U" for w in a.ravel().tolist())
            assert ("Anna Meier" in words) == (7 not in gone)
            assert ("Zoe Adam" in words) == (8 not in gone) and "snorth" in words
            left = np.setdiff1d(np.arange(90), gone)
            # rows with other levels are read as before, those with forgotten ones as unseen
            old, new = model._table(frame), found._table(frame)
            np.testing.assert_array_equal(old.others[left], new.others[left])
            towns = new.others[gone][:, 1]
            np.testing.assert_array_equal(towns, -2.0)
    again = model.forget([7]).forget([7])  # Zoe, who moved up
    np.testing.assert_allclose(again.predict_proba(frame), smaller.predict_proba(frame), rtol=1e-10)


def test_again_is_refused_where_a_column_may_have_changed_its_kind():
    X, y = load_iris(return_X_y=True)
    cells = np.array(X, dtype=object)
    cells[5, 0] = "large"
    with pytest.warns(UserWarning, match="numbers and texts"):
        model = kl.KernelClassifier(quality="fast", assess=False).fit(cells, y)
    with pytest.raises(ValueError, match="Column 0 holds no text any more"):
        model.forget([5], choices="again")
    assert model.forget([5]).forgotten_.n_rows == 1


def test_again_needs_the_cells():
    X, y = load_iris(return_X_y=True)
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X, y)
    model._given = replace(model._given, rows=X[model._first])  # as earlier files have it
    alone = kl.KernelClassifier(quality="fast", assess=False).fit(X[1:], y[1:])
    found = model.forget([0], choices="again")
    np.testing.assert_array_equal(found.predict_proba(X), alone.predict_proba(X))
    model._given = replace(model._given, rows=None)  # of a frame
    with pytest.raises(ValueError, match="kept views and not the cells"):
        model.forget([1], choices="again")
    with pytest.raises(ValueError, match="give 'keep' or 'again'"):
        model.forget([1], choices="anew")


def few_rows(name, **settings):
    """A model of 60 rows, and classes (or values) whose places alternate."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    X[:, 0] = np.abs(X[:, 0]) * (2 * (np.arange(60) % 2) - 1)
    y = X[:, 0] if name == "KernelRegressor" else (X[:, 0] > 0).astype(int)
    groups = settings.pop("groups", None)
    return getattr(kl, name)(quality="fast", **settings).fit(X, y, groups=groups), X, y


def check_refused(model, gone, said, X, **choices):
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=said):
        model.forget(gone, **choices)
    assert pickle.dumps(model) == before


BOTH = ["KernelClassifier", "KernelRegressor"]


@pytest.mark.parametrize("name", BOTH)
def test_nothing_to_fit_is_refused_before_work(name):
    model, X, _ = few_rows(name, assess="loo")
    for choices in ("keep", "again"):
        for left in (0, 1):
            check_refused(model, range(left, 60), "Fewer than two different", X, choices=choices)
    few = model.forget(range(2, 60))
    assert len(few.predict(X)) == 60 and np.isfinite(few.stability(X[:3])).all()


@pytest.mark.parametrize("name", BOTH)
def test_one_group_is_refused_as_in_a_fit(name):
    groups = np.arange(60) // 6
    model, X, y = few_rows(name, assess="loo", groups=groups)
    with pytest.raises(ValueError, match="All rows are of one group") as refused:
        type(model)(quality="fast", assess="loo").fit(X[:6], y[:6], groups=groups[:6])
    for choices in ("keep", "again"):
        for gone in (range(6, 60), range(3, 60)):
            check_refused(model, gone, str(refused.value), X, choices=choices)
    two = model.forget(range(12, 60))
    assert np.isfinite(two.novelty(X[:3])).all()
    with pytest.warns(UserWarning, match="coverage"):
        two.predict_interval(X) if name == "KernelRegressor" else two.predict_set(X)


@pytest.mark.parametrize("groups", [None, np.arange(60) // 6])
@pytest.mark.parametrize("name", BOTH)
def test_folds_of_which_too_little_is_left(name, groups):
    """Down to few rows a model is as one can use, or refused in a sentence, unharmed."""
    model, X, _ = few_rows(name, groups=groups)
    refused = []
    for left in (14, 8, 5, 4, 3, 2):
        gone = np.arange(left, 60)
        try:
            few = model.forget(gone)
        except ValueError:
            alone = left <= 6 and groups is not None
            said = "one group" if alone else "outside a fold of the nested assessment"
            check_refused(model, gone, said, X)
            refused.append(left)
            continue
        assert len(few.row_values_) == left
        assert np.isfinite(few.stability(X[:3])).all() and np.isfinite(few.novelty(X[:3])).all()
        sizes = few.held_out_column_values(X[:left])
        assert sizes.shape == (4,) and np.isfinite(sizes).all()
    assert 14 not in refused and 2 in refused


@pytest.mark.parametrize("name", BOTH)
def test_rows_that_a_member_cannot_tell_apart_are_refused(name):
    rng = np.random.default_rng(0)
    X, apart = rng.normal(size=(80, 12)), np.arange(80) % 4 == 0
    X[~apart, 10:] = 0.5
    y = np.sin(3 * X[:, 10]) * 3 + X[:, 11] + 0.1 * X[:, 0]
    if name == "KernelClassifier":
        y = np.where(apart, X[:, 10] * X[:, 11] > 0.2, rng.integers(0, 2, 80))
    settings = {"quality": "fast", "assess": False, "column_groups": {"b": [10, 11]}}
    model = getattr(kl, name)(**settings).fit(X, y)
    check_refused(model, np.flatnonzero(apart), "look the same to a member.*choices='again'", X)
    again = model.forget(np.flatnonzero(apart), choices="again")
    alone = getattr(kl, name)(**settings).fit(X[~apart], y[~apart])
    np.testing.assert_array_equal(again.predict(X), alone.predict(X))


@pytest.mark.parametrize("name", BOTH)
def test_values_of_rows_need_two_others(name):
    model, X, y = few_rows(name, assess="loo")
    fresh = type(model)(quality="fast", assess="loo").fit(X[:2], y[:2])
    for two in (model.forget(range(2, 60)), fresh):
        with pytest.raises(NotExactError, match="row_values_ judges a row by what the others say"):
            _ = two.row_values_
        with pytest.raises(NotExactError, match=r"Fit more rows\."):
            two.label_issues()
    assert np.isfinite(model.forget(range(3, 60)).row_values_).all()
    model, _, _ = few_rows(name, assess="loo", groups=np.minimum(np.arange(60), 20))
    with pytest.raises(NotExactError, match="but one other, of another group"):
        _ = model.forget(range(1, 20)).row_values_
    assert np.isfinite(model.forget(range(2, 20)).row_values_).all()
