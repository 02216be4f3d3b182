"""Models as files without pickle: save, load, describe."""

import io
import json
import math
import re
from pathlib import Path
from types import ModuleType
from typing import BinaryIO
from zipfile import ZipFile

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernel_learn._version import __version__
from kernel_learn.arrays import MemoryBudget, PathLike
from kernel_learn.atomic_write import check_folder, write_whole
from kernel_learn.interop.archive import (
    SCHEMA,
    ModelFileError,
    Node,
    as_path,
    check_schema,
    node_name,
    nodes_of,
    opened,
    pack,
    read_json,
    read_metadata,
    with_schema,
)
from kernel_learn.interop.metadata import FORMAT, describe_model, metadata_in_words
from kernel_learn.interop.trusted import SKRUB, minor_version, trusted_names
from kernel_learn.kernels.base import Kernel
from kernel_learn.representations.plan import parse_memory

__all__ = ["ModelFileError", "describe", "load", "save"]

# Loaders of skops for things that are called.
CALLABLES = ("FunctionNode", "MethodNode", "PartialNode", "OperatorFuncNode")
REMEDIES = {
    "KDTree": 'KNeighborsClassifier(algorithm="brute") holds no tree',
    "BallTree": 'KNeighborsClassifier(algorithm="brute") holds no tree',
    "Tree": "trees of scikit-learn are read without checks, so no reader of files trusts them",
    "GridSearchCV": "save its best_estimator_",
    "StreamState": "between two calls of partial_fit keep the state, by "
    "kernel_learn.representations.save_state(model.state_, path); what was learned so far is a "
    "model, clone(model).fit(model.state_)",
    "_PassthroughScorer": "save the best_estimator_ of a search",
}


def save(model: BaseEstimator, path: PathLike) -> None:
    """Write a fitted model as a file that is read without running code.

    The file is a zip archive of arrays and texts in the format of skops, with
    a description beside them: versions, class, plan, kernel, how many training
    rows it holds and a digest of those it was fitted on. It appears at
    ``path`` when it is complete, and replaces what was there.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library, a Pipeline of scikit-learn's or
        skrub's steps with it, or a learned kernel.
    path : str or path
        Where to write; by convention ``*.skops``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_wine
    >>> import kernel_learn as kl
    >>> X, y = load_wine(return_X_y=True)
    >>> model = kl.KernelDiscriminant().fit(X, y)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "wine.skops"
    >>> kl.save(model, path)
    >>> bool((kl.load(path).predict(X) == model.predict(X)).all())
    True
    """
    path = as_path(path)
    skops = import_skops("kernel_learn.save")
    _check_model(model)
    check_folder(path)
    try:
        dump = skops.dumps(model)
    except RecursionError as error:
        raise ModelFileError(
            f"{type(model).__name__} holds something that holds itself, as a step of scikit-learn "
            "does after set_fit_request. Fit it without such requests, which matter to fit alone."
        ) from error
    except Exception as error:
        raise ModelFileError(
            f"{type(model).__name__} holds something that a file without pickle cannot: {error}"
        ) from error
    names = _check_dump(skops, dump)
    uses_skrub = any(name.startswith("skrub.") for name in names)
    write_whole(path, pack(dump, describe_model(model, uses_skrub=uses_skrub)))


def load(path: PathLike, *, memory_budget: MemoryBudget = None) -> BaseEstimator:
    """Read a model that ``save`` wrote; its predictions are the same to the last bit.

    Nothing in the file is run. Types that are not on the list of
    ``kernel_learn.interop.trusted`` or trusted by skops, damaged and cut
    files, files of a newer version and files that would unpack to more than
    the budget are refused with a :class:`ModelFileError`.

    Parameters
    ----------
    path : str or path
        The file.
    memory_budget : float or str, optional
        Bytes, or a string such as "2GB", that the file may unpack to; half of
        what is free by default.
    """
    path, budget = as_path(path), parse_memory(memory_budget)
    with opened(path, budget) as archive:
        _check_version(read_metadata(archive, path), path)
        skops = import_skops("kernel_learn.load")
        schema = read_json(archive, SCHEMA, path)
        check_schema(archive, schema, budget, path)
        source = with_schema(archive, schema)
        _check_trust(skops, source, path)
        try:
            model = skops.load(source, trusted=list(trusted_names()))
        except Exception as error:
            raise ModelFileError(f"{path} cannot be read: {error}") from error
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(f"{path} holds a {type(model).__name__}, and not a model.")
    return model


def describe(path: PathLike) -> str:
    """What a model file holds, as a text; no model is built for it.

    Class, date, versions, kernel, plan, how many training rows are in the file
    and how to make one with fewer of them.

    Parameters
    ----------
    path : path
        Of the file.
    """
    path = as_path(path)
    with opened(path, math.inf) as archive:
        return metadata_in_words(read_metadata(archive, path))


def import_skops(caller: str) -> ModuleType:
    """skops.io, or an error that names the extra."""
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(f'{caller} needs skops: pip install "kernel-learn[files]".') from error
    return skops.io


def _check_model(model: BaseEstimator) -> None:
    if isinstance(model, type) or not isinstance(model, BaseEstimator):
        raise ModelFileError(
            f"kernel_learn.save writes fitted estimators, and this is {type(model).__name__}."
        )
    if not isinstance(model, Kernel):
        check_is_fitted(model)


def _check_dump(skops: ModuleType, dump: bytes) -> set[str]:
    """The names in a dump; refuses what ``load`` would refuse."""
    with ZipFile(io.BytesIO(dump)) as archive:
        nodes = nodes_of(json.loads(archive.read(SCHEMA)))
    unknown = set(skops.get_untrusted_types(data=dump)) - set(trusted_names())
    called = {node_name(node) for node in nodes if node.get("__loader__") in CALLABLES} & unknown
    if called or "kernel_learn.kernels.resolve.FunctionKernel" in unknown:
        names = sorted(called) or ["a function"]
        raise ModelFileError(
            f"The model holds functions, {', '.join(names)}, and a file without pickle holds no "
            "code. Use a kernel of kernel_learn.kernels or a transformer of scikit-learn in their "
            "place, or keep the model with joblib among people who trust each other."
        )
    if unknown:
        raise ModelFileError(f"The model holds {_unbuilt(unknown)}{_remedy(unknown)}")
    return {node_name(node) for node in nodes}


def _unbuilt(names: set[str]) -> str:
    return f"{', '.join(sorted(names))}, which kernel_learn.load does not build."


def _remedy(names: set[str]) -> str:
    if any(name.startswith("skrub.") for name in names):
        return _skrub_remedy()
    known = {REMEDIES[last] for name in names if (last := name.rpartition(".")[2]) in REMEDIES}
    return "".join(f" {text[:1].upper()}{text[1:]}." for text in sorted(known))


def _skrub_remedy() -> str:
    if not (found := minor_version("skrub")):
        return ' It needs skrub: pip install "kernel-learn[cli]".'
    return f" skrub {found} is installed, and encoders of skrub {', '.join(SKRUB)} are known."


def _check_version(metadata: Node, path: Path) -> None:
    """Refuse files of a newer version of this library."""
    written = str(metadata["versions"].get("kernel-learn"))
    form = metadata.get("format")
    if not isinstance(form, int) or not re.match(r"\d+\.\d+", written):
        raise ModelFileError(f"{path} is damaged: it does not say which version wrote it.")
    if form > FORMAT or _release(written) > _release(__version__):
        raise ModelFileError(
            f"{path} was written by kernel-learn {written}, and this is {__version__}: "
            f'pip install "kernel-learn>={written}".'
        )


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _check_trust(skops: ModuleType, source: BinaryIO, path: Path) -> None:
    """Refuse by name what is not trusted, before anything is built."""
    try:
        unknown = set(skops.get_untrusted_types(file=source)) - set(trusted_names())
    except Exception as error:
        raise ModelFileError(f"{path} cannot be read: {error}") from error
    if not unknown:
        return
    if all(name.startswith("skrub.") for name in unknown):
        raise ModelFileError(f"{path} holds {_unbuilt(unknown)}{_skrub_remedy()}")
    raise ModelFileError(
        f"{path} is refused: it asks for {_unbuilt(unknown)} No file of kernel_learn.save holds "
        "such things: do not open it by other means unless you know who wrote it."
    )
