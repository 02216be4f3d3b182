"""Tables from files, what their columns are, and models that find columns by name.

The ground of the command line, usable without it. Needs pandas, pyarrow and skrub
(``kernel-learn[cli]``).
"""

# Names are imported when they are first asked for: to refuse a file needs no scikit-learn.
from typing import TYPE_CHECKING

from kernel_learn.namespaces import import_when_asked, list_only

if TYPE_CHECKING:
    from kernel_learn.streams.readers import TableError, read_blocks, read_table
    from kernel_learn.tables.columns import Columns, look_at_columns
    from kernel_learn.tables.model import TableModel
    from kernel_learn.tables.reading.clean_files import CleanTable, read_clean_table

__all__ = [
    "CleanTable",
    "Columns",
    "TableError",
    "TableModel",
    "look_at_columns",
    "read_blocks",
    "read_clean_table",
    "read_table",
]

__dir__ = list_only(__all__)
__getattr__ = import_when_asked(
    __name__,
    dict.fromkeys(__all__, "streams.readers")
    | {
        "CleanTable": "tables.reading.clean_files",
        "Columns": "tables.columns",
        "TableModel": "tables.model",
        "look_at_columns": "tables.columns",
        "read_clean_table": "tables.reading.clean_files",
    },
)
