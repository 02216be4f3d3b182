"""What a classifier says of itself: its members, a summary, why a row is what it is."""

import re
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.ensemble.members import Member
from kernel_learn.ensemble.plan import EnsemblePlan
from kernel_learn.kernels import Kernel

SHOWN = 10  # new rows of an explanation that prints
LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{2,}(e[+-]?\d+)?")


def kernel_in_line(kernel: Kernel, most: int = 70) -> str:
    """The kernel as it prints, numbers with three digits and no longer than a line."""
    words = " ".join(repr(kernel).split()).replace("( ", "(")
    words = LONG_NUMBER.sub(lambda number: f"{float(number.group()):.3g}", words)
    return words if len(words) <= most else f"{words[: most - 3]}..."


class Members(tuple[Member, ...]):
    """Members by decreasing weight; prints as a table."""

    def __repr__(self) -> str:
        lines = [f"{'weight':>6}  {'loss':>6}  {'error':>6}  {'reg':>7}  view and kernel"]
        lines += [
            f"{m.weight:6.3f}  {m.loss:6.4f}  {m.error:6.4f}  {m.reg:7.1e}  "
            f"{m.view}: {kernel_in_line(m.kernel)}"
            for m in self
        ]
        return "\n".join(lines)

    __str__ = __repr__


@dataclass(frozen=True, repr=False)
class Explanation:
    """Which training rows speak for each new row's class, and how loudly.

    ``contributions[i, j]`` is what the training row ``indices[i, j]`` adds to
    the averaged log-odds of the class ``labels[i]`` against the mean of the
    others; those of all training rows and ``baseline`` add up to ``log_odds``.
    Where rows speak for and against, contributions are large and cancel:
    ``shares`` are shares of all that is said. Prints as a table.
    """

    labels: Array  # (n_new,)
    indices: Array  # (n_new, n_rows) positions among the rows given to fit
    contributions: Array  # (n_new, n_rows), by decreasing size
    baseline: Array  # (n_new,)
    log_odds: Array  # (n_new,)
    loudness: Array  # (n_new,) sum of |contributions| of all training rows

    @property
    def shares(self) -> Array:
        """(n_new, n_rows): contributions / loudness, negative for rows that speak against."""
        return self.contributions / np.maximum(self.loudness, np.finfo(float).tiny)[:, None]

    def __repr__(self) -> str:
        lines = []
        for i, label in enumerate(self.labels[:SHOWN]):
            lines.append(
                f"new row {i}: {label!s} by log-odds {self.log_odds[i]:.3g}, "
                f"of which {self.baseline[i]:.3g} without any row"
            )
            lines += [
                f"{'for' if share > 0 else 'against':>9}  training row {row:<7} {abs(share):6.1%}"
                for row, share in zip(self.indices[i], self.shares[i], strict=True)
            ]
        more = len(self.labels) - SHOWN
        return "\n".join([*lines, f"and {more} more new rows"] if more > 0 else lines)


def contrasts(winners: Array, k: int) -> Array:
    """The class of each row against the mean of the others, (n, k)."""
    return ((k * np.eye(k) - 1.0) / max(k - 1, 1))[winners]


def explain_rows(
    added: Array,  # (n_new, n) what each training row adds
    baseline: Array,  # (n_new,)
    first: Array,  # (n,) positions of the training rows
    labels: Array,  # (n_new,) the class explained
    n_rows: int,
) -> Explanation:
    """The loudest training rows of each new row."""
    order = np.argsort(-np.abs(added), axis=1, kind="stable")[:, :n_rows]
    loudest = np.take_along_axis(added, order, axis=1)
    odds, loudness = baseline + added.sum(axis=1), np.abs(added).sum(axis=1)
    return Explanation(labels, first[order], loudest, baseline, odds, loudness)


def summarise(
    found: str,  # by what, and how many classes
    plan: EnsemblePlan,
    error: tuple[float, float],  # and its standard error
    log_loss: tuple[float, float],
    members: Members,
) -> str:
    """A few lines on what was done and how well it is expected to do."""
    lines = [
        f"{found}, {plan}.",
        f"Held out: error {100 * error[0]:.1f} % (+- {100 * error[1]:.1f}), "
        f"log loss {log_loss[0]:.3f} (+- {log_loss[1]:.3f}).",
        f"{len(members)} members:" if members else "No member: every row looks the same.",
    ]
    return "\n".join([*lines, repr(members)] if members else lines)
