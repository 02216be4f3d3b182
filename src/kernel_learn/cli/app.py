"""The commands and their options. What they do is in the modules that they import when they run."""

from collections.abc import Callable
from inspect import Signature, signature
from typing import Annotated, Any

import typer

from kernel_learn.cli.session import CODES, Session, session

app = typer.Typer(
    name="kernel-learn",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

DataFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, Parquet, Feather, ARFF, LIBSVM, NPZ or JSON lines; several files or a "
        "pattern are one table, - is standard input.",
        show_default=False,
    ),
]
Target = Annotated[
    str, typer.Option("--target", "-t", help="The column of labels.", show_default=False)
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group", help="Column of patients, batches...: their rows are left out together."
    ),
]
Format = Annotated[
    str | None, typer.Option("--format", help="Format of DATA, where its name does not tell.")
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


def example(*lines: str) -> str:
    """The end of a help page: lines that work as they stand, from an empty folder."""
    return "\n\n".join(["Example:", *lines])


WINE = "kernel-learn example wine.csv"
FIT = "kernel-learn fit wine.csv --target cultivar -o wine.skops"
LEARN = "kernel-learn learn-kernel wine.csv --target cultivar -o kernel.skops"
EXAMPLES = {
    "example": (WINE,),
    "fit": (WINE, f"{FIT} --report wine.html"),
    "predict": (WINE, FIT, "kernel-learn predict wine.skops wine.csv -o predictions.csv --proba"),
    "compare": (WINE, "kernel-learn compare wine.csv --target cultivar --report comparison.html"),
    "report": (WINE, FIT, "kernel-learn report wine.skops -o wine.html"),
    "inspect": (WINE, FIT, "kernel-learn inspect wine.skops"),
    "learn-kernel": (WINE, LEARN),
    "transform": (WINE, LEARN, "kernel-learn transform kernel.skops wine.csv -o features.csv"),
    "reproduce": ("kernel-learn reproduce --list",),
}


def command(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command that is given a session, by the options that all have; its help has an example."""

    def add(work: Callable[..., None]) -> Callable[..., None]:
        def run_command(
            json: Json = False, quiet: Quiet = False, debug: Debug = False, **given: Any
        ) -> None:
            with session(as_json=json, quiet=quiet, debug=debug) as run:
                work(run, **given)

        _, *own = signature(work).parameters.values()
        *common, _ = signature(run_command).parameters.values()
        run_command.__doc__ = work.__doc__
        run_command.__annotations__ = {one.name: one.annotation for one in [*own, *common]}
        run_command.__signature__ = Signature([*own, *common])  # type: ignore[attr-defined]
        return app.command(name, epilog=example(*EXAMPLES[name]))(run_command)

    return add


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        from kernel_learn._version import __version__

        print(f"kernel-learn {__version__}")
        raise typer.Exit


@app.callback(epilog=CODES)
def kernel_learn(
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Learned kernels for classification: from a table to a model, a report and predictions."""


@command("fit")
def fit(
    run: Session,
    data: DataFiles,
    target: Target,
    output: ModelOut,
    method: Annotated[
        str, typer.Option("--method", "-m", help="auto (KernelClassifier), or any estimator.")
    ] = "auto",
    setting: Setting = [],  # noqa: B006
    group: Group = None,
    drop: Drop = [],  # noqa: B006
    keep: Keep = [],  # noqa: B006
    report: Report = None,
    onnx: Onnx = None,
    format: Format = None,
    memory: Memory = None,
    seed: Seed = 0,
) -> None:
    """Fit a model to a table and keep it in a file."""
    from kernel_learn.cli.fitting import fit_command
    from kernel_learn.cli.training import Given

    given = Given(data, target, group, drop, keep, format, memory, seed)
    fit_command(
        run, given, output=output, method=method, settings=setting, report=report, onnx=onnx
    )


@command("predict")
def predict(
    run: Session,
    model: ModelIn,
    data: DataFiles,
    output: TableOut = "-",
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class.")
    ] = False,
    format: Format = None,
) -> None:
    """Predict the classes of new rows. Columns are found by name; the order does not matter."""
    from kernel_learn.cli.predicting import predict_command

    predict_command(run, model, data, output=output, proba=proba, format=format)


@command("compare")
def compare(
    run: Session,
    data: DataFiles,
    target: Target,
    method: Annotated[
        list[str], typer.Option("--method", "-m", help="Compare this method, too (repeat).")
    ] = [],  # noqa: B006
    setting: Setting = [],  # noqa: B006
    group: Group = None,
    drop: Drop = [],  # noqa: B006
    keep: Keep = [],  # noqa: B006
    folds: Annotated[int, typer.Option("--folds", min=2, help="Cross-validation folds.")] = 5,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Partitions into folds.")] = 2,
    rows: Annotated[
        int, typer.Option("--rows", min=20, help="At most so many rows are compared on.")
    ] = 5000,
    report: Report = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="MODEL", help="Keep KernelClassifier, fitted to all rows."
        ),
    ] = None,
    format: Format = None,
    memory: Memory = None,
    seed: Seed = 0,
) -> None:
    """Compare KernelClassifier with other methods on the same cross-validation folds."""
    from kernel_learn.cli.comparing import compare_command
    from kernel_learn.cli.training import Given

    given = Given(data, target, group, drop, keep, format, memory, seed)
    compare_command(
        run,
        given,
        methods=method,
        settings=setting,
        folds=folds,
        repeats=repeats,
        rows=rows,
        report=report,
        output=output,
    )


@command("report")
def report(
    run: Session,
    model: ModelIn,
    data: Annotated[
        list[str] | None,
        typer.Argument(metavar="DATA", help="New rows with labels: how well are they predicted?"),
    ] = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT.html", help="The report.", show_default=False),
    ] = "report.html",
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column of labels in DATA.")
    ] = None,
    format: Format = None,
) -> None:
    """Write the report of a model, with its accuracy on new rows if there are any."""
    from kernel_learn.cli.reporting import report_command

    report_command(run, model, data or [], output=output, target=target, format=format)


@command("inspect")
def inspect(run: Session, model: ModelIn) -> None:
    """Say what a model file holds: what it is, how well it does, its columns and training rows."""
    from kernel_learn.cli.reporting import inspect_command

    inspect_command(run, model)


@command("learn-kernel")
def learn_kernel(
    run: Session,
    data: DataFiles,
    output: ModelOut,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column of labels.")
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option("--pairs", help="Table of pairs: row a, row b (from 0), and same (1 or 0)."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method", "-m", help="auto: HSICSubspace for labels, InductiveKernel for pairs."
        ),
    ] = "auto",
    components: Annotated[
        int | None, typer.Option("--components", min=1, help="Number of learned features.")
    ] = None,
    setting: Setting = [],  # noqa: B006
    drop: Drop = [],  # noqa: B006
    keep: Keep = [],  # noqa: B006
    report: Report = None,
    format: Format = None,
    memory: Memory = None,
    seed: Seed = 0,
) -> None:
    """Learn a kernel, and features that follow it, from labels or from pairs of rows."""
    from kernel_learn.cli.kernels import learn_kernel_command
    from kernel_learn.cli.training import Given

    given = Given(data, target, None, drop, keep, format, memory, seed)
    learn_kernel_command(
        run,
        given,
        output=output,
        pairs=pairs,
        method=method,
        components=components,
        settings=setting,
        report=report,
    )


@command("transform")
def transform(
    run: Session, model: ModelIn, data: DataFiles, output: TableOut = "-", format: Format = None
) -> None:
    """Write the learned features of rows."""
    from kernel_learn.cli.predicting import transform_command

    transform_command(run, model, data, output=output, format=format)


@command("reproduce")
def reproduce(
    run: Session,
    table: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="Which experiment.", show_default=False)
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    data: Annotated[
        str | None,
        typer.Option("--data", help="Folder of the data sets.", envvar="KERNEL_LEARN_DATA"),
    ] = None,
    results: Annotated[
        str, typer.Option("--results", help="Folder of what is done already.")
    ] = "results",
    page: Annotated[str | None, typer.Option("--page", help="Write the page to this file.")] = None,
    only: Annotated[str, typer.Option("--only", help="Only cells whose key contains this.")] = "",
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Stop after this long; go on another time.")
    ] = None,
    reduced: Annotated[
        bool, typer.Option("--reduced", help="Only the cells of a version of some minutes.")
    ] = False,
    render: Annotated[bool, typer.Option("--render", help="Write the page, run nothing.")] = False,
    again: Annotated[
        int | None,
        typer.Option("--again", min=1, help="Compute so many finished cells anew and compare."),
    ] = None,
) -> None:
    """Run a table of the papers again; a run that is stopped goes on where it was."""
    from kernel_learn.cli.reproducing import reproduce_command

    reproduce_command(
        run,
        table,
        listed=list_,
        data=data,
        results=results,
        page=page,
        only=only,
        seconds=seconds,
        reduced=reduced,
        render=render,
        again=again,
    )


@command("example")
def write_example(
    run: Session,
    output: Annotated[
        str,
        typer.Argument(metavar="FILE", help="wine.csv, cancer.csv or patients.csv, in any folder."),
    ] = "wine.csv",
) -> None:
    """Write a table to try things on: wine, cancer or patients, by the name of the file."""
    from kernel_learn.cli.examples import example_command

    example_command(run, output)
