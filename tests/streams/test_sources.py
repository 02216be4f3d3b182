"""Every source gives the rows, labels and weights that were put into it, in blocks."""

import os

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from extras import optional
from kernel_learn.datasets import Blocks, CsvSource, LibsvmSource, NpySource, ParquetSource
from kernel_learn.streams.blocks import ArrayRows
from kernel_learn.streams.sources import as_source

pandas = optional("pandas")
rng = np.random.default_rng(0)
N = 137
X = rng.normal(size=(N, 3))
Y = rng.integers(0, 3, N)
W = rng.integers(1, 4, N).astype(float)
NAMES = ["a", "b", "c"]


def collect(source, rows=10):
    blocks = list(source.read(rows))
    assert max(block.X.shape[0] for block in blocks) <= rows
    stack = [np.asarray(b.X.toarray() if sparse.issparse(b.X) else b.X) for b in blocks]
    parts = []
    for i in (1, 2):
        given = [block[i] for block in blocks]
        parts.append(None if given[0] is None else np.concatenate(given))
    return np.vstack(stack), *parts


def frame(labels=None):
    table = pandas.DataFrame(X, columns=NAMES)
    table["label"] = Y if labels is None else labels
    table["w"] = W
    return table


def npy(folder):
    for name, array in (("X", X), ("y", Y), ("w", W)):
        np.save(folder / f"{name}.npy", array)
    return NpySource(*(folder / f"{name}.npy" for name in "Xyw"))


def csv(folder):
    frame().to_csv(folder / "rows.csv", index=False, float_format="%.17g")
    return CsvSource(folder / "rows.csv", target="label", weight="w")


def parquet_file(folder):
    frame().to_parquet(folder / "rows.parquet", row_group_size=20)
    return ParquetSource(folder / "rows.parquet", target="label", weight="w")


def parquet_folder(folder):
    for i in range(3):
        part = frame().iloc[50 * i : 50 * (i + 1)]
        part.to_parquet(folder / f"part{i}.parquet", row_group_size=7)
    return ParquetSource(folder, target="label", weight="w")


@pytest.mark.parametrize("make", [npy, csv, parquet_file, parquet_folder])
def test_files_give_back_rows_labels_and_weights(make, tmp_path):
    source = make(tmp_path)
    for _ in range(2):  # each read begins anew
        for found, given in zip(collect(source), (X, Y, W), strict=True):
            np.testing.assert_array_equal(found, given)
    assert getattr(source, "n_rows", N) == N
    assert source.rewinds


def test_libsvm_gives_back_sparse_rows(tmp_path):
    dense = np.where(rng.uniform(size=(N, 9)) < 0.3, rng.normal(size=(N, 9)), 0)
    dense[3] = 0
    S = sparse.csr_matrix(dense)
    dump_svmlight_file(S, Y, str(tmp_path / "rows"), zero_based=False)
    for source in (LibsvmSource(tmp_path / "rows"), LibsvmSource(tmp_path / "rows", 9)):
        found, labels, weight = collect(source)
        np.testing.assert_allclose(found, S.toarray(), rtol=1e-14)
        np.testing.assert_array_equal(labels, Y)
        assert weight is None
    with pytest.raises(ValueError, match="has a column 9, and n_features is 4"):
        list(LibsvmSource(tmp_path / "rows", 4).read(1000))
    (tmp_path / "bad").write_text("1 1:2\n0 1=2\n")
    with pytest.raises(ValueError, match=r"Line 2 of .*bad"):
        list(LibsvmSource(tmp_path / "bad", 4).read(10))


def test_parquet_reads_the_columns_that_are_asked_for(tmp_path):
    labels = np.array(["lung", "colon", "skin"])[Y]
    frame(labels).astype({"a": "float32", "b": "float32"}).to_parquet(tmp_path / "rows.parquet")
    source = ParquetSource(tmp_path / "rows.parquet", target="label", columns=["b", "a"])
    block = next(source.read(1000))
    assert block.X.dtype == np.float32  # both columns are
    np.testing.assert_array_equal(block.X, X[:, [1, 0]].astype(np.float32))
    assert block.y.tolist() == labels.tolist()
    both = ParquetSource(tmp_path / "rows.parquet", target=["a", "c"], columns=["b"])
    assert next(both.read(1000)).y.shape == (N, 2)


def test_parquet_that_lacks_a_column_says_what_it_has(tmp_path):
    frame().to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"no column 'diagnosis'. Its columns are 'a', 'b', 'c'"):
        ParquetSource(tmp_path / "rows.parquet", target="diagnosis")
    with pytest.raises(ValueError, match="no column 'z'"):
        ParquetSource(tmp_path / "rows.parquet", columns=["z"])
    with pytest.raises(FileNotFoundError, match="no Parquet file"):
        ParquetSource(tmp_path / "elsewhere")
    frame().drop(columns="b").to_parquet(tmp_path / "second.parquet")
    with pytest.raises(ValueError, match=r"second.parquet has no column 'b'"):
        list(ParquetSource(tmp_path, target="label").read(1000))


def test_identity_changes_with_the_file(tmp_path):
    before = npy(tmp_path).identity()
    assert npy(tmp_path).identity().keys() == before.keys()
    np.save(tmp_path / "X.npy", X[:, ::-1])
    assert (
        NpySource(tmp_path / "X.npy", tmp_path / "y.npy", tmp_path / "w.npy").identity() != before
    )


@pytest.mark.parametrize("kind", [CsvSource, ParquetSource])
def test_identity_changes_with_what_is_read_of_the_file(kind, tmp_path):
    path = tmp_path / ("rows.csv" if kind is CsvSource else "rows.parquet")
    frame().to_csv(path) if kind is CsvSource else frame().to_parquet(path)
    ways = [{}, {"target": "label"}, {"columns": ["a", "b"]}, {"weight": "w"}]
    if kind is ParquetSource:  # which seeks without weights: they decide what is compared
        ways += [{"columns": ["a", "b"], "weight": "w"}]
    found = [kind(path, **way).identity() for way in ways]
    assert all(a != b for i, a in enumerate(found) for b in found[:i])
    assert found[1] == kind(path, target="label").identity()


def test_identity_of_a_mapped_file_knows_its_ends(tmp_path):
    """Written within one tick of the clock, with the first or the last row changed."""
    found = []
    for row in (None, 0, N - 1):
        changed = X.copy()
        if row is not None:
            changed[row, 1] += 1.0
        np.save(tmp_path / "X.npy", changed)
        os.utime(tmp_path / "X.npy", (0, 0))
        found.append(ArrayRows(np.load(tmp_path / "X.npy", mmap_mode="r")).identity())
    assert found[0] != found[1] != found[2] != found[0]


def mapped(folder):
    npy(folder)
    return NpySource(folder / "X.npy", folder / "y.npy")


def groups_of_rows(folder):
    parquet_folder(folder)
    return ParquetSource(folder, target="label", columns=NAMES)


@pytest.mark.parametrize("make", [mapped, groups_of_rows, lambda folder: ArrayRows(X, Y)])
def test_sources_that_seek_begin_at_any_row(make, tmp_path):
    source = make(tmp_path)
    assert source.seeks
    for start in (0, 1, 6, 7, 8, 49, 50, 51, 98, N - 1):
        blocks = list(source.read_from(start, 10))
        assert all(len(block.y) for block in blocks)
        np.testing.assert_array_equal(np.vstack([block.X for block in blocks]), X[start:])
        np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), Y[start:])


@pytest.mark.parametrize(("start", "first"), [(6, [(0, 0)]), (7, [(0, 1)]), (50, [(1, 0)])])
def test_row_groups_before_the_first_row_are_not_read(start, first, tmp_path, monkeypatch):
    source, read = groups_of_rows(tmp_path), []
    read_file = ParquetSource.read_file

    def told(self, number, rows, groups):
        read.extend((number, group) for group in groups)
        return read_file(self, number, rows, groups)

    monkeypatch.setattr(ParquetSource, "read_file", told)
    list(source.read_from(start, 10))
    assert read[:1] == first


def test_sources_know_the_bytes_of_a_row(tmp_path):
    assert mapped(tmp_path).row_bytes == 24
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    assert NpySource(tmp_path / "X.npy").row_bytes == 12
    assert groups_of_rows(tmp_path).row_bytes == 24


def test_weighted_sources_do_not_seek(tmp_path):
    """Rows of weight zero are not counted, so a number of rows is no place."""
    assert not npy(tmp_path).seeks and not parquet_file(tmp_path).seeks
    assert not ArrayRows(X, Y, W).seeks


def test_npy_files_of_different_lengths_are_refused(tmp_path):
    npy(tmp_path)
    np.save(tmp_path / "y.npy", Y[:-1])
    with pytest.raises(ValueError, match=r"has 137 rows and .*y.npy has 136"):
        NpySource(tmp_path / "X.npy", tmp_path / "y.npy")


def test_what_is_a_source_and_what_is_rows():
    pairs = [(X[:5], Y[:5])]
    assert as_source(lambda: iter(pairs)).rewinds
    assert not as_source(iter(pairs)).rewinds
    assert not as_source(pair for pair in pairs).rewinds
    assert Blocks(pairs).rewinds and not Blocks(iter(pairs)).rewinds
    rows = (X, X.tolist(), [X, X], sparse.csr_array(X), frame(), ["ab", "cd"], pairs)
    assert all(as_source(given) is None for given in rows)
    with pytest.raises(TypeError, match="iterable of blocks, not a int"):
        Blocks(3)


@pytest.mark.parametrize("kind", ["array", "csr", "pandas", "polars", "arrow"])
def test_arrays_and_frames_in_blocks(kind):
    rows = {"array": X, "csr": sparse.csr_matrix(X), "pandas": frame()[NAMES]}.get(kind)
    if rows is None:
        rows = pytest.importorskip("polars" if kind == "polars" else "pyarrow")
        rows = rows.DataFrame(X, schema=NAMES) if kind == "polars" else rows.table(frame()[NAMES])
    blocks = list(ArrayRows(rows, Y).read(50))
    assert [block.X.shape[0] for block in blocks] == [50, 50, 37]
    assert isinstance(blocks[0].X, type(rows))


def test_what_can_be_iterated_again_can_be_read_again():
    blocks = [(X[:50], Y[:50]), (X[50:], Y[50:])]
    for given, again in ((blocks, True), (lambda: iter(blocks), True), (iter(blocks), False)):
        assert Blocks(given).rewinds is again


def test_sources_print_themselves(tmp_path):
    """Kind, rows, columns, target; what is not known is not read for it."""
    pytest.importorskip("pandas")
    np.save(tmp_path / "X.npy", np.zeros((1200, 3)))
    np.save(tmp_path / "y.npy", np.zeros(1200))
    assert repr(NpySource(tmp_path / "X.npy", tmp_path / "y.npy")).endswith(
        "X.npy': 1,200 rows, 3 columns, target '" + str(tmp_path / "y.npy") + "')"
    )
    (tmp_path / "rows.csv").write_text("a,b,c\n1,2,x\n")
    assert repr(CsvSource(tmp_path / "rows.csv", target="c")).endswith(
        "rows.csv': rows not counted, 2 columns, target 'c')"
    )
    (tmp_path / "rows.txt").write_text("1 1:2 3:4\n")
    assert "3 columns" in repr(LibsvmSource(tmp_path / "rows.txt"))
    assert repr(Blocks([1, 2])) == "Blocks(2 blocks of a list, read any number of times)"
    assert repr(Blocks(iter([]))) == "Blocks(blocks of a list_iterator, read once)"


def test_a_parquet_source_prints_itself(tmp_path):
    pa, pq = optional("pyarrow"), optional("pyarrow.parquet")
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": [0, 1]}), tmp_path / "rows.parquet")
    source = ParquetSource(tmp_path / "rows.parquet", target="y")
    assert repr(source).endswith("rows.parquet': 2 rows, 1 columns, target 'y')")
