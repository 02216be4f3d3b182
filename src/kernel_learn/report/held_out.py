"""What fits without them say of training rows, and whether that is the error of a model.

An ensemble that was not assessed has held-out answers all the same: those by which its members
were chosen. They show which rows are doubtful, but their error is too small to be told.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array
from kernel_learn.ensemble.summary import CHOSE
from kernel_learn.report.placing import Facts
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.streaming import held_out_answers


@dataclass(frozen=True)
class HeldOutAnswers:
    """Answers to rows by fits that have not seen them."""

    said: Array  # (n, k) probabilities, or (n,) numbers
    words: str  # how they came about
    assessed: bool = True  # False: they chose what was fitted
    weight: Array | None = None  # (n,) how often each row counts; None: all alike


def own_answers(
    model: TableModel,
    groups: Array | None,
    said: Array | None = None,  # by somebody who knows; None: the estimator's own
    words: str | None = None,  # how they came about, if not as the estimator has it
) -> HeldOutAnswers | None:
    """Answers that are there without a further fit; None if there are none."""
    fitted = model.estimator_
    own = held_out_answers(fitted)
    said = own if said is None else said
    if said is None or words is not None:
        return None if said is None else HeldOutAnswers(said, words or "")
    how = getattr(fitted, "_assessment", None)
    came_about = "leave-one-out" if how is None else str(how.words)
    if own is not None and how is None:
        came_about = CHOSE
    if groups is not None:
        came_about = came_about.replace("leave-one", "leave-one-group")
    is_own = own is not None and np.shape(own) == np.shape(said)
    weight = weight_of(fitted, len(said)) if is_own else None
    return HeldOutAnswers(said, came_about, own is None or how is not None, weight)


def weight_of(fitted: BaseEstimator, n: int) -> Array | None:
    """How often each of the rows of an ensemble counts in its error; None if all count alike."""
    given = getattr(fitted, "_given", None)
    if given is None:
        return None
    weight = np.asarray(given.weight)
    if len(weight) != n:  # of a source some rows are held out
        weight = weight[getattr(fitted, "loo_rows_", slice(0))]
    if len(weight) != n or np.ptp(weight) <= 1e-9 * weight.max(initial=0.0):
        return None
    return weight


def is_assessed(found: Facts) -> bool:
    """Whether figures of held-out rows are the error to expect; files of before do not say."""
    return bool(found.get("assessed", True))


def say_caution(found: Facts) -> str:
    """A sentence beside figures and pictures of rows that chose what was fitted."""
    return "" if is_assessed(found) else f"By {found['kind']}: new rows are told less well."
