"""Precision at k under a learned kernel, before and after learning.

    python -m benchmarks.retrieval

Half of the rows are indexed and learned from, the others are queries: the share of the k nearest
indexed rows that have the label of the query, in per cent, mean over partitions. Before: columns
standardised, Euclidean distance, whose order is that of the Gaussian kernel.
"""

import time
import warnings

import numpy as np
from sklearn.preprocessing import StandardScaler

from kernel_learn import HSICSubspace, InductiveKernel
from kernel_learn.datasets import find_data
from kernel_learn.neighbors import KernelIndex
from kernel_learn.papers.chen2008 import load_half
from kernel_learn.papers.protocol import make_table

SETS = ("wine", "sonar", "ionosphere", "segment", "satimage", "waveform", "usps")
PARTITIONS, PER_CLASS, K = 5, 100, 10
METHODS = {
    "logdet": InductiveKernel(random_state=0),
    "trace": InductiveKernel(regularizer="trace", random_state=0),
    "HSIC": HSICSubspace(),
}


def precision(model, A, B, y, y_B):
    """Per cent of the K nearest indexed rows with the label of the query."""
    _, rows = KernelIndex(model).fit(A).query(B, K)
    return 100 * float(np.mean(y[rows] == y_B[:, None]))


def main():
    data, lines = find_data(None), []
    start = time.process_time()
    for name in SETS:
        found = {"before": [], **{method: [] for method in METHODS}}
        for partition in range(PARTITIONS):
            A, B, y, y_B = load_half(data, name, partition, PER_CLASS)
            scaler = StandardScaler().fit(A)
            A, B = scaler.transform(A), scaler.transform(B)
            found["before"].append(
                precision(scaler, *map(scaler.inverse_transform, (A, B)), y, y_B)
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for method, model in METHODS.items():
                    found[method].append(precision(model.fit(A, y), A, B, y, y_B))
        cells = (f"{np.mean(v):.1f} ± {np.std(v):.1f}" for v in found.values())
        lines.append([name, *(cell.replace(" ", "\u00a0") for cell in cells)])
        print(lines[-1], flush=True)
    print(make_table(["data", "before", *METHODS], lines))
    print(f"{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
