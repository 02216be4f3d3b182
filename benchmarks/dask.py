"""Dask's workers: two against one, and what a task costs beside its work.

    python benchmarks/dask.py [--rows 200000] [--landmarks 500] [--part workers overhead]

Times are CPU seconds, so that other work on the machine does not count: a pass takes as long as
the tasks of its busiest worker, and the scheduler (in this process) works beside them. What a task
costs beside its work is processor time of a worker without that of the thread that works. Clocks
of Dask that tick whether there are tasks or not (its profiler every 10 ms, and others) are stopped:
on a busy machine a pass takes longer, they tick more often, and no idle second tells how often.
"""

import sys
from pathlib import Path

# This file has the name of the library that it measures: its folder comes last in the path.
HERE = Path(__file__).parent.resolve()
sys.path[:] = [*(path for path in sys.path if Path(path).resolve() != HERE), str(HERE)]
if __name__ == "dask":  # a benchmark beside this one, or a library, wants the library
    del sys.modules["dask"]
    import dask  # noqa: F401
else:
    import argparse
    from time import perf_counter, process_time, sleep, thread_time

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


# What ticks without tasks.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1h",
    "distributed.admin.system-monitor.interval": "1h",
    "distributed.scheduler.work-stealing-interval": "1h",
    "distributed.comm.timeouts.connect": "300s",
}


class Clock:
    """Wall seconds, and CPU seconds here and of all workers, since it was made."""

    def __init__(self, client):
        self.client = client
        self.wall, self.here, self.there = perf_counter(), process_time(), self.read()

    def read(self):
        return sum(self.client.run(process_time).values())

    def stop(self):
        there, wall = self.read() - self.there, perf_counter() - self.wall
        return wall, process_time() - self.here, there


class Told:
    """CPU seconds of the tasks of each worker, as they tell them."""

    def __init__(self, client):
        self.client, self.seconds, self.n_tasks = client, {}, 0

    def __enter__(self):
        from kernel_learn.streams.dask_tree import TOPIC

        self.client.subscribe_topic(TOPIC, self.hear)
        return self

    def __exit__(self, *_):
        from kernel_learn.streams.dask_tree import TOPIC

        self.client.unsubscribe_topic(TOPIC)

    def hear(self, event):
        own = event[1]
        self.seconds[own["worker"]] = self.seconds.get(own["worker"], 0.0) + own["seconds"]
        self.n_tasks += 1

    def wait_for(self, n_tasks):
        """Until all have told."""
        while self.n_tasks < n_tasks:
            sleep(0.01)


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
    from kernel_learn.kernels import Gaussian

    X, y = make_rows(n, size)
    with Told(client) as told:
        wall, here = perf_counter(), process_time()
        HSICSubspace(Gaussian(0.01), landmarks=M, random_state=0).fit(X, y)
        wall, here = perf_counter() - wall, process_time() - here
    return wall, here, list(told.seconds.values())


def two_against_one(n, M, size):
    """The passes as long as the busiest worker; what the client does alone is the same for both.

    On a busy machine a worker that gets less of a core takes fewer tasks, which says nothing of
    ours: shared evenly, the passes of two take half of what their tasks take together.
    """
    busiest, even = {}, {}
    for n_workers in (1, 2):
        cluster, client = start(n_workers)
        with cluster, client:
            client.run(imported)
            fit(client, 4 * size, 20, size)
            wall, here, workers = fit(client, n, M, size)
        busiest[n_workers], even[n_workers] = max(workers), sum(workers) / n_workers
        print(
            f"  {n_workers} worker(s): {n} rows, {M} landmarks, blocks of {size}: tasks of the "
            f"busiest worker {max(workers):.1f} s, of all {sum(workers):.1f} s, client and "
            f"scheduler {here:.1f} s, wall {wall:.1f} s",
            flush=True,
        )
    from timing import report_ratio

    for what, times in (("passes", busiest), ("passes, tasks shared evenly", even)):
        report_ratio(f"Dask, {what}: two workers / one", times[2] / times[1], 1 / 1.6)


def work(milliseconds):
    """Busy for so long."""
    A = np.ones((64, 64), np.float32)
    end = thread_time() + milliseconds / 1000
    while thread_time() < end:
        A @ A
    return milliseconds


def overhead(seconds=3.0):
    """What a task of so many milliseconds costs beside them, on a worker and on the scheduler."""
    from kernel_learn.streams.dask_tree import TaskTree

    cluster, client = start(2)
    print("| block, ms | blocks | worker, ms per block | scheduler, ms per block | share |")
    print(f"|{' --- |' * 5}")
    with cluster, client:
        # what a worker does once: imports, and compiling what it is sent
        TaskTree({}, Busy(), "busy").compute([([i], [5]) for i in range(100)])
        for milliseconds in BLOCKS_MS:
            n = max(6, min(400, int(1000 * seconds / milliseconds)))
            items = [([i], [milliseconds]) for i in range(n)]
            with Told(client) as told:
                clock = Clock(client)
                TaskTree({}, Busy(), "busy").compute(items)
                _, here, there = clock.stop()
                told.wait_for(n)
            there, mine = 1000 * (there - sum(told.seconds.values())) / n, 1000 * here / n
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
    parser.add_argument("--part", nargs="+", default=["workers", "overhead"])
    options = parser.parse_args()
    import dask

    with dask.config.set(QUIET):
        if "workers" in options.part:
            two_against_one(options.rows, options.landmarks, options.block)
        if "overhead" in options.part:
            overhead()


if __name__ == "__main__":
    main()
