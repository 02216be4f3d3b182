"""A folder that holds how far a fit has come: written aside and renamed, so never half."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.representations.state_files import read_file, write_file
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.digest import PassDigest, differ_from_checkpoint
from kernel_learn.rows.frames import is_frame
from kernel_learn.rows.table import column_names
from kernel_learn.streams.blocks import content_digest
from kernel_learn.streams.folder_lock import FolderLock

# At most one part in so many of the time goes into checkpoints, and none is younger than this.
SHARE, LEAST_SECONDS = 20, 1.0
# Parameters that change how a fit is carried out, but not what is learned.
MANNERS = {"memory_budget", "verbose"}
FORMAT = 2
Content = dict[str, Any]  # records, arrays and numbers, as a file holds them
# Parts of a source by content: how they differ says nothing to anybody.
EITHER = "rows, labels or weights"  # where they cannot be told apart
CONTENTS = ("rows", "labels", "weights", "groups", EITHER)
REMEDY = "Give back what it was begun with, name another folder, or delete this one to begin anew."


class CheckpointError(OSError):
    """A checkpoint that could not be written; the one before it is kept."""


class Checkpoint:
    """The file ``fit.npz`` in a folder, and ``part-N.npz`` with finished parts of the work.

    ``signature`` says of which fit on which source they are. What is set and added is written
    when it is due, and when the work ends in an error; a part is in memory until then. Until it is
    closed no other fit works in the folder.
    """

    def __init__(self, folder: str | os.PathLike[str], signature: Mapping[str, Content]) -> None:
        self.folder = Path(os.fspath(folder))
        self.signature = signature
        self.file = self.folder / "fit.npz"
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"checkpoint={str(self.folder)!r} is a file; give a folder.")
        self._last, self._cost = time.perf_counter(), 0.0
        self._is_new = False
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = FolderLock(self.folder)
        try:
            self.content = self._load()
        except BaseException:
            self.close()
            raise
        self._parts: list[list[str]] = self.content.pop("parts", [])
        self._fresh: Content = {}
        there = [(i, keys) for i, keys in enumerate(self._parts) if self._part(i).exists()]
        self._place = {key: number for number, keys in there for key in keys}
        self._open: tuple[int, Content] = (-1, {})

    def _load(self) -> Content:
        """What an earlier fit left, empty if there was none; refuses what is of another fit."""
        if not self.file.exists():
            return {}
        content = read_file(self.file)
        found = content.pop("signature", {})
        if found.get("format") != FORMAT:
            raise ValueError(
                f"The checkpoint in {self.folder} was written by another version of the package, "
                "and cannot be gone on from. Delete it, or name another folder, to begin anew."
            )
        for part, what in (("model", "other parameters"), ("source", "another or changed source")):
            if said := _difference(found[part], self.signature[part]):
                raise ValueError(
                    f"The checkpoint in {self.folder} is of a fit with {what}: {said}. {REMEDY}"
                )
        return content

    @property
    def pause(self) -> float:
        """Seconds between two of them."""
        return max(LEAST_SECONDS, SHARE * self._cost)

    @property
    def is_due(self) -> bool:
        return time.perf_counter() - self._last > self.pause

    def set(self, content: Content, *, now: bool = False) -> None:
        """``content`` in the place of what was set before; written ``now``, or when it is due."""
        self.content, self._is_new = content, True
        self._write_if(now)

    def add(self, key: str, part: object) -> None:
        """One finished part of the work more."""
        self._fresh[key] = part
        self._write_if(False)

    def find(self, key: str) -> Any:
        """A part that was added under this key; None if there is none."""
        if key not in self._place:
            return None
        number = self._place[key]
        if self._open[0] != number:  # one file at a time: they are asked for as they were written
            self._open = (number, read_file(self._part(number)))
        return self._open[1][key]

    def _write_if(self, now: bool) -> None:
        if now or self.is_due:
            self.flush()

    def flush(self) -> None:
        """Write what is not yet in a file: the parts, then the list of what there is."""
        if self._fresh:
            self._write(self._part(len(self._parts)), self._fresh)
            self._parts.append(list(self._fresh))
            self._fresh, self._is_new = {}, True
        if self._is_new:
            signature = {"format": FORMAT, **self.signature}
            self._write(self.file, {"signature": signature, "parts": self._parts, **self.content})
            self._is_new = False

    def _write(self, file: Path, content: Content) -> None:
        start = time.perf_counter()
        try:
            write_file(file, content)
        except OSError as error:
            kept = "The one before it is kept." if self.file.exists() else "There is none yet."
            raise CheckpointError(
                error.errno,
                f"A checkpoint could not be written to {self.folder} ({error.strerror}). {kept} "
                "Make room and fit again, and it goes on from there",
            ) from error
        self._last = time.perf_counter()
        self._cost = self._last - start

    @contextmanager
    def kept_if_it_ends(self) -> Iterator[None]:
        """Whatever ends the work inside, what was set and added is written."""
        try:
            yield
        except CheckpointError:
            raise
        except BaseException:
            self.flush()
            raise

    def remove(self) -> None:
        """Once the fit is done: the next one begins anew."""
        for number in range(len(self._parts)):
            self._part(number).unlink(missing_ok=True)
        self.file.unlink(missing_ok=True)

    def close(self) -> None:
        """Let another fit into the folder."""
        self._lock.release()

    def _part(self, number: int) -> Path:
        return self.folder / f"part-{number}.npz"


def signature_of(
    estimator: BaseEstimator, identity: Mapping[str, object], read: PassDigest | None = None
) -> Content:
    """What must be the same for a fit to go on; ``read``: of rows that are all known."""
    params = {k: v for k, v in estimator.get_params(deep=False).items() if k not in MANNERS}
    model = {"estimator": type(estimator).__name__}
    model |= {name: fingerprint(value) for name, value in sorted(params.items())}
    source = {k: fingerprint(v) for k, v in sorted(identity.items())}
    return {"model": model, "source": source if read is None else {**source, "read": read}}


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
    if is_sparse(value):
        csr = value.tocsr()
        return "csr" + "".join(fingerprint(A) for A in (csr.data, csr.indices, csr.indptr))
    if isinstance(value, Mapping):
        return str({str(k): fingerprint(v) for k, v in value.items()})
    if isinstance(value, list | tuple):
        return str([fingerprint(v) for v in value])
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"
    return repr(value)


def _difference(old: Content, new: Content) -> str:
    """What is other in one of two signatures, in words; empty if nothing is."""
    names = [k for k in {**old, **new} if old.get(k) != new.get(k)]
    if isinstance(digest := new.get("read"), PassDigest) and "read" in names:
        return digest.said_of_checkpoint(old.get("read") or PassDigest())
    if contents := [k for k in CONTENTS if k in names]:
        return differ_from_checkpoint(contents)
    return ", ".join(f"{k} was {old.get(k)} and is {new.get(k)}" for k in names[:3])
