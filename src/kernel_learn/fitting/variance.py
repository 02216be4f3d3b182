"""Rows and kernels of which nothing can be learned are refused; of which little, warned of."""

from collections.abc import Iterable, Sequence

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.column_scales import find_uneven
from kernel_learn.representations.base import Combined, has_variance
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.sources import ArraySource
from kernel_learn.warn import warn_user


def check_distinct(source: ArraySource | PooledSource) -> None:
    """Refuse rows that are all the same, whatever a method would make of them."""
    if np.ptp(source.X) == 0 if source.is_matrix else source.n_distinct < 2:
        what = "entries of the kernel matrix" if source.is_matrix else "rows"
        raise all_the_same(what, tuple(source.X.shape))


def all_the_same(what: str, shape: tuple[int, ...]) -> ValueError:
    """What is wrong with rows of which nothing can be learned."""
    return ValueError(
        f"X has zero variance: all its {what} are the same (shape {shape}), "
        "and nothing tells one row from another. Check where the columns come from."
    )


def check_variance(sample: Combined, n_features: int | None) -> None:
    """Refuse a kernel that takes one value on all rows: there is nothing to learn from."""
    check_spread(sample.kernel, sample.trace / sample.n, sample.mean_diagonal, n_features)


def check_spread(
    kernel: Kernel, variance: float, mean_diagonal: float, n_features: int | None
) -> None:
    """Refuse a kernel whose variance is rounding or not a number."""
    if not (np.isfinite(variance) and np.isfinite(mean_diagonal)):
        raise ValueError(f"{kernel!r} gives values that are not finite on these rows.")
    if not has_variance(variance, mean_diagonal):
        raise ValueError(
            f"{kernel!r} has zero variance on these rows: all of them look the same to it "
            f"(n_features={n_features}). "
            "Check that X is not constant and that the kernel's width suits its scale."
        )


def warn_of_scales(
    estimator: BaseEstimator,
    kernels: Iterable[Kernel],
    source: ArraySource | PooledSource,
    columns: Sequence[str] = (),  # names that the rows, arrays, do not have themselves
) -> None:
    """Say which column a distance hardly sees beside another, and what to do about it."""
    kernels = list(kernels)
    if source.is_matrix or kernels[0].input == "strings":
        return
    found = find_uneven(kernels, source.summary.pool(source.X))
    if found is None:
        return
    names = getattr(estimator, "feature_names_in_", columns or None)
    wide, narrow = (c if names is None else names[c] for c in (found.wide, found.narrow))
    # one digit: folds of one table say the same, which Python then shows once
    warn_user(
        f"{type(estimator).__name__}: column {wide} is {float(f'{found.ratio:.1g}'):,.0f} times as "
        f"wide as {'column ' if names is None else ''}{narrow}, which distances hardly see: "
        "StandardScaler or TableEncoder before it give every column the same scale."
    )
