"""The benchmarks' own arithmetic: lines name functions that exist, pages compare like with like."""

import ast
import csv
import importlib.util
import inspect
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "benchmarks"
FIGURES = ("set", "split", "method", "n", "error", "log_loss", "cpu", "memory")


def load(path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    name = f"benchmark_{path.stem.strip('_')}_{path.parent.name}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec.loader.exec_module(module)
    return module


def test_every_line_of_the_speed_table_has_its_function(monkeypatch):
    speed = load(ROOT / "speed" / "__main__.py", monkeypatch)
    for case in speed.CASES:
        module, function = case.name.split(".")
        places = [folder / f"{module}.py" for folder in (ROOT, ROOT / "speed")]
        tree = ast.parse(next(place for place in places if place.exists()).read_text())
        found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert function in found, case.name
        assert set(case.quick) <= {argument.arg for argument in found[function].args.args}


def test_growth_has_every_estimator(monkeypatch):
    import kernel_learn
    from kernel_learn import estimators

    growth = load(ROOT / "speed" / "growth.py", monkeypatch)
    public = {
        name
        for name in estimators.__all__
        if inspect.isclass(getattr(estimators, name)) and hasattr(kernel_learn, name)
    }
    assert set(growth.ESTIMATORS) == public - {"PairClassifier"}  # takes pairs, not rows
    assert growth.exponents({"a": [(100, 1.0), (200, 4.0)]}) == {"a": pytest.approx(2.0)}


@pytest.fixture
def figures(tmp_path):
    """Two sets, five splits of ours and of an SVC, two of CatBoost, one that failed."""
    file = tmp_path / "compare.csv"
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*FIGURES, "made"])
        for name in ("wine", "mixed/vote"):
            for s in range(5):
                writer.writerow([name, s, "KernelClassifier", 50, 2 + s, 0.1, 1.0, 10, "a; v 1"])
                writer.writerow([name, s, "SVC", 50, 4 + s + 0.1 * s, 0.2, 2.0, 10, "a; v 1"])
            for s in range(2):
                error = 3 + s if s == 0 else "nan"
                writer.writerow([name, s, "catboost", 50, error, 0.3, 8.0, 40, "a; v 1; cat 2"])
    return file


def test_page_compares_on_common_splits(figures, monkeypatch):
    comparison = load(ROOT / "comparison.py", monkeypatch)
    found = comparison.read_figures(figures)
    line = comparison.compare(found, ["wine"], "SVC")
    assert line["error"] == pytest.approx(4 / 6.2) and line["cpu"] == 0.5
    assert (line["won"], line["lost"], line["better"]) == (1, 0, 1)
    # the split that failed is out, and ours is taken on the other alone
    assert comparison.compare(found, ["wine"], "catboost")["error"] == pytest.approx(2 / 3)
    page = comparison.make_page(found)
    assert "a; v 1; cat 2. 22 fits" in page
    assert "2.00 % against CatBoost's 3.00 %: ratio 0.6667 on 1 tables" in page
    assert "| wine | 50 | 5 | 4.00 | 6.20 | 3.00 (1) |" in page and "$" not in page
