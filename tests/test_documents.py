"""What the documents show runs as shown."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import kernel_learn

ROOT = Path(__file__).parent.parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = [
    module.name
    for module in pkgutil.walk_packages(kernel_learn.__path__, "kernel_learn.")
    if not module.name.endswith("__main__")
]


DOCUMENTS = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_document(name):
    result = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=FLAGS)
    assert result.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=FLAGS).failed == 0


def test_contributing_runs():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    exec(compile(code, "CONTRIBUTING.md", "exec"), {})
