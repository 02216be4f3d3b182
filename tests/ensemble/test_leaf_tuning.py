"""Kernels compared in leaves: one lam for all of them, and none at which scores are rounding."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble import leaf_tuning
from kernel_learn.ensemble.candidates import Candidate
from kernel_learn.ensemble.cross_validation import Sample
from kernel_learn.ensemble.leaf_tuning import tune_on_leaves
from kernel_learn.kernels import Gaussian

APART, CLOSE = np.arange(10), np.arange(10, 20)


@pytest.fixture
def sample():
    """Ten rows so far apart that K = I, and ten at two places with tr(G) / N = 0.009.

    For K = I it is 0.9, and 1 - H_ii = 0.9 lam / (1 + lam); of the others it is above 0.8.
    """
    step = np.sqrt(-np.log(1 - 2 * 0.009))
    X = np.r_[100.0 * np.arange(10), 1e4 + step * (np.arange(10) % 2)][:, None]
    labels = np.arange(20) // 2 % 2
    return Sample({"z": X}, Targets(np.eye(2)[labels]), {}, {}, np.arange(20) % 5)


@pytest.fixture
def alike(monkeypatch):
    """All regularisers are as good as each other: the smallest that may be used is chosen."""
    monkeypatch.setattr(leaf_tuning, "fit_stacking", lambda *_: SimpleNamespace(loss=0.0))


@pytest.mark.parametrize(
    ("leaves", "unit", "reg"),
    [
        ([APART], 0.9, 10**-4.5),  # 0.81 reg is above 1e-5
        ([APART, CLOSE], 0.9, 10**-4.5),  # what one leaf forbids no other allows
        ([CLOSE], 0.009, 1e-6),
        ([CLOSE, APART], 0.009, 10**-2.5),  # lam is that of the first: 0.81 * 0.01 reg
    ],
)
def test_no_row_of_any_leaf_stands_alone(leaves, unit, reg, sample, alike):
    candidate = Candidate("z", "rbf").on_rows(Gaussian(1.0))
    (chosen,) = tune_on_leaves(sample, [candidate], leaves, 1)
    assert chosen.reg == pytest.approx(reg)
    assert chosen.lam == pytest.approx(reg * unit)


def test_two_thirds_of_the_kernels_go_on_to_the_next_leaf(sample, alike, monkeypatch):
    paths, tried = leaf_tuning._paths, []

    def counted(sample, candidates, going, rows):
        tried.append(len(going))
        return paths(sample, candidates, going, rows)

    monkeypatch.setattr(leaf_tuning, "_paths", counted)
    kernels = [Candidate("z", "rbf", g).on_rows(Gaussian(g)) for g in np.linspace(1, 2, 9)]
    tune_on_leaves(sample, kernels, [APART, CLOSE, CLOSE, APART], 3)
    assert tried == [9, 6, 4, 3]  # as many as are kept at the least
