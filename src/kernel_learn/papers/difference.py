"""Is one method better than another over partitions of the same rows?"""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from scipy import stats

from kernel_learn.arrays import Array
from kernel_learn.model_selection.resampling import corrected_error

LEVEL = 0.05
FEWEST = 5
WORDS = ("better", "equivalent", "undecided", "worse", "too few")
MARGIN = 2.0  # per cent: methods that are closer than this are taken for equally good
# What verdicts mean, for every page: ``$verdicts_mean`` of the templates.
MEANING = """\
By the corrected resampled t-test (Nadeau and Bengio 2003) at 5 %, *better* has fewer errors and
*worse* more. Where it finds no difference, *equivalent* says that two one-sided tests of the same
kind place it within 2 points, *undecided* that they do not. In brackets the p of the difference; of
*equivalent* the larger p of these two tests."""


def corrected_p(
    ours: Sequence[float] | Array,  # (J,) errors of one method, one for each partition
    theirs: Sequence[float] | Array,  # (J,) of another on the same partitions
    ratio: float,  # test rows / training rows
) -> float:
    """Two-sided p of the corrected resampled t-test (Nadeau & Bengio 2003, section 4).

    d_j = ours_j - theirs_j,  t = mean(d) / sqrt((1/J + ratio) var(d)),  J - 1 degrees of freedom.

    Partitions share rows, so their differences are no J independent ones: the
    plain t-test has 1/J alone and finds differences where there are none. nan
    for fewer than five partitions: errors are counts, and a few of them are easily
    equally far apart, which has no variance.
    """
    d: Array = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    if len(d) < FEWEST:
        return np.nan
    if np.all(d == d[0]):
        return 1.0 if d[0] == 0 else 0.0
    t = d.mean() / corrected_error(d, ratio)
    return float(2 * stats.t.sf(abs(t), len(d) - 1))


def equivalence_p(
    ours: Sequence[float] | Array,
    theirs: Sequence[float] | Array,
    ratio: float,
    margin: float = MARGIN,
) -> float:
    """The larger p of two one-sided corrected tests of |mean difference| >= margin.

    t = (margin -+ mean(d)) / sqrt((1/J + ratio) var(d)) (Schuirmann 1987): a small p says that
    the methods are closer than the margin, which a large ``corrected_p`` does not.
    """
    d: Array = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    if len(d) < FEWEST:
        return np.nan
    room = margin - abs(float(d.mean()))
    if np.all(d == d[0]):
        return 0.0 if room > 0 else 1.0
    return float(stats.t.sf(room / corrected_error(d, ratio), len(d) - 1))


def verdict(
    ours: Sequence[float] | Array,
    theirs: Sequence[float] | Array,
    ratio: float,
    margin: float = MARGIN,
) -> str:
    """ "better" or "worse" (more errors) if they differ, else "equivalent" or "undecided".

    With the p that says so: of the difference, or of the equivalence; "undecided (.41)" has
    that of the difference.
    """
    p = corrected_p(ours, theirs, ratio)
    if np.isnan(p):
        return "too few"
    if p < LEVEL:
        word = "better" if np.mean(ours) < np.mean(theirs) else "worse"
        return f"{word} ({format_p(p)})"
    close = equivalence_p(ours, theirs, ratio, margin)
    if close < LEVEL:
        return f"equivalent ({format_p(close)})"
    return f"undecided ({format_p(p)})"


def verdict_words(verdicts: Iterable[str]) -> Counter[str]:
    """How many verdicts have each of ``WORDS``."""
    return Counter(told.split(" (")[0] for told in verdicts)


def tell_counts(counts: Counter[str]) -> str:
    """ "2 better, 5 undecided"."""
    return ", ".join(f"{counts[word]} {word}" for word in WORDS if counts[word]) or "-"


def judge_share(found: int, total: int) -> str:
    """ "stands" where something is so in more than half of all cases, "in part" in some."""
    return "stands" if 2 * found > total else "in part" if found else "not shown"


def format_p(p: float) -> str:
    """Three digits, or that it is smaller."""
    return "-" if np.isnan(p) else "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0")
