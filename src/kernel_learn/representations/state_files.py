"""States as files: arrays and JSON in one .npz, written aside and then renamed."""

import json
import os
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
from scipy import sparse

import kernel_learn.kernels as known_kernels
from kernel_learn.atomic_write import atomic_write
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.pool import ColumnSums
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.state import PassSum, StreamState
from kernel_learn.representations.summary import Summary
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.digest import PassDigest
from kernel_learn.rows.frames import as_objects
from kernel_learn.rows.table import Table

VERSION = 1
RECORDS = {
    kind.__name__: kind
    for kind in (StreamState, Summary, Moments, ColumnSums, Table, PassDigest, PassSum)
}


def save_state(state: StreamState, path: str | os.PathLike[str]) -> None:
    """Write a state to a file ``path`` (.npz) that :func:`load_state` reads, without pickle."""
    write_file(path, {"state": state})


def load_state(path: str | os.PathLike[str]) -> StreamState:
    """The state that :func:`save_state` wrote."""
    state = read_file(path).get("state")
    if not isinstance(state, StreamState):
        raise ValueError(f"{os.fspath(path)} holds no state of a fit.")
    return state


def write_file(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write nested records, arrays and numbers; the file is the old one or the new one, whole."""
    arrays: dict[str, Any] = {}
    tree = _encode(content, arrays)
    header = json.dumps({"version": VERSION, "content": tree}).encode()
    arrays["json"] = np.frombuffer(header, dtype=np.uint8)
    with atomic_write(path) as part, part.open("wb") as file:
        np.savez(file, **arrays)


def read_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What :func:`write_file` wrote."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            header = json.loads(arrays["json"].tobytes())
            found = None
            if header.get("version") == VERSION:
                found = _decode(header["content"], arrays.__getitem__)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(f"{os.fspath(path)} is not a state of this package: {error}") from error
    if found is None:
        raise ValueError(
            f"{os.fspath(path)} was written by another version of the package (format "
            f"{header.get('version')}, this one reads {VERSION})."
        )
    content: dict[str, Any] = found
    return content


def _encode(value: Any, arrays: dict[str, Any]) -> Any:
    """JSON for a value; its arrays go to ``arrays`` under numbers."""

    def array(A: Any) -> str:
        name = f"a{len(arrays)}"
        arrays[name] = np.asarray(A)
        return name

    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | np.integer):
        return {"int": str(int(value))} if abs(int(value)) > 2**52 else int(value)
    if isinstance(value, float | np.floating):
        return {"float": float(value).hex()}
    if isinstance(value, np.ndarray):
        if value.dtype != object:
            return {"array": array(value)}
        return {"objects": [_encode(v, arrays) for v in value.ravel().tolist()], "of": value.shape}
    if is_sparse(value):
        csr = value.tocsr()
        parts = [array(part) for part in (csr.data, csr.indices, csr.indptr)]
        is_array = isinstance(value, sparse.sparray)
        return {"csr": parts, "of": list(csr.shape), "is_array": is_array}
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [_encode(v, arrays) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[k, _encode(v, arrays)] for k, v in value.items()]}
    if isinstance(value, slice):
        return {"slice": [_encode(v, arrays) for v in (value.start, value.stop, value.step)]}
    if isinstance(value, FeatureMap):
        return {"features": [_encode(getattr(value, name), arrays) for name in FEATURE_PARTS]}
    if isinstance(value, Kernel) and type(value).__name__ in known_kernels.__all__:
        params = {k: _encode(v, arrays) for k, v in value.get_params(deep=False).items()}
        return {"kernel": type(value).__name__, "params": params}
    if type(value).__name__ in RECORDS:
        entries = {f.name: _encode(getattr(value, f.name), arrays) for f in fields(value)}
        return {"record": type(value).__name__, "fields": entries}
    raise TypeError(
        f"{value!r} cannot be written to a file without pickle; kernels of kernel_learn.kernels "
        "with plain parameters can."
    )


FEATURE_PARTS = ("kernels", "landmarks", "whiten", "residual")


def _decode(tree: Any, array: Callable[[str], Any]) -> Any:
    if not isinstance(tree, dict):
        return tree

    def inner(value: Any) -> Any:
        return _decode(value, array)

    kind = next(iter(tree))
    content = tree[kind]
    if kind == "int":
        return int(content)
    if kind == "float":
        return float.fromhex(content)
    if kind == "array":
        return array(content)
    if kind == "objects":
        return as_objects([inner(v) for v in content]).reshape(tree["of"])
    if kind == "csr":
        make = sparse.csr_array if tree["is_array"] else sparse.csr_matrix
        return make(tuple(array(name) for name in content), shape=tuple(tree["of"]))
    if kind in ("list", "tuple"):
        entries = [inner(v) for v in content]
        return entries if kind == "list" else tuple(entries)
    if kind == "dict":
        return {k: inner(v) for k, v in content}
    if kind == "slice":
        return slice(*(inner(v) for v in content))
    if kind == "features":
        return FeatureMap(*(inner(part) for part in content))
    if kind == "kernel" and content in known_kernels.__all__:
        params = {k: inner(v) for k, v in tree["params"].items()}
        return getattr(known_kernels, content)(**params)
    if kind == "record" and content in RECORDS:
        return RECORDS[content](**{k: inner(v) for k, v in tree["fields"].items()})
    raise ValueError(f"an entry of the kind {kind!r} is not known")
