"""One encoder of mixed tables: its definition, and the same wherever the rows live."""

import datetime as dt
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_learn as kl
from extras import optional
from kernel_learn.datasets import Blocks, CsvSource, ParquetSource
from mixed_tables import cut, frame_of, make_rows
from oracles import tables

pl, pa = optional("polars"), optional("pyarrow")


ROWS = make_rows()
ENCODED = kl.TableEncoder().fit_transform(ROWS)


class TestDefinition:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_every_kind_is_as_defined(self, weighted):
        rng = np.random.default_rng(1)
        weight = rng.integers(1, 4, len(ROWS)).astype(float) if weighted else np.ones(len(ROWS))
        epoch = dt.datetime(1970, 1, 1)
        seconds = [None if v is None else (v - epoch).total_seconds() for v in ROWS[:, 3]]
        expected = np.hstack(
            [
                tables.encode_numbers(ROWS[:, 0].tolist(), weight),
                tables.encode_numbers(ROWS[:, 1].tolist(), weight),
                tables.encode_levels(ROWS[:, 2].tolist(), weight),
                tables.encode_dates(seconds, weight),
                tables.encode_numbers([float(v) for v in ROWS[:, 4]], weight),
            ]
        )
        encoder = kl.TableEncoder().fit(ROWS[:, :5], sample_weight=weight)
        np.testing.assert_allclose(encoder.transform(ROWS[:, :5]), expected, atol=1e-9)

    def test_many_levels_are_hashed(self):
        encoder = kl.TableEncoder(max_levels=8).fit(ROWS[:, 5:])
        Z = encoder.transform(ROWS[:, 5:])
        assert Z.shape == (len(ROWS), 8) and np.all((Z > 0).sum(axis=1) == 1)
        share = (Z > 0).mean(axis=0)
        np.testing.assert_allclose(Z.max(), 1 / np.sqrt(np.sum(share * (1 - share))))
        assert encoder.get_feature_names_out()[3] == "x5#3".replace("5", "0")
        unseen = encoder.transform(np.array([["never"], [None]], dtype=object))
        assert (unseen > 0).sum(axis=1).tolist() == [1, 0]

    def test_a_weight_of_two_is_two_rows_and_zero_is_none(self):
        weight = np.tile([0.0, 1.0, 2.0], 40)
        twice = np.vstack([ROWS[weight > 0], ROWS[weight > 1]])
        a = kl.TableEncoder().fit(ROWS, sample_weight=weight)
        b = kl.TableEncoder().fit(twice)
        np.testing.assert_allclose(a.transform(ROWS), b.transform(ROWS), atol=1e-12)

    def test_unseen_levels_and_new_holes_are_zeros(self):
        encoder = kl.TableEncoder().fit(np.array([[1.0, "a"], [2.0, "b"]], dtype=object))
        found = encoder.transform(np.array([[None, "c"], [2.0, None]], dtype=object))
        np.testing.assert_array_equal(found, [[0, 0, 0], [1, 0, 0]])

    def test_constant_columns_are_zero(self):
        X = np.array([[0.1, "a", None]] * 30, dtype=object)
        found = kl.TableEncoder().fit_transform(X)
        np.testing.assert_array_equal(found[:, :2], np.zeros((30, 2)))

    def test_named_columns_are_categories(self):
        X = np.array([[1.0, 5.0], [2.0, 6.0], [1.0, 7.0]])
        names = kl.TableEncoder(categorical=[0]).fit(X).get_feature_names_out()
        assert names.tolist() == ["x0=1.0", "x0=2.0", "x1"]

    def test_nothing_that_was_given_changes(self):
        X = make_rows()
        kl.TableEncoder().fit(X).transform(X)
        assert all(a is b or a == b for a, b in zip(X.ravel(), make_rows().ravel(), strict=True))


class TestWherever:
    def test_frames_of_every_library(self):
        frame = frame_of(ROWS)
        for X in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
            np.testing.assert_allclose(kl.TableEncoder().fit_transform(X), ENCODED, atol=1e-12)

    def test_category_and_zoned_columns(self):
        frame = frame_of(ROWS)
        frame["c2"] = frame["c2"].astype("category")
        frame["c3"] = frame["c3"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
        for X in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
            np.testing.assert_allclose(kl.TableEncoder().fit_transform(X), ENCODED, atol=1e-12)

    def test_files(self, tmp_path):
        frame = frame_of(ROWS)
        pytest.importorskip("pyarrow")
        frame.to_parquet(tmp_path / "rows.parquet", row_group_size=17)
        source = ParquetSource(tmp_path / "rows.parquet")
        encoder = kl.TableEncoder().fit(source)
        found = np.vstack([block.X for block in encoder.transform(source).read(13)])
        np.testing.assert_allclose(found, ENCODED, atol=1e-12)
        without = frame.drop(columns="c3")  # whose dates a CSV file has as texts
        without.to_csv(tmp_path / "rows.csv", index=False)
        encoder = kl.TableEncoder().fit(CsvSource(tmp_path / "rows.csv"))
        expected = kl.TableEncoder().fit_transform(without)
        np.testing.assert_allclose(encoder.transform(without), expected, atol=1e-12)

    def test_dask(self):
        dask_frames = pytest.importorskip("dask.dataframe")
        frame = frame_of(ROWS)
        X = dask_frames.from_pandas(frame, npartitions=5)
        found = kl.TableEncoder().fit_transform(X)
        np.testing.assert_allclose(found.compute(), ENCODED, atol=1e-12)

    @given(st.integers(1, 130), st.randoms(), st.integers(2, 300))
    @settings(max_examples=25, deadline=None)
    def test_blocks_of_any_size_and_order(self, size, random, max_levels):
        parts = cut(ROWS, size)
        random.shuffle(parts)
        whole = kl.TableEncoder(max_levels=max_levels).fit(ROWS)
        in_blocks = kl.TableEncoder(max_levels=max_levels).fit(Blocks(parts))
        grown = kl.TableEncoder(max_levels=max_levels)
        for part in parts:
            grown.partial_fit(part)
        expected = whole.transform(ROWS)
        for encoder in (in_blocks, grown):
            assert list(encoder.get_feature_names_out()) == list(whole.get_feature_names_out())
            np.testing.assert_array_equal(encoder.transform(ROWS), expected)

    @given(st.lists(st.floats(-1e3, 1e3) | st.none(), min_size=2, max_size=30), st.integers(1, 30))
    @settings(max_examples=50, deadline=None)
    def test_numbers_of_any_blocks(self, values, size):
        X = np.array(values, dtype=object)[:, None]
        a = kl.TableEncoder().fit(X).transform(X)
        b = kl.TableEncoder().fit(Blocks(cut(X, size))).transform(X)
        np.testing.assert_array_equal(a, b)


class TestManners:
    def test_files_and_pickle(self, tmp_path):
        pytest.importorskip("skops")
        encoder = kl.TableEncoder(max_levels=16).fit(ROWS)
        kl.save(encoder, tmp_path / "encoder.kl")
        for other in (kl.load(tmp_path / "encoder.kl"), pickle.loads(pickle.dumps(encoder))):
            np.testing.assert_array_equal(other.transform(ROWS), encoder.transform(ROWS))
            grown = other.partial_fit(ROWS[:5]).transform(ROWS)
            again = pickle.loads(pickle.dumps(encoder)).partial_fit(ROWS[:5]).transform(ROWS)
            np.testing.assert_array_equal(grown, again)

    def test_names_match_columns(self):
        encoder = kl.TableEncoder().fit(frame_of(ROWS))
        names = encoder.get_feature_names_out()
        assert len(names) == len(set(names)) == ENCODED.shape[1]
        assert names[:4].tolist() == ["c0", "c0:missing", "c1", "c2=x"]
        assert "c3:year_sin" in names and "c5#63" in names

    def test_alike_levels_have_names_apart(self):
        X = np.array([["1.0"], [1.0]], dtype=object)
        names = kl.TableEncoder(categorical=[0]).fit(X).get_feature_names_out()
        assert names.tolist() == ["x0=1.0", "x0='1.0'"]

    @pytest.mark.parametrize(
        ("X", "words"),
        [
            (np.array([[1.0], ["a"]], dtype=object), "Column 0 holds numbers and texts"),
            (np.array([[[1]], ["a"]], dtype=object)[:, :1], "unhashable|holds a list"),
            (np.array([[1j]]), "complex"),
            (np.array([[np.inf]]), "infinite"),
            (np.ones(3), "2D array"),
        ],
    )
    def test_refusals(self, X, words):
        with pytest.raises((ValueError, TypeError), match=words):
            kl.TableEncoder().fit(X)

    def test_kinds_that_change_are_refused(self):
        texts, numbers = np.array([["a"]], dtype=object), np.array([[1.0]])
        for blocks in ([texts, numbers], [numbers, texts]):
            with pytest.raises(ValueError, match=r"Block 1.*numbers and texts in different blocks"):
                kl.TableEncoder().fit(Blocks(blocks))
        with pytest.raises(ValueError, match="holds texts, and at fit it held numbers"):
            kl.TableEncoder().fit(numbers).transform(texts)

    def test_a_refused_fit_leaves_the_encoder(self):
        encoder = kl.TableEncoder().fit(ROWS)
        before = encoder.transform(ROWS)
        with pytest.raises(ValueError, match="Block 1"):
            encoder.fit(Blocks([ROWS, ROWS[:, :2]]))
        with pytest.raises(ValueError, match="features"):
            encoder.partial_fit(ROWS[:, :2])
        np.testing.assert_array_equal(encoder.transform(ROWS), before)

    def test_a_source_that_is_read_once(self):
        encoder = kl.TableEncoder().fit(iter(cut(ROWS, 50)))
        np.testing.assert_allclose(encoder.transform(ROWS), ENCODED, atol=1e-12)
        with pytest.raises(ValueError, match="read once"):
            kl.TableEncoder().fit_transform(iter(cut(ROWS, 50)))
