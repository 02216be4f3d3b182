"""Steps of scikit-learn that look at columns: on a source what they are on the rows in memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import kernel_learn as kl
from extras import optional
from kernel_learn.datasets import Blocks
from kernel_learn.kernels import Gaussian
from kernel_learn.rows.columns import Column
from kernel_learn.streams import column_values
from mixed_tables import cut

RNG = np.random.default_rng(0)
HOLES = RNG.normal(size=(300, 3)) * [1, 10, 1000] + 5
HOLES[::7, 0] = np.nan
HOLES[:, 1] = HOLES[:, 1].round(-1)
NUMBERS = np.nan_to_num(HOLES)
TEXTS = np.column_stack([RNG.choice(list("abcd"), 300), RNG.choice(["x", "y"], 300)]).astype(object)
Y = (NUMBERS[:, 2] > 5).astype(int)

CASES = {
    "robust": (lambda: RobustScaler(), HOLES),
    "quantiles": (lambda: QuantileTransformer(n_quantiles=50), HOLES),
    "normal": (lambda: QuantileTransformer(n_quantiles=20, output_distribution="normal"), NUMBERS),
    "mean": (lambda: SimpleImputer(), HOLES),
    "indicator": (lambda: SimpleImputer(strategy="median", add_indicator=True), HOLES),
    "mode": (lambda: SimpleImputer(strategy="most_frequent"), HOLES),
    "constant": (lambda: SimpleImputer(strategy="constant", fill_value=-1), HOLES),
    "one hot": (lambda: OneHotEncoder(handle_unknown="ignore"), TEXTS),
    "rare": (lambda: OneHotEncoder(min_frequency=80, handle_unknown="ignore"), TEXTS),
    "ordinal": (lambda: OrdinalEncoder(), TEXTS),
    "whole numbers": (lambda: OrdinalEncoder(), RNG.integers(0, 5, (300, 2))),
}


def source_of(X, size=37, y=Y, weight=None):
    parts = [cut(X, size), cut(y, size), *([] if weight is None else [cut(weight, size)])]
    return Blocks(list(zip(*parts, strict=True)))


def as_dense(X):
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)


def fitted(step, source):
    """As a pipeline leaves it."""
    return kl.make_pipeline(step, "passthrough").fit(source)[0]


@given(
    st.sampled_from(sorted(CASES)),
    st.integers(1, 300),
    st.permutations(range(6)),
    st.sampled_from(["array", "pandas", "polars", "arrow"]),
)
@settings(max_examples=40, deadline=None)
def test_any_blocks_order_and_library(case, size, order, library):
    make, X = CASES[case]
    mixed = np.concatenate([np.array_split(np.arange(300), 6)[i] for i in order])
    expected, rows = make().fit(X), X[mixed]
    if library != "array":
        names = [f"c{c}" for c in range(X.shape[1])]
        frame = optional("pandas").DataFrame(X, columns=names)
        rows = frame.iloc[mixed]
        if library == "polars":
            rows = optional("polars").from_pandas(rows)
        elif library == "arrow":
            rows = optional("pyarrow").Table.from_pandas(rows, preserve_index=False)
        expected = make().fit(frame)
        X = frame
    found = fitted(make(), source_of(rows, size, Y[mixed]))
    a, b = as_dense(expected.transform(X)), as_dense(found.transform(X))
    np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12)
    assert found.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()


def test_equal_numbers_of_two_blocks_are_one_value():
    """Zeros, which together are more than the words beside them."""
    blocks = (np.array(own, dtype=object) for own in ([0.0, "a", "a"], [False, -0.0, "a"]))
    a, b = (column_values.ColumnValues.of(Column("c", None, X), np.ones(3), 9) for X in blocks)
    found = dict(zip((a + b).values.tolist(), (a + b).weight.tolist(), strict=True))
    assert found == {0.0: 3.0, "a": 3.0}


@pytest.mark.parametrize("case", ["robust", "indicator", "one hot"])
def test_dask(case):
    frames, (make, X) = pytest.importorskip("dask.dataframe"), CASES[case]
    frame = optional("pandas").DataFrame(X, columns=[f"c{c}" for c in range(X.shape[1])])
    spread = frames.from_pandas(frame, npartitions=5)
    found = fitted(
        make(), kl.DaskSource(spread, frames.from_pandas(optional("pandas").Series(Y), 5))
    )
    a, b = as_dense(make().fit(frame).transform(frame)), as_dense(found.transform(frame))
    np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12)


def test_a_weight_of_two_is_two_rows():
    weight = 1.0 + np.arange(300) % 3
    found = fitted(RobustScaler(), source_of(HOLES, weight=weight))
    expected = RobustScaler().fit(np.repeat(HOLES, weight.astype(int), axis=0))
    np.testing.assert_allclose(found.center_, expected.center_, rtol=1e-12)
    np.testing.assert_allclose(found.scale_, expected.scale_, rtol=1e-12)


class TestManyRows:
    """So few values are kept that these sources have more."""

    @pytest.fixture(autouse=True)
    def few_kept(self, monkeypatch):
        monkeypatch.setattr(column_values, "CAPACITY", 100)

    def test_means_are_of_all_rows(self):
        found = fitted(SimpleImputer(add_indicator=True), source_of(HOLES))
        expected = SimpleImputer(add_indicator=True).fit(HOLES)
        np.testing.assert_allclose(found.statistics_, expected.statistics_, rtol=1e-14)
        a, b = expected.transform(HOLES), found.transform(HOLES)
        np.testing.assert_allclose(b, a, rtol=1e-12)

    @pytest.mark.parametrize("case", ["one hot", "ordinal", "whole numbers"])
    def test_levels_are_those_of_all_rows(self, case):
        make, X = CASES[case]
        a, b = make().fit(X), fitted(make(), source_of(X))
        assert [own.tolist() for own in a.categories_] == [own.tolist() for own in b.categories_]

    def test_most_frequent(self):
        found = fitted(SimpleImputer(strategy="most_frequent"), source_of(HOLES[:, 1:2]))
        expected = SimpleImputer(strategy="most_frequent").fit(HOLES[:, 1:2])
        np.testing.assert_array_equal(found.statistics_, expected.statistics_)

    @pytest.mark.parametrize("size", [10, 300])
    def test_quantiles_are_of_a_sample(self, size):
        """Off by 1 / sqrt(100) in rank, about; the same whatever the blocks."""
        X = np.random.default_rng(1).normal(size=(3000, 2))
        found = fitted(RobustScaler(), source_of(X, size, np.zeros(3000)))
        ranks = (found.center_ > X).mean(axis=0)
        assert 0 < np.abs(ranks - 0.5).max() < 0.15
        other = fitted(RobustScaler(), source_of(X[::-1], 77, np.zeros(3000)))
        np.testing.assert_array_equal(found.center_, other.center_)
        np.testing.assert_array_equal(found.scale_, other.scale_)

    def test_values_that_were_left_out_once_are_missed(self):
        """Though no block brings more of them."""
        X = np.tile(np.arange(150.0), 2)[:, None]
        with pytest.raises(ValueError, match="more than 100 values"):
            fitted(OrdinalEncoder(), source_of(X, 150))

    def test_values_that_come_often_keep_their_weight(self):
        X = np.where(np.random.default_rng(1).random(3000) < 0.7, 0.0, np.arange(3000.0))[:, None]
        found = fitted(RobustScaler(quantile_range=(10, 60)), source_of(X, 100, np.zeros(3000)))
        assert found.center_ == 0 and found.scale_ == 1  # all of them at zero

    @pytest.mark.parametrize(
        ("step", "X", "words"),
        [
            (OrdinalEncoder(), NUMBERS, "more than 100 values"),
            (SimpleImputer(strategy="most_frequent"), NUMBERS, "more than 100 values"),
            (OneHotEncoder(max_categories=2), TEXTS, "max_categories=2"),
            (SimpleImputer(missing_values=-1), NUMBERS, "missing_values=-1"),
            (SimpleImputer(), TEXTS, "non-numeric"),
        ],
    )
    def test_refusals(self, step, X, words):
        with pytest.raises(ValueError, match=words):
            fitted(step, source_of(X))


@pytest.mark.parametrize(
    ("steps", "passes"),
    [
        ((SimpleImputer(), RobustScaler()), 1),
        ((SimpleImputer(), StandardScaler(), RobustScaler()), 3),
    ],
)
def test_steps_share_a_pass(steps, passes):
    read = []

    def blocks():
        read.append(1)
        return iter(zip(cut(HOLES, 50), cut(Y, 50), strict=True))

    model = kl.make_pipeline(*steps, "passthrough").fit(Blocks(blocks))
    assert len(read) == passes
    expected = kl.make_pipeline(*steps, "passthrough").fit(HOLES)
    np.testing.assert_allclose(model.transform(HOLES), expected.transform(HOLES), rtol=1e-9)


@given(
    st.integers(20, 300), st.permutations(range(6)), st.sampled_from(["array", "pandas", "dask"])
)
@settings(max_examples=10, deadline=None)
@pytest.mark.parametrize("first", [(SimpleImputer(), StandardScaler()), (SimpleImputer(),)])
def test_models_are_those_of_the_rows_in_memory(first, size, order, library):
    """To the bit up to the estimator, which chooses landmarks by a hash of what it is given."""
    last = kl.KernelDiscriminant(Gaussian(0.5), landmarks=30, reg=1e-2, random_state=0)
    make = lambda: kl.make_pipeline(*first, RobustScaler(), last)  # noqa: E731
    mixed = np.concatenate([np.array_split(np.arange(300), 6)[i] for i in order])
    expected, rows = make().fit(HOLES, Y), HOLES
    if library != "array":
        rows = optional("pandas").DataFrame(HOLES, columns=list("abc"))
        memory = make().fit(rows, Y)
        np.testing.assert_array_equal(memory[:-1].transform(rows), expected[:-1].transform(HOLES))
    if library == "dask":
        frames = pytest.importorskip("dask.dataframe")
        labelled = rows.assign(label=Y).iloc[mixed]
        found = make().fit(frames.from_pandas(labelled, npartitions=4, sort=False), "label")
    else:
        blocks = rows[mixed] if library == "array" else rows.iloc[mixed]
        found = make().fit(source_of(blocks, size, Y[mixed]))
    np.testing.assert_array_equal(found[:-1].transform(rows), expected[:-1].transform(HOLES))
    a, b = expected.decision_function(HOLES), found.decision_function(rows)
    np.testing.assert_allclose(b, a, rtol=0, atol=1e-12 * np.abs(a).max())


@pytest.mark.parametrize("X", [HOLES, NUMBERS.astype(np.float32), np.full((300, 2), 1e9)])
def test_the_scaler_is_scikit_learns(X):
    """To rounding, its attributes too, in memory and on a source."""
    expected, names = StandardScaler().fit(X), ("mean_", "var_", "scale_", "n_samples_seen_")
    memory = kl.make_pipeline(StandardScaler(), "passthrough").fit(X)[0]
    for found in (memory, fitted(StandardScaler(), source_of(X))):
        for name in names:
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-6)
        a, b = expected.transform(X), found.transform(X)
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b, a, atol=1e-6)
    plain = kl.make_pipeline(StandardScaler(with_std=False), "passthrough").fit(X)[0]
    assert plain.scale_ is None


def test_sparse_blocks_are_scaled():
    X = sparse.csr_array(np.where(NUMBERS > 5, NUMBERS, 0.0))
    blocks = [(X[i : i + 50], Y[i : i + 50]) for i in range(0, 300, 50)]
    found = fitted(StandardScaler(with_mean=False), Blocks(blocks))
    expected = StandardScaler(with_mean=False).fit(X)
    np.testing.assert_allclose(found.scale_, expected.scale_, rtol=1e-12)


def test_a_step_at_the_end_sees_all_rows():
    found = kl.make_pipeline(RobustScaler()).fit(source_of(HOLES))[0]
    np.testing.assert_allclose(found.center_, RobustScaler().fit(HOLES).center_, rtol=1e-12)
