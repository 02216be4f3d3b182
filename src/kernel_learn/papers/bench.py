"""Other methods on the partitions of a paper's table, compared with ours partition by partition."""

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TextIO, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from kernel_learn.datasets import DataSets
from kernel_learn.papers.difference import MEANING, verdict
from kernel_learn.papers.origin import made_now
from kernel_learn.papers.protocol import (
    Bench,
    Cell,
    Protocol,
    Record,
    append_record,
    make_table,
    read_lines,
    read_records,
    show_progress,
)

# a class is called, too; a text is "package.module:Name"
MethodLike: TypeAlias = "BaseEstimator | Callable[[], BaseEstimator] | str"
WORDS = f"""\
Error in per cent, mean over the partitions (how many). Verdicts are of the method in the first
column against that of the head, on the partitions that both have. {MEANING}"""


def run_methods(
    protocol: Protocol,
    methods: Mapping[str, BaseEstimator],  # of make_methods
    data: DataSets,
    results: Path,
    *,
    only: Callable[[Cell], bool] = lambda cell: True,
    seconds: float = float("inf"),
    stream: TextIO | None = None,
) -> list[Record]:
    """The methods on every partition that they have not seen yet; all their records.

    A record is kept as soon as it is there, in ``results/TABLE.methods.jsonl``: what was
    stopped goes on where it was. A method is known by its name there.
    """
    stream = sys.stderr if stream is None else stream
    bench = bench_of(protocol)
    results.mkdir(parents=True, exist_ok=True)
    file = results / f"{protocol.name}.methods.jsonl"
    records = [record for record in read_records(file) if record["method"] in methods]
    done = {(record["key"], record["method"]) for record in records}
    waiting = [
        (cell, name)
        for cell in protocol.cells
        if only(cell)
        for name in methods
        if (cell.key, name) not in done
    ]
    start = time.monotonic()
    for i, (cell, name) in enumerate(waiting):
        elapsed = time.monotonic() - start
        if elapsed > seconds:
            break
        show_progress(stream, protocol.name, i, len(waiting), elapsed, f"{cell.key} {name}")
        used = time.process_time()
        errors = [split_error(name, methods[name], *split) for split in bench.splits(data, cell)]
        record = {"key": cell.key, "method": name, **cell.settings, "errors": errors}
        record["made"] = {**made_now(), "cpu": round(time.process_time() - used, 3)}
        append_record(file, record)
        records.append(record)
    return records


def split_error(
    name: str, model: BaseEstimator, X: object, X_new: object, y: object, y_new: object
) -> float:
    """Error in per cent on the test rows of a fresh copy that has seen the training rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = np.asarray(clone(model).fit(X, y).predict(X_new))
    told = np.asarray(y_new)
    if predicted.shape != told.shape or not np.isin(predicted, np.asarray(y)).all():
        raise ValueError(
            f"The method {name} is no classifier: for {len(told)} rows it predicts "
            f"{predicted.ravel()[:3].tolist()} and so on, of the shape {predicted.shape}, in the "
            f"place of one of the labels {np.unique(np.asarray(y))[:3].tolist()} ... for each."
        )
    return 100.0 * float(np.mean(predicted != told))


def compare_methods(protocol: Protocol, joined: Iterable[Record], ours: Iterable[Record]) -> str:
    """A page: the errors of all methods, and a paired test of each joined one against ours."""
    bench, joined = bench_of(protocol), list(joined)
    sets = list(dict.fromkeys(bench.set_of(cell.settings) for cell in protocol.cells))
    names = list(dict.fromkeys(record["method"] for record in joined))
    tables = errors_by_set(bench, joined, ours)
    errors: list[list[object]] = []
    tests: dict[str, list[list[object]]] = {name: [] for name in names}
    for name in (name for name in sets if name in tables):
        found, ratio = tables[name], bench.ratio(name)
        columns = [*bench.methods, *names]
        errors.append([name, *(mean_error(found.get(method, {})) for method in columns)])
        for method in names:
            cells = [
                paired(found.get(method, {}), found.get(other, {}), ratio)
                for other in bench.methods
            ]
            tests[method].append([name, *cells])
    parts = [f"# {protocol.title}: other methods on its partitions", "", WORDS, ""]
    parts += [make_table(["data", *bench.methods, *names], errors), ""]
    for method in names:
        parts += [make_table([f"{method} against", *bench.methods], tests[method]), ""]
    return "\n".join(parts)


def errors_by_set(
    bench: Bench, joined: Iterable[Record], ours: Iterable[Record]
) -> dict[str, dict[str, dict[str, list[float]]]]:
    """set -> method -> cell -> errors of its test parts."""
    tables: dict[str, dict[str, dict[str, list[float]]]] = {}
    for record in ours:
        for method, errors in bench.errors(record).items():
            table = tables.setdefault(bench.set_of(record), {})
            table.setdefault(method, {})[record["key"]] = errors
    for record in joined:
        table = tables.setdefault(bench.set_of(record), {})
        table.setdefault(record["method"], {})[record["key"]] = record["errors"]
    return tables


def mean_error(cells: Mapping[str, list[float]]) -> str:
    """Mean over all test parts, and over how many cells."""
    if not cells:
        return "-"
    return f"{np.mean(np.concatenate(list(cells.values()))):.2f} ({len(cells)})"


def paired(ours: Mapping[str, list[float]], theirs: Mapping[str, list[float]], ratio: float) -> str:
    """The verdict on the cells of both."""
    both = [key for key in ours if key in theirs]
    if not both:
        return "-"
    first, second = (np.concatenate([side[key] for key in both]) for side in (ours, theirs))
    return verdict(first, second, ratio)


def shipped_records(protocol: Protocol) -> list[Record]:
    """Our own figures, partition by partition, as they come with the package; none for some."""
    file = files("kernel_learn.papers").joinpath("records", f"{protocol.name}.jsonl")
    return list(read_lines(file.read_text("utf-8"))) if file.is_file() else []


def own_records(protocol: Protocol, results: Path) -> list[Record]:
    """Shipped records, and what was run beside them."""
    found = {record["key"]: record for record in shipped_records(protocol)}
    found |= {r["key"]: r for r in read_records(results / f"{protocol.name}.jsonl")}
    return list(found.values())


def bench_of(protocol: Protocol) -> Bench:
    """How other methods join a table."""
    if protocol.bench is None:
        raise ValueError(
            f"{protocol.name} is no table of classifiers, so that no other one can join it."
        )
    return protocol.bench


def make_methods(protocol: Protocol, methods: Mapping[str, MethodLike]) -> dict[str, BaseEstimator]:
    """Classifiers by their names; what cannot join the table is refused."""
    taken = sorted(set(methods) & set(bench_of(protocol).methods))
    if taken:
        raise ValueError(f"{taken[0]} is a method of {protocol.name} itself: choose another name.")
    return {name: make_method(name, method) for name, method in methods.items()}


def make_method(name: str, method: MethodLike) -> BaseEstimator:
    """A classifier from one, from a class, from a function that makes it, or by where it is."""
    found = find_method(method)[1] if isinstance(method, str) else method
    is_model = hasattr(found, "fit") and not isinstance(found, type)
    model = found if is_model or not callable(found) else found()
    missing = [verb for verb in ("fit", "predict", "get_params") if not hasattr(model, verb)]
    if missing:
        raise ValueError(
            f"The method {name} has no {' and no '.join(missing)}: give a classifier with "
            "scikit-learn's interface, its class, or a function that makes one."
        )
    kind = method_kind(model)
    if kind not in (None, "classifier"):
        raise ValueError(
            f"The method {name} is a {kind}, and {type(model).__name__} cannot join a table of "
            "classifiers."
        )
    return model


def method_kind(model: BaseEstimator) -> str | None:
    """ "classifier", "regressor" ... by scikit-learn's tags; None where it has none."""
    try:
        kind: str | None = get_tags(model).estimator_type
    except AttributeError:
        return None
    return kind


def find_method(spec: str) -> tuple[str, MethodLike]:
    """(name, method) of "package.module:Name", from what is installed or from this folder."""
    module, _, name = spec.partition(":")
    if not module or not name:
        raise ValueError(f"{spec!r} does not name a method: give package.module:Name.")
    here = str(Path.cwd())
    added = here not in sys.path
    if added:  # a console script has its own folder there, and not the user's
        sys.path.insert(0, here)
    try:
        found: MethodLike = getattr(import_module(module), name)
    except ImportError as error:
        raise ValueError(f"{spec!r}: the module {module} cannot be imported: {error}.") from error
    except AttributeError as error:
        raise ValueError(f"{spec!r}: the module {module} has no {name}.") from error
    finally:
        if added:
            sys.path.remove(here)
    return name, found
