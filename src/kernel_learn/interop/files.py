"""Models as files without pickle: save, load, describe."""

import io
import json
import math
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernel_learn._version import __version__
from kernel_learn.arrays import MemoryBudget, PathLike
from kernel_learn.atomic_write import check_folder, write_whole
from kernel_learn.interop.archive import (
    SCHEMA,
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
from kernel_learn.interop.errors import ModelFileError, WrongStateError
from kernel_learn.interop.metadata import FORMAT, describe_model, metadata_in_words
from kernel_learn.interop.state import check_state
from kernel_learn.interop.trusted import SKRUB, loaders_of, minor_version
from kernel_learn.kernels.base import Kernel
from kernel_learn.namespaces import list_only
from kernel_learn.representations.plan import parse_memory

__all__ = ["ModelFileError", "check_savable", "describe", "load", "save"]

__dir__ = list_only(__all__)

# Loaders of skops for things that are called.
CALLABLES = ("FunctionNode", "MethodNode", "PartialNode", "OperatorFuncNode")
REMEDIES = {
    "KDTree": 'KNeighborsClassifier(algorithm="brute") holds no tree',
    "BallTree": 'KNeighborsClassifier(algorithm="brute") holds no tree',
    "Tree": "trees of scikit-learn are read without checks, so no reader of files trusts them",
    "GridSearchCV": "save the best_estimator_ of a search",
    "StreamState": "between two calls of partial_fit keep the state, by "
    "kernel_learn.representations.save_state(model.state_, path); what was learned so far is a "
    "model, clone(model).fit(model.state_)",
    "_PassthroughScorer": "save the best_estimator_ of a search",
}

TypesLike = Collection[str | type]


def save(model: BaseEstimator, path: PathLike, *, trusted: TypesLike = ()) -> None:
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
    trusted : list of types or of their full names
        Further types that the model may hold, such as a regulariser of your own, which ``load``
        will not build unless it is given them too.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_wine
    >>> import kernel_learn as kl
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), kl.KernelDiscriminant()).fit(X, y)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "wine.skops"
    >>> kl.save(model, path)
    >>> print((kl.load(path).predict(X) != model.predict(X)).sum(), "of", len(X), "differ")
    0 of 178 differ
    """
    path, named = as_path(path), _check_given(trusted)
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
    names = _check_dump(dump, named)
    try:
        check_state(model, named)
    except WrongStateError as error:
        raise ModelFileError(f"kernel_learn.load would refuse this model: {error}.") from error
    uses_skrub = any(name.startswith("skrub.") for name in names)
    # models hold training rows: a new file is for its owner alone, until its mode is changed
    data = pack(dump, describe_model(model, uses_skrub=uses_skrub))
    write_whole(path, data, private=True)


def load(
    path: PathLike, *, memory_budget: MemoryBudget = None, trusted: TypesLike = ()
) -> BaseEstimator:
    """Read a model that ``save`` wrote; its predictions are the same to the last bit.

    Nothing in the file is run. Types that are not on the list of
    ``kernel_learn.interop.trusted``, arrays that do not belong together,
    damaged and cut files, files of a newer version and files that would take
    more than the budget are refused with a :class:`ModelFileError`.

    Parameters
    ----------
    path : str or path
        The file.
    memory_budget : float or str, optional
        Bytes, or a string such as "2GB", that building the model may take; half
        of what is free by default. It is counted before anything is built.
    trusted : list of types or of their full names
        Further types, such as
        ``"sklearn.ensemble._forest.RandomForestClassifier"``, that you know to
        be in the file. What they hold is not checked: for files you made.
    """
    path, budget = as_path(path), parse_memory(memory_budget)
    named = _check_given(trusted)
    with opened(path, budget) as archive:
        _check_version(read_metadata(archive, path), path)
        skops = import_skops("kernel_learn.load")
        schema = read_json(archive, SCHEMA, path, budget)
        names = _check_types(check_schema(archive, schema, budget, path), named, path)
        source = with_schema(archive, schema)
        del schema  # skops reads its own
        try:
            # skops copies the list for each part, so it is one of the names that are there
            model = skops.load(source, trusted=names)
        except Exception as error:
            raise ModelFileError(f"{path} cannot be read: {error}") from error
    try:
        check_state(model, named)
    except WrongStateError as error:
        raise ModelFileError(f"{path} is damaged: {error}.") from error
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


def check_savable(model: BaseEstimator) -> None:
    """Refuse, before it is fitted, a model whose parts ``save`` would refuse afterwards.

    Parameters
    ----------
    model : estimator
        Need not be fitted; an encoder of skrub whose version is not known, for example.
    """
    _check_dump(import_skops("kernel_learn.save").dumps(model), ())


def _check_model(model: BaseEstimator) -> None:
    if isinstance(model, type) or not isinstance(model, BaseEstimator):
        raise ModelFileError(
            f"kernel_learn.save writes fitted estimators, and this is {type(model).__name__}."
        )
    if not isinstance(model, Kernel):
        check_is_fitted(model)


def _check_dump(dump: bytes, trusted: Collection[str]) -> set[str]:
    """The names in a dump; refuses what ``load`` would refuse."""
    with ZipFile(io.BytesIO(dump)) as archive:
        nodes = nodes_of(json.loads(archive.read(SCHEMA)))
    loaders = {node_name(node): str(node.get("__loader__")) for node in nodes}
    unknown = {name for name in loaders if name not in trusted and not loaders_of(name)}
    called = {name for name in unknown if loaders[name] in CALLABLES}
    if called or "kernel_learn.kernels.resolve.FunctionKernel" in unknown:
        names = sorted(called) or ["a function"]
        raise ModelFileError(
            f"The model holds functions, {', '.join(names)}, and a file without pickle holds no "
            "code. Use a kernel of kernel_learn.kernels or a transformer of scikit-learn in their "
            "place, or keep the model with joblib among people who trust each other."
        )
    if unknown:
        naming = "" if any(n.startswith("skrub.") for n in unknown) else _naming(unknown)
        raise ModelFileError(f"The model holds {_unbuilt(unknown)}{_remedy(unknown)}{naming}")
    return set(loaders)


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


def _check_types(nodes: Sequence[Node], trusted: Collection[str], path: Path) -> list[str]:
    """The names in a file, each of which may be built as it asks; else a refusal, by name."""
    asked = {(node_name(node), str(node.get("__loader__"))) for node in nodes}
    unknown = set()
    for name, loader in asked:
        known = loaders_of(name)
        if known and loader not in known:
            raise ModelFileError(
                f"{path} is refused: it asks to build {name} by {loader}, and that is done by "
                f"{' or '.join(sorted(known))} alone."
            )
        if not known and name not in trusted:
            unknown.add(name)
    if not unknown:
        return sorted({name for name, _ in asked})
    if all(name.startswith("skrub.") for name in unknown):
        raise ModelFileError(f"{path} holds {_unbuilt(unknown)}{_skrub_remedy()}")
    if all(name.startswith("sklearn.") for name in unknown):
        what_to_do = _remedy(unknown) + _naming(unknown)
        raise ModelFileError(f"{path} holds {_unbuilt(unknown)}{what_to_do}")
    raise ModelFileError(
        f"{path} is refused: it asks for {_unbuilt(unknown)} No file of kernel_learn.save holds "
        "such things: do not open it by other means unless you know who wrote it."
    )


def _naming(names: set[str]) -> str:
    """What to do about types whose arrays nobody here knows how to check."""
    return (
        " Code of such types may trust what a file says and crash on it. If you made the file "
        f"yourself, name them: trusted={sorted(names)}."
    )


def _check_given(trusted: TypesLike) -> list[str]:
    """Full names of types that a user trusts."""
    if isinstance(trusted, str | type) or not all(isinstance(t, str | type) for t in trusted):
        raise TypeError(
            f"trusted={trusted!r}: give a list of types or of their full names, such as "
            '["sklearn.cluster._kmeans.KMeans"].'
        )
    return [t if isinstance(t, str) else f"{t.__module__}.{t.__qualname__}" for t in trusted]
