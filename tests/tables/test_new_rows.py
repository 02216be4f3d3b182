"""What new rows hold that a model does not know: counted against plain loops."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from kernel_learn.streams.readers import TableError  # noqa: E402
from kernel_learn.tables.columns import Columns  # noqa: E402
from kernel_learn.tables.new_rows import NewRows, describe_seen  # noqa: E402
from kernel_learn.tables.reading.table_reading import learn_reading  # noqa: E402

rng = np.random.default_rng(0)
OLD = pd.DataFrame(
    {
        "dose": rng.uniform(1, 5, 50).round(2),
        "organ": rng.choice(["lung", "liver"], 50),
        "ward": rng.choice([1, 2, 3], 50),
    }
)
COLUMNS = Columns({"dose": "number", "organ": "category", "ward": "category"})


def look(new, blocks=1):
    reading = learn_reading(OLD)
    news = NewRows(describe_seen(OLD, COLUMNS), reading)
    parts = np.array_split(np.arange(len(new)), blocks)
    notes = [
        note
        for part in parts
        for note in news.look(new.iloc[part], reading.read(new.iloc[part])[0])
    ]
    return news.sentences(), notes


def test_rows_of_the_same_kind_are_nothing_new():
    sentences, notes = look(OLD)
    assert sentences == [] and set(notes) == {""}


@pytest.mark.parametrize("blocks", [1, 7])
def test_what_is_new_is_counted(blocks):
    new = OLD.astype(object)
    new.loc[:4, "organ"] = "LUNG"
    new.loc[5:6, "organ"] = "heart"
    new.loc[7, "organ"] = np.nan
    new["dose"] = new["dose"].astype(str)
    new.loc[10:12, "dose"] = "99"
    new.loc[13, "dose"] = "often"
    new.loc[14, "dose"] = "ND"
    sentences, notes = look(new, blocks)
    text = " ".join(sentences)
    assert "2 of 49 cells of 'organ' hold levels that the model does not know: 'heart'." in text
    assert "5 of 49 cells of 'organ' are spelled differently" in text and "'LUNG = lung'" in text
    assert "3 of 48 cells of 'dose' lie outside the training range" in text
    assert "1 of 49 cells of 'dose' are not numbers and count as missing: 'often'." in text
    assert notes[5] == "organ new to the model" and notes[10] == "dose outside its range"
    assert "1 of 50 cells of 'dose' are missing ('ND'), and none was in training." in text
    assert "1 of 50 cells of 'organ' are missing, and none was in training." in text
    assert notes[13] == "dose is not a number" and notes[14] == "dose is missing" and notes[0] == ""
    assert notes[7] == "organ is missing"


def test_all_cells_of_another_unit():
    (sentence,) = look(OLD.assign(dose=1000 * OLD["dose"]))[0]
    assert sentence.startswith("All 50 cells of 'dose' lie outside")
    assert "about 1,000 times as large: is it another unit?" in sentence


def test_levels_are_those_of_the_file_however_they_are_written():
    assert look(OLD.assign(ward=OLD["ward"].astype(float)))[0] == []
    (sentence,) = look(OLD.assign(ward=OLD["ward"] + 7))[0]
    assert "All 50 cells of 'ward' hold levels" in sentence


def test_a_model_of_before_knows_nothing_of_its_rows():
    assert NewRows(None, learn_reading(OLD)).look(OLD, OLD).tolist() == [""] * 50


def test_cells_may_be_missing_where_some_were_in_training():
    old = OLD.assign(dose=OLD["dose"].where(OLD.index % 5 > 0))
    new = OLD.assign(dose=OLD["dose"].astype(object).where(OLD.index % 7 > 0, "ND"))
    reading = learn_reading(old)
    news = NewRows(describe_seen(old, COLUMNS), reading)
    assert set(news.look(new, reading.read(new)[0])) == {""} and news.sentences() == []


@pytest.mark.parametrize("write", [str, lambda day: f"{day:%d.%m.%Y}"])
def test_cells_that_are_no_dates_are_counted(write):
    days = pd.date_range("2026-01-01", periods=40)
    old = pd.DataFrame({"visit": [write(day.date()) for day in days]})
    reading = learn_reading(old)
    news = NewRows(describe_seen(old, Columns({"visit": "date"})), reading)
    new = old.copy()
    new.loc[:1, "visit"] = ["soon", "not done"]
    notes = news.look(new, reading.read(new)[0])
    assert notes[0] == "visit is not a date" and set(notes[2:]) == {""}
    (unread, *_) = news.sentences()
    assert "are not dates and count as missing" in unread and "'soon'" in unread


def written(old, new):
    reading = learn_reading(old)
    clean = reading.read(new)[0]
    news = NewRows(describe_seen(reading.read(old)[0], Columns({"dose": "number"})), reading)
    news.look(new, clean)
    return clean["dose"], news.sentences()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{}", "{} kg", "'kg' removed"),
        ("{} kg", "{} kilo", None),
        ("{} kg", "{:,} kg", "decimal comma"),
        ("{}", "{:,}", "decimal comma"),
    ],
)
def test_numbers_that_are_written_otherwise_are_read(old, new, said):
    def write(form, value):
        return form.replace(":,", "").format(value).replace(".", "," if ":," in form else ".")

    values = OLD["dose"] + 0.01 * (OLD["dose"] % 1 == 0)
    files = [pd.DataFrame({"dose": [write(form, v) for v in values]}) for form in (old, new)]
    found, sentences = written(*files)
    np.testing.assert_allclose(found, values)
    expected = "The cells of 'dose' are written differently than in training: "
    assert sentences == ([] if said is None else [expected + sentences[0][len(expected) :]])
    assert said is None or said in sentences[0]


@pytest.mark.parametrize(("old", "new"), [("{} kg", "{} lb"), ("EUR {}", "${}")])
def test_numbers_of_another_unit_are_refused(old, new):
    files = [pd.DataFrame({"dose": [form.format(v) for v in OLD["dose"]]}) for form in (old, new)]
    with pytest.raises(TableError, match="fitted: its numbers cannot be compared"):
        written(*files)
    files[1].loc[10:, "dose"] = files[0]["dose"]  # a few are missing
    found, sentences = written(*files)
    assert found.isna().sum() == 10 and "10 of 50 cells of 'dose' are not numbers" in sentences[0]


def test_a_unit_of_a_few_is_not_taken_off_where_training_had_none():
    new = OLD["dose"].astype(str).where(OLD.index > 9, "160 lb")
    found, sentences = written(OLD[["dose"]], pd.DataFrame({"dose": new}))
    assert found.isna().sum() == 10 and "10 of 50 cells of 'dose' are not numbers" in sentences[0]
