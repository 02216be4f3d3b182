"""Fitted models of every kind that a file must hold, each with rows to predict."""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.decomposition import PCA
from sklearn.gaussian_process import kernels as gp
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import kernel_learn as kl
from estimators.test_checks import ESTIMATORS
from kernel_learn import kernels as kk
from kernel_learn.constraints import (
    ClassProbabilities,
    Linear,
    Pairs,
    Quadruplets,
    Similarities,
    Triplets,
)
from kernel_learn.tables import TableModel

pd = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
skrub = pytest.importorskip("skrub")
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform")
rng = np.random.default_rng(0)
N = 48

iris_X, iris_y = (part[::3] for part in load_iris(return_X_y=True))
X = rng.normal(size=(N, 4))
y = np.array(["a", "b", "c"])[(X[:, 0] + 0.3 * rng.normal(size=N) > 0).astype(int) + (X[:, 1] > 1)]
positive = np.abs(X)
unit = positive / positive.max()
codes = np.round(positive)
sparse_rows = sparse.random(N, 30, density=0.2, random_state=0, format="csr")
frame = pd.DataFrame(X.copy(), columns=list("pqrs"))
frame.loc[3, "p"] = np.nan
frame["colour"] = pd.Categorical(rng.choice(["red", "green", "blue"], N))
frame["flag"] = rng.random(N) > 0.5
frame["word"] = rng.choice(["x", "yy", "zz"], N)
proteins = np.array(["".join(rng.choice(list("ACGT"), 12)) for _ in range(N)], dtype=object)
records = frame[["q", "r", "s"]].assign(protein=proteins)
words = ["one", "two", "three", "four", "five", "six"]
texts = frame.assign(
    text=[" ".join(rng.choice(words, 5)) + str(i) for i in range(N)],
    when=pd.date_range("2020-01-01", periods=N, freq="17h"),
)
bank = {
    "numbers": kk.ColumnKernel(kk.Gaussian(), ["q", "r"]),
    "range": kk.ColumnKernel(kk.Laplacian(), slice("q", "s")),
    "sequence": kk.ColumnKernel(kk.Spectrum(3), "protein"),
}
processes = [
    1.5 * gp.RBF(2.0) + gp.WhiteKernel(),
    gp.Matern() * gp.DotProduct() ** 2,
    gp.RationalQuadratic() + gp.ExpSineSquared(),
    kk.Gaussian(0.1).as_gp_kernel(),
]
same = np.flatnonzero(y == "a")[:8].reshape(4, 2)
other = np.stack([np.flatnonzero(y == "a")[:4], np.flatnonzero(y == "b")[:4]], axis=1)
triplets = np.stack([same[:, 0], same[:, 1], other[:, 1]], axis=1)
rows_alike = Pairs(X[same], X[other]) + Triplets(X[triplets])

CASES = {
    "frame": (kl.KernelClassifier(), frame),
    "frame, one member": (kl.KernelClassifier(max_members=1, class_weight={"a": 2.0}), frame),
    "sparse table": (kl.KernelClassifier(), sparse_rows),
    "column groups": (
        kl.KernelClassifier(column_groups={"one": ["p", "q"], "two": ["r", "s", "colour"]}),
        frame,
    ),
    "views of a table": (kl.KernelClassifier(quality="fast"), [X[:, :2], X[:, 2:]]),
    "encoded text and dates": (
        make_pipeline(skrub.TableVectorizer(), kl.KernelClassifier(quality="fast")),
        texts,
    ),
    "encoder, scaler, subspace, neighbours": (
        make_pipeline(
            skrub.TableVectorizer(),
            StandardScaler(),
            kl.HSICSubspace(),
            KNeighborsClassifier(1, algorithm="brute"),
        ),
        texts.drop(columns="p"),
    ),
    "a table": (TableModel(kl.KernelClassifier(quality="fast")), texts),
    "a table, scaled": (TableModel(kl.KernelDiscriminant(), encoding="full"), texts),
    "other encoders": (
        make_pipeline(
            skrub.TableVectorizer(
                cardinality_threshold=10,
                high_cardinality=skrub.GapEncoder(n_components=2, random_state=0),
                low_cardinality=skrub.ToCategorical(),
                numeric=skrub.SquashingScaler(),
                datetime=skrub.DatetimeEncoder(periodic_encoding="circular"),
            ),
            kl.KernelClassifier(quality="fast", max_members=1),
        ),
        texts,
    ),
    "encoders on polars": (
        make_pipeline(
            skrub.Cleaner(),
            skrub.TableVectorizer(
                cardinality_threshold=10, high_cardinality=skrub.MinHashEncoder(n_components=3)
            ),
            kl.KernelClassifier(quality="fast", max_members=1),
        ),
        polars.from_pandas(texts),
    ),
    "few features": (kl.SubspaceSVC(n_components=1, C=10.0), X),
    "pipeline": (make_pipeline(StandardScaler(), PCA(3), kl.SubspaceSVC()), X),
    "an encoded table": (kl.make_pipeline(kl.TableEncoder(), kl.KernelDiscriminant()), records),
    "strings": (kl.KernelDiscriminant(kk.Spectrum(3)), proteins),
    "strings with gaps": (kl.HSICSubspace(kk.Subsequence(2)), proteins),
    "bank on a frame": (kl.KernelDiscriminant(bank), records),
    "stacked bank": (kl.MultiKernelSVC(bank), records),
    "views": (kl.KernelDiscriminant([kk.Gaussian(), kk.Linear()]), [X[:, :2], X[:, 2:]]),
    "sparse": (kl.KernelDiscriminant(), sparse_rows),
    "sparse array": (kl.SubspaceSVC(landmarks=10), sparse.csr_array(sparse_rows)),
    "sparse support": (kl.MultiKernelSVC(), sparse_rows),
    "float32": (kl.KernelDiscriminant(landmarks=20), X.astype(np.float32)),
    "chi-squared": (kl.KernelDiscriminant(kk.ChiSquared()), positive),
    "cosine": (kl.KernelDiscriminant(kk.Cosine()), X),
    "arc-cosine": (kl.KernelDiscriminant(kk.ArcCosine()), X),
    "exponential": (kl.KernelDiscriminant(kk.Exponential()), X),
    "additive": (kl.KernelDiscriminant(kk.Additive()), unit),
    "pairwise anova": (kl.KernelDiscriminant(kk.PairwiseAnova()), unit),
    "low rank": (kl.KernelDiscriminant(kk.LowRank("gaussian", 5)), X),
    "deformed": (kl.KernelDiscriminant(kk.GraphDeformed(kk.Gaussian())), X),
    "hamming": (kl.KernelDiscriminant(kk.Hamming(1.0, [0, 1])), codes),
    "matching": (kl.KernelDiscriminant(kk.Matching()), codes),
    "scikit-learn's metric": (kl.KernelDiscriminant("additive_chi2"), positive),
    "a learned kernel": (kl.KernelDiscriminant(kl.HSICSubspace().fit(X, y).kernel_), X),
    "a transformed kernel": (kl.KernelDiscriminant(kl.InductiveKernel().fit(X, y).kernel_), X),
    "random landmarks": (kl.HSICSubspace(landmarks=kl.Landmarks("random", 10)), X),
    "given landmarks": (kl.HSICSubspace(landmarks=X[:5]), X),
    "rows that are alike": (kl.InductiveKernel(constraints=rows_alike), X),
    "similar rows": (
        kl.InductiveKernel(constraints=Similarities(X[same], X[other])),
        X,
    ),
    **{f"process {i}": (kl.KernelDiscriminant(kernel), X) for i, kernel in enumerate(processes)},
}
OTHERS = ["leaves", "pairs", "sums", "index", "several labels", "several numbers", "forgotten"]
NAMES = [*(f"{i}: {type(e).__name__}" for i, e in enumerate(ESTIMATORS)), *CASES, *OTHERS]


@cache
def fitted(name):
    """(model, rows) by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "leaves":
            rows, labels = make_moons(400, noise=0.25, random_state=0)
            model = kl.KernelClassifier(quality="fast", memory_budget=1_500_000)
            return model.fit(rows, labels), rows
        if name == "pairs":
            alike = np.arange(8) < 4
            return kl.PairClassifier().fit(X, np.concatenate([same, other]), alike), X
        if name == "forgotten":
            return kl.KernelClassifier(quality="fast").fit(X, y).forget([0, 3]), X
        if name == "several labels":
            return kl.KernelClassifier(quality="fast").fit(X, X[:, :2] > 0), X
        if name == "several numbers":
            return kl.KernelRegressor(quality="fast").fit(X, np.exp(X[:, :2])), X
        if name == "index":
            return kl.neighbors.KernelIndex(kl.HSICSubspace().fit(X, y)).fit(X).graph(), X
        if name == "sums":
            first = np.diag(np.arange(len(X)) < 3).astype(float)
            given = Linear(first, 2.0) + Quadruplets(np.hstack([same, other]))
            given = given + ClassProbabilities([0], ["a"], y) + Pairs(same, other)
            return kl.InductiveKernel().fit(X, constraints=given), X
        if name in CASES:
            model, rows = CASES[name]
            return model.fit(rows, y), rows
        model = clone(ESTIMATORS[int(name.partition(":")[0])])
        rows = iris_X @ iris_X.T if get_tags(model).input_tags.pairwise else iris_X
        return model.fit(rows, iris_y), rows


def outputs(model, rows):
    """What the model says of the rows, by method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sides = (rows, rows[::-1]) if isinstance(model, kl.PairClassifier) else (rows,)
        found = {name: getattr(model, name)(*sides) for name in METHODS if hasattr(model, name)}
    found = {name: v.toarray() if sparse.issparse(v) else v for name, v in found.items()}
    if "transform" not in found and hasattr(model, "kernel_"):
        found["kernel_"] = model.kernel_(rows)
    return found
