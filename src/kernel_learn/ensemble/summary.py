"""What an ensemble says of itself: its members, a summary, why a row is what it is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.ensemble.members import Member
from kernel_learn.ensemble.plan import EnsemblePlan
from kernel_learn.kernels import ColumnKernel, Combination, Kernel
from kernel_learn.kernels.scaled import ScaledKernel

# What is said in place of an error where nothing was held out of all choices, and of figures of
# held-out rows that chose what was fitted.
NOT_ASSESSED = 'Error not assessed: fit with assess="nested" to have it'
CHOSE = "leave-one-out, which chose the members"

SHOWN = 10  # new rows of an explanation that prints
VIEWS = {"z": "z-scores", "q": "normal scores", "u": "ranks", "c": "clipped scores"}


def member_name(member: Member) -> str:
    """``Gaussian 0.04, ranks``: the kernel, its width, and the view it sees."""
    view, _, scaled = member.view.partition(" ")
    source, _, kind = view.rpartition("/")
    words = [VIEWS.get(kind, kind)]
    words += [f"of {source}"] if source else []
    words += ["scaled"] if scaled or _has_scales(member.kernel) else []
    return f"{_kernel_name(member.kernel)}, {' '.join(words)}"


def _in_line(member: Member, most: int = 70) -> str:
    name = member_name(member)
    return name if len(name) <= most else f"{name[: most - 3]}..."


def _kernel_name(kernel: Kernel) -> str:
    """``Gaussian 0.04``, ``Linear + Laplacian 0.1``: kernels and their widths."""
    if isinstance(kernel, Combination):
        return " + ".join(_kernel_name(part) for part in kernel.kernels)
    if isinstance(kernel, ColumnKernel):
        return _kernel_name(kernel.base)
    if isinstance(kernel, ScaledKernel):  # its width is in the scales
        return type(kernel.base).__name__
    gamma = getattr(kernel, "gamma", None)
    width = f" {gamma:.2g}" if isinstance(gamma, float) else ""
    return f"{type(kernel).__name__}{width}"


def _has_scales(kernel: Kernel) -> bool:
    """Whether a kernel has a scale for each column."""
    parts = kernel.kernels if isinstance(kernel, Combination) else [kernel]
    return any(isinstance(part, ScaledKernel) for part in parts)


class Members(tuple[Member, ...]):
    """Members by decreasing weight; prints as a table."""

    def __repr__(self) -> str:
        lines = [f"{'weight':>6}  {'loss':>6}  {'error':>6}  {'reg':>7}  kernel and view"]
        lines += [
            f"{m.weight:6.3f}  {m.loss:6.4f}  {m.error:6.4f}  {m.reg:7.1e}  {_in_line(m)}"
            for m in self
        ]
        return "\n".join(lines)

    __str__ = __repr__


@dataclass(frozen=True, repr=False)
class Explanation:
    """Which training rows speak for each new row's class, and how loudly.

    ``contributions[i, j]`` is what the training row ``indices[i, j]`` adds to
    the averaged log-odds of the class ``labels[i]``: against the other of two
    classes, of more log p minus its mean over the classes, as ``shapley`` has
    them; of several labels that the label is there against that it is not.
    Those of all training rows and ``baseline`` add up to ``log_odds``,
    and prior + fading * (log_odds - prior) are those of ``predict_proba``.
    Where rows speak for and against, contributions are large and cancel:
    ``shares`` are shares of all that is said. Prints as a table.
    """

    labels: Array  # (n_new,)
    indices: Array  # (n_new, n_rows) positions among the rows given to fit
    contributions: Array  # (n_new, n_rows), by decreasing size
    baseline: Array  # (n_new,)
    log_odds: Array  # (n_new,)
    loudness: Array  # (n_new,) sum of |contributions| of all training rows
    # (n_new,) each: from log_odds to those of predict_proba. None of a model from a file of before
    # log-odds were averaged, which has no such formula.
    fading: Array | None = None
    prior: Array | None = None  # log-odds of the class shares, of the class or label explained

    @property
    def rest(self) -> Array:
        """(n_new,) what all training rows add that are not among those given."""
        return self.log_odds - self.baseline - self.contributions.sum(axis=1)

    @property
    def shares(self) -> Array:
        """(n_new, n_rows): contributions / loudness, negative for rows that speak against."""
        return self.contributions / np.maximum(self.loudness, np.finfo(float).tiny)[:, None]

    def _said(self, i: int) -> str:
        """What is said of a new row."""
        said = f"{self.labels[i]!s} by log-odds {self.log_odds[i]:.3g}"
        if self.fading is None or self.prior is None:
            return said
        faded = self.prior[i] + self.fading[i] * (self.log_odds[i] - self.prior[i])
        return f"{said} ({faded:.3g} after fading)"

    def __repr__(self) -> str:
        lines = []
        for i in range(min(len(self.labels), SHOWN)):
            lines.append(
                f"new row {i}: {self._said(i)}; {self.baseline[i]:.3g} without training rows"
            )
            lines += [
                f"{'for' if share > 0 else 'against':>9}  training row {row:<7} {abs(share):6.1%}"
                for row, share in zip(self.indices[i], self.shares[i], strict=True)
            ]
        more = len(self.labels) - SHOWN
        return "\n".join([*lines, f"and {more} more new rows"] if more > 0 else lines)


@dataclass(frozen=True, repr=False)
class ValueExplanation(Explanation):
    """Which training rows move each new row's prediction, and how far.

    ``labels`` are the predictions; contributions of all training rows and ``baseline`` add up
    to ``log_odds``, which here is the prediction before members are kept within what was seen;
    prior + fading * (log_odds - prior) is what is predicted.
    """

    def _said(self, i: int) -> str:
        return f"{self.labels[i]:.6g}"


def contrasts(winners: Array, k: int) -> Array:
    """From log p of all classes to L of one: log p minus its mean; of two against the other."""
    return ((np.eye(k) - 1 / k) * (2 if k == 2 else 1))[winners]


def explain_rows(
    added: Array,  # (n_new, n) what each training row adds
    baseline: Array,  # (n_new,)
    first: Array,  # (n,) positions of the training rows
    labels: Array,  # (n_new,) the class or the prediction explained
    n_rows: int,
    kind: type[Explanation] = Explanation,
) -> Explanation:
    """The loudest training rows of each new row."""
    order = np.argsort(-np.abs(added), axis=1, kind="stable")[:, :n_rows]
    loudest = np.take_along_axis(added, order, axis=1)
    odds, loudness = baseline + added.sum(axis=1), np.abs(added).sum(axis=1)
    return kind(labels, first[order], loudest, baseline, odds, loudness)


@dataclass(frozen=True)
class Headline:
    """How well a fit is expected to do, in the words that all who say it use."""

    words: str  # how the figures came about
    error: float
    interval: tuple[float, float]  # 95 %
    log_loss: float
    n_rows: int  # held out
    counts_as: float | None = None  # so many independent rows, by weights and groups
    threshold: float | None = None  # that parts two classes, where it was asked for

    def __str__(self) -> str:
        low, high = self.interval
        at = "" if self.threshold is None else f" at a threshold of {self.threshold:.3g}"
        by = f"Error by {self.words}{at}:"
        error = f"{100 * self.error:.1f} %{self._none_wrong()}"
        return f"{by} {error} (95 % interval {100 * low:.1f} to {100 * high:.1f})"

    def _none_wrong(self) -> str:
        """Of how few rows an interval is that begins at zero."""
        if self.error > 0.0:
            return ""
        few = self.counts_as is not None and self.counts_as < self.n_rows - 0.5
        counted = f", which count as {self.counts_as:.0f} independent rows" if few else ""
        return f", 0 of {self.n_rows} wrong{counted}"


def format_p_value(p: float, n_permutations: int) -> str:
    """As "= 0.041"; "< .005" where no shuffled labels did as well, as 1/(n + 1) says no more.

    1/20 of 19 shuffles is no less than .05 and stays "= 0.050".
    """
    digits = int(np.ceil(-np.log10(p)))
    above = np.ceil(p * 10**digits - 1e-9) / 10**digits  # of one digit
    is_floor = p <= 1.5 / (n_permutations + 1)
    if not is_floor or np.isclose(p, above, rtol=1e-9):
        return f"= {p:.3f}" if p >= 0.0095 else "= " + f"{p:.{max(4, digits + 1)}f}".rstrip("0")
    return "< " + f"{above:.{digits}f}".removeprefix("0").rstrip("0")


def headline_lines(
    headline: Headline | None,  # None if nothing was assessed
    loo: tuple[float, float] | None,  # error and log loss, None if they are the headline
) -> list[str]:
    """How well a classifier did."""
    if headline is None:
        lines = [f"{NOT_ASSESSED}."]
    else:
        lines = [f"{headline}, log loss {headline.log_loss:.3f}."]
    if loo is not None:
        chose = f"error {100 * loo[0]:.1f} %, log loss {loo[1]:.3f}"
        lines.append(f"By {CHOSE}: {chose}.")
    return lines


def summarise(
    found: str,  # by what, and how many classes or targets
    plan: EnsemblePlan,
    held_out: Sequence[str],  # how well it did, line by line
    members: Members,
) -> str:
    """A few lines on what was done and how well it is expected to do."""
    lines = [f"{found}, {plan}.", *held_out]
    lines.append(f"{len(members)} members:" if members else "No member: every row looks the same.")
    return "\n".join([*lines, repr(members)] if members else lines)
