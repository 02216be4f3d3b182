"""Small data that are the same each time: sets of scikit-learn, and made ones with fixed seeds."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

BASES = np.array(list("ACGT"))


class Split(NamedTuple):
    """Rows to learn from with their labels, and new ones."""

    X: Any
    y: Any
    X_new: Any


def split(X, y, n, n_new=25, seed=0):
    """n rows and some new ones, drawn once; z-scored by all rows."""
    chosen = np.random.default_rng(seed).permutation(len(y))[: n + n_new]
    X = ((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9))[chosen]
    return Split(X[:n], y[chosen][:n], X[n:])


@cache
def wine(n=90):
    return split(*load_wine(return_X_y=True), n)


@cache
def named_wine(n=90):
    """Its labels are texts."""
    rows = wine(n)
    return rows._replace(y=np.array(["barolo", "grignolino", "barbera"])[rows.y])


@cache
def cancer(n=90):
    return split(*load_breast_cancer(return_X_y=True), n)


@cache
def iris(n=60):
    return split(*load_iris(return_X_y=True), n)


@cache
def digits(n=120):
    return split(*load_digits(return_X_y=True), n)


@cache
def moons(n=600, seed=0):
    """Two classes that no line parts, in four columns; texts as labels."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n + 40, 4))
    y = np.where(X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=n + 40) > 0, "same", "other")
    return Split(X[:n], y[:n], X[n:])


@cache
def three(n=600, seed=0):
    """Three classes as numbers, in four columns; some rows come twice."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 40, 4))
    X[n // 2 : n // 2 + n // 10] = X[: n // 10]
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int) + (X[:, 2] > 0.8)
    return Split(X[:n], y[:n], X[n:])


def weights(n):
    """Whole numbers, some of them zero: few, so that many rows stay many without those."""
    found = np.random.default_rng(7).integers(1, 4, n).astype(float)
    found[::60] = 0.0
    return found


@cache
def values(n=90):
    """Rows of wine with two real targets."""
    rows = wine(n)
    return rows._replace(y=np.column_stack([np.sin(rows.X[:, 0]), rows.X[:, 1] * rows.X[:, 2]]))


@cache
def positive(n=70):
    """Rows between 0 and 1."""
    rows = wine(n)
    most = np.abs(rows.X).max()
    return Split(np.abs(rows.X) / most, rows.y, np.abs(rows.X_new) / most)


@cache
def codes(n=70):
    """Categories as whole numbers."""
    rows = wine(n)
    return Split(np.round(rows.X).clip(-2, 2), rows.y, np.round(rows.X_new).clip(-2, 2))


@cache
def sparse_rows(n=80):
    """Rows of 40 columns, one in five filled."""
    X = sparse.random(n + 20, 40, density=0.2, random_state=0, format="csr")
    y = (np.asarray(X[:, :8].sum(axis=1)).ravel() > 0.7).astype(int)
    return Split(X[:n], y[:n], X[n:])


@cache
def strings(n=50):
    """Sequences of four letters; one class has a word that the other lacks."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n + 15)
    words = ["".join(rng.choice(BASES, 14)) + ("ACCA" if c else "TGT") for c in y]
    X = np.array(words, dtype=object)
    return Split(X[:n], y[:n], X[n:])


@cache
def frame(n=120):
    """Numbers with holes, categories, booleans and words."""
    import pandas

    rng = np.random.default_rng(5)
    size = n + 20
    X = pandas.DataFrame(rng.normal(size=(size, 3)), columns=list("abc"))
    X["colour"] = pandas.Categorical(rng.choice(["red", "green", "blue"], size))
    X["flag"] = rng.random(size) > 0.5
    X["word"] = rng.choice(["x", "yy", "zzz"], size).astype(object)
    y = np.where((X["a"] > 0) ^ (X["colour"] == "red"), "yes", "no")
    X.loc[::9, "a"] = np.nan
    X.loc[::13, "word"] = None
    return Split(X[:n], y[:n], X[n:])


@cache
def records(n=50):
    """A frame without holes, of numbers and sequences."""
    import pandas

    rows, words = wine(n), strings(n)
    X = pandas.DataFrame(rows.X[:, :3], columns=list("pqr")).assign(word=words.X)
    X_new = pandas.DataFrame(rows.X_new[:15, :3], columns=list("pqr")).assign(word=words.X_new)
    return Split(X, rows.y, X_new)


def pairs_of(y, n_pairs=40, seed=1):
    """(similar, dissimilar) pairs of rows by their labels."""
    drawn = np.random.default_rng(seed).permutation(len(y) * len(y))[: 8 * n_pairs]
    left, right = drawn // len(y), drawn % len(y)
    told = left < right
    pairs = np.column_stack([left, right])[told]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return pairs[same][: n_pairs // 2], pairs[~same][: n_pairs // 2]


def triplets_of(y):
    """(row, one of its class, one of another)."""
    similar, dissimilar = pairs_of(y, 60)
    other = {a: b for pair in dissimilar.tolist() for a, b in (pair, pair[::-1])}
    found = [(a, b, other[a]) for a, b in similar.tolist() if a in other]
    return np.array(found[:15])


def blocks_of(X, y=None, weight=None, size=150):
    """The rows in parts, as sources give them."""
    for start in range(0, X.shape[0], size):
        part = slice(start, start + size)
        block = [X.iloc[part] if hasattr(X, "iloc") else X[part]]
        block += [A[part] for A in (y, weight) if A is not None]
        yield tuple(block) if len(block) > 1 else block[0]


@cache
def many(n=20_500):
    """More rows than a fit on a source holds: three columns, three classes, some rows twice."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n + 30, 3)).round(4)
    X[500:600] = X[:100]
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int) + (X[:, 2] > 0.8)
    return Split(X[:n], y[:n], X[n:])


@cache
def wide(n=2600):
    """Few rows that take more than an eighth of ten megabytes."""
    rng = np.random.default_rng(12)
    X = rng.normal(size=(n + 30, 64))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "a", "b")
    return Split(X[:n], y[:n], X[n:])
