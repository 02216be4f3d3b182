"""Formats that are read whole: Feather, ARFF, NumPy's .npz, JSON, Stata and SPSS."""

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import numpy as np

from kernel_learn.rows.access import row_blocks
from kernel_learn.rows.frames import Frame
from kernel_learn.rows.kinds import column_kind
from kernel_learn.streams.readers.input_files import FormatFiles, InputFile, TableError, need_pandas
from kernel_learn.streams.readers.parquet_files import keep_cells


@dataclass
class WholeFiles(FormatFiles):
    """Files that one function reads, each at once."""

    reader: Callable[[InputFile], Frame]

    def frames(
        self, file: InputFile, rows: int | None, columns: Sequence[str] | None
    ) -> Iterator[Frame]:
        frame = self.reader(file)
        frame = frame if columns is None else frame[list(columns)]
        yield from row_parts(frame, rows)


@dataclass
class FeatherFiles(FormatFiles):
    """Arrow's own file format."""

    def frames(
        self, file: InputFile, rows: int | None, columns: Sequence[str] | None
    ) -> Iterator[Frame]:
        with file.open() as content:
            table = need_feather().read_table(content, None if columns is None else list(columns))
        frame = keep_cells(table.to_pandas(), table, self.as_written)
        yield from row_parts(frame, rows)


def need_feather() -> ModuleType:
    """pyarrow.feather, or an error that names the extra."""
    try:
        import pyarrow.feather
    except ImportError as error:
        raise ImportError(
            "Feather files are read by pyarrow. Install it: pip install kernel-learn[parquet]"
        ) from error
    return pyarrow.feather


def row_parts(frame: Frame, rows: int | None) -> Iterator[Frame]:
    """A frame in parts of so many rows; None: all at once."""
    for part in row_blocks(len(frame), rows or max(1, len(frame))):
        yield frame.iloc[part].copy()


def read_arff(file: InputFile) -> Frame:
    """Weka's format: numbers and nominal attributes."""
    from scipy.io import arff

    with file.open_text() as content:
        text = content.read().decode("utf-8-sig")
    try:
        rows, _ = arff.loadarff(io.StringIO(text))
    except NotImplementedError as error:
        raise TableError(
            f"{file} has text attributes, which ARFF readers here do not know; save it as CSV."
        ) from error
    frame = need_pandas().DataFrame(rows)
    for column in frame.select_dtypes("object").columns:
        words = frame[column].str.decode("utf-8")
        frame[column] = words.mask(words == "?")
    return frame


def read_npz(file: InputFile) -> Frame:
    """``X`` (with ``feature_names``, if there) and every other array of one entry for each row."""
    pandas = need_pandas()
    with file.open() as content, np.load(content, allow_pickle=False) as held:
        arrays = {key: held[key] for key in held.files}
    names = arrays.pop("feature_names", None)
    matrices = {key: array for key, array in arrays.items() if array.ndim == 2}
    lengths = {len(array) for array in arrays.values() if array.ndim in (1, 2)}
    if len(matrices) > 1 or len(lengths) != 1:
        raise TableError(
            f"{file} must hold one matrix X and arrays of one entry for each of its rows; "
            f"it holds {', '.join(f'{k} {a.shape}' for k, a in arrays.items()) or 'nothing'}."
        )
    parts = []
    for key, X in matrices.items():
        wide = X.shape[1]
        named = names is not None and len(names) == wide
        columns = list(names) if named else [f"{key}{i}" for i in range(wide)]
        parts.append(pandas.DataFrame(X, columns=columns))
    vectors = {key: array for key, array in arrays.items() if array.ndim == 1}
    return pandas.concat([*parts, pandas.DataFrame(vectors)], axis=1)


def read_json_table(file: InputFile) -> Frame:
    """A list of objects, an object of lists, one of these under a name, or names and rows apart."""
    pandas = need_pandas()
    with file.open_text() as content:
        try:
            found = json.loads(content.read().decode("utf-8-sig"))
        except json.JSONDecodeError as error:
            raise TableError(
                f"{file} is not JSON (line {error.lineno}: {error.msg}); is it JSON lines? Say "
                "--format jsonl."
            ) from error
    if isinstance(found, dict):
        inside = [key for key, value in found.items() if is_rows(value)]
        if len(inside) == 1:
            file.note(f"the rows are those under {inside[0]!r}")
            found = found[inside[0]]
        elif is_split(found):
            return pandas.DataFrame(found["data"], columns=found["columns"])
        elif found and all(isinstance(value, list | dict) for value in found.values()):
            lengths = {key: len(value) for key, value in found.items()}
            if len(set(lengths.values())) > 1 and all(isinstance(v, list) for v in found.values()):
                shown = ", ".join(f"{key!r} {n}" for key, n in list(lengths.items())[:5])
                raise TableError(
                    f"{file} holds lists of different lengths ({shown}); a table has one value of "
                    "each column in each row."
                )
            return pandas.DataFrame(found)
    if not is_rows(found):
        raise TableError(
            f"{file} holds no table: a list of objects in braces, one for each row, is read."
        )
    return pandas.json_normalize(found)


def is_split(found: dict[str, object]) -> bool:
    """Whether names of columns and rows of cells stand beside each other, as pandas writes it."""
    rows, names = found.get("data"), found.get("columns")
    if not isinstance(rows, list) or not isinstance(names, list) or not rows:
        return False
    return all(isinstance(row, list) and len(row) == len(names) for row in rows)


def is_rows(value: object) -> bool:
    """Whether a value of JSON is a list of objects."""
    return isinstance(value, list) and all(isinstance(row, dict) for row in value) and bool(value)


def read_stata(file: InputFile) -> Frame:
    """Stata's .dta; labels of values are levels."""
    with file.open() as content:
        return plain_levels(need_pandas().read_stata(io.BytesIO(content.read())))


def read_spss(file: InputFile) -> Frame:
    """SPSS's .sav; labels of values are levels."""
    try:
        import pyreadstat  # noqa: F401
    except ImportError as error:
        raise ImportError("SPSS files need pyreadstat: pip install kernel-learn[spss]") from error
    with TemporaryDirectory() as folder, file.open() as content:
        path = Path(folder, "t.sav")
        if not file.is_packed:
            path = Path(file.name)
        else:  # its reader wants a file with a name
            path.write_bytes(content.read())
        return plain_levels(need_pandas().read_spss(path))


def plain_levels(frame: Frame) -> Frame:
    """Levels as texts, as a CSV file would give them; empty texts are missing."""
    for name in frame.columns:
        column = frame[name]
        if column_kind(column) == "category":
            column = column.astype(object)
        if column_kind(column) == "object":
            frame[name] = column.where(column.notna() & (column != ""), np.nan)
    return frame
