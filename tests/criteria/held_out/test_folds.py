"""Folds and some of the rows: by hand."""

import numpy as np

from kernel_learn.criteria.held_out.folds import each_fold, stratified_folds, stratified_rows
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


def test_so_many_rows_of_groups_are_taken():
    """Their rows are anywhere: the first row of a group is nearly always among the first."""
    rng = np.random.default_rng(0)
    for size in (2, 6, 20, 100):
        groups = tuple(np.sort(rng.permutation(1200).reshape(-1, size), axis=1))
        labels = rng.integers(0, 2, 1200)
        targets = Targets(np.eye(2)[labels], groups)
        chosen = np.isin(np.arange(1200), stratified_rows(targets, 400))
        assert all(chosen[group].all() or not chosen[group].any() for group in groups)
        assert abs(chosen.sum() - 400) <= max(20, size / 2)
        assert abs(np.mean(labels[chosen]) - np.mean(labels)) < 0.05


def test_rows_of_groups_are_few_where_groups_are_many():
    """Two groups of which each would be too many, and rows alone."""
    groups = (np.arange(0, 20, 2), np.arange(1, 20, 2))
    alike = Targets(np.tile([1.0, 0.0], (24, 1)), groups)
    assert stratified_rows(alike, 4).tolist() == [20, 21, 22, 23]
    assert stratified_rows(alike, 6).tolist() == groups[0].tolist()


def test_of_groups_that_are_too_large_parts_are_taken():
    targets = Targets(np.tile([1.0, 0.0], (30, 1)), (np.arange(29),))
    assert stratified_rows(targets, 6).tolist() == list(range(6))
    targets = Targets(np.repeat(np.eye(2), 10, axis=0), (np.arange(10), np.arange(10, 20)))
    assert stratified_rows(targets, 4).tolist() == [0, 1, 10, 11]


def test_every_class_of_groups_has_some_rows():
    targets = Targets(np.repeat(np.eye(2), [90, 10], axis=0), (np.arange(90, 100),))
    assert stratified_rows(targets, 20).tolist() == [*range(18), *range(90, 100)]
