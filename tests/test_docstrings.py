"""Docstrings of what is public pass numpydoc's validation, on the checks stated here.

Not asked for: sections that this project does without ("See Also", extended summaries, examples
everywhere), verbs as first words, and a full stop after a summary that is a formula. Methods may
say their parameters in a sentence; classes and functions that users call list every one.
"""

import importlib
import inspect

import pytest

import kernel_learn as kl

numpydoc = pytest.importorskip("numpydoc.validate", reason="needs numpydoc")
scrape = pytest.importorskip("numpydoc.docscrape", reason="needs numpydoc")

TABLES = ("Parameters", "Attributes", "Returns")
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


def sections(name, value):
    """The entries of a docstring that become tables, those of a class's methods among them."""
    docs = [(name, value)]
    if inspect.isclass(value):
        docs += [(full, getattr(value, full.rsplit(".", 1)[1])) for full in methods(name, value)]
    for full, owner in docs:
        parsed = scrape.NumpyDocString(inspect.getdoc(owner) or "")
        yield from ((full, part) for key in TABLES for part in parsed[key])


@pytest.mark.parametrize("path", [*CALLED, *LOOKED_UP])
def test_every_entry_has_one_name(path):
    """Several names in one entry break the tables of the reference."""
    grouped = [
        f"{full}: {part.name}"
        for name, value in public(path).items()
        for full, part in sections(name, value)
        if "," in part.name
    ]
    assert not grouped, "\n".join(grouped)


ESTIMATORS = [name for name in kl.__all__ if hasattr(getattr(kl, name), "fit")]
SCIKIT_LEARNS = {"n_features_in_", "feature_names_in_"}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_a_fit_leaves_is_documented(name, rng):
    kind = getattr(kl, name)
    X = rng.normal(size=(30, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    model = kind(quality="fast") if name == "KernelClassifier" else kind()
    if name == "PairClassifier":
        model.fit(X, [[i, i + 1] for i in range(0, 30, 2)], [i % 2 == 0 for i in range(15)])
    else:
        model.fit(X, y)
    told = {part.name for part in scrape.NumpyDocString(inspect.getdoc(kind))["Attributes"]}
    left = {key for key in (*vars(model), *dir(kind)) if key[0] != "_" and key[-1] == "_"}
    assert left - SCIKIT_LEARNS <= told
