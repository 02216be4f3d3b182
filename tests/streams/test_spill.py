"""Rows on the disk: one block below the other, and no more than half of what is free."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from kernel_learn.streams import spill
from kernel_learn.streams.spill import DiskIsShort, Spill

X = np.arange(30.0).reshape(10, 3) * (np.arange(30).reshape(10, 3) % 4 > 0)
ENTRIES = np.count_nonzero(X)


@pytest.fixture
def free(monkeypatch):
    """So many bytes are free."""

    def set_free(n_bytes):
        monkeypatch.setattr(spill.shutil, "disk_usage", lambda _: SimpleNamespace(free=n_bytes))

    return set_free


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_blocks_stand_one_below_the_other(form, tmp_path):
    rows = Spill(tmp_path)
    for part in (X[:4], X[4:5], X[5:]):
        rows.add(form(part))
    found = rows.rows()
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, X)
    assert rows.n_rows == 10
    assert rows.n_bytes == (240 if form is np.asarray else 12 * ENTRIES)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) == rows.n_bytes


@pytest.mark.parametrize(("form", "size"), [(np.asarray, 240), (sparse.csr_matrix, 12 * ENTRIES)])
def test_half_of_what_is_free_may_be_taken(form, size, free, tmp_path):
    free(2 * size)
    rows = Spill(tmp_path)
    rows.add(form(X))
    rows.ask_for(size)
    with pytest.raises(DiskIsShort, match=f"{size + 1:.3g} bytes, and {size:.3g} may be taken"):
        rows.ask_for(size + 1)
    with pytest.raises(DiskIsShort):  # what is there counts
        rows.add(form(X[:5]))
    (tmp_path / "short").mkdir()
    free(2 * size - 1)
    with pytest.raises(DiskIsShort):
        Spill(tmp_path / "short").add(form(X))


def test_a_disk_that_is_full_is_short(tmp_path):
    rows = Spill(tmp_path)
    rows.folder = tmp_path / "gone"
    with pytest.raises(DiskIsShort, match="No such file"):
        rows.add(X)
