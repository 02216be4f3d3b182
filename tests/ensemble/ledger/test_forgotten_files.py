"""Files after ``forget``, of every family: searched for whole rows, values, words, labels, keys."""

import io
import zipfile

import numpy as np
import pytest
from scipy import sparse

import kernel_learn as kl
from extras import optional
from kernel_learn.rows.keys import row_keys

pd = optional("pandas")

GONE = np.array([3, 17, 40])
D = 5
WORDS = ["xyzzyplugh", "plughfrotz", "frotzxyzzy"]  # categories that these rows alone have


def rows_of(n):
    """Numbers of which those of the forgotten rows are nobody else's."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D)).round(2)
    X[GONE] += 0.00123456789 * np.arange(1, 4)[:, None] + 1e-7 * rng.standard_normal((3, D))
    return X


def classes_of(X):
    return (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)


def numbers_of(X):
    """Rounded as those of rows are, but for the forgotten rows."""
    y = (X[:, 0] + X[:, 1] * X[:, 2]).round(1)
    y[GONE] += [0.0271828182, 0.0314159265, 0.0141421356]
    return y


def frame_of(X):
    X = pd.DataFrame(X, columns=list("abcde"))
    X["word"] = np.where(np.arange(len(X)) % 2, "even", "odd").astype(object)
    X.loc[GONE, "word"] = WORDS
    return X


def classifier(**options):
    return kl.KernelClassifier(quality="fast", random_state=0, **options)


def regressor(**options):
    return kl.KernelRegressor(quality="fast", random_state=0, **options)


LEAVES = {"memory_budget": 2_600_000, "assess": False, "max_members": 2}
FAMILIES = {
    "one kernel": (classifier(max_members=1), 90, np.asarray, classes_of),
    "ensemble": (kl.KernelClassifier(), 90, np.asarray, classes_of),
    "leaves": (classifier(**LEAVES), 900, np.asarray, classes_of),
    "sparse": (classifier(), 90, sparse.csr_array, classes_of),
    "categories": (classifier(), 90, frame_of, classes_of),
    "numbers": (regressor(), 90, np.asarray, numbers_of),
    "numbers in leaves": (regressor(**LEAVES), 900, np.asarray, numbers_of),
    "numbers by categories": (regressor(), 90, frame_of, numbers_of),
    "discriminant": (kl.KernelDiscriminant(), 90, np.asarray, classes_of),
    "nearest": (kl.KernelDiscriminant(decision="nearest_neighbor"), 90, np.asarray, classes_of),
    "landmarks": (kl.KernelDiscriminant(landmarks=30), 90, np.asarray, classes_of),
}


class Contents:
    """Arrays and texts of a file."""

    def __init__(self, model, path):
        kl.save(model, path)
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        self.bytes = b"\n".join(parts.values())
        self.arrays = []
        for name, part in parts.items():
            if name.endswith(".npy"):
                self.arrays.append(np.load(io.BytesIO(part), allow_pickle=False))
            elif name.endswith(".npz"):
                with np.load(io.BytesIO(part), allow_pickle=False) as some:
                    self.arrays += [some[key] for key in some.files]
        self.arrays = [A for A in self.arrays if A.dtype.kind == "f"]
        lone = [A.astype(np.float32).ravel() for A in self.arrays]
        self.values = np.unique(np.concatenate([*lone, np.empty(0, np.float32)]))

    def has_row(self, row):
        """Whether all of a row's values stand side by side, in single precision, any way round."""
        row = np.asarray(row, dtype=np.float32)
        for A in self.arrays:
            sides = (A, A.T) if A.ndim == 2 else (np.atleast_2d(A),)
            for B in (side.astype(np.float32) for side in sides):
                starts = range(B.shape[1] - len(row) + 1)
                if any((B[:, s : s + len(row)] == row).all(axis=1).any() for s in starts[:40]):
                    return True
        return row.tobytes() in self.bytes or row.astype(float).tobytes() in self.bytes

    def has_text(self, text):
        return any(text.encode(code) in self.bytes for code in ("utf-8", "utf-16-le", "utf-32-le"))

    def has_value(self, value):
        told = repr(float(value)).encode() in self.bytes  # of a schema in JSON
        return bool(np.isin(np.float32(value), self.values)) or told


@pytest.mark.filterwarnings("ignore:.*gives another model")
@pytest.mark.parametrize("choices", ["keep", "again"])
@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_left(family, choices, tmp_path):
    pytest.importorskip("skops")
    model, n, given, labels = FAMILIES[family]
    numbers = rows_of(n)
    X, y = given(numbers), labels(numbers)
    model = model.fit(X, y)
    before = Contents(model, tmp_path / "before.skops")
    smaller = model.forget(GONE, choices=choices)
    after = Contents(smaller, tmp_path / "after.skops")
    rows, values = numbers[GONE], numbers[GONE].ravel()
    keys = [key.tobytes() for key in row_keys(np.asarray(numbers))[GONE]]
    assert any(map(before.has_value, values)), "the search finds what is there"
    if "leaves" in family:
        assert model._fitted.ensemble.forest is not None
    assert not any(map(after.has_row, rows))
    assert not any(key in after.bytes for key in keys)
    if given is frame_of:
        assert all(map(before.has_text, WORDS)) and not any(map(after.has_text, WORDS))
    if labels is numbers_of:
        assert all(map(before.has_value, y[GONE])) and not any(map(after.has_value, y[GONE]))
    if choices == "again":
        assert not any(map(after.has_value, values))
    else:
        left = [value for value in values if after.has_value(value)]
        told = "".join(smaller.forgotten_.kept)
        assert not left or "rank tables of single columns" in told
