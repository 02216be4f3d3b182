"""Data sets by name: a folder of NumPy files, one data set each, or OpenML.

``name.npz`` holds ``X`` and ``y`` (or ``K`` (p, n, n) and ``y``; or ``X0, X1,
...`` with ``n_views`` and ``y``) and whatever else belongs to it;
``name.sparse.npz`` with ``name.y.npy`` holds a sparse matrix and its labels.
"""

import hashlib
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array, Rows

VARIABLE = "KERNEL_LEARN_DATA"


class MissingDataError(FileNotFoundError):
    """The folder or a data set in it is not there."""


class DataSets(ABC):
    """Data sets by name, from a folder or from OpenML."""

    @abstractmethod
    def names(self) -> list[str]:
        """The sets that can be asked for."""

    @abstractmethod
    def load(self, name: str) -> tuple[Rows, Array]:
        """(X, y): a float array, a CSR matrix, a list of views or an array of kernels; labels."""


@dataclass(frozen=True)
class DataFolder(DataSets):
    """The data sets of a folder.

    Parameters
    ----------
    path : path
        Of the folder.
    """

    path: Path

    def names(self) -> list[str]:
        """The sets that are in the folder."""
        files = (path.name for path in self.path.glob("*.npz"))
        return sorted(name.removesuffix(".npz").removesuffix(".sparse") for name in files)

    def load(self, name: str) -> tuple[Rows, Array]:
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


def find_data(path: str | os.PathLike[str] | None = None) -> DataSets:
    """The data sets of a folder (by default ``KERNEL_LEARN_DATA``); without one, those of OpenML.

    Parameters
    ----------
    path : path or None
        Of the folder; None: what KERNEL_LEARN_DATA names.
    """
    found = path or os.environ.get(VARIABLE)
    if not found:
        return OpenMLData()
    if not Path(found).is_dir():
        raise MissingDataError(f"The data folder {found} does not exist.")
    return DataFolder(Path(found))


class OpenMLData(DataSets):
    """Data sets of openml.org through scikit-learn, kept in its data folder once fetched.

    Each must be the very set the pages were made from: its digest is
    compared, and a copy that differs is refused.
    """

    def names(self) -> list[str]:
        """The sets whose number on OpenML is known."""
        return sorted(OPENML)

    def load(self, name: str) -> tuple[Array, Array]:
        """(X, y) of one set."""
        if name not in OPENML:
            raise MissingDataError(
                f"No data folder, and {name!r} is not fetched from OpenML (these are: "
                f"{', '.join(self.names())}). {WHERE}"
            )
        from sklearn import datasets

        number, digest = OPENML[name]
        try:
            found = datasets.fetch_openml(
                data_id=number, as_frame=False, parser="liac-arff", n_retries=1, delay=0.1
            )
        except (OSError, ValueError, HTTPException) as failure:
            raise MissingDataError(
                f"No data folder, and {name!r} could not be fetched from OpenML "
                f"({type(failure).__name__}: {failure}). {WHERE}"
            ) from failure
        X, y = np.asarray(found.data, dtype=np.float64), np.asarray(found.target)
        if digest_rows(X, y) != digest:
            raise MissingDataError(
                f"OpenML's copy of {name!r} (number {number}) is not the one the results were made "
                f"from: its digest differs. {WHERE}"
            )
        return X, y


def digest_rows(X: Array, y: Array) -> str:
    """SHA-256 over the rows to five digits and the classes, numbered as they first occur.

    Copies of a data set differ in the digits they keep and in the names of classes.
    """
    _, first, classes = np.unique(y, return_index=True, return_inverse=True)
    numbers = np.argsort(np.argsort(first))[classes]
    text = "\n".join(
        " ".join(f"{value:.4e}" for value in [*row, float(c)])
        for row, c in zip(X, numbers, strict=True)
    )
    return hashlib.sha256(text.encode()).hexdigest()


WHERE = (
    f"Pass a folder with --data, or set {VARIABLE} to one: NAME.npz with X and y for each set; "
    "docs/results/data.md says where each set comes from."
)
# name -> its number on OpenML, and the digest of the rows that the pages were made from
OPENML = {
    "balance-scale": (11, "41f6995e0ac148867b62154bf5acccdd1b8402b98b71529dda9ec35dca976183"),
    "breast-w": (15, "e2b7cf8d2e121d901aa52f4ce24eeec5aa896db248018113acc41870007a58e6"),
    "diabetes": (37, "f27f5fde45d41a8270680795cb6a384d23be0325a5fdc2cf49646222578a64ba"),
    "heart-statlog": (53, "b15f151eb45f87ecb39e2d6632245ec9d140d4357fd93177ba72ee167335362b"),
    "ionosphere": (59, "d00524bac31acfdce20b87b053614a06792ebb7c938a4c289f54bf7e7181b54e"),
    "iris": (61, "7e9bce09a386094063dec76e71b885e746e236b607a3fa966181fd5731da8738"),
    "page-blocks": (30, "ce324083414a9e5ea12278a24782ab052662fa71f8f879cc0157960dc6395d8d"),
    "phoneme": (1489, "56fae5cf7118b7a621c184a1be53ea21921062c8110a3b16c8715bbc5d491757"),
    "segment": (36, "1ae6e8d8825d36e1f94e6d654d93d52e0e39e11ba6003fcb936b6d200ebd7d0d"),
    "sonar": (40, "67dd175b3e9b8b027881d37f2ab8ed6bce8258c73e22b011ece00c84e73d8b3c"),
    "waveform": (60, "2d673f340f063b352b1e4ebaa90c176e83ab95d20941bc0641af2b12be96008f"),
    "wine": (187, "3566da75110538c0439324375f9a3c1fa491a4bcc05e6c89c803d13739d6252e"),
    "yeast": (181, "5ae27e7d0434b8f3724eeb60c47c5238b3d64f55fc825704c1d0b52319ab9412"),
}
