"""Numbers, dates, levels, sentinels and last rows: cell by cell, what is read and what is not."""

from datetime import datetime

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from kernel_learn.streams.readers import TableError  # noqa: E402
from kernel_learn.tables.reading.dates import find_date_form  # noqa: E402
from kernel_learn.tables.reading.doubts import find_doubts  # noqa: E402
from kernel_learn.tables.reading.levels import find_levels  # noqa: E402
from kernel_learn.tables.reading.missing import find_sentinels  # noqa: E402
from kernel_learn.tables.reading.numbers import find_form, split_cell  # noqa: E402
from kernel_learn.tables.reading.odd_rows import find_odd_rows, say_dropped  # noqa: E402
from kernel_learn.tables.reading.showing import show_lines  # noqa: E402
from kernel_learn.tables.reading.table_reading import TableReading, learn_reading  # noqa: E402


def once(*texts):
    return dict.fromkeys(texts, 1)


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["82.0 kg", "7 kg"], [82.0, 7.0]),
        (["$1,000.00", "$5"], [1000.0, 5.0]),
        (["1.234,5", "7,25"], [1234.5, 7.25]),
        (["1,234", "5,678,901"], [1234.0, 5678901.0]),
        (["1,5", "2,25"], [1.5, 2.25]),
        (["1.234.567", "2.000.000"], [1234567.0, 2000000.0]),
        (["1 234,5", "2\u00a0000,0"], [1234.5, 2000.0]),
        (["1'234.5", "2"], [1234.5, 2.0]),
        (["<0.5", "> 3", "~2"], [0.5, 3.0, 2.0]),
        (["12%", "3 %"], [12.0, 3.0]),
        (["(300)", "5"], [-300.0, 5.0]),
        (["-$5", "$-6"], [-5.0, -6.0]),
        (["1e3", "2.5E-2"], [1000.0, 0.025]),
        (["1.2k", "3M", "5"], [1200.0, 3e6, 5.0]),
        (["5 years", "1 year"], [5.0, 1.0]),
        (["37.5 °C", "38°C"], [37.5, 38.0]),
        (["5 kg", "6 kgs", "7 kilo", "8 Kilograms"], [5.0, 6.0, 7.0, 8.0]),
        (["5 h", "6 hours", "7 hrs"], [5.0, 6.0, 7.0]),
        (["5 s", "6 sec", "7 seconds"], [5.0, 6.0, 7.0]),
        (["5 min", "6 minutes"], [5.0, 6.0]),
        (["5 y", "6 years", "7 yr"], [5.0, 6.0, 7.0]),
        (["5 µg", "6 ug", "7 mcg"], [5.0, 6.0, 7.0]),
        (["5 x10^9/L", "6 10^9/L"], [5.0, 6.0]),
        (["45%", "0.4", ".35"], [0.45, 0.4, 0.35]),
        (["5*", "6 **", "7 mg†"], [5.0, 6.0, 7.0]),
        (["45%", "40", "35"], [45.0, 40.0, 35.0]),
    ],
)
def test_numbers_as_people_write_them(texts, values):
    form = find_form(once(*texts), "c", 1.0)
    assert [form.value(text) for text in texts] == pytest.approx(values)


@pytest.mark.parametrize(
    "texts",
    [
        ["00179", "50667"],
        ["12345678901234567890", "1"],
        ["1st", "2nd", "3rd"],
        ["3a", "4b", "5c"],
        ["2026-03-04", "2026-03-05"],
        ["12:30", "13:00"],
        ["555-1234", "555-9876"],
        ["north", "south"],
        ["1.2.3", "1.2.4"],
        ["03.04.2026", "05.06.2026"],
    ],
)
def test_what_looks_like_a_number_and_is_none(texts):
    assert find_form(once(*texts), "c", 0.95) is None


def test_units_that_differ_are_refused_by_name():
    with pytest.raises(TableError, match=r"'weight' holds 'kg' and 'lb'.*--types weight=skip"):
        find_form(once("5 kg", "7 lb"), "weight", 0.95)


def test_a_few_odd_units_are_no_numbers():
    """One cell in a hundred is a typing error; half of them are another unit."""
    many = {f"{50 + i / 10} kg": 1 for i in range(100)}
    bare = {str(50 + i / 10): 1 for i in range(100)}
    for others, odd in [(many, "7O"), (bare, "7O"), (bare, "12O.5"), (bare, "160 lb")]:
        form = find_form(others | {odd: 2}, "weight", 0.95)
        assert form.value(odd) is None and form.value(next(iter(others))) == 50.0
    assert find_form(bare | {"160 lb": 6}, "weight", 0.95).value("160 lb") == 160.0
    assert find_form(many | {"7 pieces": 60}, "weight", 0.95) is None
    with pytest.raises(TableError, match="'kg' and 'lb'"):
        find_form(many | {"160 lb": 2, "7O": 1}, "weight", 0.95)


def test_a_unit_of_another_column_is_no_number():
    form = find_form(once("5 kg", "7 kg"), "weight", 1.0)
    assert form.value("5 lb") is None and form.value("5 KG") == form.value("5") == 5.0
    assert split_cell("12 Main street") is None


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["03/04/2026", "25/04/2026"], [datetime(2026, 4, 3), datetime(2026, 4, 25)]),
        (["03/04/2026", "04/25/2026"], [datetime(2026, 3, 4), datetime(2026, 4, 25)]),
        (["03.04.2026"], [datetime(2026, 4, 3)]),
        (["3 March 2026", "Mar 4, 2026"], [datetime(2026, 3, 3), datetime(2026, 3, 4)]),
        (["05-Mai-26", "6. Okt 1999"], [datetime(2026, 5, 5), datetime(1999, 10, 6)]),
        (["2026-03-04T12:30:15"], [datetime(2026, 3, 4, 12, 30, 15)]),
        (["03/04/70 1:05 pm"], [datetime(1970, 3, 4, 13, 5)]),
        (["03/04/70 12:05 AM"], [datetime(1970, 3, 4, 0, 5)]),
        (["Wed 4 March 2026", "Thursday, 05/03/26"], [datetime(2026, 3, 4), datetime(2026, 5, 3)]),
        (["20260304", "20261231 7:30"], [datetime(2026, 3, 4), datetime(2026, 12, 31, 7, 30)]),
    ],
)
def test_dates_as_people_write_them(texts, days):
    form = find_date_form(once(*texts), 1.0)
    assert [form.value(text) for text in texts] == days


def test_what_cannot_be_told_of_a_date_is_kept():
    assert find_date_form(once("03/04/2026", "05/05/2026"), 1.0).ambiguous == "03/04/2026"
    assert find_date_form(once("13/04/2026"), 1.0).ambiguous == ""
    mixed = find_date_form(once("13/04/2026", "04/13/2026", "14/04/2026"), 1.0)
    assert mixed.conflict and mixed.value("04/13/2026") == datetime(2026, 4, 13)
    assert find_date_form(once("31/02/2026"), 1.0) is None
    assert find_date_form(once("north", "2026-01-01"), 0.95) is None


@pytest.mark.parametrize(("order", "month"), [("date-dmy", 4), ("date-mdy", 3), ("date", 3)])
def test_the_order_of_day_and_month_can_be_said(order, month):
    given = pd.DataFrame({"visit": ["03/04/2026", "05/06/2026"] * 10})
    reading = learn_reading(given, types={"visit": order})
    found, remarks = reading.read(given)
    assert found["visit"][0].month == month and reading.kinds == {"visit": "date"}
    words = {4: "day first (/)", 3: "month first (/)"}[month]
    told = ["03/04/2026 read as 4 March 2026", "day first: --types visit=date-dmy"]
    assert remarks["visit"] == (told if order == "date" else [words])
    kept = TableReading.from_json(reading.to_json())
    later = pd.DataFrame({"visit": ["03.04.2026", "07-04-2026"]})  # other signs
    if order != "date":
        assert kept.read(later)[0]["visit"].dt.month.tolist() == ([4, 4] if month == 4 else [3, 7])


def test_numbers_are_dates_only_if_all_of_them_are():
    days = pd.date_range("2026-01-03", periods=40, freq="9D")
    digits = days.strftime("%Y%m%d").astype(int)
    for given, kind in [(digits, "M"), (digits + 50, "i"), (digits[:4], "i")]:
        read = learn_reading(pd.DataFrame({"a": given})).read(pd.DataFrame({"a": given}))[0]
        assert read["a"].dtype.kind == kind
    holes = pd.DataFrame({"a": pd.Series(digits, dtype=float).where(np.arange(40) % 7 > 0)})
    read = learn_reading(holes).read(holes)[0]["a"]
    assert read.isna().sum() == 6 and read[1] == days[1]


def test_dates_of_a_later_file_with_other_signs():
    """What one file does not show, the other tells."""
    old = pd.DataFrame({"a": ["2026-01-03", "2026-02-14"] * 9})
    new = pd.DataFrame({"a": ["03/04/2026", "25/04/2026", "05.06.2026"]})
    read = learn_reading(old).read(new)[0]["a"]
    assert read.tolist() == [datetime(2026, 4, 3), datetime(2026, 4, 25), datetime(2026, 6, 5)]


def test_levels_keep_their_most_frequent_spelling():
    found = find_levels({"sick": 5, "SICK": 2, "sick ": 3, "well": 9})
    assert found == {"sick": "sick", "well": "well"}
    assert find_levels({"m": 50, "M": 50}) == {}  # single letters, both frequent
    assert find_levels({"m": 95, "M": 5}) == {"m": "m"}
    assert find_levels({"m": 50, "M": 40, "f": 9, "F": 8}) == {"m": "m", "f": "f"}  # words
    assert find_levels({"a": 50, "A": 40, "b": 9, "B": 8}) == {}
    assert find_levels({f"name {i}": 1 for i in range(10)}) is None


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([1, 2, 3, -999], [-999.0]),
        ([1, 2, 3, 9999], []),  # once, and above: an outlier
        ([1, 2, 3, 9999, 9999], [9999.0]),
        ([-999, -9999, 5, 7], [-9999.0, -999.0]),
        ([-1000, -999, -990, 5], []),  # not outside
        ([900, 950, 999, 999], []),
        ([50_000, 160_000, -999, -999], [-999.0]),  # below zero alone, and twice
        ([50_000, 160_000, -999], []),
        ([np.nan, 1, 2], []),
        ([1.5, 2.5, -999.9, -999.9], [-999.9]),
        ([98.2, 99.9, 99.9, 97.0], []),
    ],
)
def test_sentinels_lie_far_outside(values, found):
    assert find_sentinels(np.array(values, dtype=float)) == found


def frame(last, rows=5):
    table = pd.DataFrame({"name": [f"n{i}" for i in range(rows)], "a": range(rows), "b": 1.5})
    return pd.concat([table, pd.DataFrame([last])], ignore_index=True)


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ({"name": "Total", "a": 10}, "1 row of sums ('Total') at the end dropped"),
        ({"name": "mean:", "b": 1.5}, "of sums"),
        ({}, "1 row without cells"),
        ({"name": "Source: WHO"}, "of a note ('Source: WHO')"),
    ],
)
def test_last_rows_that_are_none(last, words):
    odd, dropped = find_odd_rows(frame({"name": np.nan, "a": np.nan, "b": np.nan} | last))
    assert odd.tolist() == [False] * 5 + [True] and words in say_dropped(dropped)[0]


def test_last_rows_that_are_rows():
    assert not find_odd_rows(frame({"name": "n9", "a": 3, "b": 2.0}))[0].any()
    table = pd.DataFrame({"part": ["total", "half", "total"], "a": [1, 2, 3], "b": [1, 2, 3]})
    assert not find_odd_rows(table)[0].any()  # a level that is there before


def joined(*extra, at=3):
    """A table of numbers and words, some rows of it put between others."""
    table = pd.DataFrame(
        {
            "weight": np.arange(60, 72) + 0.5,
            "dose": np.arange(12) ** 2 + 1.25,
            "ward": ["north", "south"] * 6,
            "y": ["p", "q", "q"] * 4,
        }
    ).astype(object)
    rows = pd.DataFrame([dict(zip(table.columns, row, strict=True)) for row in extra])
    return table, pd.concat([table.iloc[:at], rows, table.iloc[at:]], ignore_index=True)


BLANK = [np.nan] * 4


@pytest.mark.parametrize(
    ("row", "at", "words"),
    [
        (["weight", "dose ", "ward", "y"], 3, "1 row with the names of the columns again dropped"),
        (BLANK, 3, "1 row without cells dropped"),
        (["Subtotal", 8.75, np.nan, np.nan], 3, "1 row of sums ('Subtotal') dropped"),
        (["kg", "(mg)", np.nan, np.nan], 0, "1 row of units ('kg', 'mg') dropped"),
        ([792.0, 521.0, np.nan, np.nan], 12, "1 row of sums at the end dropped"),
        ([66.0, 43.42, np.nan, np.nan], 12, "1 row of means at the end dropped"),
    ],
)
def test_rows_between_others_that_are_none(row, at, words):
    table, given = joined(row, at=at)
    given = given.infer_objects()
    reading = learn_reading(table)
    kept, dropped = reading.drop_odd_rows(given)
    assert say_dropped(dropped) == [words]
    assert kept.index.tolist() == [i for i in range(13) if i != at]
    for name in table:
        assert [str(cell) for cell in kept[name]] == [str(cell) for cell in table[name]]
    as_it_is = learn_reading(table, clean=False)
    assert len(as_it_is.drop_odd_rows(given)[0]) == 13


def test_rows_that_are_alike_and_are_rows():
    for row, at in [
        (["total", 5.0, "north", "p"], 3),
        (["kg", 5.0, "north", "p"], 0),
        ([np.nan, np.nan, "north", np.nan], 3),
        ([66.0, 43.42, "north", np.nan], 12),
        ([792.0, 300.0, np.nan, np.nan], 12),
        ([66.0, 44.0, np.nan, np.nan], 12),
    ]:
        given = joined(row, at=at)[1].infer_objects()
        assert not find_odd_rows(given)[0].any(), row
    design = pd.DataFrame({"a": [-1, 1, -1, 1, 0.0] * 2, "b": [-1, -1, 1, 1, 0.0] * 2})
    assert not find_odd_rows(design)[0].any()  # zeros are the means, and a centre
    sums = pd.concat([design + 2, pd.DataFrame([(design + 2).sum()])], ignore_index=True)
    assert find_odd_rows(sums)[0].tolist() == [False] * 10 + [True]


def test_another_sign_between_cells_from_some_row_on():
    packed = [[f"{i}.5,3,north,p", *BLANK[1:]] for i in range(3)]
    assert not find_odd_rows(joined(*packed[:2])[1])[0].any()
    with pytest.raises(TableError, match=r"3 rows are one cell each.*in row 4: the sign between"):
        find_odd_rows(joined(*packed)[1])


def test_whole_numbers_are_so_again_without_the_sums():
    given = pd.DataFrame({"n": [1.0, 2.0, np.nan], "x": [1.0, 2.5, np.nan], "w": ["a", "b", "Sum"]})
    kept, _ = learn_reading(given).drop_odd_rows(given)
    assert [kept[name].dtype.kind for name in ("n", "x")] == ["i", "f"]
    assert len(given) == 3


def test_a_frame_that_is_read_stays_as_it_is():
    given = pd.DataFrame({"a": ["1 kg", "2 kg"] * 10, "y": ["p", "P "] * 10})
    before = given.copy()
    learn_reading(given, target="y").read(given)
    pd.testing.assert_frame_equal(given, before)


def test_plus_and_minus_are_labels():
    given = pd.DataFrame({"y": ["+", "-"] * 10, "z": ["a", "-"] * 10})
    found, _ = learn_reading(given, target="y").read(given)
    assert found["y"].notna().all() and found["z"].isna().sum() == 10


def test_labels_keep_their_units():
    given = pd.DataFrame({"y": ["5 mg", "10 mg"] * 10})
    assert learn_reading(given, target="y").read(given)[0]["y"].tolist() == given["y"].tolist()
    assert learn_reading(given).read(given)[0]["y"].tolist() == [5, 10] * 10


def test_no_columns_are_no_lines():
    assert show_lines([]) == []


def doubts(cells, target=None, name="a"):
    frame = pd.DataFrame({name: cells})
    reading = learn_reading(frame, target=target)
    return find_doubts(reading.read(frame)[0], reading, target).get(name, [])


def test_columns_of_words_that_are_mostly_numbers_or_dates_are_named():
    numbers = [str(i / 8) for i in range(136)]
    (said,) = doubts([*numbers, *["see note", "lost"] * 7])
    assert (
        said
        == '136 of 150 cells are numbers, and 14 cells "lost", "see note" not: --types a=number'
    )
    days = pd.date_range("2026-01-01", periods=80).strftime("%d.%m.%Y").tolist()
    assert "80 of 90 cells are dates" in doubts([*days, *["later", "soon"] * 5])[0]
    for word in ("{}:30", "{}'8\"", "{}y 7m", "{}.5 ± 0.1"):
        assert "are not known as numbers" in doubts([word.format(i) for i in range(60)])[0]


def test_columns_of_words_that_are_words_are_not_doubted():
    assert doubts(["110/70", "130/80"] * 30) == doubts(["20-29", "30-39", "40-49"] * 20) == []
    assert doubts([f"{i:05d}" for i in range(60)]) == doubts(["north", "south"] * 30) == []
    assert doubts([f"2026-01-01T{i:02d}:00:00+02:00" for i in range(24)]) == []
    frame = pd.DataFrame({"a": ["1", "x"] * 30})
    for reading in (
        learn_reading(frame, types={"a": "category"}),
        learn_reading(frame, clean=False),
    ):
        assert find_doubts(frame, reading, None) == {}


def test_classes_that_may_stand_for_missing_are_named():
    assert doubts([0, 1, -9] * 9, "a") == ["'-9' is taken as a class; if it means missing: --na -9"]
    assert "'unknown' is taken" in doubts(["sick", "well", "unknown"] * 9, "a")[0]
    assert doubts(list(range(10)) * 9, "a") == doubts([1, 2, 3, 4, 5] * 9, "a") == []
    assert doubts([8, 9] * 9, "a") == []
