"""CPU time of the string kernels: normalised Gram matrices, and per pair against plain loops.

python benchmarks/strings.py [n_strings] [length]
"""

import sys
import tracemalloc
from pathlib import Path
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from kernel_learn.kernels import Spectrum, Subsequence, strings

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles import naive_strings as oracle


def random_strings(n, length, n_letters):
    rng = np.random.default_rng(0)
    return ["".join(map(chr, 65 + rng.integers(0, n_letters, length))) for _ in range(n)]


def seconds(call):
    start = process_time()
    call()
    return process_time() - start


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


CASES = [  # letters, kernel: DNA, proteins, text, and an alphabet too large for words
    (4, Spectrum(3)),
    (20, Spectrum(3)),
    (200, Spectrum(3)),
    (4, Subsequence(3)),
    (4, Subsequence(5)),
    (20, Subsequence(3)),
    (20, Subsequence(4)),
    (60, Subsequence(3)),
    (200, Subsequence(3)),
]


def report(n, length, n_letters, kernel):
    rows = random_strings(n, length, n_letters)
    S = strings.encode(rows)
    route = "" if isinstance(kernel, Spectrum) else strings.choose_route(S, S, kernel.k)
    time, peak = seconds(lambda: kernel(rows)), peak_megabytes(lambda: kernel(rows))
    pair = time / (n * (n + 1) / 2)
    print(
        f"{type(kernel).__name__:11s} k={kernel.k} {n_letters:7d}  {route:5s} {time:8.2f} "
        f"{peak:8.0f} {1e6 * pair:8.2f} {naive_seconds(kernel, rows) / pair:11.0f}",
        flush=True,
    )


def main(n=1000, length=100):
    print(f"{n} strings of {length} letters, full normalised Gram matrix")
    print("kernel          letters  route  seconds  peak MB  us/pair  loops/ours")
    for n_letters, kernel in CASES:
        report(n, length, n_letters, kernel)


if __name__ == "__main__":
    with threadpool_limits(1):
        main(*map(int, sys.argv[1:]))
