"""Calls that are wrong in themselves: parameters, kernels, columns, frames, functions, files."""

from functools import cache

import numpy as np
import pytest

import kernel_learn as kl
from extras import Missing, optional
from kernel_learn import metrics
from kernel_learn.kernels import (
    ArcCosine,
    ChiSquared,
    ColumnKernel,
    Gaussian,
    Hamming,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    Spectrum,
    Subsequence,
    gaussian_bank,
)
from refusals import N, X, Y, changed, judge, refuse

pd = optional("pandas")

K = Gaussian(0.3)(X)
STACK = np.stack([K, Linear()(X)], axis=2)


def stacked(layers):
    return kl.KernelDiscriminant("precomputed").fit(STACK, Y).predict(layers)


def bank(**kernels):
    return kl.KernelDiscriminant(kernels)


@cache
def frame():
    return pd.DataFrame(X, columns=list("abc"))


@cache
def texts():
    return frame().assign(a=["x", "y", "z"] * (N // 3))


# Each with the words of its refusal: calls that are wrong in themselves.
CALLS = {
    # precomputed kernels
    "stack without layers": (
        lambda: kl.KernelDiscriminant("precomputed").fit(STACK[:, :, :0], Y),
        "no kernel matrices",
    ),
    "stack with a layer missing": (
        lambda: stacked(STACK[:, :, :1]),
        "stack of 1 .* at fit there were 2",
    ),
    "stack with a layer more": (
        lambda: stacked(np.concatenate([STACK, STACK], axis=2)),
        "stack of 4 .* at fit there were 2",
    ),
    "stack with the kernels first": (
        lambda: kl.KernelDiscriminant("precomputed").fit(np.moveaxis(STACK, -1, 0), Y),
        r"kernels first.*moveaxis",
    ),
    "matrix for a stack": (lambda: stacked(K), "do not fit"),
    "layer out of range": (
        lambda: bank(a=Precomputed(layer=0), b=Precomputed(layer=5)).fit(STACK, Y),
        "layers are 0 to 1",
    ),
    "layer that is a text": (
        lambda: bank(a=Precomputed(layer="a")).fit(STACK, Y),
        "layers are 0 to 1",
    ),
    "layer between two": (
        lambda: kl.KernelDiscriminant(Precomputed(layer=0.5)).fit(STACK, Y),
        "layers are 0 to 1",
    ),
    "stack for one kernel": (lambda: kl.KernelRCA("precomputed").fit(STACK, Y), "do not fit"),
    "stack of four dimensions": (
        lambda: kl.KernelDiscriminant("precomputed").fit(STACK[..., None], Y),
        "2-D",
    ),
    "matrix that is not square": (
        lambda: kl.HSICSubspace("precomputed").fit(K[:, :9], Y),
        "square",
    ),
    "matrix that is not symmetric": (
        lambda: kl.HSICSubspace("precomputed").fit(np.triu(K), Y),
        "not symmetric",
    ),
    "matrix with NaN": (
        lambda: kl.HSICSubspace("precomputed").fit(np.where(K == 1, np.nan, K), Y),
        "NaN",
    ),
    "matrix of one number": (
        lambda: kl.HSICSubspace("precomputed").fit(np.ones((N, N)), Y),
        "zero variance",
    ),
    "indefinite matrix, refused": (
        lambda: kl.HSICSubspace(Precomputed("error")).fit(K - np.eye(N), Y),
        "not positive semidefinite",
    ),
    "matrix times 1e-200": (
        lambda: kl.HSICSubspace("precomputed").fit(1e-200 * K, Y),
        "Divide the matrix",
    ),
    "matrix times 1e200": (
        lambda: kl.HSICSubspace("precomputed").fit(1e200 * K, Y),
        "Divide the matrix",
    ),
    "matrix of texts": (
        lambda: kl.HSICSubspace("precomputed").fit(K.astype(str).astype(object) + "a", Y),
        "not a number",
    ),
    "unknown repair": (lambda: kl.HSICSubspace(Precomputed("mend")).fit(K, Y), "psd must be"),
    "new rows of another width": (
        lambda: kl.HSICSubspace("precomputed").fit(K, Y).transform(K[:, :9]),
        "features",
    ),
    # banks
    "bank without kernels": (lambda: kl.HSICSubspace([]).fit(X, Y), "empty bank"),
    "bank with the names 1 and '1'": (
        lambda: kl.HSICSubspace({1: Gaussian(), "1": Linear()}).fit(X, Y),
        "several kernels of the name 1",
    ),
    "bank for one kernel": (
        lambda: kl.KernelNCA([Gaussian(), Linear()]).fit(X, Y),
        "one kernel is needed",
    ),
    "bank of classes": (
        lambda: kl.HSICSubspace([Gaussian, Linear]).fit(X, Y),
        "an instance, not the class",
    ),
    "bank of different rows": (
        lambda: kl.HSICSubspace([Gaussian(), Spectrum(2)]).fit(X, Y),
        "different rows",
    ),
    "weights of another length": (
        lambda: kl.HSICSubspace([Gaussian(), Linear()], weights=[1.0]).fit(X, Y),
        "weights",
    ),
    "weights with NaN": (
        lambda: kl.HSICSubspace([Gaussian(), Linear()], weights=[1.0, np.nan]).fit(X, Y),
        "weights",
    ),
    "negative weights": (
        lambda: kl.HSICSubspace([Gaussian(), Linear()], weights=[1.0, -1.0]).fit(X, Y),
        "weights",
    ),
    "views of different lengths": (
        lambda: kl.KernelDiscriminant([Gaussian(), Linear()]).fit([X, X[:9]], Y),
        "same rows",
    ),
    "views of other widths": (
        lambda: kl.KernelDiscriminant([Gaussian(), Linear()]).fit([X, X], Y).predict([X[:, :2], X]),
        "views with",
    ),
    "more views than kernels": (
        lambda: kl.KernelDiscriminant([Gaussian(), Linear()]).fit([X, X[:, :2], X], Y),
        "tables of the shapes",
    ),
    "views with text": (
        lambda: kl.KernelDiscriminant([Gaussian(), Linear()]).fit(
            [X, changed("a", dtype=object)], Y
        ),
        "not a number",
    ),
    "bank of gaussians, none": (lambda: gaussian_bank(0), "n >= 1"),
    "bank of gaussians, upside down": (lambda: gaussian_bank(3, 2.0, 1.0), "low <= high"),
    "bank of gaussians, NaN": (lambda: gaussian_bank(3, np.nan, 1.0), "low <= high"),
    "bank of gaussians, a half": (lambda: gaussian_bank(2.5), "gaussian_bank"),
    # columns
    "column twice": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), [0, 0])).fit(X, Y),
        "more than once",
    ),
    "column twice by another number": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), [0, -3])).fit(X, Y),
        "more than once",
    ),
    "column twice by name": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), ["a", "a"])).fit(frame(), Y),
        "more than once",
    ),
    "no columns": (lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), [])).fit(X, Y), "no columns"),
    "empty slice": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), slice(2, 2))).fit(X, Y),
        "no columns",
    ),
    "column out of range": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), [7])).fit(X, Y),
        "X has 3 columns",
    ),
    "column of another name": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), "z")).fit(frame(), Y),
        "no columns",
    ),
    "column by name of an array": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), "a")).fit(X, Y),
        "without column names",
    ),
    "column between two": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), [0.5])).fit(X, Y),
        "whole numbers",
    ),
    "column None": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), None)).fit(X, Y),
        "whole numbers",
    ),
    "columns in rows": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), [[0], [1, 2]])).fit(X, Y),
        "columns of ColumnKernel",
    ),
    "column of text": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), "a")).fit(texts(), Y),
        "Column a.*not a number|Column 'a'.*not a number",
    ),
    "column of text, called": (lambda: ColumnKernel(Gaussian(1.0), ["a"])(texts()), "not a number"),
    "column of NaN": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), "a")).fit(frame().assign(a=np.nan), Y),
        "NaN",
    ),
    "column of dates": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), "a")).fit(
            frame().assign(a=pd.Timestamp("2020")), Y
        ),
        "dates",
    ),
    "column of lists": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), "a")).fit(
            frame().assign(a=[[1, 2]] * N), Y
        ),
        "list",
    ),
    "columns of one name": (
        lambda: kl.HSICSubspace(ColumnKernel(Gaussian(), "a")).fit(
            frame().set_axis(list("aab"), axis=1), Y
        ),
        "several columns of one name",
    ),
    "strings from two columns": (
        lambda: kl.HSICSubspace(ColumnKernel(Spectrum(2), ["a", "b"])).fit(texts(), Y),
        "one column",
    ),
    "strings from numbers": (
        lambda: kl.HSICSubspace(ColumnKernel(Spectrum(2), "b")).fit(texts(), Y),
        "string",
    ),
    # frames
    "frame with columns of one name": (
        lambda: kl.HSICSubspace().fit(frame().set_axis(list("aab"), axis=1), Y),
        "several columns of one name",
    ),
    "frame with text": (
        lambda: kl.HSICSubspace().fit(texts(), Y),
        "Column 'a' of X has 'x' in row 0",
    ),
    "frame with categories": (
        lambda: kl.HSICSubspace().fit(texts().astype({"a": "category"}), Y),
        "Column 'a' of X",
    ),
    "frame with dates": (
        lambda: kl.HSICSubspace().fit(frame().assign(a=pd.Timestamp("2020")), Y),
        "Column 'a' of X holds dates",
    ),
    "frame with durations": (
        lambda: kl.HSICSubspace().fit(frame().assign(a=pd.Timedelta(1)), Y),
        "Column 'a' of X holds dates",
    ),
    "frame with periods": (
        lambda: kl.HSICSubspace().fit(frame().assign(a=pd.period_range("2020", periods=N)), Y),
        "Column 'a' of X holds dates",
    ),
    "frame with lists": (
        lambda: kl.HSICSubspace().fit(frame().assign(a=[[1, 2]] * N), Y),
        "Column 'a' of X",
    ),
    "frame with intervals": (
        lambda: kl.HSICSubspace().fit(frame().assign(a=pd.interval_range(0, N)), Y),
        "Column 'a' of X",
    ),
    "frame with complex numbers": (
        lambda: kl.HSICSubspace().fit(frame().assign(a=1j), Y),
        "[Cc]omplex",
    ),
    "frame with NA": (
        lambda: kl.HSICSubspace().fit(frame().assign(a=pd.array([None] * N, dtype="Float64")), Y),
        "NaN",
    ),
    "frame with names of several types": (
        lambda: kl.HSICSubspace().fit(frame().set_axis(["a", 1, 2.5], axis=1), Y),
        "string names",
    ),
    "frame without columns": (lambda: kl.HSICSubspace().fit(frame()[[]], Y), "0 feature"),
    "a column of a frame": (lambda: kl.HSICSubspace().fit(frame()["a"], Y), "Series|2D"),
    "a column of a frame, classified": (
        lambda: kl.KernelClassifier().fit(frame()["a"], Y),
        "2D|column",
    ),
    "frame with free text, classified": (
        lambda: kl.KernelClassifier().fit(
            frame().assign(a=[f"a long text {i}" for i in range(N)]), Y
        ),
        "free text",
    ),
    "frame with dates, classified": (
        lambda: kl.KernelClassifier().fit(frame().assign(a=pd.Timestamp("2020")), Y),
        "holds dates",
    ),
    # new rows
    "fewer columns": (lambda: kl.HSICSubspace().fit(X, Y).transform(X[:, :2]), "2 features"),
    "other names": (
        lambda: kl.HSICSubspace().fit(frame(), Y).transform(frame().rename(columns={"a": "z"})),
        "[Ff]eature names",
    ),
    "other order": (
        lambda: kl.HSICSubspace().fit(frame(), Y).transform(frame()[["c", "b", "a"]]),
        "same order",
    ),
    "new rows with NaN": (lambda: kl.HSICSubspace().fit(X, Y).transform(changed(np.nan)), "NaN"),
    "new rows of texts": (
        lambda: kl.KernelDiscriminant().fit(X, Y).predict(changed("a", dtype=object)),
        "not a number",
    ),
    "new rows without squares": (
        lambda: kl.KernelDiscriminant().fit(X, Y).predict(1e200 * X),
        "squares",
    ),
    "no new rows": (lambda: kl.HSICSubspace().fit(X, Y).transform(X[:0]), "0 sample"),
    "one new row, flat": (lambda: kl.HSICSubspace().fit(X, Y).transform(X[0]), "2D array"),
    "text where numbers were": (
        lambda: kl.KernelClassifier(quality="fast").fit(frame(), Y).predict(texts()),
        "column of numbers",
    ),
    # kernels
    "no such kernel": (lambda: kl.HSICSubspace("gaussin").fit(X, Y), "not known"),
    "a kernel that is a number": (lambda: kl.HSICSubspace(3).fit(X, Y), "is not a kernel"),
    "a kernel that is a class": (
        lambda: kl.HSICSubspace(Gaussian).fit(X, Y),
        "an instance, not the class",
    ),
    "width zero": (lambda: kl.HSICSubspace(Gaussian(0.0)).fit(X, Y), "gamma must be"),
    "width NaN": (lambda: kl.HSICSubspace(Gaussian(np.nan)).fit(X, Y), "gamma must be"),
    "width True": (lambda: kl.HSICSubspace(Gaussian(True)).fit(X, Y), "gamma must be"),
    "width of another rule": (
        lambda: kl.HSICSubspace(Laplacian("mean")).fit(X, Y),
        "gamma must be",
    ),
    "width by leave-one-out, elsewhere": (
        lambda: kl.KernelPLS(Gaussian("loo")).fit(X, Y),
        "gamma='loo' is chosen",
    ),
    "smoothness of another kind": (lambda: kl.HSICSubspace(Matern(nu=0.7)).fit(X, Y), "nu"),
    "degree of a half": (lambda: kl.HSICSubspace(Polynomial(degree=1.5)).fit(X, Y), "degree"),
    "degree zero": (lambda: kl.HSICSubspace(Polynomial(degree=0)).fit(X, Y), "degree"),
    "negative constant": (lambda: kl.HSICSubspace(Polynomial(coef0=-1.0)).fit(X, Y), "coef0"),
    "order of another kind": (lambda: kl.HSICSubspace(ArcCosine(bias=-1.0)).fit(X, Y), "bias"),
    "negative rows for chi squared": (lambda: kl.HSICSubspace(ChiSquared()).fit(X, Y), "negative"),
    "substrings of length zero": (
        lambda: kl.HSICSubspace(Spectrum(0)).fit(["ab", "cd", "ef"] * (N // 3), Y),
        "length|Spectrum",
    ),
    "decay above one": (
        lambda: kl.HSICSubspace(Subsequence(2, decay=1.5)).fit(["ab", "cd", "ef"] * (N // 3), Y),
        "decay",
    ),
    "strings of numbers": (
        lambda: kl.HSICSubspace(Spectrum(2)).fit([1, 2, 3] * (N // 3), Y),
        "string",
    ),
    "strings and None": (
        lambda: kl.HSICSubspace(Spectrum(2)).fit(["ab", None, "c"] * (N // 3), Y),
        "string",
    ),
    "bytes for strings": (
        lambda: kl.HSICSubspace(Spectrum(2)).fit([b"ab", b"c"] * (N // 2), Y),
        "string",
    ),
    "one string": (lambda: kl.HSICSubspace(Spectrum(2)).fit("abc", Y), "string"),
    "rows for strings": (lambda: kl.HSICSubspace(Spectrum(2)).fit(X, Y), "string"),
    "strings for rows": (
        lambda: kl.HSICSubspace().fit(["ab", "cd", "ef"] * (N // 3), Y),
        "2D|not a number",
    ),
    "function of another shape": (
        lambda: kl.HSICSubspace(lambda A, B: A[:, 0]).fit(X, Y),
        "returned shape",
    ),
    "function that gives NaN": (
        lambda: kl.HSICSubspace(lambda A, B: np.nan * A @ B.T).fit(X, Y),
        "not finite",
    ),
    "function that gives texts": (
        lambda: kl.HSICSubspace(lambda A, B: "a").fit(X, Y),
        "not a number",
    ),
    "function that gives complex numbers": (
        lambda: kl.HSICSubspace(lambda A, B: 1j * A @ B.T).fit(X, Y),
        "complex",
    ),
    "function that is not symmetric": (
        lambda: kl.HSICSubspace(lambda A, B: A @ np.triu(np.ones((3, 3))) @ B.T).fit(X, Y),
        "not symmetric",
    ),
    "kernel on rows of texts": (lambda: Gaussian(1.0)(changed("a", dtype=object)), "not a number"),
    "kernel on ragged rows": (lambda: Linear()([[1.0, 2.0], [1.0]]), "rectangle"),
    "kernel on one row, flat": (lambda: Linear()(X[0]), "2-D array"),
    "kernel on other columns": (lambda: Gaussian(1.0)(X, X[:, :2]), "same columns"),
    "kernel on complex rows": (lambda: Linear()(X + 1j), "complex"),
    "kernel on dates": (lambda: Linear()(np.zeros((3, 2), "datetime64[s]")), "dates"),
    "kernel on nothing": (lambda: Linear()(None), "2-D|NoneType"),
    "a rule without training rows": (lambda: Hamming()(X), "rule"),
    # estimators
    "sigmoid spans nothing": (
        lambda: kl.ExpansionSVC("sigmoid", move_points=False).fit(X, Y),
        "not positive semidefinite",
    ),
    "points with NaN": (
        lambda: kl.ExpansionSVC(init=np.full((5, 3), np.nan)).fit(X, Y),
        r"array of shape \(5, 3\).*finite numbers",
    ),
    "points of another width": (lambda: kl.ExpansionSVC(init=X[:5, :2]).fit(X, Y), "points are"),
    "no points": (lambda: kl.ExpansionSVC(init=X[:0]).fit(X, Y), "one at least|finite numbers"),
    "ragged points": (
        lambda: kl.ExpansionSVC(init=[[1.0, 2.0], [3.0]]).fit(X, Y),
        "finite numbers",
    ),
    "points of strings": (
        lambda: kl.ExpansionSVC(Spectrum(2)).fit(["ab", "cd", "ef"] * (N // 3), Y),
        "vectors",
    ),
    "start with NaN": (
        lambda: kl.AlignmentSubspace(init=np.full((N, 2), np.nan)).fit(X, Y),
        "finite numbers",
    ),
    "start of other rows": (
        lambda: kl.AlignmentSubspace(init=np.ones((3, 2))).fit(X, Y),
        "coefficients",
    ),
    "landmarks, a count of True": (lambda: kl.Landmarks("uniform", True), "count must be"),
    "landmarks, a count of zero": (lambda: kl.Landmarks("uniform", 0), "count must be"),
    "landmarks by another rule": (lambda: kl.Landmarks("best"), "rules are"),
    "stratified without classes": (
        lambda: kl.KernelPLSRegressor(landmarks="stratified").fit(X, X[:, 0]),
        "no classes",
    ),
    "semidefinite program of 60 rows": (
        lambda: kl.HSICSubspace([Gaussian(1.0), Linear()], uncorrelated=True, solver="sdp").fit(
            LARGE, LARGE[:, 0] > 0
        ),
        "at most",
    ),
    "semidefinite program on landmarks": (
        lambda: kl.HSICSubspace(
            [Gaussian(1.0), Linear()], uncorrelated=True, solver="sdp", landmarks=5
        ).fit(X, Y),
        "exact Gram",
    ),
    "price without bound": (lambda: kl.MultiKernelSVC(C=1e300).fit(X, Y), "C must be"),
    "price by a word": (lambda: kl.MultiKernelSVC(C="learn").fit(X, Y), "squared_hinge"),
    "class weight of text": (
        lambda: kl.SubspaceSVC(class_weight={0: "x"}).fit(X, Y),
        "class_weight must be",
    ),
    "class weight of zero": (
        lambda: kl.SubspaceSVC(class_weight={0: 0.0}).fit(X, Y),
        "must be positive",
    ),
    "class weight of other classes": (
        lambda: kl.SubspaceSVC(class_weight={"a": 1.0}).fit(X, Y),
        "not in class_weight",
    ),
    "priors that are negative": (
        lambda: kl.KernelDiscriminant(priors=[1, 1, -1]).fit(X, Y),
        "priors",
    ),
    "priors with NaN": (lambda: kl.KernelDiscriminant(priors=[1, 1, np.nan]).fit(X, Y), "priors"),
    "priors of other classes": (
        lambda: kl.KernelDiscriminant(priors=[0.5, 0.5]).fit(X, Y),
        "priors",
    ),
    "kim with one kernel": (
        lambda: kl.KernelDiscriminant(criterion="kim").fit(X, Y > 0),
        "several kernels are weighed",
    ),
    "a table of one category": (
        lambda: kl.KernelClassifier().fit(frame()[["a"]].assign(a="x"), Y),
        "zero variance",
    ),
    "kim with three classes": (
        lambda: kl.KernelDiscriminant([Gaussian(), Linear()], criterion="kim").fit(X, Y),
        "two classes",
    ),
    "labels' kernel with NaN": (
        lambda: kl.HSICSubspace(label_kernel=np.full((3, 3), np.nan)).fit(X, Y),
        "label_kernel",
    ),
    "labels' kernel of another size": (
        lambda: kl.HSICSubspace(label_kernel=np.eye(4)).fit(X, Y),
        "label_kernel has shape",
    ),
    "labels' kernel that is negative": (
        lambda: kl.HSICSubspace(label_kernel=-np.eye(3)).fit(X, Y),
        "not positive semidefinite",
    ),
    "labels' kernel of zeros": (
        lambda: kl.HSICSubspace(label_kernel=np.zeros((3, 3))).fit(X, Y),
        "label_kernel",
    ),
    "labels' kernel, a function of NaN": (
        lambda: kl.HSICSubspace(label_kernel=lambda a, b: np.full((3, 3), np.nan)).fit(X, Y),
        "label_kernel",
    ),
    "memory that is too small": (
        lambda: kl.HSICSubspace(memory_budget=10).fit(X, Y),
        "memory|bytes",
    ),
    "memory by a word": (lambda: kl.HSICSubspace(memory_budget="much").fit(X, Y), "memory_budget"),
    "seed that is a text": (lambda: kl.HSICSubspace(random_state="abc").fit(X, Y), "seed"),
    "seed below zero": (
        lambda: kl.HSICSubspace(random_state=-1, landmarks=5).fit(X, Y),
        "[Ss]eed|random_state",
    ),
    "parameter that does not exist": (
        lambda: kl.HSICSubspace().set_params(gamma=1.0),
        "Invalid parameter",
    ),
    "parameter of a kernel that does not exist": (
        lambda: kl.HSICSubspace(Gaussian()).set_params(kernel__nu=1.0),
        "nu",
    ),
    "regs of the path, none": (lambda: kl.HSICSubspace(uncorrelated=True).path(X, Y, []), "reg"),
    "regs of the path, negative": (
        lambda: kl.HSICSubspace(uncorrelated=True).path(X, Y, [-1.0]),
        "reg",
    ),
    "partial fit of other classes": (
        lambda: kl.HSICSubspace(landmarks=5).partial_fit(X, Y, classes=[0, 1]),
        "class|label",
    ),
    "partial fit of other columns": (
        lambda: (
            kl.HSICSubspace(landmarks=5)
            .partial_fit(X, Y, classes=[0, 1, 2])
            .partial_fit(X[:, :2], Y)
        ),
        "features",
    ),
    "groups of another length": (
        lambda: kl.KernelClassifier(quality="fast").fit(X, Y, groups=Y[:-1]),
        "groups has",
    ),
    "one group": (
        lambda: kl.KernelClassifier(quality="fast").fit(X, Y, groups=np.zeros(N)),
        "one group",
    ),
    "groups with NaN": (
        lambda: kl.KernelClassifier(quality="fast").fit(X, Y, groups=np.where(Y == 0, np.nan, Y)),
        "groups",
    ),
    "categories that are no columns": (
        lambda: kl.KernelClassifier(quality="fast", categorical=[9]).fit(X, Y),
        "categorical names",
    ),
    "categories that are None": (
        lambda: kl.KernelClassifier(quality="fast", categorical=[None]).fit(X, Y),
        "categorical names",
    ),
    "group of columns without columns": (
        lambda: kl.KernelClassifier(quality="fast", column_groups={"a": []}).fit(X, Y),
        "without columns",
    ),
    "explain no rows": (
        lambda: kl.KernelClassifier(quality="fast").fit(X, Y).explain(X, 0),
        "n_rows",
    ),
    "no permutations": (
        lambda: kl.KernelClassifier(quality="fast").fit(X, Y).permutation_p_value(0),
        "n_permutations",
    ),
    # functions
    "hsic without labels": (lambda: metrics.hsic(X, None), "y is None"),
    "hsic of short labels": (lambda: metrics.hsic(X, Y[:-1]), "inconsistent"),
    "hsic of NaN": (lambda: metrics.hsic(changed(np.nan), Y), "NaN"),
    "hsic of one class": (lambda: metrics.hsic(X, np.zeros(N)), "1 class"),
    "hsic of a bank": (
        lambda: metrics.hsic(X, Y, kernel=[Gaussian(), Linear()]),
        "one kernel is needed",
    ),
    "hsic of negative weights": (lambda: metrics.hsic(X, Y, sample_weight=-np.ones(N)), "negative"),
    "hsic of one row that counts": (
        lambda: metrics.hsic(X[:2], [0, 1], sample_weight=[0.5, 0.5]),
        "sum",
    ),
    "test without permutations": (
        lambda: metrics.hsic_test(X, Y, n_permutations=0),
        "n_permutations",
    ),
    "test with a half of them": (
        lambda: metrics.hsic_test(X, Y, n_permutations=2.5),
        "n_permutations",
    ),
    "test with a seed of text": (lambda: metrics.hsic_test(X, Y, random_state="a"), "seed"),
    "alignment of texts": (
        lambda: metrics.alignment(changed("a", dtype=object), Y),
        "not a number",
    ),
    "alignment of an asymmetric matrix": (
        lambda: metrics.alignment(np.triu(K), Y, kernel="precomputed"),
        "not symmetric",
    ),
    "centred alignment of constant rows": (
        lambda: metrics.centered_alignment(np.ones_like(X), Y),
        "variance|constant",
    ),
}
LARGE = np.random.default_rng(1).normal(size=(60, 3))


@pytest.mark.parametrize("case", CALLS)
def test_calls(case):
    if case.startswith("semidefinite"):
        pytest.importorskip("cvxpy", reason="needs the extra sdp")
    call, words = CALLS[case]
    frames = () if isinstance(pd, Missing) else (frame(), texts())
    refuse(call, words, inputs=(X, Y, K, STACK, *frames))


# Odd, and answered in finite numbers and good time.
ODD = {
    "a metric of hardly any price": lambda: kl.KernelLMNN(reg=1e-12).fit(X, Y).transform(X),
    "weights of 1e8": lambda: (
        kl.MultiKernelSVC([Gaussian(), Linear()], weights=[1e8, 1e8]).fit(X, Y).decision_function(X)
    ),
    "rows that count 1e8 times": lambda: (
        kl.MultiKernelSVC([Gaussian(), Linear()])
        .fit(X, Y, sample_weight=np.full(N, 1e8))
        .decision_function(X)
    ),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_calls_are_answered(case):
    refused, words = judge(ODD[case], inputs=(X, Y), seconds=20.0)
    assert not refused, words
