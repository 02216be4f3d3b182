"""Leaderboards: the same folds for all, intervals that allow for overlap."""

import numpy as np
import pytest
from scipy import stats

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")

from kernel_learn.tables import TableError, look_at_columns  # noqa: E402
from kernel_learn.tables.comparing import (  # noqa: E402
    Score,
    balanced_accuracy,
    choose_metric,
    compare,
    corrected_interval,
    has_rare_classes,
    held_out_probabilities,
    log_loss,
    make_splits,
    rank_of,
)
from kernel_learn.tables.deciding import ranking_figures  # noqa: E402
from kernel_learn.tables.methods import (  # noqa: E402
    CLASSIFIERS,
    OTHERS,
    TRANSFORMERS,
    check_method,
    compared,
    make_model,
    too_slow,
)

rng = np.random.default_rng(0)
N = 90
Y = np.repeat(["a", "b", "c"], N // 3)
FRAME = pd.DataFrame(
    rng.normal(size=(N, 3)) + 2 * (Y[:, None] == ["a", "b", "c"]), columns=[*"uvw"]
)
COLUMNS = look_at_columns(FRAME)


def test_corrected_interval_by_hand():
    values = np.array([0.9, 0.8, 0.85, 0.95])
    reach = stats.t.ppf(0.975, 3) * np.sqrt((1 / 4 + 1 / 4) * values.var(ddof=1))
    low, high = corrected_interval(values, 1 / 4)
    assert (low, high) == pytest.approx((0.875 - reach, 0.875 + reach))
    naive = stats.t.interval(0.95, 3, 0.875, stats.sem(values))
    assert high - low > naive[1] - naive[0]


def test_coverage_of_the_interval():
    """Errors of ten splits that share training rows vary less than they should: the correction."""
    hits = 0
    for _ in range(400):
        common, own = rng.normal() * np.sqrt(0.2), rng.normal(size=10) * np.sqrt(0.8)
        low, high = corrected_interval(common + own, 1 / 4)
        hits += low <= 0 <= high
    assert hits / 400 > 0.93


def test_splits_keep_classes_and_groups():
    splits = make_splits(Y, None, 3, 2, 0)
    assert len(splits) == 6
    assert sorted(np.concatenate([test for _, test in splits[:3]])) == list(range(N))
    assert all(np.unique(Y[test], return_counts=True)[1].tolist() == [10] * 3 for _, test in splits)
    groups = np.arange(N) // 3
    for train, test in make_splits(Y, groups, 3, 1, 0):
        assert not set(groups[train]) & set(groups[test])
    for own in (None, groups):  # each repetition has splits of its own, and each seed
        tests = [tuple(test) for _, test in make_splits(Y, own, 3, 2, 0)]
        assert len(set(tests)) == 6
        assert tests[3:] == [tuple(test) for _, test in make_splits(Y, own, 3, 1, 1)]


def test_leaderboard():
    steps = []
    board = compare(
        FRAME,
        Y,
        COLUMNS,
        ["logistic regression", "majority class"],
        folds=3,
        repeats=2,
        step=lambda method, split: steps.append((method, split)),
    )
    rows = board.rows()
    assert [row["method"] for row in rows] == ["logistic regression", "majority class"]
    assert len(steps) == 12
    best, naive = rows
    assert best["accuracy"] > 0.7 and naive["accuracy"] == pytest.approx(1 / 3)
    assert best["low"] <= best["accuracy"] <= best["high"]
    assert (board.scores[0].share, board.n_folds, board.n_repeats) == (1 / 2, 3, 2)
    assert naive["log_loss"] == pytest.approx(np.log(3), rel=1e-6)
    assert naive["difference"][0] == pytest.approx(naive["accuracy"] - best["accuracy"])


def test_a_method_that_fails_does_not_end_the_comparison():
    with_letters = FRAME.assign(u="x")
    board = compare(
        with_letters, Y, COLUMNS, ["KernelClassifier", "majority class"], folds=2, repeats=1
    )
    failed = board.rows()[-1]
    assert failed["method"] in ("KernelClassifier", "majority class")
    assert "'u' holds 'x'" in failed["failure"] and failed["accuracy"] is None


def test_rare_classes_and_few_groups():
    y = Y.astype(object)
    y[:2] = "rare"
    y = y.astype(str)
    board = compare(FRAME, y, COLUMNS, ["majority class"], folds=5, repeats=1)
    assert board.left_out == ["rare"] and board.n_rows == N - 2
    with pytest.raises(TableError, match="needs 5 groups, and there are 2"):
        compare(FRAME, Y, COLUMNS, ["majority class"], groups=np.arange(N) % 2)
    with pytest.raises(TableError, match="needs two classes"):
        compare(FRAME[:32], y[:32], COLUMNS, ["majority class"], folds=5)


def test_a_class_with_as_many_rows_as_folds_is_compared():
    y = np.r_[["rare"] * 5, Y[5:]]
    board = compare(FRAME, y, COLUMNS, ["majority class"], folds=5, repeats=1)
    assert board.left_out == [] and board.n_rows == N


@pytest.mark.parametrize(("rows", "parts"), [(N, 5), (9, 3)])
def test_held_out_rows_are_five_parts_or_as_many_as_a_class_has_rows(rows, parts):
    some = np.linspace(0, N - 1, rows).astype(int)
    frame, model = FRAME.iloc[some], make_model("majority class", "t")
    found = list(held_out_probabilities(model, frame, Y[some], COLUMNS, None))
    assert len(found) == parts
    assert sorted(np.concatenate([test for test, _ in found])) == list(range(rows))
    for test, P in found:
        np.testing.assert_allclose(P, np.full((len(test), 3), 1 / 3), rtol=1e-6)


def test_most_rows_are_of_one_class_above_seven_tenths():
    assert not has_rare_classes(np.array([7, 3]))
    assert has_rare_classes(np.array([71, 29])) and has_rare_classes(np.array([10, 10, 80]))


def test_many_rows_are_sampled():
    board = compare(FRAME, Y, COLUMNS, ["majority class"], most_rows=45, folds=3, repeats=1)
    assert board.n_rows == 45


def test_log_loss_of_unknown_classes_and_without_probabilities():
    P = np.array([[0.5, 0.5], [0.2, 0.8]])
    classes = np.array(["a", "c"])
    assert log_loss(P, classes, np.array(["a", "c"])) == pytest.approx(-np.log([0.5, 0.8]).mean())
    assert log_loss(P, classes, np.array(["b", "c"])) > 10
    assert np.isnan(log_loss(None, classes, np.array(["a", "c"])))


def test_balanced_accuracy_is_that_of_scikit_learn():
    from sklearn.metrics import balanced_accuracy_score

    y, said = rng.integers(0, 4, 50) ** 2, rng.integers(0, 4, 50) ** 2
    expected = balanced_accuracy_score(y, said)
    assert balanced_accuracy(y == said, y) == pytest.approx(expected)


def test_methods_by_name():
    assert check_method("auto") == "KernelClassifier"
    assert check_method("hsicsubspace") == "HSICSubspace"
    with pytest.raises(TableError, match="'forest' is not a method"):
        check_method("forest")
    names = compared(["HSICSubspace"])
    assert names[:2] == ["KernelClassifier", "HSICSubspace"]
    assert {"SVC, tuned", "logistic regression", "gradient boosting", "majority class"} <= set(
        names
    )
    assert too_slow(names, [], 6000, 2) == ["gradient boosting"] + ["CatBoost"] * (
        "CatBoost" in names
    )
    assert too_slow(names, ["Gradient boosting", "catboost"], 6000, 5) == []
    assert too_slow(names, [], 5000, 2) == [] != too_slow(names, [], 1700, 3)
    model = make_model("auto", "t", 3, ["quality=fast", "max_members=2"])
    assert model.estimator.quality == "fast" and model.estimator.max_members == 2
    assert model.estimator.random_state == 3
    with pytest.raises(TableError, match="KernelClassifier has no parameter 'speed'; the par"):
        make_model("auto", "t", 0, ["speed=fast"])
    with pytest.raises(TableError, match="write name=value; the parameters of KernelClassifier"):
        make_model("auto", "t", 0, ["fast"])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [*CLASSIFIERS, *TRANSFORMERS, *OTHERS])
def test_every_method_fits_a_table(name):
    if name in ("LightGBM", "CatBoost"):
        pytest.importorskip(name.lower())
    model = make_model(name, "t").fit(FRAME, Y, columns=COLUMNS)
    assert model.score(FRAME, Y) > (0.3 if name == "majority class" else 0.6)


@pytest.mark.parametrize(
    ("metric", "n_classes", "uneven", "chosen"),
    [
        ("auto", 2, False, "accuracy"),
        ("auto", 2, True, "average-precision"),
        ("auto", 5, True, "balanced"),
        ("auc", 2, True, "auc"),
    ],
)
def test_the_metric_fits_the_classes(metric, n_classes, uneven, chosen):
    assert choose_metric(metric, n_classes, uneven) == chosen


def test_a_metric_that_is_none():
    with pytest.raises(TableError, match="choose one of auto, accuracy, balanced"):
        choose_metric("mcc", 2, False)


@pytest.mark.parametrize("metric", ["accuracy", "balanced", "auc", "logloss", "f1"])
def test_methods_are_ranked_by_the_metric(metric):
    values = {"auc": np.array([0.9]), "f1": np.array([0.9])}
    low = {key: own / 2 for key, own in values.items()}
    good = Score("good", np.ones(1), np.ones(1), np.zeros(1), np.ones(1), 1.0, others=values)
    bad = Score("bad", np.zeros(1), np.zeros(1), np.ones(1), np.ones(1), 1.0, others=low)
    failed = Score("failed", *[np.full(1, np.nan)] * 4, 1.0, "no")
    order = sorted([failed, bad, good], key=lambda score: rank_of(score, metric))
    assert [score.method for score in order] == ["good", "bad", "failed"]


def test_figures_of_ranks_are_those_of_scikit_learn():
    from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

    draw = np.random.default_rng(3)
    for k in (2, 4):
        P, y = draw.dirichlet(np.ones(k), 90), draw.integers(0, k, 90)
        y[:70] = 0
        found = ranking_figures(P, y)
        if k == 2:  # the rarer class is the second
            expected = roc_auc_score(y, P[:, 1]), average_precision_score(y, P[:, 1])
            f1 = f1_score(y, P.argmax(axis=1))
        else:
            expected = (
                roc_auc_score(y, P, multi_class="ovr"),
                np.mean([average_precision_score(y == c, P[:, c]) for c in range(k)]),
            )
            f1 = f1_score(y, P.argmax(axis=1), average="macro")
        np.testing.assert_allclose([found["auc"], found["average_precision"]], expected, rtol=1e-9)
        assert found["f1"] == pytest.approx(f1, abs=1e-12)


def test_methods_without_probabilities_are_ranked_by_their_scores():
    board = compare(FRAME, Y, COLUMNS, ["SVC, tuned"], folds=2, repeats=1, metric="auc")
    (row,) = board.rows()
    assert row["log_loss"] is None and 0.5 < row["auc"] <= 1.0 and row["value"] == row["auc"]
