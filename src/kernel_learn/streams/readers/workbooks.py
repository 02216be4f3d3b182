"""Sheets of Excel workbooks: cells with types of their own, and a table anywhere below a title."""

import numpy as np

from kernel_learn.rows.frames import Frame, FrameColumn
from kernel_learn.streams.readers.containers import OLD_OFFICE, ZIP
from kernel_learn.streams.readers.input_files import InputFile, TableError, choose_part, need_pandas

NAMES_BELOW = 50  # rows that are looked at for the names of the columns


def read_workbook(file: InputFile) -> Frame:
    """The sheet that is asked for, or the first that holds a table."""
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError("Excel files need openpyxl: pip install kernel-learn[excel]") from error
    check_workbook(file)
    with file.open() as content:
        book = openpyxl.load_workbook(content, read_only=True, data_only=True)
        filled = {sheet.title: rows for sheet in book.worksheets if (rows := filled_rows(sheet))}
    if not filled:
        raise TableError(f"{file} holds no sheet with cells.")
    tables = [name for name, rows in filled.items() if is_table(rows)]  # others are title pages
    first = next(iter(tables or filled))
    name = choose_part(file, list(filled), file.part or first, "sheet", "--sheet")
    if len(filled) > 1 and file.part is None:
        others = ", ".join(repr(one) for one in filled if one != name)
        file.note(f"sheet {name!r} is read; there are also {others} (--sheet)")
    return as_table(file, filled[name])


def check_workbook(file: InputFile) -> None:
    """Refuse what is called so and is another kind of file."""
    start = file.head(len(ZIP))
    if start == OLD_OFFICE:
        raise TableError(
            f"{file} is a workbook of the old kind, or one with a password; save it as .xlsx "
            "without one."
        )
    if start != ZIP:
        raise TableError(f"{file} is not a workbook; if it is a text, say --format csv.")


def filled_rows(sheet: object) -> list[list[object]]:
    """The rows of a sheet down to the last that has a cell."""
    rows = [list(row) for row in sheet.iter_rows(values_only=True)]  # type: ignore[attr-defined]
    while rows and all(is_empty(cell) for cell in rows[-1]):
        rows.pop()
    return rows


def is_empty(cell: object) -> bool:
    """Whether nothing stands in a cell."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def is_table(rows: list[list[object]]) -> bool:
    """Whether there are names and a row below them, each of two cells or more."""
    return sum(sum(not is_empty(cell) for cell in row) > 1 for row in rows[:NAMES_BELOW]) > 1


def as_table(file: InputFile, rows: list[list[object]]) -> Frame:
    """Names from the first row that is as wide as the table, cells from those below it."""
    widths = [sum(not is_empty(cell) for cell in row) for row in rows[:NAMES_BELOW]]
    wide = 1 if max(widths) == 1 else max(2, max(widths) // 2 + 1)  # titles have a few cells
    start = next(i for i, width in enumerate(widths) if width >= wide)
    if above := sum(width > 0 for width in widths[:start]):
        file.note(f"{above} row{'s' * (above > 1)} above the names of the columns skipped")
    head, below = rows[start], rows[start + 1 :]
    used = [
        i
        for i in range(len(head))
        if not is_empty(head[i]) or any(not is_empty(row[i]) for row in below)
    ]
    names = [f"Unnamed: {i}" if is_empty(head[i]) else str(head[i]).strip() for i in used]
    pandas = need_pandas()
    if not below:
        return pandas.DataFrame(columns=names)
    columns = [typed([row[i] for row in below]) for i in used]
    frame = pandas.concat(columns, axis=1)
    frame.columns = names
    return frame


def typed(cells: list[object]) -> FrameColumn:
    """Cells as the column that a CSV file with them would give: of one type, or of texts."""
    pandas = need_pandas()
    cells = [np.nan if is_empty(cell) or cell in ("NA", "#N/A") else cell for cell in cells]
    column = pandas.Series(cells, dtype=object)
    filled = column.dropna()
    if not any(isinstance(cell, str) for cell in filled):
        return column.infer_objects()
    words = [cell if isinstance(cell, str) else as_written(cell) for cell in filled]
    return pandas.Series(words, index=filled.index, dtype=object).reindex(column.index)


def as_written(cell: object) -> str:
    """A number or date of a workbook as text: 5, not 5.0; without midnight."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).removesuffix(" 00:00:00")
