"""The experiments of the four papers, as protocols that can be run again."""

from kernel_learn.papers.protocol import Cell, Protocol, Record, run

__all__ = ["PROTOCOLS", "Cell", "Protocol", "Record", "run"]

PROTOCOLS: dict[str, str] = {
    "wu2007-tables": "kernel_learn.papers.wu2007:table",
}
"""Protocol name -> "module:function" that builds it; imported only when it is run."""
