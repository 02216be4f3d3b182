"""Interior points and working sets against LIBSVM."""

import numpy as np
import pytest

from kernel_learn.solvers import interior
from kernel_learn.solvers.interior import solve_linear_machine
from kernel_learn.solvers.margin import LinearMargin, solve_margin


def two_clouds(rng, n=300, r=6, overlap=1.0):
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    F = rng.normal(size=(n, r)) * np.linspace(0.2, 2, r) + overlap * y[:, None] * 0.5
    return F - F.mean(axis=0), y


@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0])
def test_same_optimum_as_libsvm(rng, C):
    F, y = two_clouds(rng)
    boxes = C * rng.uniform(0.5, 2, len(y))
    result = solve_linear_machine(LinearMargin(F, y, boxes))
    reference = solve_margin(F @ F.T, y, boxes, tol=1e-8)
    assert result.status == "optimal"
    assert result.relative_gap < 1e-6
    assert result.value == pytest.approx(float(reference.primal.sum()), rel=3e-6)
    assert abs(y @ result.point) < 1e-9 * boxes.sum()
    assert np.all((result.point >= 0) & (result.point <= boxes))


def test_working_sets_reach_the_whole_problem(rng, monkeypatch):
    F, y = two_clouds(rng, n=3000, r=4, overlap=0.4)
    boxes = np.ones(len(y))
    whole = solve_linear_machine(LinearMargin(F, y, boxes), tol=1e-8)
    monkeypatch.setattr(interior, "LEAST_ROWS", 100)
    sizes, solve = [], interior._interior

    def counted(problem, rows, *rest, **options):
        sizes.append(len(rows))
        return solve(problem, rows, *rest, **options)

    monkeypatch.setattr(interior, "_interior", counted)
    parts = solve_linear_machine(LinearMargin(F, y, boxes), tol=1e-8)
    assert parts.n_iter > 1
    assert sizes[1] < len(y) / 4
    assert parts.relative_gap < 1e-8
    assert parts.value == pytest.approx(whole.value, rel=1e-7)
    warm = solve_linear_machine(LinearMargin(F, y, boxes), parts.point, tol=1e-8)
    assert warm.value == pytest.approx(whole.value, rel=1e-7)
    cut = solve_linear_machine(LinearMargin(F, y, boxes), tol=1e-12, max_iter=1)
    assert cut.status == "stopped"  # and it says by how much
    assert cut.gap > 0
