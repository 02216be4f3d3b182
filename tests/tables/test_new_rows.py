"""What new rows hold that a model has not met: counted against plain loops."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

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
    assert "2 of 49 cells of 'organ' hold levels that the model has not met: 'heart'." in text
    assert "5 of 49 cells of 'organ' are spelt otherwise" in text and "'LUNG = lung'" in text
    assert "3 of 48 cells of 'dose' lie outside the training range" in text
    assert "1 of 49 cells of 'dose' are no numbers, and taken as missing: 'often'." in text
    assert notes[5] == "organ not met before" and notes[10] == "dose outside its range"
    assert notes[13] == "dose is no number" and notes[14] == "" and notes[0] == ""


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
