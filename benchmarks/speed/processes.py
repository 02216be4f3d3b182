"""What is measured in processes of its own: Dask's workers, the start of a command, ONNX files."""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from timing import report_ratio

from kernel_learn import KernelClassifier

ROOT = Path(__file__).parents[1]


def two_workers(rows=200_000, landmarks=500, block=10_000):
    """benchmarks/dask.py has the name of a library, and sends its own functions to workers."""
    sizes = {"--rows": rows, "--landmarks": landmarks, "--block": block}
    options = [str(word) for pair in sizes.items() for word in pair]
    command = [sys.executable, str(ROOT / "dask.py"), "--part", "workers", *options]
    subprocess.run(command, check=True)


def start_of_the_command():
    """CPU seconds of ``kernel-learn --help``."""

    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    command = [sys.executable, "-m", "kernel_learn", "--help"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    report_ratio("kernel-learn --help: seconds", used() - before, 1.0)


def one_row_of_onnx(n=500, d=30):
    """Milliseconds on the wall, as for who waits for an answer; the median of 50."""
    import onnxruntime

    from kernel_learn import export_onnx

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) + 2 * np.eye(3, d)[y]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        export_onnx(KernelClassifier(random_state=0).fit(X, y), path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(path), options)
    [given] = session.get_inputs()
    row = {given.name: X[:1].astype(np.float32 if "float)" in given.type else np.float64)}
    times = []
    for _ in range(50):
        start = perf_counter()
        session.run(None, row)
        times.append(1000 * (perf_counter() - start))
    what = f"KernelClassifier as ONNX, {n} x {d} training rows, one row"
    report_ratio(f"{what}: milliseconds", float(np.median(times)), 5.0)
