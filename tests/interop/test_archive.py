"""Arrays of a model file are as long as they say, to the byte."""

import io
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from kernel_learn.interop.archive import ModelFileError, check_array


@pytest.mark.parametrize("spare", [b"", b"x"])
def test_no_byte_is_left_over(spare):
    array, packed = io.BytesIO(), io.BytesIO()
    np.save(array, np.arange(3))
    with ZipFile(packed, "w") as archive:
        archive.writestr("a.npy", array.getvalue() + spare)
        if not spare:
            check_array(archive, "a.npy", Path("m.skops"))
            return
        with pytest.raises(ModelFileError, match=r"claims the shape \(3,\)"):
            check_array(archive, "a.npy", Path("m.skops"))
