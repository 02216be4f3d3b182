"""Other methods on the partitions of a table: the same rows, resumed, paired with our records."""

import io
import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from kernel_learn import papers
from kernel_learn.papers import Bench, Cell, Protocol, bench, load_protocol
from kernel_learn.papers.difference import verdict
from kernel_learn.papers.shipping import ship, without_points

X, Y = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
X = X + RNG.normal(size=X.shape)
CELLS = [Cell(f"iris-{i}", {"set": "iris", "repeat": i}) for i in range(8)]


def split(data, cell):
    return [train_test_split(X, Y, test_size=0.4, random_state=cell.settings["repeat"])]


def run_cell(data, cell):
    (A, B, y, y_B), *_ = split(data, cell)
    return {"ours": 100 * float(np.mean(KNeighborsClassifier(1).fit(A, y).predict(B) != y_B))}


TABLE = Protocol(
    "small",
    "Small",
    CELLS,
    run_cell,
    lambda records: "# Small\n",
    bench=Bench(("ours",), split, lambda record: {"ours": [record["ours"]]}, lambda name: 2 / 3),
)


def run(methods, folder, **options):
    return papers.run(TABLE, object(), folder, methods=methods, stream=io.StringIO(), **options)


class Counted(KNeighborsClassifier):
    fits = 0

    def fit(self, X, y):
        Counted.fits += 1
        return super().fit(X, y)


class Untagged:
    """Scikit-learn's verbs without its tags."""

    def __init__(self, model=None, column=False):
        self.model, self.column = model, column

    def get_params(self, deep=True):
        return {"model": self.model, "column": self.column}

    def fit(self, X, y):
        self.fitted = clone(self.model).fit(X, y)
        return self

    def predict(self, X):
        predicted = self.fitted.predict(X)
        return predicted[:, None] if self.column else predicted


def test_methods_see_the_partitions_of_the_table(tmp_path):
    model = KNeighborsClassifier(7)
    found = run({"7-NN": model, "made": lambda: KNeighborsClassifier(7)}, tmp_path)
    assert not hasattr(model, "classes_")
    for cell in CELLS:
        (A, B, y, y_B), *_ = split(None, cell)
        error = 100 * np.mean(clone(model).fit(A, y).predict(B) != y_B)
        both = [r["errors"] for r in found if r["key"] == cell.key]
        assert both == [[error], [error]]


def test_a_run_goes_on_where_it_was_and_a_class_is_called(tmp_path):
    Counted.fits = 0
    first = run({"mine": Counted}, tmp_path, only=lambda cell: cell.settings["repeat"] < 3)
    assert Counted.fits == 3 == len(first)
    assert len(run({"mine": Counted}, tmp_path)) == 8 and Counted.fits == 8
    lines = (tmp_path / "small.methods.jsonl").read_text().splitlines()
    assert {json.loads(line)["method"] for line in lines} == {"mine"}
    assert "commit" in json.loads(lines[0])["made"]


def test_the_comparison_is_paired_with_our_own_records(tmp_path):
    papers.run(TABLE, object(), tmp_path, stream=io.StringIO())
    found = run({"9-NN": KNeighborsClassifier(9)}, tmp_path, only=lambda c: c.key != "iris-0")
    page = papers.compare(TABLE, found, tmp_path)
    ours = {cell.key: run_cell(None, cell)["ours"] for cell in CELLS}
    mine = {record["key"]: record["errors"][0] for record in found}
    both = list(mine)
    expected = verdict([mine[k] for k in both], [ours[k] for k in both], 2 / 3)
    assert f"| iris | {expected} |" in page
    means = f"| iris | {np.mean(list(ours.values())):.2f} (8) | {np.mean(list(mine.values())):.2f}"
    assert means in page
    assert papers.compare(TABLE, found, tmp_path / "none").count("| - |") == 2


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        ({"ours": KNeighborsClassifier()}, "choose another name"),
        ({"x": dict}, "no fit and no predict"),
        ({"x": 3}, "x has no fit and no predict"),
        ({"x": "sklearn.svm:Nothing"}, "has no Nothing"),
        ({"x": KNeighborsRegressor()}, "x is a regressor"),
        ({"x": make_pipeline(KNeighborsRegressor())}, "x is a regressor"),
        ({"x": KMeans}, "x is a clusterer"),
        ({"x": Untagged(KNeighborsRegressor())}, r"x is no classifier.*\(60,\)"),
        ({"x": Untagged(KNeighborsClassifier(), column=True)}, r"x is no classifier.*\(60, 1\)"),
    ],
)
def test_what_cannot_join(tmp_path, methods, words):
    with pytest.raises(ValueError, match=words):
        run(methods, tmp_path)
    with pytest.raises(ValueError, match="no table of classifiers"):
        papers.run("chen2008-figures", object(), tmp_path, methods={"x": KNeighborsClassifier()})


def test_methods_and_cells_by_text(tmp_path):
    found = run({"5-NN": "sklearn.neighbors:KNeighborsClassifier"}, tmp_path, only="iris-1")
    assert [record["key"] for record in found] == ["iris-1"]
    plain = {"plain": Untagged(KNeighborsClassifier())}
    assert run(plain, tmp_path, only="iris-1")[0]["errors"] == found[0]["errors"]
    with pytest.raises(ValueError, match=r"No cell of small has 'nope' in its key.*'iris-0'"):
        run({"mine": Counted}, tmp_path, only="nope")
    with pytest.raises(ValueError, match=r"no table 'nope'\. Choose one of chen2008-alternation"):
        papers.run("nope", object(), tmp_path)


@pytest.mark.parametrize("name", papers.PROTOCOLS)
def test_shipped_records_are_those_of_the_tables(name):
    """Every line is a cell of the table, once, with the figures that its bench reads."""
    protocol = load_protocol(name)
    records = bench.shipped_records(protocol)
    keys = [record["key"] for record in records]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= {cell.key for cell in protocol.cells}
    for record in records:
        assert record["made"]["commit"] and not record["made"]["commit"].endswith("dirty")
        if protocol.bench is not None:
            errors = protocol.bench.errors(record)
            assert set(errors) == set(protocol.bench.methods)
            assert all(0 <= error <= 100 for parts in errors.values() for error in parts)


def test_records_ship_in_the_order_of_their_cells(tmp_path):
    with pytest.raises(ValueError, match="has no records of small: run the table"):
        ship(TABLE, tmp_path, tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    papers.run(TABLE, object(), tmp_path, only="iris-1", stream=io.StringIO())
    file, missing = ship(TABLE, tmp_path, home)
    assert missing == 7 and [json.loads(file.read_text())["key"]] == ["iris-1"]
    whole = papers.run(TABLE, object(), tmp_path, stream=io.StringIO())
    file, missing = ship(TABLE, tmp_path, home)
    shipped = [json.loads(line) for line in file.read_text().splitlines()]
    assert missing == 0
    assert [record["key"] for record in shipped] == [cell.key for cell in CELLS]
    assert without_points({"a": 1, "b": [2] * 9, "embedding": [3] * 2000}) == {"a": 1, "b": [2] * 9}
    assert sorted(shipped, key=lambda r: r["key"]) == sorted(whole, key=lambda r: r["key"])


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("sklearn.svm", "package.module:Name"),
        ("no_such_module:X", "cannot be imported"),
        ("sklearn.svm:Nothing", "has no Nothing"),
    ],
)
def test_methods_by_name(spec, words):
    with pytest.raises(ValueError, match=words):
        bench.find_method(spec)
    assert bench.find_method("sklearn.svm:SVC")[0] == "SVC"


def test_methods_of_a_file_in_this_folder(tmp_path, monkeypatch):
    (tmp_path / "own_method.py").write_text("from sklearn.svm import SVC\nMine = SVC(C=3.0)\n")
    monkeypatch.chdir(tmp_path)
    name, method = bench.find_method("own_method:Mine")
    assert name == "Mine" and method.C == 3.0
