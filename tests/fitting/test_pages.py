"""The diagram of an estimator in a notebook links to its own page."""

import re
import warnings
from pathlib import Path

import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.datasets import load_wine
from sklearn.utils import estimator_html_repr

import kernel_learn as kl
from kernel_learn.fitting.pages import PAGES, Card, page_address
from kernel_learn.kernels import Gaussian

ESTIMATORS = [
    name
    for name in kl.__all__
    if isinstance(getattr(kl, name), type) and issubclass(getattr(kl, name), BaseEstimator)
]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_links_to_a_page_that_names_it(name):
    address = page_address(name)
    assert name in Path(address.removeprefix("file://")).read_text(encoding="utf-8")
    made = getattr(kl, name)
    page = estimator_html_repr(made(kl.InductiveKernel()) if name == "PairClassifier" else made())
    assert f'href="{address}"' in page and 'href="https://scikit-learn.org' not in page


def test_no_page_of_nothing():
    assert page_address("Nothing") == ""
    assert set(PAGES) == set(ESTIMATORS)


def test_a_fitted_model_shows_what_was_found():
    X, y = load_wine(return_X_y=True)
    model = kl.KernelClassifier(quality="fast", max_members=3)
    assert "<style>" in model._repr_html_()  # scikit-learn's diagram
    model.fit(X[::2], y[::2])
    shown = model._repr_html_()
    assert len(shown) < 10_000 and model._repr_mimebundle_()["text/html"] == shown
    assert model.summary_.splitlines()[1] in shown and shown.count("<tr>") == 1 + 3
    assert "kernel_learn.report(model, X, y)" in shown
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (kl.KernelDiscriminant(kernel=[Gaussian(0.1), Gaussian(0.01)]), '<th scope="col">weight'),
        (kl.HSICSubspace(), "<td>gap to its bound</td><td>0</td>"),
        (kl.TableEncoder(), "<td>columns</td><td>13</td>"),
    ],
)
def test_others_show_their_plan_and_figures(model, said):
    X, y = load_wine(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # columns of several widths
        shown = model.fit(X, y)._repr_html_()
    assert said in shown and len(shown) < 10_000
    assert ("kernel_learn.report" in shown) == hasattr(model, "predict")


def test_a_card_is_short_and_safe():
    rows = [("<b>", "x" * 1000)] * 50
    shown = Card("<i>", ["a & b"] * 40, ("<u>", ""), rows).html()
    assert len(shown) < 10_000 and "and 40 more" in shown and shown.count("a &amp; b") == 10
    assert not re.search("<[ibu]>", shown)
