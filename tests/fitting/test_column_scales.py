"""Columns that distances hardly see are named, once, wherever the rows come from."""

import inspect
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

import kernel_learn as kl
from extras import optional
from kernel_learn.datasets import Blocks
from kernel_learn.kernels import ChiSquared, ColumnKernel, Gaussian, GraphDeformed, Linear

pd = optional("pandas")

FAST = {"FeatureScales": {"max_iter": 2}, "KernelMCML": {"max_iter": 5}}


def made(n=120, seed=0):
    """Two columns of which one is 4000 times as wide, and labels that both tell."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    age, income = rng.normal(size=n) + 2 * y, 4000 * (rng.normal(size=n) + y)
    return np.column_stack([age, income]), y


def said(fit):
    """What a fit says of columns."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit()
    return [str(own.message) for own in found if "times as wide" in str(own.message)]


def with_kernels():
    """Names of the estimators that have a kernel of distances by default."""
    names = []
    for name in kl.__all__:
        kind = getattr(kl, name)
        if inspect.isclass(kind) and hasattr(kind, "fit"):
            kernel = inspect.signature(kind).parameters.get("kernel")
            if kernel is not None and name not in ("KernelClassifier", "KernelRegressor"):
                names.append(name)
    return names


@pytest.mark.parametrize("name", with_kernels())
def test_every_estimator_says_it_once(name):
    """By the names of the columns."""
    X, y = made(40)
    frame = pd.DataFrame(X, columns=["age", "income"])
    model = getattr(kl, name)(**{"kernel": "gaussian"}, **FAST.get(name, {}))
    (text,) = said(lambda: model.fit(frame, y))
    assert text.startswith(f"{name}: column income is 3,000 times as wide as age, ")
    assert "StandardScaler or TableEncoder" in text
    assert not said(lambda: model.fit(StandardScaler().fit_transform(X), y))


def test_estimators_are_found():
    """The list above is not empty by mistake."""
    assert {"KernelDiscriminant", "SubspaceSVC", "InductiveKernel", "KernelLMNN"} <= set(
        with_kernels()
    )


@pytest.mark.parametrize("kind", ["blocks", "once", "large", "partial", "few"])
def test_streams_say_it_once(kind):
    """Rows in blocks, those of a source that is read once, rows that come and go."""
    n = 21_000 if kind in ("large", "once") else 500
    X, y = made(n)
    blocks = [(X[i::5], y[i::5]) for i in range(5)]
    model = kl.KernelDiscriminant(landmarks=10)
    fits = {
        "blocks": lambda: model.fit(Blocks(blocks)),
        "few": lambda: model.fit(iter(blocks)),
        "large": lambda: model.fit(Blocks(blocks)),
        "once": lambda: model.fit(iter(blocks)),
        "partial": lambda: [model.partial_fit(*block) for block in blocks],
    }
    (text,) = said(fits[kind])
    assert "column 1 is 3,000 times as wide as column 0" in text


def test_files_say_names(tmp_path):
    """Their rows are arrays, and the source knows the names."""
    X, y = made()
    frame = pd.DataFrame(X, columns=["age", "income"]).assign(label=y)
    frame.to_parquet(tmp_path / "rows.parquet")
    source = kl.ParquetSource(tmp_path / "rows.parquet", target="label")
    for rows in (source, source.split()[0]):
        (text,) = said(lambda rows=rows: kl.KernelDiscriminant(landmarks=10).fit(rows))
        assert "column income is 3,000 times as wide as age, " in text


def test_a_hundred_is_not_enough():
    """The limit is where the page says it is."""
    X, y = made()
    X = X / X.std(axis=0)
    model = kl.KernelDiscriminant()
    assert not said(lambda: model.fit(X * [1, 99.9], y))
    assert said(lambda: model.fit(X * [1, 100.1], y))


def rare(n, share=0.02):
    """A column of ones and zeros of which few are ones."""
    return (np.arange(n) < share * n).astype(float)


@pytest.mark.parametrize(
    "column",
    [
        lambda n: np.full(n, 3e-7),  # constant
        lambda n: np.full(n, 1e7) + 1e-9 * np.arange(n),  # but for rounding
        lambda n: 1e-4 * rare(n),  # a category, scaled
        lambda n: 1e5 * (np.arange(n) % 2),
        lambda n: np.where(np.arange(n) % 3, 0.0, 1e5 * np.arange(n)),  # zero in most rows
    ],
)
def test_columns_that_are_not_compared(column):
    """Constant columns, those of two values, and those that are zero in most rows."""
    X, y = made()
    X = np.column_stack([X / X.std(axis=0), column(len(y))])
    assert not said(lambda: kl.KernelDiscriminant().fit(X, y))


def test_sparse_rows_are_not_compared():
    """Counts of words have the widths that words have."""
    X, y = made()
    assert not said(lambda: kl.KernelDiscriminant().fit(sparse.csr_array(X), y))


@pytest.mark.parametrize(
    ("kernel", "warns"),
    [
        (Linear(), False),
        (ChiSquared(), False),
        ([ColumnKernel("gaussian", [0]), ColumnKernel("gaussian", [1])], False),
        ([ColumnKernel("gaussian", [0, 1]), Linear()], True),
        (ColumnKernel("laplacian", slice(0, 2)), True),
        (GraphDeformed(Gaussian()), True),
    ],
)
def test_distances_within_one_kernel(kernel, warns):
    """Columns of different kernels are never added up, and products are no distances."""
    X, y = made()
    model = kl.KernelDiscriminant(kernel=kernel)
    assert bool(said(lambda: model.fit(X - X.min(axis=0), y))) == warns


def test_what_scales_by_itself_says_nothing():
    """KernelClassifier and KernelRegressor scale columns, and so does TableEncoder."""
    X, y = made(60)
    assert not said(lambda: kl.KernelClassifier(quality="fast", assess=False).fit(X, y))
    assert not said(lambda: kl.KernelRegressor(quality="fast", assess=False).fit(X, y * 1.0))
    frame = pd.DataFrame(X, columns=["age", "income"]).assign(
        town=np.where(np.arange(60) == 7, "Rome", "Oslo"), hole=np.where(y, np.nan, X[:, 0])
    )
    model = kl.make_pipeline(kl.TableEncoder(), kl.KernelDiscriminant())
    assert not said(lambda: model.fit(frame, y))
