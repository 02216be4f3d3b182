"""Folds of a source: refits without each fold, with the same landmarks, widths and encoder."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import kernel_learn as kl
from kernel_learn.datasets import Blocks
from kernel_learn.kernels import Gaussian
from kernel_learn.model_selection import cross_validate_source
from kernel_learn.rows.block import Block
from kernel_learn.streams.blocks import ArrayRows
from kernel_learn.streams.splitting import FOLDS, RowHash
from mixed_tables import make_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
W = RNG.integers(1, 4, 300).astype(float)


def folds_of(rows, cv, by="key"):
    return (RowHash(by, salt=FOLDS)(Block(rows)) * cv).astype(int)


def blocks(rows, y, size=41, weight=None):
    parts = [rows, y] if weight is None else [rows, y, weight]
    cuts = range(0, len(y), size)
    return Blocks([tuple(part[i : i + size] for part in parts) for i in cuts])


def discriminant(**options):
    fixed = {"landmarks": X[:25], "reg": 1e-2, "decision": "centroid", "random_state": 0}
    return kl.KernelDiscriminant(Gaussian(0.3), **(fixed | options))


@given(st.integers(1, 300), st.permutations(range(6)), st.integers(2, 5), st.booleans())
@settings(max_examples=8, deadline=None)
def test_folds_are_refits(size, order, cv, weighted):
    """Of any blocks in any order."""
    weight = W if weighted else None
    mixed = np.concatenate([np.array_split(np.arange(300), 6)[i] for i in order])
    source = blocks(X[mixed], Y[mixed], size, weight if weight is None else weight[mixed])
    found = cross_validate_source(discriminant(), source, cv=cv)
    fold = folds_of(X, cv)
    for k, model in enumerate(found["estimator"]):
        test, w = fold == k, None if weight is None else weight[fold != k]
        refit = discriminant().fit(X[~test], Y[~test], sample_weight=w)
        np.testing.assert_allclose(model.eigenvalues_, refit.eigenvalues_, rtol=1e-9)
        a, b = abs(model.transform(X[test])), abs(refit.transform(X[test]))  # signs are free
        np.testing.assert_allclose(a, b, atol=1e-9 * b.max())
        own = None if weight is None else weight[test]
        expected = refit.score(X[test], Y[test], sample_weight=own)
        assert found["test_score"][k] == pytest.approx(expected, abs=1e-12)
        assert found["n_test"][k] == test.sum()


def test_values():
    y = X[:, 0] + 0.1 * RNG.normal(size=300)
    model = kl.KernelPLSRegressor(Gaussian(0.3), n_components=3, landmarks=X[:25])
    found = cross_validate_source(model, ArrayRows(X, y), cv=3)
    fold = folds_of(X, 3)
    for k in range(3):
        refit = kl.KernelPLSRegressor(Gaussian(0.3), n_components=3, landmarks=X[:25])
        refit.fit(X[fold != k], y[fold != k])
        expected = refit.score(X[fold == k], y[fold == k])
        assert found["test_score"][k] == pytest.approx(expected, abs=1e-9)


def test_pipelines_are_encoded_once_and_folds_are_of_raw_rows():
    rows = make_rows(300)
    y = (rows[:, 2] == "x").astype(int)
    encoded = kl.TableEncoder().fit_transform(rows)
    last = discriminant(landmarks=encoded[:25])
    pipe = kl.make_pipeline(kl.TableEncoder(), last)
    found = cross_validate_source(pipe, blocks(rows, y), cv=3)
    fold = folds_of(rows, 3)
    for k in range(3):
        refit = discriminant(landmarks=encoded[:25]).fit(encoded[fold != k], y[fold != k])
        expected = refit.score(encoded[fold == k], y[fold == k])
        assert found["test_score"][k] == pytest.approx(expected, abs=1e-12)
        assert found["estimator"][k].score(rows[fold == k], y[fold == k]) == expected
    assert not hasattr(pipe[0], "columns_")


def test_steps_of_scikit_learn_are_fitted_once_to_all_rows():
    holes = X * [1, 10, 100]
    holes[::9, 0] = np.nan
    steps = (SimpleImputer(), StandardScaler())
    encoded = kl.make_pipeline(*steps, "passthrough").fit(blocks(holes, Y)).transform(holes)
    pipe = kl.make_pipeline(*steps, discriminant(landmarks=encoded[:25]))
    found = cross_validate_source(pipe, blocks(holes, Y, 50), cv=3)
    fold = folds_of(holes, 3)
    for k in range(3):
        refit = discriminant(landmarks=encoded[:25]).fit(encoded[fold != k], Y[fold != k])
        a, b = abs(refit.transform(encoded)), abs(found["estimator"][k].transform(holes))
        np.testing.assert_allclose(b, a, atol=1e-9 * a.max())


def test_a_part_of_a_split_has_all_folds():
    _, test = blocks(X, Y).split(0.5)
    found = cross_validate_source(discriminant(), test, cv=3)
    assert found["n_test"].min() > 25


def test_groups_are_in_one_fold():
    rows = np.column_stack([X, RNG.integers(0, 30, 300)])
    found = cross_validate_source(discriminant(landmarks=20), rows, Y, cv=3, by=3)
    fold = folds_of(rows, 3, by=3)
    assert found["n_test"].tolist() == np.bincount(fold).tolist()
    assert all(len(set(fold[rows[:, 3] == g])) == 1 for g in np.unique(rows[:, 3]))


def test_passes_do_not_depend_on_the_folds():
    passes = []

    def read():
        passes.append(1)
        return iter([(X, Y)])

    for cv in (2, 5):
        passes.clear()
        cross_validate_source(discriminant(), Blocks(read), cv=cv)
        assert len(passes) == 3


@pytest.mark.parametrize(
    ("model", "source", "cv", "words"),
    [
        (discriminant(), blocks(X, Y), 1, "at least 2"),
        (discriminant(), Blocks(iter([(X, Y)])), 3, "read once"),
        (LogisticRegression(), blocks(X, Y), 3, "LogisticRegression does not learn from moments"),
        (kl.HSICSubspace(landmarks=10), blocks(X, Y), 3, "HSICSubspace has no score"),
        (discriminant(), blocks(X[[0, 0, 1, 1]], Y[[0, 0, 1, 1]]), 5, "folds have no rows"),
    ],
)
def test_refusals(model, source, cv, words):
    with pytest.raises(ValueError, match=words):
        cross_validate_source(model, source, cv=cv)


def test_labels_by_name():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abc"))
    found = cross_validate_source(discriminant(), frame.assign(label=Y), "label", cv=3)
    expected = cross_validate_source(discriminant(), frame, Y, cv=3)
    np.testing.assert_array_equal(found["test_score"], expected["test_score"])
    with pytest.raises(ValueError, match="y='town' names no column"):
        cross_validate_source(discriminant(), frame, "town")
