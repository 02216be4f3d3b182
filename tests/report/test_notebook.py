"""``kernel_learn.report(model, X, y)``: the page of the command line in a notebook."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")
pytest.importorskip("jinja2")

import kernel_learn as kl  # noqa: E402
from kernel_learn.report import ReportPage, gather_facts, render  # noqa: E402
from kernel_learn.tables import TableModel  # noqa: E402

X, Y = load_iris(return_X_y=True)
train, test = slice(None, None, 2), slice(1, None, 2)
OLD = (X[train], Y[train])


@pytest.fixture(scope="module")
def model():
    return kl.KernelClassifier(quality="fast", memory_budget="1GB").fit(*OLD)


def test_the_page_is_that_of_the_command_line(model):
    page = kl.report(model, *OLD, target="species")
    frame = pd.DataFrame(X[train], columns=[f"x{i}" for i in range(4)])
    again = kl.KernelClassifier(quality="fast", memory_budget="1GB")
    table = TableModel(again, target="species").fit(frame, Y[train])
    expected = render(gather_facts(table, frame, Y[train], method="KernelClassifier"), frame=frame)

    def same(text):  # but for what names the columns, and when it was made
        return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "", text)

    assert same(page.html) == same(expected)
    assert isinstance(page, ReportPage) and "There is signal" in repr(page)


def test_a_notebook_shows_it_inside_a_frame(model, tmp_path):
    page = kl.report(model, *OLD)
    shown = page._repr_html_()
    assert shown.startswith("<iframe") and shown.count("<") == 2  # the page itself is escaped
    assert len(shown) < 250_000
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html


def test_new_rows_stand_beside_the_held_out_ones(model):
    page = kl.report(model, *OLD, X_new=X[test], y_new=Y[test])
    seen = {tuple(row) for row in X[train]}
    new = np.array([tuple(row) not in seen for row in X[test]])
    right = int(np.sum((model.predict(X[test]) == Y[test])[new]))
    assert f"{right} were predicted right" in page.html
    (sentence,) = page.verdict
    assert sentence.startswith("Held out in training it was ")
    same = kl.report(model, *OLD, X_new=X[train], y_new=Y[train])
    assert "The rows given as new are those the model was fitted to" in same.html
    other = kl.report(model, *OLD, X_new=X[test], y_new=np.full(len(Y[test]), "none of them"))
    assert "No new row has a class that the model knows" in other.html


def test_other_rows_than_those_of_the_fit_are_refused(model):
    with pytest.raises(ValueError, match="others as X_new and y_new"):
        kl.report(model, X[test][:40], Y[test][:40])
    with pytest.raises(ValueError, match="has 75 rows, and y has 3"):
        kl.report(model, X[train], Y[:3])
    with pytest.raises(ValueError, match="y_new is missing"):
        kl.report(model, *OLD, X_new=X[test])


@pytest.mark.parametrize(
    ("estimator", "rows"),
    [
        (RandomForestClassifier(5, random_state=0), X[train]),
        (kl.KernelDiscriminant(), sparse.csr_matrix(X[train])),
        (kl.KernelDiscriminant(), pd.DataFrame(X[train], columns=list("abcd"))),
    ],
)
def test_any_classifier_and_any_rows(estimator, rows):
    page = kl.report(estimator.fit(rows, Y[train]), rows, Y[train])
    assert "How well does it predict?" in page.html and page.verdict


def test_numbers_too():
    rng = np.random.default_rng(0)
    y = X[:, 0] + 0.1 * rng.normal(size=150)
    model = kl.KernelRegressor(quality="fast").fit(X[train], y[train])
    page = kl.report(model, X[train], y[train], X_new=X[test], y_new=y[test])
    assert "RMSE on new rows" in page.html


@pytest.mark.parametrize(
    ("estimator", "y", "words"),
    [
        (kl.KernelClassifier, (X[:, :3] > X[:, :3].mean(axis=0)).astype(int), r"\(75, 3\)"),
        (kl.KernelClassifier, [["a"], ["a", "b"], ["b"]] * 50, "sets of labels"),
        (kl.KernelRegressor, X[:, :2], r"\(75, 2\)"),
        (kl.KernelRegressor, X[:, :1], r"\(75, 1\)"),
    ],
)
def test_several_targets_are_refused_in_a_sentence(estimator, y, words):
    model = estimator(quality="fast", max_members=1, assess=False).fit(X[train], y[train])
    with pytest.raises(ValueError, match=f"A report is of one target.*{words}.*to each label"):
        kl.report(model, X[train], y[train])
