"""Files that take far more memory than they have bytes: counted before they are built.

Each is loaded in a process of its own, whose peak of memory is the kernel's figure.
"""

import io
import json
import os
import sys
import time
import zipfile

import numpy as np
import pytest
from scipy import sparse

import kernel_learn as kl
from interop.test_hostile_state import read_parts
from kernel_learn.interop.files import ModelFileError

pytest.importorskip("skops")
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork
BUDGET = 200 * 10**6
SLACK = 30 * 10**6  # what a refusal itself takes: the file, and a look at its text
X = np.random.default_rng(0).normal(size=(30, 3))
y = (X[:, 0] > 0).astype(int)


def npy(array):
    data = io.BytesIO()
    np.save(data, array)
    return data.getvalue()


def npz(matrix):
    data = io.BytesIO()
    sparse.save_npz(data, matrix, compressed=False)
    return data.getvalue()


def part(name, module="builtins", loader="ListNode", **rest):
    return {"__class__": name, "__module__": module, "__loader__": loader, **rest}


def array(file, **rest):
    return part("ndarray", "numpy", "NdArrayNode", type="numpy", file=file, **rest)


def value(text):
    return part("str", loader="JsonNode", content=text, is_json=True)


def listed(parts, **rest):
    return part("list", content=list(parts), **rest)


def one_array_often(times, rows=2 * 10**6, **numbers):
    """(Parts, members): the array stands once in the archive."""
    uses = [array("big.npy", **{k: v + i for k, v in numbers.items()}) for i in range(times)]
    return listed(uses), {"big.npy": npy(np.zeros(rows // 8))}


def nested(depth, width):
    """A tree of parts."""
    if depth == 0:
        return value("1")
    return listed([nested(depth - 1, width) for _ in range(width)])


def shared_lists(depth, width):
    """Lists that stand in each other many times, by their numbers."""
    inner = value("1")
    for level in range(depth):
        first = listed([inner] * width, __id__=1000 + level)
        inner = first
    again = part("list", __id__=1000 + depth - 1, content=[])
    shape = part("tuple", loader="TupleNode", content=[value("1"), value("1")])
    return part("ndarray", "numpy", "NdArrayNode", type="json", content=[inner, again], shape=shape)


def deep(depth):
    found = value("1")
    for _ in range(depth):
        found = listed([found])
    return found


def text_of_lists(size):
    return "[" + "[]," * (size // 3) + "[]]"


def objects(count):
    attributes = part("dict", loader="DictNode", content={}, key_types=listed([]))
    return listed(
        part("StandardScaler", "sklearn.preprocessing._data", "ObjectNode", content=attributes)
        for _ in range(count)
    )


csr = sparse.csr_matrix(np.ones((1000, 1000)))
BOMBS = {
    "one array 300 times": lambda: one_array_often(300),
    "one array 300 times, numbered": lambda: one_array_often(300, __id__=10**6),
    "one array 40 times": lambda: one_array_often(40, 4 * 10**6),
    "one large array": lambda: one_array_often(1, 190 * 10**6),
    "a matrix 100 times": lambda: (
        listed(
            [
                part(
                    "csr_matrix",
                    "scipy.sparse._csr",
                    "SparseMatrixNode",
                    type="scipy",
                    file="m.npz",
                )
            ]
            * 100
        ),
        {"m.npz": npz(csr)},
    ),
    "lists of lists, 15 MB": lambda: b'{"content": ' + text_of_lists(15 * 10**6).encode() + b"}",
    "numbers, 20 MB": lambda: b"[" + b"300," * (5 * 10**6) + b"1]",
    "texts, 20 MB": lambda: b"[" + b'"aa",' * (4 * 10**6) + b"1]",
    "objects in braces": lambda: b"[" + b"{}," * (3 * 10**6) + b"1]",
    "a text that is a list": lambda: (value(text_of_lists(10**6)), {}),
    "a text that is a list, in codes": lambda: (value("\\u005b" * 3 + "]" * 3), {}),
    "100,000 parts": lambda: (listed([value("1")] * 100_000), {}),
    "a tree of parts": lambda: (nested(5, 10), {}),
    "a tree of few": lambda: (nested(16, 2), {}),
    "objects": lambda: (objects(30_000), {}),
    "lists that stand in each other": lambda: (shared_lists(6, 6), {}),
    "deep parts": lambda: (deep(250), {}),
    "very deep parts": lambda: b'{"content": [' * 30_000 + b"]}" * 30_000,
    "deep lists": lambda: b"[" * 10**6 + b"]" * 10**6,
    "wide text": lambda: (value(json.dumps("\U0001f600" * 3 * 10**6)), {}),
    "a void of 10 GB": lambda: (
        part("void", "numpy", "NdArrayNode", type="numpy", file="v.npy"),
        {"v.npy": npy(np.array(10**10))},
    ),
}


def bomb(name, path):
    """The file, with a model's own metadata."""
    kl.save(kl.KernelDiscriminant().fit(X, y), path)
    made = BOMBS[name]()
    parts, schema = read_parts(path)
    members = {"kernel_learn.json": parts["kernel_learn.json"]}
    if isinstance(made, bytes):
        members["schema.json"] = made
    else:
        root = {"protocol": schema["protocol"], "_skops_version": schema["_skops_version"]}
        members |= made[1]
        members["schema.json"] = json.dumps(made[0] | root).encode()
    with zipfile.ZipFile(path, "w") as new:
        for own, data in members.items():
            new.writestr(own, data)  # as it is: what is packed is counted as it unpacks
    return path


def peak_of_load(path, budget):
    """(What happened, bytes of memory beyond the start, seconds) in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover, what it finds comes through the pipe
        try:
            before, start = resident("VmRSS"), time.process_time()
            try:
                kl.load(path, memory_budget=budget)
                said = "loaded"
            except ModelFileError as error:
                said = f"refused: {error}"
            except BaseException as error:
                said = f"{type(error).__name__}: {error}"
            found = [said, resident("VmHWM") - before, time.process_time() - start]
            os.write(writing, json.dumps(found).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        found = answers.read()
    os.waitpid(child, 0)
    return json.loads(found)


def resident(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the kernel for the peak")
@pytest.mark.parametrize("name", BOMBS)
def test_memory_is_bounded(name, tmp_path):
    path = bomb(name, tmp_path / "model.skops")
    if not getattr(peak_of_load, "warm", False):  # what is imported once is no part of a file
        peak_of_load.warm = True
        kl.save(kl.KernelDiscriminant().fit(X, y), tmp_path / "plain.skops")
        kl.load(tmp_path / "plain.skops")
    said, peak, seconds = peak_of_load(path, BUDGET)
    assert said.startswith("refused"), said
    assert peak <= 1.2 * BUDGET + SLACK, f"{peak / 1e6:.0f} MB"
    assert seconds < 10


def test_a_file_within_its_budget_is_read_and_one_beyond_is_not(tmp_path):
    """The same file: the count is of what is built, and about right."""
    rows = np.random.default_rng(0).normal(size=(2000, 500))
    model = kl.HSICSubspace(landmarks=2000).fit(rows, rows[:, 0] > 0)
    path = tmp_path / "model.skops"
    kl.save(model, path)  # 8 MB of rows
    said, peak, _ = peak_of_load(path, 60 * 10**6)
    assert said == "loaded" and peak < 60 * 10**6
    with pytest.raises(ModelFileError, match=r"would take .* the memory budget is 15 MB"):
        kl.load(path, memory_budget=15 * 10**6)
