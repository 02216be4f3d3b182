"""Model files that are none, things that cannot be saved, and what the command line is told."""

import io
import pickle
import zipfile

import numpy as np
import pytest

import kernel_learn as kl
from kernel_learn.kernels import FunctionKernel
from refusals import X, Y, judge, refuse

FITTED = kl.HSICSubspace().fit(X, Y)


def written(folder, content, name="model.skops"):
    (folder / name).write_bytes(content)
    return folder / name


def zipped(folder, **members):
    with zipfile.ZipFile(folder / "model.skops", "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_json", ".json"), content)
    return folder / "model.skops"


def saved(folder):
    pytest.importorskip("skops", reason="needs skops")
    kl.save(FITTED, folder / "model.skops")
    return folder / "model.skops"


def cut(folder, share):
    path = saved(folder)
    content = path.read_bytes()
    return written(folder, content[: int(share * len(content))])


LOADED = {
    "nothing": (lambda f: None, "path"),
    "a number": (lambda f: 3, "path"),
    "a model": (lambda f: FITTED, "path"),
    "a list of paths": (lambda f: [f / "a", f / "b"], "path"),
    "an open file": (lambda f: io.BytesIO(b"abc"), "path"),
    "a folder": (lambda f: f, "folder|directory|not a file"),
    "an empty file": (lambda f: written(f, b""), "not a model file|empty"),
    "a text": (lambda f: written(f, b"hello"), "not a model file|no model"),
    "a pickle": (lambda f: written(f, pickle.dumps(FITTED)), "pickle|not a model file"),
    "an array": (lambda f: written(f, b"\x93NUMPY" + bytes(100)), "not a model file"),
    "a zip of texts": (
        lambda f: zipped(f, readme="hello"),
        "not a model that kernel_learn.save wrote",
    ),
    "a zip of nothing": (lambda f: zipped(f), "not a model that kernel_learn.save wrote"),
    "arrays of NumPy": (
        lambda f: (np.savez(f / "model.npz", X=X), f / "model.npz")[1],
        "not a model that kernel_learn.save wrote",
    ),
    "half a file": (lambda f: cut(f, 0.5), "cut|damaged|not a model file"),
    "a file without its end": (lambda f: cut(f, 0.99), "cut|damaged|not a model file"),
    "metadata that is no JSON": (
        lambda f: zipped(f, kernel_learn_json="{", schema_json="{}"),
        "kernel_learn.json",
    ),
    "metadata of another kind": (
        lambda f: zipped(f, kernel_learn_json="[1, 2]", schema_json="{}"),
        "kernel_learn.json|model",
    ),
}


@pytest.mark.parametrize("read", [kl.load, kl.describe], ids=["load", "describe"])
@pytest.mark.parametrize("case", LOADED)
def test_files_that_hold_no_model(read, case, tmp_path):
    make, words = LOADED[case]
    path = make(tmp_path)
    refuse(lambda: read(path), words)


@pytest.mark.parametrize("read", [kl.load, kl.describe], ids=["load", "describe"])
def test_a_file_that_is_not_there(read, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.skops"):
        read(tmp_path / "none.skops")


@pytest.mark.parametrize("budget", ["much", -1, 0, "1 elephant", np.nan, None, True, [1]])
def test_the_memory_for_a_file(budget, tmp_path):
    path = saved(tmp_path)
    refused, words = judge(lambda: kl.load(path, memory_budget=budget).transform(X))
    assert refused == (budget is not None), words
    assert budget is None or "memory" in words


SAVED = {
    "nothing": (lambda: None, "NoneType"),
    "an array": (lambda: X, "ndarray"),
    "a class": (lambda: kl.HSICSubspace, "instance|class|fitted"),
    "a model that is not fitted": (lambda: kl.HSICSubspace(), "not fitted|fitted"),
    "a kernel of the user's own": (
        lambda: kl.HSICSubspace(FunctionKernel(lambda A, B: A @ B.T)).fit(X, Y),
        "function|lambda",
    ),
}


@pytest.mark.parametrize("case", SAVED)
def test_what_cannot_be_saved(case, tmp_path):
    pytest.importorskip("skops", reason="needs skops")
    make, words = SAVED[case]
    model = make()
    refuse(lambda: kl.save(model, tmp_path / "model.skops"), words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [None, 3, ["a"]])
def test_where_nothing_can_be_saved(path):
    pytest.importorskip("skops", reason="needs skops")
    refuse(lambda: kl.save(FITTED, path), "path")


def test_a_folder_that_is_not_there(tmp_path):
    pytest.importorskip("skops", reason="needs skops")
    with pytest.raises(OSError, match="none"):
        kl.save(FITTED, tmp_path / "none" / "model.skops")
    with pytest.raises(OSError, match=tmp_path.name):
        kl.save(FITTED, tmp_path)
