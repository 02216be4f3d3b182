"""The commands and their options. What they do is in the modules that they import when they run."""

from collections.abc import Callable
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from kernel_learn.cli.options import (
    DataFiles,
    Debug,
    Drop,
    Encoding,
    Format,
    Group,
    Json,
    Keep,
    Memory,
    ModelIn,
    ModelOut,
    Na,
    NoClean,
    Onnx,
    Quiet,
    Raw,
    Report,
    Seed,
    Setting,
    Sheet,
    TableName,
    TableOut,
    Target,
    Task,
    Threshold,
    Types,
)
from kernel_learn.cli.session import CODES, Session, session

app = typer.Typer(
    name="kernel-learn",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def example(*lines: str) -> str:
    """The end of a help page: lines that work as they stand, from an empty folder."""
    return "\n\n".join(["Example:", *lines])


WINE = "kernel-learn example wine.csv"
FIT = "kernel-learn fit wine.csv --target cultivar -o wine.skops"
LEARN = "kernel-learn learn-kernel wine.csv --target cultivar -o kernel.skops"
EXAMPLES = {
    "example": (WINE,),
    "fit": (WINE, f"{FIT} --report wine.html"),
    "read": (WINE, "kernel-learn read wine.csv --target cultivar"),
    "predict": (WINE, FIT, "kernel-learn predict wine.skops wine.csv -o predictions.csv --proba"),
    "compare": (WINE, "kernel-learn compare wine.csv --target cultivar --report comparison.html"),
    "report": (WINE, FIT, "kernel-learn report wine.skops -o wine.html"),
    "inspect": (WINE, FIT, "kernel-learn inspect wine.skops"),
    "explain": (WINE, FIT, "kernel-learn explain wine.skops wine.csv -o why.csv"),
    "forget": (WINE, FIT, "kernel-learn forget wine.skops wine.csv --row 5 -o smaller.skops"),
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
                if "model" in given:
                    check_model_file(given["model"])
                    check_data(given)
                work(run, **given)

        _, *own = signature(work).parameters.values()
        *common, _ = signature(run_command).parameters.values()
        run_command.__doc__ = work.__doc__
        run_command.__annotations__ = {one.name: one.annotation for one in [*own, *common]}
        run_command.__signature__ = Signature([*own, *common])  # type: ignore[attr-defined]
        return app.command(name, epilog=example(*EXAMPLES[name]))(run_command)

    return add


def check_model_file(path: str) -> None:
    """Refuse what is no model before the packages that read one are imported."""
    if Path(path).is_dir():
        return  # is told in other words
    with open(path, "rb") as file:
        start = file.read(2)
    if start != b"PK":
        raise ValueError(
            f"{path} is not a model file: File is not a zip file. Files of kernel_learn.save are "
            "zip archives."
        )


def check_data(given: dict[str, Any]) -> None:
    """Refuse files that are not there, for the same reason."""
    from kernel_learn.cli.reading import ReadingOptions

    asked: dict[str, Any] = {key: given.get(key) for key in ("format", "encoding", "sheet")}
    if (data := given.get("data")) and "-" not in data:
        ReadingOptions(**asked, table=given.get("table")).files(data)


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
    """Learned kernels for classes and numbers: from a table to a model, report and predictions."""


@command("fit")
def fit(
    run: Session,
    data: DataFiles,
    target: Target,
    output: ModelOut,
    task: Task = "auto",
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="auto (KernelClassifier, for numbers KernelRegressor), or any estimator.",
        ),
    ] = "auto",
    setting: Setting = [],  # noqa: B006
    group: Group = None,
    drop: Drop = [],  # noqa: B006
    keep: Keep = [],  # noqa: B006
    report: Report = None,
    onnx: Onnx = None,
    threshold: Threshold = None,
    cost: Annotated[
        str | None,
        typer.Option("--cost", help="fp=1,fn=20: the threshold of least cost, kept in the model."),
    ] = None,
    format: Format = None,
    types: Types = [],  # noqa: B006
    na: Na = [],  # noqa: B006
    encoding: Encoding = None,
    sheet: Sheet = None,
    table: TableName = None,
    no_clean: NoClean = False,
    memory: Memory = None,
    seed: Seed = 0,
) -> None:
    """Fit a model to a table and save it to a file."""
    from kernel_learn.cli.reading import Given, ReadingOptions, check_request
    from kernel_learn.tables.deciding import Wish, parse_costs

    wish = Wish(threshold, None if cost is None else parse_costs(cost))
    reading = ReadingOptions(format, types, na, encoding, sheet, table, not no_clean)
    given = Given(data, target, group, drop, keep, reading, memory, seed, task)
    outputs = {".skops": output, ".html": report, ".onnx": onnx}
    given = check_request(given, outputs, [method])
    from kernel_learn.cli.fitting import fit_command

    fit_command(
        run,
        given,
        output=output,
        method=method,
        settings=setting,
        report=report,
        onnx=onnx,
        wish=wish,
    )


@command("read")
def read(
    run: Session,
    data: DataFiles,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column to predict.")
    ] = None,
    format: Format = None,
    types: Types = [],  # noqa: B006
    na: Na = [],  # noqa: B006
    encoding: Encoding = None,
    sheet: Sheet = None,
    table: TableName = None,
    no_clean: NoClean = False,
) -> None:
    """Show how a table is read: what each column is, and what was done to its cells."""
    from kernel_learn.cli.reading import ReadingOptions, read_command

    reading = ReadingOptions(format, types, na, encoding, sheet, table, not no_clean)
    read_command(run, data, target, reading)


@command("predict")
def predict(
    run: Session,
    model: ModelIn,
    data: DataFiles,
    output: TableOut = "-",
    task: Task = "auto",
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class.")
    ] = False,
    threshold: Threshold = None,
    notes: Annotated[
        bool, typer.Option("--notes", help="Add a column that notes what is new to the model.")
    ] = False,
    fill: Annotated[
        bool, typer.Option("--fill", help="Treat columns that DATA lacks as missing.")
    ] = False,
    coverage: Annotated[
        float | None,
        typer.Option(
            "--coverage",
            help="Add the set of classes that holds the truth so often, and novelty; of numbers "
            "how often the interval does (0.9 unless said).",
        ),
    ] = None,
    raw: Raw = False,
    format: Format = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    table: TableName = None,
) -> None:
    """Predict classes or numbers of new rows. Columns are found by name, in any order."""
    from kernel_learn.cli.reading import ReadingOptions, check_prediction
    from kernel_learn.tables.deciding import Wish

    options = ReadingOptions(format, encoding=encoding, sheet=sheet, table=table)
    wish = Wish(threshold)
    if not fill:
        check_prediction(model, data, options)
    from kernel_learn.cli.predicting import predict_command

    predict_command(
        run,
        model,
        data,
        output=output,
        proba=proba,
        notes=notes,
        raw=raw,
        wish=wish,
        coverage=coverage,
        fill=fill,
        options=options,
        task=task,
    )


@command("compare")
def compare(
    run: Session,
    data: DataFiles,
    target: Target,
    task: Task = "auto",
    method: Annotated[
        list[str], typer.Option("--method", "-m", help="Compare this method, too (repeat).")
    ] = [],  # noqa: B006
    setting: Setting = [],  # noqa: B006
    group: Group = None,
    drop: Drop = [],  # noqa: B006
    keep: Keep = [],  # noqa: B006
    folds: Annotated[int, typer.Option("--folds", min=2, help="Cross-validation folds.")] = 5,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Partitions into folds.")] = 2,
    rows: Annotated[int, typer.Option("--rows", min=20, help="Use at most this many rows.")] = 5000,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            help="auto, accuracy, balanced, auc, logloss, f1 or average-precision; of numbers "
            "r2, rmse or mae.",
        ),
    ] = "auto",
    report: Report = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="MODEL", help="Save our model, fitted to all rows."),
    ] = None,
    format: Format = None,
    types: Types = [],  # noqa: B006
    na: Na = [],  # noqa: B006
    encoding: Encoding = None,
    sheet: Sheet = None,
    table: TableName = None,
    no_clean: NoClean = False,
    memory: Memory = None,
    seed: Seed = 0,
) -> None:
    """Compare KernelClassifier, or KernelRegressor, with other methods on the same folds."""
    from kernel_learn.cli.reading import Given, ReadingOptions, check_request

    reading = ReadingOptions(format, types, na, encoding, sheet, table, not no_clean)
    given = Given(data, target, group, drop, keep, reading, memory, seed, task)
    given = check_request(given, {".skops": output, ".html": report}, method, metric)
    from kernel_learn.cli.comparing import compare_command

    compare_command(
        run,
        given,
        methods=method,
        settings=setting,
        folds=folds,
        repeats=repeats,
        rows=rows,
        metric=metric,
        report=report,
        output=output,
    )


@command("report")
def report(
    run: Session,
    model: ModelIn,
    data: Annotated[
        list[str] | None,
        typer.Argument(metavar="DATA", help="New rows with the target: how well is it predicted?"),
    ] = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT.html", help="The report.", show_default=False),
    ] = "report.html",
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column in DATA that is predicted.")
    ] = None,
    task: Task = "auto",
    format: Format = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    table: TableName = None,
) -> None:
    """Write the report of a model, with its errors on new rows if there are any."""
    from kernel_learn.cli.reading import ReadingOptions
    from kernel_learn.cli.reporting import report_command

    options = ReadingOptions(format, encoding=encoding, sheet=sheet, table=table)
    report_command(run, model, data or [], output=output, target=target, options=options, task=task)


@command("inspect")
def inspect(
    run: Session,
    model: ModelIn,
    labels: Annotated[
        bool,
        typer.Option("--labels", help="Training rows whose labels are most likely wrong."),
    ] = False,
) -> None:
    """Show what a model file holds: its method, errors, columns and training rows."""
    if labels:
        from kernel_learn.cli.ledger import labels_command

        labels_command(run, model)
        return
    from kernel_learn.cli.reporting import inspect_command

    inspect_command(run, model)


@command("explain")
def explain(
    run: Session,
    model: ModelIn,
    data: DataFiles,
    output: TableOut = "-",
    raw: Raw = False,
    format: Format = None,
) -> None:
    """Explain predictions by columns and by training rows."""
    from kernel_learn.cli.ledger import explain_command
    from kernel_learn.cli.reading import ReadingOptions

    explain_command(run, model, data, output=output, raw=raw, options=ReadingOptions(format))


@command("forget")
def forget(
    run: Session,
    model: ModelIn,
    data: DataFiles,
    output: ModelOut,
    row: Annotated[
        list[int], typer.Option("--row", min=0, help="Only this row of DATA, from 0 (repeat).")
    ] = [],  # noqa: B006
    format: Format = None,
) -> None:
    """Remove training rows, found by their cells, from a model; prints a certificate."""
    from kernel_learn.cli.ledger import forget_command
    from kernel_learn.cli.reading import ReadingOptions

    options = ReadingOptions(format)
    forget_command(run, model, data, output=output, rows=row, options=options)


@command("learn-kernel")
def learn_kernel(
    run: Session,
    data: DataFiles,
    output: ModelOut,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column to predict.")
    ] = None,
    task: Task = "auto",
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
    types: Types = [],  # noqa: B006
    na: Na = [],  # noqa: B006
    encoding: Encoding = None,
    sheet: Sheet = None,
    table: TableName = None,
    no_clean: NoClean = False,
    memory: Memory = None,
    seed: Seed = 0,
) -> None:
    """Learn a kernel, and its features, from labels or from pairs of rows."""
    from kernel_learn.cli.reading import Given, ReadingOptions, check_request
    from kernel_learn.tables.names import REGRESSORS

    reading = ReadingOptions(format, types, na, encoding, sheet, table, not no_clean)
    given = Given(data, target, None, drop, keep, reading, memory, seed, task)
    for_numbers = [name for name in REGRESSORS if name.lower() == method.lower()]
    given = check_request(given, {".skops": output, ".html": report}, for_numbers)
    from kernel_learn.cli.kernels import learn_kernel_command

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
    run: Session,
    model: ModelIn,
    data: DataFiles,
    output: TableOut = "-",
    format: Format = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    table: TableName = None,
) -> None:
    """Write the learned features of rows."""
    from kernel_learn.cli.reading import ReadingOptions, check_prediction

    options = ReadingOptions(format, encoding=encoding, sheet=sheet, table=table)
    check_prediction(model, data, options)
    from kernel_learn.cli.predicting import transform_command

    transform_command(run, model, data, output=output, options=options)


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
        str, typer.Option("--results", help="Folder of finished cells.")
    ] = "results",
    page: Annotated[str | None, typer.Option("--page", help="Write the page to this file.")] = None,
    only: Annotated[str, typer.Option("--only", help="Only cells whose key contains this.")] = "",
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", help="Stop after this time; the same command continues."),
    ] = None,
    reduced: Annotated[
        bool,
        typer.Option("--reduced", help="Only the cells of a reduced version that takes minutes."),
    ] = False,
    render: Annotated[
        bool,
        typer.Option(
            "--render", help="Write the page from the finished cells or those of the package."
        ),
    ] = False,
    again: Annotated[
        int | None,
        typer.Option("--again", min=1, help="Recompute this many finished cells and compare."),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="MODULE:NAME",
            help="A classifier to run on the same partitions as ours; may be repeated.",
            show_default=False,
        ),
    ] = None,
    list_methods: Annotated[
        bool, typer.Option("--list-methods", help="List our methods of the tables.")
    ] = False,
) -> None:
    """Run a table of the papers again; an interrupted run continues where it stopped."""
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
        methods=method or [],
        list_methods=list_methods,
    )


@command("example")
def write_example(
    run: Session,
    output: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="wine.csv, cancer.csv, patients.csv or houses.csv, in any folder."
        ),
    ] = "wine.csv",
) -> None:
    """Write a table to try: wine, cancer or patients (classes), houses (numbers), by its name."""
    from kernel_learn.cli.examples import example_command

    example_command(run, output)
