"""A folder that holds how far a fit has come: written aside and renamed, so never half."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.representations.state_files import read_file, write_file
from kernel_learn.rows.frames import is_frame
from kernel_learn.rows.table import column_names
from kernel_learn.streams.blocks import content_digest

# At most one part in so many of the time goes into checkpoints, and none is younger than this.
SHARE, LEAST_SECONDS = 20, 1.0
# Parameters that change how a fit is carried out, but not what is learned.
MANNERS = {"memory_budget", "verbose"}


class CheckpointError(OSError):
    """A checkpoint that could not be written; the one before it is kept."""


class Checkpoint:
    """The file ``fit.npz`` in a folder; ``signature`` says of which fit on which source it is."""

    def __init__(self, folder: Any, signature: dict[str, Any]) -> None:
        self.folder = Path(os.fspath(folder))
        self.signature = signature
        self.file = self.folder / "fit.npz"
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"checkpoint={str(self.folder)!r} is a file; give a folder.")
        self._last, self._cost = time.perf_counter(), 0.0

    def load(self) -> dict[str, Any] | None:
        """What an earlier fit left, None if there was none; refuses what is of another fit."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.file.exists():
            return None
        content = read_file(self.file)
        found = content.pop("signature", {})
        for part, what in (("model", "other parameters"), ("source", "another or changed source")):
            if found.get(part) != self.signature[part]:
                raise ValueError(
                    f"The checkpoint in {self.folder} is of a fit with {what}: "
                    f"{_difference(found.get(part), self.signature[part])}. Give back what it was "
                    "begun with, name another folder, or delete this one to begin anew."
                )
        return content

    @property
    def pause(self) -> float:
        """Seconds between two of them."""
        return max(LEAST_SECONDS, SHARE * self._cost)

    @property
    def is_due(self) -> bool:
        return time.perf_counter() - self._last > self.pause

    def write(self, content: dict[str, Any], file: Path | None = None) -> None:
        """Keep ``content``; the checkpoint before it stays until this one is whole."""
        start = time.perf_counter()
        try:
            write_file(file or self.file, {"signature": self.signature, **content})
        except OSError as error:
            kept = "The one before it is kept." if self.file.exists() else "There is none yet."
            raise CheckpointError(
                error.errno,
                f"A checkpoint could not be written to {self.folder} ({error.strerror}). {kept} "
                "Make room and fit again, and it goes on from there",
            ) from error
        self._last = time.perf_counter()
        self._cost = self._last - start

    def remove(self) -> None:
        """Once the fit is done: the next one begins anew."""
        self.file.unlink(missing_ok=True)


def signature_of(estimator: BaseEstimator, identity: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same for a fit to go on."""
    params = {k: v for k, v in estimator.get_params(deep=False).items() if k not in MANNERS}
    model = {"estimator": type(estimator).__name__}
    model |= {name: fingerprint(value) for name, value in sorted(params.items())}
    return {"model": model, "source": {k: fingerprint(v) for k, v in sorted(identity.items())}}


def fingerprint(value: Any) -> str:
    """A short text that is the same for equal values, in any process."""
    if isinstance(value, BaseEstimator):
        inner = {k: fingerprint(v) for k, v in value.get_params(deep=False).items()}
        return f"{type(value).__name__}({inner})"
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.dtype}{value.shape}:{content_digest(np.atleast_1d(value))}"
    if isinstance(value, np.ndarray):  # as it prints, the middle of a long one is left out
        return fingerprint(value.tolist())
    if is_frame(value):
        return str({name: fingerprint(np.asarray(value[name])) for name in column_names(value)})
    if hasattr(value, "tocsr"):
        csr = value.tocsr()
        return "csr" + "".join(fingerprint(A) for A in (csr.data, csr.indices, csr.indptr))
    if isinstance(value, Mapping):
        return str({str(k): fingerprint(v) for k, v in value.items()})
    if isinstance(value, list | tuple):
        return str([fingerprint(v) for v in value])
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"
    return repr(value)


def _difference(old: Any, new: dict[str, str]) -> str:
    old = old if isinstance(old, dict) else {}
    names = [k for k in {**old, **new} if old.get(k) != new.get(k)]
    return ", ".join(f"{k} was {old.get(k)} and is {new.get(k)}" for k in names[:3])
