"""Fit millions of rows on a local Dask cluster, and see how far it is.

    python examples/dask_cluster.py [rows] [workers]

The rows (5 million unless told otherwise) are made by the workers, block by block, and never
come together. Lines on the way tell how many of them are done; no dashboard is needed.
"""

import sys
import time

import numpy as np

from kernel_learn import KernelDiscriminant
from kernel_learn.streams.dask_tree import TOPIC

COLUMNS, LANDMARKS, BLOCK = 10, 200, 100_000


def make_block(block_id, n_rows):
    """Three rings in ten columns: no line tells them apart; the last column is the label."""
    rng = np.random.default_rng(block_id[0])
    n = min(BLOCK, n_rows - block_id[0] * BLOCK)
    rows = rng.standard_normal((n, COLUMNS + 1), dtype=np.float32)
    label = rng.integers(0, 3, n)
    rows[:, :2] *= ((1 + 2 * label) / np.linalg.norm(rows[:, :2], axis=1))[:, None]
    rows[:, :2] += 0.4 * rng.standard_normal((n, 2), dtype=np.float32)
    rows[:, -1] = label
    return rows


def make_rows(n_rows):
    """Rows and labels as Dask arrays."""
    import dask.array as da

    sizes = [min(BLOCK, n_rows - i) for i in range(0, n_rows, BLOCK)]
    table = da.map_blocks(
        make_block,
        n_rows=n_rows,
        chunks=(tuple(sizes), (COLUMNS + 1,)),
        dtype=np.float32,
        meta=np.empty((0, 0), np.float32),
    )
    return table[:, :-1], table[:, -1].astype(int)


class Progress:
    """One line for each tenth of a pass, from what the workers tell."""

    def __init__(self, n_rows):
        self.n_rows, self.done, self.told = n_rows, {}, set()
        self.start = time.perf_counter()

    def __call__(self, event):
        message = event[1]
        if message["what"] not in ("summary", "moments"):
            return
        done = self.done.setdefault(message["fit"], {})
        done[message["task"]] = message["rows"]  # a task of a lost worker is done twice
        share = sum(done.values()) / self.n_rows
        line = (message["what"], int(10 * share))
        if line not in self.told:
            self.told.add(line)
            seconds = time.perf_counter() - self.start
            print(f"{seconds:7.1f} s  {message['what']}: {100 * share:.0f} % of the rows")


def fit_and_tell(client, n_rows):
    """A model of rows that nobody ever sees together, and its accuracy on some of them."""
    X, y = make_rows(n_rows)
    client.subscribe_topic(TOPIC, Progress(n_rows))
    model = KernelDiscriminant(landmarks=LANDMARKS, random_state=0).fit(X, y)
    client.unsubscribe_topic(TOPIC)
    print(model.plan_)
    new = slice(0, min(n_rows, BLOCK))
    accuracy = (model.predict(X[new]) == y[new]).mean().compute()  # lazy until then
    print(f"accuracy on {new.stop} rows: {accuracy:.3f}")
    return accuracy


def main(n_rows=5_000_000, n_workers=2):
    from distributed import Client, LocalCluster

    options = {"n_workers": n_workers, "threads_per_worker": 1}
    options |= {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}
    with LocalCluster(host="127.0.0.1", **options) as cluster, Client(cluster) as client:
        fit_and_tell(client, n_rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
