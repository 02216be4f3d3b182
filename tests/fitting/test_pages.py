"""The diagram of an estimator in a notebook links to its own page."""

from pathlib import Path

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr

import kernel_learn as kl
from kernel_learn.fitting.pages import PAGES, page_address

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
