"""Fewer features than machines: brute force over all subspaces, and the descent's own promises."""

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from kernel_learn import SubspaceSVC
from kernel_learn.criteria.joint_problem import JointProblem
from kernel_learn.solvers import saddle
from kernel_learn.solvers.joint import other_starts, solve_exact, solve_linear
from kernel_learn.solvers.saddle import descend_factors

RNG = np.random.default_rng(0)
K = 4
LABELS = np.arange(24) % K
CENTRES = 1.5 * RNG.normal(size=(K, 3))
ROWS = CENTRES[LABELS] + RNG.normal(size=(24, 3))
ROWS -= ROWS.mean(axis=0)
SIGNS = np.where(LABELS[:, None] == np.arange(K), 1.0, -1.0)


def machine_value(F, C, signs=SIGNS):
    """The sum of the machines' primal values by LIBSVM and the definition."""
    total = 0.0
    for y in signs.T:
        machine = SVC(C=C, kernel="linear", tol=1e-3).fit(F, y)
        w, b = machine.coef_[0], machine.intercept_[0]
        total += 0.5 * w @ w + C * np.sum(np.maximum(1 - y * (F @ w + b), 0))
    return total


def subspaces(r, l):  # noqa: E741
    """A grid over all lines of the plane, all lines and all planes of the space."""
    if r == 2:
        return [np.array([[np.cos(t)], [np.sin(t)]]) for t in np.linspace(0, np.pi, 60)]
    heights = np.linspace(0, 1, 6)
    normals = [
        np.array([[np.sqrt(1 - z * z) * np.cos(t)], [np.sqrt(1 - z * z) * np.sin(t)], [z]])
        for z in heights
        for t in np.linspace(0, 2 * np.pi, 14, endpoint=False)
    ]
    if l == 1:
        return normals
    return [np.linalg.svd(normal)[0][:, 1:] for normal in normals]


@pytest.mark.parametrize(("r", "l", "C"), [(2, 1, 0.1), (2, 1, 0.5), (3, 1, 0.1), (3, 2, 0.1)])
def test_no_subspace_of_a_grid_is_better(r, l, C):  # noqa: E741
    F = ROWS[:, :r]
    problem = JointProblem(F, SIGNS, np.full(len(F), C), l)
    found = solve_exact(problem, tol=1e-6)
    least = min(machine_value(F @ E, C) for E in subspaces(r, l))
    assert found.upper <= least * (1 + 1e-3)
    assert found.lower <= least * (1 + 1e-3)
    assert found.upper == pytest.approx(machine_value(F @ found.directions, C), rel=1e-3)
    assert np.allclose(found.directions.T @ found.directions, np.eye(l), atol=1e-10)
    assert found.gap.structural == pytest.approx(max(found.upper - found.relaxed, 0.0))


def test_the_descent_follows_its_gradient(monkeypatch):
    """Of the rounded hinge in U, c and b, by finite differences."""
    caught = {}

    def catch(evaluate, x, args, **options):
        caught.setdefault("evaluate", (evaluate, x, args))
        return minimize(evaluate, x, args=args, **options)

    minimize = saddle.optimize.minimize
    monkeypatch.setattr(saddle.optimize, "minimize", catch)
    boxes = RNG.uniform(0.5, 2.0, len(ROWS))
    E, coef = np.eye(3)[:, :2], RNG.normal(size=(K, 2))
    result = descend_factors(ROWS, SIGNS, boxes, E, coef, np.zeros(K))
    evaluate, x, (width,) = caught["evaluate"]
    error = check_grad(lambda x: evaluate(x, width)[0], lambda x: evaluate(x, width)[1], x)
    assert error < 1e-5 * np.linalg.norm(evaluate(x, width)[1])
    values = [step["value"] for step in result.history]
    assert len(values) == len(saddle.WIDTHS) and result.value == values[-1]


def test_the_value_of_the_descent_bounds_the_machines_from_below():
    boxes = np.full(len(ROWS), 1.0)
    E = np.linalg.qr(RNG.normal(size=(3, 1)))[0]
    start = solve_linear(ROWS @ E, SIGNS, boxes, 1e-6)
    coef = (E.T @ (ROWS.T @ (SIGNS * start.alpha))).T
    result = descend_factors(ROWS, SIGNS, boxes, E, coef, start.intercept)
    ended = solve_linear(ROWS @ result.point, SIGNS, boxes, 1e-8).primal.sum()
    assert ended <= start.primal.sum() + 1e-9
    assert result.value <= ended * (1 + 1e-3)
    assert ended <= result.value + 0.01 / 2 * boxes.sum() * K + 1e-2 * ended


def test_starts_depend_neither_on_the_order_of_rows_nor_on_coordinates():
    problem = JointProblem(ROWS, SIGNS, np.ones(24), 2)
    order, Q = RNG.permutation(24), np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    other = JointProblem(ROWS[order] @ Q, SIGNS[order], np.ones(24), 2)
    V = RNG.normal(size=(3, K))
    for E, E_other in zip(range(4), range(4), strict=True):
        E, E_other = next(other_starts(problem, V)), next(other_starts(other, Q.T @ V))
        assert np.allclose(E @ E.T, Q @ E_other @ E_other.T @ Q.T)


def descend_anywhere(F, signs, l, starts):  # noqa: E741
    """The least sum of machines that L-BFGS finds from random weights of rank l, C = 1."""
    (r, m), rng, values = (F.shape[1], signs.shape[1]), np.random.default_rng(1), []
    ends = np.cumsum([r * l, m * l])

    def evaluate(x, width):
        U, c = x[: ends[0]].reshape(r, l), x[ends[0] : ends[1]].reshape(m, l)
        V = U @ c.T
        T = 1 - signs * (F @ V + x[ends[1] :])
        slope = np.clip(T / width, 0, 1)
        D = -signs * slope
        G = V + F.T @ D
        value = 0.5 * np.sum(V * V) + np.sum(slope * (T - slope * width / 2))
        return value, np.concatenate([(G @ c).ravel(), (G.T @ U).ravel(), D.sum(axis=0)])

    for _ in range(starts):
        x = np.concatenate([rng.normal(size=ends[1]), np.zeros(m)])
        for width in (0.3, 0.1, 0.03, 0.01):
            x = minimize(evaluate, x, args=(width,), jac=True, method="L-BFGS-B").x
        Z = F @ np.linalg.qr(x[: ends[0]].reshape(r, l))[0]
        values.append(machine_value(Z, 1.0, signs))
    return min(values)


def test_no_worse_subspace_of_digits_than_descents_from_anywhere_find():
    """200 digits in two features, of which one descent from one start missed better ones."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    model = SubspaceSVC(n_components=2, uncorrelated=False, tol=1e-2).fit(X, y)
    assert model.lower_bound_ <= model.relaxed_bound_ <= model.upper_bound_
    G = model.base_kernel_(X)
    G = G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean()
    w, V = np.linalg.eigh(G)
    w = np.maximum(w, 0.0)
    F, signs = V * (w / np.sqrt(w + model.reg_)), np.where(y[:, None] == np.arange(10), 1.0, -1.0)
    assert model.upper_bound_ <= 1.005 * descend_anywhere(F, signs, 2, starts=4)
    one = SubspaceSVC(n_components=2, uncorrelated=False, tol=1e-2)
    rows = one._prepare(one._rows(X, y))
    problem, _ = rows.problem(rows.lam(0.01), 1.0)
    assert model.upper_bound_ <= solve_exact(problem, tol=1e-2, bound=False).upper + 1e-6
