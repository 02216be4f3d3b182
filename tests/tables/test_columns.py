"""What columns are taken for, and what is said of the odd ones."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
skrub = pytest.importorskip("skrub")

from kernel_learn.streams.readers import TableError  # noqa: E402
from kernel_learn.tables.columns import check_target, find_groups, kind_of, look_at_columns  # noqa: E402

rng = np.random.default_rng(0)
N = 60
Y = np.repeat(["sick", "well"], N // 2)
TEXTS = [f"patient {i} reports pain in the {['arm', 'leg'][i % 2]} since days" for i in range(N)]


def table(**columns):
    return pd.DataFrame({"size": rng.normal(size=N), **columns})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.arange(N) / 7, "number"),
        (np.arange(N) % 5, "number"),
        (np.arange(N) % 2 == 0, "category"),
        (["a", "b", "c"] * 20, "category"),
        (pd.Categorical([1, 2, 3] * 20), "category"),
        (pd.date_range("2020-01-01", periods=N), "date"),
        ([f"2021-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(N)], "date"),
        ([f"{1 + i % 28:02d}/{1 + i % 12:02d}/2021" for i in range(N)], "date"),
        (["2020", "2021", "2022"] * 20, "category"),
        (TEXTS, "text"),
        (["a rather long level that repeats often"] * 30 + ["another such level"] * 30, "category"),
        ([None] * 30 + ["a", "b"] * 15, "category"),
    ],
)
def test_kinds(values, kind):
    assert kind_of(pd.Series(values)) == kind


def test_what_the_classifier_refuses_as_text_is_no_category():
    """Three words are few, and KernelClassifier takes fifty such cells for free text."""
    from kernel_learn import KernelClassifier

    cells = pd.Series([f"pain since {i}" for i in range(50)] + ["nothing at all"] * 30)
    assert kind_of(cells) == "text"
    frame = pd.DataFrame({"size": rng.normal(size=80), "note": cells})
    with pytest.raises(ValueError, match="free text"):
        KernelClassifier(quality="fast").fit(frame, np.arange(80) % 2)


def test_ids_and_constants_are_left_out_and_named():
    frame = table(
        patient=[f"P{i}" for i in range(N)],
        row=range(100, 100 + N),
        sample_id=rng.permutation(10 * N)[:N],
        visits=rng.permutation(10 * N)[:N],
        hospital=["north"] * N,
        empty=[np.nan] * N,
    )
    columns = look_at_columns(frame, Y)
    assert columns.ids == ["patient", "row", "sample_id"]
    assert columns.constants == ["hospital", "empty"]
    assert columns.used == ["size", "visits"]
    first, second = columns.warnings
    assert "'patient'" in first and "identifier" in first
    assert "'hospital'" in second and "same in every row" in second


def test_values_that_all_differ_prove_nothing_in_fewer_than_twenty_rows():
    for n, ids in ((19, []), (20, ["code"])):
        frame = pd.DataFrame({"code": [f"x{i}" for i in range(n)], "z": rng.normal(size=n)})
        assert look_at_columns(frame).ids == ids


def test_an_identifier_of_rows_that_are_there_twice():
    ids = np.arange(N) * 7
    ids[1] = ids[0]
    frame = table(sample_id=ids, visits=ids)
    assert look_at_columns(frame, Y).ids == ["sample_id"]
    frame["sample_id"] = np.arange(N) // 2 * 7  # two measures of each: perhaps a group
    assert look_at_columns(frame, Y).ids == []


def test_keep_and_drop():
    frame = table(patient=[f"P{i}" for i in range(N)], noise=rng.normal(size=N))
    columns = look_at_columns(frame, Y, drop=["noise"], keep=["patient"])
    assert columns.kinds == {"size": "number", "patient": "category"}
    assert columns.dropped == ["noise"]
    with pytest.raises(TableError, match="no column 'nois' in the table; there are 'size'"):
        look_at_columns(frame, Y, drop=["nois"])
    with pytest.raises(TableError, match="No column is left"):
        look_at_columns(frame[["patient"]], Y)


@pytest.mark.parametrize(
    "column",
    [
        np.where(Y == "sick", 1.0, 0.0) + 0.01 * rng.normal(size=N),
        np.where(Y == "sick", "treated", "untreated"),
    ],
    ids=["number", "category"],
)
def test_a_column_that_gives_the_target_away_is_named(column):
    columns = look_at_columns(table(outcome=column), Y)
    assert list(columns.leaks) == ["outcome"] and "outcome" in columns.used
    assert "'outcome' alone predicts the target (100.0 %" in columns.warnings[0]


def test_strong_columns_are_no_leaks():
    nearly = np.where(rng.random(N) < 0.9, Y, "well")
    assert look_at_columns(table(nearly=nearly), Y).leaks == {}


def test_near_leaks_are_named_where_all_others_are_far_worse():
    own = np.random.default_rng(1)
    y = own.integers(0, 2, 400)
    copy = np.where(own.random(400) < 0.97, y, 1 - y)
    frame = pd.DataFrame({"copy": np.array(["no", "yes"])[copy], "size": own.normal(y, 1.0)})
    columns = look_at_columns(frame, y)
    assert list(columns.leaks) == ["copy"] and 0.95 < columns.leaks["copy"] < 0.99
    assert "Is it known before the target is?" in columns.warnings[0]
    others = {c: np.where(own.random(400) < 0.97, y, 1 - y) for c in "abc"}
    two = look_at_columns(frame.assign(a=others["a"]), y).leaks
    assert sorted(two) == ["a", "copy"]
    assert look_at_columns(frame.assign(**others), y).leaks == {}  # four: the task is easy
    number = np.array([0.0, 50.0])[copy] + own.normal(size=400)  # makes the mistakes of copy
    assert sorted(look_at_columns(frame.assign(number=number), y).leaks) == ["copy", "number"]
    strong = frame.assign(strong=np.where(own.random(400) < 0.92, y, 1 - y))
    assert look_at_columns(strong, y).leaks == {}  # one that is nearly as good


def test_leaks_are_found_in_wide_tables():
    wide = pd.DataFrame(rng.normal(size=(N, 300))).rename(columns=str)
    wide["299"] = np.where(Y == "sick", 1.0, 0.0) + 0.01 * rng.normal(size=N)
    assert list(look_at_columns(wide, Y).leaks) == ["299"]


def test_repeated_measures_are_seen():
    patient = np.arange(N) // 3  # three rows each, of one label
    frame = table(patient=[f"P{i}" for i in patient], nr=patient, age=rng.permutation(patient))
    assert find_groups(frame, look_at_columns(frame), Y) == ["patient", "nr"]
    Y_mixed = Y.copy()
    Y_mixed[0] = "well"  # of a patient two of whose rows are sick
    assert find_groups(frame, look_at_columns(frame), Y_mixed) == []
    pairs = table(code=[f"P{min(i, 55)}" for i in range(N)])  # one value of five rows is chance
    assert find_groups(pairs, look_at_columns(pairs), Y) == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (rng.normal(size=N), "60 different numbers in 60 rows, too many for classes"),
        (np.arange(N), "60 different numbers"),
        (["only"] * N, "holds only 'only'"),
        ([None] * N, "holds nothing"),
        ([f"class {i // 2 if i % 3 else i}" for i in range(N)], "classes must repeat"),
    ],
)
def test_targets_that_are_no_classes(values, message):
    with pytest.raises(TableError, match=message):
        check_target(pd.Series(values, name="t"))


def test_targets_that_are():
    assert check_target(pd.Series([1.0, 2.0, np.nan, 1.0] * 5)).tolist() == [1, 2, 1] * 5
    assert check_target(pd.Series(["a", None, "b"] * 5)).tolist() == ["a", "b"] * 5
    assert check_target(pd.Series([True, False] * 5)).tolist() == ["True", "False"] * 5
    assert len(np.unique(check_target(pd.Series(np.arange(2000) % 40)))) == 40
    assert check_target(pd.Series([0.5, 1.5] * 5)).tolist() == [0.5, 1.5] * 5


def test_dates_in_iso_are_told_without_skrub(monkeypatch):
    days = pd.Series([f"2026-02-{day:02d}" for day in range(1, 29)])
    assert skrub.ToDatetime().fit(days).format_ == "%Y-%m-%d"
    monkeypatch.setattr("kernel_learn.tables.columns.load_skrub", pytest.fail)
    assert kind_of(days) == "date"
    assert kind_of(pd.Series([*days, "2026-02-30"])) == "category"
