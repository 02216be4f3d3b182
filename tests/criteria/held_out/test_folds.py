"""Folds and some of the rows: by hand."""

import numpy as np

from kernel_learn.criteria.held_out.folds import each_fold, stratified_folds
from kernel_learn.criteria.held_out.targets import Targets


def test_classes_go_on_where_the_one_before_ended():
    """So that folds are of equal size, whatever the sizes of the classes."""
    targets = Targets(np.eye(3)[[0, 1, 2, 0, 1, 2, 2]])
    assert stratified_folds(targets, 4).tolist() == [0, 2, 0, 1, 3, 1, 2]


def test_groups_are_in_one_fold():
    targets = Targets(np.eye(2)[[0, 0, 1, 0, 1, 0]], (np.array([0, 3]), np.array([1, 4])))
    folds = stratified_folds(targets, 2)  # rows 0, 1 and 5 of the first class, then row 2
    assert folds.tolist() == [0, 1, 1, 0, 1, 0]
    pairs = [(inside.tolist(), outside.tolist()) for inside, outside in each_fold(folds)]
    assert pairs == [([1, 2, 4], [0, 3, 5]), ([0, 3, 5], [1, 2, 4])]
