"""Which representation, from shapes and a memory budget: pure arithmetic that prints itself."""

import os
import re
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Literal

# Up to this many distinct rows the exact Gram matrix is taken without being
# asked for: one Cholesky factorisation is n^3/3 = 1.7e11 operations, seconds.
EXACT_ROWS = 8000
DEFAULT_LANDMARKS = 1000
# Rows among which pivots are chosen and the residual is measured: a kernel
# column per pivot over more rows would cost as much as the fit itself.
POOL_ROWS = 20_000
# What a block of rows may take: enough for BLAS-3, small enough to stay near the cache.
BLOCK_BYTES = 32 * 2**20

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {unit + "I": 2 ** (10 * i) for i, unit in enumerate("KMGT", start=1)}


@dataclass(frozen=True)
class Plan:
    """What a fit will hold in memory, and why."""

    representation: Literal["gram", "explicit", "landmarks"]
    n_rows: int
    n_landmarks: int
    block_rows: int  # rows of X per block of a pass
    pool_rows: int  # rows among which landmarks are chosen
    bytes_needed: int
    budget: int
    reason: str

    def __str__(self) -> str:
        what = {
            "gram": f"exact Gram matrix of {self.n_rows} rows",
            "explicit": f"{self.n_landmarks} explicit features of {self.n_rows} rows, "
            f"{self.block_rows} rows at a time",
            "landmarks": f"{self.n_landmarks} landmarks for {self.n_rows} rows, "
            f"{self.block_rows} rows at a time",
        }[self.representation]
        need, budget = format_bytes(self.bytes_needed), format_bytes(self.budget)
        return f"{what}: {need} of a budget of {budget} ({self.reason})"


def plan(
    n_rows: int,
    landmarks: int | Literal["auto", "all"] = "auto",
    *,
    explicit: int | None = None,
    matrices: float = 2.5,
    itemsize: int = 8,
    memory_budget: float | str | None = None,
) -> Plan:
    """Choose a representation; refuse, before anything is allocated, what does not fit.

    ``landmarks`` is a number, "all" (the exact Gram matrix) or "auto": the
    kernel's own features if it has few (``explicit`` says how many), the Gram
    matrix if it is affordable, else up to ``DEFAULT_LANDMARKS``. ``matrices``
    counts the n x n arrays of an exact fit at its peak (2.5 with a Cholesky
    factorisation, 4.5 with an eigendecomposition).
    """
    budget = parse_memory(memory_budget)
    gram = _plan_gram(n_rows, matrices, budget)
    if landmarks == "auto":
        chosen = _choose(n_rows, explicit, gram, itemsize, budget)
    elif landmarks == "all":
        chosen = gram
    else:
        chosen = _plan_features(n_rows, landmarks, itemsize, budget, "landmarks", "as asked for")
    if chosen.bytes_needed > budget:
        raise ValueError(_refusal(chosen))
    return chosen


def _choose(n_rows: int, explicit: int | None, gram: Plan, itemsize: int, budget: int) -> Plan:
    if explicit is not None and explicit < n_rows // 2:
        reason = "the kernel has so many features of its own"
        chosen = _plan_features(n_rows, explicit, itemsize, budget, "explicit", reason)
        if explicit <= EXACT_ROWS and chosen.bytes_needed <= budget:
            return chosen
    if n_rows <= EXACT_ROWS and gram.bytes_needed <= budget:
        return gram
    # a third of the budget for the 6 M x M arrays, as many landmarks as that allows
    M = max(1, min(DEFAULT_LANDMARKS, int((budget / 3 / 48) ** 0.5)))
    return _plan_features(n_rows, M, itemsize, budget, "landmarks", "too many rows to be exact")


def _plan_gram(n_rows: int, matrices: float, budget: int) -> Plan:
    needed = int(matrices * 8 * n_rows**2)
    return Plan("gram", n_rows, n_rows, n_rows, n_rows, needed, budget, "exact")


def _plan_features(
    n_rows: int,
    n_landmarks: int,
    itemsize: int,
    budget: int,
    kind: Literal["explicit", "landmarks"],
    reason: str,
) -> Plan:
    M = min(n_rows, n_landmarks)
    # a block of k(x, landmarks), its image z and the centred copy of that
    block_rows = max(1, min(n_rows, min(BLOCK_BYTES, budget // 4) // (3 * itemsize * M)))
    # a column per landmark over the pool, and the columns of one round of draws
    pool_rows = n_rows if kind == "explicit" else min(n_rows, POOL_ROWS, budget // 4 // (10 * M))
    pool_rows = max(M, pool_rows)
    pool_bytes = 0 if kind == "explicit" else 10 * M * pool_rows
    # K(landmarks, landmarks), its eigenvectors and workspace, two scatters
    needed = 6 * 8 * M**2 + 3 * itemsize * block_rows * M + pool_bytes
    return Plan(kind, n_rows, M, block_rows, pool_rows, needed, budget, reason)


def _refusal(chosen: Plan) -> str:
    need, budget = format_bytes(chosen.bytes_needed), format_bytes(chosen.budget)
    if chosen.representation == "gram":
        what = f"The exact Gram matrix of {chosen.n_rows} rows"
        remedy = f"pass landmarks={min(DEFAULT_LANDMARKS, chosen.n_rows)} to approximate it"
    else:
        what = f"A feature map with {chosen.n_landmarks} landmarks"
        remedy = "pass fewer landmarks"
    return (
        f"{what} needs {need}, and the memory budget is {budget}. Raise memory_budget, or {remedy}."
    )


def parse_memory(budget: float | str | None) -> int:
    """Bytes from a number, a string such as "2GB" or "512MiB", or None (half of what is free)."""
    if budget is None:
        return free_memory() // 2
    if isinstance(budget, str):
        match = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?I?)B?\s*", budget.upper())
        if match and match[2] in UNITS:
            return int(float(match[1]) * UNITS[match[2]])
    elif isinstance(budget, Real) and budget > 0:
        return int(budget)
    raise ValueError(
        f"memory_budget={budget!r} is not an amount of memory. "
        'Give bytes, or a string such as "2GB".'
    )


def free_memory() -> int:
    """Bytes that can be had without swapping; 4 GB where the system does not say."""
    free = [_meminfo(), _cgroup()]
    return min([amount for amount in free if amount is not None], default=4 * 10**9)


def _meminfo() -> int | None:
    try:
        match = re.search(r"MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text())
        if match:
            return int(match[1]) * 1024
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (OSError, ValueError, AttributeError):
        return None


def _cgroup() -> int | None:
    """What a container's limit leaves."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = int((folder / "memory.max").read_text())
        return max(0, limit - int((folder / "memory.current").read_text()))
    except (OSError, ValueError):
        return None


def format_bytes(amount: float) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount:.0f} bytes"
