"""Files to tables: the only file that knows formats.

A table is a pandas frame, or a CSR matrix where a LIBSVM file is sparse and wide. ``-`` is
standard input; several files, and patterns such as ``part-*.parquet``, are one table.
"""

import contextlib
import glob
import gzip
import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from kernel_learn.streams.files import exact_numbers

# Suffix: format. A suffix .gz before it is looked through by pandas.
FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".arff": "arff",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".npz": "npz",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
# A LIBSVM file with at most so many columns, or so large a share of entries, is an ordinary table.
DENSE_COLUMNS, DENSE_SHARE = 500, 0.3
LABEL = "label"  # the name of the label column where a format has none
SNIFFED = 65536  # bytes that show the separator
DECIMAL_COMMA = r"[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?([eE][+-]?\d+)?"
PARSED_BYTES = 3.0  # bytes of a parsed table for each byte of text, roughly


class TableError(ValueError):
    """A table that cannot be read or used: one sentence for the user."""


class MissingTableError(FileNotFoundError, TableError):
    """A table that is not there."""


def pandas() -> Any:
    """pandas, or the extra that brings it."""
    try:
        import pandas
        import pyarrow  # noqa: F401  (Parquet, Feather, fast strings)
    except ImportError as error:
        raise ImportError(
            "Tables from files need pandas and pyarrow: install kernel-learn[cli]."
        ) from error
    return pandas


def find_files(data: Sequence[str]) -> list[str]:
    """The files that names, patterns and ``-`` stand for, each of them there."""
    found: list[str] = []
    for name in data:
        if name == "-" or Path(name).exists():
            found.append(name)
        elif matches := sorted(glob.glob(name)):
            found += matches
        else:
            raise MissingTableError(f"There is no file {name!r}.")
    if folders := [name for name in found if name != "-" and Path(name).is_dir()]:
        raise TableError(
            f"{folders[0]!r} is a folder; name the files in it, for example '{folders[0]}/*.csv'."
        )
    return found


def format_of(name: str, given: str | None = None) -> str:
    """The format of a file by its suffix, unless it is given."""
    known = sorted(set(FORMATS.values()))
    if given is not None:
        if given not in known:
            raise TableError(f"{given!r} is not a format; choose one of {', '.join(known)}.")
        return given
    if name == "-":
        return "csv"
    suffixes = [suffix.lower() for suffix in Path(name).suffixes if suffix.lower() != ".gz"]
    if not suffixes or suffixes[-1] not in FORMATS:
        raise TableError(
            f"The format of {name!r} is not known by its name; say --format with one of "
            f"{', '.join(known)}."
        )
    return FORMATS[suffixes[-1]]


def read_table(
    data: Sequence[str], format: str | None = None, columns: Sequence[str] | None = None
) -> Any:
    """All rows of the files as one frame (or CSR matrix with labels, see ``read_libsvm``)."""
    pd = pandas()
    files = find_files(data)
    frames = []
    for name in files:
        with described(name):
            frames.append(READERS[format_of(name, format)](name, columns))
    check_same_columns(files, frames)
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    if not len(frame):
        raise TableError(f"{' and '.join(map(repr, files))} holds no rows.")
    return tidy(frame)


def read_blocks(
    data: Sequence[str], format: str | None = None, block_rows: int = 20_000
) -> Iterator[Any]:
    """The rows of the files in blocks of bounded size; formats without blocks come whole."""
    n = 0
    for name in find_files(data):
        kind = format_of(name, format)
        with described(name):
            blocks = BLOCKS[kind](name, block_rows) if kind in BLOCKS else [READERS[kind](name)]
            for block in blocks:
                if len(block):
                    block.index = range(n, n + len(block))
                    n += len(block)
                    yield tidy(block)
    if n == 0:
        raise TableError(f"{' and '.join(map(repr, data))} holds no rows.")


def table_bytes(data: Sequence[str], format: str | None = None) -> float:
    """How much memory the table takes, roughly, without reading it."""
    total = 0.0
    for name in find_files(data):
        if name == "-":
            continue
        if format_of(name, format) == "parquet":
            from pyarrow.parquet import ParquetFile

            with described(name):
                total += (
                    ParquetFile(name).metadata.num_rows
                    * ParquetFile(name).metadata.num_columns
                    * 8.0
                )
        else:
            total += PARSED_BYTES * Path(name).stat().st_size
    return total


@contextlib.contextmanager
def described(name: str) -> Iterator[None]:
    """Whatever a reader says of a broken file, as one sentence with the file's name."""
    try:
        yield
    except (TableError, ImportError, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise TableError(
            f"{shown(name)} is not UTF-8 text (byte {error.start}); save it as UTF-8."
        ) from error
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "it is empty"
        reason = reason.removeprefix("Error tokenizing data. C error: ")  # of which line comes next
        raise TableError(f"{shown(name)} cannot be read: {reason.rstrip('.')}.") from error


def shown(name: str) -> str:
    """A file's name in a sentence."""
    return "Standard input" if name == "-" else repr(name)


def check_same_columns(files: Sequence[str], frames: Sequence[Any]) -> None:
    """Refuse files that are not parts of one table."""
    first = set(frames[0].columns)
    for name, frame in zip(files[1:], frames[1:], strict=True):
        if differing := sorted(map(str, first ^ set(frame.columns))):
            raise TableError(
                f"{name!r} and {files[0]!r} have different columns: {', '.join(differing[:5])} "
                "is in one of them only."
            )


def tidy(frame: Any) -> Any:
    """Names are strings, each once; durations are seconds; lists in cells are refused."""
    pd = pandas()
    frame.columns = [str(name) for name in frame.columns]
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise TableError(f"Two columns are called {twice!r}; rename one.")
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_timedelta64_dtype(column.dtype):
            frame[name] = column.dt.total_seconds()
        elif column.dtype == object:
            filled = column.dropna()
            if len(filled) and isinstance(filled.iloc[0], list | dict | np.ndarray):
                raise TableError(
                    f"The cells of column {name!r} are lists; a table has one value in each."
                )
    return frame


def separator(sample: str) -> str:
    """What stands most often between the cells of the first line, outside quotes; or a comma."""
    first = sample.splitlines()[0] if sample.strip() else ""
    bare = re.sub(r'"[^"]*"', "", first)
    return max(",;\t|", key=bare.count)


def names_of_digits(sample: str, sep: str) -> list[str]:
    """Columns of the sample with cells such as 00179: codes, whose zeros a number would lose."""
    whole = sample[: sample.rfind("\n") + 1]
    if whole.count("\n") < 2:
        return []
    pd = pandas()
    try:
        rows = pd.read_csv(io.StringIO(whole), sep=sep, dtype=str, on_bad_lines="skip")
    except ValueError:  # what is wrong with the file is said where it is read
        return []
    return [name for name in rows.columns if rows[name].str.fullmatch(r"0\d{3,}").any()]


def decimal_commas(frame: Any) -> Any:
    """Columns of 1,5 and 1.234,5 as numbers, in a file whose cells are not parted by commas."""
    pd = pandas()
    for name in frame.columns:
        if not pd.api.types.is_string_dtype(frame[name].dtype):
            continue
        words = frame[name].dropna().str.strip()
        if words.str.contains(",").any() and words.str.fullmatch(DECIMAL_COMMA).all():
            plain = words.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
            frame[name] = plain.astype(float).reindex(frame.index)
    return frame


def _open_text(name: str) -> tuple[Any, str, str]:
    """What pandas shall read from, its first lines, and the separator."""
    if name == "-":
        text = sys.stdin.buffer.read().decode("utf-8-sig")
        return io.StringIO(text), text[:SNIFFED], separator(text[:SNIFFED])
    if name.endswith(".gz"):
        with gzip.open(name, "rb") as file:
            sample = file.read(SNIFFED)
    else:
        with open(name, "rb") as file:
            sample = file.read(SNIFFED)
    if not sample.strip():
        raise TableError(f"{shown(name)} is empty.")
    if b"\0" in sample:
        raise TableError(f"{shown(name)} is not a text file; is its name right?")
    words = sample.decode("utf-8-sig", errors="ignore")
    return name, words, separator(words)


def _read_csv(name: str, columns: Any = None, tabs: bool = False) -> Any:
    source, options = _csv_options(name, columns, tabs)
    frame = pandas().read_csv(source, **options)
    return frame if options["sep"] == "," else decimal_commas(frame)


def _csv_options(name: str, columns: Any, tabs: bool) -> tuple[Any, dict[str, Any]]:
    """What pandas reads from, and how."""
    source, sample, sep = _open_text(name)
    sep = "\t" if tabs else sep
    used = None if columns is None else list(columns)
    codes = [one for one in names_of_digits(sample, sep) if used is None or one in used]
    look = {"sep": sep, "encoding": "utf-8-sig", "usecols": used, "low_memory": False}
    return source, {**look, "dtype": dict.fromkeys(codes, str), **exact_numbers(pandas())}


def _read_tsv(name: str, columns: Any = None) -> Any:
    return _read_csv(name, columns, tabs=True)


def _read_parquet(name: str, columns: Any = None) -> Any:
    source = io.BytesIO(sys.stdin.buffer.read()) if name == "-" else name
    return pandas().read_parquet(source, columns=None if columns is None else list(columns))


def _read_feather(name: str, columns: Any = None) -> Any:
    source = io.BytesIO(sys.stdin.buffer.read()) if name == "-" else name
    return pandas().read_feather(source, columns=None if columns is None else list(columns))


def _read_jsonl(name: str, columns: Any = None) -> Any:
    frame = pandas().DataFrame(list(_json_rows(name)))
    return frame if columns is None else frame[list(columns)]


def _json_rows(name: str) -> Iterator[dict[str, Any]]:
    with contextlib.ExitStack() as stack:
        if name == "-":
            lines: Any = sys.stdin.buffer
        elif name.endswith(".gz"):
            lines = stack.enter_context(gzip.open(name, "rb"))
        else:
            lines = stack.enter_context(open(name, "rb"))
        for i, line in enumerate(lines):
            if line.strip():
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise TableError(f"{shown(name)}: line {i + 1} is not an object in braces.")
                yield row


def _read_arff(name: str, columns: Any = None) -> Any:
    from scipy.io import arff

    text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    try:
        rows, _ = arff.loadarff(io.StringIO(text))
    except NotImplementedError as error:
        raise TableError(
            f"{shown(name)} has text attributes, which ARFF readers here do not know; save it as "
            "CSV."
        ) from error
    frame = pandas().DataFrame(rows)
    for column in frame.select_dtypes("object").columns:
        words = frame[column].str.decode("utf-8")
        frame[column] = words.mask(words == "?")
    return frame if columns is None else frame[list(columns)]


def _read_libsvm(name: str, columns: Any = None) -> Any:
    """Columns ``1`` to ``d`` and ``label``; sparse columns where the file is sparse and wide."""
    from sklearn.datasets import load_svmlight_file

    pd = pandas()
    source = io.BytesIO(sys.stdin.buffer.read()) if name == "-" else name
    X, y = load_svmlight_file(source)
    names = [str(i + 1) for i in range(X.shape[1])]
    if X.shape[1] <= DENSE_COLUMNS or X.nnz > DENSE_SHARE * X.shape[0] * X.shape[1]:
        frame = pd.DataFrame(X.toarray(), columns=names)
    else:
        frame = pd.DataFrame.sparse.from_spmatrix(X, columns=names)
    frame[LABEL] = y.astype(int) if np.all(y == y.astype(int)) else y
    return frame if columns is None else frame[list(columns)]


def _read_npz(name: str, columns: Any = None) -> Any:
    """``X`` (with ``feature_names``, if there) and every other array of one entry for each row."""
    pd = pandas()
    source = io.BytesIO(sys.stdin.buffer.read()) if name == "-" else name
    with np.load(source, allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    names = arrays.pop("feature_names", None)
    matrices = {key: array for key, array in arrays.items() if array.ndim == 2}
    lengths = {len(array) for array in arrays.values() if array.ndim in (1, 2)}
    if len(matrices) > 1 or len(lengths) != 1:
        raise TableError(
            f"{shown(name)} must hold one matrix X and arrays of one entry for each of its rows; "
            f"it holds {', '.join(f'{k} {a.shape}' for k, a in arrays.items()) or 'nothing'}."
        )
    parts = []
    for key, X in matrices.items():
        wide = X.shape[1]
        named = names is not None and len(names) == wide
        parts.append(
            pd.DataFrame(X, columns=list(names) if named else [f"{key}{i}" for i in range(wide)])
        )
    vectors = {key: array for key, array in arrays.items() if array.ndim == 1}
    frame = pd.concat([*parts, pd.DataFrame(vectors)], axis=1)
    return frame if columns is None else frame[list(columns)]


def _csv_blocks(name: str, rows: int, tabs: bool = False) -> Iterator[Any]:
    source, options = _csv_options(name, None, tabs)
    with pandas().read_csv(source, chunksize=rows, **options) as reader:
        for block in reader:
            yield block if options["sep"] == "," else decimal_commas(block)


def _tsv_blocks(name: str, rows: int) -> Iterator[Any]:
    yield from _csv_blocks(name, rows, tabs=True)


def _jsonl_blocks(name: str, rows: int) -> Iterator[Any]:
    waiting = _json_rows(name)
    while block := list(islice(waiting, rows)):
        yield pandas().DataFrame(block)


def _parquet_blocks(name: str, rows: int) -> Iterator[Any]:
    if name == "-":
        yield _read_parquet(name)
        return
    from pyarrow.parquet import ParquetFile

    with ParquetFile(name) as file:
        for batch in file.iter_batches(rows):
            yield batch.to_pandas()


READERS: dict[str, Callable[..., Any]] = {
    "csv": _read_csv,
    "tsv": _read_tsv,
    "parquet": _read_parquet,
    "feather": _read_feather,
    "arff": _read_arff,
    "libsvm": _read_libsvm,
    "npz": _read_npz,
    "jsonl": _read_jsonl,
}
BLOCKS: dict[str, Callable[[str, int], Iterator[Any]]] = {
    "csv": _csv_blocks,
    "tsv": _tsv_blocks,
    "jsonl": _jsonl_blocks,
    "parquet": _parquet_blocks,
}
