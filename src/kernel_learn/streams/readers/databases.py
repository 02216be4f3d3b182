"""Tables of SQLite files."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers.containers import SQLITE
from kernel_learn.streams.readers.input_files import InputFile, TableError, choose_part, need_pandas


def read_database(file: InputFile) -> Frame:
    """The table or view that is asked for, or the only one."""
    if file.head(len(SQLITE)) != SQLITE:
        raise TableError(f"{file} is not an SQLite file: it does not begin like one.")
    with open_database(file) as database:
        found = database.execute(
            "select name from sqlite_master where type in ('table', 'view') "
            "and name not like 'sqlite_%' order by name"
        )
        names = [name for (name,) in found]
        name = choose_part(file, names, file.part, "table", "--table")
        quoted = '"' + name.replace('"', '""') + '"'
        return need_pandas().read_sql_query(f"select * from {quoted}", database)


@contextmanager
def open_database(file: InputFile) -> Iterator[sqlite3.Connection]:
    """The file, for reading only; what is packed is unpacked in memory."""
    if not file.is_packed:
        place = f"{Path(file.name).resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(place, uri=True)) as database:
            yield database
        return
    with closing(sqlite3.connect(":memory:")) as database, file.open() as content:
        database.deserialize(content.read())
        yield database
