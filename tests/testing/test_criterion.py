"""check_criterion passes the criteria of the package and names what a broken one breaks."""

import numpy as np
import pytest

from kernel_learn.criteria.evaluation import Evaluation
from kernel_learn.criteria.kernel_weights import LabelResolvent, ProjectedDependence
from kernel_learn.criteria.margin_weights import MarginWeights
from kernel_learn.kernels import Gaussian, Linear
from kernel_learn.representations import GramForm
from kernel_learn.solvers.margin import one_vs_rest_signs
from kernel_learn.testing import check_criterion


class Good:
    """J(d) = 1 + |R(d - e)|^2 / 2; each class below breaks one promise."""

    size = 4

    def __init__(self):
        rng = np.random.default_rng(0)
        self.e = rng.dirichlet(np.ones(4))
        R = rng.normal(size=(4, 4)) + 2 * np.eye(4)
        self.H = R.T @ R

    def start(self):
        return np.full(4, 0.25)

    def evaluate(self, d):
        s = d - self.e
        value = 1 + s @ self.H @ s / 2
        return Evaluation(value, self.H @ s, value, lambda: self.H)


class OffTheSimplex(Good):
    def start(self):
        return np.full(4, 0.5)


class ShortStart(Good):
    def start(self):
        return np.full(3, 1 / 3)


class Writes(Good):
    def evaluate(self, d):
        found = super().evaluate(d)
        d /= 2
        return found


class NotFinite(Good):
    def evaluate(self, d):
        return Evaluation(np.nan, d, np.nan)


class ShortGradient(Good):
    def evaluate(self, d):
        found = super().evaluate(d)
        return Evaluation(found.value, found.gradient[:2], found.value)


class HighMinorant(Good):
    def evaluate(self, d):
        found = super().evaluate(d)
        return Evaluation(found.value, found.gradient, found.value + 0.1)


class Restless(Good):
    calls = 0

    def evaluate(self, d):
        found = super().evaluate(d)
        self.calls += 1
        return Evaluation(found.value + self.calls, found.gradient, found.value)


class NotConvex(Good):
    def evaluate(self, d):
        found = super().evaluate(d)
        return Evaluation(4 - found.value, -found.gradient, 4 - found.value)


class LowVertices(Good):
    """Convex wherever it is asked inside, and too low at the vertices."""

    def evaluate(self, d):
        found = super().evaluate(d)
        drop = 5.0 if d.max() == 1.0 else 0.0
        return Evaluation(found.value - drop, found.gradient, found.value - drop)


class WrongSign(Good):
    """A wrong sign."""

    def evaluate(self, d):
        found = super().evaluate(d)
        return Evaluation(found.value, -found.gradient, found.minorant)


class HalfGradient(Good):
    """A tangent that lies below J all the same: only the slope tells."""

    def evaluate(self, d):
        found = super().evaluate(d)
        return Evaluation(found.value, 0 * found.gradient, 0.0)


class HalfHessian(Good):
    def evaluate(self, d):
        found = super().evaluate(d)
        return Evaluation(found.value, found.gradient, found.value, lambda: self.H / 2)


class SkewHessian(Good):
    def evaluate(self, d):
        found = super().evaluate(d)
        skew = self.H + np.triu(np.ones((4, 4)), 1)
        return Evaluation(found.value, found.gradient, found.value, lambda: skew)


class NoHessian(Good):
    has_hessian = True

    def evaluate(self, d):
        found = super().evaluate(d)
        return Evaluation(found.value, found.gradient, found.value)


def test_a_good_criterion_passes():
    check_criterion(Good())


@pytest.mark.parametrize(
    "broken, sentence",
    [
        (OffTheSimplex, "start.* must lie on the simplex"),
        (ShortStart, "must have size = 4 entries"),
        (Writes, "must leave d as it was"),
        (NotFinite, "value must be finite"),
        (ShortGradient, r"gradient must be of shape \(4,\), and it is \(2,\)"),
        (HighMinorant, "minorant must not be above the value"),
        (Restless, "same d must give the same value"),
        (NotConvex, "J must be convex"),
        (LowVertices, "must stay below J"),
        (WrongSign, "must stay below J"),
        (HalfGradient, "gradient must be the derivative .* falls like t.1.0"),
        (HalfHessian, "Hessian must be the derivative of the gradient"),
        (SkewHessian, "Hessian must be symmetric"),
        (NoHessian, "must give a Hessian, and it is None"),
    ],
)
def test_broken_promises_are_named(broken, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_criterion(broken())


def test_kinks_are_allowed_if_said():
    class Kinked(Good):
        def evaluate(self, d):
            i = int(np.argmax(np.abs(d - self.e)))
            g = np.zeros(4)
            g[i] = np.sign(d[i] - self.e[i])
            value = 1 + abs(d[i] - self.e[i])
            return Evaluation(value, g, value)

    check_criterion(Kinked(), smooth=False)
    with pytest.raises(AssertionError, match="must be the derivative"):
        check_criterion(Kinked())


RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))
Y = np.repeat([0, 1, 2], 8)
BANK = GramForm([Gaussian(0.1), Gaussian(1.0), Linear()], X, np.eye(3)[Y] / np.sqrt(8))
SIGNS = one_vs_rest_signs(Y, 3)


@pytest.mark.parametrize(
    "criterion",
    [
        LabelResolvent(BANK, reg=0.05),
        LabelResolvent(BANK, reg="learn"),
        ProjectedDependence(BANK, 0.1, 2),
    ],
    ids=["fixed", "learn", "concave"],
)
def test_criteria_of_the_package_pass(criterion):
    check_criterion(criterion)


def test_a_criterion_with_an_inner_solver_passes_within_its_tolerance():
    bank = GramForm([Gaussian(0.1), Gaussian(1.0), Linear()], X, np.eye(3)[Y], center=False)
    check_criterion(MarginWeights(bank, SIGNS, C=1.0), smooth=False, rtol=1e-4)


def test_concave_is_not_convex():
    class Mistaken(ProjectedDependence):
        concave = False

    with pytest.raises(AssertionError, match="J must be convex"):
        check_criterion(Mistaken(BANK, 0.1, 2))
