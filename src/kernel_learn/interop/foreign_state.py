"""What compiled code of others trusts: checks of whole objects of scikit-learn, by type."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from kernel_learn.interop.errors import WrongStateError
from kernel_learn.rows.access import is_sparse

Held = Any  # an object as a file has filled it: nothing is known of its attributes
KERNELS = frozenset(("linear", "poly", "precomputed", "rbf", "sigmoid"))
MOST_DEGREE = 1000
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
        need(coef.dtype == np.float64 and all_finite(coef), f"{name}.{attribute} is not finite")
        entries = coef.data.size if is_sparse(coef) else s * (k - 1)  # zeros are stored, too
        need(entries == s * (k - 1), f"{name}.{attribute} lacks coefficients")
    need(machine._intercept_.shape == (pairs,), f"{name} has intercepts of other classes")
    need(machine._probA.shape in ((0,), (pairs,)), f"{name} has probabilities of other classes")
    need(machine._probA.shape == machine._probB.shape, f"{name}._probA and _probB differ")
    for attribute in ("probability", "_effective_probability"):
        is_asked = getattr(machine, attribute, False) not in (False, "deprecated")
        need(not is_asked or machine._probA.shape == (pairs,), f"{name} lacks its probabilities")
    need(str(machine.kernel) in KERNELS, f"{name} has the kernel {machine.kernel!r}")
    shape, is_given = machine.shape_fit_, machine.kernel == "precomputed"
    n = int(shape[0])
    need(bool(((support >= 0) & (support < n)).all()), f"{name}.support_ is out of range")
    need(is_given or machine.support_vectors_.shape[0] == s, f"{name} lacks support vectors")
    width = machine.support_vectors_.shape[1]
    need(is_given or width == machine.n_features_in_, f"{name} has vectors of other columns")
    need(not is_given or machine.n_features_in_ == n, f"{name} was fitted on another matrix")
    need(is_sane_csr(machine.support_vectors_), f"{name}.support_vectors_ is damaged")
    need(all_finite(machine.support_vectors_), f"{name}.support_vectors_ are not finite")
    need(machine._sparse in (True, False), f"{name} does not say whether its rows are sparse")
    need(machine._sparse == is_sparse(machine.support_vectors_), f"{name} mixes its rows")
    for attribute in ("_gamma", "coef0", "degree"):
        need_number(getattr(machine, attribute), f"{name}.{attribute}")
    need(abs(machine.degree) < MOST_DEGREE, f"{name} has the degree {machine.degree}")


def need_number(value: Held, where: str) -> None:
    """One finite number."""
    is_number = isinstance(value, int | float | np.number) and bool(np.isfinite(value))
    need(is_number, f"{where} is no finite number")


def all_finite(values: Held) -> bool:
    """Of an array or a sparse matrix."""
    entries = values.data if is_sparse(values) else values
    return bool(np.isfinite(entries).all())


def is_sane_csr(values: Held) -> bool:
    """Whether a sparse matrix stays within itself, each row in ascending order; arrays do."""
    return not is_sparse(values) or (
        values.format == "csr"
        and int(values.indptr[-1]) == len(values.indices)
        and bool(values.has_sorted_indices)
    )


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
    classes = getattr(model, "classes_", np.empty(0))
    need(len(set(classes.tolist())) == len(classes), f"{name} has one class twice")


def check_one_hot(encoder: Held) -> None:
    """Columns of a sparse matrix are filled by the counts of levels, and read as they are."""
    check_encoder_levels(encoder)
    for i, levels in enumerate(encoder.categories_):
        groups = getattr(encoder, "_default_to_infrequent_mappings", [None] * (i + 1))[i]
        count = len(levels)
        if groups is not None:
            count = int(np.max(groups)) + 1
        dropped = encoder._drop_idx_after_grouping
        count -= dropped is not None and dropped[i] is not None
        held = encoder._n_features_outs[i]
        need(held == count, f"OneHotEncoder has {held} columns for {count} levels")
    counted = len(encoder._n_features_outs)
    need(counted == encoder.n_features_in_, "OneHotEncoder counts other columns")


def check_encoder_levels(encoder: Held) -> None:
    """Numbers are looked up by bisection: a level out of order is a column that is not there."""
    name = type(encoder).__name__
    need(len(encoder.categories_) == encoder.n_features_in_, f"{name} has levels of other columns")
    for levels in encoder.categories_:
        need(isinstance(levels, np.ndarray) and levels.ndim == 1, f"{name} has no list of levels")
        need_ascending(levels, f"The levels of {name}")
    for i, groups in enumerate(getattr(encoder, "_default_to_infrequent_mappings", ())):
        if groups is not None:
            groups, count = np.asarray(groups), len(encoder.categories_[i])
            is_whole = groups.shape == (count,) and groups.dtype.kind in "iu"
            need(is_whole and bool((groups >= 0).all()), f"{name} groups other levels")
            need(np.size(encoder._infrequent_indices[i]) > 0, f"{name} groups no levels")


def need_ascending(levels: Held, where: str) -> None:
    """Numbers, each larger than the one before; a missing one stands last."""
    if levels.dtype.kind in "fiub":
        known = levels[:-1] if levels.size and levels[-1] != levels[-1] else levels
        need(bool((known[1:] > known[:-1]).all()), f"{where} are not in ascending order")


def check_label_levels(encoder: Held) -> None:
    """Labels are looked up by bisection, too."""
    need_ascending(np.asarray(encoder.classes_), f"The labels of {type(encoder).__name__}")


def check_vocabulary(vectorizer: Held) -> None:
    """Words are columns of a sparse matrix: each has one, and there is none beyond them."""
    words = getattr(vectorizer, "vocabulary_", {})
    places = sorted(int(place) for place in words.values())
    need(places == list(range(len(words))), "The words of a vectorizer share columns")
    idf = getattr(getattr(vectorizer, "_tfidf", None), "idf_", None)
    need(idf is None or len(idf) == len(words), "A vectorizer has weights of other words")


def check_linear_classifier(model: Held) -> None:
    """One row of coefficients for two classes, else one for each."""
    name = type(model).__name__
    due = (1,) if len(model.classes_) == 2 else (len(model.classes_),)
    coef = np.atleast_2d(model.coef_)  # one row of RidgeClassifier is a vector
    need(coef.shape == (*due, model.n_features_in_), f"{name} has coefficients of other classes")
    check_intercept(model, due)


def check_intercept(model: Held, due: tuple[int, ...]) -> None:
    """As many as there are machines, or zero where there is none."""
    intercept, name = np.asarray(model.intercept_), type(model).__name__
    is_none = intercept.shape == () and intercept == 0
    need(is_none or intercept.shape == due, f"{name} has machines of other classes")


def check_components(model: Held) -> None:
    """As many components as were asked for: encoders of skrub name a column after each."""
    held = len(model.components_)
    need(held == model.n_components, f"{type(model).__name__} has {held} components")


def check_linear_regression(model: Held) -> None:
    """Coefficients of the columns there are."""
    coef, name = np.asarray(model.coef_), type(model).__name__
    need(coef.shape[-1] == model.n_features_in_, f"{name} has coefficients of other columns")
    need(coef.ndim in (1, 2) and coef.dtype.kind == "f", f"{name} has no coefficients")
    check_intercept(model, coef.shape[:-1])
    need(all_finite(coef) and all_finite(np.asarray(model.intercept_)), f"{name} is not finite")


def check_calibrated(model: Held) -> None:
    """A curve for each class, one for two classes or for a temperature."""
    curves = model.calibrators
    due = 1 if len(model.classes) == 2 or hasattr(curves[0], "beta_") else len(model.classes)
    need(len(curves) == due, "CalibratedClassifierCV has curves of other classes")


def check_calibration(model: Held) -> None:
    """Models of the same classes."""
    need(len(model.calibrated_classifiers_) > 0, "CalibratedClassifierCV has no models")
    for own in model.calibrated_classifiers_:
        is_same = np.array_equal(own.classes, model.classes_)
        need(is_same, "CalibratedClassifierCV has models of other classes")


def check_discriminant(model: Held) -> None:
    """Directions for all components that are given out."""
    check_linear_classifier(model)
    held = model.scalings_.shape[1] if hasattr(model, "scalings_") else len(model.classes_)
    is_whole = model._n_features_out == model._max_components <= held
    need(is_whole, "LinearDiscriminantAnalysis lacks directions")


def check_weights_of_words(model: Held) -> None:
    """Without its weights the transformer would count words and say nothing."""
    need(not model.use_idf or hasattr(model, "idf_"), "TfidfTransformer lacks its weights")


def check_bayes(model: Held) -> None:
    """Variances by which something can be divided, shares that add up."""
    need(bool((model.var_ > 0).all()), "GaussianNB has variances that are not positive")
    need(bool((model.class_prior_ >= 0).all()), "GaussianNB has negative shares")
    need(bool(np.isclose(model.class_prior_.sum(), 1)), "GaussianNB has shares that do not add up")


def check_members(model: Held) -> None:
    """The models that were asked for, each fitted."""
    asked = [own for _, own in model.estimators if not isinstance(own, str) or own != "drop"]
    name = type(model).__name__
    need(len(model.estimators_) == len(asked), f"{name} has {len(model.estimators_)} models")
    methods = getattr(model, "stack_method_", model.estimators_)
    need(len(methods) == len(asked), f"{name} asks other models than it has")


def check_column_steps(model: Held) -> None:
    """Transformers that were fitted to the columns they are given."""
    for _, step, columns in model.transformers_:
        due = getattr(step, "n_features_in_", None)
        if due is not None and isinstance(columns, list):
            need(len(columns) == due, "ColumnTransformer gives a step other columns")
            places = [column for column in columns if isinstance(column, int)]
            below = all(-model.n_features_in_ <= place < model.n_features_in_ for place in places)
            need(below, "ColumnTransformer has columns that are not there")
    named = len(model.transformers) + (len(model._remainder[2]) > 0)
    need(len(model.transformers_) in (len(model.transformers), named), "ColumnTransformer was cut")


CHECKS: Mapping[str, Callable[[Held], None]] = MappingProxyType(
    {
        "sklearn.calibration.CalibratedClassifierCV": check_calibration,
        "sklearn.calibration._CalibratedClassifier": check_calibrated,
        "sklearn.compose._column_transformer.ColumnTransformer": check_column_steps,
        "sklearn.decomposition._truncated_svd.TruncatedSVD": check_components,
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": check_discriminant,
        "sklearn.ensemble._stacking.StackingClassifier": check_members,
        "sklearn.ensemble._stacking.StackingRegressor": check_members,
        "sklearn.ensemble._voting.VotingClassifier": check_members,
        "sklearn.ensemble._voting.VotingRegressor": check_members,
        "sklearn.feature_extraction.text.CountVectorizer": check_vocabulary,
        "sklearn.feature_extraction.text.TfidfTransformer": check_weights_of_words,
        "sklearn.feature_extraction.text.TfidfVectorizer": check_vocabulary,
        "sklearn.linear_model._base.LinearRegression": check_linear_regression,
        "sklearn.linear_model._logistic.LogisticRegression": check_linear_classifier,
        "sklearn.linear_model._logistic.LogisticRegressionCV": check_linear_classifier,
        "sklearn.linear_model._ridge.Ridge": check_linear_regression,
        "sklearn.linear_model._ridge.RidgeCV": check_linear_regression,
        "sklearn.linear_model._ridge.RidgeClassifier": check_linear_classifier,
        "sklearn.naive_bayes.GaussianNB": check_bayes,
        "sklearn.neighbors._classification.KNeighborsClassifier": check_neighbours,
        "sklearn.neighbors._regression.KNeighborsRegressor": check_neighbours,
        "sklearn.neighbors._unsupervised.NearestNeighbors": check_neighbours,
        "sklearn.preprocessing._encoders.OneHotEncoder": check_one_hot,
        "sklearn.preprocessing._encoders.OrdinalEncoder": check_encoder_levels,
        "sklearn.preprocessing._label.LabelBinarizer": check_label_levels,
        "sklearn.preprocessing._label.LabelEncoder": check_label_levels,
        "sklearn.svm._classes.LinearSVC": check_linear_classifier,
        "sklearn.svm._classes.NuSVC": check_support_vectors,
        "sklearn.svm._classes.SVC": check_support_vectors,
    }
)
