"""Kernels on a group of columns: names, positions, slices; frames, arrays, CSR."""

import numpy as np
import pytest
from scipy import sparse

from extras import optional
from kernel_learn.kernels import (
    ChiSquared,
    ColumnKernel,
    Cosine,
    Gaussian,
    Laplacian,
    Linear,
    Spectrum,
)
from kernel_learn.kernels.columns import as_rows
from tolerances import KERNEL

pd = optional("pandas")

NAMES = ["a", "b", "c", "d"]
X = np.random.default_rng(0).uniform(0, 1, size=(9, 4))
X.setflags(write=False)


def as_frame(rows):
    return pd.DataFrame(rows, columns=NAMES)


FORMS = {"array": np.asarray, "frame": as_frame, "csr": sparse.csr_matrix}

POSITIONS = [
    (0, [0]),
    (-1, [3]),
    ([2, 0], [2, 0]),
    ((0, 3), [0, 3]),
    (np.array([1, 2]), [1, 2]),
    (range(2), [0, 1]),
    (slice(1, 3), [1, 2]),
    (slice(None), [0, 1, 2, 3]),
    (slice(None, None, 2), [0, 2]),
    ([True, False, True, False], [0, 2]),
]
BY_NAME = [
    ("b", [1]),
    (["d", "a"], [3, 0]),
    (("a", "b"), [0, 1]),
    (np.array(["b", "c"]), [1, 2]),
    (slice("b", "d"), [1, 2, 3]),  # both ends included, as in df.loc
    (slice(None, "b"), [0, 1]),
    (slice("c", None), [2, 3]),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("columns, expected", POSITIONS, ids=lambda value: str(value))
def test_positions(form, columns, expected):
    K = ColumnKernel(Gaussian(2.0), columns)(FORMS[form](X))
    np.testing.assert_allclose(K, Gaussian(2.0)(X[:, expected]), atol=KERNEL)


@pytest.mark.parametrize("columns, expected", BY_NAME, ids=lambda value: str(value))
def test_names(columns, expected):
    check_names(columns, expected)


def test_names_in_an_index():
    check_names(pd.Index(["b"]), [1])


def check_names(columns, expected):
    kernel = ColumnKernel(Gaussian(2.0), columns)
    np.testing.assert_allclose(kernel(as_frame(X)), Gaussian(2.0)(X[:, expected]), atol=KERNEL)
    with pytest.raises(ValueError, match="by name, and X is a ndarray without column names"):
        kernel(X)


def test_names_hold_when_columns_move():
    kernel = ColumnKernel(Linear(), ["c", "a"])
    assert np.array_equal(kernel(as_frame(X)), kernel(as_frame(X)[["d", "a", "c"]]))


def test_two_sets_of_rows_and_diagonal():
    kernel = ColumnKernel(Laplacian(1.0), ["a", "d"])
    expected = Laplacian(1.0)(X[:3, [0, 3]], X[:, [0, 3]])
    np.testing.assert_allclose(kernel(as_frame(X)[:3], as_frame(X)), expected, atol=KERNEL)
    np.testing.assert_allclose(
        ColumnKernel(Linear(), 1).diag(as_frame(X)), X[:, 1] ** 2, atol=KERNEL
    )


@pytest.mark.parametrize("columns", ["e", ["a", "e"], slice("a", "e"), slice("e", None)])
def test_missing_names(columns):
    with pytest.raises(ValueError, match=r"X has no columns \['e'\]; it has \['a', 'b'"):
        ColumnKernel(Linear(), columns)(as_frame(X))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("columns", [4, [0, 7], -5, [True, False]])
def test_positions_out_of_range(form, columns):
    with pytest.raises(ValueError, match="and X has 4 columns"):
        ColumnKernel(Linear(), columns)(FORMS[form](X))


@pytest.mark.parametrize("columns", [[], slice(4, None)])
def test_no_columns(columns):
    with pytest.raises(ValueError, match="0 feature"):
        ColumnKernel(Linear(), columns)(X)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("form", FORMS)
def test_missing_values_are_refused_where_they_are_used(bad, form):
    rows = np.array(X)
    rows[2, 1] = bad
    with pytest.raises(ValueError, match=r"columns \[1, 2\] contains (NaN|infinity)"):
        ColumnKernel(Linear(), [1, 2])(FORMS[form](rows))
    assert np.isfinite(ColumnKernel(Linear(), [0, 2])(FORMS[form](rows))).all()


def test_rules_see_the_selected_columns_only():
    kernel = ColumnKernel("gaussian", ["b", "c"])
    assert not kernel.is_resolved
    with pytest.raises(ValueError, match="has a rule"):
        kernel(as_frame(X))
    resolved = kernel.resolve(as_frame(X))
    assert resolved.kernel.gamma == Gaussian().resolve(X[:, 1:3]).gamma
    assert kernel.kernel == "gaussian" and resolved.resolve(as_frame(X)).kernel is resolved.kernel
    weight = np.arange(1.0, 10.0)
    weighted = kernel.resolve(as_frame(X), weight).kernel.gamma
    assert weighted == Gaussian().resolve(X[:, 1:3], weight).gamma


@pytest.mark.parametrize("form", FORMS)
def test_single_precision(form):
    rows = FORMS[form](X.astype(np.float32))
    for kernel in (Gaussian(1.0), Cosine(), ChiSquared(1.0)):
        kernel = ColumnKernel(kernel, [0, 2])
        assert kernel(rows).dtype == kernel.diag(rows).dtype == np.float32


def test_integers_and_objects():
    counts = np.arange(12).reshape(4, 3)
    expected = Linear()(counts[:, [0, 2]].astype(float))
    for rows in (counts, counts.astype(object), pd.DataFrame(counts), counts.tolist()):
        np.testing.assert_allclose(ColumnKernel(Linear(), [0, 2])(rows), expected)


def test_string_column():
    frame = pd.DataFrame({"text": ["abc", "abd", "xyz"], "size": [1.0, 2.0, 3.0]})
    expected = Spectrum(2)(["abc", "abd", "xyz"])
    for rows, column in ((frame, "text"), (frame, 0), (frame.to_numpy(dtype=object), 0)):
        np.testing.assert_allclose(ColumnKernel(Spectrum(2), column)(rows), expected)
    with pytest.raises(ValueError, match="string kernel takes one column"):
        ColumnKernel(Spectrum(2), [0, 1])(frame)
    with pytest.raises(ValueError, match="is not a number"):
        ColumnKernel(Linear(), "text")(frame)


def test_column_kernel_of_a_column_kernel():
    nested = ColumnKernel(ColumnKernel(Linear(), 1), [3, 2])
    np.testing.assert_allclose(nested(X), np.outer(X[:, 2], X[:, 2]))


def test_nested_parameters():
    kernel = ColumnKernel(Gaussian(1.0), "a")
    kernel.set_params(kernel__gamma=3.0, columns="b")
    assert kernel.kernel.gamma == 3.0 and kernel.get_params()["kernel__gamma"] == 3.0
    np.testing.assert_allclose(kernel(as_frame(X)), Gaussian(3.0)(X[:, [1]]))


def test_as_rows_copies_nothing_that_fits():
    assert as_rows(X, "vectors", "X") is X
    frame = as_frame(X)
    assert as_rows(frame, "columns", "X") is frame
