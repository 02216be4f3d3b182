"""What a fit on many rows and many workers costs: measured constants, a model, a simulation.

    python benchmarks/cluster_model.py                    # the table of docs/scaling.md
    python benchmarks/cluster_model.py --measure          # the constants of this machine
    python benchmarks/cluster_model.py --check 1e5 1e6    # fits against the model, --landmarks 1000

Times are CPU seconds of one thread, so that other work on the machine does not count.
"""

import argparse
import heapq
from dataclasses import dataclass
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from kernel_learn import HSICSubspace
from kernel_learn.kernels import Gaussian
from kernel_learn.representations.block import CheckedBlock
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.plan import format_bytes
from kernel_learn.representations.state import StreamState

COLUMNS, CLASSES = 50, 2
GAMMA = 0.01
BLOCK = 2500  # rows at a time with 1000 landmarks
ARITY = 4
POOL = 20_000


@dataclass(frozen=True)
class Constants:
    """Seconds of one core, float32, 50 columns."""

    kernel: float = 2.5e-9  # per row and landmark
    whitening: float = 2.0e-11  # per row and landmark^2
    scatter: float = 1.2e-11  # per row and landmark^2
    summary: float = 1.1e-6  # per row: keys, sums and checks in both passes
    choice: float = 8.5e-11  # per row of the pool and landmark^2: landmarks, whitening, solution
    task: float = 1.1e-3  # per task, on the scheduler, one after the other
    bandwidth: float = 1e9  # bytes per second between two workers: 10 Gbit/s

    def per_row(self, M):
        """Seconds of a core per row, both passes."""
        return self.summary + self.kernel * M + (self.whitening + self.scatter) * M**2

    def fixed(self, M):
        """Seconds that do not depend on the number of rows, on the client."""
        return self.choice * POOL * M**2


# -- the constants, measured --------------------------------------------------------------


def best_of(function, repeats=5):
    times = []
    for _ in range(repeats):
        start = process_time()
        function()
        times.append(process_time() - start)
    return min(times)


def measure(M=1000):
    """The constants of this machine, from the functions that a fit calls."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(BLOCK, COLUMNS)).astype(np.float32)
    T = np.eye(CLASSES)[rng.integers(0, CLASSES, BLOCK)]
    landmarks = rng.normal(size=(M, COLUMNS)).astype(np.float32)
    kernel = Gaussian(GAMMA)
    W = FeatureMap.whitened([kernel], landmarks).whiten[0]
    K = kernel(X, landmarks)
    Z = K @ W
    rows = CheckedBlock(X, rng.integers(0, CLASSES, BLOCK), np.ones(BLOCK))
    few = StreamState.of(rows).summary.keys[BLOCK // 20]  # most rows are not kept
    return Constants(
        kernel=best_of(lambda: kernel(X, landmarks)) / (BLOCK * M),
        whitening=best_of(lambda: K @ W) / (BLOCK * M**2),
        scatter=best_of(lambda: Moments.of(Z, T)) / (BLOCK * M**2),
        summary=2 * best_of(lambda: StreamState.of(rows, last_key=few)) / BLOCK,
    )


def blocks(n, seed=0, rows=50_000):
    """n rows of 50 columns in two classes, made as they are read."""
    for i in range(0, n, rows):
        rng = np.random.default_rng([seed, i])
        X = rng.standard_normal((min(rows, n - i), COLUMNS), dtype=np.float32)
        yield X, (X[:, 0] + X[:, 1] ** 2 > 0.7).astype(int)


def check(sizes, M, constants):
    """CPU time of a fit beside that of the model; rows are made outside of the count."""
    print(f"| rows | landmarks | measured, s | model, s | ratio |\n|{' --- |' * 5}")
    for n in sizes:
        start = process_time()
        for _ in blocks(n):
            pass
        reading = process_time() - start
        start = process_time()
        HSICSubspace(Gaussian(GAMMA), landmarks=M, random_state=0).fit(lambda n=n: blocks(n))
        seconds = process_time() - start - 2 * reading
        model = constants.fixed(M) + n * constants.per_row(M)
        print(
            f"| {n:.0e} | {M} | {seconds:.1f} | {model:.1f} | {seconds / model:.2f} |", flush=True
        )


# -- stragglers and lost workers ----------------------------------------------------------


@dataclass(frozen=True)
class Cluster:
    """Workers of one core each."""

    workers: int
    spread: float = 0.15  # of the logarithm of a task's time
    slow: float = 0.02  # share of workers that are slow
    slowness: float = 3.0  # by this factor
    lost_per_hour: float = 0.01  # chance that a worker is lost
    restart: float = 60.0  # seconds until another one is there


def simulate(cluster, n_tasks, seconds, rng):
    """(time, lost) of one pass: tasks are taken one after the other by whoever is free.

    A worker that is lost takes the task it is at with it, and the sums that nobody has fetched
    yet: with sums added four by four, those of its last few tasks.
    """
    speed = np.where(rng.uniform(size=cluster.workers) < cluster.slow, cluster.slowness, 1.0)
    rate = cluster.lost_per_hour / 3600
    dies = rng.exponential(1 / rate, cluster.workers) if rate else np.full(cluster.workers, np.inf)
    free = [(0.0, w) for w in range(cluster.workers)]
    waiting, end, lost = n_tasks, 0.0, 0
    while waiting:
        now, w = heapq.heappop(free)
        done = now + seconds * speed[w] * rng.lognormal(0.0, cluster.spread)
        if done < dies[w]:
            waiting -= 1
            end = max(end, done)
            heapq.heappush(free, (done, w))
            continue
        lost += 1
        waiting += min(ARITY - 1, n_tasks - waiting)  # sums not yet fetched are computed again
        heapq.heappush(free, (dies[w] + cluster.restart, w))
        dies[w] += cluster.restart + rng.exponential(1 / rate)
    return end, lost


@dataclass(frozen=True)
class Cost:
    """What a fit on a cluster takes."""

    seconds: float
    moved: float  # bytes, in the reduction tree of the moments, at the most
    memory: float  # bytes, of a worker
    lost: float  # workers
    parts: dict


def cost(n, workers, M=1000, task_rows=None, constants=None, runs=3, **options):
    """A fit of n rows; ``task_rows`` None: tasks of ten seconds, or fewer if workers would wait."""
    c = Constants() if constants is None else constants
    # of the two passes the second takes nearly all time: one simulation for both
    rows = min(10 / c.per_row(M), n / (8 * workers)) if task_rows is None else task_rows
    rows = max(rows, 0.1 / c.per_row(M))
    n_tasks = max(1, int(np.ceil(n / rows)))
    rng = np.random.default_rng(0)
    passes = [
        simulate(Cluster(workers, **options), n_tasks, n / n_tasks * c.per_row(M), rng)
        for _ in range(runs)
    ]
    work, lost = np.mean(passes, axis=0)
    square = 8 * (M + CLASSES) ** 2
    levels = np.ceil(np.log(max(n_tasks, 2)) / np.log(ARITY))
    tree = levels * ARITY * square * (1 / c.bandwidth + 1 / 4e9)
    parts = {
        "rows": work,
        "scheduler": 2 * n_tasks * (1 + 1 / (ARITY - 1)) * c.task,
        "tree": tree,
        "client": c.fixed(M),
    }
    # the scheduler works while the workers do
    seconds = max(parts["rows"], parts["scheduler"]) + tree + parts["client"]
    moved = square * n_tasks * ARITY / (ARITY - 1) * (1 - 1 / workers)
    memory = 2e8 + rows * COLUMNS * 4 + 32 * 2**20 + (ARITY + 2) * square + 4 * M**2
    return Cost(seconds, moved, memory, lost, parts)


def first_failure(found):
    """What to look at first."""
    parts = found.parts
    if max(parts, key=parts.get) == "scheduler":
        return "the scheduler: too many tasks for so little work"
    if parts["client"] + parts["tree"] > 0.5 * parts["rows"]:
        return "what the client does alone: more workers no longer help"
    if found.seconds > 86400:
        return "the client, which must live that long"
    if found.lost >= 1:
        return f"workers: {found.lost:.0f} lost on the way, their tasks done again"
    return "nothing"


def format_time(seconds):
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def table(M):
    print("| rows | workers | time | moved at the most | memory of a worker | first trouble |")
    print(f"|{' --- |' * 6}")
    for n in (10**7, 10**8, 10**9, 10**10):
        for workers in (1, 10, 100, 1000):
            found = cost(n, workers, M)
            print(
                f"| 1e{int(np.log10(n))} | {workers} | {format_time(found.seconds)} | "
                f"{format_bytes(found.moved)} | {format_bytes(found.memory)} | "
                f"{first_failure(found)} |",
                flush=True,
            )


def troubles(M):
    """How much stragglers and lost workers add, 1e9 rows on 100 workers."""
    print(f"| workers | time, of that without trouble | workers lost |\n|{' --- |' * 3}")
    quiet = {"spread": 0.0, "slow": 0.0, "lost_per_hour": 0.0}
    base = cost(10**9, 100, M, **quiet).parts["rows"]
    for what, options in {
        "all alike": {},
        "times vary by 15 %": {"spread": 0.15},
        "2 % are slow by 3": {"slow": 0.02},
        "10 % are slow by 3": {"slow": 0.1},
        "1 % are lost per hour": {"lost_per_hour": 0.01},
        "all are lost once per hour": {"lost_per_hour": 1.0},
        "tasks of 10 minutes, all lost once per hour": {"lost_per_hour": 1.0, "task_rows": "long"},
    }.items():
        own = {**quiet, **options}
        if own.get("task_rows") == "long":
            own["task_rows"] = 600 / Constants().per_row(M)
        found = cost(10**9, 100, M, runs=10, **own)
        print(f"| {what} | {found.parts['rows'] / base:.2f} | {found.lost:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--check", type=float, nargs="+", metavar="ROWS")
    parser.add_argument("--landmarks", type=int, default=1000)
    options = parser.parse_args()
    with threadpool_limits(1):
        if options.measure:
            print(measure(options.landmarks))
        elif options.check:
            check([int(n) for n in options.check], options.landmarks, measure(options.landmarks))
        else:
            table(options.landmarks)
            print()
            troubles(options.landmarks)


if __name__ == "__main__":
    main()
