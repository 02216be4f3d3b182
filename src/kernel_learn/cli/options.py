"""Options that several commands have, by their types."""

from typing import Annotated

import typer

DataFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, Excel, Parquet, Feather, JSON, JSON lines, SQLite, Stata, SPSS, ARFF, "
        "LIBSVM or NPZ, also packed (.zip, .gz, .bz2, .xz); several files, a pattern "
        "or a folder are one table, - is standard input.",
        show_default=False,
    ),
]
Target = Annotated[
    str, typer.Option("--target", "-t", help="The column to predict.", show_default=False)
]
Task = Annotated[
    str,
    typer.Option(
        "--task",
        help="auto, classify or regress: auto takes real numbers, and whole numbers of many "
        "values, as numbers, and says so.",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group", help="Column of patients, batches...: their rows are left out together."
    ),
]
Format = Annotated[
    str | None, typer.Option("--format", help="Format of DATA, if its name does not tell.")
]
Types = Annotated[
    list[str],
    typer.Option("--types", help="What columns are: age=number,zip=category,date=skip."),
]
Na = Annotated[list[str], typer.Option("--na", help="Another word for missing (repeat).")]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Encoding of a text file, if it is not recognised.")
]
Sheet = Annotated[str | None, typer.Option("--sheet", help="The sheet of a workbook.")]
TableName = Annotated[
    str | None, typer.Option("--table", help="The table of a database, the file of an archive.")
]
NoClean = Annotated[
    bool, typer.Option("--no-clean", help="Take cells as they are: no units, no words for missing.")
]
Threshold = Annotated[
    float | None,
    typer.Option(
        "--threshold", help="For two classes: predict the rarer from this probability on."
    ),
]
Drop = Annotated[
    list[str], typer.Option("--drop", help="Column to leave out (repeat for several).")
]
Keep = Annotated[
    list[str], typer.Option("--keep", help="Column to use even if it looks like an identifier.")
]
Setting = Annotated[
    list[str], typer.Option("--set", help="Parameter of the method, as name=value (repeat).")
]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.")]
Memory = Annotated[
    str | None, typer.Option("--memory", help='Memory that may be used, such as "2GB".')
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
ModelIn = Annotated[str, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)]
ModelOut = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="MODEL",
        help="The model file (.skops) to write.",
        show_default=False,
    ),
]
Raw = Annotated[
    bool, typer.Option("--raw", help="Leave texts that a spreadsheet would run as they are.")
]
TableOut = Annotated[
    str,
    typer.Option(
        "--output", "-o", metavar="OUT", help=".csv, .tsv, .parquet, .jsonl, or - to print."
    ),
]
Report = Annotated[
    str | None, typer.Option("--report", metavar="OUT.html", help="Write a report to this file.")
]
Onnx = Annotated[str | None, typer.Option("--onnx", metavar="OUT.onnx", help="Write ONNX, too.")]
