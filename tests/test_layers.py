"""The layers import in one direction only."""

import ast
from pathlib import Path

import pytest

import kernel_learn

ROOT = Path(kernel_learn.__file__).parent
ORDER = [
    "kernels",
    "representations",
    "solvers",
    "criteria",
    "model_selection",
    "estimators",
    "interop",
    "inspection",
    "papers",
    "tables",
    "report",
    "cli",
]
# Solvers take arrays and small protocols: they see neither rows nor kernels.
FORBIDDEN = {"solvers": {"kernels", "representations"}}
FILES = sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT)


def imported_layers(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "kernel_learn":
                assert len(parts) > 1, f"{path.name} imports the package itself"
                yield parts[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_upstream(path):
    layer = path.relative_to(ROOT).parts[0]
    if layer not in ORDER:
        pytest.skip(f"{layer} is not a layer")
    allowed = set(ORDER[: ORDER.index(layer) + 1]) - FORBIDDEN.get(layer, set())
    assert set(imported_layers(path)) & set(ORDER) <= allowed


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_private_scikit_learn(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
            private = [part for part in node.module.split(".") if part.startswith("_")]
            private += [alias.name for alias in node.names if alias.name.startswith("_")]
            assert not private, f"{path.name} imports {private} of scikit-learn"


def test_tests_have_the_folders_of_the_package():
    tests = Path(__file__).parent
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    strange = [folder for folder in folders if not (ROOT / folder).is_dir()]
    assert not strange, f"no part of the package is called {strange}"
