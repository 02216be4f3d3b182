"""KernelIndex: brute force over the kernel's own distances, graphs, files, measured recall."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import DBSCAN, SpectralClustering
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer
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


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_the_graph_is_that_of_kneighborstransformer(mode):
    """On the features of the model, entry by entry; links of a row to itself are explicit zeros."""
    graph = KernelIndex(MODEL).fit(OLD).graph(4, mode)
    theirs = KNeighborsTransformer(mode=mode, n_neighbors=4).fit(MODEL.transform(OLD))
    among, to_new = graph.graph_, graph.transform(NEW)
    for ours, wanted in (
        (among, theirs.transform(MODEL.transform(OLD))),
        (graph.fit_transform(OLD), among),
        (to_new, theirs.transform(MODEL.transform(NEW))),
    ):
        assert ours.shape == wanted.shape and ours.nnz == wanted.nnz
        assert_allclose(ours.toarray(), wanted.toarray(), atol=1e-6)
        assert np.array_equal(ours.toarray() > 1e-6, wanted.toarray() > 1e-6)
    assert np.array_equal(among.indices[among.indptr[:-1]], np.arange(len(OLD)))
    assert np.all(among.data[among.indptr[:-1]] == (mode == "connectivity"))
    assert KernelIndex(MODEL, n_neighbors=3).graph(mode=mode).n_neighbors == 3
    assert len(graph.get_feature_names_out()) == graph.n_samples_fit_ == len(OLD)


def test_twins_keep_their_other_neighbours():
    """Rows that are equal: each has itself first, and k others."""
    twins = np.vstack([OLD] + 5 * [OLD[:1]])
    graph = KernelIndex(MODEL, n_neighbors=3).graph().fit_transform(twins)
    assert np.all(np.diff(graph.indptr) == 4)
    assert np.array_equal(graph.indices[graph.indptr[:-1]], np.arange(len(twins)))
    assert all(len(set(rows)) == 4 for rows in graph.indices.reshape(-1, 4).tolist())
    alone = KernelIndex(MODEL).fit(OLD).graph(1, "connectivity").graph_
    assert (alone != sparse.identity(len(OLD))).nnz == 0


SPECTRAL = {"n_clusters": 3, "n_neighbors": 30, "random_state": 0}


@pytest.mark.parametrize(
    ("step", "direct"),
    [
        (KNeighborsClassifier(20, metric="precomputed"), KNeighborsClassifier(20)),
        (
            SpectralClustering(affinity="precomputed_nearest_neighbors", **SPECTRAL),
            SpectralClustering(affinity="nearest_neighbors", **SPECTRAL),
        ),
        (DBSCAN(eps=0.3, metric="precomputed"), DBSCAN(eps=0.3)),
    ],
)
def test_a_graph_is_a_step_of_pipelines(step, direct):
    """What scikit-learn finds on the graph is what it finds on the features."""
    pipeline, Z = make_pipeline(KernelIndex(MODEL).graph(60), step), MODEL.transform(OLD)
    if hasattr(direct, "predict"):
        found = pipeline.fit(OLD, Y[::2]).predict(NEW)
        wanted = direct.fit(Z, Y[::2]).predict(MODEL.transform(NEW))
    else:
        found, wanted = pipeline.fit_predict(OLD), direct.fit_predict(Z)
    assert len(set(wanted)) > 1 and adjusted_rand_score(found, wanted) == 1.0


def test_a_graph_has_parameters():
    pytest.importorskip("faiss")
    graph = KernelIndex(MODEL, search="approximate").fit(OLD).graph(7, "connectivity")
    copied = clone(graph)
    assert (copied.n_neighbors, copied.mode, copied.index.search) == (
        7,
        "connectivity",
        "approximate",
    )
    assert copied.index.model is MODEL and not hasattr(copied.index, "features_")
    assert copied.set_params(index__n_neighbors=3).get_params()["index__n_neighbors"] == 3
    with pytest.raises(NotFittedError):
        copied.transform(NEW)


def test_an_index_is_a_step_of_pipelines():
    index = KernelIndex(MODEL, n_neighbors=5).fit(OLD)
    assert (index.transform(NEW) != index.graph(5).transform(NEW)).nnz == 0
    assert clone(index).search == "exact" and not hasattr(clone(index), "features_")


@pytest.mark.parametrize("regularizer", ["trace", "logdet"])
def test_files_and_pickles(tmp_path, regularizer):
    pytest.importorskip("skops")
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
    pytest.importorskip("skops")
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
    pytest.importorskip("faiss")
    digits, labels = load_digits(return_X_y=True)
    model = kl.HSICSubspace(n_components=9, landmarks=100, random_state=0).fit(digits, labels)
    exact = KernelIndex(model, n_neighbors=10).fit(digits)
    index = KernelIndex(model, n_neighbors=10, search="approximate").fit(digits)
    assert exact.recall_ is None and 0.95 < index.recall_ <= 1
    wanted, found = exact.graph().graph_, index.graph().graph_
    both = [set(wanted[i].indices) & set(found[i].indices) for i in range(len(digits))]
    shares = [(len(rows) - 1) / 10 for rows in both]  # without the row itself
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
        (lambda: KernelIndex(MODEL).fit(OLD).graph(90).graph_, "from 1 to 89"),
        (lambda: KernelIndex(MODEL).graph(0).fit(OLD), "n_neighbors must be"),
        (lambda: KernelIndex(MODEL).fit(OLD).graph(mode="weights"), "mode must be"),
        (lambda: KernelIndex(MODEL).fit(OLD[:, :4]), "4 features"),
    ],
)
def test_what_cannot_be(call, words):
    with pytest.raises(ValueError, match=words):
        call()
    with pytest.raises(TypeError, match="needs a fitted model with features"):
        KernelIndex(KNeighborsClassifier()).fit(OLD)
