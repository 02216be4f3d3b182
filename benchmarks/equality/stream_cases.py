"""Estimators on sources of blocks: files, functions, iterators, Dask; states and checkpoints."""

import fixed_data as data
import numpy as np
from array_cases import prepared
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import kernel_learn as kl
from kernel_learn.datasets import Blocks, CsvSource, LibsvmSource, NpySource, ParquetSource
from kernel_learn.kernels import ColumnKernel, Gaussian, Laplacian, Linear, gaussian_bank

FEW = {"landmarks": 20, "random_state": 0}
BANK = [Gaussian(0.1), Gaussian(1.0), Linear()]
# Those that learn from sums over blocks, and those that pass over the blocks several times.
SUMS = {
    "HSICSubspace": kl.HSICSubspace(**FEW),
    "HSICSubspace loo": kl.HSICSubspace(uncorrelated=True, reg="loo", **FEW),
    "HSICSubspace bank": kl.HSICSubspace(gaussian_bank(3, relative=True), uncorrelated=True, **FEW),
    "HSICSubspace kmeans": kl.HSICSubspace(landmarks=kl.Landmarks("kmeans", 15), random_state=0),
    "HSICSubspace stratified": kl.HSICSubspace(
        landmarks=kl.Landmarks("stratified", 15), random_state=0
    ),
    "HSICSubspace linear": kl.HSICSubspace("linear"),
    "AlignmentSubspace": kl.AlignmentSubspace(max_iter=50, **FEW),
    "KernelDiscriminant": kl.KernelDiscriminant(**FEW),
    "KernelDiscriminant gcv": kl.KernelDiscriminant(reg="gcv", **FEW),
    "KernelDiscriminant bank": kl.KernelDiscriminant(BANK, weights="loo", **FEW),
    "KernelDiscriminant balanced": kl.KernelDiscriminant(class_weight="balanced", **FEW),
    "KernelOrthogonalCentroid": kl.KernelOrthogonalCentroid(**FEW),
    "KernelPLS": kl.KernelPLS(**FEW),
}
PASSES = {
    "KernelDiscriminantQR": kl.KernelDiscriminantQR(),
    "SubspaceSVC": kl.SubspaceSVC(loss="squared_hinge", **FEW),
    "SubspaceSVC balanced": kl.SubspaceSVC(
        loss="squared_hinge", class_weight="balanced", C=3.0, **FEW
    ),
    "MultiKernelSVC": kl.MultiKernelSVC(
        [Gaussian(0.1), Laplacian(0.3)], loss="squared_hinge", landmarks=10, random_state=0
    ),
}
# Those that need all rows, and get them where they are few.
HELD = {
    "ExpansionSVC": kl.ExpansionSVC(n_points=4),
    "MultiKernelSVC": kl.MultiKernelSVC(BANK),
    "SubspaceSVC": kl.SubspaceSVC(),
    "HSICSubspace": kl.HSICSubspace(),
    "KernelDiscriminant": kl.KernelDiscriminant(BANK),
    "KernelLMNN": kl.KernelLMNN(),
}


class StopError(Exception):
    """What ends a fit before its time."""


def function_of(rows, weight=None, size=4000, labels=True):
    """A source that can be read again."""
    y = rows.y if labels else None
    return Blocks(lambda: data.blocks_of(rows.X, y, weight, size))


def stopping(rows, stop, size=4000):
    """A function whose blocks end with an error after so many rows, counted over all passes."""
    given = 0

    def blocks():
        nonlocal given
        for block in data.blocks_of(rows.X, rows.y, None, size):
            if given >= stop:
                raise StopError
            given += size
            yield block

    return blocks


def fit_source(record, model, source, rows):
    """fit(source), new rows as an array and in blocks, and the score of the source."""
    model = prepared(model).fit(source)
    record.add_model(model, rows.X_new)
    for name in ("predict", "transform"):
        if hasattr(model, name):
            parts = getattr(model, name)(Blocks(list(data.blocks_of(rows.X_new, size=11))))
            record.add(f"{name}(source)", np.concatenate(list(parts)))
    if hasattr(model, "score") and getattr(source, "rewinds", False):
        record.add("score(source)", model.score(source))


def fit_function(record, model):
    fit_source(record, model, function_of(data.many()), data.many())


def fit_weighted(record, model):
    rows = data.many()
    fit_source(record, model, function_of(rows, data.weights(len(rows.y))), rows)


def fit_once(record, model):
    """A generator, from whose first rows landmarks are chosen."""
    rows = data.many()
    fit_source(record, model, data.blocks_of(rows.X, rows.y, size=4000), rows)


def fit_wide(record, model, once=False):
    """Few rows, and a budget an eighth of which they do not fit into."""
    rows = data.wide()
    source = function_of(rows, size=500)
    fit_source(
        record,
        prepared(model).set_params(memory_budget="10MB"),
        data.blocks_of(rows.X, rows.y, size=500) if once else source,
        rows,
    )


def fit_held(record, model):
    """A list of blocks of few rows: the fit of the rows themselves."""
    rows = data.wine()
    fit_source(record, model, Blocks(list(data.blocks_of(rows.X, rows.y, size=25))), rows)


def fit_values(record, once=False):
    """Real targets."""
    rows = data.many()
    rows = rows._replace(y=(rows.X[:, :2] ** 2).round(3))
    source = data.blocks_of(rows.X, rows.y, size=4000) if once else function_of(rows)
    fit_source(record, kl.KernelPLSRegressor(**FEW), source, rows)


def fit_sparse(record):
    rows = data.many()
    rows = data.Split(*(sparse.csr_matrix(np.maximum(A, 0)) for A in (rows.X,)), rows.y, None)
    new = sparse.csr_matrix(np.maximum(data.many().X_new, 0))
    fit_source(record, SUMS["HSICSubspace"], function_of(rows), rows._replace(X_new=new))


def npy_source(folder, weighted):
    rows = data.many()
    arrays = {"X": rows.X, "y": rows.y} | ({"w": data.weights(len(rows.y))} if weighted else {})
    for name, A in arrays.items():
        np.save(folder / f"{name}.npy", A)
    return NpySource(*(folder / f"{name}.npy" for name in arrays))


def frame_of(rows, weighted):
    import pandas

    found = pandas.DataFrame(rows.X, columns=list("abc")).assign(label=rows.y)
    return found.assign(w=data.weights(len(rows.y))) if weighted else found


def csv_source(folder, weighted):
    frame_of(data.many(), weighted).to_csv(folder / "rows.csv", index=False)
    weight = "w" if weighted else None
    return CsvSource(folder / "rows.csv", target="label", weight=weight, dtype=float)


def parquet_source(folder, weighted):
    frame = frame_of(data.many(), weighted)
    frame.to_parquet(folder / "rows.parquet", row_group_size=3000)
    weight = "w" if weighted else None
    return ParquetSource(folder / "rows.parquet", target="label", weight=weight)


def libsvm_source(folder, weighted):
    rows = data.many()
    dump_svmlight_file(rows.X, rows.y, str(folder / "rows.txt"), zero_based=False)
    return LibsvmSource(folder / "rows.txt", 3)


FILES = {
    "NpySource": (npy_source, False),
    "NpySource weights": (npy_source, True),
    "CsvSource": (csv_source, False),
    "CsvSource weights": (csv_source, True),
    "ParquetSource": (parquet_source, False),
    "ParquetSource weights": (parquet_source, True),
}


def fit_file(record, make, weighted, model):
    fit_source(record, model, make(record.folder, weighted), data.many())


def fit_libsvm(record):
    rows = data.many()
    new = rows._replace(X_new=sparse.csr_matrix(rows.X_new))
    fit_source(record, SUMS["KernelDiscriminant"], libsvm_source(record.folder, False), new)


def fit_named_columns(record):
    """Kernels on columns of a frame, by the names in the file."""
    import pandas

    frame_of(data.many(), False).to_csv(record.folder / "rows.csv", index=False)
    source = CsvSource(record.folder / "rows.csv", target="label")
    bank = {"a": ColumnKernel(Gaussian(), ["a"]), "rest": ColumnKernel(Laplacian(), ["b", "c"])}
    new = pandas.DataFrame(data.many().X_new, columns=list("abc"))
    rows = data.many()._replace(X_new=new)
    fit_source(record, kl.KernelDiscriminant(bank, reg=0.1, **FEW), source, rows)


def fit_dask(record, model, kind="array", weighted=False):
    """Collections, added up by tasks that run one after the other in this thread."""
    import dask
    import dask.array as da

    rows = data.many()
    w = data.weights(len(rows.y)) if weighted else None
    with dask.config.set(scheduler="synchronous"):
        if kind == "frame":
            import dask.dataframe as dd

            given = (dd.from_pandas(frame_of(rows, False), npartitions=5), "label")
        else:
            given = (da.from_array(rows.X, chunks=(3000, 3)), da.from_array(rows.y, chunks=4000))
        model = prepared(model).fit(*given, *([] if w is None else [da.from_array(w)]))
        X_new = rows.X_new
        if kind == "frame":
            X_new = frame_of(rows._replace(X=X_new, y=np.zeros(len(X_new))), False)[list("abc")]
        record.add_model(model, X_new)
        if kind == "array" and hasattr(model, "transform"):
            lazy = model.transform(da.from_array(rows.X_new, chunks=(10, 3)))
            record.add("transform(dask)", np.asarray(lazy.compute()))


def grow(record, model, weighted=False):
    """partial_fit, block after block; two states added."""
    rows = data.three()
    w = data.weights(len(rows.y)) if weighted else None
    parts = list(data.blocks_of(rows.X, rows.y, w, size=170))
    grown = prepared(model)
    for X, y, *weight in parts:
        grown.partial_fit(X, y, sample_weight=weight[0] if weight else None)
    record.add_model(grown, rows.X_new)
    again = prepared(model).fit(grown.state_)
    record.add_model(again, rows.X_new, prefix="of the state: ")


def grow_and_keep(record):
    """A state that was written and read, and two of them together."""
    from kernel_learn.representations import load_state, save_state

    rows = data.three()
    landmarks = rows.X[:20]
    model = prepared(kl.KernelDiscriminant(Gaussian(0.3), reg=0.01, landmarks=landmarks))
    halves = [prepared(model).partial_fit(rows.X[i::2], rows.y[i::2]) for i in range(2)]
    save_state(halves[0].state_, record.folder / "state.npz")
    both = load_state(record.folder / "state.npz") + halves[1].state_
    record.add_model(prepared(model).fit(both), rows.X_new)


def go_on(record, model, stop):
    """A fit that was stopped, and resumed from its checkpoint."""
    rows, folder = data.many(), record.folder / "kept"
    try:
        prepared(model).fit(Blocks(stopping(rows, stop)), checkpoint=folder)
    except StopError:
        record.add("files after the stop", sorted(path.name for path in folder.iterdir()))
    model = prepared(model).fit(function_of(rows), checkpoint=folder)
    record.add("files at the end", len(list(folder.iterdir())))
    record.add_model(model, rows.X_new)


def go_on_once(record):
    """The same of an iterator, whose first rows are read past."""
    rows, folder = data.many(), record.folder / "kept"
    model = SUMS["KernelDiscriminant"]
    try:
        prepared(model).fit(stopping(rows, 20_400, 200)(), checkpoint=folder)
    except StopError:
        record.add("files after the stop", sorted(path.name for path in folder.iterdir()))
    again = prepared(model).fit(stopping(rows, 10**9, 200)(), checkpoint=folder)
    record.add_model(again, rows.X_new)


def refuse_other_rows(record):
    """A checkpoint of other parameters is refused."""
    rows, folder = data.many(), record.folder / "kept"
    try:
        prepared(SUMS["HSICSubspace"]).fit(Blocks(stopping(rows, 30_000)), checkpoint=folder)
    except StopError:
        prepared(kl.HSICSubspace(landmarks=21)).fit(function_of(rows), checkpoint=folder)


def keep_arrays(record):
    """Arrays with a checkpoint are read in blocks."""
    rows = data.three()
    model = prepared(SUMS["KernelDiscriminant"])
    model.fit(rows.X, rows.y, checkpoint=record.folder / "kept")
    record.add_model(model, rows.X_new)


def constrain(record, once=False, labels=False):
    """InductiveKernel on a stream: rows by their number, or constraints drawn from the labels."""
    from kernel_learn.constraints import Pairs

    rows = data.many()
    source = function_of(rows, labels=labels)
    source = source.read(1) if once else source
    model = prepared(kl.InductiveKernel(Gaussian(0.3), landmarks=rows.X[:20], n_constraints=60))
    constraints = None if labels else Pairs(*data.pairs_of(rows.y[:300]))
    model.fit(source, constraints=constraints)
    record.add_model(model, rows.X_new)


def write_results(record):
    """Predictions that go to a file, block after block."""
    rows = data.many()
    model = prepared(SUMS["KernelDiscriminant"]).fit(function_of(rows))
    for name in ("predict", "predict_proba", "transform"):
        path = getattr(model, name)(function_of(rows), out=record.folder / f"{name}.npy")
        record.add(name, np.load(path)[::97])


def cases():
    both = SUMS | PASSES
    found = {f"stream: {n}": lambda r, m=m: fit_function(r, m) for n, m in both.items()}
    found |= {f"stream, weights: {n}": lambda r, m=m: fit_weighted(r, m) for n, m in both.items()}
    found |= {f"stream, once: {n}": lambda r, m=m: fit_once(r, m) for n, m in both.items()}
    found |= {f"stream, few rows: {n}": lambda r, m=m: fit_held(r, m) for n, m in HELD.items()}
    for n in ("HSICSubspace", "KernelDiscriminant", "KernelPLS"):
        found[f"stream, budget: {n}"] = lambda r, m=SUMS[n]: fit_wide(r, m)
        found[f"stream, budget, once: {n}"] = lambda r, m=SUMS[n]: fit_wide(r, m, once=True)
    found["stream, budget: SubspaceSVC"] = lambda r: fit_wide(r, PASSES["SubspaceSVC"])
    for n, (make, weighted) in FILES.items():
        found[f"stream, file: {n}"] = lambda r, f=make, w=weighted: fit_file(
            r, f, w, SUMS["KernelDiscriminant"]
        )
    found["stream, file: NpySource SubspaceSVC"] = lambda r: fit_file(
        r, npy_source, False, PASSES["SubspaceSVC"]
    )
    found["stream, file: LibsvmSource"] = fit_libsvm
    found["stream, file: named columns"] = fit_named_columns
    found["stream: sparse rows"] = fit_sparse
    found["stream: KernelPLSRegressor"] = fit_values
    found["stream, once: KernelPLSRegressor"] = lambda r: fit_values(r, once=True)
    for n in ("HSICSubspace", "HSICSubspace bank", "KernelDiscriminant", "KernelPLS"):
        found[f"dask: {n}"] = lambda r, m=SUMS[n]: fit_dask(r, m)
    found["dask, weights: KernelDiscriminant"] = lambda r: fit_dask(
        r, SUMS["KernelDiscriminant"], weighted=True
    )
    found["dask, frame: KernelDiscriminant"] = lambda r: fit_dask(
        r, SUMS["KernelDiscriminant"], "frame"
    )
    found["dask: KernelDiscriminantQR"] = lambda r: fit_dask(r, PASSES["KernelDiscriminantQR"])
    found["dask: SubspaceSVC"] = lambda r: fit_dask(r, PASSES["SubspaceSVC"])
    found["dask: MultiKernelSVC"] = lambda r: fit_dask(r, PASSES["MultiKernelSVC"])
    for n in SUMS:
        found[f"partial_fit: {n}"] = lambda r, m=SUMS[n]: grow(r, m)
    found["partial_fit, weights: HSICSubspace"] = lambda r: grow(r, SUMS["HSICSubspace"], True)
    found["partial_fit: states"] = grow_and_keep
    for stop in (8000, 32_000):
        for n in ("HSICSubspace", "KernelDiscriminant bank", "KernelPLS"):
            found[f"checkpoint after {stop}: {n}"] = lambda r, m=SUMS[n], s=stop: go_on(r, m, s)
    found["checkpoint, once: KernelDiscriminant"] = go_on_once
    found["checkpoint: of arrays"] = keep_arrays
    found["checkpoint: refused"] = refuse_other_rows
    found["stream: InductiveKernel pairs"] = constrain
    found["stream, once: InductiveKernel pairs"] = lambda r: constrain(r, once=True)
    found["stream: InductiveKernel labels"] = lambda r: constrain(r, labels=True)
    return found | {"stream: results in files": write_results}
