"""Bad input, as one table: each case is refused in a sentence that names what is wrong.

``refusals.judge`` says what a refusal may be: an error raised by a line of this package, or by
scikit-learn's own checks called from one. Whatever is answered is finite, and right: input of an
odd type gives the answer of the same numbers as an ordinary array.
"""

import datetime
import inspect
from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

import kernel_learn as kl
from refusals import N, X, Y, changed, refuse

ROWS, SAME = np.arange(N).reshape(N // 2, 2), np.arange(N // 2) % 2 == 0

ESTIMATORS = {
    name: getattr(kl, name)
    for name in kl.__all__
    if inspect.isclass(getattr(kl, name)) and issubclass(getattr(kl, name), BaseEstimator)
    if name != "TableEncoder"  # it takes texts and holes, and no labels
}


def takes(method, parameter):
    return parameter in inspect.signature(method).parameters


LABELLED = sorted(set(ESTIMATORS) - {"PairClassifier"})
WEIGHTED = [
    n for n in LABELLED if "sample_weight" in inspect.signature(ESTIMATORS[n].fit).parameters
]
CLASSES_ONLY = sorted(set(LABELLED) - {"KernelPLSRegressor", "KernelRegressor"})
TABLES = ("KernelClassifier", "KernelRegressor")
LANDMARKED = [name for name in LABELLED if takes(ESTIMATORS[name], "landmarks")]


def make(name, **options):
    """A quick and reproducible estimator of a class."""
    options |= {"quality": "fast"} if name in TABLES else {}
    model = ESTIMATORS[name](**options)
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def answers(model, A):
    """Everything that a fitted model says of some rows."""
    names = ("predict", "predict_proba", "decision_function", "transform")
    return [getattr(model, name)(A) for name in names if hasattr(model, name)]


def fit(model, A=X, y=Y, **options):
    if isinstance(model, kl.PairClassifier):
        return model.fit(A, ROWS, SAME)
    return model.fit(A, y, **options)


def sparse_with(**parts):
    A = sparse.csr_matrix(X)
    for name, values in parts.items():
        setattr(A, name, values(getattr(A, name).copy()))
    return A


def put(place, value):
    def change(values):
        values[place] = value
        return values

    return change


class Opaque:
    """Has a shape, and nothing to read."""

    shape = (N, 3)

    def __len__(self):
        return N

    def __deepcopy__(self, memo):
        return self


# Rows that every estimator refuses: the words of the sentence.
BAD_ROWS = {
    "minus infinity": (lambda: changed(-np.inf), "inf"),
    "infinity": (lambda: changed(np.inf), "inf"),
    "no rows": (lambda: X[:0], r"0 (sample|rows)"),
    "no columns": (lambda: X[:, :0], r"0 feature"),
    "one dimension": (lambda: X[:, 0], rf"2D array, got 1D array of shape \({N},\) instead"),
    "one dimension, a list": (lambda: X[:, 0].tolist(), "2D array, got 1D array of shape"),
    "four dimensions": (lambda: X[:, :, None, None], r"dim 4|4D|2-D"),
    "a number": (lambda: 3.0, "2D|scalar|single"),
    "an array of one number": (lambda: np.array(3.0), "2D|scalar|single"),
    "an array of one text": (lambda: np.array("abc"), "2D|scalar|not a number"),
    "a text": (lambda: "abc", "str"),
    "bytes": (lambda: b"abc", "bytes"),
    "a set": (lambda: {1, 2, 3}, "set"),
    "a dict": (lambda: {"a": [1.0] * N}, "dict"),
    "None": (lambda: None, "2D|scalar|single|None"),
    "an object": (Opaque, "Opaque"),
    "ragged": (lambda: [[1.0, 2.0], [1.0]] * (N // 2), "rectangle|lengths"),
    "complex": (lambda: X + 1j, "[Cc]omplex"),
    "an entry that is a list": (lambda: changed([1, 2], at=(0, 0), dtype=object), "list"),
    "an entry that is a dict": (lambda: changed({"a": 1}, at=(0, 0), dtype=object), "dict"),
    "an entry without end": (lambda: changed(10**400, dtype=object), "floating-point|large"),
    "dates": (lambda: np.zeros((N, 3), "datetime64[s]"), "dates or times"),
    "durations": (lambda: np.ones((N, 3), "timedelta64[s]"), "dates or times"),
    "a structured array": (lambda: np.zeros(N, dtype=[("a", float)]), "structured"),
    "masked entries": (lambda: np.ma.masked_array(X, mask=X > 1), "masked"),
    "np.matrix": (lambda: X.view(np.matrix), "np.matrix"),
    "numbers without squares": (lambda: 1e200 * X, "squares of such numbers are infinite"),
    "numbers that vanish": (lambda: 1e-200 * X, "squares of such numbers are zero"),
    "a sparse matrix with NaN": (lambda: sparse_with(data=put(0, np.nan)), "NaN"),
    "a damaged sparse matrix": (lambda: sparse_with(indices=put(0, 7)), "damaged"),
    "a sparse column": (lambda: sparse.coo_array(X[:, 0]), "sparse array of shape"),
    "constant rows": (lambda: np.ones_like(X), "zero variance"),
    "rows of zeros": (lambda: np.zeros_like(X), "zero variance"),
    "an empty sparse matrix": (lambda: sparse.csr_matrix((N, 3)), "zero variance"),
}
# Models of tables take these: text is a category, NaN a hole, several tables are views.
BAD_NUMBERS = {
    "NaN": (lambda: changed(np.nan), "NaN"),
    "None as an entry": (lambda: changed(None, dtype=object), "NaN"),
    "text as an entry": (
        lambda: changed("a", dtype=object),
        r"'a' in row 3, column 1.*not a number",
    ),
    "texts": (lambda: np.array([["a", "b"]] * N), "not a number"),
    "float32 without squares": (
        lambda: (1e30 * X).astype(np.float32),
        "squares of such numbers are infinite in float32",
    ),
    "float32 that vanishes": (
        lambda: (1e-30 * X).astype(np.float32),
        "squares of such numbers are zero in float32",
    ),
    "different tables": (lambda: [X[:, :1], X[:, 1:]], "list of tables of the shapes"),
}


@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.parametrize("case", BAD_ROWS)
def test_rows_that_no_estimator_takes(name, case):
    given, words = BAD_ROWS[case]
    A, model = given(), make(name)
    refuse(lambda: fit(model, A), words, model=model, inputs=(A, Y))


@pytest.mark.parametrize("name", sorted(set(LABELLED) - set(TABLES)))
@pytest.mark.parametrize("case", BAD_NUMBERS)
def test_rows_that_are_no_numbers(name, case):
    given, words = BAD_NUMBERS[case]
    A, model = given(), make(name)
    refuse(lambda: fit(model, A), words, model=model, inputs=(A, Y))


BAD_LABELS = {
    "None": (lambda: None, "y is None|no labels"),
    "too few": (lambda: Y[:-1], rf"{N - 1}"),
    "too many": (lambda: np.append(Y, 0), rf"{N + 1}"),
    "none at all": (lambda: Y[:0], r"\b0\b|empty"),
    "NaN": (lambda: np.where(Y == 0, np.nan, Y), "NaN"),
    "infinity": (lambda: np.where(Y == 0, np.inf, Y), "inf"),
    "a number": (lambda: 1, "1d array|1 dimension|scalar|sequence"),
    "a text": (lambda: "abc", "str|inconsistent"),
    "a dict": (lambda: dict(enumerate(Y)), "dict"),
    "three dimensions": (lambda: Y[:, None, None], "dim 3"),
    "ragged": (lambda: [[1], [2, 3], []] * (N // 3), "rectangle|lengths"),
    "complex": (lambda: Y + 1j, "[Cc]omplex"),
    "masked": (lambda: np.ma.masked_array(Y, mask=Y == 0), "masked"),
    "sparse": (lambda: sparse.csr_matrix(Y[:, None]), "[Ss]parse"),
    "bytes": (lambda: np.array([b"a", b"b", b"c"])[Y], "bytes|not a number"),
    "texts, None": (lambda: np.array(["a", "b", None], object)[Y], "NaN|not a number|missing"),
    "huge numbers": (lambda: np.where(Y == 0, 1e300, Y), "1e"),
}
BAD_CLASSES = {
    "one class": (lambda: np.zeros(N), "1 class"),
    "real numbers": (lambda: X[:, 0], r"continuous.* in row 0.*KernelRegressor"),
    "several labels": (lambda: np.eye(3, dtype=int)[Y], "several labels per row"),
    "several regressions": (lambda: X[:, :2], "several labels per row"),
    "texts and numbers": (lambda: np.array(["a", 1, 2], object)[Y], "mixes labels"),
    "objects of bytes": (lambda: np.array([b"a", b"b", b"c"], object)[Y], "bytes"),
    "decimals": (lambda: np.array([Decimal(1), Decimal(2)], object)[Y % 2], "Decimal"),
    "dates": (lambda: np.array([datetime.date(2020, 1, d) for d in (1, 2)], object)[Y % 2], "date"),
    "a structured array": (lambda: np.zeros(N, dtype=[("a", int)]), "structured"),
    "integers beyond all types": (lambda: np.array([10**30, 1], object)[Y % 2], "int"),
}
# Some learn from rows without a label too, or from several labels per row, in lists or 0 and 1.
TAKEN = {
    "InductiveKernel": {"NaN", "texts, None"},
    "KernelClassifier": {"ragged", "several labels"},
}


def of_classes(model):
    """The model, which is told that y are classes if it knows other targets too."""
    knows_others = "target_type" in model.get_params(deep=False)
    return model.set_params(target_type="classes") if knows_others else model


@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.parametrize("case", BAD_LABELS)
def test_labels_that_no_estimator_takes(name, case):
    if case in TAKEN.get(name, ()):
        pytest.skip("these are labels to it")
    given, words = BAD_LABELS[case]
    y, model = given(), make(name)
    model = of_classes(model) if case == "ragged" else model  # else they are sets of labels
    refuse(lambda: fit(model, X, y), words, model=model, inputs=(X, y))


@pytest.mark.parametrize("name", CLASSES_ONLY)
@pytest.mark.parametrize("case", BAD_CLASSES)
def test_labels_that_are_no_classes(name, case):
    if case in TAKEN.get(name, ()):
        pytest.skip("these are labels to it")
    given, words = BAD_CLASSES[case]
    y, model = given(), of_classes(make(name))
    refuse(lambda: fit(model, X, y), words, model=model, inputs=(X, y))


BAD_WEIGHTS = {
    "negative": (np.where(Y == 0, -1.0, 1.0), "negative"),
    "NaN": (np.where(Y == 0, np.nan, 1.0), "NaN"),
    "infinite": (np.where(Y == 0, np.inf, 1.0), "inf"),
    "zero": (np.zeros(N), "zero"),
    "too few": (np.ones(N - 1), "shape"),
    "two columns": (np.ones((N, 2)), "shape"),
    "texts": (["a"] * N, "'a' in row 0"),
    "a word": ("balanced", "sample_weight is a str"),
    "a dict": ({0: 1.0}, "sample_weight is a dict"),
    "complex": (np.ones(N) + 1j, "[Cc]omplex"),
    "ragged": ([[1.0], [1.0, 2.0]] * (N // 2), "rectangle|lengths"),
    "masked": (np.ma.masked_array(np.ones(N), mask=Y == 0), "masked"),
    "dates": (np.zeros(N, "datetime64[s]"), "dates or times"),
}


@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_weights(name, case):
    weight, words = BAD_WEIGHTS[case]
    model = make(name)
    refuse(lambda: fit(model, sample_weight=weight), words, model=model, inputs=(X, Y, weight))


BAD_LANDMARKS = {
    "out of range": ([0, 99], f"0 to 99.*{N} rows"),
    "negative": ([-1, 0], "-1 to 0"),
    "a mask": (Y == 0, "flatnonzero"),
    "none": ([], "no rows"),
    "no rows": (np.empty((0, 3)), "no rows"),
    "rows with NaN": (np.full((5, 3), np.nan), "landmarks has rows with NaN"),
    "rows with infinity": (np.full((5, 3), np.inf), "landmarks has rows with NaN or inf"),
    "other columns": (X[:5, :2], r"landmarks has the shape \(5, 2\)"),
    "one row": (X[0], "landmarks has the shape"),
    "texts": (["a", "b"], "landmarks"),
    "ragged": ([[0.0, 1.0], [2.0]], "landmarks is a list that is no rectangle"),
    "complex": (X[:5] + 1j, "complex"),
    "huge": (1e200 * X[:5], "landmarks has values"),
    "a dict": ({0: 1}, "not a count, a rule, or rows"),
    "an unknown rule": ("best", "not known"),
}


@pytest.mark.parametrize("name", LANDMARKED)
@pytest.mark.parametrize("case", BAD_LANDMARKS)
def test_landmarks(name, case):
    landmarks, words = BAD_LANDMARKS[case]
    loss = {"loss": "squared_hinge"} if name == "MultiKernelSVC" else {}
    model = make(name, landmarks=landmarks, **loss)
    refuse(lambda: fit(model), words, model=model, inputs=(X, Y, landmarks))
