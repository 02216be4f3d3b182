"""What compiled code trusts, and loops that must end: checks of whole objects, by type."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.interop.errors import WrongStateError
from kernel_learn.rows.access import is_sparse

Held = Any  # an object as a file has filled it: nothing is known of its attributes
PLAIN_METRICS = frozenset(
    ("chebyshev", "cityblock", "cosine", "euclidean", "l1", "l2", "manhattan", "minkowski")
)


def need(holds: bool, words: str) -> None:
    """Refuse what does not hold."""
    if not holds:
        raise WrongStateError(words)


def check_support_vectors(machine: Held) -> None:
    """LIBSVM reads ``_n_support[c]`` vectors of class c and a coefficient of each, unasked.

    For k classes: sum of counts = vectors, (k - 1, vectors) coefficients, k (k - 1) / 2 intercepts,
    as many numbers for probabilities or none; a given kernel is read at the positions of vectors.
    """
    name = type(machine).__name__
    k = len(machine.classes_)
    counts, support = np.asarray(machine._n_support), np.asarray(machine.support_)
    need(counts.dtype.kind in "iu" and support.dtype.kind in "iu", f"{name} counts in fractions")
    need(counts.shape == (k,) and bool((counts >= 0).all()), f"{name}._n_support is not by class")
    s, pairs = int(counts.sum()), k * (k - 1) // 2
    need(support.shape == (s,), f"{name} has {len(support)} support vectors, and {s} are counted")
    for attribute in ("_dual_coef_", "dual_coef_"):
        coef = getattr(machine, attribute)
        need(coef.shape == (k - 1, s), f"{name}.{attribute} has the shape {coef.shape}")
        need(all_finite(coef), f"{name}.{attribute} holds entries that are not finite")
    need(machine._intercept_.shape == (pairs,), f"{name} has intercepts of other classes")
    need(machine._probA.shape in ((0,), (pairs,)), f"{name} has probabilities of other classes")
    need(machine._probA.shape == machine._probB.shape, f"{name}._probA and _probB differ")
    shape, is_given = machine.shape_fit_, machine.kernel == "precomputed"
    n = int(shape[0])
    need(bool(((support >= 0) & (support < n)).all()), f"{name}.support_ is out of range")
    need(is_given or machine.support_vectors_.shape[0] == s, f"{name} lacks support vectors")
    width = machine.support_vectors_.shape[1]
    need(is_given or width == machine.n_features_in_, f"{name} has vectors of other columns")
    need(not is_given or machine.n_features_in_ == n, f"{name} was fitted on another matrix")
    need(is_sane_csr(machine.support_vectors_), f"{name}.support_vectors_ is damaged")
    need(machine._sparse in (True, False), f"{name} does not say whether its rows are sparse")
    need(machine._sparse == is_sparse(machine.support_vectors_), f"{name} mixes its rows")
    need(isinstance(machine._gamma, int | float), f"{name} has no width")


def all_finite(values: Held) -> bool:
    """Of an array or a sparse matrix."""
    entries = values.data if is_sparse(values) else values
    return bool(np.isfinite(entries).all())


def is_sane_csr(values: Held) -> bool:
    """Whether a sparse matrix stays within itself; arrays do."""
    return not is_sparse(values) or int(values.indptr[-1]) == len(values.indices)


def check_neighbours(model: Held) -> None:
    """Rows compared with all rows: trees are compiled code that trusts its nodes."""
    name = type(model).__name__
    need(getattr(model, "_tree", None) is None, f"{name} holds a tree")
    need(model._fit_method == "brute", f"{name} was not fitted with algorithm='brute'")
    need(str(model.effective_metric_) in PLAIN_METRICS, f"{name} has an unknown metric")
    extra = model.effective_metric_params_
    need(set(extra) <= {"p"}, f"{name} has parameters of another metric")
    n = model._fit_X.shape[0]
    need(model.n_samples_fit_ == n, f"{name} counts {model.n_samples_fit_} rows and has {n}")
    need(is_sane_csr(model._fit_X), f"{name}._fit_X is damaged")


def check_one_hot(encoder: Held) -> None:
    """Columns of a sparse matrix are filled by the counts of levels, and read as they are."""
    for i, levels in enumerate(encoder.categories_):
        groups = getattr(encoder, "_default_to_infrequent_mappings", [None] * (i + 1))[i]
        count = len(levels)
        if groups is not None:
            groups = np.asarray(groups)
            need(groups.shape == (count,), "OneHotEncoder groups other levels")
            need(groups.dtype.kind in "iu" and bool((groups >= 0).all()), "OneHotEncoder groups")
            count = int(groups.max()) + 1
        dropped = encoder._drop_idx_after_grouping
        count -= dropped is not None and dropped[i] is not None
        held = encoder._n_features_outs[i]
        need(held == count, f"OneHotEncoder has {held} columns for {count} levels")
    features = encoder.n_features_in_
    need(len(encoder.categories_) == features, "OneHotEncoder has levels of other columns")
    need(len(encoder._n_features_outs) == features, "OneHotEncoder counts other columns")


def check_ordinal(encoder: Held) -> None:
    """Levels of each column."""
    need(len(encoder.categories_) == encoder.n_features_in_, "OrdinalEncoder lacks columns")


def check_vocabulary(vectorizer: Held) -> None:
    """Words are columns of a sparse matrix: each has one, and there is none beyond them."""
    words = getattr(vectorizer, "vocabulary_", {})
    places = sorted(int(place) for place in words.values())
    need(places == list(range(len(words))), "The words of a vectorizer share columns")
    idf = getattr(getattr(vectorizer, "_tfidf", None), "idf_", None)
    need(idf is None or len(idf) == len(words), "A vectorizer has weights of other words")


def check_linear_classifier(model: Held) -> None:
    """One row of coefficients for two classes, else one for each."""
    due = (1,) if len(model.classes_) == 2 else (len(model.classes_),)
    held = np.shape(model.intercept_) or due  # one number where there is no intercept
    need(held == due, f"{type(model).__name__} has machines of other classes")
    need(len(model.coef_) == due[0], f"{type(model).__name__} has coefficients of other classes")


def check_machines(model: Held) -> None:
    """One machine for two classes, else one for each."""
    rows = 1 if len(model.classes_) == 2 else len(model.classes_)
    need(len(model.intercept_) == rows, f"{type(model).__name__} has machines of other classes")


def check_linear_regression(model: Held) -> None:
    """Coefficients of the columns there are."""
    coef, name = np.asarray(model.coef_), type(model).__name__
    need(coef.shape[-1] == model.n_features_in_, f"{name} has coefficients of other columns")
    need(all_finite(coef) and all_finite(np.asarray(model.intercept_)), f"{name} is not finite")


def check_tree(tree: Held) -> None:
    """A path from the root ends: a child stands after its parent, and each leaf is one of them."""
    nodes = len(tree.thresholds)
    seen: list[Array] = []
    for children in (tree.below, tree.above):
        need(children.dtype.kind in "iu", "Tree has children that are no positions")
        inner = children >= 0
        own = np.arange(nodes)
        need(bool((children[inner] > own[inner]).all()), "Tree leads back to where it came from")
        seen.append(children)
    children = np.sort(np.concatenate(seen)) if nodes else np.array([-1])
    due = np.r_[np.arange(-nodes - 1, 0), np.arange(1, nodes)]
    need(np.array_equal(children, due), "Tree has nodes that are not there")


def check_forest(forest: Held) -> None:
    """As many leaves with rows as each tree has, all of which are training rows."""
    need(len(forest.trees) == len(forest.leaf_rows), "Forest has leaves of other trees")
    for tree, leaves in zip(forest.trees, forest.leaf_rows, strict=True):
        need(len(leaves) == tree.n_leaves, "Forest has rows of leaves that are not there")
        for rows in leaves:
            need(rows.dtype.kind in "iu" and bool((rows >= 0).all()), "Forest has bad positions")


def check_combination(kernel: Held) -> None:
    """A weight for each kernel."""
    need(
        kernel.weights is None or len(kernel.weights) == len(kernel.kernels),
        "Combination has weights of other kernels",
    )


def check_stacked(kernel: Held) -> None:
    """A block of coefficients for each kernel."""
    count = len(kernel.kernel.kernels) * kernel.landmarks.shape[0]
    need(len(kernel.coef) == count, "StackedSubspaceKernel has coefficients of other rows")


def check_table(table: Held) -> None:
    """Every column is in one of the two parts."""
    inside = table.numbers.shape[1] + table.others.shape[1]
    need(len(table.place) == inside, "Table places other columns than it has")
    need(table.names is None or len(table.names) == inside, "Table names other columns")


def check_levels(encoder: Held) -> None:
    """Texts of each category."""
    need(len(encoder.levels) == len(encoder.categories), "TableReader has levels of other columns")


def check_read_rows(rows: Held) -> None:
    """The table is one of the reader's columns."""
    numbers, others = len(rows.reader.numbers), len(rows.reader.categories)
    need(rows.table.numbers.shape[1] == numbers, "ReadRows has numbers of other columns")
    need(rows.table.others.shape[1] == others, "ReadRows has categories of other columns")


CHECKS: Mapping[str, Callable[[Held], None]] = MappingProxyType(
    {
        "kernel_learn.ensemble.trees.Forest": check_forest,
        "kernel_learn.ensemble.trees.Tree": check_tree,
        "kernel_learn.estimators.expansion.ExpansionSVC": check_machines,
        "kernel_learn.estimators.multi_kernel_svc.MultiKernelSVC": check_machines,
        "kernel_learn.estimators.subspace_svc.SubspaceSVC": check_machines,
        "kernel_learn.kernels.bank.Combination": check_combination,
        "kernel_learn.kernels.bank.StackedSubspaceKernel": check_stacked,
        "kernel_learn.rows.columns.ReadRows": check_read_rows,
        "kernel_learn.rows.columns.TableReader": check_levels,
        "kernel_learn.rows.table.Table": check_table,
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": check_linear_classifier,
        "sklearn.feature_extraction.text.CountVectorizer": check_vocabulary,
        "sklearn.feature_extraction.text.TfidfVectorizer": check_vocabulary,
        "sklearn.linear_model._base.LinearRegression": check_linear_regression,
        "sklearn.linear_model._logistic.LogisticRegression": check_linear_classifier,
        "sklearn.linear_model._logistic.LogisticRegressionCV": check_linear_classifier,
        "sklearn.linear_model._ridge.Ridge": check_linear_regression,
        "sklearn.linear_model._ridge.RidgeCV": check_linear_regression,
        "sklearn.neighbors._classification.KNeighborsClassifier": check_neighbours,
        "sklearn.neighbors._regression.KNeighborsRegressor": check_neighbours,
        "sklearn.neighbors._unsupervised.NearestNeighbors": check_neighbours,
        "sklearn.preprocessing._encoders.OneHotEncoder": check_one_hot,
        "sklearn.preprocessing._encoders.OrdinalEncoder": check_ordinal,
        "sklearn.svm._classes.LinearSVC": check_linear_classifier,
        "sklearn.svm._classes.NuSVC": check_support_vectors,
        "sklearn.svm._classes.SVC": check_support_vectors,
    }
)
