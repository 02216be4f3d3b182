"""Dask's workers: two against one, and what a task costs beside its work.

    python benchmarks/dask.py [--rows 200000] [--landmarks 500]

Times are CPU seconds, so that other work on the machine does not count: a pass takes as long as
the tasks of its busiest worker, and the scheduler (in this process) works beside them.
"""

import sys
from pathlib import Path

# This file has the name of the library that it measures, and scripts come first in the path.
sys.path[:] = [path for path in sys.path if Path(path).resolve() != Path(__file__).parent.resolve()]
if __name__ == "dask":  # a benchmark beside this one, or a library, wants the library
    del sys.modules["dask"]
    import dask  # noqa: F401
else:
    import argparse
    from time import perf_counter, process_time, sleep

    import numpy as np

COLUMNS = 50
BLOCKS_MS = (10, 30, 100, 300, 1000)


def make_block(n, number):
    """Rows of two classes, label last."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((n, COLUMNS + 1), dtype=np.float32)
    X[:, -1] = X[:, 0] + X[:, 1] ** 2 > 0.7
    return X


def make_rows(n, size):
    """Made by the workers, so that no rows are moved."""
    import dask.array as da

    def block(block_id):
        return make_block(size, block_id[0])

    shape = ((size,) * (n // size), (COLUMNS + 1,))
    A = da.map_blocks(block, chunks=shape, dtype=np.float32, meta=np.empty((0, 0), np.float32))
    return A[:, :-1], A[:, -1].astype(int)


class Clock:
    """CPU seconds of this process and of the workers since it was made, without waiting."""

    def __init__(self, client):
        self.client = client
        self.rates = np.zeros(2)
        self.reset()
        sleep(3)
        wall, *idle = self.stop()
        self.rates = np.array(idle) / wall  # heartbeats, and looking for messages
        self.reset()

    def reset(self):
        self.wall, self.here, self.there = perf_counter(), process_time(), self.read()

    def read(self):
        return sum(self.client.run(process_time).values())

    def stop(self):
        """Wall seconds, and CPU seconds here and of all workers."""
        there, wall = self.read() - self.there, perf_counter() - self.wall
        here = process_time() - self.here
        return wall, here - self.rates[0] * wall, there - self.rates[1] * wall


def start(n_workers):
    import distributed

    cluster = distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        host="127.0.0.1",
    )
    return cluster, distributed.Client(cluster)


def imported():
    import kernel_learn  # noqa: F401


def fit(client, n, M, size):
    """Wall seconds, CPU seconds here, and those of the tasks of each worker."""
    from kernel_learn import HSICSubspace
    from kernel_learn.interop.dask_tree import TOPIC
    from kernel_learn.kernels import Gaussian

    X, y = make_rows(n, size)
    seconds = {}

    def hear(event):
        own = event[1]
        seconds[own["worker"]] = seconds.get(own["worker"], 0.0) + own["seconds"]

    client.subscribe_topic(TOPIC, hear)
    wall, here = perf_counter(), process_time()
    HSICSubspace(Gaussian(0.01), landmarks=M, random_state=0).fit(X, y)
    wall, here = perf_counter() - wall, process_time() - here
    client.unsubscribe_topic(TOPIC)
    return wall, here, list(seconds.values())


def two_against_one(n, M, size):
    """The passes as long as the busiest worker; what the client does alone is the same for both."""
    busiest = {}
    for n_workers in (1, 2):
        cluster, client = start(n_workers)
        with cluster, client:
            client.run(imported)
            fit(client, 4 * size, 20, size)
            wall, here, workers = fit(client, n, M, size)
        busiest[n_workers] = max(workers)
        print(
            f"{n_workers} worker(s): {n} rows, {M} landmarks, blocks of {size}: tasks of the "
            f"busiest worker {max(workers):.1f} s, of all {sum(workers):.1f} s, client and "
            f"scheduler {here:.1f} s, wall {wall:.1f} s",
            flush=True,
        )
    ratio = busiest[1] / busiest[2]
    enough = "ok" if ratio >= 1.6 else "SHORT"
    print(f"two workers against one, passes: {ratio:.2f} (at least 1.6) {enough}", flush=True)


def work(milliseconds):
    """Busy for so long."""
    A = np.ones((64, 64), np.float32)
    end = process_time() + milliseconds / 1000
    while process_time() < end:
        A @ A
    return milliseconds


def overhead(seconds=6.0):
    """What a task of so many milliseconds costs beside them, on a worker and on the scheduler."""
    from kernel_learn.interop.dask_tree import Tree

    cluster, client = start(2)
    print("| block, ms | blocks | worker, ms per block | scheduler, ms per block | share |")
    print(f"|{' --- |' * 5}")
    with cluster, client:
        for milliseconds in BLOCKS_MS:
            n = max(8, min(400, int(1000 * seconds / milliseconds)))
            items = [([i], [milliseconds]) for i in range(n)]
            Tree({}, Busy(), "busy").compute(items[:8])
            clock = Clock(client)
            Tree({}, Busy(), "busy").compute(items)
            _, here, there = clock.stop()
            there, mine = 1000 * there / n - milliseconds, 1000 * here / n
            share = (there + mine) / milliseconds
            print(
                f"| {milliseconds} | {n} | {there:.1f} | {mine:.1f} | {100 * share:.1f} % |",
                flush=True,
            )


class Busy:
    """A task that gives its milliseconds, which add up."""

    def __call__(self, numbers, parts):
        return sum(map(work, parts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--landmarks", type=int, default=500)
    parser.add_argument("--block", type=int, default=10_000)
    options = parser.parse_args()
    two_against_one(options.rows, options.landmarks, options.block)
    overhead()


if __name__ == "__main__":
    main()
