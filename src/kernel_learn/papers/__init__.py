"""The experiments of the four papers, as protocols that can be run again."""

from kernel_learn.papers.protocol import Cell, Protocol, Record, run

__all__ = ["PROTOCOLS", "Cell", "Protocol", "Record", "run"]

PROTOCOLS: dict[str, str] = {
    "jain2010-table1": "kernel_learn.papers.jain2010_table1:build",
    "jain2010-usps": "kernel_learn.papers.jain2010_usps:build",
}
"""Protocol name -> "module:function" that builds it; imported only when it is run."""
