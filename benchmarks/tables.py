"""Mixed tables of any size: encode, fit and score, beside a bare loop and gradient boosting.

``python benchmarks/tables.py --rows 10000000 --folder rows`` writes a table of numbers, texts, a
date, a boolean and holes as Parquet, in files of 250,000 rows, and measures in seconds of the
processor: TableEncoder and KernelDiscriminant on the source; a bare loop that reads the same
blocks and computes the same features and products; LightGBM, if it is there and ``--boosting``
is given, which holds all rows in memory.
"""

import argparse
import resource
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kernel_learn import KernelDiscriminant, TableEncoder, make_pipeline
from kernel_learn.datasets import ParquetSource
from kernel_learn.kernels import Kernel
from kernel_learn.streams.row_source import RowSource

FILE_ROWS, BLOCK_ROWS, PRODUCT_ROWS = 250_000, 20_000, 2700
LEVELS = np.array([f"town {i}" for i in range(40)])


def make_file(path: Path, rows: int, seed: int) -> None:
    """Some rows: a label of numbers, a category and a date, and columns that say nothing."""
    rng = np.random.default_rng(seed)
    numbers = {f"x{c}": rng.normal(size=rows) * 10.0 ** (c % 5) for c in range(42)}
    town, day = rng.integers(0, 40, rows), rng.integers(0, 3650, rows)
    signal = numbers["x0"] * numbers["x5"] + (town % 3 == 0) + np.sin(2 * np.pi * day / 365.2425)
    label = (signal + 0.3 * rng.normal(size=rows) > 0.3).astype(np.int64)
    holes = rng.random(rows) < 0.05
    columns = {name: pa.array(values) for name, values in numbers.items()}
    columns["x3"] = pa.array(numbers["x3"], mask=holes)
    columns["town"] = pa.array(LEVELS[town]).dictionary_encode().cast(pa.string())
    columns["day"] = pa.array(day.astype("datetime64[D]"))
    columns["member"] = pa.array(rng.random(rows) < 0.5)
    columns["label"] = pa.array(label)
    pq.write_table(pa.table(columns), path, row_group_size=FILE_ROWS // 5)


def make_table(folder: Path, rows: int) -> None:
    """Files of the table that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, rows, FILE_ROWS)):
        path = folder / f"{number:04d}.parquet"
        if not path.exists():
            part = path.with_suffix(".part")
            make_file(part, min(FILE_ROWS, rows - start), number)
            part.rename(path)


def report(name: str, start: float, rows: int, note: str = "") -> float:
    """One line: seconds of the processor, rows per second, the largest memory so far."""
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    line = f"{name:28s} {seconds:8.1f} s {rows / seconds:12,.0f} rows/s {peak:6.2f} GB  {note}"
    print(line, flush=True)
    return seconds


def bare_loop(source: RowSource, encoder: TableEncoder, kernel: Kernel, n: int) -> None:
    """One pass of reading, encoding, kernel values k, z = kT and z'z, and nothing else."""
    landmarks, T, total = None, np.eye(n), np.zeros((n, n))
    for block in source.read(BLOCK_ROWS):
        rows = encoder.transform(block.X)
        landmarks = rows[:n] if landmarks is None else landmarks
        for i in range(0, len(rows), PRODUCT_ROWS):
            Z = kernel(rows[i : i + PRODUCT_ROWS], landmarks) @ T
            total += Z.T @ Z


def boosting(train: RowSource, test: RowSource) -> float:
    """The accuracy of LightGBM with its defaults on all rows at once, as columns of Arrow."""
    import lightgbm

    rows, y = whole_table(train)
    data = lightgbm.Dataset(rows, y, categorical_feature=["town"])
    settings = {"objective": "binary", "num_threads": 1, "verbosity": -1}
    model = lightgbm.train(settings, data, num_boost_round=100)
    del rows, data
    rows, y = whole_table(test)
    return float(np.mean((model.predict(rows) > 0.5) == y))


def whole_table(source: RowSource) -> tuple[pa.Table, np.ndarray]:
    """All rows in memory, texts and dates as numbers, not copied again when they are joined."""
    parts, labels = [], []
    for block in source.read(BLOCK_ROWS):
        codes = pc.index_in(block.X["town"], pa.array(LEVELS)).cast(pa.int32())
        day = block.X["day"].cast(pa.int32())
        rows = block.X.set_column(block.X.schema.get_field_index("town"), "town", codes)
        parts.append(rows.set_column(rows.schema.get_field_index("day"), "day", day))
        labels.append(block.y)
    return pa.concat_tables(parts), np.concatenate(labels)


def limit_memory(most: int | None) -> None:
    """Refuse this process more private memory than so many bytes; None: no limit."""
    own = resource.RLIM_INFINITY if most is None else most
    resource.setrlimit(resource.RLIMIT_DATA, (own, resource.RLIM_INFINITY))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--folder", type=Path, default=Path("out/rows"))
    parser.add_argument("--landmarks", type=int, default=200)
    parser.add_argument("--boosting", action="store_true")
    options = parser.parse_args()
    make_table(options.folder, options.rows)
    source = ParquetSource(options.folder, target="label")
    train, test = source.split(0.1)
    limit_memory(2 * 10**9)
    start = time.process_time()
    last = KernelDiscriminant(landmarks=options.landmarks, random_state=0, memory_budget="2GB")
    model = make_pipeline(TableEncoder(), last).fit(train)
    fit = report("encode and fit", start, source.n_rows)
    start = time.process_time()
    score = model.score(test)
    report("score of the test rows", start, source.n_rows, f"accuracy {score:.4f}")
    start = time.process_time()
    bare_loop(train, model[0], model[-1].base_kernel_, options.landmarks)
    bare = report("bare loop, one pass", start, source.n_rows)
    print(f"the fit has {bare / fit:.2f} of the speed of the bare loop", flush=True)
    if options.boosting:
        limit_memory(None)
        start = time.process_time()
        score = boosting(train, test)
        report("LightGBM", start, source.n_rows, f"accuracy {score:.4f}")


if __name__ == "__main__":
    main()
