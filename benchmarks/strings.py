"""Time of the string kernels: full normalised Gram matrices, and per pair against plain loops.

OPENBLAS_NUM_THREADS=1 python benchmarks/strings.py [n_strings] [length]
"""

import sys
import tracemalloc
from pathlib import Path
from time import perf_counter

import numpy as np

from kernel_learn.kernels import Spectrum, Subsequence, strings

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles import naive_strings as oracle


def random_strings(n, length, n_letters):
    rng = np.random.default_rng(0)
    return ["".join(map(chr, 65 + rng.integers(0, n_letters, length))) for _ in range(n)]


def seconds(call):
    start = perf_counter()
    call()
    return perf_counter() - start


def peak_megabytes(call):
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def naive_seconds(kernel, rows):
    """Seconds per pair of the oracle, over three pairs."""

    def product(t):
        if isinstance(kernel, Spectrum):
            words = (oracle.spectrum_features(text, kernel.k) for text in (rows[0], t))
            return oracle.inner_product(*words)
        return oracle.subsequence_recursion(rows[0], t, kernel.k, kernel.decay)

    return seconds(lambda: [product(t) for t in rows[1:4]]) / 3


def main(n=1000, length=100):
    n_pairs = n * (n + 1) / 2
    print(f"{n} strings of {length} letters, full normalised Gram matrix, {n_pairs:.0f} pairs")
    print("kernel               letters  route   seconds  peak MB  us/pair  loops/ours")
    for n_letters in (4, 20, 60, 200):
        rows = random_strings(n, length, n_letters)
        S = strings.encode(rows)
        for kernel in (Spectrum(3), Subsequence(3), Subsequence(5)):
            is_spectrum = isinstance(kernel, Spectrum)
            route = "counts" if is_spectrum else strings.choose_route(S, S, kernel.k)
            time = seconds(lambda kernel=kernel, rows=rows: kernel(rows))
            peak = peak_megabytes(lambda kernel=kernel, rows=rows: kernel(rows[:1000]))
            ratio = naive_seconds(kernel, rows) / (time / n_pairs)
            print(
                f"{type(kernel).__name__ + f'(k={kernel.k})':20s} {n_letters:7d}  {route:6s} "
                f"{time:8.2f} {peak:8.0f} {1e6 * time / n_pairs:8.3f} {ratio:11.0f}"
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
