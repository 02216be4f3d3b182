"""Values of rows, stability and doubtful labels, against refits."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

import kernel_learn as kl
from kernel_learn.criteria.held_out.hinge import fit_hinges
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.ledger.label_noise import doubting_proba
from kernel_learn.ensemble.ledger.row_values import is_ridge, leave_out_of, training_gram
from kernel_learn.ensemble.pooling import Averages
from oracles.refits import fit_ridge, predict_without


def fitted(case):
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(1).permutation(len(y))[: 60 if case == "plain" else 36]
    X, y, more = X[rows] + 1e-3 * np.arange(len(rows))[:, None], y[rows], {}
    if case == "weights":
        more = {"sample_weight": np.where(np.arange(len(y)) % 3 == 0, 2.5, 1.0)}
    if case == "groups":
        more = {"groups": np.concatenate([[0, 0, 0, 1, 1], np.arange(2, len(y) - 3)])}
    if case == "duplicates":
        X[20:25] = X[:5]
    model = kl.KernelClassifier(quality="fast", assess=False, max_members=4)
    return model.fit(X, y, **more), X, y


def lam_of(K, weight, reg):
    p = weight / weight.sum()
    return reg * (p @ np.diagonal(K) - p @ K @ p)


def units_of(targets):
    inside = {int(i) for group in targets.groups for i in group}
    alone = [np.array([i]) for i in range(targets.n) if i not in inside]
    return [*targets.groups, *alone]


@pytest.mark.slow
@pytest.mark.parametrize("case", ["plain", "weights", "groups", "duplicates"])
def test_row_values_are_those_of_refits(case):
    model, X, _ = fitted(case)
    ensemble = model._fitted.ensemble
    targets = ensemble.targets
    Y, w, N = targets.Y, targets.weight, targets.total
    members = ensemble.predicting
    assert members and all(is_ridge(member) for member in members)
    Ks = [training_gram(ensemble, member) for member in members]
    lams = [lam_of(K, w, member.reg) for K, member in zip(Ks, members, strict=True)]

    def loss(unit, gone):
        pool = Averages(len(unit), ensemble.shares)
        moved = (w[unit, None] * (Y[unit] - targets.mean)).sum(axis=0) / (N - w[unit].sum())
        for K, lam, member in zip(Ks, lams, members, strict=True):
            scores = predict_without(K, K[unit], Y, w, lam, gone) + moved
            pool.add(member.share, member.maps[0](scores))
        P = np.maximum(pool.pooled().proba, 1e-9)
        return float(-(targets.counts[unit] * np.log(P)).sum())

    expected = np.zeros(targets.n)
    for unit in units_of(targets):
        before = loss(unit, unit)
        for j in np.setdiff1d(np.arange(targets.n), unit):
            expected[j] += loss(unit, np.append(unit, j)) - before
    found = model.row_values_
    assert found.shape == (len(X),)
    distinct = model._given.distinct
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected[distinct], atol=1e-9 * scale, rtol=1e-9)
    if case == "duplicates":
        np.testing.assert_array_equal(found[20:25], found[:5])


def test_values_in_parts(monkeypatch):
    model, _, _ = fitted("groups")
    whole = model.row_values_
    monkeypatch.setattr("kernel_learn.ensemble.ledger.row_values.HELD_NUMBERS", 700)
    again, _, _ = fitted("groups")
    np.testing.assert_allclose(again.row_values_, whole, rtol=1e-10, atol=1e-12)


def test_rows_of_weight_zero_have_no_value():
    X, y = load_wine(return_X_y=True)
    X, y = X[::3], y[::3]
    weight = np.ones(len(y))
    weight[[3, 7]] = 0.0
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X, y, sample_weight=weight)
    assert (model.row_values_[[3, 7]] == 0).all() and (model.row_values_ != 0).sum() > 40
    assert {3, 7}.isdisjoint(issue.row for issue in model.label_issues(len(y)))


def hinge_refit(K, targets, reg, j, n):
    """Machines of the other rows alone, at the same lam and offset."""
    left = np.setdiff1d(np.arange(n), j)
    p = targets.weight / targets.total
    unit = p @ np.diagonal(K) - p @ K @ p
    some = Targets(targets.counts[left])
    q = some.weight / some.total
    own = K[np.ix_(left, left)]
    # lam and offset are in units of the rows that are left: such a kernel and reg have the same
    shift = unit - (q @ np.diagonal(own) - q @ own @ q)
    own_unit = unit - shift
    machines = fit_hinges(own + shift, some, np.array([reg * unit / own_unit]))[0]
    coef = np.zeros((n, machines.model.coef.shape[1]))
    coef[left] = machines.model.coef
    return coef, unit * coef.sum(axis=0)


@pytest.mark.parametrize("sets", ["ridge", "machines"])
def test_stability_is_that_of_refits(sets):
    if sets == "ridge":
        model, X, _ = fitted("weights")
        X_new = X[:6] + 0.1
    else:
        X = np.random.default_rng(0).integers(1, 6, (90, 4)).astype(float)
        y = np.sign(X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]).astype(int) + 1
        X_new = X[:6] + 0.1
        model = kl.KernelClassifier(assess=False).fit(X, y)
    ensemble = model._fitted.ensemble
    machines = [not is_ridge(member) for member in ensemble.predicting]
    assert any(machines) == (sets == "machines")
    targets, n = ensemble.targets, ensemble.targets.n
    table = model._table(X_new)
    winners = model._row_log_odds(table).winners
    changes = np.zeros((n, len(X_new)))
    for _, member, K_new in ensemble.kernel_blocks(table):
        K = training_gram(ensemble, member)
        whole = member.maps[0](member.models[0][0].scores(K_new))
        lam = lam_of(K, targets.weight, member.reg)
        if is_ridge(member):
            whole = member.maps[0](predict_without(K, K_new, targets.Y, targets.weight, lam, []))
        for j in range(n):
            if is_ridge(member):
                left = predict_without(K, K_new, targets.Y, targets.weight, lam, [j])
            else:
                coef, intercept = hinge_refit(K, targets, member.reg, j, n)
                left = K_new @ coef + intercept
            moved = member.share * (whole - member.maps[0](left))
            own = moved[np.arange(len(winners)), winners]
            others = moved.sum(axis=1) - own
            k = moved.shape[1]
            changes[j] += own - others if k == 2 else own - moved.mean(axis=1)
    # the difference of two log-odds is known as well as these are
    size = np.abs(model._row_log_odds(table).log_odds).max()
    np.testing.assert_allclose(
        model.stability(X_new), np.abs(changes).max(axis=0), rtol=1e-9, atol=1e-10 * size
    )


def test_ridge_members_are_ridge():
    model, _, _ = fitted("plain")
    ensemble = model._fitted.ensemble
    for member in ensemble.predicting:
        K = training_gram(ensemble, member)
        lam = lam_of(K, ensemble.targets.weight, member.reg)
        a, b = fit_ridge(K, ensemble.targets.Y, ensemble.targets.weight, lam)
        np.testing.assert_allclose(K @ a + b, member.models[0][0].scores(K), atol=1e-6)


def doubted_by_refits(model, row):
    """Held-out probabilities of one row by labels that the others find likely, by refits."""
    ensemble = model._fitted.ensemble
    T = ensemble.targets
    w, N, k, Y = T.weight, T.total, T.n_classes, T.Y
    trust = 0.9 * Y + 0.1 / (k - 1) * (1 - Y)
    known = [(m, training_gram(ensemble, m)) for m in ensemble.predicting]
    Q, P = Y, None
    for _ in range(3):
        mean = w @ Q / N
        pool = Averages(T.n, ensemble.shares)
        for member, K in known:
            lam = lam_of(K, w, member.reg)
            scores = np.empty(Y.shape)
            for i in range(T.n):
                moved = w[i] * (Q[i] - mean) / (N - w[i])
                scores[i] = predict_without(K, K[[i]], Q, w, lam, [i])[0] + moved
            pool.add(member.share, member.maps[0](scores))
        P = pool.pooled().proba
        Q = P * trust / (P * trust).sum(axis=1, keepdims=True)
    return P[model._given.distinct[row]]


def test_labels_that_are_other_ones_with_groups():
    model, _, _ = fitted("groups")
    P = doubting_proba(model._fitted.ensemble)
    assert P.shape == (36, 3) and np.allclose(P.sum(axis=1), 1.0)
    member = model._fitted.ensemble.predicting[0]
    found = leave_out_of(model._fitted.ensemble, member)
    np.testing.assert_allclose(
        found.held_out(np.array(found.Y)), found.Y - found.residuals, atol=1e-12
    )


def test_flipped_labels_come_first():
    X, y = load_wine(return_X_y=True)
    X, y = X[::3], y[::3]
    wrong = np.array([2, 23, 47])
    flipped = y.copy()
    flipped[wrong] = [2, 0, 1]
    model = kl.KernelClassifier(quality="fast", assess="loo", max_members=2).fit(X, flipped)
    issues = model.label_issues(n_rows=3)
    assert {issue.row for issue in issues} == set(wrong.tolist())
    for issue in issues:
        assert issue.label == flipped[issue.row] and issue.suggested_label == y[issue.row]
        both = model.held_out_proba_[issue.row] * doubted_by_refits(model, issue.row)
        both = np.sqrt(both) / np.sqrt(both).sum()
        np.testing.assert_allclose(issue.probability, both[y[issue.row]], rtol=1e-6)
        assert issue.value == model.row_values_[issue.row]
    lines = str(issues).splitlines()
    assert len(lines) == 4 and "suggested" in lines[0] and str(issues[0].row) in lines[1]


def test_a_source_does_not_know_its_rows():
    X, y = load_wine(return_X_y=True)
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X, y)
    del model._given
    with pytest.raises(ValueError, match="needs a fit to rows in memory"):
        model.label_issues()
