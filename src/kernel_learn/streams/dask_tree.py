"""A tree of sums on Dask's workers: tasks, their threads and memory, and how far they have come."""

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from time import thread_time
from typing import Any
from uuid import uuid4

from kernel_learn.representations.plan import format_bytes
from kernel_learn.streams.progress import Progress
from kernel_learn.threads import thread_controller

# Sums that one task adds: they are all in a worker's memory at once.
ARITY = 4
# The share of its memory limit at which a worker is ended by its nanny.
LIMIT_SHARE = 0.95
# Workers tell here how far they have come: ``client.subscribe_topic(TOPIC, print)``.
TOPIC = "kernel-learn"

Graph = dict[Any, Any]
Task = Callable[[list[int], list[Any]], Any]  # numbers of blocks, and the blocks


def need_dask() -> Any:
    """Dask with its arrays."""
    try:
        import dask
        import dask.array
    except ImportError as error:
        raise ImportError(
            "Dask collections need Dask. Install it: pip install kernel-learn[dask]"
        ) from error
    return dask


def connected_client() -> Any:
    """The client that Dask would compute on; None for the local scheduler."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    from dask.base import get_scheduler

    owner = getattr(get_scheduler(), "__self__", None)
    return owner if isinstance(owner, distributed.Client) else None


class TaskTree:
    """The sum over all tasks of what they give; those that give None have no part in it."""

    def __init__(
        self,
        graph: Graph,
        task: Task,
        what: str,
        progress: Progress | None = None,
        seen: int = 0,  # rows of the pass before these
    ) -> None:
        self.graph, self.task, self.what, self.progress = graph, task, what, progress
        self.seen = seen

    def compute(self, items: list[tuple[list[int], list[Any]]]) -> Any:
        if not items:
            return None
        from dask.delayed import Delayed

        token = uuid4().hex
        graph, shared = dict(self.graph), f"kernel-learn-shared-{token}"
        graph[shared] = (itself, self.task)  # once, and not in every task
        level: list[tuple[str, int]] = []
        for i, (numbers, parts) in enumerate(items):
            key = (f"kernel-learn-{self.what}-{token}", i)
            place = (token, i, len(items))
            graph[key] = (_run, shared, numbers, parts, list(place), self.what)
            level.append(key)
        depth = 0
        while len(level) > 1:
            name, depth = f"kernel-learn-add-{depth}-{token}", depth + 1
            rows = [level[i : i + ARITY] for i in range(0, len(level), ARITY)]
            level = [(name, i) for i in range(len(rows))]
            graph.update({key: (_total, row) for key, row in zip(level, rows, strict=True)})
        with ExitStack() as stack:
            stack.enter_context(_quiet())
            stack.enter_context(_told(self.progress, self.seen, token))
            stack.enter_context(_lost_workers())
            return Delayed(level[0], graph).compute()


def itself(value: Any) -> Any:
    """A value as the result of a task, which every task that needs it refers to."""
    return value


def _run(task: Task, numbers: list[int], parts: list[Any], place: list[Any], what: str) -> Any:
    start = thread_time()
    with one_thread_each():
        value = task(numbers, parts)
    token, i, n_tasks = place
    own = {"rows": getattr(value, "n_rows", 0), "seconds": thread_time() - start}
    _tell({"what": what, "task": i, "of": n_tasks, "fit": token, **own})
    return value


def _total(values: list[Any]) -> Any:
    total = None
    for value in values:
        if value is not None:
            total = value if total is None else total + value
    return total


# -- threads -----------------------------------------------------------------------------

_lock = threading.Lock()
_running = 0
_limit: AbstractContextManager[object] | None = None


@contextmanager
def one_thread_each() -> Iterator[None]:
    """One BLAS thread while any task runs in this process: a worker has one core per thread.

    The limit is one of the process: the first task to begin sets it, the last to end lifts it.
    """
    global _running, _limit
    with _lock:
        if _running == 0:
            _limit = thread_controller().limit(limits=1)
            _limit.__enter__()
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if _running == 0 and _limit is not None:
                _limit.__exit__(None, None, None)
                _limit = None


# -- progress ----------------------------------------------------------------------------


def _tell(event: dict[str, object]) -> None:
    """Say that a task is done, where there is somebody to hear it."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return
    try:
        worker = distributed.get_worker()
    except ValueError:  # the local scheduler
        return
    worker.log_event(TOPIC, {**event, "worker": str(worker.name)})


@contextmanager
def _told(progress: Progress | None, seen: int, token: str) -> Iterator[None]:
    """Pass on to ``progress`` how many rows are done."""
    if progress is None or not (progress.is_loud or progress.part):
        yield
        return
    done: dict[int, int] = {}  # a task that is lost with its worker is done again

    def add(i: int, rows: int) -> None:
        done[i] = rows
        progress.at(seen + sum(done.values()))

    def hear(event: tuple[Any, Any]) -> None:
        message = event[1]
        if message.get("fit") == token:
            add(message["task"], message["rows"])

    client = connected_client()
    if client is not None:
        client.subscribe_topic(TOPIC, hear)
        try:
            yield
        finally:
            client.unsubscribe_topic(TOPIC)
        return
    from dask.callbacks import Callback

    def posttask(key: Any, value: Any, *_: Any) -> None:
        if isinstance(key, tuple) and str(key[0]).endswith(token):
            rows = getattr(value, "n_rows", 0)
            if not str(key[0]).startswith("kernel-learn-add"):
                add(key[1], rows)

    with Callback(posttask=posttask):
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    """Landmarks are in the graph on purpose: what is scattered is lost with its workers."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        yield


# -- memory ------------------------------------------------------------------------------

REMEDY = (
    "Give it blocks of fewer rows (rechunk, repartition), fewer landmarks, or workers with "
    "more memory."
)


def check_workers(need: float, rows: int) -> None:
    """Refuse, before anything is computed, a block that no worker's memory holds."""
    for address, worker in _workers().items():
        limit, threads = worker.get("memory_limit") or 0, worker.get("nthreads", 1)
        metrics = worker.get("metrics", {})
        taken = max(0, metrics.get("memory", 0) - metrics.get("managed_bytes", 0))
        if limit and taken + threads * need > LIMIT_SHARE * limit:
            each = f" in each of its {threads} threads" if threads > 1 else ""
            raise ValueError(
                f"A block of {rows} rows needs about {format_bytes(need)}{each}, and the worker "
                f"{address} has a memory limit of {format_bytes(limit)}, of which "
                f"{format_bytes(taken)} are taken. {REMEDY}"
            )


def count_threads() -> int:
    """Tasks that the workers do at once."""
    return max(1, sum(worker.get("nthreads", 1) for worker in _workers().values()))


def _workers() -> dict[str, Any]:
    client = connected_client()
    if client is None:
        return {}
    try:
        info = client.scheduler_info(n_workers=-1)
    except TypeError:  # before 2025: all of them
        info = client.scheduler_info()
    workers: dict[str, Any] = info["workers"]
    return workers


@contextmanager
def _lost_workers() -> Iterator[None]:
    """What workers and their scheduler end by, in a sentence.

    A task that ends every worker that takes it is a block too large for them.
    """
    try:
        yield
    except Exception as error:
        if type(error).__name__ in ("FutureCancelledError", "CommClosedError"):
            raise ConnectionError(
                f"Dask has ended this fit ({' '.join(str(error).split())}) The estimator is as it "
                "was. Fit again when the scheduler is back; with checkpoint= that goes on from "
                "the last state that was kept."
            ) from error
        if type(error).__name__ != "KilledWorker":
            raise
        last = getattr(error, "last_worker", None)  # it may have been the only one
        least = getattr(last, "memory_limit", 0)
        limit = f" of {format_bytes(least)}" if least else ""
        raise ValueError(
            "One block ended every worker that took it: it needs more than their memory limit"
            f"{limit}, or its data cannot be read without a crash (the workers' logs say more). "
            f"{REMEDY}"
        ) from error
