"""What a user passes as a problem: what is tried, and how much each class counts."""

import numpy as np
import pytest

from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.given.targets import class_factors
from kernel_learn.ensemble.ingest import candidates_for
from kernel_learn.rows.columns import learn_table

LABELS, WEIGHT = np.array([0, 0, 0, 1]), np.array([1.0, 2.0, 1.0, 4.0])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("balanced", [1.0, 1.0]),  # 4 and 4
        ({"a": 1.0, "b": 3.0}, [0.5, 1.5]),  # brought to a mean of one
    ],
)
def test_factors_of_classes_leave_the_sum_of_weights(given, expected):
    counts = np.bincount(LABELS, WEIGHT)
    found = class_factors(given, np.array(["a", "b"]), counts)
    np.testing.assert_allclose(found, np.array(expected))
    assert counts @ found == pytest.approx(8.0)


def test_balanced_classes_count_alike():
    found = class_factors("balanced", np.array(["a", "b"]), np.bincount(LABELS))
    np.testing.assert_allclose(found, [2 / 3, 2.0])


def test_without_class_weights_there_are_no_factors():
    assert class_factors(None, np.array(["a", "b"]), np.ones(2)) is None


def test_groups_of_columns_are_summed_where_there_are_several():
    X = np.eye(4)
    reader = learn_table(X, "auto")

    def tried(groups):
        found = candidates_for("fast", Targets(np.eye(2)[LABELS]), reader.read(X), reader, groups)
        return {one.loss for one in found}, {one.view for one in found}

    one = {"a": np.array([0, 1])}
    assert tried({}) == ({"ridge"}, {"z", "q", "u"})
    assert tried(one) == ({"ridge"}, {"z", "q", "u", "a/z", "a/q", "a/u"})
    assert tried({**one, "b": np.array([2, 3])})[0] == {"ridge", "combined"}
