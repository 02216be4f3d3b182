"""Models that were written before modules moved to other packages: they load, and say the same.

The files are those of ``tests/files/make_before_rooms.py``. On the machine that wrote them the
answers are the same to the last bit; the BLAS of another adds up in another order, so they are
compared to 1e-10 of the largest, as in ``test_files.py``, and labels exactly.
"""

import importlib
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import kernel_learn as kl
from kernel_learn.ensemble.members import Member
from kernel_learn.interop.archive import opened, read_metadata
from kernel_learn.interop.earlier import todays_members
from kernel_learn.interop.metadata import describe_model
from kernel_learn.kernels import Gaussian, Kernel
from kernel_learn.representations import load_state

pytest.importorskip("skops")
FOLDER = Path(__file__).parents[1] / "files" / "before_rooms"
FILES = sorted(FOLDER.glob("*.skops"))
CLASSIFIERS = sorted(FOLDER.glob("classifier*.skops"))
# Of categories that are numbers: 0.0 and -0.0 were two then. Rows with -0.0 say something else now.
TWO_ZEROS = ["classifier-categories", "discriminant-hamming", "discriminant-matching"]
ignore_versions = pytest.mark.filterwarnings(
    "ignore:Trying to unpickle:sklearn.exceptions.InconsistentVersionWarning"
)


def read_expected(path):
    """What stands beside a file; skips where a package is missing that it needs."""
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    for package in expected["needs"]:
        pytest.importorskip(package)
    if path.stem in TWO_ZEROS:
        rows = np.array(expected["rows"]["values"])
        some = np.flatnonzero(~((rows == 0) & np.signbit(rows)).any(axis=1))
        assert 0 < len(some) < len(rows) and (rows[some] == 0).any()
        expected["rows"]["values"] = rows[some]
        outputs = expected["outputs"].items()
        expected["outputs"] = {name: np.asarray(values)[some] for name, values in outputs}
    return expected


def as_rows(given):
    """Rows as they were given to the model."""
    if given["kind"] == "views":
        return [as_rows(part) for part in given["views"]]
    if given["kind"] == "frame":
        pandas = importlib.import_module("pandas")
        columns = given["columns"].items()
        return pandas.DataFrame(
            {name: pandas.Series(one["values"], dtype=one["dtype"]) for name, one in columns}
        )
    rows = np.array(given["values"], dtype=given.get("dtype", float))
    makers = {"sparse": sparse.csr_matrix, "sparse array": sparse.csr_array}
    return makers.get(given["kind"], np.asarray)(rows)


def ask(model, name, rows):
    """What the model says of the rows by one method."""
    if name == "kernel":
        return model(rows) if isinstance(model, Kernel) else model.kernel_(rows)
    sides = (rows, rows[::-1]) if isinstance(model, kl.PairClassifier) else (rows,)
    return getattr(model, name)(*sides)


def check_outputs(model, expected):
    rows = as_rows(expected["rows"])
    assert expected["outputs"]
    for name, values in expected["outputs"].items():
        found, values = np.asarray(ask(model, name, rows)), np.asarray(values)
        if values.dtype.kind in "UOb":
            np.testing.assert_array_equal(found, values, err_msg=name)
            continue
        finite = np.abs(values[np.isfinite(values)])
        atol = 1e-10 * max(finite.max(initial=0.0), 1e-300)
        if isinstance(model, kl.KernelClassifier) and name == "transform":
            atol *= 1e5  # features are worked out anew, without the rounding of 1'A that they had
        if found.dtype == np.float32:  # the last bit of single numbers
            atol *= 1e4
        np.testing.assert_allclose(found, values, rtol=0, atol=atol, err_msg=name)


@ignore_versions
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_earlier_file_says_what_it_said(path):
    expected = read_expected(path)
    check_outputs(kl.load(path), expected)
    assert "written" in kl.describe(path)


@ignore_versions
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_earlier_file_can_be_written_again(path, tmp_path):
    expected = read_expected(path)
    kl.save(kl.load(path), tmp_path / "again.skops")
    check_outputs(kl.load(tmp_path / "again.skops"), expected)


@ignore_versions
@pytest.mark.parametrize("name", TWO_ZEROS)
def test_equal_numbers_are_one_category_of_an_earlier_file(name):
    rows = np.array(json.loads((FOLDER / f"{name}.json").read_text())["rows"]["values"])
    model = kl.load(FOLDER / f"{name}.skops")
    for zero in (0.0, -0.0):
        same = np.where(rows == 0, zero, rows)
        np.testing.assert_array_equal(model.predict_proba(same), model.predict_proba(rows))


@ignore_versions
def test_parameters_that_came_later_have_their_defaults():
    model = kl.load(FOLDER / "pls.skops")
    assert repr(model) and clone(model).get_params()["target_type"] == "auto"


@ignore_versions
@pytest.mark.parametrize("path", CLASSIFIERS, ids=lambda path: path.stem)
def test_an_earlier_classifier_tells_of_itself_what_it_told(path):
    """Its plan, members, and the rows that it carries, from records that are no more."""
    read_expected(path)
    with opened(path, np.inf) as archive:
        written = read_metadata(archive, path)
    model = kl.load(path)
    for part in written["parts"]:  # the plan's words are today's
        part["plan"] = part["plan"].replace("judged on", "validated on")
    assert describe_model(model, uses_skrub=False)["parts"] == written["parts"]
    members, ensemble = model.members_, model._fitted.ensemble
    weights = [member.weight for member in members]
    assert weights == sorted(weights, reverse=True) and sum(weights) == pytest.approx(1)
    assert sum(member.share for member in members) == pytest.approx(1)
    for member in ensemble.predicting:
        assert member.share == pytest.approx(member.weight, rel=0.05)
        assert len(member.models) == len(member.maps) == ensemble.n_trees
    assert model.plan_.exact == (ensemble.forest is None and model.plan_.n_landmarks is None)


def test_an_earlier_state_goes_on():
    """What ``save_state`` wrote between two calls of ``partial_fit``."""
    expected = read_expected(FOLDER / "state.json")
    state = load_state(FOLDER / "state.npz")
    model = kl.KernelDiscriminant(kl.kernels.Gaussian(0.3), reg=0.01, landmarks=8)
    for name in ("predict_proba", "predict_log_proba"):  # they fade in a fit of today
        del expected["outputs"][name]
    check_outputs(model.fit(state), expected)


def test_every_public_estimator_is_among_them():
    public = {
        name
        for name in kl.__all__
        if isinstance(getattr(kl, name), type) and hasattr(getattr(kl, name), "fit")
    }
    newer = {"KernelRegressor", "TableEncoder"}  # than all of these files
    assert public - newer <= {kl.describe(path).partition(",")[0] for path in FILES}


def test_members_that_were_only_told_of_follow_those_that_predict():
    """Told of by decreasing weight, while those that predict stand in another order."""
    told = [Member("z", Gaussian(1.0), 0.1, weight, 0.5, 0.2) for weight in (0.69, 0.3, 0.01)]
    parts = [SimpleNamespace(weight=w, model=f"model {w}", second=f"map {w}") for w in (0.3, 0.7)]
    kernels = SimpleNamespace(parts=[SimpleNamespace(scales=None, factor=f) for f in (2.0, 4.0)])
    found = todays_members(SimpleNamespace(parts=parts), kernels, told)
    assert [member.weight for member in found] == [0.3, 0.69, 0.01]
    assert [member.share for member in found] == [0.3, 0.7, 0.0]
    assert [member.factor for member in found] == [2.0, 4.0, 0.0]
    assert [member.models for member in found] == [[["model 0.3"]], [["model 0.7"]], ()]
    assert [member.maps for member in found] == [["map 0.3"], ["map 0.7"], ()]
