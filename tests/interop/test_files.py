"""Models as files: the same predictions to the last bit, and nothing that runs code."""

import importlib
import io
import json
import os
import pickle
import re
import struct
import subprocess
import sys
import zipfile
from copy import deepcopy
from pathlib import Path

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import kernel_learn as kl
from interop.models import NAMES, fitted, outputs
from kernel_learn import kernels as kk
from kernel_learn.constraints import Pairs
from kernel_learn.interop import archive, trusted
from kernel_learn.interop.files import ModelFileError
from kernel_learn.interop.metadata import predicting_rows
from kernel_learn.interop.words import kernel_in_words

skops = pytest.importorskip("skops.io")
X = np.random.default_rng(0).normal(size=(30, 3))
y = (X[:, 0] > 0).astype(int)


class Bomb:
    def __reduce__(self):
        return os.system, ("exit 1",)


def array_of_objects():
    data = io.BytesIO()
    np.save(data, np.array([Bomb()], dtype=object), allow_pickle=True)
    return data.getvalue()


OBJECTS = array_of_objects()
KEPT = Path(__file__).parents[1] / "files"


def assert_same(one, other, rows):
    expected, found = outputs(one, rows), outputs(other, rows)
    assert expected and expected.keys() == found.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)
        assert np.asarray(found[name]).dtype == np.asarray(values).dtype


def without_places(model):
    """The model as it prints, without where in memory its parts stand."""
    return re.sub(r" at 0x\w+", "", repr(model))


def pickled(model):
    return pickle.loads(pickle.dumps(model))


def saved_and_loaded(model, path):
    kl.save(model, path)
    return kl.load(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_round_trip_to_the_last_bit(name, tmp_path):
    model, rows = fitted(name)
    kl.save(model, tmp_path / "model.skops")
    loaded = kl.load(tmp_path / "model.skops")
    assert type(loaded) is type(model) and without_places(loaded) == without_places(model)
    known = {k: (type(v), str(v)) for k, v in vars(model).items() if "at 0x" not in str(v)}
    assert {k: (type(v), str(v)) for k, v in vars(loaded).items() if k in known} == known
    assert_same(model, loaded, rows)
    assert type(model).__name__ in kl.describe(tmp_path / "model.skops")
    kl.save(loaded, tmp_path / "again.skops")
    assert_same(model, kl.load(tmp_path / "again.skops"), rows)


@pytest.mark.parametrize("name", NAMES)
def test_pickle_joblib_and_clone(name, tmp_path):
    model, rows = fitted(name)
    assert_same(model, pickle.loads(pickle.dumps(model)), rows)
    joblib.dump(model, tmp_path / "model.joblib")
    assert_same(model, joblib.load(tmp_path / "model.joblib"), rows)
    assert without_places(clone(model)) == without_places(model)


@pytest.mark.parametrize("copy", [pickled, saved_and_loaded, deepcopy])
def test_requests_of_metadata(copy, tmp_path):
    with config_context(enable_metadata_routing=True):
        model = kl.KernelDiscriminant(reg=0.1).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight="weight").fit(X, y)
        path = [tmp_path / "model.skops"] if copy is saved_and_loaded else []
        found = copy(model, *path)
        assert str(found.get_metadata_routing()) == str(model.get_metadata_routing())
        assert vars(found).keys() == vars(model).keys()
    assert_same(model, found, X)
    plain = saved_and_loaded(kl.KernelDiscriminant(reg=0.1).fit(X, y), tmp_path / "model.skops")
    assert "sample_weight=True" not in str(plain.get_metadata_routing())


def test_the_trusted_names_are_those_that_models_need():
    """Exactly: a name that nothing needs is a door, and a missing one a model lost."""
    needed = {}
    for name in NAMES:
        dump = skops.dumps(fitted(name)[0])
        needed |= dict.fromkeys(skops.get_untrusted_types(data=dump), name)
    learned = [fitted("frame")[0].kernel_, fitted("11: HSICSubspace")[0].kernel_]
    for kernel in learned:
        dump = skops.dumps(kernel)
        needed |= dict.fromkeys(skops.get_untrusted_types(data=dump), "a learned kernel")
    known = trusted.trusted_names()
    print("\n".join(f"{name}  ({loader})" for name, loader in sorted(known.items())))
    missing = {name: where for name, where in needed.items() if name not in known}
    # test_earlier_files.py reads the files that need these
    earlier = {f"{trusted.OURS[name]}.{name}" for name in trusted.EARLIER}
    idle = set(known) - set(needed) - earlier
    assert not missing, (
        "kl.load would refuse models that kl.save is asked to write. Add to HOMES in "
        "kernel_learn/interop/trusted.py, after a look at whether it is safe to fill by "
        "attributes:\n"
        + "\n".join(f"    {name!r},  # needed by {where!r}" for name, where in missing.items())
    )
    assert not idle, (
        "No fitted model needs these. Remove them from kernel_learn/interop/trusted.py, or "
        "add a model that does to tests/interop/models.py:\n"
        + "\n".join(f"    {name!r}," for name in sorted(idle))
    )


def test_the_list_is_frozen_and_names_no_module():
    known = trusted.trusted_names()
    with pytest.raises(TypeError):
        known["os.system"] = "FunctionNode"
    with pytest.raises(TypeError):
        trusted.OURS["system"] = "os"
    names = [name for names in trusted.HOMES.values() for name in names.split()]
    assert len(set(names)) == len(names), "two classes of one name cannot be told apart in a file"
    for name in known:
        assert re.fullmatch(r"[a-z]\w*(\.\w+)*\.\w+", name)
    for name, home in trusted.OURS.items():
        assert isinstance(getattr(importlib.import_module(home), name), type)


def test_files_name_our_classes_by_stable_names(saved):
    with zipfile.ZipFile(saved) as file:
        nodes = archive.nodes_of(json.loads(file.read(archive.SCHEMA)))
    ours = {node["__class__"] for node in nodes if "kernel_learn" in str(node.get("__module__"))}
    assert {"KernelDiscriminant", "SubspaceKernel"} <= ours
    homes = {node["__module__"] for node in nodes if node.get("__class__") in ours}
    assert homes == {"kernel_learn"}


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.skops")), ids=lambda path: path.name)
@pytest.mark.filterwarnings(
    "ignore:Trying to unpickle:sklearn.exceptions.InconsistentVersionWarning"
)
def test_files_of_released_versions_stay_readable(path):
    model, expected = kl.load(path), json.loads(path.with_suffix(".json").read_text())
    found = outputs(model, np.array(expected["rows"]))
    for name, values in expected["outputs"].items():
        np.testing.assert_allclose(found[name], values, rtol=1e-10)
    assert path.stem in kl.describe(path)


def test_a_file_of_every_minor_version_is_kept():
    minor = kl.__version__.rpartition(".")[0]
    assert any(path.stem.rpartition(".")[0] == minor for path in KEPT.glob("*.skops"))


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.skops"
    kl.save(kl.KernelDiscriminant().fit(X, y), path)
    return path


@pytest.fixture
def saved_sparse(tmp_path):
    """A model of sparse rows, and the member that holds them."""
    path = tmp_path / "model.skops"
    kl.save(kl.KernelDiscriminant().fit(sparse.csr_matrix(np.abs(X)), y), path)
    name = next(name for name in zipfile.ZipFile(path).namelist() if name.endswith(".npz"))
    return path, name


def rewrite(path, change=None, **members):
    """The archive with its schema changed by a function, and members added or replaced."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    if change is not None:
        schema = json.loads(parts["schema.json"])
        schema = change(schema) or schema
        parts["schema.json"] = json.dumps(schema).encode()
    parts |= members
    with zipfile.ZipFile(path, "w") as new:
        for name, data in parts.items():
            new.writestr(name, data)
    return path


def with_root(node):
    """A change that puts another object in place of the model."""

    def change(schema):
        return {**node, "protocol": schema["protocol"], "_skops_version": "0.16.0"}

    return change


def test_classes_are_found_wherever_they_lived(saved):
    def change(schema):
        schema["__module__"] = "kernel_learn.old_house"

    rewrite(saved, change)
    assert_same(kl.KernelDiscriminant().fit(X, y), kl.load(saved), X)


class TestHostileFiles:
    """Each is refused by a sentence, and nothing of it runs."""

    @pytest.fixture(autouse=True)
    def nothing_runs(self, monkeypatch):
        def run(*args, **kwargs):
            raise SystemExit("code of the file was run")

        for name in ("system", "popen", "remove"):
            monkeypatch.setattr(f"os.{name}", run)

    def refused(self, path, match):
        with pytest.raises(ModelFileError, match=match) as caught:
            kl.load(path)
        assert len(str(caught.value)) < 1000

    def test_foreign_function(self, saved):
        node = {"__class__": "system", "__module__": "os", "__loader__": "FunctionNode"}
        self.refused(rewrite(saved, with_root(node)), r"asks for os\.system")

    def test_foreign_type(self, saved):
        empty = {"__class__": "dict", "__module__": "builtins", "__loader__": "DictNode"}
        empty |= {"content": {}, "key_types": list_node()}
        node = {"__class__": "Popen", "__module__": "subprocess", "__loader__": "ObjectNode"}
        self.refused(rewrite(saved, with_root({**node, "content": empty})), r"subprocess\.Popen")

    def test_foreign_type_deep_inside(self, saved):
        def change(schema):
            content = schema["content"]["content"]
            content["reg"] = {
                "__class__": "eval",
                "__module__": "builtins",
                "__loader__": "FunctionNode",
            }

        self.refused(rewrite(saved, change), r"builtins\.eval")

    @pytest.mark.parametrize("loader", ["TypeNode", "ListNode", "SetNode", "TupleNode", "JsonNode"])
    def test_foreign_name_under_any_loader(self, saved, loader):
        node = {"__class__": "system", "__module__": "os", "__loader__": loader, "content": []}
        if loader == "JsonNode":
            node |= {"content": '"rm"', "is_json": True}
        self.refused(rewrite(saved, with_root(node)), r"os\.system")

    @pytest.mark.parametrize(
        "name", ["kernel_learn.kernels.stationary.Gaussian", "scipy.sparse._csr.csr_matrix"]
    )
    def test_reduce_calls_nothing_of_ours(self, saved, name):
        """A constructor that is called with what the file says."""
        module, _, own = name.rpartition(".")
        node = {"__class__": own, "__module__": module, "__loader__": "ConstructorFromReduceNode"}
        self.refused(rewrite(saved, with_root({**node, "content": list_node()})), "is done by")

    def test_reduce_of_others(self, saved):
        node = {
            "__class__": "system",
            "__module__": "os",
            "__loader__": "ConstructorFromReduceNode",
        }
        self.refused(rewrite(saved, with_root({**node, "content": list_node("ls")})), r"os\.system")

    def test_method_of_a_trusted_object(self, saved):
        def change(schema):
            obj = dict(schema)
            return {
                "__class__": obj["__class__"],
                "__module__": obj["__module__"],
                "__loader__": "MethodNode",
                "content": {"func": "fit", "obj": obj},
                "protocol": schema["protocol"],
                "_skops_version": "0.16.0",
            }

        self.refused(rewrite(saved, change), r"KernelDiscriminant by MethodNode")

    @pytest.mark.parametrize("protocol", [0, 1])
    def test_old_protocol(self, saved, protocol):
        def change(schema):
            schema["protocol"] = protocol

        self.refused(rewrite(saved, change), f"protocol {protocol}")

    def test_unknown_loader(self, saved):
        def change(schema):
            schema["__loader__"] = "ShellNode"

        self.refused(rewrite(saved, change), "ShellNode")

    @pytest.mark.parametrize("protocol", [0, 2, 5])
    def test_pickle_by_another_name(self, tmp_path, protocol):
        path = tmp_path / "model.skops"
        path.write_bytes(pickle.dumps(kl.KernelDiscriminant(), protocol=protocol))
        self.refused(path, "is a pickle" if protocol else "is not a model file")

    def test_joblib_by_another_name(self, tmp_path):
        joblib.dump({"a": X}, tmp_path / "model.skops")
        self.refused(tmp_path / "model.skops", "is a pickle")

    def test_array_of_objects(self, saved):
        name = array_name(saved)
        self.refused(rewrite(saved, **{name: OBJECTS}), "claims the shape")

    def test_array_that_claims_more_than_it_has(self, saved):
        name = array_name(saved)
        data = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            data, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
        )
        self.refused(rewrite(saved, **{name: data.getvalue() + b"\0" * 16}), "claims the shape")

    def test_array_of_objects_as_long_as_it_claims(self, saved):
        data = io.BytesIO()
        header = {"descr": "|O", "fortran_order": False, "shape": (2,)}
        np.lib.format.write_array_header_1_0(data, header)
        data.write(b"\0" * 16)
        self.refused(rewrite(saved, **{array_name(saved): data.getvalue()}), "claims the shape")

    def test_sparse_indices_out_of_range(self, saved_sparse):
        path, name = saved_sparse
        matrix = sparse.load_npz(io.BytesIO(zipfile.ZipFile(path).read(name)))
        matrix.indices[0] = 10**6
        data = io.BytesIO()
        sparse.save_npz(data, matrix)
        self.refused(rewrite(path, **{name: data.getvalue()}), "bad sparse matrix")

    def test_sparse_matrix_of_another_format(self, saved_sparse):
        path, name = saved_sparse
        data = io.BytesIO()
        sparse.save_npz(data, sparse.csc_matrix(np.abs(X)))
        self.refused(rewrite(path, **{name: data.getvalue()}), "its format is csc")

    def test_sparse_matrix_that_claims_more_than_it_has(self, saved_sparse):
        path, name = saved_sparse
        data, part = io.BytesIO(), io.BytesIO()
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
        np.lib.format.write_array_header_1_0(part, header)
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr("data.npy", part.getvalue())
        self.refused(rewrite(path, **{name: data.getvalue()}), "claims the shape")

    @pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.9, 0.999])
    def test_truncated(self, saved, share):
        data = saved.read_bytes()
        saved.write_bytes(data[: int(share * len(data))])
        self.refused(saved, "is cut short" if share else "is not a model file")

    def test_damaged(self, saved):
        data = bytearray(saved.read_bytes())
        place = zipfile.ZipFile(saved).getinfo("schema.json").header_offset + 200
        data[place] ^= 255
        saved.write_bytes(bytes(data))
        self.refused(saved, "is damaged")

    @pytest.mark.parametrize("name", ["schema.json", "kernel_learn.json", "zeros.npy"])
    def test_zip_bomb(self, saved, name):
        with zipfile.ZipFile(saved) as old:
            parts = {part: old.read(part) for part in old.namelist()}
        parts[name] = b" " * 50_000_000
        with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as new:
            for part, data in parts.items():
                new.writestr(part, data)
        self.refused(saved, "zip bomb")

    def test_declared_sizes_are_believed_before_they_are_read(self, saved):
        """A member that claims four gigabytes, whatever it holds."""
        data = bytearray(saved.read_bytes())
        place = data.index(b"PK\x01\x02")
        data[place + 24 : place + 28] = struct.pack("<I", 2**32 - 2)
        saved.write_bytes(bytes(data))
        self.refused(saved, "zip bomb|would unpack")

    def test_memory_budget(self, saved):
        with pytest.raises(ModelFileError, match=r"would unpack to .* budget is 1 kB"):
            kl.load(saved, memory_budget="1kB")

    def test_nested_zip_bomb(self, saved_sparse):
        path, name = saved_sparse
        data = io.BytesIO()
        np.savez_compressed(data, data=np.zeros(10**7))
        self.refused(rewrite(path, **{name: data.getvalue()}), "zip bomb")

    def test_packed_in_another_way(self, saved):
        with zipfile.ZipFile(saved, "a", zipfile.ZIP_BZIP2) as archive:
            archive.writestr("more.npy", b"1")
        self.refused(saved, "'more.npy' is encrypted or packed")

    def test_encrypted(self, saved):
        data = bytearray(saved.read_bytes())
        data[data.index(b"PK\x01\x02") + 8] |= 1
        saved.write_bytes(bytes(data))
        self.refused(saved, "is encrypted or packed")

    def test_a_description_of_megabytes(self, saved):
        text = np.random.default_rng(0).bytes(2**20 + 1)
        self.refused(rewrite(saved, **{"kernel_learn.json": text}), "too long to be a description")

    def test_overlapping_members(self, saved):
        """Many entries of the directory that point at the same bytes."""
        data = saved.read_bytes()
        with zipfile.ZipFile(saved) as old:
            start = old.start_dir
        entries = [b"PK\x01\x02" + part for part in data[start:].split(b"PK\x01\x02")[1:]]
        end = entries[-1].index(b"PK\x05\x06")
        tail, entries[-1] = bytearray(entries[-1][end:]), entries[-1][:end]
        copies = entries * 2
        tail[8:12] = struct.pack("<HH", len(copies), len(copies))
        tail[12:16] = struct.pack("<I", sum(map(len, copies)))
        saved.write_bytes(data[:start] + b"".join(copies) + bytes(tail))
        self.refused(saved, "members overlap")

    def test_two_members_of_one_name(self, saved):
        """One is looked at, and another might be read."""
        with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(saved, "a") as archive:
            archive.writestr("kernel_learn.json", archive.read("kernel_learn.json"))
        self.refused(saved, "two of its members have one name")

    def test_deep_nesting(self, saved):
        self.refused(rewrite(saved, **{"schema.json": b"[" * 10**5}), "is damaged")

    def test_newer_version(self, saved):
        self.refused(renamed_version(saved, "99.0.0"), r"written by kernel-learn 99\.0\.0")
        with pytest.raises(ModelFileError, match=r'pip install "kernel-learn>=99\.0\.0"'):
            kl.load(saved)

    def test_newer_format(self, saved):
        metadata = json.loads(zipfile.ZipFile(saved).read("kernel_learn.json"))
        metadata["format"] = 3
        self.refused(rewrite(saved, **{"kernel_learn.json": json.dumps(metadata)}), "written by")

    def test_newer_skops(self, saved):
        def change(schema):
            schema["protocol"] = 99

        self.refused(rewrite(saved, change), "update skops")

    @pytest.mark.parametrize("metadata", [b"[]", b"{}", b'{"versions": {}}', b"\xff"])
    def test_bad_metadata(self, saved, metadata):
        self.refused(rewrite(saved, **{"kernel_learn.json": metadata}), "is damaged")

    def test_not_a_model(self, tmp_path):
        path = tmp_path / "model.skops"
        path.write_text("rows,labels\n1,2\n")
        self.refused(path, "is not a model file")
        with zipfile.ZipFile(path, "w") as other:
            other.writestr("letter.txt", "hello")
        self.refused(path, "not a model that kernel_learn.save wrote")
        skops.dump(kl.KernelDiscriminant(), path)
        self.refused(path, "lacks kernel_learn.json")
        with pytest.raises(ModelFileError, match="lacks"):
            kl.describe(path)

    def test_a_list_is_not_a_model(self, saved):
        self.refused(rewrite(saved, with_root(list_node())), "holds a list, and not a model")

    def test_missing_file_and_folder(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            kl.load(tmp_path / "nothing.skops")
        with pytest.raises(FileNotFoundError, match=r"The folder .* does not exist"):
            kl.save(kl.KernelDiscriminant().fit(X, y), tmp_path / "no" / "model.skops")


def list_node(*texts):
    items = [
        {
            "__class__": "str",
            "__module__": "builtins",
            "__loader__": "JsonNode",
            "content": json.dumps(text),
            "is_json": True,
        }
        for text in texts
    ]
    return {
        "__class__": "list",
        "__module__": "builtins",
        "__loader__": "ListNode",
        "content": items,
    }


def array_name(path):
    return next(name for name in zipfile.ZipFile(path).namelist() if name.endswith(".npy"))


def renamed_version(path, version):
    metadata = json.loads(zipfile.ZipFile(path).read("kernel_learn.json"))
    metadata["versions"]["kernel-learn"] = version
    return rewrite(path, **{"kernel_learn.json": json.dumps(metadata)})


def own_kernel(A, B):
    return A @ B.T


class TestWhatIsNotWritten:
    def refused(self, model, match, path):
        with pytest.raises(ModelFileError, match=match):
            kl.save(model, path)
        assert list(path.parent.iterdir()) == []

    def test_functions(self, tmp_path):
        path = tmp_path / "model.skops"
        model = kl.KernelDiscriminant(own_kernel).fit(X, y)
        self.refused(model, "holds functions, .*own_kernel, and a file without pickle", path)
        model = kl.KernelDiscriminant(lambda A, B: A @ B.T).fit(X, y)
        self.refused(model, "holds functions, .*<lambda>", path)
        pipe = make_pipeline(FunctionTransformer(own_kernel, kw_args={"B": np.eye(3)}))
        pipe = make_pipeline(*pipe, kl.KernelDiscriminant()).fit(X, y)
        self.refused(pipe, "holds functions", path)
        pipe = make_pipeline(FunctionTransformer(np.arctan), kl.KernelDiscriminant()).fit(X, y)
        kl.save(pipe, path)  # a function of NumPy is a name
        assert_same(pipe, kl.load(path), X)

    def test_kernels_of_others(self, tmp_path):
        class Own(kl.kernels.Linear):
            pass

        model = kl.KernelDiscriminant(Own()).fit(X, y)
        self.refused(model, r"\.Own, which kernel_learn\.load does not build", tmp_path / "m")

    def test_trees(self, tmp_path):
        path = tmp_path / "model.skops"
        pipe = make_pipeline(kl.HSICSubspace(), KNeighborsClassifier(1, algorithm="kd_tree"))
        self.refused(pipe.fit(X, y), r'KDTree.*algorithm="brute"', path)
        pipe = make_pipeline(kl.HSICSubspace(), RandomForestClassifier(2)).fit(X, y)
        self.refused(pipe, "Trees of scikit-learn are read without checks", path)

    def test_search(self, tmp_path):
        search = GridSearchCV(kl.KernelDiscriminant(), {"reg": [0.1, 1.0]}, cv=2).fit(X, y)
        path = tmp_path / "model.skops"
        self.refused(search, r"^(?!(.*best_estimator_){2}).*best_estimator_", path)
        kl.save(search.best_estimator_, path)
        assert_same(search, kl.load(path), X)

    def test_between_two_calls_of_partial_fit(self, tmp_path):
        model = kl.HSICSubspace(landmarks=10).partial_fit(X, y)
        self.refused(model, r"StreamState.*clone\(model\)\.fit\(model\.state_\)", tmp_path / "m")
        learned = clone(model).fit(model.state_)
        assert_same(model, saved_and_loaded(learned, tmp_path / "m"), X)

    def test_steps_of_others_with_requests(self, tmp_path):
        with config_context(enable_metadata_routing=True):
            step = StandardScaler().set_fit_request(sample_weight=True)
            pipe = make_pipeline(step, kl.KernelDiscriminant()).fit(X, y)
        self.refused(pipe, "set_fit_request|which kernel_learn.load does not build", tmp_path / "m")

    def test_not_fitted_and_not_models(self, tmp_path):
        with pytest.raises(NotFittedError):
            kl.save(kl.KernelDiscriminant(), tmp_path / "m")
        for other in ({"a": 1}, X, kl.KernelDiscriminant, None):
            self.refused(other, "writes fitted estimators", tmp_path / "m")


def test_a_learned_kernel_is_a_model(tmp_path):
    kernel = kl.HSICSubspace().fit(X, y).kernel_
    kl.save(kernel, tmp_path / "kernel.skops")
    np.testing.assert_array_equal(kl.load(tmp_path / "kernel.skops")(X), kernel(X))


def test_a_file_appears_whole_or_not_at_all(saved, monkeypatch):
    before = saved.read_bytes()

    def fail(descriptor):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="full"):
        kl.save(kl.HSICSubspace().fit(X, y), saved)
    assert saved.read_bytes() == before and list(saved.parent.iterdir()) == [saved]


def test_scikit_learn_alone(tmp_path):
    model = LogisticRegression().fit(X, y)
    kl.save(model, tmp_path / "model.skops")
    assert_same(model, kl.load(tmp_path / "model.skops"), X)


class TestDescribe:
    def text(self, model, tmp_path):
        kl.save(model, tmp_path / "model.skops")
        return kl.describe(tmp_path / "model.skops")

    def test_says_what_it_is(self, tmp_path):
        text = self.text(kl.KernelDiscriminant("gaussian").fit(X, y), tmp_path)
        assert text.startswith("KernelDiscriminant, written 20")
        for part in (
            f"by kernel-learn {kl.__version__}",
            "scikit-learn 1.",
            "Columns: 3.",
            "Classes: 0, 1.",
            "Gaussian kernel, exp(-",
            "exact Gram matrix of 30 rows",
            "Fitted on 30 rows (digest ",
            "The file contains 30 training rows.",
            "landmarks=",
            "ExpansionSVC",
            "max_members=1",
        ):
            assert part in text

    @pytest.mark.parametrize(
        ("model", "carried"),
        [
            (kl.HSICSubspace(landmarks=7), 7),
            (kl.HSICSubspace(kernel="linear"), 0),
            (kl.HSICSubspace(landmarks=kl.Landmarks("kmeans", 5), random_state=0), 0),
            # classifiers keep up to 250 rows that new ones are compared with
            (kl.ExpansionSVC(n_points=4), 30),
            (kl.ExpansionSVC(n_points=4, move_points=False, init="uniform"), 30),
            (kl.HSICSubspace(landmarks=kl.Landmarks("uniform", 4)), 4),
            (kl.KernelDiscriminantQR(), 0),
            (kl.KernelClassifier(quality="fast"), 30),
            (make_pipeline(kl.KernelDiscriminant(landmarks=9)), 30),
            # kernels that hold rows themselves, and rows of constraints
            (kl.HSICSubspace(kk.GraphDeformed(kk.Gaussian()), landmarks=7), 30),
            (kl.HSICSubspace(kk.LowRank("gaussian", 5), landmarks=7), 30),
            (kl.HSICSubspace(kl.HSICSubspace().fit(X[:20], y[:20]).kernel_, landmarks=X[-2:]), 22),
            (kl.InductiveKernel(constraints=Pairs(X[None, :2], X[None, 2:4]), landmarks=X[-2:]), 6),
        ],
    )
    def test_counts_the_training_rows_it_holds(self, model, carried, tmp_path):
        text = self.text(model.fit(X, y), tmp_path)
        if carried:
            assert f"The file contains {carried} training rows" in text
            assert "To make a model that carries fewer" in text
        else:
            assert "The file contains no training row" in text
        known = {row.tobytes() for row in X}
        if not isinstance(model, kl.KernelClassifier):
            assert rows_inside(model, known) == carried

    @pytest.mark.parametrize(
        ("step", "count"),
        [
            (KNeighborsClassifier(1, algorithm="brute"), 30),
            (SVC(), None),
            (StandardScaler(), 0),
            (Nystroem(n_components=12), 12),
        ],
    )
    def test_counts_the_rows_that_steps_of_others_keep(self, step, count, tmp_path):
        model = make_pipeline(StandardScaler(), step).fit(X, y)
        count = len(step.support_) if count is None else count
        text = self.text(model, tmp_path)
        name = type(step).__name__
        assert (f"{name}: The file contains {count} training rows" in text) == bool(count)
        assert ("Whoever has the file" in text) == bool(count)
        assert ("No part of it is known to keep training rows." in text) == (not count)

    def test_counts_the_rows_of_a_learned_kernel(self, tmp_path):
        """And the support rows beside those that new rows are compared with."""
        text = self.text(kl.HSICSubspace(landmarks=7).fit(X, y).kernel_, tmp_path)
        assert "SubspaceKernel: The file contains 7 training rows" in text
        rows = np.random.default_rng(0).normal(size=(400, 3))
        model = kl.MultiKernelSVC().fit(rows, rows[:, 0] * rows[:, 1] > 0)
        count = rows_inside(model, {row.tobytes() for row in rows})
        assert count > 250 and f"contains {count} training rows" in self.text(model, tmp_path)

    def test_counts_rows_before_equal_ones_are_merged(self, tmp_path):
        model = kl.KernelClassifier(quality="fast").fit(np.vstack([X, X]), np.r_[y, y])
        text = self.text(model, tmp_path)
        assert "Fitted on 60 rows" in text and "contains 30 training rows" in text

    def test_as_many_averages_as_rows_are_rows(self, tmp_path):
        model = kl.HSICSubspace(landmarks="kmeans").fit(X, y)
        distances = np.linalg.norm(model.kernel_.landmarks[:, None] - X, axis=2)
        assert distances.min(axis=1).max() < 1e-12
        assert "The file contains 30 training rows" in self.text(model, tmp_path)

    def test_many_classes_are_not_listed(self, tmp_path):
        many = kl.KernelDiscriminant(reg=0.1).fit(np.vstack([X, X]), np.r_[:30, :30].astype(str))
        assert "Classes" not in self.text(many, tmp_path)

    def test_a_sum_begins_with_its_heaviest_kernel_and_leaves_out_zeros(self):
        one, two, three = kk.Gaussian(2.0), kk.Linear(), kk.Cosine()
        assert kernel_in_words(kk.Combination([one, two, three], [0.2, 0.0, 0.7])) == (
            "weighted sum of 2 kernels: 0.7 x Cosine kernel, x'z / (|x| |z|); "
            "0.2 x Gaussian kernel, exp(-2 |x - z|^2)"
        )

    def test_digest_is_that_of_the_rows_in_any_order(self, tmp_path):
        def digest(model, rows, labels):
            return re.search(r"digest (\w{32})", self.text(model.fit(rows, labels), tmp_path))[1]

        order = np.random.default_rng(1).permutation(len(X))
        first = digest(kl.HSICSubspace(), X, y)
        assert digest(kl.KernelDiscriminant(), X[order], y[order]) == first
        assert digest(kl.KernelClassifier(quality="fast"), X, y) == first
        changed = X.copy()
        changed[0, 0] += 1e-9
        assert digest(kl.HSICSubspace(), changed, y) != first
        assert digest(kl.HSICSubspace(), X[:-1], y[:-1]) != first
        twice = digest(kl.HSICSubspace(), np.vstack([X, X[:1]]), np.r_[y, y[:1]])
        assert twice != first

    def test_no_text_of_a_file_reaches_the_terminal_as_it_is(self, saved):
        metadata = json.loads(zipfile.ZipFile(saved).read("kernel_learn.json"))
        metadata["class"] = "Mo\x1b[2Jdel\nFitted on 3 rows"
        metadata["parts"][0]["kernel"] = "\x1b]0;title\x07\u202egaussian"
        rewrite(saved, **{"kernel_learn.json": json.dumps(metadata)})
        text = kl.describe(saved)
        assert all(line.isprintable() for line in text.splitlines())
        assert r"Mo\x1b[2Jdel\nFitted on 3 rows" in text and r"\u202egaussian" in text

    def test_builds_no_model(self, saved):
        """In a process in which neither skops nor the estimators' module can be loaded."""
        with zipfile.ZipFile(saved) as old:
            parts = {name: old.read(name) for name in old.namelist()}
        parts["schema.json"] = b"{}"
        with zipfile.ZipFile(saved, "w") as new:
            for name, data in parts.items():
                new.writestr(name, data)
        code = (
            "import sys; sys.modules['skops'] = None\n"
            "import kernel_learn as kl\n"
            f"assert 'KernelDiscriminant' in kl.describe({str(saved)!r})"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.filterwarnings("ignore")
def test_the_table_of_who_keeps_rows_is_right():
    """SECURITY.md beside what is counted."""
    table = (Path(__file__).parents[2] / "SECURITY.md").read_text()
    said = {}
    for names, keeps in re.findall(r"^\| (`.*?) \| (.*?) \|$", table, re.MULTILINE):
        said |= {name: keeps.split()[0].rstrip(";,") for name in re.findall(r"`(\w+)`", names)}
    public = {name for name in kl.__all__ if hasattr(getattr(kl, name), "fit")} - {"TableEncoder"}
    assert public <= set(said)
    for name in public - {"PairClassifier"}:
        model = getattr(kl, name)().fit(X, y)
        keeps_views = name in ("KernelClassifier", "KernelRegressor")
        count = len(X) if keeps_views else predicting_rows(model)
        found = {0: "none", len(X): "all"}.get(count, "the")  # support rows
        assert found == said[name], name
        beside = re.search(r"Beside these (.*?) keep", table, re.DOTALL)[1]
        reference = getattr(getattr(model, "_calibration", None), "reference", None)
        is_told = name != "KernelClassifier" and reference is not None
        assert (f"`{name}`" in beside) == is_told, name


def rows_inside(model, known):
    """How many of the training rows stand anywhere in the arrays of a model."""
    found, waiting, seen = set(), [model], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, np.ndarray) and part.ndim >= 2 and part.size and part.dtype == float:
            rows = part.reshape(-1, part.shape[-1])
            found |= {np.ascontiguousarray(row).tobytes() for row in rows} & known
        elif isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part
        elif hasattr(part, "__dict__") and not isinstance(part, type):
            waiting += vars(part).values()
    return len(found)


@pytest.mark.parametrize("call", ["kl.save(model, path)", "kl.load(path)"])
def test_the_missing_extra_is_named(call, saved):
    code = (
        "import sys; sys.modules['skops'] = None\n"
        "import kernel_learn as kl\n"
        f"model, path = kl.HSICSubspace(), {str(saved)!r}\n"
        f"try:\n    {call}\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "kernel-learn[files]"' in done.stdout


def test_sparse_rows_of_ones_are_no_zip_bomb(tmp_path):
    """They pack to a thousandth of their size, and a file is refused at a hundredth."""
    rows = sparse.csr_matrix(np.hstack([np.abs(X), np.ones((30, 3000))]))
    model = kl.KernelDiscriminant().fit(rows, y)
    kl.save(model, tmp_path / "model.skops")
    assert_same(model, kl.load(tmp_path / "model.skops"), rows)


def test_sizes_on_the_disk(saved):
    """Texts are compressed, arrays are not, and no member unpacks to a hundred times itself."""
    for member in zipfile.ZipFile(saved).infolist():
        assert member.file_size <= archive.MOST_RATIO * member.compress_size
    data = archive.pack(skops.dumps(LogisticRegression()), {"text": " " * 10**6})
    members = zipfile.ZipFile(io.BytesIO(data)).infolist()
    assert all(m.file_size <= archive.MOST_RATIO * m.compress_size for m in members)
