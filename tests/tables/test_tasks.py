"""What a target is taken for, columns that give a number away, and splits of numbers."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")

from kernel_learn.rows.targets import tell_targets  # noqa: E402
from kernel_learn.tables import TableError, look_at_columns  # noqa: E402
from kernel_learn.tables.comparing_numbers import compare_numbers, split_numbers  # noqa: E402
from kernel_learn.tables.methods import check_method  # noqa: E402
from kernel_learn.tables.number_columns import find_number_leaks  # noqa: E402
from kernel_learn.tables.number_methods import NUMBERS, task_of_methods  # noqa: E402
from kernel_learn.tables.reading.clean_files import read_clean_table  # noqa: E402
from kernel_learn.tables.tasks import Task, is_measured, take_target, tell_task  # noqa: E402

rng = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("values", "name", "is_guess"),
    [
        (rng.normal(size=40), "regress", False),
        (np.arange(40) % 21, "regress", True),  # 21 values, fewer than 5 rows each
        (np.arange(105) % 21, "classify", False),  # 5 rows each
        (np.arange(40) % 20, "classify", False),  # 20 values
        ((np.arange(40) % 21).astype(float), "regress", True),
        (np.array(["a", "b"] * 20), "classify", False),
        (np.array([True, False] * 20), "classify", False),
    ],
)
def test_auto_is_the_rule_of_the_house(values, name, is_guess):
    task = tell_task(pd.Series(values, name="t"), "auto")
    assert (task.name, task.is_guess) == (name, is_guess)
    assert tell_targets(values).reason in task.sentence
    assert tell_task(pd.Series(values), "classify").name == "classify"
    assert tell_task(pd.Series(values), "auto", "category").name == "classify"


def test_numbers_are_taken_or_refused():
    task = Task("regress")
    column = pd.Series([1.5, None, 2.0, 1.0], name="t")
    assert take_target(column, task).tolist() == [1.5, 2.0, 1.0]
    for values, words in (
        (["a", "b"], "holds 'a', and --task regress predicts numbers"),
        ([1.0, np.inf], "infinite"),
        ([2.0, 2.0], "holds only 2.0; there is nothing to predict"),
    ):
        with pytest.raises(TableError, match=words):
            take_target(pd.Series(values, name="t"), task)


def test_texts_that_are_numbers_with_units_are_read_as_such():
    money = pd.Series([f"${v:,.2f}" for v in rng.uniform(500, 5000, 50)], name="price")
    assert is_measured(money, "auto", ()) and not is_measured(money, "classify", ())
    doses = pd.Series(["5 mg", "10 mg"] * 25, name="dose")
    assert not is_measured(doses, "auto", ()) and is_measured(doses, "regress", ())
    assert not is_measured(pd.Series(["a", "b"] * 25, name="t"), "regress", ())


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda v, i: f"{v / 1000:.4f}k" if i % 2 else f"{v:.1f}", "'k' multiplied out"),
        (lambda v, i: -999 if i % 10 == 3 else f"{v:.1f}", "10 cells -999 -> missing"),
        (lambda v, i: -999 if i % 10 == 3 else f"${v:,.1f}", "10 cells -999 -> missing"),
    ],
)
def test_numbers_to_be_predicted_are_read_as_well_as_columns(write, said, tmp_path):
    prices = rng.uniform(50_000, 160_000, 100).round(1)
    written = pd.DataFrame({"a": range(100), "price": [write(v, i) for i, v in enumerate(prices)]})
    written.to_csv(tmp_path / "t.csv", index=False)
    data = [str(tmp_path / "t.csv")]
    read = read_clean_table(data, target="price")
    assert said in read.remarks["price"]
    filled = read.frame["price"].notna()
    np.testing.assert_allclose(read.frame["price"][filled], prices[filled])
    classes = read_clean_table(data, target="price", task="classify").remarks.get("price", [])
    assert said not in classes


def test_methods_tell_the_task():
    assert task_of_methods("auto", ["KernelRegressor"]) == "regress"
    assert task_of_methods("auto", ["auto", "KernelDiscriminant"]) == "auto"
    with pytest.raises(
        TableError, match="'nonsense' is not a method; choose one of Kernel"
    ) as told:
        task_of_methods("auto", ["nonsense"])
    assert ", 'SVC, tuned', 'logistic regression', " in str(told.value)
    with pytest.raises(TableError, match=r"not a method for classes.*, 'SVC, tuned', 'logistic"):
        task_of_methods("classify", ["KernelRegressor"])
    assert check_method("AUTO", NUMBERS) == "KernelRegressor"


def test_leaks():
    x = rng.normal(size=100)
    frame = pd.DataFrame(
        {"x": x, "copy": 3 * x + 1, "level": np.round(2 * x), "z": rng.normal(size=100)}
    )
    found = find_number_leaks(frame, look_at_columns(frame), x + 1e-3 * rng.normal(size=100))
    assert [sentence.split("'")[1] for sentence in found] == ["x", "copy", "level"]
    assert "(R2 1.000)" in found[0] and "(R2 0.9" in found[2]  # rounded: nearly
    assert find_number_leaks(frame[:10], look_at_columns(frame), x[:10]) == []
    own = np.random.default_rng(3)
    strong = frame[["x"]].assign(y=x + 0.22 * own.normal(size=100))  # is nearly as good
    assert find_number_leaks(strong, look_at_columns(strong), x + 0.15 * own.normal(size=100)) == []
    wide = pd.DataFrame(rng.normal(size=(100, 80))).add_prefix("c").assign(copy=x**3)
    (only,) = find_number_leaks(wide, look_at_columns(wide), x**3)
    assert "'copy' alone predicts the target (R2 1.000)" in only


def test_groups_stay_together():
    groups = np.repeat(np.arange(10), 3)
    for train, test in split_numbers(30, groups, 5, 2, 0):
        assert not set(groups[train]) & set(groups[test])
    tested = np.concatenate([test for _, test in split_numbers(30, None, 5, 2, 0)])
    assert np.array_equal(np.bincount(tested), np.full(30, 2))


def test_a_method_that_fails_is_shown_with_its_reason(monkeypatch):
    frame = pd.DataFrame({"a": rng.normal(size=40)})
    y = frame["a"].to_numpy() * 2
    columns = look_at_columns(frame)

    class Bad:
        def __call__(self, seed):
            from sklearn.linear_model import Ridge

            return Ridge(alpha=-1)

    monkeypatch.setitem(NUMBERS.others, "bad", Bad())
    board = compare_numbers(frame, y, columns, ["bad", "ridge", "mean"], repeats=1)
    rows = board.rows()
    assert [row["method"] for row in rows] == ["ridge", "mean", "bad"]
    assert "alpha" in rows[-1]["failure"] and rows[-1]["rmse"] is None
    assert rows[0]["difference"][0] == 0.0 and rows[1]["difference"][1] > 0
    with pytest.raises(TableError, match="needs 10 rows or more"):
        compare_numbers(frame[:6], y[:6], columns, ["mean"])
    with pytest.raises(TableError, match="for numbers choose one of auto, r2, rmse, mae"):
        compare_numbers(frame, y, columns, ["mean"], metric="auc")
