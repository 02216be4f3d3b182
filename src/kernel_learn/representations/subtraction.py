"""States without some of their rows: what adds up is taken off again.

Moments, column sums, counts and digests of rows are those of all rows less those of the rows that
are forgotten. Of the pool the forgotten rows go; where some rows had been left out of it, it is
from then on the pool of a smaller capacity, whose rows are complete.
"""

from dataclasses import replace

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array
from kernel_learn.kernels.pool import ColumnSums
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.state import StreamState
from kernel_learn.representations.summary import Summary
from kernel_learn.rows.access import dense, is_sparse, take_rows
from kernel_learn.rows.digest import MODULUS
from kernel_learn.rows.keys import are_among, row_keys

ROUNDING = 1e-9  # of weights that were added and taken off

NEVER_SEEN = (
    "were never in it with this label and weight. Pass rows exactly as they were given to "
    "partial_fit, each as often."
)


def subtract_state(
    state: StreamState,
    part: StreamState,
    *,
    is_set: bool = False,  # whether values are sets of labels
) -> StreamState:
    """The state of the rows of ``state`` that are not those of ``part``."""
    if state.is_faded:
        raise ValueError(
            "Rows of this model have faded (partial_fit with decay): what one of them still "
            "counts is not known, and cannot be taken out. Fit the remaining rows anew."
        )
    if part.classes is not None:
        assert state.classes is not None
        strange = np.setdiff1d(part.classes, state.classes)
        if len(strange):
            raise ValueError(
                f"The model has not seen the label {strange.tolist()[0]!r}: rows to be forgotten "
                f"{NEVER_SEEN}"
            )
        part = part.with_classes(state.classes)
    if part.n_rows >= state.n_rows:
        raise ValueError(
            f"The model has seen {state.n_rows} rows, and {part.n_rows} are to be forgotten: "
            "nothing would be left. Start anew."
        )
    assert state.summary is not None and part.summary is not None
    assert state.moments is not None and part.moments is not None
    _check_landmarks(state, part.summary)
    found = replace(
        state,
        n_rows=state.n_rows - part.n_rows,
        digest=(state.digest - part.digest) % MODULUS,
        summary=subtract_summary(
            state.summary, part.summary, are_shares=is_set or part.classes is not None
        ),
        moments=subtract_moments(state.moments, part.moments),
        sums=None if state.sums is None else state.sums - part.sums,
    )
    return without_empty_classes(found)


def _check_landmarks(state: StreamState, gone: Summary) -> None:
    assert state.features is not None
    landmarks = state.features.landmarks
    if are_among(row_keys(landmarks), gone.keys).any():
        raise ValueError(
            "A row to be forgotten is a landmark, with which all others are compared: the model "
            "cannot be had without it. Fit the remaining rows anew, or give landmarks that are "
            "no one's rows."
        )


def subtract_moments(whole: Moments, part: Moments) -> Moments:
    """Merged with the moments of as many rows of negative weight."""
    return whole.merge(Moments(-part.n, part.mean, -part.scatter, part.n_features))


def subtract_columns(whole: ColumnSums, part: ColumnSums) -> ColumnSums:
    """Likewise; rounding does not make a sum of squares negative."""
    left = whole.merge(ColumnSums(-part.n, part.mean, -part.squares))
    return ColumnSums(left.n, left.mean, np.maximum(left.squares, 0.0))


def subtract_summary(
    whole: Summary,
    part: Summary,
    *,
    are_shares: bool,  # whether a row's labels are shares of its weight, none of them negative
) -> Summary:
    """The rows kept, less the forgotten ones; what cannot have been there is refused."""
    known = _check_known(whole, part)
    place = np.searchsorted(whole.keys, part.keys[known])
    weight, labels = whole.weight.copy(), np.array(dense(whole.labels), dtype=np.float64)
    weight[place] -= part.weight[known]
    labels[place] -= dense(take_rows(part.labels, np.flatnonzero(known)))
    least = ROUNDING * np.maximum(1.0, whole.weight)
    if whole.seen is not None and part.seen is not None:
        seen = whole.seen.copy()
        seen[place] -= part.seen[known]  # modulo 2^64: of more than came, more than there were
        left, marks = seen[:, 0] > 0, seen[:, 1]
        wrong = np.where(left, (weight <= least) | (seen[:, 0] > whole.seen[:, 0]), marks != 0)
    else:
        seen, left = None, weight > least
        size = ROUNDING * np.abs(dense(whole.labels)).sum(axis=0)
        wrong = ~left & ((weight < -least) | (np.abs(labels) > size).any(axis=1))
    counts = whole.counts - part.counts
    if are_shares:
        low, high = -least[:, None], (weight + least)[:, None]
        wrong |= left & ((labels < low) | (labels > high)).any(axis=1)
        labels[labels < least[:, None]] = 0.0
        counts = _tidy(counts)
    if wrong.any() or _takes_too_much(whole, part, are_shares=are_shares):
        raise ValueError(f"Some of the rows to be forgotten {NEVER_SEEN}")
    kept = np.flatnonzero(left)
    if not len(kept):
        raise ValueError(
            f"None of the {len(left)} rows that the model keeps would be left, and it needs some "
            "of them. Fit the remaining rows anew."
        )
    columns = None
    if whole.columns is not None and part.columns is not None:
        columns = subtract_columns(whole.columns, part.columns)
    return replace(
        whole,
        n=whole.n - part.n,
        counts=counts,
        columns=columns,
        keys=whole.keys[kept],
        rows=take_rows(whole.rows, kept),
        weight=weight[kept],
        labels=sparse.csr_array(labels[kept]) if is_sparse(whole.labels) else labels[kept],
        capacity=whole.capacity if whole.n_known is not None else len(kept),
        n_known=None if whole.n_known is None else len(kept),
        seen=None if seen is None else seen[kept],
    )


def _check_known(whole: Summary, part: Summary) -> Array:
    """Which rows of the part are kept; those that would be, had they ever come, are refused."""
    known = are_among(part.keys, whole.keys)
    strange = ~known
    if whole.n_known is None:  # rows with larger keys were left out
        strange &= part.keys <= whole.keys.max(initial=0)
    elif part.n_known is None and known.all():
        raise ValueError(f"Some of the rows to be forgotten {NEVER_SEEN}")
    if strange.any():
        raise ValueError(f"{int(strange.sum())} of the rows to be forgotten {NEVER_SEEN}")
    return known


def _takes_too_much(whole: Summary, part: Summary, *, are_shares: bool) -> bool:
    """Whether more would be forgotten in all than there was, of rows that were left out too."""
    least = -ROUNDING * max(1.0, float(whole.counts.max()))
    return part.n >= whole.n or (are_shares and bool((whole.counts - part.counts < least).any()))


def _tidy(counts: Array) -> Array:
    """Counts that are rounding are none."""
    return np.where(counts > ROUNDING * max(1.0, float(counts.max())), counts, 0.0)


def without_empty_classes(state: StreamState) -> StreamState:
    """The same without classes of which nothing is left."""
    summary, moments = state.summary, state.moments
    if state.classes is None or summary is None or moments is None or summary.counts.all():
        return state
    kept = np.flatnonzero(summary.counts)
    columns = np.concatenate([np.arange(moments.n_features), moments.n_features + kept])
    return replace(
        state,
        classes=state.classes[kept],
        n_targets=len(kept),
        summary=replace(
            summary,
            counts=summary.counts[kept],
            labels=sparse.csr_array(dense(summary.labels)[:, kept]),
        ),
        moments=Moments(
            moments.n,
            moments.mean[columns],
            moments.scatter[np.ix_(columns, columns)],
            moments.n_features,
        ),
        sums=None if state.sums is None else state.sums[kept],
    )
