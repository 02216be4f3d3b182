"""Extras: what each installs, and the error that names it where it is missing."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXTRAS = {
    "parquet": {"pyarrow"},
    "plot": {"matplotlib"},
    "files": {"skops"},
    "onnx": {"skl2onnx", "onnx", "onnxruntime"},
    "cli": {
        *("skops", "matplotlib", "pyarrow", "openpyxl", "pyreadstat", "charset-normalizer"),
        *("typer", "rich", "skrub", "pandas", "jinja2"),
    },
    "sdp": {"cvxpy-base", "clarabel"},
    "dask": {"dask", "distributed"},
    "index": {"faiss-cpu"},
}


def installed(extra):
    """The packages of an extra, those of the extras it holds included."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    found = set()
    for line in extras[extra]:
        own = re.fullmatch(r"kernel-learn\[(.*)\]", line)
        if own:
            found |= set().union(*(installed(name) for name in own[1].split(",")))
        else:
            found.add(re.match(r"[\w-]+", line)[0])
    return found


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_an_extra_installs(extra):
    assert installed(extra) == EXTRAS[extra]


def test_all_and_dev_hold_the_others():
    assert installed("all") == set().union(*EXTRAS.values())
    assert installed("dev") >= installed("all")


DATA = "import numpy as np\nX = np.random.default_rng(0).normal(size=(20, 2))\ny = X[:, 0] > 0\n"
EXPORT = "kl.export_onnx(kl.HSICSubspace().fit(X, y), 'model.onnx')"
MISSING = {
    "skops, to save": (
        "skops",
        "files",
        DATA + "kl.save(kl.HSICSubspace().fit(X, y), 'model.skops')",
    ),
    "skl2onnx": (
        "skl2onnx",
        "onnx",
        DATA + EXPORT,
    ),
    "onnx": ("onnx", "onnx", DATA + EXPORT),
    "matplotlib": (
        "matplotlib",
        "plot",
        DATA + "model = kl.HSICSubspace().fit(X, y)\n"
        "kl.inspection.EmbeddingDisplay.from_estimator(model, X, y)",
    ),
    "cvxpy": (
        "cvxpy",
        "sdp",
        DATA + "from kernel_learn.kernels import Gaussian, Linear\n"
        "kl.HSICSubspace([Gaussian(), Linear()], uncorrelated=True, solver='sdp').fit(X, y)",
    ),
    "pyarrow": (
        "pyarrow",
        "parquet",
        "from kernel_learn.datasets import ParquetSource\nParquetSource('x', target='y').columns",
    ),
    "pandas, to draw a frame": (
        "pandas",
        "cli",
        "from kernel_learn.kernels import ColumnKernel, Linear\n"
        "from kernel_learn.testing import check_kernel\n"
        "check_kernel(ColumnKernel(Linear(), ['a', 'b']))",
    ),
    "matplotlib, for a report": (
        "matplotlib.pyplot",
        "plot",
        "from kernel_learn.report.charts import draw_charts\n"
        "draw_charts({'importance': {'weights': [{'name': 'a', 'value': 1.0}]}}, None)",
    ),
    "openpyxl": (
        "openpyxl",
        "excel",
        "from kernel_learn.streams.readers import InputFile\n"
        "from kernel_learn.streams.readers.workbooks import read_workbook\n"
        "read_workbook(InputFile('t.xlsx'))",
    ),
    "pyreadstat": (
        "pyreadstat",
        "spss",
        "from kernel_learn.streams.readers import InputFile\n"
        "from kernel_learn.streams.readers.whole_files import read_spss\n"
        "read_spss(InputFile('t.sav'))",
    ),
    "charset-normalizer": (
        "charset_normalizer",
        "cli",
        "from kernel_learn.streams.readers.encodings import guess_encoding\n"
        "guess_encoding('\u0434\u0430'.encode('cp1251'))",
    ),
    "jinja2": ("jinja2", "cli", "from kernel_learn.report import render\nrender({})"),
    "typer": ("typer", "cli", "from kernel_learn.cli import main\nmain(['--help'])"),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_package_is_named_with_its_extra(name, tmp_path):
    package, extra, code = MISSING[name]
    code = f"import sys\nsys.modules[{package!r}] = None\nimport kernel_learn as kl\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode != 0
    assert f"kernel-learn[{extra}]" in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
