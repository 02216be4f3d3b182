"""The packages import in one direction only; lazily and for types too."""

import ast
from pathlib import Path

import pytest

import house
from house import ROOT

# In the order in which data flows; CONTRIBUTING.md says what each answers.
ORDER = [
    "_version",
    "arrays",
    "warn",
    "atomic_write",
    "threads",
    "namespaces",
    "rows",
    "kernels",
    "representations",
    "solvers",
    "criteria",
    "constraints",
    "model_selection",
    "streams",
    "fitting",
    "ensemble",
    "estimators",
    "presets",
    "metric_learning",
    "metrics",
    "testing",
    "datasets",
    "interop",
    "neighbors",
    "inspection",
    "papers",
    "tables",
    "report",
    "cli",
    "__main__",
]
# Solvers take arrays and small protocols: they see neither rows nor kernels.
FORBIDDEN = {"solvers": {"rows", "kernels", "representations"}}
FILES = sorted(ROOT.rglob("*.py"))
# skl2onnx asks an estimator for its parser; nothing but the name of the package is known there.
# Cross-validation on sources fits estimators, and users look for it beside that of rows.
BY_NAME = {"fitting/base.py": {"interop"}, "model_selection/__init__.py": {"estimators"}}


def imported_packages(path):
    """First parts of all names of ours that a file imports, at any depth, by name too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif is_import_by_name(node):
            names = [node.args[0].value]
        elif isinstance(node, ast.Call) and called(node) == "import_when_asked":
            texts = [n.value for n in ast.walk(node.args[1]) if isinstance(n, ast.Constant)]
            names = [f"kernel_learn.{text}" for text in texts if text.split(".")[0] in ORDER]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "kernel_learn":
                assert len(parts) > 1, f"{path.name} imports the package itself"
                yield parts[1]


def called(node):
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def is_import_by_name(node):
    return (
        isinstance(node, ast.Call)
        and called(node) == "import_module"
        and isinstance(node.args[0], ast.Constant)
    )


def package_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def relative(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_imports_point_upstream(path):
    package = package_of(path)
    if package == "__init__":
        return  # the front door names them all
    assert package in ORDER, f"{package} has no place in the order of the packages"
    allowed = set(ORDER[: ORDER.index(package) + 1]) - FORBIDDEN.get(package, set())
    allowed |= BY_NAME.get(relative(path), set())
    found = set(imported_packages(path)) - allowed
    assert not found, f"{relative(path)} imports {sorted(found)}, which come after it"


def test_every_package_is_in_the_order_and_in_the_table():
    there = {package_of(path) for path in FILES} - {"__init__"}
    assert there == set(ORDER)
    table = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
    packages = [name for name in ORDER if (ROOT / name).is_dir()]
    rows = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]
    assert [name for name in rows if name in packages] == packages


def test_no_folder_is_a_crowd():
    crowds = {name: n for name, n in house.files_per_folder().items() if n > 30}
    assert not crowds, f"more than 30 files in one folder: {crowds}"


def test_nothing_imports_itself_in_the_end():
    assert house.find_cycle(lazily=False) is None
    assert house.find_cycle(lazily=True) is None, "a cycle, if what is imported later counts"


def test_a_reader_comes_to_the_ground_in_a_few_steps():
    path = house.longest_path()
    assert len(path) <= 25, " -> ".join(path)


def test_one_name_for_one_thing():
    """But for what protocols of papers call their parts."""
    shared = house.names_in_several_modules()
    assert len(shared) <= 8, shared


def test_seams_have_types():
    assert house.any_per_thousand() <= 8


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_no_private_scikit_learn(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
            private = [part for part in node.module.split(".") if part.startswith("_")]
            private += [alias.name for alias in node.names if alias.name.startswith("_")]
            assert not private, f"{path.name} imports {private} of scikit-learn"


def test_tests_have_the_folders_of_the_package():
    tests = Path(__file__).parent
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    folders -= {Path("chaos")}  # faults, which meet all parts at once
    strange = [folder for folder in folders if not (ROOT / folder).is_dir()]
    assert not strange, f"no part of the package is called {strange}"
