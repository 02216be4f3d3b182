"""KernelClassifier: exact, in leaves, with rows on the disk, and on landmarks without rows."""

import contextlib
import io
import shutil
from collections import namedtuple
from unittest import mock

import fixed_data as data
import numpy as np
from array_cases import prepared
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from stream_cases import StopError, stopping

import kernel_learn as kl
from kernel_learn.datasets import Blocks, CsvSource, LibsvmSource, NpySource, ParquetSource

FAST = {"quality": "fast"}
# A budget with which 1600 rows of four columns do not fit into memory.
SHORT = {"quality": "fast", "memory_budget": "1.2MB"}
# One with which as many fit by landmarks.
LANDMARKS = {"quality": "fast", "memory_budget": "3MB"}
Usage = namedtuple("Usage", "total used free")


def small():
    """Rows that take long in no case."""
    return data.moons(200)


def rows_on_disk():
    return data.moons(1600)


def frame_on_disk():
    """A table with categories and holes; one category comes late."""
    rows = data.frame(1500)
    X = rows.X.copy()
    X["colour"] = X["colour"].astype(object)
    X.loc[len(X) - 30 :, "colour"] = "late"
    X_new = rows.X_new.copy()
    X_new["colour"] = X_new["colour"].astype(object)
    X_new.iloc[0, 3] = "never seen"
    return rows._replace(X=X, X_new=X_new)


def in_groups(rows):
    """Rows in the order of their labels, so that groups of three have one each, but for one."""
    order = np.argsort(rows.y, kind="stable")
    y = np.repeat(rows.y[order][::3], 3)
    return rows._replace(X=rows.X[order], y=y)


def sparse_on_disk():
    rng = np.random.default_rng(2)
    n = 1620
    noise = sparse.random(n, 200, 0.03, format="csr", random_state=0)
    told = rng.uniform(-2, 2, size=(n, 2))
    X = sparse.hstack([sparse.csr_matrix((told > 0) * 2.0), noise], format="csr")
    y = (told[:, 0] > 0).astype(int)
    return data.Split(X[: n - 20], y[: n - 20], X[n - 20 :])


def observe(record, model, rows):
    """Everything it says; the reasons and the test of chance, too."""
    record.add_model(model, rows.X_new)
    found = model.explain(rows.X_new[:5], 3)
    record.add("explain", found)
    for name in ("indices", "contributions", "values", "baseline"):
        if hasattr(found, name):
            record.add(f"explain.{name}", getattr(found, name))
    record.add("permutation_p_value", model.permutation_p_value(19))


def fit_table(record, rows, options, **fit_options):
    model = prepared(kl.KernelClassifier(**options))
    observe(record, model.fit(rows.X, rows.y, **fit_options), rows)


def fit_views(record):
    rows = data.wine()
    model = prepared(kl.KernelClassifier(**FAST))
    model.fit([rows.X[:, :5], rows.X[:, 5:]], rows.y)
    record.add_model(model, [rows.X_new[:, :5], rows.X_new[:, 5:]])


def fit_blocks(record, rows, options, make):
    """A source, and its score by its own labels."""
    source = make(record, rows)
    model = prepared(kl.KernelClassifier(**options)).fit(source)
    observe(record, model, rows)
    if getattr(source, "rewinds", False):
        record.add("score(source)", model.score(source))


def as_function(record, rows):
    return Blocks(lambda: data.blocks_of(rows.X, rows.y, size=300))


def as_weighted(record, rows):
    return Blocks(lambda: data.blocks_of(rows.X, rows.y, data.weights(len(rows.y)), 300))


def as_list(record, rows):
    return Blocks(list(data.blocks_of(rows.X, rows.y, size=70)))


def as_iterator(record, rows):
    return data.blocks_of(rows.X, rows.y, size=210)


def as_npy(record, rows):
    np.save(record.folder / "X.npy", rows.X)
    np.save(record.folder / "y.npy", rows.y)
    return NpySource(record.folder / "X.npy", record.folder / "y.npy")


def as_csv(record, rows):
    rows.X.assign(label=rows.y).to_csv(record.folder / "t.csv", index=False)
    return CsvSource(record.folder / "t.csv", target="label")


def as_parquet(record, rows):
    file = record.folder / "t.parquet"
    rows.X.assign(label=rows.y).to_parquet(file, row_group_size=400)
    return ParquetSource(file, target="label")


def as_libsvm(record, rows):
    file = record.folder / "rows.txt"
    dump_svmlight_file(rows.X, rows.y, str(file), zero_based=False)
    return LibsvmSource(file, rows.X.shape[1])


def fit_dask(record):
    import dask
    import dask.array as da

    rows = rows_on_disk()
    y = (rows.y == "same").astype(int)
    with dask.config.set(scheduler="synchronous"):
        model = prepared(kl.KernelClassifier(**SHORT))
        model.fit(da.from_array(rows.X, chunks=(300, 4)), da.from_array(y, chunks=500))
        observe(record, model, rows)


@contextlib.contextmanager
def full_disk():
    """No room for rows: members are fitted on landmarks."""
    with mock.patch.object(shutil, "disk_usage", return_value=Usage(10**9, 10**9, 0)):
        yield


def fit_without_disk(record, rows, options, make=as_function):
    with full_disk():
        fit_blocks(record, rows, options, make)


def go_on_without_disk(record):
    """Stopped in the third reading (all rows, some rows, sums of all), and resumed."""
    rows, folder = rows_on_disk(), record.folder / "kept"
    with full_disk():
        try:
            prepared(kl.KernelClassifier(**LANDMARKS)).fit(
                Blocks(stopping(rows, 2 * 1800 + 900, 300)), checkpoint=folder
            )
        except StopError:
            record.add("files after the stop", sorted(path.name for path in folder.iterdir()))
        model = prepared(kl.KernelClassifier(**LANDMARKS))
        observe(record, model.fit(as_function(record, rows), checkpoint=folder), rows)


class StoppingOutput(io.StringIO):
    """What is printed; an error where a line has some words."""

    def __init__(self, words):
        super().__init__()
        self.words = words

    def write(self, text):
        if self.words in text:
            raise StopError
        return super().write(text)


def go_on_in_leaves(record, given):
    """Stopped as the second tree of leaves is told of, and resumed."""
    rows, folder = rows_on_disk(), record.folder / "kept"

    def fit(verbose):
        model = prepared(kl.KernelClassifier(memory_budget="3MB", verbose=verbose))
        data_given = (rows.X, rows.y) if given == "array" else (as_function(record, rows),)
        return model.fit(*data_given, checkpoint=folder)

    try:
        with contextlib.redirect_stdout(StoppingOutput("tree 2:")):
            fit(1)
    except StopError:
        # how many there are is a matter of seconds
        kinds = {path.name.rstrip("0123456789.npz") for path in folder.iterdir()}
        record.add("kinds of files after the stop", sorted(kinds))
    observe(record, fit(0), rows)
    record.add("files at the end", len(list(folder.iterdir())))


def tables():
    """(name, rows, parameters, options of fit) of fits to tables."""
    wine, frame = data.wine, data.frame
    groups = {"one": ["a", "b"], "two": ["c", "colour"]}
    return [
        ("fast", wine, FAST, {}),
        ("balanced", wine, {}, {}),
        ("texts", data.named_wine, FAST, {}),
        ("two classes", data.cancer, FAST, {}),
        ("ten classes", data.digits, FAST, {}),
        ("seed", data.iris, {"random_state": 3, **FAST}, {}),
        ("one member", wine, {"max_members": 1, **FAST}, {}),
        ("three members", data.iris, {"max_members": 3}, {}),
        ("class weights", wine, {"class_weight": "balanced", **FAST}, {}),
        ("given class weights", wine, {"class_weight": {0: 2.0, 1: 1.0, 2: 0.5}, **FAST}, {}),
        ("two jobs", data.iris, {"n_jobs": 2, **FAST}, {}),
        ("sparse", data.sparse_rows, FAST, {}),
        ("sparse balanced", data.sparse_rows, {}, {}),
        ("frame", frame, FAST, {}),
        ("frame balanced", frame, {}, {}),
        ("frame groups of columns", frame, {"column_groups": groups, **FAST}, {}),
        ("categories", data.codes, {"categorical": [0, 1, 2], **FAST}, {}),
        ("weights", wine, FAST, {"sample_weight": data.weights(90)}),
        ("groups", lambda: in_groups(data.cancer()), FAST, {"groups": np.arange(90) // 3}),
        ("leaves", lambda: data.moons(400), {"memory_budget": 1_500_000, **FAST}, {}),
        ("leaves balanced", lambda: data.moons(600), {"memory_budget": "3MB"}, {}),
        ("leaves of a frame", lambda: data.frame(600), {"memory_budget": "2MB", **FAST}, {}),
        ("leaves sparse", sparse_on_disk, {"memory_budget": "6MB", **FAST}, {}),
    ]


def sources():
    """(name, rows, parameters, how they come) of fits to sources."""
    wider = {**SHORT, "memory_budget": "1.6MB"}
    numbered = data.Split(*rows_on_disk())
    numbered = numbered._replace(y=(numbered.y == "same").astype(int))
    return [
        ("few rows, list", small, FAST, as_list),
        ("few rows, iterator", small, FAST, as_iterator),
        ("few rows, frame", data.frame, FAST, as_function),
        ("on the disk", rows_on_disk, SHORT, as_function),
        ("on the disk, balanced", rows_on_disk, {"memory_budget": "3MB"}, as_function),
        ("on the disk, iterator", rows_on_disk, SHORT, as_iterator),
        ("on the disk, weights", rows_on_disk, SHORT, as_weighted),
        (
            "on the disk, class weights",
            rows_on_disk,
            {"class_weight": "balanced", **SHORT},
            as_function,
        ),
        ("on the disk, frame", frame_on_disk, wider, as_function),
        ("on the disk, CsvSource", frame_on_disk, wider, as_csv),
        ("on the disk, ParquetSource", frame_on_disk, wider, as_parquet),
        ("on the disk, NpySource", lambda: numbered, SHORT, as_npy),
        ("on the disk, sparse", sparse_on_disk, {**SHORT, "memory_budget": "4MB"}, as_function),
        (
            "on the disk, LibsvmSource",
            sparse_on_disk,
            {**SHORT, "memory_budget": "4MB"},
            as_libsvm,
        ),
    ]


def cases():
    found = {
        f"classifier: {name}": lambda r, d=rows, o=options, f=fit: fit_table(r, d(), o, **f)
        for name, rows, options, fit in tables()
    }
    found |= {
        f"classifier, source: {name}": lambda r, d=rows, o=options, m=make: fit_blocks(r, d(), o, m)
        for name, rows, options, make in sources()
    }
    return found | {
        "classifier: views": fit_views,
        "classifier, source: dask": fit_dask,
        "classifier, landmarks": lambda r: fit_without_disk(r, rows_on_disk(), LANDMARKS),
        "classifier, landmarks, weights": lambda r: fit_without_disk(
            r, rows_on_disk(), LANDMARKS, as_weighted
        ),
        "classifier, landmarks, iterator": lambda r: fit_without_disk(
            r, rows_on_disk(), LANDMARKS, as_iterator
        ),
        "classifier, landmarks, frame": lambda r: fit_without_disk(r, frame_on_disk(), LANDMARKS),
        "classifier, landmarks, sparse": lambda r: fit_without_disk(
            r, sparse_on_disk(), {**LANDMARKS, "memory_budget": "6MB"}
        ),
        "classifier, landmarks, checkpoint": go_on_without_disk,
        "classifier, leaves, checkpoint": lambda r: go_on_in_leaves(r, "array"),
        "classifier, source: on the disk, checkpoint": lambda r: go_on_in_leaves(r, "source"),
    }
