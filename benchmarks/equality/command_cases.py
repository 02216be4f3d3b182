"""The command line: what it prints, as texts, and the tables that it writes."""

import contextlib
import io
import json
import os
import re
import runpy
import sys
from unittest import mock

import fixed_data as data
import numpy as np

import kernel_learn as kl

QUICK = ["--set", "quality=fast", "--set", "max_members=3", "--memory", "1GB"]


def run(record, name, *words):
    """``python -m kernel_learn`` with these words, in this process; what it printed is a text."""
    words = ["kernel_learn", *map(str, words)]
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", words),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            runpy.run_module("kernel_learn", run_name="__main__", alter_sys=False)
            code = 0
        except SystemExit as end:
            code = end.code or 0
    record.add(f"{name}: code", code)
    for kind, text in (("out", out), ("err", err)):
        record.say(f"{name}: {kind}", text.getvalue())


def add_table(record, name, file):
    """The lines of a file as they are."""
    lines = file.read_text(encoding="utf-8").splitlines()
    record.add(name, np.array(lines))


def fit_and_predict(record, table, target, *words):
    """example, fit, predict with probabilities, inspect."""
    folder = record.folder
    run(record, "example", "example", folder / f"{table}.csv")
    model = folder / "model.skops"
    run(record, "fit", "fit", folder / f"{table}.csv", "-t", target, "-o", model, *words)
    given = ("predict", model, folder / f"{table}.csv")
    run(record, "predict", *given, "-o", folder / "predictions.csv", "--proba")
    add_table(record, "predictions.csv", folder / "predictions.csv")
    run(record, "predict to output", *given)
    loaded = kl.load(model)
    new = read(folder / f"{table}.csv", target)
    record.add_model(loaded, new, methods=("predict", "predict_proba"))
    facts = json.loads(loaded.facts_)
    for name in ("made", "command", "files"):  # the time and the place of this run
        facts.pop(name)
    del record.texts["facts_"]
    record.add("facts_", facts)


def read(file, target):
    import pandas

    return pandas.read_csv(file).drop(columns=target)


def learn_and_transform(record, *words):
    """learn-kernel from labels, and transform."""
    folder = record.folder
    run(record, "example", "example", folder / "wine.csv")
    given = ("learn-kernel", folder / "wine.csv", "-t", "cultivar", "-o", folder / "k.skops")
    run(record, "learn-kernel", *given, "--memory", "1GB", *words)
    run(
        record,
        "transform",
        "transform",
        folder / "k.skops",
        folder / "wine.csv",
        "-o",
        folder / "f.csv",
    )
    add_table(record, "f.csv", folder / "f.csv")


def learn_from_pairs(record):
    folder = record.folder
    run(record, "example", "example", folder / "wine.csv")
    similar, dissimilar = data.pairs_of(np.repeat([0, 1, 2], 59))
    lines = [f"{a},{b},1" for a, b in similar] + [f"{a},{b},0" for a, b in dissimilar]
    (folder / "pairs.csv").write_text("\n".join(["a,b,same", *lines]))
    given = ("learn-kernel", folder / "wine.csv", "--pairs", folder / "pairs.csv")
    run(record, "learn-kernel", *given, "--drop", "cultivar", "-o", folder / "k.skops")
    run(
        record,
        "transform",
        "transform",
        folder / "k.skops",
        folder / "wine.csv",
        "-o",
        folder / "f.csv",
    )
    add_table(record, "f.csv", folder / "f.csv")


def compare_methods(record):
    folder = record.folder
    run(record, "example", "example", folder / "wine.csv")
    given = ("compare", folder / "wine.csv", "-t", "cultivar", "--folds", 3, "--repeats", 1)
    run(record, "compare", *given, "--rows", 90, *QUICK, "-m", "KernelDiscriminant")
    text = record.texts["compare: out"]
    record.texts["compare: out"] = re.sub(r" +\d+\.\d\d $", "", text, flags=re.M)  # seconds


def fit_in_blocks(record, method, *words):
    """More memory than is allowed: the table is read in blocks."""
    folder = record.folder
    rows = data.moons(1600)
    lines = [
        ",".join(map(repr, map(float, x))) + f",{c}" for x, c in zip(rows.X, rows.y, strict=True)
    ]
    (folder / "rows.csv").write_text("\n".join(["a,b,c,d,label", *lines]))
    model = folder / "model.skops"
    run(record, "fit", "fit", folder / "rows.csv", "-t", "label", "-o", model, "-m", method, *words)
    run(record, "predict", "predict", model, folder / "rows.csv", "-o", folder / "p.csv", "--proba")
    add_table(record, "p.csv", folder / "p.csv")


def refuse(record):
    """An error and its code."""
    run(record, "example", "example", record.folder / "wine.csv")
    model = record.folder / "m.skops"
    run(record, "fit", "fit", record.folder / "wine.csv", "-t", "nothing", "-o", model)


def ask_for_help(record):
    with mock.patch.dict(os.environ, {"COLUMNS": "100"}):
        for name in ("fit", "predict", "compare", "learn-kernel", "transform"):
            run(record, name, name, "--help")


def cases():
    methods = ("KernelDiscriminant", "SubspaceSVC", "HSICSubspace", "KernelLMNN")
    found = {
        f"command: fit {name}": lambda r, n=name: fit_and_predict(
            r, "wine", "cultivar", "-m", n, "--memory", "1GB"
        )
        for name in methods
    }
    return found | {
        "command: fit": lambda r: fit_and_predict(r, "wine", "cultivar", *QUICK),
        "command: fit patients": lambda r: fit_and_predict(r, "patients", "diagnosis", *QUICK),
        "command: fit patients KernelDiscriminant": lambda r: fit_and_predict(
            r, "patients", "diagnosis", "-m", "KernelDiscriminant", "--memory", "1GB"
        ),
        "command: learn-kernel": learn_and_transform,
        "command: learn-kernel method": lambda r: learn_and_transform(
            r, "-m", "KernelNCA", "--components", 2
        ),
        "command: learn-kernel pairs": learn_from_pairs,
        "command: compare": compare_methods,
        "command: fit in blocks": lambda r: fit_in_blocks(
            r, "auto", "--set", "quality=fast", "--memory", "1.2MB"
        ),
        "command: fit in blocks KernelDiscriminant": lambda r: fit_in_blocks(
            r, "KernelDiscriminant", "--set", "landmarks=20", "--memory", "7MB"
        ),
        "command: refused": refuse,
        "command: help": ask_for_help,
    }
