"""Without a folder, data sets come from OpenML, compared by digest; or a sentence says where."""

import hashlib
import io
import json
import urllib.request
from email.message import Message
from http.client import IncompleteRead
from urllib.error import URLError
from urllib.response import addinfourl

import numpy as np
import pytest
from sklearn import datasets
from sklearn.utils import Bunch

from kernel_learn.datasets import find_data, folder
from kernel_learn.datasets.folder import MissingDataError, digest_rows

X = np.array([[1.0, 2.5], [3.0, np.nan], [0.1, -4.0]])
Y = np.array(["b", "a", "b"])


@pytest.fixture
def online(monkeypatch):
    """No folder, and an OpenML with one small set."""
    monkeypatch.delenv("KERNEL_LEARN_DATA", raising=False)
    monkeypatch.setitem(folder.OPENML, "small", (17, digest_rows(X, Y)))
    asked = []

    def fetch(**options):
        asked.append(options)
        return Bunch(data=X, target=Y)

    monkeypatch.setattr(datasets, "fetch_openml", fetch)
    return asked


def test_a_set_is_fetched_by_number(online):
    data = find_data()
    assert "small" in data.names()
    X_found, y = data.load("small")
    assert np.array_equal(X_found, X, equal_nan=True) and y.tolist() == Y.tolist()
    assert online[0]["data_id"] == 17 and online[0]["as_frame"] is False


def test_another_copy_is_refused(online, monkeypatch):
    monkeypatch.setattr(
        datasets, "fetch_openml", lambda **options: Bunch(data=X[[1, 0, 2]], target=Y)
    )
    with pytest.raises(MissingDataError, match="not the one the results were made from"):
        find_data().load("small")


@pytest.mark.parametrize(
    "failure",
    [URLError("no network"), ValueError("md5 checksum"), OSError(), IncompleteRead(b"cut")],
)
def test_no_network_is_a_sentence(online, monkeypatch, failure):
    def fetch(**options):
        raise failure

    monkeypatch.setattr(datasets, "fetch_openml", fetch)
    with pytest.raises(MissingDataError, match=r"could not be fetched.*--data.*KERNEL_LEARN_DATA"):
        find_data().load("small")


ARFF = b"@RELATION small\n@ATTRIBUTE a REAL\n@ATTRIBUTE b REAL\n@ATTRIBUTE class {a,b}\n@DATA\n"
ARFF += b"1,2.5,b\n3,?,a\n0.1,-4,b\n"
COLUMNS = [("a", "numeric", "false"), ("b", "numeric", "false"), ("class", "nominal", "true")]
SHARED = {"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
SITE = {
    "data/17": {
        "data_set_description": {
            "id": "17",
            "name": "small",
            "description": "Three rows.",
            "version": "1",
            "format": "ARFF",
            "status": "active",
            "file_id": "5",
            "url": "https://api.openml.org/data/v1/download/5/small.arff",
            "default_target_attribute": "class",
            "md5_checksum": hashlib.md5(ARFF).hexdigest(),
        }
    },
    "data/features/17": {
        "data_features": {
            "feature": [
                {"index": str(i), "name": name, "data_type": kind, "is_target": target, **SHARED}
                for i, (name, kind, target) in enumerate(COLUMNS)
            ]
        }
    },
    "data/qualities/17": {
        "data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "3"}]}
    },
}


class Site(urllib.request.HTTPSHandler):
    """What openml.org answers, without a network; None: no answer."""

    def __init__(self, pages):
        super().__init__()
        self.pages = pages

    def https_open(self, request):
        if self.pages is None:
            raise URLError("no route to host")
        page = request.full_url.split("/api/v1/json/")[-1].rstrip("/")
        content = json.dumps(self.pages[page]).encode() if page in self.pages else ARFF
        response = addinfourl(io.BytesIO(content), Message(), request.full_url, 200)
        response.msg = "OK"
        return response


@pytest.fixture
def site(monkeypatch, tmp_path):
    """scikit-learn's own fetch, of a site as openml.org is."""
    monkeypatch.delenv("KERNEL_LEARN_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setitem(folder.OPENML, "small", (17, digest_rows(X, Y)))
    yield lambda pages: urllib.request.install_opener(urllib.request.build_opener(Site(pages)))
    urllib.request.install_opener(None)


def test_scikit_learn_fetches_it(site):
    """The call is one that scikit-learn takes: its arguments are checked, its answer is read."""
    site(SITE)
    X_found, y = find_data().load("small")
    assert np.array_equal(X_found, X, equal_nan=True) and y.tolist() == Y.tolist()


@pytest.mark.filterwarnings("ignore:A network error occurred")
def test_scikit_learn_finds_no_network(site):
    site(None)
    with pytest.raises(MissingDataError, match=r"could not be fetched.*no route to host.*--data"):
        find_data().load("small")


def test_a_set_that_openml_does_not_have(online):
    with pytest.raises(MissingDataError, match=r"'jaffe_kernels' is not fetched.*docs/results/dat"):
        find_data().load("jaffe_kernels")
    assert not online


def test_a_folder_comes_first(online, tmp_path, monkeypatch):
    np.savez(tmp_path / "small.npz", X=2 * X, y=Y)
    monkeypatch.setenv("KERNEL_LEARN_DATA", str(tmp_path))
    assert find_data().load("small")[0][0, 0] == 2.0
    assert find_data(tmp_path).names() == ["small"]
    assert not online


def test_digest_sees_values_order_and_classes_and_no_names():
    digest = digest_rows(X, Y)
    assert digest_rows(X * (1 + 1e-9), np.array([7, 9, 7])) == digest
    assert digest_rows(X * 1.0001, Y) != digest  # the fifth digit
    assert digest_rows(X[::-1], Y[::-1]) != digest
    assert digest_rows(X, np.array(["b", "b", "a"])) != digest


def test_digests_are_those_of_the_folder():
    import os

    if "KERNEL_LEARN_DATA" not in os.environ:
        pytest.skip("no data folder")
    data = find_data()
    for name in ("iris", "wine", "balance-scale"):
        assert digest_rows(*data.load(name)) == folder.OPENML[name][1]
