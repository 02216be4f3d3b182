"""The same table in every format is the same table."""

import gzip
import io
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from kernel_learn.streams.readers import (  # noqa: E402
    FORMATS,
    TableError,
    TableFiles,
    format_of,
    read_blocks,
    read_table,
)
from kernel_learn.streams.readers.layout import find_separator  # noqa: E402

FRAME = pd.DataFrame(
    {
        "length": [1.5, 2.25, np.nan, 4.0],
        "count": [1, 2, 3, 4],
        "colour": ["red", "green", None, "red"],
        "label": ["a", "b", "a", "b"],
    }
)
ARFF = """@relation t
@attribute length numeric
@attribute count numeric
@attribute colour {red,green}
@attribute label {a,b}
@data
1.5,1,red,a
2.25,2,green,b
?,3,?,a
4.0,4,red,b
"""


def write(folder, suffix):
    path = folder / f"table{suffix}"
    if suffix == ".csv" or suffix == ".csv.gz":
        FRAME.to_csv(path, index=False)
    elif suffix == ".tsv":
        FRAME.to_csv(path, index=False, sep="\t")
    elif suffix == ".parquet":
        FRAME.to_parquet(path)
    elif suffix == ".feather":
        FRAME.to_feather(path)
    elif suffix == ".jsonl":
        FRAME.to_json(path, orient="records", lines=True)
    else:
        path.write_text(ARFF)
    return str(path)


@pytest.mark.parametrize(
    "suffix", [".csv", ".csv.gz", ".tsv", ".parquet", ".feather", ".jsonl", ".arff"]
)
def test_formats_agree(suffix, tmp_path):
    found = read_table([write(tmp_path, suffix)])
    assert list(found.columns) == list(FRAME.columns)
    np.testing.assert_array_equal(found["length"], FRAME["length"])
    np.testing.assert_array_equal(found["count"], FRAME["count"])
    for name in ("colour", "label"):
        assert found[name].isna().tolist() == FRAME[name].isna().tolist()
        assert found[name].dropna().tolist() == FRAME[name].dropna().tolist()


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl", ".arff"])
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_blocks_are_the_table(suffix, rows, tmp_path):
    name = write(tmp_path, suffix)
    blocks = list(read_blocks([name, name], block_rows=rows))
    assert [i for block in blocks for i in block.index] == list(range(8))
    if suffix != ".arff":
        assert all(len(block) <= rows for block in blocks)
    lengths = pd.to_numeric(pd.concat([block["length"].astype(float) for block in blocks]))
    np.testing.assert_array_equal(lengths, [*FRAME["length"]] * 2)


def test_npz_with_and_without_names(tmp_path):
    X, y = np.arange(6.0).reshape(3, 2), np.array(["a", "b", "a"])
    np.savez(tmp_path / "one.npz", X=X, y=y)
    assert list(read_table([str(tmp_path / "one.npz")]).columns) == ["X0", "X1", "y"]
    np.savez(tmp_path / "two.npz", X=X, y=y, feature_names=np.array(["u", "v"]))
    found = read_table([str(tmp_path / "two.npz")])
    assert list(found.columns) == ["u", "v", "y"]
    np.testing.assert_array_equal(found[["u", "v"]], X)
    np.savez(tmp_path / "odd.npz", X=X, y=y[:2])
    with pytest.raises(TableError, match="one entry for each of its rows"):
        read_table([str(tmp_path / "odd.npz")])


def test_libsvm_is_dense_where_narrow_and_sparse_where_wide(tmp_path):
    (tmp_path / "narrow.libsvm").write_text("1 1:0.5 3:2\n-1 2:1\n")
    found = read_table([str(tmp_path / "narrow.libsvm")])
    assert list(found.columns) == ["1", "2", "3", "label"]
    assert found["3"].tolist() == [2.0, 0.0] and found["label"].tolist() == [1, -1]
    (tmp_path / "wide.libsvm").write_text("1 1:0.5 3000:2\n-1 2:1\n")
    wide = read_table([str(tmp_path / "wide.libsvm")])
    assert isinstance(wide["3000"].dtype, pd.SparseDtype)
    assert wide["3000"].to_numpy().tolist() == [2.0, 0.0]
    for share, is_sparse in ((0.3, True), (0.35, False)):  # of 600 columns
        entries = " ".join(f"{i}:1" for i in range(601 - int(600 * share), 601))
        (tmp_path / "full.libsvm").write_text(f"1 {entries}\n")
        found = read_table([str(tmp_path / "full.libsvm")])
        assert isinstance(found["600"].dtype, pd.SparseDtype) == is_sparse


def test_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(b"a;b\n1;x\n2;y\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    assert read_table(["-"]).to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}


def test_several_files_and_patterns(tmp_path):
    for i in range(3):
        FRAME.iloc[i : i + 1].to_csv(tmp_path / f"part-{i}.csv", index=False)
    table = read_table([str(tmp_path / "part-*.csv")])
    assert table["count"].tolist() == FRAME["count"].tolist()[:3]  # in the order of their names
    assert table.index.tolist() == [0, 1, 2]
    FRAME.drop(columns="count").to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(TableError, match="different columns: count is in one of them only"):
        read_table([str(tmp_path / "part-0.csv"), str(tmp_path / "other.csv")])


@pytest.mark.parametrize(
    ("line", "sign"),
    [
        ("a,b;c", ","),
        ("a;b;c", ";"),
        ("a\tb", "\t"),
        ("a|b|c", "|"),
        ("a", ","),
        ('name;"size, cm";weight', ";"),
        ('name;"length, width, height"', ";"),
    ],
)
def test_separator(line, sign):
    assert find_separator(line + "\n1") == sign


EXCEL = """\ufeffsize;cost;code;word;both
171,5;1.234,50;00179;1,5 m;1,5
-3;99,00;50667;x;1.5
;1.000;01067;y;2,5
"""


@pytest.mark.parametrize("name", ["excel.csv", "excel.csv.gz"])
def test_tables_of_european_spreadsheets(tmp_path, name):
    """Semicolons, commas in numbers, codes with zeros in front: no number becomes a category."""
    path = tmp_path / name
    path.write_bytes(gzip.compress(EXCEL.encode()) if name.endswith("gz") else EXCEL.encode())
    whole = read_table([str(path)])
    parts = list(read_blocks([str(path)], block_rows=2))
    for frame in (whole, pd.concat(parts)):
        np.testing.assert_array_equal(frame["size"], [171.5, -3.0, np.nan])
        assert frame["code"].tolist() == ["00179", "50667", "01067"]
        assert frame["word"].tolist() == ["1,5 m", "x", "y"]
    assert whole["cost"].tolist() == [1234.5, 99.0, 1000.0]
    assert whole["both"].tolist() == ["1,5", "1.5", "2,5"]  # who knows what these are
    assert list(read_table([str(path)], columns=["code"]).columns) == ["code"]


def test_commas_between_cells_are_none_in_numbers(tmp_path):
    (tmp_path / "quoted.csv").write_text('a,b\n"1,5",0\n"2,5",12\n')
    found = read_table([str(tmp_path / "quoted.csv")])
    assert found["a"].tolist() == ["1,5", "2,5"] and found["b"].tolist() == [0, 12]


def test_names_that_do_not_tell(tmp_path):
    assert format_of("x.CSV.gz") == "csv" and format_of("-") == "csv"
    assert set(FORMATS.values()) >= {"csv", "tsv", "parquet", "feather", "arff", "libsvm", "npz"}
    with pytest.raises(TableError, match="say --format"):
        format_of("table.xyz")
    with pytest.raises(TableError, match="is not a format"):
        format_of("table.csv", "docx")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone.csv", None, "There is no file"),
        ("empty.csv", b"", "is empty"),
        ("head.csv", b"a,b\n", "holds no rows"),
        ("table.xls", b"\xd0\xcf", "save it as .xlsx"),
        ("binary.csv", b"a,b\n\0\0", "not a text file"),
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n", "cannot be read"),
        ("text.parquet", b"not parquet", "is not a Parquet file"),
    ],
)
def test_broken_files_are_one_sentence(name, content, message, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=message) as error:
        read_table([str(tmp_path / name)])
    assert name in str(error.value) and "\n" not in str(error.value)


def test_folders_lists_and_twins_are_refused(tmp_path):
    with pytest.raises(TableError, match="is a folder"):
        read_table([str(tmp_path)])
    pd.DataFrame({"a": [[1], [2]]}).to_parquet(tmp_path / "lists.parquet")
    with pytest.raises(TableError, match="are lists"):
        read_table([str(tmp_path / "lists.parquet")])
    (tmp_path / "twins.jsonl").write_text('{"1": 2, "b": 3}\n')
    assert read_table([str(tmp_path / "twins.jsonl")]).shape == (1, 2)


def test_size_is_known_without_reading(tmp_path):
    name = write(tmp_path, ".parquet")
    assert TableFiles([name]).nbytes == 4 * 4 * 8
    text = write(tmp_path, ".csv")
    assert TableFiles([text, text]).nbytes == 2 * 3 * Path(text).stat().st_size


def test_names_that_are_there_twice_or_not_at_all_are_told(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,,a\n1,2,3,4\n5,6,7,8\n")
    table = TableFiles([str(tmp_path / "t.csv")])
    assert list(table.read()) == ["a", "b", "Unnamed: 2", "a.1"]
    twice, blank = table.notes
    assert "2 columns are called 'a'" in twice and "'Unnamed: 2'" in blank


def test_words_that_are_read_as_missing_are_counted(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n1,NA\nNaN,x\n"NA",\n,null\n2,NAB\n')
    (tmp_path / "u.csv").write_text("a,b\n1,NA\n")
    table = TableFiles([str(tmp_path / "t.csv"), str(tmp_path / "u.csv")])
    assert table.missing_words() == {"a": {"NaN": 1, "NA": 1}, "b": {"NA": 2, "null": 1}}
    missing = table.read().isna().sum()
    assert missing.tolist() == [3, 4]  # with empty cells


def test_every_word_that_pandas_takes_for_missing_is_known(tmp_path):
    """Whatever version: the list is ours."""
    from kernel_learn.streams.readers.delimited import NA_BYTES, NA_WORDS

    lines = "".join(f"{word},x\n" for word in NA_WORDS)
    (tmp_path / "t.csv").write_text("a,b\n" + lines)
    assert pd.read_csv(tmp_path / "t.csv")["a"].isna().all()
    for word in NA_WORDS:
        assert NA_BYTES.search(f",{word},".encode()), word


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["000", "001", "006"] * 9, "O"),  # codes
        (["00179", "50667"] * 9, "O"),
        (["100", "101", "106"] * 9, "i"),
        (["01", "02", "12"] * 9, "i"),  # months
        ([f"{i:03d}" for i in range(60, 160)], "i"),  # a measurement in three digits
    ],
)
def test_codes_keep_the_zeros_in_front(cells, kind, tmp_path):
    pd.DataFrame({"a": cells, "b": 1}).to_csv(tmp_path / "t.csv", index=False)
    table = TableFiles([str(tmp_path / "t.csv")])
    found = table.read()["a"]
    assert column_type(found) == kind and [str(cell) for cell in found] == (
        cells if kind == "O" else [str(int(cell)) for cell in cells]
    )
    blocks = pd.concat(list(table.blocks(2)))["a"]
    assert blocks.tolist() == found.tolist()


def column_type(column):
    return "i" if column.dtype.kind == "i" else "O"
