"""Files that are whole or not there, with the mode and at the place that they had."""

import os
import stat

import numpy as np
import pytest

import kernel_learn as kl
from kernel_learn.atomic_write import atomic_write, write_whole

X = np.random.default_rng(0).normal(size=(20, 2))
model = kl.KernelDiscriminant().fit(X, X[:, 0] > 0)
pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("own", [0o600, 0o640, 0o664, 0o400])
def test_a_file_that_is_replaced_keeps_its_mode(own, tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(own)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new" and mode(path) == own


def test_new_files_follow_the_umask_or_are_private(tmp_path):
    before = os.umask(0o022)
    try:
        write_whole(tmp_path / "open", b"")
        write_whole(tmp_path / "private", b"", private=True)
    finally:
        os.umask(before)
    assert mode(tmp_path / "open") == 0o644 and mode(tmp_path / "private") == 0o600


def test_nobody_reads_what_is_not_whole_yet(tmp_path):
    with atomic_write(tmp_path / "file", private=True) as part:
        assert mode(part) == 0o600


def test_a_link_keeps_pointing(tmp_path):
    (tmp_path / "versions").mkdir()
    link = tmp_path / "model"
    link.symlink_to("versions/1")
    for data in (b"first", b"second"):  # of which the first is not there yet
        write_whole(link, data)
        assert link.is_symlink() and (tmp_path / "versions" / "1").read_bytes() == data
    assert [path.name for path in (tmp_path / "versions").iterdir()] == ["1"]


def test_a_link_that_leads_back_is_not_replaced(tmp_path):
    link = tmp_path / "model"
    link.symlink_to("model")
    with pytest.raises(OSError, match="a link that leads back to itself"):
        write_whole(link, b"new")
    assert link.is_symlink() and list(tmp_path.iterdir()) == [link]


def test_models_are_for_their_owner(tmp_path):
    """They hold training rows."""
    pytest.importorskip("skops")
    path = tmp_path / "model.skops"
    kl.save(model, path)
    assert mode(path) == 0o600
    path.chmod(0o644)
    kl.save(model, path)
    assert mode(path) == 0o644
