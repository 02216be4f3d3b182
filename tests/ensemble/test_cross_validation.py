"""How candidates are judged: by rows left out, which must not give their labels away."""

import numpy as np
import pytest

from kernel_learn.criteria.held_out.folds import stratified_folds
from kernel_learn.criteria.held_out.ridge import RidgePath, with_all_shares
from kernel_learn.criteria.held_out.stacking import fit_stacking
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import Candidate
from kernel_learn.ensemble.cross_validation import FOLDS, Sample, cross_validate_ridge
from kernel_learn.kernels import Gaussian


def test_scores_of_rows_left_out_shrink_to_the_shares_of_all_rows(rng):
    """And labels by chance are not predicted: the shares without a row would tell its label."""
    X, labels = rng.normal(size=(50, 3)), rng.permutation(np.arange(50) % 2)
    targets = Targets(np.eye(2)[labels])
    sample = Sample({"z": X}, targets, {}, {}, stratified_folds(targets, FOLDS))
    kernel, reg = Gaussian(0.1), np.array([1.0])
    candidate = Candidate("z", "gaussian").on_rows(kernel)
    (found,) = cross_validate_ridge(sample, candidate, kernel(X), reg)
    scores, _ = RidgePath(kernel(X), targets).held_out(reg)
    moved = with_all_shares(scores, targets)[0]
    assert found.loss == pytest.approx(fit_stacking(moved, targets, sample.folds).loss)
    assert found.loss != pytest.approx(fit_stacking(scores[0], targets, sample.folds).loss)
    assert np.mean(found.proba.argmax(axis=1) != labels) > 0.3
