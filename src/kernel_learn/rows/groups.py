"""Groups of rows: numbers from 0 on, one for each row."""

import numpy as np

from kernel_learn.arrays import Array, Keys


def ranks_of(keys: Keys, groups: Array) -> Keys:
    """The rank of each pair among all of them, by keys first, (n,)."""
    both = np.empty(len(groups), dtype=[("key", np.uint64), ("group", groups.dtype)])
    both["key"], both["group"] = keys, groups
    return np.unique(both, return_inverse=True)[1].astype(np.uint64)


def shared_places(groups: Array) -> tuple[Array, ...]:
    """Increasing places of each group that has several."""
    order = np.argsort(groups, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
    return tuple(np.sort(part) for part in parts if len(part) > 1)


def by_groups(order: Array, groups: Array) -> Array:
    """Rows in an order in which those of a group follow its first one."""
    rank = np.empty(len(order), dtype=int)
    rank[order] = np.arange(len(order))
    first = np.full(int(groups.max()) + 1, len(order))
    np.minimum.at(first, groups, rank)
    return np.lexsort((rank, first[groups]))


def whole_groups(order: Array, groups: Array, size: int) -> Array:
    """Ends of blocks of about ``size`` rows of such an order that tear no group apart."""
    own = groups[order]
    ends = np.append(np.flatnonzero(np.diff(own)) + 1, len(own))
    marks = np.searchsorted(ends, np.arange(size, len(own) + size, size))
    return np.unique(ends[np.minimum(marks, len(ends) - 1)])
