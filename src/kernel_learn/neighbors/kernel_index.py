"""An index of rows under a learned kernel, and its graph of neighbours."""

from collections.abc import Collection
from typing import ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, PathLike, RowsLike
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.parameters import COUNT, check_parameters, choice, is_whole
from kernel_learn.interop.files import save
from kernel_learn.neighbors.search import ExactSearch, GraphSearch, NeighborSearch

SEARCHES: dict[str, type[ExactSearch] | type[GraphSearch]] = {
    "exact": ExactSearch,
    "approximate": GraphSearch,
}
JUDGED = 200  # rows by which recall is measured


class KernelIndex(TransformerMixin, BaseEstimator):
    """The nearest rows under a learned kernel, of any new rows.

    Distances are those of the features that a fitted model gives, |f(x) - f(y)|: for a kernel of
    low rank they are the distances of the kernel itself. The index keeps the features of
    its rows, not the rows.

    Parameters
    ----------
    model : estimator or kernel, fitted
        What has ``transform``: an estimator of this library, its ``kernel_``, or a Pipeline with it
        as the last step.
    search : {"exact", "approximate"}, default="exact"
        "exact": all distances are computed. "approximate": by a graph of neighbours (HNSW) of
        faiss, extra ``index``; ``recall_`` says how much of the exact answer it finds.
    n_neighbors : int, default=10
        How many ``graph`` links each row to, and those that recall is measured by.

    Attributes
    ----------
    features_ : ndarray of shape (n_samples, n_components)
        The features of the indexed rows.
    recall_ : float or None
        Of "approximate": share of the exact ``n_neighbors`` nearest rows that are found, for 200
        of the indexed rows; the row itself does not count. None for "exact".
    n_features_in_ : int
        Number of columns, where rows have columns.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernel_learn import InductiveKernel
    >>> from kernel_learn.neighbors import KernelIndex
    >>> X, y = load_wine(return_X_y=True)
    >>> X = scale(X)
    >>> model = InductiveKernel(regularizer="trace", random_state=0).fit(X[::2], y[::2])
    >>> index = KernelIndex(model).fit(X[::2])
    >>> distances, rows = index.query(X[1::2], k=5)
    >>> print(f"{(y[::2][rows] == y[1::2, None]).mean():.2f} of them have the same label")
    0.98 of them have the same label
    """

    _parameters: ClassVar = {"search": choice(*SEARCHES), "n_neighbors": COUNT}

    def __init__(
        self, model: BaseEstimator, *, search: str = "exact", n_neighbors: int = 10
    ) -> None:
        self.model = model
        self.search = search
        self.n_neighbors = n_neighbors

    @all_or_nothing
    def fit(self, X: RowsLike, y: object = None) -> Self:
        """Index the rows X.

        Parameters
        ----------
        X : rows as the model's fit takes them
            What is found by ``query``.
        y : ignored
            For scikit-learn's pipelines.

        Returns
        -------
        self
        """
        self.features_ = self._features(X)
        if len(self.features_) < 2:
            raise ValueError("An index of one row has nothing to find: give two or more.")
        self._search_of_fit = self._build()
        self.recall_ = None if self.search == "exact" else self._measure_recall()
        if hasattr(self.model, "n_features_in_"):
            self.n_features_in_ = self.model.n_features_in_
        return self

    def query(self, X_new: RowsLike, k: int | None = None) -> tuple[Array, Array]:
        """The k nearest indexed rows of each new row.

        Parameters
        ----------
        X_new : rows as at fit
            What neighbours are looked for.
        k : int, default=None
            How many; None: ``n_neighbors``.

        Returns
        -------
        distances : ndarray of shape (n_new, k)
            Of the learned features, nearest first.
        rows : ndarray of shape (n_new, k)
            Positions among the indexed rows.
        """
        check_is_fitted(self)
        return self._nearest(self._features(X_new), self._checked(k, len(self.features_)))

    def graph(self, n_neighbors: int | None = None, mode: str = "distance") -> "KernelGraph":
        """The graph of neighbours as a transformer, as scikit-learn's ``KNeighborsTransformer``.

        Parameters
        ----------
        n_neighbors : int, default=None
            How many links a row has; None: those of the index.
        mode : {"distance", "connectivity"}, default="distance"
            What an entry is: the distance, or 1.

        Returns
        -------
        graph : KernelGraph
            On the rows of this index, if it has any: ``graph.graph_`` is the sparse matrix among
            them, ``graph.transform(X)`` that from others to them.
        """
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        graph = KernelGraph(self, n_neighbors=k, mode=mode)
        return graph._on(self) if hasattr(self, "features_") else graph

    def transform(self, X: RowsLike) -> sparse.csr_matrix:
        """The graph from rows X to the indexed rows: ``graph().transform(X)``.

        Parameters
        ----------
        X : rows as at fit
            Whose links; an indexed row has one to itself, of length zero.

        Returns
        -------
        graph : sparse matrix of shape (n_rows, n_indexed)
            With ``n_neighbors`` + 1 links of each row, for steps with ``metric="precomputed"``.
        """
        check_is_fitted(self)
        return self.graph().transform(X)

    def save(self, path: PathLike, *, trusted: Collection[str | type] = ()) -> None:
        """Write index and model as one file without pickle; ``kernel_learn.load`` reads it.

        Parameters
        ----------
        path : path
            Where to write.
        trusted : collection of str or type, default=()
            Classes of your own that the model holds, as in ``kernel_learn.save``.
        """
        save(self, path, trusted=trusted)

    def __sklearn_clone__(self) -> Self:
        """An index that is not fitted, of the same model, which is."""
        return type(self)(self.model, search=self.search, n_neighbors=self.n_neighbors)

    def __getstate__(self) -> dict[str, object]:
        """Features and model: the search is built from them anew."""
        state: dict[str, object] = dict(super().__getstate__())
        state.pop("_search_of_fit", None)
        return state

    def _build(self) -> NeighborSearch:
        return SEARCHES[self.search](self.features_)

    def _nearest(self, Z: Array, k: int) -> tuple[Array, Array]:
        if "_search_of_fit" not in self.__dict__:
            self._search_of_fit = self._build()
        squares, rows = self._search_of_fit.query(Z, k)
        return np.sqrt(squares), rows

    def _features(self, X: RowsLike) -> Array:
        if not hasattr(self.model, "transform"):
            raise TypeError(
                f"KernelIndex(model={type(self.model).__name__}) needs a fitted model with "
                "features: an estimator or kernel that has transform."
            )
        return np.ascontiguousarray(self.model.transform(X), dtype=np.float64)

    def _checked(self, k: int | None, most: int) -> int:
        k = self.n_neighbors if k is None else k
        if not is_whole(k, 1) or k > most:
            raise ValueError(
                f"{k!r} neighbours were asked for, and there are from 1 to {most} to be had."
            )
        return int(k)

    def _measure_recall(self) -> float:
        """Share of the exact neighbours that the search finds, spread over the indexed rows."""
        n = len(self.features_)
        k = min(self.n_neighbors, n - 1)
        judged = np.unique(np.linspace(0, n - 1, JUDGED).astype(int))
        Z = self.features_[judged]
        _, exact = ExactSearch(self.features_).query(Z, k + 1)
        _, found = self._search_of_fit.query(Z, k + 1)
        shares = [
            len((set(a) & set(b)) - {i}) / max(1, len(set(a) - {i}))
            for i, a, b in zip(judged, exact.tolist(), found.tolist(), strict=True)
        ]
        return float(np.mean(shares))


class KernelGraph(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer to the sparse graph of nearest rows under a learned kernel.

    With the conventions of scikit-learn's ``KNeighborsTransformer``: in rows sorted by distance;
    with ``mode="distance"`` one neighbour more than was asked for, so that a row which finds
    itself, at an explicit zero, has ``n_neighbors`` others.

    Parameters
    ----------
    index : KernelIndex
        How neighbours are found; ``fit`` leaves it as it is. :meth:`KernelIndex.graph` gives
        graphs on its own rows.
    n_neighbors : int, default=10
        Links of a row, to others ("distance") or to others and itself ("connectivity").
    mode : {"distance", "connectivity"}, default="distance"
        What an entry is: the distance, or 1.

    Attributes
    ----------
    index_ : KernelIndex
        The index of the rows of ``fit``.
    graph_ : sparse matrix of shape (n_samples, n_samples)
        The links among these rows; each has one to itself.
    n_samples_fit_ : int
        How many rows these are.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import scale
    >>> from kernel_learn import InductiveKernel
    >>> from kernel_learn.neighbors import KernelIndex
    >>> X, y = load_wine(return_X_y=True)
    >>> X = scale(X)
    >>> model = InductiveKernel(regularizer="trace", random_state=0).fit(X[::2], y[::2])
    >>> graph = KernelIndex(model).graph(5)
    >>> knn = make_pipeline(graph, KNeighborsClassifier(5, metric="precomputed"))
    >>> print(f"{knn.fit(X[::2], y[::2]).score(X[1::2], y[1::2]):.2f}")
    0.99
    """

    _parameters: ClassVar = {"n_neighbors": COUNT, "mode": choice("distance", "connectivity")}

    def __init__(
        self, index: KernelIndex, *, n_neighbors: int = 10, mode: str = "distance"
    ) -> None:
        self.index = index
        self.n_neighbors = n_neighbors
        self.mode = mode

    @all_or_nothing
    def fit(self, X: RowsLike, y: object = None) -> Self:
        """Index the rows X, which links lead to.

        Parameters
        ----------
        X : rows as the model's fit takes them
            What is linked to.
        y : ignored
            For scikit-learn's pipelines.

        Returns
        -------
        self
        """
        return self._on(clone(self.index).fit(X))

    def transform(self, X: RowsLike) -> sparse.csr_matrix:
        """The links from rows X to those of ``fit``.

        Parameters
        ----------
        X : rows as at fit
            Whose links.

        Returns
        -------
        graph : sparse matrix of shape (n_rows, n_samples_fit_)
            Sorted by distance in each row.
        """
        check_is_fitted(self, "index_")
        return self._sparse(*self.index_.query(X, self._n_links()))

    def fit_transform(self, X: RowsLike, y: object = None) -> sparse.csr_matrix:
        """The links among the rows X, each first to itself.

        Parameters
        ----------
        X : rows as the model's fit takes them
            What is linked.
        y : ignored
            For scikit-learn's pipelines.

        Returns
        -------
        graph : sparse matrix of shape (n_samples, n_samples)
            Sorted by distance in each row.
        """
        return self.fit(X).graph_

    @property
    def graph_(self) -> sparse.csr_matrix:
        """The links among the rows of ``fit``."""
        check_is_fitted(self, "index_")
        found = self.index_._nearest(self.index_.features_, self._n_links())
        distances, rows = without_self(*found)
        own = np.arange(len(rows))[:, None]
        return self._sparse(np.hstack([0.0 * own, distances]), np.hstack([own, rows]))

    @property
    def n_samples_fit_(self) -> int:
        """How many rows links lead to."""
        return len(self.index_.features_)

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def _on(self, index: KernelIndex) -> Self:
        check_parameters(self)
        self.index_ = index
        if hasattr(index, "n_features_in_"):
            self.n_features_in_ = index.n_features_in_
        return self

    def _n_links(self) -> int:
        n = self.n_samples_fit_
        k = self.index_._checked(self.n_neighbors, n)
        return min(k + (self.mode == "distance"), n)

    def _sparse(self, distances: Array, rows: Array) -> sparse.csr_matrix:
        data = distances if self.mode == "distance" else np.ones_like(distances)
        ends = np.arange(len(rows) + 1) * rows.shape[1]
        shape = (len(rows), self.n_samples_fit_)
        return sparse.csr_matrix((data.ravel(), rows.ravel(), ends), shape=shape)


def without_self(distances: Array, rows: Array) -> tuple[Array, Array]:
    """The k nearest others from the k + 1 nearest: without the row, or without the last."""
    own = rows == np.arange(len(rows))[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(rows), rows.shape[1] - 1)
    return distances[~own].reshape(shape), rows[~own].reshape(shape)
