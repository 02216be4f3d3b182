"""pandas, polars and Arrow answer alike, and a column has one kind in all of them."""

import datetime
import decimal

import numpy as np
import pytest

from extras import optional
from kernel_learn.rows.frames import (
    as_pandas,
    column_objects,
    frame_bytes,
    frame_column,
    frame_columns,
    frame_library,
    frame_names,
    frame_rows,
    frame_types,
    is_frame,
    stack_frames,
)
from kernel_learn.rows.kinds import column_kind, is_free_text, type_kind

pd = optional("pandas")
pa = optional("pyarrow")
pl = optional("polars")

COLUMNS = {"n": [1, 2, 3, 4], "w": ["a", None, "b", "a"], "x": [0.5, 1.5, 2.5, 3.5]}


def make(library):
    if library == "pandas":
        return pd.DataFrame(COLUMNS)
    if library == "polars":
        return pl.DataFrame(COLUMNS)
    table = pa.table(COLUMNS)
    return table if library == "arrow" else table.to_batches()[0]


@pytest.fixture(params=["pandas", "polars", "arrow", "batch"])
def frame(request):
    return make(request.param)


def cells(found):
    objects = [column_objects(frame_column(found, c)) for c in range(found.shape[1])]
    return [[None if value != value else value for value in column] for column in objects]


def test_whose_it_is(frame):
    assert is_frame(frame) and frame_library(frame) in ("pandas", "polars", "arrow")
    assert not is_frame(np.eye(2)) and not is_frame([[1]]) and not is_frame({"a": 1})


def test_names_types_and_columns(frame):
    assert frame_names(frame) == ["n", "w", "x"]
    assert [type_kind(own) for own in frame_types(frame)] == ["number", "object", "number"]
    assert frame_names(frame_columns(frame, [2, 0])) == ["x", "n"]
    assert frame_names(frame_columns(frame, slice(1, None))) == ["w", "x"]
    assert cells(frame) == list(COLUMNS.values())


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([3, 0], [4, 1]),
        (slice(1, 3), [2, 3]),
        (slice(3, 9), [4]),
        (slice(None, None, 2), [1, 3]),
        (np.array([True, False, True, False]), [1, 3]),
    ],
)
def test_rows(frame, rows, expected):
    if frame_library(frame) == "polars" and isinstance(rows, np.ndarray):
        rows = np.flatnonzero(rows)  # polars masks by expressions
    found = frame_rows(frame, rows)
    assert type(found) is type(frame) and cells(found)[0] == expected


def test_stacked(frame):
    parts = [frame_rows(frame, slice(0, 3)), frame_rows(frame, slice(3, 4))]
    found = stack_frames(parts)
    assert frame_library(found) == frame_library(frame) and cells(found) == cells(frame)
    assert frame_bytes(found) > 0
    assert as_pandas(found).shape == (4, 3)


DAY = datetime.date(2020, 1, 1)
MOMENT = datetime.datetime(2020, 1, 1)
KINDS = [
    ([1, 2], "number"),
    ([0.5, None], "number"),
    ([True, False], "boolean"),
    (["a", "b"], "object"),
    ([MOMENT, MOMENT], "date"),
    ([datetime.timedelta(1)] * 2, "duration"),
]


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize(("values", "kind"), KINDS)
def test_one_kind_in_all_libraries(library, values, kind):
    makers = {"pandas": lambda v: pd.Series(v), "polars": lambda v: pl.Series(v)}
    column = makers.get(library, lambda v: pa.chunked_array([v]))(values)
    assert column_kind(column) == kind


def test_kinds_of_types_that_one_library_has():
    frames = {
        "number": [pd.array([1, None], dtype="Int64"), pd.arrays.SparseArray([0.0, 1.0])],
        "boolean": [pd.array([True, None], dtype="boolean"), pd.arrays.SparseArray([True, False])],
        "category": [pd.Categorical(["a", "b"])],
        "date": [pd.period_range("2020", periods=2, freq="D"), pd.to_datetime([MOMENT], utc=True)],
        "object": [pd.interval_range(0, 2), [b"x", b"y"]],
        "complex": [np.array([1j, 2.0])],
    }
    for kind, columns in frames.items():
        assert [column_kind(pd.Series(own)) for own in columns] == [kind] * len(columns), kind
    assert column_kind(pl.Series(["a"]).cast(pl.Categorical)) == "category"
    assert column_kind(pl.Series([[1]])) == "list" and column_kind(pl.Series([DAY])) == "date"
    assert column_kind(pa.chunked_array([[[1]]])) == "list"
    assert column_kind(pa.chunked_array([pa.array(["a"]).dictionary_encode()])) == "category"
    price = [decimal.Decimal("1.5")]
    assert column_kind(pa.chunked_array([price])) == column_kind(pl.Series(price)) == "number"
    assert column_kind(pd.Series(price, dtype=pd.ArrowDtype(pa.decimal128(5, 2)))) == "number"


def test_free_text_is_of_several_words_that_differ():
    texts = [f"patient {i} has pain" for i in range(30)]
    assert is_free_text(texts)
    assert not is_free_text(texts[:20]) and not is_free_text(texts[:5] * 6)
    assert not is_free_text([f"code {i}" for i in range(30)]) and not is_free_text([])
