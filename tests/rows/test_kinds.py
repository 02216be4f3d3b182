"""Numbers in columns of objects, as frames from databases have them."""

from decimal import Decimal

import numpy as np
import pytest
from sklearn.datasets import load_iris

import kernel_learn as kl
from kernel_learn.rows.columns import learn_table

pd = pytest.importorskip("pandas")
iris, y = load_iris(return_X_y=True)
floats = pd.DataFrame(iris, columns=list("abcd"))
objects = floats.astype(object)


def test_numbers_in_columns_of_objects_are_numbers():
    model = kl.KernelClassifier(quality="fast").fit(objects[::2], y[::2])
    expected = kl.KernelClassifier(quality="fast").fit(floats[::2], y[::2])
    assert len(model._fitted.ensemble.reader.categories) == 0
    found = model.predict_proba(objects[1::2])
    np.testing.assert_allclose(found, expected.predict_proba(floats[1::2]), atol=1e-12)
    assert model.score(objects[1::2], y[1::2]) > 0.9


@pytest.mark.parametrize(
    "cells",
    [[1, 2.5, None], [Decimal("1.5"), None, Decimal(2)], [np.float32(1), np.int8(2), np.nan]],
)
def test_cells_of_numbers(cells):
    frame = pd.DataFrame({"a": pd.Series(cells * 4, dtype=object), "b": range(12)})
    reader = learn_table(frame, "auto")
    assert reader.numbers.tolist() == [0, 1]
    given = [np.nan if cell is None else float(cell) for cell in cells]
    np.testing.assert_array_equal(reader.read(frame).numbers[:3, 0], given)


@pytest.mark.parametrize("cells", [["1", "2", None], [True, False, None], [None, None, None]])
def test_cells_of_categories(cells):
    frame = pd.DataFrame({"a": pd.Series(cells * 4, dtype=object), "b": range(12)})
    assert learn_table(frame, "auto").categories.tolist() == [0]


def test_mixed_columns_are_named():
    frame = floats.assign(e=pd.Series([*([1.5, 2.5, "n/a"] * 50)], dtype=object))
    model = kl.KernelClassifier(quality="fast", max_members=1)
    with pytest.warns(UserWarning, match=r"Column 'e' holds numbers and texts, such as 'n/a'"):
        model.fit(frame, y)
    model.set_params(categorical=["e"]).fit(frame, y)  # said, and no warning


@pytest.mark.parametrize(
    "make", [lambda: kl.KernelClassifier(quality="fast", max_members=1), kl.TableEncoder]
)
def test_numbers_as_texts_are_named(make):
    """Texts are categories, in which 1.5 is as far from 1.6 as from 90."""
    frame = pd.DataFrame({"a": floats.iloc[:, 0].map(str), "b": floats.iloc[:, 1]})
    few = frame.assign(a=["0", "1", "2"] * 50)
    with pytest.warns(UserWarning, match=r"Column 'a' holds numbers as texts.*astype\(float\)"):
        make().fit(frame, y)
    make().set_params(categorical=["a"]).fit(frame, y)  # said, and no warning
    make().fit(frame.astype({"a": "category"}), y)
    make().fit(few, y)
    make().fit(frame.astype({"a": float}), y)


def test_tables_take_the_same_rule():
    pytest.importorskip("skrub")
    from kernel_learn.tables.columns import look_at_columns

    assert set(look_at_columns(objects, y).kinds.values()) == {"number"}
    decimals = floats.assign(e=pd.Series([Decimal(i) / 7 for i in range(150)], dtype=object))
    assert look_at_columns(decimals, y).kinds["e"] == "number"
