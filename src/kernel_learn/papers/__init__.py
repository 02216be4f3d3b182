"""The experiments of the four papers, as protocols that can be run again."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TextIO

from kernel_learn.arrays import PathLike
from kernel_learn.datasets import DataSets, find_data
from kernel_learn.namespaces import list_only
from kernel_learn.papers.bench import (
    MethodLike,
    compare_methods,
    make_methods,
    own_records,
    run_methods,
)
from kernel_learn.papers.protocol import Bench, Cell, Protocol, Record, cells_with, run_cells

__all__ = [
    "PROTOCOLS",
    "Bench",
    "Cell",
    "Protocol",
    "Record",
    "compare",
    "load_protocol",
    "run",
]

__dir__ = list_only(__all__)

PROTOCOLS: dict[str, str] = {
    "chen2008-alternation": "kernel_learn.papers.chen2008_alternation:alternation",
    "chen2008-figures": "kernel_learn.papers.chen2008_figures:figures",
    "chen2008-rounds": "kernel_learn.papers.chen2008_rounds:rounds",
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
    """The protocol of a table of the papers, by its name."""
    if name not in PROTOCOLS:
        raise ValueError(
            f"There is no table {name!r}. Choose one of {', '.join(sorted(PROTOCOLS))}."
        )
    module, function = PROTOCOLS[name].split(":")
    protocol: Protocol = getattr(import_module(module), function)()
    return protocol


def run(
    table: str | Protocol,
    data: DataSets | None = None,
    results: PathLike = "results",
    *,
    methods: Mapping[str, MethodLike] | None = None,
    only: str | Callable[[Cell], bool] = "",
    seconds: float = float("inf"),
    stream: TextIO | None = None,
) -> list[Record]:
    """Run a table, or other methods on its partitions; finished cells are not run again.

    Parameters
    ----------
    table : str or Protocol
        One of ``PROTOCOLS``.
    data : DataSets, default=None
        Where the data sets are found; None: by ``KERNEL_LEARN_DATA``, or from OpenML.
    results : path, default="results"
        Folder of the records, JSON lines.
    methods : dict of estimators, default=None
        By their names: classifiers with scikit-learn's interface, their classes, functions
        that make them, or "package.module:Name" of one. They run in place of ours; ``compare``
        sets both side by side.
    only : str or function of a cell, default=""
        Which partitions: those with this in their key ("Sonar"), or of which it is true.
    seconds : float, default=inf
        When to stop; the same call goes on from there.
    stream : text stream, default=None
        For progress; None: the standard error.

    Returns
    -------
    records : list of dict
        Of these methods, one for each partition, with ``errors`` in per cent; without
        ``methods`` those of the table.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from kernel_learn import papers
    >>> found = papers.run("ye2007-table1", methods={"5-NN": KNeighborsClassifier()})
    ... # doctest: +SKIP
    >>> print(papers.compare("ye2007-table1", found))  # doctest: +SKIP
    """
    protocol = load_protocol(table) if isinstance(table, str) else table
    wanted = cells_with(protocol, only) if isinstance(only, str) else only
    folder = Path(results)
    if methods is None:
        data = find_data(None) if data is None else data
        return run_cells(protocol, data, folder, only=wanted, seconds=seconds, stream=stream)
    made = make_methods(protocol, methods)  # what cannot join is refused before data are looked for
    data = find_data(None) if data is None else data
    return run_methods(protocol, made, data, folder, only=wanted, seconds=seconds, stream=stream)


def compare(table: str | Protocol, records: Iterable[Record], results: PathLike = "results") -> str:
    """Other methods compared with ours, in Markdown: errors, and a corrected test per data set.

    Parameters
    ----------
    table : str or Protocol
        The table whose partitions they ran on.
    records : list of dict
        What ``run(table, methods=...)`` returned.
    results : path, default="results"
        Folder of our own records; those that come with the package are used where it has none.
    """
    protocol = load_protocol(table) if isinstance(table, str) else table
    return compare_methods(protocol, records, own_records(protocol, Path(results)))
