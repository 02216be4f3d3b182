"""Results written block by block: one .npy file, whatever the blocks are."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernel_learn.fitting.block_results import write_blocks


def written(blocks, folder, classes=()):
    model = SimpleNamespace(classes_=np.array(classes, dtype=object))
    path = write_blocks(iter(blocks), folder / "out.npy", model)
    return np.load(path, allow_pickle=False)


def test_texts_are_as_wide_as_the_longest_class(tmp_path):
    """Whichever comes first: the blocks of a file are of one type."""
    blocks = [np.array(["a", "bc"], object), np.array(["longest"], object)]
    found = written(blocks, tmp_path, ["a", "bc", "longest", "not predicted"])
    assert found.dtype == "<U13" and found.tolist() == ["a", "bc", "longest"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_blocks_have_the_type_of_the_first(dtype, tmp_path):
    blocks = [np.ones((2, 3), dtype), np.full((0, 3), 2.0), np.full((1, 3), 3.0)]
    found = written(blocks, tmp_path)
    assert found.dtype == dtype and found.tolist() == [[1.0] * 3, [1.0] * 3, [3.0] * 3]
