"""Sources made of others: mapped, and split by what rows hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import kernel_learn as kl
from extras import optional
from kernel_learn.datasets import Blocks, CsvSource, NpySource, ParquetSource
from kernel_learn.streams import derived
from kernel_learn.streams.blocks import ArrayRows

pd, pl, pa = optional("pandas"), optional("polars"), optional("pyarrow")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3)).round(6)
X[::9, 1] = np.nan
Y = RNG.choice(["a", "b", "c"], 400, p=[0.7, 0.2, 0.1])


def rows_of(source, size=50):
    return np.vstack([np.asarray(block.X) for block in source.read(size)])


def labels_of(source):
    return np.concatenate([block.y for block in source.read(50)])


def sorted_rows(A):
    A = np.nan_to_num(A, nan=-99.0)
    return A[np.lexsort(A.T)]


class TestMap:
    def test_rows_are_transformed_and_the_rest_stays(self):
        weight = np.arange(400.0)
        scaler = StandardScaler().fit(X)
        source = ArrayRows(X, Y, weight).map(scaler)
        np.testing.assert_array_equal(rows_of(source), scaler.transform(X))
        np.testing.assert_array_equal(labels_of(source), Y)
        assert np.array_equal(np.concatenate([b.weight for b in source.read(7)]), weight)
        assert source.rewinds and source.identity() != ArrayRows(X, Y, weight).identity()

    def test_twice(self):
        scaler = StandardScaler().fit(X)
        twice = Blocks([(X, Y)]).map(scaler).map(scaler)
        np.testing.assert_array_equal(rows_of(twice), scaler.transform(scaler.transform(X)))

    def test_short_rows_are_changed_many_at_a_time(self, tmp_path, monkeypatch):
        """As many as take so many bytes before and after; of rows of unknown length those asked."""
        np.save(tmp_path / "X.npy", X)
        scaler = StandardScaler().fit(X)
        source = NpySource(tmp_path / "X.npy")
        assert len(list(source.map(scaler).read(10))) == 1
        assert len(list(source.split()[0].map(scaler).read(10))) == 1
        blocks = Blocks([(X[i : i + 10], Y[i : i + 10]) for i in range(0, 400, 10)])
        assert len(list(blocks.map(scaler).read(10))) == 40
        monkeypatch.setattr(derived, "CHANGE_BYTES", 100 * 3 * 8)
        assert [len(block.X) for block in source.map(scaler).read(10)] == [100] * 4
        assert [len(block.X) for block in source.map(scaler).read(200)] == [200] * 2
        np.save(tmp_path / "filled.npy", np.nan_to_num(X))
        wide = PolynomialFeatures(2).fit(np.nan_to_num(X))  # ten columns of three
        filled = NpySource(tmp_path / "filled.npy")
        train = filled.split(0.01)[0]  # which alone would take a hundred rows
        for part in (filled, train):
            assert max(len(block.X) for block in part.map(wide).read(10)) == 30
        np.testing.assert_array_equal(rows_of(source.map(scaler)), scaler.transform(X))

    def test_what_does_not_transform_is_refused(self):
        with pytest.raises(TypeError, match="a dict has no transform"):
            Blocks([(X, Y)]).map({})


class TestSplit:
    def test_every_row_is_on_one_side(self):
        train, test = ArrayRows(X, Y).split(0.25)
        both = np.vstack([rows_of(train), rows_of(test)])
        np.testing.assert_array_equal(sorted_rows(both), sorted_rows(X))
        assert 0.17 < len(rows_of(test)) / 400 < 0.33

    @given(st.integers(1, 400), st.permutations(range(8)), st.floats(0.05, 0.9), st.integers(0, 9))
    @settings(max_examples=20, deadline=None)
    def test_blocks_of_any_size_and_order(self, size, order, share, seed):
        parts = np.array_split(np.arange(400), 8)
        mixed = np.concatenate([parts[i] for i in order])
        for by, stratify in (("key", False), (0, False), ("key", True)):
            options = {"by": by, "stratify": stratify, "seed": seed}
            _, whole = ArrayRows(X, Y).split(share, **options)
            _, other = ArrayRows(X[mixed], Y[mixed]).split(share, **options)
            found = [block.X for block in other.read(size)]
            expected = sorted_rows(rows_of(whole)) if list(whole.read(9)) else np.empty((0, 3))
            found = sorted_rows(np.vstack(found)) if found else np.empty((0, 3))
            np.testing.assert_array_equal(found, expected)

    def test_the_same_on_every_path(self, tmp_path):
        frame = pd.DataFrame(X, columns=list("abc"))
        frame["text"], frame["day"] = (
            Y,
            pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(400) % 50, unit="D"),
        )
        frame.to_parquet(tmp_path / "rows.parquet", row_group_size=33)
        dask_frames = pytest.importorskip("dask.dataframe")
        sources = {
            "pandas": ArrayRows(frame),
            "polars": ArrayRows(pl.from_pandas(frame)),
            "arrow": ArrayRows(pa.Table.from_pandas(frame)),
            "objects": ArrayRows(frame.astype(object).to_numpy()),
            "parquet": ParquetSource(tmp_path / "rows.parquet"),
            "dask": kl.DaskSource(dask_frames.from_pandas(frame, npartitions=3)),
        }
        for by in ("key", 3, 4):
            found = {
                name: np.concatenate(
                    [np.asarray(b.X)[:, 0].astype(float) for b in source.split(by=by)[1].read(60)]
                )
                for name, source in sources.items()
            }
            for name, values in found.items():
                np.testing.assert_array_equal(values, found["pandas"], err_msg=name)

    def test_arrays_of_files(self, tmp_path):
        np.save(tmp_path / "X.npy", X)
        pd.DataFrame(X, columns=list("abc")).to_csv(tmp_path / "rows.csv", index=False)
        expected = rows_of(ArrayRows(X).split()[1])
        for source in (NpySource(tmp_path / "X.npy"), CsvSource(tmp_path / "rows.csv")):
            np.testing.assert_array_equal(rows_of(source.split()[1]), expected)

    def test_groups_stay_together(self, tmp_path):
        groups = RNG.integers(0, 40, 400).astype(float)
        frame = pd.DataFrame({"a": X[:, 0], "group": groups})
        frame.to_parquet(tmp_path / "rows.parquet")
        train, test = ParquetSource(tmp_path / "rows.parquet").split(0.3, by="group")
        sides = [set(rows_of(side)[:, 1]) for side in (train, test)]
        assert not sides[0] & sides[1] and len(sides[0] | sides[1]) == 40
        named = ArrayRows(frame).split(0.3, by="group")[1]
        np.testing.assert_array_equal(rows_of(named), rows_of(test))

    def test_strata_have_their_share(self):
        train, test = ArrayRows(X, Y).split(0.2, stratify=True)
        for label in "abc":
            wanted = 0.2 * np.sum(label == Y)
            assert abs(np.sum(labels_of(test) == label) - wanted) <= 1
        assert len(labels_of(train)) + len(labels_of(test)) == 400

    def test_strata_on_dask(self):
        da = pytest.importorskip("dask.array")
        source = kl.DaskSource(da.from_array(X, chunks=(90, 3)), da.from_array(Y, chunks=90))
        found = rows_of(source.split(0.2, stratify=True)[1])
        np.testing.assert_array_equal(found, rows_of(ArrayRows(X, Y).split(0.2, stratify=True)[1]))

    def test_parts_are_split_again(self):
        train, test = ArrayRows(X, Y).split(0.3)
        for part in (train, test):
            n = len(rows_of(part))
            sides = [len(rows_of(side)) for side in part.split(0.3)]
            assert sum(sides) == n and 0.15 * n < sides[1] < 0.45 * n

    def test_seeds_differ(self):
        a, b = (rows_of(ArrayRows(X).split(seed=seed)[1]) for seed in (0, 1))
        assert a.shape != b.shape or not np.array_equal(a, b, equal_nan=True)

    @pytest.mark.parametrize(
        ("source", "options", "words"),
        [
            (ArrayRows(X), {"test_size": 1.0}, "between 0 and 1"),
            (ArrayRows(X), {"seed": -1}, "seed=-1 must be"),
            (ArrayRows(X), {"stratify": True}, "no labels"),
            (ArrayRows(X, Y), {"stratify": True, "by": 0}, "stay together"),
            (Blocks(iter([X])), {}, "read once"),
        ],
    )
    def test_refusals(self, source, options, words):
        with pytest.raises(ValueError, match=words):
            source.split(**options)

    def test_columns_that_are_not_there(self):
        for by in ("city", 3):
            with pytest.raises(ValueError, match=f"by={by!r} is no column of the rows"):
                ArrayRows(X).split(by=by)
            with pytest.raises(ValueError, match=f"stratify={by!r} is no column of the rows"):
                ArrayRows(X, Y).split(stratify=by)
        with pytest.raises(TypeError, match="by=None must be 'key', or the name or number"):
            ArrayRows(X).split(by=None)
        with pytest.raises(TypeError, match=r"stratify=0\.2 must be True, False, or"):
            ArrayRows(X, Y).split(stratify=0.2)


class TestColumnsBeside:
    """Groups and strata by columns that are no features."""

    @pytest.fixture
    def sources(self, tmp_path):
        frame = pd.DataFrame({"a": np.arange(400.0), "b": X[:, 2], "label": Y})
        frame["city"] = [f"c{i}" for i in RNG.integers(0, 30, 400)]
        frame.to_parquet(tmp_path / "rows.parquet", row_group_size=90)
        frame.to_csv(tmp_path / "rows.csv", index=False)
        options = {"target": "label", "columns": ["a", "b"]}
        return frame, {
            "parquet": ParquetSource(tmp_path / "rows.parquet", **options),
            "csv": CsvSource(tmp_path / "rows.csv", dtype=float, **options),
        }

    def test_groups(self, sources):
        frame, sources = sources
        expected = rows_of(ArrayRows(frame).split(by="city")[1])[:, 0]
        for source in sources.values():
            train, test = source.split(by="city")
            block = next(test.read(50))
            assert isinstance(block.X, np.ndarray) and block.X.shape[1] == 2
            np.testing.assert_array_equal(rows_of(test)[:, 0], expected)
            sides = [
                set(frame.city[rows_of(own)[:, 0].astype(int)]) for own in train.split(by="city")
            ]
            assert not sides[0] & sides[1] and all(sides)
            scaled = source.map(StandardScaler().fit(frame[["a", "b"]].to_numpy()))
            assert len(rows_of(scaled.split(by="city")[1])) == len(expected)

    def test_the_target(self, sources):
        frame, sources = sources
        dd = pytest.importorskip("dask.dataframe")
        sources["dask"] = kl.DaskSource(dd.from_pandas(frame, npartitions=3), "label")
        for source in sources.values():
            sides = [set(labels_of(own)) for own in source.split(0.5, by="label")]
            assert not sides[0] & sides[1] and sides[0] | sides[1] == set("abc")

    def test_strata(self, sources):
        frame, sources = sources
        for source in (*sources.values(), ArrayRows(frame, Y)):
            test = source.split(0.4, stratify="city")[1]
            found = frame.city[rows_of(test)[:, 0].astype(int)].value_counts()
            wanted = 0.4 * frame.city.value_counts()
            assert (found.reindex(wanted.index, fill_value=0) - wanted).abs().max() <= 1
        by_target = sources["csv"].split(0.4, stratify=True)[1]
        assert len(rows_of(by_target)) == len(
            rows_of(sources["csv"].split(0.4, stratify="label")[1])
        )

    def test_names_of_files_are_checked_at_once(self, sources):
        for source in sources[1].values():
            for argument in ("by", "stratify"):
                with pytest.raises(ValueError, match=f"{argument}='town' is no column.* 'city'"):
                    source.split(**{argument: "town"})


def test_derived_sources_print_themselves(tmp_path):
    np.save(tmp_path / "X.npy", X)
    source = NpySource(tmp_path / "X.npy")
    train, test = source.split(0.25)
    assert repr(test) == f"DerivedSource(test rows, test_size=0.25, by='key', of {source!r})"
    assert (
        repr(train.map(StandardScaler())) == f"DerivedSource(rows by StandardScaler of {train!r})"
    )
    strata = ArrayRows(X, Y).split(stratify=True)[0]
    assert repr(strata) == (
        "DerivedSource(training rows, test_size=0.2 of every class, by='key', of "
        "ArrayRows(ndarray of shape (400, 3)))"
    )


def test_dask_sources():
    dd, da = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask.array")
    frame = pd.DataFrame(np.nan_to_num(X), columns=list("abc")).assign(label=Y)
    rows = dd.from_pandas(frame, npartitions=3)
    source = kl.DaskSource(rows, "label")
    text = "DaskSource('DataFrame of 3 blocks': rows not counted, 3 columns, target 'label')"
    assert repr(source) == text
    train, test = source.split(0.25)
    assert repr(test) == f"DerivedSource(test rows, test_size=0.25, by='key', of {text})"
    model = kl.KernelDiscriminant(landmarks=10, random_state=0).fit(train)
    here = ArrayRows(frame[list("abc")], Y).split(0.25)[1]
    assert model.score(test) == pytest.approx(model.score(here))
    assert "400 rows" in repr(kl.DaskSource(da.from_array(X, chunks=(90, 3))))
    with pytest.raises(TypeError, match=r"kernel_learn\.DaskSource"):
        Blocks(rows)
    with pytest.raises(TypeError, match="X is a ndarray; a DaskSource is of"):
        kl.DaskSource(X, Y)
