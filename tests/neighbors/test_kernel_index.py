"""KernelIndex: brute force over the kernel's own distances, graphs, files, measured recall."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.cluster import DBSCAN, SpectralClustering
from sklearn.datasets import load_digits, load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

import kernel_learn as kl
from kernel_learn.criteria.regularizers import Frobenius
from kernel_learn.neighbors import KernelIndex
from kernel_learn.neighbors.search import nearest

X, Y = load_wine(return_X_y=True)
X = scale(X)
MODEL = kl.InductiveKernel(regularizer="trace", random_state=0).fit(X[::2], Y[::2])
OLD, NEW = X[::2], X[1::2]


def all_distances(A, B):
    """Distances by the learned kernel, entry by entry."""
    K, a, b = MODEL.kernel_(A, B), MODEL.kernel_.diag(A), MODEL.kernel_.diag(B)
    return np.sqrt(np.maximum(a[:, None] + b - 2 * K, 0))


def test_neighbours_are_those_of_the_kernel():
    distances, rows = KernelIndex(MODEL).fit(OLD).query(NEW, k=7)
    D = all_distances(NEW, OLD)
    for i in range(len(NEW)):
        order = sorted(range(len(OLD)), key=lambda j, i=i: D[i, j])[:7]
        assert rows[i].tolist() == order
        assert_allclose(distances[i], D[i, order], atol=1e-6)


def test_equal_distances_are_taken_in_their_order():
    D = np.array([[1.0, 0.0, 1.0, 1.0, 2.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
    values, rows = nearest(D, 3)
    assert rows.tolist() == [[1, 0, 2], [0, 1, 2]] and values.tolist() == [[0, 1, 1], [0, 0, 0]]
    assert nearest(D, 5)[1].tolist() == [[1, 0, 2, 3, 4], [0, 1, 2, 3, 4]]


def test_blocks_change_nothing(monkeypatch):
    from kernel_learn.neighbors import search

    whole = KernelIndex(MODEL).fit(OLD).query(NEW, k=4)
    monkeypatch.setattr(search, "BLOCK_BYTES", 8 * len(OLD) * 3)
    parts = KernelIndex(MODEL).fit(OLD).query(NEW, k=4)
    assert_allclose(whole[0], parts[0], atol=1e-7)
    assert np.array_equal(whole[1], parts[1])


def test_the_graph_of_the_indexed_rows_leaves_them_out():
    index = KernelIndex(MODEL, n_neighbors=4).fit(OLD)
    graph = index.graph()
    D = all_distances(OLD, OLD)
    np.fill_diagonal(D, np.inf)
    assert graph.shape == (len(OLD), len(OLD)) and graph.diagonal().sum() == 0
    for i in range(len(OLD)):
        assert set(graph[i].indices) == set(np.argsort(D[i], kind="stable")[:4])
    ones = index.graph(NEW, mode="connectivity")
    assert ones.shape == (len(NEW), len(OLD)) and set(ones.data) == {1.0} and ones.nnz == 4 * 89


def test_twins_keep_their_other_neighbours():
    """Two equal rows: each has the other, and k neighbours that are not itself."""
    twins = np.vstack([OLD, OLD[:1]])
    graph = KernelIndex(MODEL, n_neighbors=3).fit(twins).graph()
    assert np.all(np.diff(graph.indptr) == 3) and not graph.diagonal().any()
    assert graph[len(OLD)].indices[0] == 0 and 0 not in graph[0].indices


def test_scikit_learn_takes_the_graph():
    index = KernelIndex(MODEL, n_neighbors=5).fit(OLD)
    knn = make_pipeline(KernelIndex(MODEL), KNeighborsClassifier(5, metric="precomputed"))
    plain = KNeighborsClassifier(5).fit(MODEL.transform(OLD), Y[::2])
    assert np.array_equal(knn.fit(OLD, Y[::2]).predict(NEW), plain.predict(MODEL.transform(NEW)))
    found = SpectralClustering(2, affinity="precomputed_nearest_neighbors", n_neighbors=20)
    wide = KernelIndex(MODEL, n_neighbors=40).fit(OLD).transform(OLD)
    assert len(set(found.set_params(random_state=0, n_neighbors=40).fit_predict(wide))) == 2
    DBSCAN(eps=1.0, metric="precomputed").fit(index.transform(OLD))
    assert clone(index).search == "exact"


@pytest.mark.parametrize("regularizer", ["trace", "logdet"])
def test_files_and_pickles(tmp_path, regularizer):
    model = kl.InductiveKernel(regularizer=regularizer, random_state=0).fit(OLD, Y[::2])
    index = KernelIndex(model).fit(OLD)
    index.save(tmp_path / "index.skops")
    for again in (kl.load(tmp_path / "index.skops"), pickle.loads(pickle.dumps(index))):
        for ours, theirs in zip(index.query(NEW, k=3), again.query(NEW, k=3), strict=True):
            assert np.array_equal(ours, theirs)
    assert "InductiveKernel" in kl.describe(tmp_path / "index.skops")


class OwnFrobenius(Frobenius):
    """A regulariser that the package does not know."""


def test_a_file_with_a_regulariser_of_ones_own(tmp_path):
    path, name = tmp_path / "index.skops", f"{OwnFrobenius.__module__}.OwnFrobenius"
    model = kl.InductiveKernel(regularizer=OwnFrobenius(), random_state=0).fit(OLD, Y[::2])
    index = KernelIndex(model).fit(OLD)
    with pytest.raises(kl.interop.errors.ModelFileError, match="trusted="):
        index.save(path)
    index.save(path, trusted=[name])
    with pytest.raises(kl.interop.errors.ModelFileError, match="does not build"):
        kl.load(path)
    again = kl.load(path, trusted=[name])
    assert np.array_equal(again.query(NEW, k=3)[1], index.query(NEW, k=3)[1])


def test_the_approximate_search_says_how_good_it_is(tmp_path):
    digits, labels = load_digits(return_X_y=True)
    model = kl.HSICSubspace(n_components=9, landmarks=100, random_state=0).fit(digits, labels)
    exact = KernelIndex(model, n_neighbors=10).fit(digits)
    index = KernelIndex(model, n_neighbors=10, search="approximate").fit(digits)
    assert exact.recall_ is None and 0.95 < index.recall_ <= 1
    wanted, found = exact.graph(), index.graph()
    shares = [len(set(wanted[i].indices) & set(found[i].indices)) / 10 for i in range(len(digits))]
    assert np.mean(shares) == pytest.approx(index.recall_, abs=0.02)
    twice = KernelIndex(model, n_neighbors=10, search="approximate").fit(digits)
    assert np.array_equal(twice.query(digits[:50])[1], index.query(digits[:50])[1])
    index.save(tmp_path / "index.skops")
    again = kl.load(tmp_path / "index.skops")
    assert np.array_equal(again.query(digits[:50])[1], index.query(digits[:50])[1])


@pytest.mark.parametrize("options", [{}, {"regularizer": "trace"}, {"landmarks": 20}])
def test_the_kernel_of_a_model_has_its_neighbours(options):
    """With the base kernel in it (logdet) and of low rank (trace)."""
    model = kl.InductiveKernel(random_state=0, **options).fit(OLD, Y[::2])
    of_kernel = KernelIndex(model.kernel_).fit(OLD).query(NEW, k=5)
    of_model = KernelIndex(model).fit(OLD).query(NEW, k=5)
    np.testing.assert_allclose(of_kernel[0], of_model[0], atol=1e-8)
    assert np.array_equal(of_kernel[1], of_model[1])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: KernelIndex(MODEL, search="fast").fit(OLD), "must be 'exact' or 'approximate'"),
        (lambda: KernelIndex(MODEL, n_neighbors=0).fit(OLD), "n_neighbors must be"),
        (lambda: KernelIndex(MODEL).fit(OLD[:1]), "one row"),
        (lambda: KernelIndex(MODEL).fit(OLD).query(NEW, k=90), "from 1 to 89"),
        (lambda: KernelIndex(MODEL, n_neighbors=89).fit(OLD).graph(), "from 1 to 88"),
        (lambda: KernelIndex(MODEL).fit(OLD).graph(mode="weights"), "mode must be"),
        (lambda: KernelIndex(MODEL).fit(OLD[:, :4]), "4 features"),
    ],
)
def test_what_cannot_be(call, words):
    with pytest.raises(ValueError, match=words):
        call()
    with pytest.raises(TypeError, match="needs a fitted model with features"):
        KernelIndex(KNeighborsClassifier()).fit(OLD)
