"""Sixty messy files: each gives the cells of its clean twin and says what was done, or the fix."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")

from kernel_learn.cli.reading import reading_text  # noqa: E402
from kernel_learn.streams.readers import TableError  # noqa: E402
from kernel_learn.tables.columns import look_at_columns  # noqa: E402
from kernel_learn.tables.reading.clean_files import read_clean_table  # noqa: E402
from kernel_learn.tables.reading.showing import describe_reading  # noqa: E402
from messy_files import CORPUS, base  # noqa: E402

READ = {name: case for name, case in CORPUS.items() if case.twin is not None}
REFUSED = {name: case for name, case in CORPUS.items() if case.twin is None}


def written(case, folder):
    path = folder / case.name
    path.write_bytes(case.content)
    return [str(path)]


def kinds_of(frame):
    return look_at_columns(frame.drop(columns="y")).kinds


def as_read_clean(frame):
    """A column as the one reader gives it: dates as such."""
    return frame.assign(visit=pd.to_datetime(frame["visit"]))


def test_there_are_sixty_of_them():
    assert len(CORPUS) >= 60 and len(READ) >= 55


@pytest.mark.parametrize("name", READ)
def test_cells_and_kinds_are_those_of_the_clean_twin(name, tmp_path):
    case = READ[name]
    read = read_clean_table(written(case, tmp_path), target="y", **case.options)
    assert kinds_of(read.frame) == kinds_of(base())
    found, twin = as_read_clean(read.frame), as_read_clean(case.twin)
    assert list(found.columns) == list(twin.columns) and len(found) == len(twin)
    for column in ("age", "weight", "dose"):
        np.testing.assert_allclose(
            found[column].to_numpy(float), twin[column].to_numpy(float), rtol=1e-9, err_msg=column
        )
    for column in ("ward", "visit", "y"):
        pairs = zip(found[column], twin[column], strict=True)
        assert all(a == b or (pd.isna(a) and pd.isna(b)) for a, b in pairs), column


@pytest.mark.parametrize("name", READ)
def test_what_was_done_is_said_in_lines_of_eighty(name, tmp_path):
    case = READ[name]
    data = written(case, tmp_path)
    read = read_clean_table(data, target="y", **case.options)
    columns = look_at_columns(read.frame.drop(columns="y"))
    lines = describe_reading(read.frame, columns, read.remarks, target="y")
    text = reading_text([case.name], read.notes, lines, len(read.frame))
    assert case.says in " ".join(" ".join(text).split()), text
    assert all(len(line) <= 80 for line in text)


@pytest.mark.parametrize("name", REFUSED)
def test_what_nobody_could_read_is_refused_with_the_fix(name, tmp_path):
    case = REFUSED[name]
    with pytest.raises(TableError, match=case.says) as error:
        read_clean_table(written(case, tmp_path), target="y", **case.options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", READ)
def test_a_reading_is_kept_and_reads_again(name, tmp_path):
    """As a model file keeps it."""
    from kernel_learn.streams.readers import TableFiles
    from kernel_learn.tables.reading.clean_files import CleanFiles
    from kernel_learn.tables.reading.table_reading import TableReading

    case = READ[name]
    data = written(case, tmp_path)
    read = read_clean_table(data, target="y", **case.options)
    kept = TableReading.from_json(read.reading.to_json())
    assert kept == read.reading
    part = case.options.get("part")
    blocks = list(CleanFiles(TableFiles(data, part=part), kept).blocks(50))
    again = pd.concat(blocks)
    for column in read.frame:
        own, other = again[column], read.frame[column]
        assert all(a == b or (pd.isna(a) and pd.isna(b)) for a, b in zip(own, other, strict=True))


def test_a_clean_file_stays_as_it_is(tmp_path):
    from kernel_learn.streams.readers import read_table

    base().to_csv(tmp_path / "t.csv", index=False)
    data = [str(tmp_path / "t.csv")]
    read, raw = read_clean_table(data, target="y"), read_table(data)
    pd.testing.assert_frame_equal(read.frame, raw)
    assert read.remarks == {} and read.notes == []
