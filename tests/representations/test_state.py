"""The state of a stream: it adds up in any order, and survives a file."""

import numpy as np
import pytest
from scipy import sparse

from kernel_learn.kernels import ColumnKernel, FunctionKernel, Gaussian, Linear, Spectrum
from kernel_learn.representations import FeatureMap
from kernel_learn.representations.block import CheckedBlock
from kernel_learn.representations.state import StreamState
from kernel_learn.representations.state_files import load_state, save_state, write_file
from kernel_learn.rows.table import Table

rng = np.random.default_rng(0)
N = 300
X = rng.normal(size=(N, 4))
X[100:150] = X[:50]  # repeated rows, some with other labels
Y = rng.integers(0, 3, N)
W = rng.integers(1, 4, N).astype(float)
FEATURES = FeatureMap.whitened([Gaussian(0.2), Linear()], X[:20])


def state(rows, features=FEATURES, y=Y, **options):
    rows = np.arange(N)[rows]
    return StreamState.of(CheckedBlock(X[rows], y[rows], W[rows]), features, **options)


def same(a, b, tol=1e-10):
    assert (a.n_rows, a.digest) == (b.n_rows, b.digest)
    np.testing.assert_array_equal(a.classes, b.classes)
    np.testing.assert_array_equal(a.summary.keys, b.summary.keys)
    np.testing.assert_array_equal(a.summary.rows, b.summary.rows)
    np.testing.assert_allclose(a.summary.weight, b.summary.weight, rtol=tol)
    np.testing.assert_allclose(a.summary.labels.toarray(), b.summary.labels.toarray(), rtol=tol)
    np.testing.assert_allclose(a.summary.counts, b.summary.counts, rtol=tol)
    np.testing.assert_allclose(a.summary.columns.squares, b.summary.columns.squares, rtol=tol)
    np.testing.assert_allclose(a.moments.mean, b.moments.mean, atol=tol)
    np.testing.assert_allclose(a.moments.scatter, b.moments.scatter, atol=tol * N)


@pytest.mark.parametrize("size", [1, 7, 100, N])
@pytest.mark.parametrize("capacity", [30, 1000])
def test_blocks_of_any_size_and_order_add_up_to_the_whole(size, capacity):
    whole = state(slice(None), capacity=capacity)
    parts = [state(slice(i, i + size), capacity=capacity) for i in range(0, N, size)]
    order = rng.permutation(len(parts))
    total = parts[order[0]]
    for i in order[1:]:
        total = total + parts[i]
    same(total, whole)


def test_a_class_of_late_rows_is_one_from_the_start():
    """Sorted by label, each block has one class, and the later ones come in between."""
    y = np.array([2, 0, 1])[np.sort(Y)]
    parts = [state(slice(i, i + 20), y=y) for i in range(0, N, 20)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    same(total, state(slice(None), y=y))
    known = state(slice(0, 20), y=y, classes=np.array([0, 1, 2]))
    assert known.moments.mean.shape == total.moments.mean.shape


def test_rows_above_the_last_key_are_not_needed():
    first = state(slice(0, 200), capacity=40)
    rest = state(slice(200, N), capacity=40, last_key=first.summary.last_key)
    assert len(rest.summary.keys) < 40
    same(first + rest, state(slice(None), capacity=40))


def test_states_that_do_not_fit_together_are_refused():
    other = FeatureMap.whitened([Gaussian(0.2), Linear()], X[1:21])
    with pytest.raises(ValueError, match="different landmarks or kernels"):
        state(slice(0, 9)) + state(slice(9, 20), other)
    with pytest.raises(ValueError, match="Labels such as 'a' are texts"):
        state(slice(0, 9)) + state(slice(9, 20), y=np.full(N, "a"))
    with pytest.raises(ValueError, match="class labels and of real targets"):
        state(slice(0, 9)) + state(slice(9, 20), y=X[:, :1])


def test_a_saved_state_is_the_same_to_the_last_bit(tmp_path):
    a = state(slice(None))
    save_state(a, tmp_path / "state.npz")
    b = load_state(tmp_path / "state.npz")
    same(a, b, tol=0)
    same(a + b, a + a, tol=0)  # the landmarks and kernels are known as the same
    assert not [path for path in tmp_path.iterdir() if ".part" in path.name]


@pytest.mark.parametrize("kind", ["csr", "text", "table", "values", "single"])
def test_states_of_all_kinds_of_rows_can_be_saved(kind, tmp_path):
    rows, y, kernel = X, Y, Gaussian(0.3)
    if kind == "csr":
        rows = sparse.csr_matrix(np.where(X > 0.5, X, 0))
    elif kind == "text":
        rows = np.array(["".join(rng.choice(list("acgt"), 6)) for _ in range(N)], dtype=object)
        y, kernel = np.array(["yes", "no"], object)[Y % 2], Spectrum(2)
    elif kind == "table":
        names = np.array(["red", "blue"], object)[(X[:, 0] > 0).astype(int)]
        place = np.array([0, 1, -1])
        rows = Table(("a", "b", "colour"), X[:, :2], names[:, None], place)
        kernel = ColumnKernel(Gaussian(0.3), ["a", "b"])
    elif kind == "values":
        y = X[:, :2] ** 2
    else:
        rows = X.astype(np.float32)
    block = CheckedBlock(rows, y, W)
    few = rows[np.arange(20)]
    features = FeatureMap.whitened([kernel], few)
    a = StreamState.of(block, features)
    save_state(a, tmp_path / "state.npz")
    b = load_state(tmp_path / "state.npz")
    assert b.features.equals(a.features)
    assert b.features.whiten[0].dtype == a.features.whiten[0].dtype
    again = StreamState.of(block, b.features)
    np.testing.assert_array_equal((a + again).moments.scatter, (b + again).moments.scatter)
    np.testing.assert_array_equal((a + again).summary.keys, (b + again).summary.keys)


def test_what_is_no_state_is_refused_by_name(tmp_path):
    features = FeatureMap.whitened([FunctionKernel(lambda A, B: A @ B.T)], X[:5])
    with pytest.raises(TypeError, match="cannot be written to a file without pickle"):
        save_state(state(slice(0, 9), features), tmp_path / "state.npz")
    assert not list(tmp_path.iterdir())
    (tmp_path / "other.npz").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"other\.npz is not a state"):
        load_state(tmp_path / "other.npz")
    write_file(tmp_path / "else.npz", {"x": 1})
    with pytest.raises(ValueError, match="holds no state"):
        load_state(tmp_path / "else.npz")


def test_the_digest_sees_rows_and_labels_and_no_order():
    def digest(X=X, y=Y):
        return StreamState.of(CheckedBlock(X, y, W)).digest

    order = rng.permutation(N)
    assert digest(X[order], Y[order]) == digest()
    assert digest() == 16258248294051094620  # as in files of states that were saved
    assert digest(y=np.array(list("abc"))[Y]) == 6055070153213975693
    assert digest(y=X[:, :2]) == 5019031457922214192
    for changed in (digest(y=(Y + 1) % 3), digest(X=X + 1e-9)):
        assert changed != digest()


def test_labels_of_a_block_stand_among_the_classes_known():
    """A block without the first class: its labels are not moved to the front."""
    rows = CheckedBlock(np.array([[0.0], [1.0], [2.0]]), np.array([5, 7, 7]), np.ones(3))
    state = StreamState.of(rows, classes=np.array([3, 5, 7]), class_sums=True)
    np.testing.assert_array_equal(state.summary.counts, [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(state.sums, [[0.0], [0.0], [3.0]])


def test_sums_of_classes_add():
    a, b = (
        StreamState.of(
            CheckedBlock(np.array([[x], [x + 1]]), np.array(y), np.array([1.0, 2.0])),
            class_sums=True,
        )
        for x, y in ((0.0, [0, 1]), (10.0, [1, 2]))
    )
    np.testing.assert_array_equal((a + b).sums, [[0.0], [12.0], [22.0]])
