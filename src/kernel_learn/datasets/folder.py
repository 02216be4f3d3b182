"""A folder of NumPy files, one data set each.

``name.npz`` holds ``X`` and ``y`` (or ``K`` (p, n, n) and ``y``; or ``X0, X1,
...`` with ``n_views`` and ``y``) and whatever else belongs to it;
``name.sparse.npz`` with ``name.y.npy`` holds a sparse matrix and its labels.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]
VARIABLE = "KERNEL_LEARN_DATA"


class MissingDataError(FileNotFoundError):
    """The folder or a data set in it is not there."""


@dataclass(frozen=True)
class DataFolder:
    """Data sets by name."""

    path: Path

    def names(self) -> list[str]:
        """The sets that are in the folder."""
        files = (path.name for path in self.path.glob("*.npz"))
        return sorted(name.removesuffix(".npz").removesuffix(".sparse") for name in files)

    def load(self, name: str) -> tuple[Any, Array]:
        """(X, y): a float array, a CSR matrix, a list of views or an array of kernels; labels."""
        text = self.path / f"{name}.sparse.npz"
        if text.exists():
            return (
                sparse.csr_matrix(sparse.load_npz(text), dtype=np.float64),
                np.load(self.path / f"{name}.y.npy"),
            )
        content = self.content(name)
        if "n_views" in content:
            views = range(int(content["n_views"]))
            return [content[f"X{view}"].astype(np.float64) for view in views], content["y"]
        X = content["K"] if "K" in content else content["X"]
        return X.astype(np.float32 if X.size > 2e7 else np.float64), content["y"]

    def content(self, name: str) -> dict[str, Array]:
        """All arrays of a data set's file."""
        file = self.path / f"{name}.npz"
        if not file.exists():
            raise MissingDataError(
                f"There is no data set {name!r} in {self.path}. It has: {', '.join(self.names())}."
            )
        with np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)


def find_data(path: str | os.PathLike[str] | None = None) -> DataFolder:
    """The folder given, or the one named by the environment variable KERNEL_LEARN_DATA."""
    found = path or os.environ.get(VARIABLE)
    if not found:
        raise MissingDataError(f"No data folder: pass one, or set {VARIABLE} to one.")
    if not Path(found).is_dir():
        raise MissingDataError(f"The data folder {found} does not exist.")
    return DataFolder(Path(found))
