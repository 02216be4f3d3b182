"""Files whose types are all known and whose arrays are not what their code trusts."""

import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, NuSVC

import kernel_learn as kl
from kernel_learn.interop import shapes, trusted
from kernel_learn.interop.errors import WrongStateError
from kernel_learn.interop.files import ModelFileError
from kernel_learn.interop.state import RULES, check_state

pytest.importorskip("skops")
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = np.digitize(X[:, 0], [-0.5, 0.5])


def node_of(part, attribute):
    """Where a schema says what an attribute is, at any depth."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key == attribute and isinstance(value, dict) and value.get("content") != '"auto"':
                return value
            if (found := node_of(value, attribute)) is not None:
                return found
    elif isinstance(part, list):
        for value in part:
            if (found := node_of(value, attribute)) is not None:
                return found
    return None


def read_parts(path):
    """Members of the archive, and its schema."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    return parts, json.loads(parts["schema.json"])


def write_parts(path, parts, schema):
    """The archive with another schema."""
    parts |= {"schema.json": json.dumps(schema).encode()}
    with zipfile.ZipFile(path, "w") as new:
        for name, data in parts.items():
            new.writestr(name, data)
    return path


def with_array(path, attribute, change):
    """The file with another array for an attribute; nothing else in it is touched."""
    parts, schema = read_parts(path)
    node = schema
    for name in attribute.split("."):
        node = node_of(node, name)
    array = np.load(io.BytesIO(parts[node["file"]]))
    data = io.BytesIO()
    np.save(data, change(array))
    node["file"], node["__id__"] = "changed.npy", 10**12
    return write_parts(path, parts | {"changed.npy": data.getvalue()}, schema)


def with_value(path, owner, attribute, value):
    """The file with a JSON value for an attribute of the first object that has ``owner``."""
    parts, schema = read_parts(path)
    node = schema if owner is None else node_of(schema, owner)
    content = node["content"]["content"]
    content[attribute] = {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "__id__": 10**12,
        "content": json.dumps(value),
        "is_json": True,
    }
    keys = node["content"]["key_types"]["content"]
    if len(keys) < len(content):
        keys.append(keys[0])
    return write_parts(path, parts, schema)


def saved(model, tmp_path):
    kl.save(model, tmp_path / "model.skops")
    return tmp_path / "model.skops"


def fill(value):
    return lambda array: np.full_like(array, value)


def cut(array):
    return array[..., :-1]


def with_nan(array):
    return np.where(np.arange(array.size).reshape(array.shape) == 0, np.nan, array)


svm = make_pipeline(StandardScaler(), SVC())
neighbours = KNeighborsClassifier(3, algorithm="brute")
leaves = kl.KernelClassifier(quality="fast", memory_budget=1_500_000)
fast = kl.KernelClassifier(quality="fast", assess=False)
encoded = kl.make_pipeline(kl.TableEncoder(), kl.KernelDiscriminant())
CASES = {
    "counts of vectors": (svm, "_n_support", fill(10**8)),
    "negative counts": (svm, "_n_support", lambda n: np.array([-5, n.sum(), 5], np.int32)),
    "cut coefficients": (svm, "_dual_coef_", cut),
    "cut vectors": (svm, "support_vectors_", lambda V: V[:-1]),
    "narrow vectors": (svm, "support_vectors_", cut),
    "intercepts": (svm, "_intercept_", cut),
    "positions": (SVC(kernel="precomputed"), "support_", fill(10**6)),
    "infinite coefficients": (svm, "_dual_coef_", with_nan),
    "cut scales": (svm, "scale_", cut),
    "classes of neighbours": (neighbours, "_y", fill(10**7)),
    "rows of neighbours": (neighbours, "_fit_X", lambda A: A[:-1]),
    "coefficients": (LogisticRegression(), "coef_", lambda A: A[:-1]),
    "missing coefficients": (LogisticRegression(), "coef_", with_nan),
    "a kernel's coefficients": (kl.KernelDiscriminant(), "coef", cut),
    "a kernel's rows": (kl.KernelDiscriminant(), "landmarks", lambda A: A[:-1]),
    "means": (kl.KernelDiscriminant(), "means_", lambda A: A[:-1]),
    "priors": (kl.KernelDiscriminant(), "priors_", with_nan),
    "dual": (kl.MultiKernelSVC(), "dual_coef_", cut),
    "machines": (kl.SubspaceSVC(), "intercept_", cut),
    "fewer machines": (kl.SubspaceSVC(), "coef_", lambda A: A[:-1]),
    "loadings": (kl.KernelPLS(), "loadings_", lambda A: A[:-1]),
    "a tree that leads back": (leaves, "below", fill(0)),
    "a tree's children": (leaves, "above", fill(10**6)),
    "ridge": (fast, "intercept", cut),
    "coefficients of other rows": (fast, "coef", lambda A: A[:-1]),
    "columns that are not there": (fast, "numbers", fill(10**8)),
    "columns without owners": (fast, "owner", cut),
    "missing knots": (fast, "knots_", with_nan),
    "missing ranks": (fast, "ranks_", with_nan),
    "log-odds of other classes": (fast, "prior", cut),
    "log-odds of other features": (kl.KernelDiscriminant(), "_log_odds.coef", lambda A: A[:-1]),
    "missing landmarks": (kl.KernelDiscriminant(), "landmarks", with_nan),
    "narrow landmarks": (kl.KernelDiscriminant(), "landmarks", cut),
    "negative weights": (kl.KernelDiscriminant(), "weight", fill(-5.0)),
    "missing vectors": (svm, "support_vectors_", with_nan),
    "an encoder's shift": (encoded, "shift", lambda a: np.r_[a, a]),
    "an encoder's factor": (encoded, "factor", lambda a: a[:0]),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Each model once."""
    made = {}

    def make(model):
        if id(model) not in made:
            path = tmp_path_factory.mktemp("files") / "model.skops"
            rows, labels = X, y
            if model is leaves:
                rows = np.random.default_rng(1).normal(size=(400, 3))
                labels = (rows[:, 0] > 0).astype(int)
            if getattr(model, "kernel", "") == "precomputed":
                rows = X @ X.T
            kl.save(model.fit(rows, labels), path)
            made[id(model)] = path.read_bytes()
        return made[id(model)]

    return make


@pytest.mark.filterwarnings("ignore:Fits of 400 rows")
@pytest.mark.parametrize("name", CASES)
def test_arrays_that_do_not_belong_together(name, files, tmp_path):
    model, attribute, change = CASES[name]
    path = tmp_path / "model.skops"
    path.write_bytes(files(model))
    kl.load(path)
    with pytest.raises(ModelFileError, match="is damaged: ") as caught:
        kl.load(with_array(path, attribute, change))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_no_count_of_vectors_ends_the_process(tmp_path):
    """LIBSVM reads as many vectors as it is told of: without a look at the counts, SIGSEGV."""
    path = with_array(saved(svm.fit(X, y), tmp_path), "_n_support", fill(10**8))
    code = (
        "import sys, numpy as np, kernel_learn as kl\n"
        "from kernel_learn.interop.files import ModelFileError\n"
        "try:\n    model = kl.load(sys.argv[1])\n"
        "except ModelFileError as error:\n    print(error)\n"
        "else:\n    model.predict(np.zeros((5, 3)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.returncode
    assert "support vectors" in done.stdout


@pytest.mark.filterwarnings("ignore:The `probability` parameter:FutureWarning")
@pytest.mark.parametrize(
    "machine",
    [
        SVC(),
        SVC(kernel="linear"),
        NuSVC(nu=0.2),
        SVC(kernel="precomputed"),
        SVC(break_ties=True),
    ],
)
@pytest.mark.parametrize("labels", [y, y > 0])
def test_machines_of_libsvm_that_hold_together(machine, labels, tmp_path):
    rows = X @ X.T if machine.kernel == "precomputed" else X
    for own in [rows] if rows is not X else [X, sparse.csr_matrix(X)]:
        model = machine.fit(own, labels)
        found = kl.load(saved(model, tmp_path)).predict(own)
        np.testing.assert_array_equal(found, model.predict(own))
    probable = SVC(probability=True, random_state=0) if machine.kernel == "rbf" else machine
    check_state(probable.fit(rows, labels))


def test_levels_of_an_encoder_that_point_beyond_its_columns(tmp_path):
    rows = np.array([["a"], ["b"], ["c"]] * 20, dtype=object)
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(rows, y)
    path = saved(model, tmp_path)
    assert np.array_equal(kl.load(path).predict(rows), model.predict(rows))
    parts, schema = read_parts(path)
    node_of(schema, "_n_features_outs")["content"][0] |= {"content": "1", "__id__": 10**12}
    write_parts(path, parts, schema)
    with pytest.raises(ModelFileError, match="OneHotEncoder has 1 columns for 3 levels"):
        kl.load(path)


def test_words_that_point_beyond_their_columns(tmp_path):
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["one two", "two three", "three four"] * 20
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, y)
    path = saved(model, tmp_path)
    kl.load(path)
    parts, schema = read_parts(path)
    words = node_of(schema, "vocabulary_")["content"]
    words["two"] |= {"content": "100000000", "__id__": 10**12}
    write_parts(path, parts, schema)
    with pytest.raises(ModelFileError, match="words of a vectorizer"):
        kl.load(path)


@pytest.mark.parametrize("attribute", ["_impl", "predict", "_more_tags", "fit"])
def test_nothing_of_a_class_is_replaced(attribute, tmp_path):
    if not hasattr(SVC, attribute):
        pytest.skip("this version has no such attribute")
    path = saved(SVC().fit(X, y), tmp_path)
    with pytest.raises(ModelFileError, match=f"own '{attribute}', which belongs to its class"):
        kl.load(with_value(path, None, attribute, "one_class"))


def test_refusals_quote_no_escape_sequences(tmp_path):
    path = saved(SVC().fit(X, y), tmp_path)
    parts, schema = read_parts(path)
    schema["__class__"] = "SVC\x1b]0;title\x07\u202e"
    with pytest.raises(ModelFileError, match=r"SVC\\x1b\]0;title\\x07\\u202e") as caught:
        kl.load(write_parts(path, parts, schema))
    assert str(caught.value).isprintable()


def test_types_without_a_check_are_named_by_the_user(tmp_path):
    """skops trusts all of scikit-learn's estimators, whatever their code does with arrays."""
    path, name = tmp_path / "model.skops", "sklearn.cluster._kmeans.KMeans"
    model = make_pipeline(KMeans(2, n_init=1, random_state=0), kl.KernelDiscriminant()).fit(X, y)
    with pytest.raises(ModelFileError, match=rf"trusted=\['{name}'\]"):
        kl.save(model, path)
    assert not path.exists()
    kl.save(model, path, trusted=[name])
    with pytest.raises(ModelFileError, match=rf"crash on it.*trusted=\['{name}'\]"):
        kl.load(path)
    found = kl.load(path, trusted=[name])
    np.testing.assert_array_equal(found.predict(X), model.predict(X))
    for wrong in (name, KMeans, [3]):
        with pytest.raises(TypeError, match="give a list of types"):
            kl.load(path, trusted=wrong)


def test_trees_are_written_for_those_who_trust_them(tmp_path):
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    names = [
        "numpy.dtype",
        "sklearn.ensemble._forest.RandomForestClassifier",
        "sklearn.tree._classes.DecisionTreeClassifier",
        "sklearn.tree._tree.Tree",
    ]
    kl.save(model, tmp_path / "model.skops", trusted=names)
    with pytest.raises(ModelFileError, match="Trees of scikit-learn are read without checks"):
        kl.load(tmp_path / "model.skops", trusted=names[:2])
    found = kl.load(tmp_path / "model.skops", trusted=names)
    np.testing.assert_array_equal(found.predict(X), model.predict(X))


def test_every_type_has_rules():
    """Ours by name; a line for each, if it says that there are no arrays."""
    plain = """
    Additive ArcCosine Assessment Calibration ChiSquared ColumnKernel Columns ColumnSummary
    ConstraintSet Forgotten
    Cosine CovarianceFunction EarlierFit EarlierPlan EarlierRecord EnsemblePlan Exponential
    Forest Gaussian
    GaussianProcessKernel Hamming
    KernelGraph
    LabelMap Landmarks Laplacian Linear Matching Matern PairwiseAnova PairwiseKernel Plan Polynomial
    PartSums Pipeline Precomputed Price RawView ReadRows Spectrum Subsequence
    TableEncoder TableSummary TrainingRows Transform ViewKernel
    """
    without_arrays = set(plain.split())
    assert set(trusted.OURS) == set(shapes.OURS) | without_arrays
    assert not set(shapes.OURS) & without_arrays


def test_kept_rows_are_those_of_their_reader():
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X, y)
    check_state(model)
    rows = model._given.rows
    model._given = replace(model._given, rows=replace(rows, table=rows.table.select([0, 1])))
    with pytest.raises(WrongStateError, match="ReadRows has numbers of other columns"):
        check_state(model)


@pytest.mark.slow
def test_every_array_of_every_model_has_a_rule():
    """An array that nobody asked about is one that a file may fill as it likes."""
    from interop.models import NAMES, fitted
    from kernel_learn.interop.state import full_name, parts_of

    # told of and not used, or read entry by entry by NumPy
    told = {"eigenvalues_", "feature_names_in_", "kernel_names_", "loo_errors_", "loo_regs_"}
    told |= {"explained_variance_", "explained_variance_ratio_", "singular_values_", "columns"}
    told |= {"landmarks", "metric_"}
    missing = set()
    for name in NAMES:
        model = fitted(name)[0]
        check_state(model)
        for part in parts_of(model):
            own = full_name(type(part))
            if own.startswith("kernel_learn.") and own not in trusted.trusted_names():
                continue  # worked out when it is asked for, and in no file
            known = {rule.attribute for rule in RULES.get(own, ())} | told
            held = part.__getstate__()  # what a file holds of it
            held = held if isinstance(held, dict) else vars(part)
            arrays = {k for k, v in held.items() if isinstance(v, np.ndarray) and v.ndim}
            missing |= {f"{own}.{attribute}" for attribute in arrays - known}
    assert sorted(missing) == []
