"""The ledger of KernelDiscriminant against refits, all sets of columns, and the bytes of a file."""

import pickle
from itertools import chain, combinations
from math import comb

import numpy as np
import pytest

import kernel_learn as kl
from kernel_learn.kernels import (
    ColumnKernel,
    Combination,
    Gaussian,
    Hamming,
    Laplacian,
    Linear,
    Matching,
    Polynomial,
    Spectrum,
)
from kernel_learn.representations import Landmarks
from oracles.refits import predict_without, row_values
from oracles.shapley import shapley_by_sets

BANK = [Gaussian(0.2), Laplacian(0.4)]


def rows_of(rng, n=40, classes=3, d=4):
    X = rng.standard_normal((n, d))
    y = (X[:, 0] + 0.4 * rng.standard_normal(n) > 0).astype(int)
    return X, y + (classes == 3) * (X[:, 1] > 0.7)


def log_odds(model, X):
    """Each class against the mean of all, as predict_proba has them."""
    L = model.predict_log_proba(X)
    return L - L.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", [Gaussian(0.2), BANK, Polynomial(2)], ids=str)
def test_rows_and_columns_lead_to_the_probabilities(kernel, classes, rng):
    X, y = rows_of(rng, classes=classes)
    model = kl.KernelDiscriminant(kernel, reg=0.1).fit(X, y)
    X_new = np.r_[rng.standard_normal((4, 4)), 20 * np.ones((1, 4))]
    told, k = log_odds(model, X_new), classes
    told_columns = told @ [-1.0, 1.0] if k == 2 else told
    found = model.shapley(X_new, background=10)
    fading = found.fading if k == 2 else found.fading[:, None]
    L = found.values.sum(axis=1) + found.base_values
    lead = found.prior + fading * (L - found.prior)
    np.testing.assert_allclose(lead, told_columns, rtol=1e-9, atol=1e-9)
    assert found.exact and not found.standard_error.any()  # few columns: by all sets of them
    why = model.explain(X_new, n_rows=len(X))
    total = why.baseline + why.contributions.sum(axis=1)
    np.testing.assert_allclose(total, why.log_odds, rtol=1e-9)
    winners = model.predict(X_new)  # which do not fade
    against = told[np.arange(5), winners] * (2 if k == 2 else 1)
    lead = why.prior + why.fading * (why.log_odds - why.prior)
    np.testing.assert_allclose(lead, against, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian(0.2), BANK], ids=str)
def test_columns_are_those_of_all_sets(kernel, rng):
    X, y = rows_of(rng)
    model = kl.KernelDiscriminant(kernel, reg=0.1).fit(X, y)
    behind, x = rng.standard_normal((6, 4)), rng.standard_normal(4)

    def value(columns):
        rows = behind.copy()
        rows[:, columns] = x[columns]
        why = model.shapley(rows, background=behind)
        return (why.values.sum(axis=1) + why.base_values).mean(axis=0)

    found = model.shapley(x[None], background=behind).values[0]
    for j in range(4):
        others = [c for c in range(4) if c != j]
        total = sum(
            (value([*some, j]) - value(list(some))) / (4 * comb(3, size))
            for size in range(4)
            for some in combinations(others, size)
        )
        np.testing.assert_allclose(found[j], total, atol=1e-10)


def table_of(rng, n=60):
    pd = pytest.importorskip("pandas")
    X, y = rows_of(rng, n)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        town=rng.choice(["x", "y", "z"], n), grade=rng.choice([1.0, 2.0, np.nan], n)
    )
    frame["kind"] = pd.Series(rng.choice(["u", "v"], n), dtype=object)
    frame.loc[[3, 50], "kind"] = None
    return frame, y


COLUMN_KERNELS = {
    "bank": {
        "numbers": ColumnKernel(Gaussian(0.3), ["a", "c"]),
        "more": ColumnKernel(Laplacian(0.3), slice("b", "d")),
        "words": ColumnKernel(Hamming(0.7), ["town", "grade", "kind"]),
    },
    "one": Hamming(0.5, ["town", "kind", "grade"], 0.4),
    "matching": ColumnKernel(Matching(), ["kind", "town", "grade"]),
    "whole": Combination([ColumnKernel(Linear(), [1, 3]), ColumnKernel(Matching(), [4])], [1.0, 2]),
    "texts": {"a": ColumnKernel(Gaussian(0.3), ["a"]), "t": ColumnKernel(Spectrum(1), "town")},
    "joint": ColumnKernel(Polynomial(2), ["a", "b", "c"]),
}


def log_odds_before_fading(model, rows):
    """L of rows, by the features of their kernel."""
    L = model._log_odds(model.transform(rows))
    return L - L.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("landmarks", ["all", 30])
@pytest.mark.parametrize("case", COLUMN_KERNELS)
def test_columns_of_tables(case, landmarks, rng):
    """Kernels find their columns in frames: names, words and missing cells."""
    frame, y = table_of(rng)
    model = kl.KernelDiscriminant(
        COLUMN_KERNELS[case], reg=0.1, decision="ridge", landmarks=landmarks, random_state=0
    ).fit(frame, y)
    new, behind = frame.iloc[[3, 7]].copy(), frame.iloc[10:15]
    new.iloc[1, 4] = "w"  # a word that no training row has
    groups = {"place": ["town", "kind"], "size": ["a", "d"]} if case == "texts" else None
    names = ["place", "size", "b", "c", "grade"] if case == "texts" else list(frame)
    found = model.shapley(new, background=behind, column_groups=groups)
    assert found.feature_names == names
    assert found.exact == (case != "joint") and found.standard_error.any() == (case == "joint")
    np.testing.assert_array_equal(found.data.shape, new.shape)
    L = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(L, log_odds_before_fading(model, new), rtol=1e-9, atol=1e-10)
    told = log_odds(model, new)
    lead = found.prior + found.fading[:, None] * (L - found.prior)
    np.testing.assert_allclose(lead, told, rtol=1e-9, atol=1e-9)

    def f(rows):  # which of the rows each column is taken from
        mixed = frame.iloc[: len(rows)].copy()
        for c, name in enumerate(frame):
            mixed[name] = [
                (new if r < 0 else frame)[name].iloc[-1 - r if r < 0 else r] for r in rows[:, c]
            ]
        return log_odds_before_fading(model, mixed)

    players = [
        [frame.columns.get_loc(c) for c in (groups or {}).get(name, [name])] for name in names
    ]
    numbers = np.repeat(np.arange(10, 15)[:, None], 7, axis=1)
    for i in range(2):
        due = shapley_by_sets(f, np.full(7, -1 - i), numbers, np.full(5, 0.2), players)
        if found.exact:
            np.testing.assert_allclose(found.values[i], due, atol=1e-10)
        else:
            assert (np.abs(found.values[i] - due) <= 6 * found.standard_error[i] + 1e-9).all()


def test_columns_of_views(rng):
    X, y = rows_of(rng, 60)
    model = kl.KernelDiscriminant([Gaussian(0.2), Linear()], reg=0.1).fit([X[:, :3], X[:, 3:]], y)
    new = [X[:3, :3], X[:3, 3:]]
    found = model.shapley(new, background=9)
    assert found.feature_names == ["x0", "x1", "x2", "x3"] and found.exact
    np.testing.assert_array_equal(found.data, X[:3])
    side_by_side = [ColumnKernel(Gaussian(0.2), [0, 1, 2]), ColumnKernel(Linear(), [3])]
    again = kl.KernelDiscriminant(side_by_side, reg=0.1).fit(X, y)
    np.testing.assert_allclose(again.shapley(X[:3], background=9).values, found.values, rtol=1e-9)
    groups = {"first": [0, 3]}
    whole = model.shapley(new, background=[X[5:9, :3], X[5:9, 3:]], column_groups=groups)
    assert whole.feature_names == ["first", "x1", "x2"]


def naive_scores(K, K_new, Y, w, lam):
    """Ridge regression with an intercept, solved as it stands."""
    n = len(K)
    A = np.zeros((n + 1, n + 1))
    A[:n, :n] = K + lam * np.diag(1 / w)
    A[:n, n] = A[n, :n] = 1.0
    solved = np.linalg.solve(A, np.r_[Y, np.zeros((1, Y.shape[1]))])
    return np.c_[K_new, np.ones(len(K_new))] @ solved


def test_stability_is_that_of_refits(rng):
    X, y = rows_of(rng, 30)
    w, X_new = rng.uniform(0.5, 2, 30), rng.standard_normal((5, 4))
    model = kl.KernelDiscriminant(Gaussian(0.2), reg=0.1).fit(X, y, sample_weight=w)

    def gram(A, B):
        return np.exp(-0.2 * ((A[:, None] - B) ** 2).sum(axis=2))

    def scores(rows):
        some = gram(X[rows], X[rows]), gram(X_new, X[rows])
        return naive_scores(*some, np.eye(3)[y[rows]], w[rows], model.reg_)

    whole, mean = scores(np.arange(30)), np.average(np.eye(3)[y], axis=0, weights=w)
    T = model._ridge_rows.T  # features are linear in the scores
    np.testing.assert_allclose(model.transform(X_new), (whole - mean) @ T, rtol=1e-9, atol=1e-12)
    to_odds = T @ model._log_odds.coef
    winner = model.decision_function(X_new).argmax(axis=1)
    contrast = (np.eye(3) - 1 / 3)[winner]
    changes = [
        np.abs(((whole - scores(np.delete(np.arange(30), j))) @ to_odds * contrast).sum(axis=1))
        for j in range(30)
    ]
    np.testing.assert_allclose(model.stability(X_new), np.max(changes, axis=0), rtol=1e-9)


@pytest.mark.parametrize("case", ["plain", "weights", "duplicates", "bank", "balanced", "ridge"])
def test_forgetting(case, rng):
    X, y = rows_of(rng, 60)
    weight = rng.uniform(0.5, 2, 60) if case == "weights" else None
    if case == "duplicates":
        X[40:50] = X[:10]
    options = {
        "bank": {"kernel": BANK, "weights": "loo"},
        "balanced": {"class_weight": "balanced"},
        "ridge": {"decision": "ridge"},
    }.get(case, {})
    model = kl.KernelDiscriminant(**options).fit(X, y, sample_weight=weight)
    gone = np.array([0, 3, 17, 44, 45, 59])
    stay = np.setdiff1d(np.arange(60), gone)
    own = None if weight is None else weight[stay]
    X_new = rng.standard_normal((20, 4))
    again = model.forget(gone, choices="again")
    scratch = kl.KernelDiscriminant(**options).fit(X[stay], y[stay], sample_weight=own)
    np.testing.assert_array_equal(again.predict_proba(X_new), scratch.predict_proba(X_new))
    np.testing.assert_array_equal(again.row_values_, scratch.row_values_)
    kept = model.forget(gone)
    assert kept.get_params() == model.get_params() and kept.decision_ == model.decision_
    assert kept.reg_ == pytest.approx(model.reg_, rel=1e-12)
    assert 0 < kept.forgotten_.distance < 1e-9 and again.forgotten_.distance == 0
    moved = kept._distance(1.5 * model.reg_)  # of another lambda
    assert moved > 1e-4
    assert kept.forgotten_.n_rows == 6 and kept.forgotten_.digest == again.forgotten_.digest
    # the same kernel and lambda, with whatever lambda is relative to by hand
    known = kept.base_kernel_
    w = np.ones(54) if own is None else own
    if case == "balanced":
        w = (60 / (3 * np.bincount(y)))[y[stay]]
    p, K = w / w.sum(), np.asarray(known(X[stay]))
    reg = model.reg_ / (p @ np.diagonal(K) - p @ K @ p)
    fixed = kl.KernelDiscriminant(known, reg=reg, decision=model.decision_, landmarks="all")
    fixed.fit(X[stay], y[stay], sample_weight=w)
    found, due = kept.predict_proba(X_new), fixed.predict_proba(X_new)
    np.testing.assert_allclose(found, due, rtol=1e-9, atol=1e-12)
    assert model.row_values_.shape == (60,) and not hasattr(model, "forgotten_")
    assert kept.forget([0]).forgotten_.n_rows == 7
    assert not hasattr(kept.fit(X, y), "forgotten_")


@pytest.mark.parametrize("landmarks", ["all", 20])
@pytest.mark.parametrize("case", ["frame", "views", "positions", "weights"])
def test_forgetting_rows_of_tables(case, landmarks, rng, tmp_path):
    """Kernels of columns find theirs in what is kept of the rows, by name or as views."""
    frame, y = table_of(rng, 80)
    frame.loc[7, "town"] = "Zanzibarville"
    X, kernel = frame, COLUMN_KERNELS["texts"] | {"k": ColumnKernel(Hamming(0.5), ["kind"])}
    if case != "frame":
        X, kernel = frame[list("abcd")].to_numpy(), [Gaussian(0.2), Laplacian(0.4)]
    take = (lambda rows: frame.iloc[rows]) if case == "frame" else (lambda rows: X[rows])
    if case == "views":
        take = lambda rows: [X[rows, :3], X[rows, 3:]]  # noqa: E731
    elif case != "frame":
        kernel = [ColumnKernel(Gaussian(0.2), slice(1, 4)), ColumnKernel(Laplacian(0.4), [0, 3])]
    every, gone = np.arange(80), np.array([3, 7, 20, 41])
    options = {"decision": "ridge", "landmarks": landmarks, "random_state": 0}
    if case == "weights":
        options["weights"] = "loo"
    model = kl.KernelDiscriminant(kernel, reg=0.1, **options).fit(take(every), y)
    stay, new = np.setdiff1d(every, gone), take(np.arange(10))
    again = model.forget(gone, choices="again")
    scratch = kl.KernelDiscriminant(kernel, reg=0.1, **options).fit(take(stay), y[stay])
    np.testing.assert_array_equal(again.predict_proba(new), scratch.predict_proba(new))
    twice = model.forget([41, 20]).forget([3, 7], choices="again")
    np.testing.assert_array_equal(twice.predict_proba(new), again.predict_proba(new))
    kept = model.forget(gone)
    assert 0 < kept.forgotten_.distance < 1e-9
    assert kept.forgotten_.digest == again.forgotten_.digest
    known, w = model.base_kernel_, np.full(76, 1 / 76)
    if landmarks == "all":
        side_by_side = (lambda rows: X[rows]) if case == "views" else take
        K = np.asarray(known(side_by_side(stay)))
        reg = model.reg_ / (w @ np.diagonal(K) - w @ K @ w)
        fixed = kl.KernelDiscriminant(known, reg=reg, decision="ridge", landmarks="all")
        fixed.fit(side_by_side(stay), y[stay])
        due = fixed.predict_proba(side_by_side(np.arange(10)))
        np.testing.assert_allclose(kept.predict_proba(new), due, rtol=1e-9, atol=1e-12)
    kl.save(kept, tmp_path / "kept.skops")
    loaded = kl.load(tmp_path / "kept.skops")
    np.testing.assert_array_equal(loaded.predict_proba(new), kept.predict_proba(new))
    inside = pickle.dumps(loaded)
    assert b"Zanzibarville" not in inside and not any(
        own.tobytes() in inside for own in frame[list("abcd")].to_numpy()[gone]
    )
    if case == "frame":
        assert b"Zanzibarville" in pickle.dumps(model)
        assert kept.feature_names_in_.tolist() == list(frame)


@pytest.mark.parametrize("case", ["dict", "balanced", "weights", "groups", "landmarks", "views"])
def test_classes_are_weighed_once_when_all_is_chosen_again(case, rng, tmp_path):
    """Rows forgotten by "keep", and then more by "again": the fit of the rest from scratch."""
    pytest.importorskip("skops")
    X, y = rows_of(rng, 60)
    options = {"class_weight": {0: 1.0, 1: 10.0, 2: 0.3} if case == "dict" else "balanced"}
    if case == "landmarks":
        options |= {"landmarks": 15, "random_state": 0}
    elif case == "views":
        options |= {"kernel": BANK}
    take = (lambda r: [X[r, :2], X[r, 2:]]) if case == "views" else (lambda r: X[r])
    fit_with = {}
    if case in ("weights", "views"):
        fit_with["sample_weight"] = rng.uniform(0.5, 2, 60)
    elif case == "groups":
        fit_with["groups"] = np.arange(60) // 2
    model = kl.KernelDiscriminant(**options).fit(take(np.arange(60)), y, **fit_with)
    stay = np.setdiff1d(np.arange(60), [0, 3, 44])
    scratch = kl.KernelDiscriminant(**options).fit(
        take(stay), y[stay], **{name: own[stay] for name, own in fit_with.items()}
    )
    kept = model.forget([0]).forget([2])  # 3 of the rows given
    ways = [kept]
    if case != "landmarks":  # of which no file has the rows
        kl.save(kept, tmp_path / "kept.skops")
        ways.append(kl.load(tmp_path / "kept.skops"))
    for way in ways:
        again = way.forget([42], choices="again")
        due = scratch.predict_proba(take(np.arange(60)))
        np.testing.assert_array_equal(again.predict_proba(take(np.arange(60))), due)
        np.testing.assert_array_equal(again.row_values_, scratch.row_values_)
    # classes count as they did before
    known, before = kept._rows_of_fit("a test"), model._rows_of_fit("a test")
    rest = np.setdiff1d(np.arange(60), [0, 3])
    np.testing.assert_array_equal(known.counted, before.counted[rest])
    np.testing.assert_array_equal(known.sample_weight, before.sample_weight[rest])


@pytest.mark.parametrize("landmarks", ["all", 15])
def test_a_class_may_vanish_from_scratch(landmarks, rng):
    X, y = rows_of(rng, 60)
    options = {"landmarks": landmarks, "random_state": 0}
    model = kl.KernelDiscriminant(**options).fit(X, y)
    gone, stay = np.flatnonzero(y == 2), np.flatnonzero(y != 2)
    again = model.forget(gone, choices="again")
    scratch = kl.KernelDiscriminant(**options).fit(X[stay], y[stay])
    assert again.classes_.tolist() == [0, 1] and model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(again.predict_proba(X), scratch.predict_proba(X))
    np.testing.assert_array_equal(model.forget([]).forgotten_.n_rows, 0)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"Nothing of class 2 .*choices='again'"):
        model.forget(gone)
    for most in (np.flatnonzero(y != 1), np.arange(60)):
        with pytest.raises(ValueError, match="fewer than two classes would be left"):
            model.forget(most, choices="again")
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("choices", ["keep", "again"])
@pytest.mark.parametrize("given", ["places", "rows"])
def test_nobody_is_forgotten_where_landmarks_were_given(given, choices, rng):
    X, y = rows_of(rng, 60)
    places = np.array([40, 3, 17, 8, 22, 51, 30, 11])
    landmarks = places if given == "places" else X[places]
    model = kl.KernelDiscriminant(landmarks=landmarks).fit(X, y)
    same = model.forget([], choices)
    assert same.forgotten_.n_rows == 0
    np.testing.assert_array_equal(same.landmarks, landmarks)
    np.testing.assert_allclose(same.predict_proba(X), model.predict_proba(X), rtol=1e-8)


@pytest.mark.parametrize("kernel", [Hamming(0.4), Matching(), "bank"], ids=str)
def test_equal_numbers_are_one_category(kernel, rng):
    """-0.0, which rounding makes, and 0.0."""
    pd = pytest.importorskip("pandas")
    X = np.round(rng.standard_normal((60, 4)))
    y = ((X[:, 0] >= 1) ^ (X[:, 1] == X[:, 2])).astype(int)
    one, other = np.where(X == 0, 0.0, X), np.where(X == 0, -0.0, X)
    assert (np.signbit(X) & (X == 0)).any() and not np.signbit(X[X == 0]).all()
    if kernel == "bank":
        kernel = {"few": ColumnKernel(Hamming(0.5), [0, 1, 2]), "b": ColumnKernel(Linear(), [3])}

    def with_words(X):
        words = ["a" if i % 2 else v for i, v in enumerate(X[:, 0])]
        return pd.DataFrame(X, columns=list("abcd")).assign(word=pd.Series(words, dtype=object))

    for form in (np.array, with_words):
        table, ways = form(X), [form(one), form(other)]
        few = table[:5]
        model = kl.KernelDiscriminant(kernel, reg=0.1, decision="ridge").fit(table, y)
        scratch = kl.KernelDiscriminant(kernel, reg=0.1, decision="ridge").fit(ways[0], y)
        np.testing.assert_array_equal(scratch.predict_proba(table), model.predict_proba(table))
        assert scratch.forget([0]).forgotten_.digest == model.forget([0]).forgotten_.digest
        for own in ways:
            np.testing.assert_array_equal(model.predict_proba(own), model.predict_proba(table))
            for i in range(10):
                found = model.find_rows(own[i : i + 1])
                assert i in found
                np.testing.assert_array_equal(found, model.find_rows(table[i : i + 1]))
        found = model.shapley(few, background=table[10:15])
        assert found.exact
        L = found.values.sum(axis=1) + found.base_values
        lead = found.prior + found.fading * (L - found.prior)
        np.testing.assert_allclose(lead, log_odds(model, few) @ [-1.0, 1.0], rtol=1e-9, atol=1e-9)


def test_columns_that_come_as_objects(rng):
    """Numbers of fit, and Python's objects later, as databases have them, or the other way."""
    frame, y = table_of(rng)
    frame["grade"] = frame["grade"].fillna(3.0)
    kernel = COLUMN_KERNELS["bank"]
    numbers, objects = frame, frame.astype({"grade": object, "b": object})
    for given, other in ((numbers, objects), (objects, numbers)):
        model = kl.KernelDiscriminant(kernel, reg=0.1, decision="ridge").fit(given, y)
        due = model.shapley(given[:4], background=given[4:9])
        for rows, behind in ((other, other), (other, given), (given, other)):
            np.testing.assert_array_equal(
                model.predict_proba(rows[:4]), model.predict_proba(given[:4])
            )
            found = model.shapley(rows[:4], background=behind[4:9])
            np.testing.assert_allclose(found.values, due.values, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(found.base_values, due.base_values, rtol=1e-12)
        drawn = model.shapley(other[:4], background=7).values
        np.testing.assert_allclose(drawn, model.shapley(given[:4], background=7).values, atol=1e-12)
        missing = other[:4].assign(grade=np.array([None, 1.0, 2.0, None], dtype=object))
        found = model.shapley(missing, background=other[4:9])
        L = found.values.sum(axis=1) + found.base_values
        np.testing.assert_allclose(L, log_odds_before_fading(model, missing), rtol=1e-9, atol=1e-10)


def test_rows_are_found_one_by_one(rng):
    """What a cell is does not hang on those beside it: a missing one, a number among words."""
    pd = pytest.importorskip("pandas")
    frame, y = table_of(rng)
    frame["mixed"] = pd.Series(["u", 2.0, None] * 20, dtype=object)
    kernel = ColumnKernel(Hamming(0.5), ["kind", "mixed", "grade"])
    model = kl.KernelDiscriminant(kernel).fit(frame, y)
    for i in (3, 7, 50, 51, 52):
        assert model.find_rows(frame.iloc[[i]]).tolist() == [i]


def test_a_file_holds_nothing_of_what_was_forgotten(rng, tmp_path):
    pytest.importorskip("skops")
    X, y = rows_of(rng, 40)
    model = kl.KernelDiscriminant().fit(X, y).forget([7])
    kl.save(model, tmp_path / "model.skops")
    loaded = kl.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.row_values_, model.row_values_)
    assert loaded.forgotten_ == model.forgotten_
    rows = [part.rows for part in (loaded._calibration.reference,)]
    for known in [*rows, loaded.kernel_.landmarks]:
        assert not (known == X[7]).all(axis=1).any()
    with pytest.raises(ValueError, match=r"rows 0 to 38"):
        loaded.forget([39])


def test_wrong_labels_are_found(rng):
    X = np.concatenate([rng.normal(-2, 1, (40, 2)), rng.normal(2, 1, (40, 2))])
    y = np.repeat(["no", "yes"], 40)
    y[[3, 60]] = ["yes", "no"]
    model = kl.KernelDiscriminant().fit(X, y)
    issues = model.label_issues(2)
    assert {issue.row for issue in issues} == {3, 60}
    first = next(issue for issue in issues if issue.row == 3)
    assert (first.label, first.suggested_label) == ("yes", "no") and first.probability > 0.5
    assert first.value == pytest.approx(model.row_values_[3])
    assert "suggested" in str(issues)
    np.testing.assert_array_equal(model.find_rows(X[[60, 3]]), [3, 60])


def nystroem(A, B, landmarks, kernels=(0,), theta=(1.0,)):
    """K(A, landmarks) K(landmarks, landmarks)^{-1} K(landmarks, B), summed over kernels."""

    def gram(kind, A, B):
        D = A[:, None] - B
        by_kind = (-0.2 * (D**2).sum(axis=2), -0.4 * np.abs(D).sum(axis=2))
        return np.exp(by_kind[kind])

    return sum(
        t
        * gram(kind, A, landmarks)
        @ np.linalg.solve(gram(kind, landmarks, landmarks), gram(kind, landmarks, B))
        for kind, t in zip(kernels, theta, strict=True)
    )


@pytest.mark.parametrize("case", ["one", "bank", "weights", "duplicates"])
def test_on_landmarks_against_refits(case, rng):
    X, y = rows_of(rng, 50)
    w = rng.uniform(0.5, 2, 50) if case == "weights" else np.ones(50)
    if case == "duplicates":
        X[40:50] = X[:10]
    kernel = BANK if case == "bank" else Gaussian(0.2)
    model = kl.KernelDiscriminant(kernel, reg=0.1, landmarks=12, random_state=0)
    model.fit(X, y, sample_weight=w)
    theta = model.base_kernel_.weights if case == "bank" else [1.0]
    known = {"landmarks": model.kernel_.landmarks, "kernels": range(len(theta)), "theta": theta}
    distinct, place = np.unique(X, axis=0, return_inverse=True)
    counts = np.zeros((len(distinct), 3))
    np.add.at(counts, (place.ravel(), y), w)
    own = counts.sum(axis=1)
    Y, K = counts / own[:, None], nystroem(distinct, distinct, **known)
    units = [np.array([i]) for i in range(len(own))]
    expected = row_values(K, Y, own, model.reg_, units, lambda r: (r**2).sum(axis=1))
    np.testing.assert_allclose(model.row_values_, expected[place.ravel()], rtol=1e-9, atol=1e-10)
    X_new = rng.standard_normal((5, 4))
    K_new = nystroem(X_new, distinct, **known)
    whole = predict_without(K, K_new, Y, own, model.reg_, [])
    to_odds = model._landmark_rows.rows.T @ model._log_odds.coef
    contrast = (np.eye(3) - 1 / 3)[model.decision_function(X_new).argmax(axis=1)]
    changes = [
        ((whole - predict_without(K, K_new, Y, own, model.reg_, [j])) @ to_odds * contrast).sum(1)
        for j in range(len(own))
    ]
    expected = np.abs(changes).max(axis=0)
    np.testing.assert_allclose(model.stability(X_new), expected, rtol=1e-9)
    told = log_odds(model, X_new)
    why, columns = model.explain(X_new, n_rows=50), model.shapley(X_new, background=7)
    L = why.baseline + why.contributions.sum(axis=1)
    winners = np.searchsorted(model.classes_, why.labels)
    lead = why.prior + why.fading * (L - why.prior)
    np.testing.assert_allclose(lead, told[np.arange(5), winners], rtol=1e-9, atol=1e-9)
    total = (columns.values.sum(axis=1) + columns.base_values)[np.arange(5), winners]
    np.testing.assert_allclose(total, L, rtol=1e-9, atol=1e-9)
    assert columns.exact
    first = model.label_issues(1)[0]
    assert first.label == y[first.row] != first.suggested_label
    np.testing.assert_array_equal(model.find_rows(X[[4]])[:1], [4])


@pytest.mark.parametrize("case", ["one", "bank", "weights", "drawn anew", "averages", "linear"])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.3])
def test_forgetting_on_landmarks(case, share, rng):
    X, y = rows_of(rng, 90)
    w = rng.uniform(0.5, 2, 90) if case == "weights" else np.ones(90)
    options = {
        "kernel": {"bank": BANK, "linear": "linear"}.get(case, Gaussian(0.2)),
        "landmarks": Landmarks("kmeans", 12) if case == "averages" else 12,
        "random_state": 0,
    }
    model = kl.KernelDiscriminant(**options).fit(X, y, sample_weight=w)
    others = np.setdiff1d(np.arange(90), model.find_rows(model.kernel_.landmarks[:, :4]))
    if case == "drawn anew":
        others = model.find_rows(model.kernel_.landmarks)
    gone = np.sort(rng.permutation(others)[: max(1, min(len(others) - 1, int(90 * share)))])
    stay = np.setdiff1d(np.arange(90), gone)
    again = model.forget(gone, choices="again")
    scratch = kl.KernelDiscriminant(**options).fit(X[stay], y[stay], sample_weight=w[stay])
    X_new = rng.standard_normal((9, 4))
    np.testing.assert_array_equal(again.predict_proba(X_new), scratch.predict_proba(X_new))
    assert again.forgotten_.kept == () and again.forgotten_.redrawn == ("everything",)
    small = model.forget(gone)
    told = small.forgotten_
    assert told.n_rows == len(gone) and told.digest == again.forgotten_.digest and told.kept
    assert 0 < told.distance < 1e-9 < small._distance(1.5 * model.reg_) and small.reg_ == model.reg_
    anew = case in ("drawn anew", "averages")
    assert bool(told.redrawn) == anew
    same = np.array_equal(small.kernel_.landmarks, model.kernel_.landmarks)
    assert same == (not anew)
    assert small.get_params() == model.get_params()
    if case != "linear":
        theta = model.base_kernel_.weights if case == "bank" else [1.0]
        known = {"landmarks": small.kernel_.landmarks, "kernels": range(len(theta))}
        known["theta"] = theta
        K = nystroem(X[stay], X[stay], **known)
        Y = np.eye(3)[y[stay]]
        f = predict_without(K, nystroem(X_new, X[stay], **known), Y, w[stay], model.reg_, [])
        mean = np.average(Y, axis=0, weights=w[stay])
        due = (f - mean) @ small._landmark_rows.rows.T
        found = small.transform(X_new)
        np.testing.assert_allclose(found, due, rtol=1e-9, atol=1e-9 * np.abs(due).max())
    inside = pickle.dumps(small) + pickle.dumps(small._landmark_rows.X)
    assert not any(X[i].tobytes() in inside for i in gone)
    assert all(X[i].tobytes() in inside for i in stay)


def test_rows_of_landmarks_are_in_no_file(rng, tmp_path):
    pytest.importorskip("skops")
    X, y = rows_of(rng, 60)
    model = kl.KernelDiscriminant(landmarks=10, decision="centroid", random_state=0).fit(X, y)
    kl.save(model, tmp_path / "model.skops")
    loaded = kl.load(tmp_path / "model.skops")
    for few in (loaded, pickle.loads(pickle.dumps(model))):
        for ask in (
            few.explain,
            few.stability,
            lambda _, few=few: few.forget([0]),
            lambda _, few=few: few.label_issues(),
            lambda _, few=few: few.row_values_,
        ):
            with pytest.raises(ValueError, match="exact or not at all"):
                ask(X[:2])
        assert few.shapley(X[:2], background=5).exact  # columns need no training rows
    assert len(model.row_values_) == 60
    for given in (X[:10], np.arange(10)):
        model = kl.KernelDiscriminant(landmarks=given).fit(X, y)
        with pytest.raises(ValueError, match="one of the landmarks that were given"):
            model.forget([3])
    kept = kl.KernelDiscriminant(landmarks=X[:10]).fit(X, y).forget([30])
    assert kept.forgotten_.redrawn == ()


def test_neighbours_forget_too(rng):
    X, y = rows_of(rng, 60)
    model = kl.KernelDiscriminant(decision="nearest_neighbor").fit(X, y)
    stay = np.delete(np.arange(60), [3, 9])
    again = model.forget([3, 9], choices="again")
    alone = kl.KernelDiscriminant(decision="nearest_neighbor").fit(X[stay], y[stay])
    np.testing.assert_array_equal(again.predict(X), alone.predict(X))
    kept = model.forget([3, 9])
    assert kept.reg_ == model.reg_ and kept.forgotten_.distance < 1e-9
    assert not any(X[i].tobytes() in pickle.dumps(kept) for i in (3, 9))


def test_what_is_not_exact_is_refused(rng):
    X, y = rows_of(rng, 60)
    weight = np.r_[0.0, np.ones(59)]
    for odd in (
        kl.KernelDiscriminant(unlabeled=-1).fit(X, np.r_[-1, y[1:]]),
        kl.KernelDiscriminant().fit(X, y, sample_weight=weight),
    ):
        with pytest.raises(ValueError, match="all with a label and a positive weight"):
            odd.forget([1])
    near = kl.KernelDiscriminant(decision="nearest_neighbor").fit(X, y)
    with pytest.raises(ValueError, match="decision='auto'"):
        near.shapley(X[:2])
    with pytest.raises(ValueError, match="decision='auto'"):
        near.label_issues()
    grown = kl.KernelDiscriminant(landmarks=10).partial_fit(X, y)
    with pytest.raises(ValueError, match="partial_forget takes out again"):
        grown.forget([0])
    model = kl.KernelDiscriminant().fit(X, y)
    with pytest.raises(ValueError, match="give 'keep' or 'again'"):
        model.forget([0], choices="both")
    with pytest.raises(ValueError, match="Nothing of class 2 would be left"):
        model.forget(np.flatnonzero(y == 2))


def test_groups_of_columns_are_players(rng):
    pd = pytest.importorskip("pandas")
    X, y = rows_of(rng)
    model = kl.KernelDiscriminant(Gaussian(0.2), reg=0.1).fit(
        pd.DataFrame(X, columns=list("abcd")), y
    )
    new = pd.DataFrame(rng.standard_normal((2, 4)), columns=list("abcd"))
    found = model.shapley(new, background=7, column_groups={"first": ["a", "c"]})
    assert found.feature_names == ["first", "b", "d"] and found.values.shape == (2, 3, 3)
    alone = model.shapley(new, background=7)
    total, due = found.values.sum(axis=1), alone.values.sum(axis=1)
    np.testing.assert_allclose(total, due, rtol=1e-9, atol=1e-12)
    known, share = model._background(7)

    def value(x, columns):
        rows = known.copy()
        rows[:, columns] = x[columns]
        L = model._linear_logits(rows)
        return share @ (L - L.mean(axis=1, keepdims=True))

    players = [[0, 2], [1], [3]]
    for x, own in zip(new.to_numpy(), found.values, strict=True):
        for j, mine in enumerate(players):
            others = [p for p in players if p is not mine]
            due = sum(
                (value(x, [*mine, *chain(*some)]) - value(x, [*chain(*some)])) / (3 * comb(2, size))
                for size in range(3)
                for some in combinations(others, size)
            )
            np.testing.assert_allclose(own[j], due, atol=1e-10)
    with pytest.raises(ValueError, match="column_groups names the columns"):
        model.shapley(new, column_groups={"first": ["z"]})
    with pytest.raises(ValueError, match="in two of them"):
        model.shapley(new, column_groups={"first": ["a"], "second": ["a"]})


@pytest.mark.parametrize("kind", [kl.KernelDiscriminant, kl.KernelClassifier])
def test_sentences_of_what_is_given(kind, rng):
    X, y = rows_of(rng, 60)
    model = (
        kind().fit(X, y) if kind is kl.KernelDiscriminant else kind(quality="fast", assess=False)
    )
    model.fit(X, y)
    for background in (None, 2.5, 0, True):
        with pytest.raises((TypeError, ValueError), match="background"):
            model.shapley(X[:2], background=background)
    with pytest.raises(ValueError, match="column_groups names the columns"):
        model.shapley(X[:2], column_groups={"a": ["z"]})
    with pytest.raises(ValueError, match="column_groups must be None or a dict of names to"):
        model.shapley(X[:2], column_groups=[[0, 1]])
    nobody = model.forget([])
    assert nobody.forgotten_.n_rows == 0
    np.testing.assert_allclose(nobody.predict_proba(X), model.predict_proba(X), atol=1e-8)
    for rows in ([0.5], "12", [[1]], [True, False]):
        with pytest.raises(ValueError, match="list of integers"):
            model.forget(rows)


def test_rows_that_were_written_over_after_a_fit_on_landmarks_are_not_taken_for_its_own():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    model = kl.KernelDiscriminant(landmarks=10, random_state=0).fit(X, y)
    before, row = model.row_values_, X[3].copy()
    X[3] += 1.0
    with pytest.raises(ValueError, match=r"row_values_ needs the rows of the fit.*was changed"):
        model.row_values_  # noqa: B018
    assert not hasattr(model, "row_values_")
    X[3] = row
    np.testing.assert_array_equal(model.row_values_, before)
