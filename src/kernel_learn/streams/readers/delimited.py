"""CSV and TSV: separators, decimal commas, and what each column holds, found once for all rows.

A column is what all of its cells say, whichever rows are read at a time: the files are passed
over once before they are read (about a second for 100 MB), and only files with cells such as
00179 or 1,5 a second time, as text.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernel_learn.rows.frames import Frame, FrameColumn
from kernel_learn.streams.readers.input_files import (
    InputFile,
    ScannedFiles,
    TableError,
    described,
    need_pandas,
)
from kernel_learn.streams.readers.layout import SPARE, Layout, find_layout

SNIFFED = 65536  # bytes that show the separator
SCANNED_BYTES, SCANNED_CELLS = 2**20, 2_000_000  # looked at together
# Cells such as 00179 are codes, if all are whole: a number would lose their zeros.
CODE_BYTES, CODE = re.compile(rb"[,;\t|\"\r\n ]0\d{2}"), r" *0\d{3,} *"
SHORT_CODE, MOST_SHORT = re.compile(r"\d{3}"), 20  # of three digits a few alone are codes
BEFORE_CODE = (" ", *(f"0{digit}" for digit in range(10)))
# What pandas takes for missing, beside empty cells.
NA_PATTERN = "NA|N/A|n/a|#N/A|#NA|NULL|null|NaN|nan|-NaN|-nan|None|<NA>"
NA_WORDS = NA_PATTERN.split("|")
NA_BYTES = re.compile(rf"""[,;\t|"\r\n ]({NA_PATTERN})[,;\t|"\r\n ]""".encode())
COMMA_BYTES = re.compile(rb"\d,\d")
DECIMAL_COMMA = r"[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?([eE][+-]?\d+)?"
# Beside what pandas calls types: whole are floats without fractions.
MISSING, FLAGS, WHOLE, HUGE, TEXT, DECIMAL = "missing", "flags", "whole", "huge", "str", "decimal"
INTEGERS, FLOATS = {"int64", "uint64"}, {"float64", WHOLE}
MARK = "'"  # before a cell that is to stay as it is: pandas takes "NA" for no text otherwise
READ_AS = {DECIMAL: TEXT, WHOLE: "float64"}
# True and False with holes between, and whole numbers beyond 64 bits, which are codes if all are
# whole: what pandas has no type for.
OBJECTS = {"boolean": FLAGS, "integer": HUGE}


@dataclass
class DelimitedFiles(ScannedFiles[dict[str, str]]):
    """CSV files that are one table; ``separator`` None: the first line of each file shows it."""

    separator: str | None = None

    def names(self) -> list[str]:
        """The columns of the first file."""
        return list(next(self._chunks(self.files[0], None, nrows=0)).columns)

    def frames(
        self, file: InputFile, rows: int | None, columns: Sequence[str] | None
    ) -> Iterator[Frame]:
        types = self.found
        given = {
            name: READ_AS.get(own, own)
            for name, own in types.items()
            if own != FLAGS and (columns is None or name in columns)
        }
        kept = [name for name in types if name in self.as_written]
        words = {name: MARK.__add__ for name in kept if columns is None or name in columns}
        given = {name: own for name, own in given.items() if name not in words}
        types = {name: own for name, own in types.items() if name not in words}
        for block in self._chunks(file, rows, usecols=columns, dtype=given, converters=words):
            texts = {name: block[name].astype(object).str[len(MARK) :] for name in words}
            yield finish_cells(block.assign(**texts), types)

    def scan(self) -> dict[str, str]:
        """What each column holds."""
        found: dict[str, set[str]] = {}
        for file in self.files:
            self._check_spare(file)
            width = max(1, next(self._chunks(file, None, nrows=0)).shape[1])
            for chunk in self._chunks(file, max(1, SCANNED_CELLS // width)):
                for name, own in chunk_types(chunk).items():
                    found.setdefault(name, set()).add(own)
        types = {name: merge_types(own) for name, own in found.items()}
        decimals = self._find_decimals(types)
        if decimals:
            shown = ", ".join(map(repr, sorted(decimals)[:5])) + " and so on" * (len(decimals) > 5)
            self.files[0].note(f"decimal commas in {shown}")
        return types | self._find_codes(types) | decimals

    def missing_words(self) -> dict[str, Counter[str]]:
        """Words such as NA that are read as missing cells: how often each is in each column."""
        found: dict[str, Counter[str]] = {}
        for file in self.files:
            if not holds(file, NA_BYTES):
                continue
            for chunk in self._chunks(file, SCANNED_CELLS, dtype=str, keep_default_na=False):
                for name in chunk.columns:
                    words = chunk[name][chunk[name].isin(NA_WORDS)]
                    if len(words):
                        found.setdefault(str(name), Counter()).update(words.tolist())
        return found

    def _find_codes(self, types: dict[str, str]) -> dict[str, str]:
        numbers = [name for name, own in types.items() if own in (*INTEGERS, WHOLE)]
        files = [file for file in self.files if numbers and holds(file, CODE_BYTES)]
        codes: set[str] = set()
        short: dict[str, set[str]] = {name: set() for name in numbers}
        for name, words in self._texts(files, numbers):
            if name not in codes and has_codes(words):
                codes.add(name)
            if len(short[name]) <= MOST_SHORT:
                short[name].update(words.unique()[: MOST_SHORT + 1])
        codes |= {name for name, words in short.items() if are_short_codes(words)}
        return dict.fromkeys(codes, TEXT)

    def _find_decimals(self, types: dict[str, str]) -> dict[str, str]:
        """Columns of 1,5 and 1.234,5, in files whose cells are not parted by commas."""
        texts = [name for name, own in types.items() if own == TEXT]
        files = [file for file in self.files if texts and self._layout(file).separator != ","]
        if len(files) < len(self.files) or not any(holds(file, COMMA_BYTES) for file in files):
            return {}
        with_commas: set[str] = set()
        others: set[str] = set()
        for name, words in self._texts(files, texts):
            if name in others:
                continue
            if not words.str.strip().str.fullmatch(DECIMAL_COMMA).all():
                others.add(name)
            elif words.str.contains(",", regex=False).any():
                with_commas.add(name)
        return dict.fromkeys(with_commas - others, DECIMAL)

    def _texts(
        self, files: Sequence[InputFile], names: list[str]
    ) -> Iterator[tuple[str, FrameColumn]]:
        """(column, its cells as texts) of these columns, some rows at a time."""
        rows = max(1, SCANNED_CELLS // max(1, len(names)))
        for file in files if names else []:
            for chunk in self._chunks(file, rows, usecols=names, dtype=str):
                for name in names:
                    yield name, chunk[name].dropna()

    def _check_spare(self, file: InputFile) -> None:
        """Refuse cells in a column that looked as if it had none."""
        if not self._layout(file).is_spare:
            return
        for chunk in self._chunks(file, SCANNED_CELLS, usecols=[SPARE], dtype=str):
            if len(cells := chunk[SPARE].dropna()):
                raise TableError(
                    f"{file}: row {cells.index[0]} has a cell, {cells.iloc[0]!r}, beyond the last "
                    "name of a column; name that column too, or take the cell out."
                )

    def _layout(self, file: InputFile) -> Layout:
        with described(file), file.open_text() as text:
            sample = text.read(SNIFFED)
        if not sample.strip():
            raise TableError(f"{file} is empty: a table begins with the names of its columns.")
        if b"\0" in sample:
            raise TableError(f"{file} is not a text file; is its name right?")
        found = find_layout(
            sample.decode("utf-8-sig", errors="ignore"), self.separator, len(sample) < SNIFFED
        )
        if found.trouble:
            raise TableError(f"{file} cannot be read: {found.trouble}.")
        for text_of_note in found.notes:
            file.note(text_of_note)
        return found

    def _chunks(
        self,
        file: InputFile,
        rows: int | None,
        usecols: Sequence[str] | None = None,
        **options: Any,
    ) -> Iterator[Frame]:
        pandas, layout = need_pandas(), self._layout(file)
        look = {"sep": layout.separator, "encoding": "utf-8-sig", "low_memory": False}
        look |= {"skiprows": layout.skip, "skipinitialspace": layout.padded}
        if layout.names is not None:
            look |= {"names": layout.names, "header": 0}
            usecols = layout.names[:-1] if usecols is None and layout.is_spare else usecols
        if usecols is not None:
            options["usecols"] = list(usecols)
        with described(file), file.open_text() as text:
            found = pandas.read_csv(
                text, chunksize=rows, **look, **options, **exact_numbers(pandas)
            )
            if rows is None:
                yield found
                return
            with found as chunks:
                yield from chunks


def holds(file: InputFile, pattern: re.Pattern[bytes]) -> bool:
    """Whether the pattern, of a few bytes, is anywhere in the file."""
    with described(file), file.open_text() as text:
        tail = b""
        while part := text.read(SCANNED_BYTES):
            if pattern.search(tail + part):
                return True
            tail = part[-8:]
    return False


def chunk_types(chunk: Frame) -> dict[str, str]:
    """What pandas takes the cells of some rows for."""
    infer = need_pandas().api.types.infer_dtype
    is_missing = chunk.isna().all()
    floats = chunk.select_dtypes("float64")
    is_whole = ((np.floor(floats) == floats) | floats.isna()).all()
    found = {}
    for name, dtype in chunk.dtypes.items():
        own = str(dtype)
        if is_missing[name]:
            own = MISSING
        elif own == "object":
            own = OBJECTS.get(infer(chunk[name], skipna=True), TEXT)
        elif own == "float64":
            own = WHOLE if is_whole[name] else own
        elif own not in (*INTEGERS, "bool"):
            own = TEXT
        found[name] = own
    return found


def merge_types(found: set[str]) -> str:
    """What all rows hold, by what some of them do: as pandas says of all rows at once."""
    filled = found - {MISSING}
    if filled <= INTEGERS | FLOATS or (filled <= {*INTEGERS, *FLOATS, HUGE} and filled & FLOATS):
        if "float64" in filled or HUGE in filled:
            return "float64"
        return next(iter(filled)) if len(filled) == len(found) == 1 else WHOLE
    if filled <= {"bool", FLAGS}:
        return "bool" if found == {"bool"} else FLAGS
    return TEXT


def finish_cells(block: Frame, types: dict[str, str]) -> Frame:
    """What pandas does not read by itself: decimal commas, and flags with holes."""
    for name in block.columns:
        if types.get(name) == FLAGS:
            block[name] = block[name].astype(object)
        elif types.get(name) == DECIMAL:
            words = block[name].dropna().str.strip()
            plain = words.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
            block[name] = plain.astype(float).reindex(block.index)
    return block


def has_codes(words: FrameColumn) -> bool:
    """Whether a cell is one of digits that begin with zero."""
    likely = words[words.str.startswith(BEFORE_CODE)]  # far fewer, and far faster, than patterns
    return bool(likely.str.fullmatch(CODE).any())


def are_short_codes(words: Collection[str]) -> bool:
    """Whether a few words such as 001 are codes: of three digits each, some with zeros in front."""
    texts = {word.strip() for word in words}
    is_few = 0 < len(texts) <= MOST_SHORT
    return is_few and all(map(SHORT_CODE.fullmatch, texts)) and any(t[0] == "0" for t in texts)


def exact_numbers(pandas: Any) -> dict[str, str]:
    """Options of ``read_csv`` for numbers as they were written, to the last digit."""
    old = int(pandas.__version__.partition(".")[0]) < 3  # later ones do it without being asked
    return {"float_precision": "round_trip"} if old else {}
