"""Docstrings of what is public pass numpydoc's validation, on the checks stated here.

Not asked for: sections that this project does without ("See Also", extended summaries, examples
everywhere), verbs as first words, and a full stop after a summary that is a formula. Methods may
say their parameters in a sentence; classes and functions that users call list every one.
"""

import importlib
import inspect

import pytest

numpydoc = pytest.importorskip("numpydoc.validate", reason="needs numpydoc")

FORM = {
    "GL03",  # two blank lines
    "GL05",  # tabs
    "GL06",  # a section that numpydoc does not know
    "GL07",  # sections in another order
    "GL09",  # a deprecation note in the wrong place
    "GL10",  # directives with a wrong name
    "SS01",  # no summary
    "SS04",  # a summary that is indented
    "PR02",  # a parameter that does not exist
    "PR03",  # another order than in the signature
    "PR04",  # a parameter without type: what grouped names looked like
    "PR05",  # a type that ends with a full stop
    "PR06",  # a type in other words than Python's
    "PR07",  # a parameter without description
    "PR10",  # no space before the colon
}
COMPLETE = FORM | {"GL08", "PR01"}  # a docstring, in which every parameter stands
# What users call, and what those who add to the package look up.
CALLED = [
    "kernel_learn",
    "kernel_learn.constraints",
    "kernel_learn.datasets",
    "kernel_learn.inspection",
    "kernel_learn.kernels",
    "kernel_learn.metrics",
    "kernel_learn.presets",
    "kernel_learn.testing",
]
LOOKED_UP = [
    "kernel_learn.criteria.kernel_weights",
    "kernel_learn.criteria.regularizers",
    "kernel_learn.model_selection",
    "kernel_learn.report",
    "kernel_learn.representations",
    "kernel_learn.tables",
]


def public(path):
    """{full name: class or function} of a module that is its own."""
    module = importlib.import_module(path)
    listed = getattr(module, "__all__", None)
    names = [n for n in vars(module) if n[0] != "_"] if listed is None else listed
    values = {f"{path}.{name}": getattr(module, name) for name in names}
    return {
        name: value
        for name, value in values.items()
        if (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__.startswith("kernel_learn.")
    }


def methods(name, owner):
    """The methods that a class defines or takes from a class of ours."""
    return [
        f"{name}.{key}"
        for key, value in vars(owner).items()
        if not key.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, classmethod | staticmethod))
        and inspect.getdoc(getattr(owner, key))
    ]


def faults(name, checks):
    found = numpydoc.validate(name)["errors"]
    return [f"{name}: {code} {text}" for code, text in found if code in checks]


@pytest.mark.parametrize("path", [*CALLED, *LOOKED_UP])
def test_docstrings_are_valid(path):
    checks = COMPLETE if path in CALLED else FORM
    found = []
    for name, value in public(path).items():
        found += faults(name, checks)
        for method in methods(name, value) if inspect.isclass(value) else ():
            found += faults(method, FORM)
    assert not found, "\n".join(found)
