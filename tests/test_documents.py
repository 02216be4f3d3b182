"""What the documents show runs as shown."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import kernel_learn
from extras import skip_if_missing

ROOT = Path(__file__).parent.parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = [
    module.name
    for module in pkgutil.walk_packages(kernel_learn.__path__, "kernel_learn.")
    if not module.name.endswith("__main__")
]


DOCUMENTS = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))]


class Runner(doctest.DocTestRunner):
    """Ends at an example that needs a package which is not installed: its test is skipped."""

    def report_unexpected_exception(self, out, test, example, exc_info):
        skip_if_missing(exc_info[1])
        super().report_unexpected_exception(out, test, example, exc_info)


def run(test):
    assert Runner(optionflags=FLAGS).run(test).failed == 0


@pytest.mark.parametrize("name", DOCUMENTS)
def test_document(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    run(doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, name, name, 0))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        skip_if_missing(error)
        raise
    for test in doctest.DocTestFinder().find(module):
        run(test)


def test_contributing_runs():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    exec(compile(code, "CONTRIBUTING.md", "exec"), {})
