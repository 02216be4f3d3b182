"""Files of which every block is read as it is meant."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import BLOCK_ROWS, TableFiles
from kernel_learn.tables.reading.doubts import find_doubts
from kernel_learn.tables.reading.odd_rows import Dropped, Sums, say_dropped
from kernel_learn.tables.reading.recipe import quoted
from kernel_learn.tables.reading.table_reading import Remarks, TableReading, learn_reading
from kernel_learn.tables.tasks import is_measured


@dataclass(frozen=True)
class CleanTable:
    """A cleaned table, how it was read, and what was done to its cells."""

    frame: Frame
    reading: TableReading
    remarks: Remarks = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # on files and rows


class CleanFiles(TableFiles):
    """A table in files, read by what was learned on some of its rows."""

    def __init__(self, files: TableFiles, reading: TableReading) -> None:
        self.files, self.formats, self.reading = files.files, files.formats, reading
        self.as_written = files.as_written

    def blocks(
        self, rows: int | None = BLOCK_ROWS, columns: Sequence[str] | None = None
    ) -> Iterator[Frame]:
        """The rows in their order, as they are meant."""
        for _, block, _ in clean_blocks(super().blocks(rows, columns), self.reading):
            yield block


def clean_blocks(
    blocks: Iterable[Frame], reading: TableReading
) -> Iterator[tuple[Frame, Frame, Dropped]]:
    """(as it stands, as it is meant, rows dropped) of each block, without rows that are none."""
    waiting, before = None, Sums()
    for block in chain(blocks, [None]):
        if waiting is not None:
            kept, dropped = reading.drop_odd_rows(waiting, before, is_last=block is None)
            reading = reading.adapted(kept)
            yield kept, reading.read(kept)[0], dropped
            if block is not None:
                before.add(kept)
        waiting = block


def clean_table(
    table: TableFiles,
    frame: Frame,
    *,
    target: str | None = None,
    task: str = "auto",
    types: dict[str, str] | None = None,
    na: Sequence[str] = (),
    clean: bool = True,
) -> CleanTable:
    """The frame that was read from files as it is meant, with what was learned of it."""
    kept, dropped = TableReading(clean=clean).drop_odd_rows(frame)
    kept = kept.reset_index(drop=True) if dropped else kept
    types = dict(types or {})
    if clean and target is not None and target not in types:
        types |= {target: "number"} if is_measured(kept[target], task, na) else {}
    reading = learn_reading(kept, target=target, types=types, na=na, clean=clean)
    found, remarks = reading.read(kept)
    taken = table.missing_words() if clean else {}
    for name, words in taken.items():
        remarks[name] = [f"{quoted(words)} -> missing", *remarks.get(name, [])]
    for name, doubts in find_doubts(found, reading, target).items():
        remarks[name] = [*remarks.get(name, []), *doubts]
    return CleanTable(found, reading, remarks, [*table.notes, *say_dropped(dropped)])


def read_clean_table(
    data: Sequence[str],
    format: str | None = None,
    *,
    target: str | None = None,
    task: str = "auto",
    types: dict[str, str] | None = None,
    na: Sequence[str] = (),
    encoding: str | None = None,
    part: str | None = None,
    clean: bool = True,
) -> CleanTable:
    """All rows of the files, cleaned: numbers with units, words for missing cells, dates.

    Parameters
    ----------
    data : list of str
        Names of files and patterns; ``-``: standard input.
    format : str, optional
        Of all files; None: by their names.
    target : str, optional
        The column of labels, whose spellings are merged, or of the numbers to be predicted.
    task : {"auto", "classify", "regress"}
        Whether the target names classes, which may be any numbers and words, or is a number.
    types : dict, optional
        Columns and what they are: number, category, date, text or skip.
    na : list of str
        More words for missing.
    encoding : str, optional
        Of text files; None: by their bytes.
    part : str, optional
        Of files with several tables: the sheet, the table, the file of an archive.
    clean : bool
        False: cells as they stand.

    Returns
    -------
    CleanTable
        ``frame``, ``reading`` (for other files of the kind), ``remarks`` and ``notes``.
    """
    table = TableFiles(data, format, encoding=encoding, part=part)
    return clean_table(
        table, table.read(), target=target, task=task, types=types, na=na, clean=clean
    )
