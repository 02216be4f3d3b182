"""One file is one table: whole or in blocks, through whichever door it is read."""

import gzip
import json
import random

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from kernel_learn.datasets import CsvSource, LibsvmSource, ParquetSource  # noqa: E402
from kernel_learn.rows.kinds import column_kind  # noqa: E402
from kernel_learn.streams.readers import TableError, TableFiles, delimited, read_blocks, read_table  # noqa: E402

ROWS = 30_000


def assert_same(found, expected):
    """Names, types and cells, to the bit."""
    assert list(found.columns) == list(expected.columns)
    for name in expected.columns:
        own, other = found[name], expected[name]
        assert own.dtype == other.dtype, name
    assert_cells({name: found[name].tolist() for name in found.columns}, expected)


def assert_cells(found, expected):
    for name in expected.columns:
        pairs = zip(found[name], expected[name].tolist(), strict=True)
        assert all(type(a) is type(b) and (a == b or a != a) for a, b in pairs), name


def blocks_agree(path, whole, sizes=(1, 2, 5)):
    for rows in sizes:
        parts = list(read_blocks([str(path)], block_rows=rows))
        for name in whole.columns:
            assert {part[name].dtype for part in parts} == {whole[name].dtype}, name
        cells = {n: [cell for part in parts for cell in part[n].tolist()] for n in whole.columns}
        assert_cells(cells, whole)  # pandas before 3 makes None and NaN one in concat


@pytest.mark.parametrize(
    ("late", "dtype", "first"),
    [
        ("0123", "str", "7"),
        ("word", "str", "7"),
        ("2.5", "float64", 7.0),
        ("", "float64", 7.0),
        ("8", "int64", 7),
        ("True", "str", "7"),
    ],
)
def test_a_cell_far_below_decides_for_all_rows(late, dtype, first, tmp_path):
    """Row 30,000 lies beyond whatever shows the separator, and beyond the first blocks."""
    path = tmp_path / "late.csv"
    path.write_text("a,y\n" + "7,0\n" * ROWS + f"{late},1\n")
    whole = read_table([str(path)])
    own = whole["a"]
    is_text = column_kind(own) == "object"
    assert is_text if dtype == "str" else str(own.dtype) == dtype
    assert own.tolist()[0] == first
    assert not late or str(own.iloc[-1]) == late
    blocks_agree(path, whole, [4096])
    parts = [block.X for block in CsvSource(path, target="y").read(4096)]
    assert {part["a"].dtype for part in parts} == {own.dtype}
    assert_same(pd.concat(parts), whole[["a"]])


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
@pytest.mark.parametrize("cell", ["0123", '"0123"', " 0123"])
def test_codes_keep_their_zeros_wherever_they_stand(sep, cell, tmp_path):
    path = tmp_path / "codes.csv"
    for place in range(3):
        cells = ["4567"] * 3
        cells[place] = cell
        path.write_text(f"a{sep}b{sep}c\n{sep.join(cells)}\n")
        found = read_table([str(path)]).iloc[0]
        assert found.tolist()[place].strip() == "0123" and found.tolist()[place - 1] == 4567
    path.write_text(f"a{sep}b\n0012.5{sep}0\n0100{sep}012\n")  # measures, and two digits
    assert read_table([str(path)]).to_numpy().tolist() == [[12.5, 0.0], [100.0, 12.0]]


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ({"bool"}, "bool"),
        ({"bool", "missing"}, "flags"),
        ({"bool", "flags"}, "flags"),
        ({"bool", "int64"}, "str"),
        ({"int64"}, "int64"),
        ({"int64", "missing"}, "whole"),
        ({"int64", "uint64"}, "whole"),
        ({"int64", "float64", "missing"}, "float64"),
        ({"missing"}, "whole"),
        ({"huge", "int64"}, "str"),
        ({"huge", "whole"}, "float64"),
        ({"str", "float64"}, "str"),
    ],
)
def test_types_of_parts_give_the_type_of_all_rows(parts, whole):
    assert delimited.merge_types(parts) == whole


@pytest.mark.parametrize("size", range(5, 17))
def test_codes_are_found_where_two_readings_meet(size, tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "SCANNED_BYTES", size)
    (tmp_path / "codes.csv").write_text("a,b\n11,22\n33,0123\n")
    assert read_table([str(tmp_path / "codes.csv")])["b"].tolist() == ["22", "0123"]


CELLS = ["1", "-2", "3.5", "1e3", "", "NA", "True", "False", "x", "0123", "1,5", "1.234,5"]
CELLS += ["1.000", "99999999999999999999", "18446744073709551615", "inf", " 7", "2020-01-01", "+5"]


@pytest.mark.parametrize("seed", range(40))
def test_blocks_of_any_cells_are_the_table(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "SCANNED_CELLS", 12)  # kinds come from several parts, too
    monkeypatch.setattr(delimited, "SCANNED_BYTES", 40)
    rng = random.Random(seed)
    sep = rng.choice(",;\t|")
    pools = [rng.sample(CELLS, rng.randint(1, 4)) for _ in "abc"]
    lines = [[rng.choice(pool) for pool in pools] for _ in range(rng.randint(1, 14))]
    quoted = [[f'"{cell}"' if sep in cell else cell for cell in line] for line in lines]
    path = tmp_path / "cells.csv"
    path.write_text("\n".join(map(sep.join, [["a", "b", "c"], *quoted])) + "\n")
    whole = read_table([str(path)])
    blocks_agree(path, whole)
    source = [block.X for block in CsvSource(path).read(2)]
    assert_same(pd.concat(source), whole)


EXCEL = """\ufeffsize;cost;code;word;label
171,5;1.234,50;00179;1,5 m;a
-3;99,00;50667;x;b
;1.000;01067;y;a
"""


@pytest.mark.parametrize("name", ["excel.csv", "excel.csv.gz"])
def test_every_door_reads_what_spreadsheets_write(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(gzip.compress(EXCEL.encode()) if name.endswith("gz") else EXCEL.encode())
    whole = read_table([str(path)])
    assert whole["cost"].tolist() == [1234.5, 99.0, 1000.0]
    assert whole["code"].tolist() == ["00179", "50667", "01067"]
    blocks_agree(path, whole)
    source = CsvSource(path, target="label")
    assert source.columns == ["size", "cost", "code", "word"]
    for rows in (1, 2, 10):
        blocks = list(source.read(rows))
        assert_same(pd.concat([block.X for block in blocks]), whole[source.columns])
        assert [label for block in blocks for label in block.y] == ["a", "b", "a"]


def test_files_of_one_table_have_one_type(tmp_path):
    (tmp_path / "part-0.csv").write_text("zip,n,w\n4567,1,a\n")
    (tmp_path / "part-1.csv").write_text("zip,n,w\n0123,2.5,b\n")
    (tmp_path / "part-2.csv").write_text("w,n,zip\nc,,8910\n")  # in another order
    table = read_table([str(tmp_path / "part-*.csv")])
    assert table["zip"].tolist() == ["4567", "0123", "8910"] and str(table["n"].dtype) == "float64"
    parts = list(read_blocks([str(tmp_path / "part-*.csv")]))
    assert [list(part.columns) for part in parts] == [["zip", "n", "w"]] * 3
    assert_same(pd.concat(parts), table)


def test_files_with_other_columns_are_refused_in_blocks_too(tmp_path):
    (tmp_path / "a.csv").write_text("u,v\n1,2\n")
    (tmp_path / "b.csv").write_text("u,w\n1,2\n")
    with pytest.raises(TableError, match="different columns: v, w is in one"):
        list(read_blocks([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]))


def test_a_file_that_changes_is_looked_at_anew(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    source, table = CsvSource(path), TableFiles([str(path)])
    assert next(source.read(9)).X["a"].tolist() == table.read()["a"].tolist() == [1, 3]
    path.write_text("a,b\n1,2\n0123,4\n")
    assert next(source.read(9)).X["a"].tolist() == table.read()["a"].tolist() == ["1", "0123"]


VALUES = [1, -2, 3.5, None, True, False, "x", "0123", 2**70, 2**63, 1.0]


@pytest.mark.parametrize("seed", range(20))
def test_blocks_of_json_lines_are_the_table(seed, tmp_path):
    rng = random.Random(seed)
    pools = [rng.sample(VALUES, rng.randint(1, 4)) for _ in "abc"]
    rows = [{"n": 0}]
    for _ in range(rng.randint(1, 12)):
        filled = zip("abc", pools, strict=True)
        rows.append({name: rng.choice(pool) for name, pool in filled if rng.random() < 0.9})
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    whole = read_table([str(path)])
    expected = pd.DataFrame(rows)
    for name in expected.columns:
        cells = [row.get(name, np.nan) for row in rows]
        if is_wide([cell for cell in cells if type(cell) is int]):
            expected[name] = pd.Series(cells, dtype=object)
    assert_same(whole, expected)
    blocks_agree(path, whole, (1, 3))


def is_wide(numbers):
    """Neither int64 nor uint64 holds them: objects, where pandas before 3 asks for the order."""
    held = [(-(2**63), 2**63), (0, 2**64)]
    return not any(all(least <= n < most for n in numbers) for least, most in held)


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        ([2**70, None], "object"),
        ([None, 2**63, -1], "object"),
        ([-(2**63) - 1, 3.5], "object"),
        ([2**64, 1], "object"),
        ([2**64 - 1, 1], "uint64"),
        ([-(2**63), 2**63 - 1], "int64"),
    ],
)
def test_whole_numbers_beyond_64_bits_are_objects_in_any_order(cells, dtype, tmp_path):
    path = tmp_path / "rows.jsonl"
    for given in (cells, cells[::-1]):
        path.write_text("".join(json.dumps({"a": cell}) + "\n" for cell in given))
        found = read_table([str(path)])["a"]
        assert str(found.dtype) == dtype and found.tolist() == given


def test_a_broken_line_of_json_is_named(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n\n{"a":\n')
    with pytest.raises(TableError, match=r"rows.jsonl': line 3 is not JSON"):
        read_table([str(tmp_path / "rows.jsonl")])


@pytest.mark.parametrize("statistics", [True, False])
def test_holes_in_parquet_are_those_of_the_table(statistics, tmp_path):
    import decimal

    frame = pd.DataFrame(
        {
            "whole": pd.array([1, 2, None, 4], dtype="Int64").astype(object),
            "flag": [True, None, False, True],
            "count": [1, 2, 3, 4],
            "price": [decimal.Decimal("1.50"), None, decimal.Decimal("2"), decimal.Decimal("3")],
            "word": ["0123", "b", None, "d"],
        }
    )
    path = tmp_path / "rows.parquet"
    import pyarrow
    from pyarrow import parquet

    kinds = {"whole": pyarrow.int64(), "flag": pyarrow.bool_(), "price": pyarrow.decimal128(8, 2)}
    fields = [(name, kinds.get(name)) for name in frame]
    arrays = [pyarrow.array(frame[name].where(frame[name].notna(), None), t) for name, t in fields]
    table = pyarrow.table(dict(zip(frame.columns, arrays, strict=True)))
    parquet.write_table(table, path, row_group_size=2, write_statistics=statistics)
    whole = read_table([str(path)])
    assert [str(own) for own in whole.dtypes][:4] == ["float64", "object", "int64", "float64"]
    blocks_agree(path, whole, (1, 2, 3))
    (block,) = ParquetSource(path, columns=["whole", "price"]).read(10)
    np.testing.assert_array_equal(block.X, whole[["whole", "price"]])


LINES = b"""1 qid:3 2:0.1 5:-2e-3  # a comment
-1 1:1e22 3:3
# nothing
2

0 5:0.30000000000000004
"""


@pytest.mark.parametrize("rows", [1, 2, None])
def test_libsvm_has_the_values_of_scikit_learn(rows, tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_bytes(LINES)
    X, y = load_svmlight_file(str(path))
    table = TableFiles([str(path)])
    frame = pd.concat(list(table.blocks(rows)))
    np.testing.assert_array_equal(frame[list("12345")], X.toarray())
    np.testing.assert_array_equal(frame["label"], y)
    assert str(frame["label"].dtype) == "int64"
    blocks = list(LibsvmSource(path).read(rows or 10))
    np.testing.assert_array_equal(np.vstack([block.X.toarray() for block in blocks]), X.toarray())
    assert np.concatenate([block.y for block in blocks]).tolist() == y.tolist()


def test_libsvm_types_are_those_of_the_file(tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text("1 0:2\n1 700:1\n1.5 3:1\n")  # counted from 0, sparse and wide
    for rows in (1, 3):
        parts = list(read_blocks([str(path)], block_rows=rows))
        assert all(str(part["label"].dtype) == "float64" for part in parts)
        assert all(isinstance(part["1"].dtype, pd.SparseDtype) for part in parts)
        assert all(part.shape[1] == 702 for part in parts)
    assert {block.y.dtype.kind for block in LibsvmSource(path, zero_based=True).read(1)} == {"f"}
    assert LibsvmSource(path, 800, zero_based=True).n_features == 800


@pytest.mark.parametrize(
    ("line", "said"),
    [("1 2:1 2:3", "do not rise"), ("1 3:1 2:3", "do not rise"), ("1 2=1", "all numbers")],
)
def test_lines_of_libsvm_that_are_wrong_are_named(line, said, tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text(f"1 1:1\n{line}\n")
    with pytest.raises(TableError, match=f"Line 2 of .*rows.libsvm.*{said}"):
        read_table([str(path)])
    with pytest.raises(TableError, match=f"Line 2 of .*{said}"):
        list(LibsvmSource(path).read(10))


def test_formats_that_come_whole_are_cut(tmp_path):
    np.savez(tmp_path / "rows.npz", X=np.arange(10.0).reshape(5, 2), y=np.arange(5))
    assert [len(block) for block in read_blocks([str(tmp_path / "rows.npz")], block_rows=2)] == [
        2,
        2,
        1,
    ]
    assert [str(file) for file in TableFiles([str(tmp_path / "rows.npz")]).come_whole]
    (tmp_path / "rows.csv").write_text("a\n1\n")
    assert not TableFiles([str(tmp_path / "rows.csv")]).come_whole
