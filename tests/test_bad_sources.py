"""Bad input in blocks: each case is refused in a sentence that names the block, and the row.

What a refusal may be is said in ``refusals``: as in ``test_bad_input``, and a refused fit leaves
nothing behind.
"""

from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse

import kernel_learn as kl
from extras import optional
from kernel_learn.datasets import Blocks, CsvSource, LibsvmSource, NpySource, ParquetSource
from kernel_learn.ensemble import source_fitting
from kernel_learn.streams import gather
from refusals import N, X, Y, changed, refuse

pd = optional("pandas")

ROWS = np.tile(X, (5, 1))  # five blocks of N rows
LABELS = np.tile(Y, 5)
STREAMED = {
    "HSICSubspace": {"landmarks": 6},
    "KernelDiscriminant": {"landmarks": 6},
    "KernelDiscriminantQR": {},
    "KernelOrthogonalCentroid": {"landmarks": 6},
    "KernelPLS": {"landmarks": 6},
    "AlignmentSubspace": {"landmarks": 6},
    "SubspaceSVC": {"landmarks": 6},
    "MultiKernelSVC": {"landmarks": 6, "loss": "squared_hinge"},
    "KernelClassifier": {"quality": "fast"},
    "InductiveKernel": {"landmarks": 6},
}


def make(name):
    options = STREAMED[name]
    model = getattr(kl, name)(**options)
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def with_block(number=3, **parts):
    """Five blocks, one of them with other parts."""

    def blocks():
        for i in range(5):
            block = {"X": X, "y": Y, "weight": None} | (parts if i == number else {})
            yield tuple(block[part] for part in ("X", "y", "weight"))

    return blocks


LATE = {
    "a NaN": (with_block(X=changed(np.nan)), rf"Block 3, row 3 \(row {3 * N + 3} of.*NaN"),
    "an infinity": (with_block(X=changed(np.inf)), r"Block 3, row 3.*inf"),
    "fewer columns": (with_block(X=X[:, :2]), r"Block 3.*2 (features|columns)"),
    "more columns": (with_block(X=np.hstack([X, X])), r"Block 3.*6 (features|columns)"),
    "single precision": (with_block(X=X.astype(np.float32)), r"Block 3.*float32"),
    "a sparse block": (with_block(X=sparse.csr_matrix(X)), r"Block 3.*sparse"),
    "complex numbers": (with_block(X=X + 1j), r"(?s)Block 3.*[Cc]omplex"),
    "dates": (with_block(X=np.zeros((N, 3), "datetime64[s]")), r"Block 3.*dates"),
    "one row, flat": (with_block(X=X[0], y=Y[:3]), r"Block 3.*2D"),
    "a text for rows": (with_block(X="abc", y=Y[:3]), r"Block 3.*str"),
    "a number for rows": (with_block(X=3.0), r"[Bb]lock.*float"),
    "ragged rows": (with_block(X=[[1.0], [1.0, 2.0]], y=Y[:2]), r"Block 3.*(rectangle|lengths)"),
    "numbers without squares": (with_block(X=1e200 * X), r"Block 3.*squares"),
    "no labels": (with_block(y=None), "Block 3.*no labels"),
    "labels too few": (with_block(y=Y[:-1]), rf"Block 3.*{N} rows and {N - 1} labels"),
    "one label": (with_block(y=1), "Block 3.*labels"),
    "a label missing": (with_block(y=np.where(np.arange(N) == 4, np.nan, Y)), "Block 3, row 4"),
    "a label of None": (with_block(y=np.array([*Y[:-1], None], object)), f"Block 3, row {N - 1}"),
    "an infinite label": (
        with_block(y=np.where(np.arange(N) == 4, np.inf, Y)),
        "Block 3, row 4",
    ),
    "labels of text": (with_block(y=Y.astype(str)), "Block 3.*texts"),
    "labels of bytes": (with_block(y=np.char.encode(Y.astype(str))), "Block 3.*bytes"),
    "objects of bytes": (with_block(y=np.array([b"a", b"b", b"c"], object)[Y]), "Block 3.*bytes"),
    "labels of two types": (with_block(y=np.array(["a", 1, 2], object)[Y]), "Block 3.*str"),
    "labels of dates": (with_block(y=np.array([date(2020, 1, 1)] * N, object)), "Block 3.*date"),
    "labels of times": (with_block(y=np.zeros(N, "datetime64[s]")), "Block 3.*dates"),
    "decimals": (with_block(y=np.array([Decimal(1)] * N, object)), "Block 3.*Decimal"),
    "complex labels": (with_block(y=Y + 1j), "(?s)Block 3.*[Cc]omplex"),
    "masked labels": (with_block(y=np.ma.masked_array(Y, mask=Y == 0)), "Block 3.*masked"),
    "labels with fields": (with_block(y=np.zeros(N, [("a", int)])), "Block 3.*structured"),
    "huge labels": (with_block(y=np.where(Y == 0, 1e300, Y)), "Block 3.*1e"),
    "real numbers": (with_block(y=X[:, 0]), "Block 3.*[Cc]ontinuous|Block 3.*class"),
    "several labels": (with_block(y=np.eye(3)[Y]), "Block 3.*(1d|several)"),
    "ragged labels": (with_block(y=[[1], [2, 3], []] * (N // 3)), "Block 3.*rectangle"),
    "negative weights": (
        with_block(weight=np.where(np.arange(N) == 7, -1.0, 1.0)),
        "Block 3, row 7.*weight is -1",
    ),
    "weights with NaN": (
        with_block(weight=np.where(np.arange(N) == 7, np.nan, 1.0)),
        "Block 3, row 7.*nan",
    ),
    "weights of text": (with_block(weight=["a"] * N), "Block 3.*'a' in row 0"),
    "weights too few": (with_block(weight=np.ones(3)), r"Block 3.*shape \(3,\)"),
    "complex weights": (with_block(weight=np.ones(N) + 1j), "Block 3.*complex"),
    "four parts": (lambda: iter([(X, Y, None, Y)]), "this one has 4 parts"),
    "no block": (lambda: iter([]), "no rows|0 rows|empty"),
    "blocks without rows": (lambda: iter([(X[:0], Y[:0])] * 3), "no rows|0 rows|empty"),
    "constant rows": (lambda: iter([(np.ones_like(X), Y)] * 3), "zero variance"),
    "one class": (lambda: iter([(X, np.zeros(N))] * 2), "1 class|one class"),
    "weights of zero": (lambda: iter([(X, Y, np.zeros(N))] * 2), "no rows|zero|weight"),
    "a number for blocks": (lambda: 3, "returned a int"),
    "a block that is None": (lambda: iter([None]), "NoneType"),
    "bytes from the first": (
        lambda: iter([(X, np.char.encode(Y.astype(str)))] * 3),
        "Block 0.*bytes",
    ),
}
# KernelClassifier takes these as they are: a hole, and numbers of any kind, are cells.
CELLS = {"a NaN", "single precision"}


@pytest.mark.parametrize("name", STREAMED)
@pytest.mark.parametrize("case", LATE)
def test_a_late_block(name, case):
    if name == "KernelClassifier" and case in CELLS:
        pytest.skip("a hole, and a number of any kind, is a cell of a table")
    blocks, words = LATE[case]
    model = make(name)
    refuse(lambda: model.fit(blocks), words, model=model, inputs=(X, Y))


class Ends:
    """A function that gives the same iterator each time: there is nothing left at the second."""

    def __init__(self):
        self.blocks = iter([(X, Y)] * 5)

    def __call__(self):
        return self.blocks


class Changes:
    """Another pass gives other blocks."""

    def __init__(self, *passes):
        self.passes = list(passes)

    def __call__(self):
        return iter(self.passes.pop(0) if len(self.passes) > 1 else self.passes[0])


AGAIN = {
    "nothing left": (Ends, "no rows|0 rows|second|again|differ|changed"),
    "fewer rows": (lambda: Changes([(X, Y)] * 5, [(X, Y)] * 4), "rows"),
    "more rows": (lambda: Changes([(X, Y)] * 4, [(X, Y)] * 5), "rows"),
    "other rows": (lambda: Changes([(X, Y)] * 5, [(X + 1, Y)] * 5), "changed|differ|other|not"),
    "other labels": (lambda: Changes([(X, Y)] * 5, [(X, (Y + 1) % 3)] * 5), "changed|differ|other"),
    "a new class": (lambda: Changes([(X, Y)] * 5, [(X, Y + 1)] * 5), "same rows each time"),
    "other columns": (lambda: Changes([(X, Y)] * 5, [(X[:, :2], Y)] * 5), "2 features"),
}
TWICE = sorted(set(STREAMED) - {"KernelClassifier", "InductiveKernel"})  # these read once


@pytest.mark.parametrize("name", TWICE)
@pytest.mark.parametrize("case", AGAIN)
def test_a_second_pass_that_is_another(name, case, monkeypatch):
    monkeypatch.setattr(gather, "CAPACITY", 2 * N)  # rows of which no more are held
    given, words = AGAIN[case]
    source, model = given(), make(name)
    refuse(lambda: model.fit(source), words, model=model, inputs=(X, Y))


LATER = {
    "a NaN": ([X, changed(np.nan)], r"Block 1, row 3.*NaN"),
    "other columns": ([X, X[:, :2]], r"Block 1.*2 features"),
    "texts": ([X, np.full((N, 3), "a")], r"Block 1.*not a number"),
    "a number": ([X, 3.0], "float"),
}


@pytest.mark.parametrize("name", sorted(set(STREAMED) - {"KernelClassifier"}))
@pytest.mark.parametrize("case", LATER)
def test_a_late_block_of_new_rows(name, case):
    blocks, words = LATER[case]
    model = make(name).fit(X, Y)
    answer = model.transform if hasattr(model, "transform") else model.predict
    refuse(lambda: list(answer(Blocks(blocks))), words, inputs=(X, blocks))


PARTIAL = {
    "bytes": (lambda m: m.partial_fit(X, np.char.encode(Y.astype(str))), "bytes"),
    "bytes, later": (
        lambda m: m.partial_fit(X, Y).partial_fit(X, np.char.encode(Y.astype(str))),
        "bytes",
    ),
    "texts, later": (lambda m: m.partial_fit(X, Y).partial_fit(X, Y.astype(str)), "texts"),
    "a NaN": (lambda m: m.partial_fit(X, Y).partial_fit(changed(np.nan), Y), "NaN"),
    "no labels": (lambda m: m.partial_fit(X, None), "labels|y is None"),
    "dates for labels": (lambda m: m.partial_fit(X, np.zeros(N, "datetime64[s]")), "dates"),
    "no rows": (lambda m: m.partial_fit(X[:0], Y[:0]), "no rows|0 sample"),
    "a source": (lambda m: m.partial_fit(Blocks([(X, Y)])), "fit.source. reads all"),
    "classes of two types": (lambda m: m.partial_fit(X, Y, classes=["a", 1]), "class"),
    "classes with NaN": (lambda m: m.partial_fit(X, Y, classes=[0.0, 1.0, np.nan]), "class|NaN"),
}


@pytest.mark.parametrize("case", PARTIAL)
def test_partial_fit(case):
    call, words = PARTIAL[case]
    model = kl.HSICSubspace(landmarks=6, random_state=0)
    refuse(lambda: call(model), words, inputs=(X, Y))


def write(folder, **columns):
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": Y, "w": 1.0} | columns)
    frame.to_parquet(folder / "rows.parquet", row_group_size=10)
    return folder / "rows.parquet"


def parquet(folder, target="label", *, keep=None, weight=None, **columns):
    path = write(folder, **columns)
    return ParquetSource(path, target=target, columns=keep, weight=weight)


def with_null(values, row):
    values = list(values)
    values[row] = None
    return values


def text(folder, content, name="rows.csv"):
    (folder / name).write_text(content)
    return folder / name


def arrays(folder, *values):
    for i, value in enumerate(values):
        np.save(folder / f"{i}.npy", value)
    return NpySource(*(folder / f"{i}.npy" for i in range(len(values))))


def pickled(folder):
    np.save(folder / "0.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    return NpySource(folder / "0.npy", folder / "0.npy")


FILES = {
    "no such target": (lambda f: parquet(f, "labels"), "'labels'.*label"),
    "no such column": (lambda f: parquet(f, keep=["a", "z"]), "'z'"),
    "no such weight": (lambda f: parquet(f, weight="weights"), "'weights'"),
    "a null in a column": (
        lambda f: parquet(f, a=with_null(X[:, 0], 13)),
        r"row 13 of the source.*NaN",
    ),
    "a null in the target": (
        lambda f: parquet(f, label=with_null(map(str, Y), 13)),
        r"row 13 of the source.*missing",
    ),
    "a null among whole numbers": (
        lambda f: parquet(f, label=pd.array(with_null(Y, 13), dtype="Int64")),
        r"row 13 of the source.*missing",
    ),
    "a null in the weights": (
        lambda f: parquet(f, weight="w", w=with_null(np.ones(N), 13)),
        r"row 13 of the source.*weight",
    ),
    "a negative weight": (
        lambda f: parquet(f, weight="w", w=np.where(np.arange(N) == 13, -2.0, 1.0)),
        r"row 13 of the source.*weight is -2",
    ),
    "text in a column": (lambda f: parquet(f, a=["x"] * N), "'a'|not a number"),
    "bytes in the target": (lambda f: parquet(f, label=[b"x", b"y"] * (N // 2)), "bytes"),
    "the target among the columns": (lambda f: parquet(f, keep=["a", "label"]), "label"),
    "no Parquet file": (
        lambda f: ParquetSource(text(f, "a,b\n1,2\n", "rows.parquet"), target="b"),
        "Parquet",
    ),
    "CSV without the target": (
        lambda f: CsvSource(text(f, "a,b\n1,2\n2,1\n"), target="c"),
        "'c'",
    ),
    "CSV with text": (
        lambda f: CsvSource(text(f, "a,b\n1,0\nx,1\n"), target="b"),
        "'x'|not a number",
    ),
    "CSV with a hole": (lambda f: CsvSource(text(f, "a,b\n1,0\n,1\n"), target="b"), "Block 0"),
    "CSV with a long line": (
        lambda f: CsvSource(text(f, "a,b\n1,0\n1,2,3\n"), target="b"),
        "line 3|fields|columns",
    ),
    "CSV without lines": (lambda f: CsvSource(text(f, ""), target="b"), "empty|no rows|column"),
    "CSV with a head alone": (lambda f: CsvSource(text(f, "a,b\n"), target="b"), "no rows"),
    "LIBSVM with one column more": (
        lambda f: LibsvmSource(text(f, "1 3:2\n2 1:1\n"), 2),
        "column 3, and n_features is 2",
    ),
    "LIBSVM of text": (lambda f: LibsvmSource(text(f, "1 1:2\nabc\n")), "Line 2 .*'abc'"),
    "LIBSVM with a place of zero": (
        lambda f: LibsvmSource(text(f, "1 1:2\n2 0:1\n"), zero_based=False),
        "Line 2 .*index 0.*zero_based",
    ),
    "arrays of two lengths": (lambda f: arrays(f, X, Y[:-1]), f"{N}.*{N - 1}"),
    "arrays of three dimensions": (lambda f: arrays(f, X[:, :, None], Y), "dim|shape|2D"),
    "an array of objects": (pickled, "objects|pickle"),
    "an array that is cut": (
        lambda f: (
            (arrays(f, X, Y), (f / "0.npy").write_bytes((f / "0.npy").read_bytes()[:300]))
            and NpySource(f / "0.npy", f / "1.npy")
        ),
        "0.npy.*cannot be read",
    ),
    "a file that is no array": (
        lambda f: NpySource(text(f, "abc", "0.npy"), text(f, "abc", "1.npy")),
        "0.npy",
    ),
}


@pytest.mark.parametrize("name", ["HSICSubspace", "KernelDiscriminantQR"])
@pytest.mark.parametrize("case", FILES)
def test_files(name, case, tmp_path):
    for word, package in {"CSV": "pandas", "Parquet": "pyarrow"}.items():
        if word in case:
            pytest.importorskip(package, reason=f"needs {package}")
    make_source, words = FILES[case]
    model = make(name)
    refuse(lambda: model.fit(make_source(tmp_path)), words, model=model)


@pytest.mark.parametrize("kind", [ParquetSource, CsvSource, LibsvmSource, NpySource])
def test_files_that_are_not_there(kind, tmp_path):
    options = {"target": "label"} if kind in (ParquetSource, CsvSource) else {}
    if kind is ParquetSource:
        pytest.importorskip("pyarrow", reason="needs pyarrow")
    with pytest.raises(FileNotFoundError, match=r"There is no .*none"):
        kind(tmp_path / "none", **options)


@pytest.mark.parametrize("kind", [ParquetSource, CsvSource, LibsvmSource, NpySource])
def test_arrays_in_place_of_a_path(kind):
    if kind is ParquetSource:
        pytest.importorskip("pyarrow", reason="needs pyarrow")
    with pytest.raises(TypeError, match=r"file is named by its path.*this is a ndarray.*Blocks"):
        kind(X)


def test_constant_rows_that_fit_nowhere(monkeypatch):
    """Neither into memory nor on the disk."""
    monkeypatch.setattr(gather, "HEAD_SHARE", 1e9)

    def no_disk(*_):
        raise source_fitting.DiskIsShort("none")

    monkeypatch.setattr(source_fitting, "Spill", no_disk)
    model = make("KernelClassifier")
    refuse(
        lambda: model.fit(lambda: iter([(np.ones_like(X), Y)] * 3)), "zero variance", model=model
    )
