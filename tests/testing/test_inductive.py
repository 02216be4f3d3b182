"""check_penalty and check_regularizer pass ours and name what a broken one breaks."""

import numpy as np
import pytest
from scipy.optimize import brentq

from kernel_learn.criteria.general_forms.penalties import PENALTIES, Hinge, Penalty, Squared
from kernel_learn.criteria.regularizers import Frobenius, LogDet, Pola, Trace, TraceNorm
from kernel_learn.testing import check_penalty, check_regularizer


@pytest.mark.parametrize("name", PENALTIES)
def test_penalties_of_the_package(name):
    check_penalty(PENALTIES[name]())


@pytest.mark.parametrize("regularizer", [LogDet(), Frobenius(), Pola(), Trace(0.3), TraceNorm(0.4)])
def test_regularisers_of_the_package(regularizer):
    check_regularizer(regularizer)


class Largest(Penalty):
    """max(0, t_1, ..., t_m): the worst violation alone is paid for."""

    def value(self, t):
        return max(0.0, float(np.max(t)))

    def proximal(self, t, step):
        def spent(level):  # the slopes (t - u) / step add up to one, unless the level is zero
            return np.sum(np.maximum(t - level, 0) / step) - 1

        level = 0.0 if spent(0.0) <= 0 else brentq(spent, 0.0, t.max(), xtol=1e-14, rtol=1e-15)
        return np.minimum(t, level)


class LargestByOneStep(Largest):
    def proximal(self, t, step):
        return super().proximal(t, np.full(len(t), step[0]))


class Least(Largest):
    def value(self, t):
        return float(np.min(t))


def test_a_penalty_of_all_excesses_at_once():
    check_penalty(Largest())


class Concave(Hinge):
    def value(self, t):
        return np.sqrt(np.abs(t))


class WrongStep(Hinge):
    def proximal(self, t, step):
        return t - np.clip(t, 0, 2 * step)


class Summed(Squared):
    def value(self, t):
        return np.full(len(t), np.sum(t**2))


class Greedy(Squared):
    def value(self, t):
        t **= 2
        return t / 2


class Infinite(Squared):
    def value(self, t):
        return np.where(t > 2, np.inf, 0.0)


@pytest.mark.parametrize(
    ("penalty", "words"),
    [
        (Concave(), "must be convex"),
        (WrongStep(), "must give the least"),
        (Summed(), "must not depend on others"),
        (Greedy(), "must not change"),
        (Infinite(), "finite number"),
        (LargestByOneStep(), "must give the least"),
        (Least(), "must be convex"),
    ],
)
def test_broken_penalties(penalty, words):
    with pytest.raises(AssertionError, match=words):
        check_penalty(penalty)


class WrongAlpha(Frobenius):
    alpha = 0.0


class WrongMinimum(Frobenius):
    def minimizer(self, x):
        return np.maximum(1 + x / 2, 0)


class Mean(Frobenius):
    def value(self, w):
        return float(np.mean((w - 1) ** 2)) / 2


class Negative(Frobenius):
    def minimizer(self, x):
        return 1 + x


@pytest.mark.parametrize(
    ("regularizer", "words"),
    [
        (WrongAlpha(), "alpha must be"),
        (WrongMinimum(), "must give the least"),
        (Mean(), "sum over the eigenvalues"),
        (Negative(), "must be >= 0"),
    ],
)
def test_broken_regularisers(regularizer, words):
    with pytest.raises(AssertionError, match=words):
        check_regularizer(regularizer)
