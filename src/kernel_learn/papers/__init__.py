"""The experiments of the four papers, as protocols that can be run again."""

from importlib import import_module

from kernel_learn.papers.protocol import Cell, Protocol, Record, run

__all__ = ["PROTOCOLS", "Cell", "Protocol", "Record", "load_protocol", "run"]

PROTOCOLS: dict[str, str] = {
    "chen2008-figures": "kernel_learn.papers.chen2008_figures:figures",
    "chen2008-table2": "kernel_learn.papers.chen2008:tables",
    "chen2008-table3": "kernel_learn.papers.chen2008_weights:table3",
    "multi-source": "kernel_learn.papers.sources:multi_source",
    "wu2007-tables": "kernel_learn.papers.wu2007:tables2_and_3",
    "ye2007-table1": "kernel_learn.papers.ye2007:table1",
    "ye2007-table2": "kernel_learn.papers.ye2007:table2",
    "jain2010-table1": "kernel_learn.papers.jain2010_table1:table1_of_pairs",
    "jain2010-usps": "kernel_learn.papers.jain2010_usps:figure1",
}
"""Protocol name -> "module:function" that builds it; imported only when it is run."""


def load_protocol(name: str) -> Protocol:
    """The protocol of a name."""
    module, function = PROTOCOLS[name].split(":")
    protocol: Protocol = getattr(import_module(module), function)()
    return protocol
