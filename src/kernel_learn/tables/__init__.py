"""Tables from files, what their columns are, and models that find columns by name.

The ground of the command line, usable without it. Needs pandas, pyarrow and skrub
(``kernel-learn[cli]``).
"""

from kernel_learn.streams.readers import TableError, read_blocks, read_table
from kernel_learn.tables.columns import Columns, look_at_columns
from kernel_learn.tables.model import TableModel

__all__ = ["Columns", "TableError", "TableModel", "look_at_columns", "read_blocks", "read_table"]
