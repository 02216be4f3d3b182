"""Which representation, from a summary's sizes and a budget: arithmetic that prints itself."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Literal

from kernel_learn.arrays import MemoryBudget
from kernel_learn.representations.landmarks import Rule, candidate_rows, draw_size, prepared_rows
from kernel_learn.representations.price import Price
from kernel_learn.warn import warn_user

# Up to this many distinct rows the exact Gram matrix is taken without being
# asked for: one Cholesky factorisation is n^3/3 = 1.7e11 operations, seconds.
EXACT_ROWS = 8000
DEFAULT_LANDMARKS = 1000
# Features of all kernels of a bank together if the rows are too many to be exact and
# nobody said how many: one factorisation of that size per step is a second.
DEFAULT_FEATURES = 2 * DEFAULT_LANDMARKS
# Rows that a classifier keeps to tell how unlike them others are.
COMPARED_ROWS = 250
# What a block of rows may take: enough for BLAS-3, small enough to stay near the cache.
BLOCK_BYTES = 32 * 2**20

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {unit + "I": 2 ** (10 * i) for i, unit in enumerate("KMGT", start=1)}


@dataclass(frozen=True)
class Size:
    """What a plan needs to know of the rows and the kernels."""

    n_rows: int
    n_distinct: int
    n_kernels: int = 1
    n_targets: int = 1
    row_bytes: float = 0.0  # of a row of X as it is
    itemsize: int = 8  # of a number in it
    row_copies: float = 0.0  # that an evaluation of the kernels makes, in float64
    gram_copies: float = 0.0  # that k(X, X) makes
    rule_bytes: int = 0  # to resolve the kernels' rules
    rule_rows: int = 0  # at which they look
    pool: int = 20_000  # rows of the summary
    rule: Rule = "rpcholesky"  # that chooses landmarks among them
    explicit: int | None = None  # dimension of the kernel's own feature space
    merges: bool = True  # whether repeated rows become one row
    copied_bytes: float = 0.0  # of rows, before the plan
    gives_landmarks: bool = False  # the landmarks are rows that were given, not chosen among X
    is_stream: bool = False  # rows come and go; only those of the summary are held
    is_open: bool = False  # more rows will come than are counted here

    @property
    def n(self) -> int:
        """Rows of an exact fit."""
        return self.n_distinct if self.merges else self.n_rows

    @property
    def n_held(self) -> int:
        """Rows of which keys and labels are held."""
        return min(self.n_rows, self.pool) if self.is_stream else self.n_rows

    @property
    def double_bytes(self) -> float:
        """Of a row of X in float64."""
        return self.row_bytes * 8 / self.itemsize

    def candidates(self, n_landmarks: int) -> int:
        """Rows among which so many landmarks are chosen; none where they are not compared."""
        if not self.pool:
            return 0
        few = candidate_rows(self.rule, n_landmarks, self.pool)
        return max(n_landmarks, min(self.n_distinct, few))


@dataclass(frozen=True)
class Needs:
    """What an estimator holds at its peak, in arrays of float64."""

    exact: float = 2.0  # n x n, in an exact fit
    features: float = 4.0  # M x M, in a fit on M features
    weights: float = 3.0  # n x n beside the kept ones, while weights of kernels are learned
    rows: float = 0.0  # n_rows x M: the features of all rows, where they are held
    reordered: bool = False  # an exact fit evaluates a copy of the rows in another order
    compared: bool = False  # some rows are kept, to tell how unlike them others are
    columns: float = 6.0  # n x n_targets
    extra: Callable[[int, int], float] = lambda n, M: 0.0  # bytes for n rows and M features
    remedy: str = ""  # what else would take less memory


@dataclass(frozen=True)
class Plan:
    """What a fit will hold in memory, and why.

    ``bytes_needed`` is what this plan takes, ``bytes_least`` the smallest budget
    with which the same model could be fitted: more blocks, fewer kept matrices.
    """

    representation: Literal["gram", "explicit", "landmarks", "leaves"]
    n_rows: int
    n_landmarks: int  # per kernel
    block_rows: int  # rows of X per block of a pass
    pool_rows: int  # rows among which landmarks are chosen
    bytes_needed: int
    budget: int
    reason: str
    bytes_least: int = 0
    n_kernels: int = 1
    n_kept: int = 1  # kernel matrices that are kept
    price: Price | None = None  # what it costs; ``print(plan.price)``

    def __str__(self) -> str:
        n, M = self.n_rows, self.n_landmarks
        many = f" for each of {self.n_kernels} kernels" if self.n_kernels > 1 else ""
        what = {
            "gram": f"exact Gram matrix of {n} rows" + many + self._kept(),
            "explicit": f"{M} explicit features of {n} rows, {self.block_rows} rows at a time",
            "landmarks": f"{M} landmarks{many} for {n} rows, {self.block_rows} rows at a time",
            "leaves": f"exact fits in leaves of {n} rows, at most {self.block_rows} in each",
        }[self.representation]
        need, budget = format_bytes(self.bytes_needed), format_bytes(self.budget)
        return f"{what}: {need} of a budget of {budget} ({self.reason})"

    def _kept(self) -> str:
        if self.n_kept >= self.n_kernels:
            return ""
        return f", {self.n_kept} of them kept and the others evaluated again when needed"


def plan(
    size: Size,
    landmarks: int | Literal["auto", "all"] = "auto",
    needs: Needs | None = None,
    *,
    memory_budget: MemoryBudget = None,
    exact_rows: int = EXACT_ROWS,
    default_landmarks: int = DEFAULT_LANDMARKS,
) -> Plan:
    """Choose a representation; refuse, before anything is allocated, what does not fit.

    ``landmarks`` is a number per kernel, "all" (exact Gram matrices) or "auto": the
    kernel's own features if they are fewer than half of the rows, exact for up to
    ``exact_rows`` rows, else ``default_landmarks``. Less memory than that takes
    gives another model only with a warning.
    """
    needs = Needs() if needs is None else needs
    budget = parse_memory(memory_budget)
    if landmarks == "all":
        chosen = _plan_gram(size, needs, budget, "exact")
    elif landmarks == "auto":
        chosen = _choose(size, needs, budget, exact_rows, default_landmarks)
    elif size.n_kernels > 1 and size.n_kernels * landmarks >= size.n and not size.is_open:
        reason = "the landmark features would not be fewer than the rows"
        chosen = _plan_gram(size, needs, budget, reason)
    else:
        chosen = _plan_features(size, landmarks, needs, budget, "landmarks", "as asked for")
    if chosen.bytes_least > budget:
        raise ValueError(_refusal(chosen, needs.remedy))
    wanted = size.candidates(chosen.n_landmarks)
    if chosen.representation == "landmarks" and chosen.pool_rows < wanted:
        _warn_of_pool(chosen, size, needs)
    return chosen


def _choose(size: Size, needs: Needs, budget: int, exact_rows: int, landmarks: int) -> Plan:
    """What is taken where nobody said; less if memory is short, and then with a warning."""
    if size.explicit is not None and size.explicit < size.n // 2 and size.explicit <= EXACT_ROWS:
        reason = "the kernel has so many features of its own"
        return _plan_features(size, size.explicit, needs, budget, "explicit", reason)
    if size.n_kernels > 1:
        landmarks = max(1, DEFAULT_FEATURES // size.n_kernels)
    if size.n <= exact_rows and not size.is_open:
        default = _plan_gram(size, needs, budget, "exact")
    else:
        reason = "too many rows to be exact"
        default = _plan_features(size, landmarks, needs, budget, "landmarks", reason)
    if default.bytes_least <= budget:
        return default
    reason = "what the memory budget allows"
    chosen = _plan_features(size, landmarks, needs, budget, "landmarks", reason)
    while chosen.n_landmarks > 1 and (
        chosen.bytes_needed > budget or chosen.pool_rows < size.candidates(chosen.n_landmarks)
    ):
        fewer = max(1, int(0.8 * chosen.n_landmarks))
        chosen = _plan_features(size, fewer, needs, budget, "landmarks", reason)
    if chosen.bytes_least > budget:
        return default  # refused, with what the default needs
    warn_user(
        f"The {describe_plan(default)} would take {format_bytes(default.bytes_least)}, and the "
        f"memory budget is {format_bytes(budget)}: {chosen.n_landmarks} landmarks are used "
        "instead, which gives another model. Raise memory_budget, or pass landmarks= to choose.",
    )
    return chosen


def _warn_of_pool(chosen: Plan, size: Size, needs: Needs) -> None:
    whole = _plan_features(size, chosen.n_landmarks, needs, 10**18, "landmarks", "")
    warn_user(
        f"Choosing {chosen.n_landmarks} landmarks among {whole.pool_rows} rows would take "
        f"{format_bytes(whole.bytes_needed)}, and the memory budget is "
        f"{format_bytes(chosen.budget)}: they are chosen among {chosen.pool_rows}, which gives "
        'another model. Raise memory_budget, or pass landmarks=Landmarks("uniform", count).',
    )


def _reference_bytes(size: Size, needs: Needs) -> float:
    return min(size.n_distinct, COMPARED_ROWS) * size.row_bytes if needs.compared else 0.0


def _plan_gram(size: Size, needs: Needs, budget: int, reason: str) -> Plan:
    n, p = size.n, size.n_kernels
    matrix, rows = 8 * n**2, n * size.double_bytes
    copied = n * size.row_bytes if size.merges and n < size.n_rows else 0.0
    held = _bookkeeping(size) + copied + 8 * needs.columns * n * size.n_targets
    evaluation = size.gram_copies * rows + (rows if size.itemsize < 8 else 0.0)
    evaluation += n * size.row_bytes if needs.reordered else 0.0
    model_rows = n * size.row_bytes + _reference_bytes(size, needs)

    def total(kept: int) -> int:
        phases = [
            _setup(size),
            (kept + (kept < p)) * matrix + evaluation,
            needs.exact * matrix + needs.extra(n, n) + model_rows,
            (kept + needs.weights) * matrix if p > 1 else 0.0,
        ]
        return int(held + max(phases))

    if p == 1:
        kept = 1
    else:
        kept = p
        while kept > 0 and total(kept) > budget:
            kept -= 1
    least = total(1) if p == 1 else total(0)
    return Plan(
        "gram",
        n,
        n,
        n,
        n,
        total(kept),
        budget,
        reason,
        least,
        n_kernels=p,
        n_kept=kept,
        price=_price_gram(size, needs),
    )


def _plan_features(
    size: Size,
    n_landmarks: int,
    needs: Needs,
    budget: int,
    kind: Literal["explicit", "landmarks"],
    reason: str,
) -> Plan:
    n, p, q, item = size.n_distinct, size.n_kernels, size.n_targets, size.itemsize
    M = n_landmarks if kind == "explicit" or size.gives_landmarks else min(n, n_landmarks)
    square, columns = 8 * M**2, p * M
    landmark_rows = M * (size.row_bytes + size.row_copies * size.double_bytes)
    # W, and the moments of all columns and targets as they are merged
    held = _bookkeeping(size) + M * size.row_bytes + (p * item * M**2 if kind != "explicit" else 0)
    # the block; beside it the copies that an evaluation makes, and when these are gone
    # k(x, landmarks), z, the copy that is centred, one-hot targets
    moments: float = item * (3 * columns + 2 * q) + 8 * q * (size.itemsize == 8)
    per_row = size.row_bytes + max(moments, size.gram_copies * size.double_bytes)
    # a column per landmark over the pool, the columns of one round of draws, the rows
    per_pool: float = 8 * M + 3 * 8 * draw_size(M)
    per_pool += size.row_bytes
    at_once, copied = (
        prepared_rows(int(size.double_bytes // 8)),
        size.gram_copies * size.double_bytes,
    )

    def total(block_rows: float, pool_rows: float) -> int:
        phases = [
            _setup(size),
            0.0
            if kind == "explicit"
            else pool_rows * per_pool + min(pool_rows, at_once) * copied + landmark_rows,
            0.0 if kind == "explicit" else 6 * square + landmark_rows,
            block_rows * per_row + landmark_rows + 8 * 4 * (columns + q) ** 2,
            8 * (needs.features + 1 + (p > 1)) * columns**2
            + 8 * needs.rows * size.n_rows * columns
            + needs.extra(size.n_rows, columns)
            + _reference_bytes(size, needs),
        ]
        return int(held + max(phases))

    block_rows = max(1, min(size.n_rows, int(BLOCK_BYTES // per_row)))
    while block_rows > 1 and total(block_rows, 0) > budget:
        block_rows = max(1, block_rows // 2)
    whole = 0 if kind == "explicit" else size.candidates(M)
    pool_rows, least = whole, total(1, M if whole else 0)
    if least <= budget < total(1, whole):
        pool_rows = max(M, int((budget - held - at_once * copied - landmark_rows) / per_pool))
    return Plan(
        kind,
        size.n_rows,
        M,
        block_rows,
        pool_rows,
        total(block_rows, pool_rows),
        budget,
        reason,
        least,
        n_kernels=p,
        n_kept=p,
        price=_price_features(size, M, pool_rows, kind),
    )


def _price_features(size: Size, M: int, pool_rows: int, kind: str) -> Price:
    """k(x, landmarks), z = kT, z'z (half of it, being symmetric); landmarks, whitening, solving."""
    p, columns = size.n_kernels, size.n_kernels * M + size.n_targets
    products = 0.0 if kind == "explicit" else 2.0 * p * M**2
    distances = 2.0 * M * size.row_bytes / size.itemsize
    chosen = 2.0 * pool_rows * M**2 if kind == "landmarks" else 0.0
    return Price(
        n_rows=size.n_rows,
        passes=1 if size.is_open else 2,
        row_operations=distances + products + float(columns) ** 2,
        row_values=float(p * M),
        row_bytes=size.row_bytes,
        once_operations=chosen + 10.0 * p * M**3 + 5.0 * float(columns) ** 3,
        itemsize=size.itemsize,
    )


def _price_gram(size: Size, needs: Needs) -> Price:
    """All kernel values, of each pair once, and a decomposition or some factorisations."""
    n, p = float(size.n), size.n_kernels
    return Price(
        n_rows=size.n_rows,
        passes=1,
        row_operations=p * n * size.row_bytes / size.itemsize,
        row_values=p * n / 2,
        row_bytes=size.row_bytes,
        once_operations=(5.0 if needs.exact > 3 else 1.0) * n**3,
        itemsize=8,
    )


def _bookkeeping(size: Size) -> float:
    """Labels, weights, keys, which row is which, and copies of the rows that are there already."""
    return 48 * size.n_held + size.copied_bytes


def _setup(size: Size) -> float:
    """Sorting the keys, or resolving the kernels' rules."""
    rows = size.rule_rows * (size.row_bytes + size.row_copies * size.double_bytes)
    return max(48.0 * size.n_held, size.rule_bytes + rows)


def describe_plan(chosen: Plan) -> str:
    """What a plan fits, in words."""
    if chosen.representation != "gram":
        return f"feature map with {chosen.n_landmarks} landmarks"
    many = f" under {chosen.n_kernels} kernels" if chosen.n_kernels > 1 else ""
    return f"exact Gram matrix of {chosen.n_rows} rows{many}"


def _refusal(chosen: Plan, other_remedy: str) -> str:
    need, budget = format_bytes(chosen.bytes_least), format_bytes(chosen.budget)
    remedy = "pass fewer landmarks"
    if chosen.representation == "gram":
        remedy = f"pass landmarks={min(DEFAULT_LANDMARKS, chosen.n_rows)} to approximate it"
    what = describe_plan(chosen)
    remedies = f"{remedy}, or {other_remedy}" if other_remedy else f"or {remedy}"
    return (
        f"A fit on the {what} needs {need}, and the memory budget is {budget}. "
        f"Raise memory_budget, {remedies}."
    )


def parse_memory(budget: MemoryBudget) -> int:
    """Bytes from a number, a string such as "2GB" or "512MiB", or None (half of what is free)."""
    if budget is None:
        return free_memory() // 2
    if isinstance(budget, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([KMGT]?I?)B?\s*", budget.upper())
        if match and match[2] in UNITS and float(match[1]) > 0:
            return int(float(match[1]) * UNITS[match[2]])
    elif isinstance(budget, Real) and not isinstance(budget, bool) and 0 < budget < float("inf"):
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
    """An amount of memory in the unit that reads best."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount:.0f} bytes"
