"""The certificate that the dual solvers keep."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernel_learn.solvers.dual import DualProgress


def point(primal, value):
    return SimpleNamespace(primal=primal, value=value, gradient=np.zeros(2))


def test_the_point_with_the_least_gap_is_kept_though_values_go_up_and_down():
    progress = DualProgress(1e-3)
    for i, step in enumerate([(9.0, 1.0), (5.0, 3.0), (8.0, 3.5), (6.0, 3.75)]):
        assert not progress.add(np.full(2, i), point(*step))
    found = progress.result(optimal=False)
    np.testing.assert_array_equal(found.point, [1, 1])
    assert found.value == 5.0 and found.gap == 5.0 - 3.0  # both of that point
    assert [step["value"] for step in found.history] == [9.0, 5.0, 8.0, 6.0]
    assert progress.add(np.full(2, 4.0), point(4.5, 4.4999))
    assert progress.result(optimal=True).value == 4.5


@pytest.mark.parametrize(("rate", "stalls"), [(0.9, False), (0.999, True), (1.0, True)])
def test_stalls_by_the_rate_of_the_best_gap_not_by_that_of_the_last_one(rate, stalls):
    progress = DualProgress(1e-6)
    for i in range(60):
        wave = 1 + np.sin(i / 4) ** 2  # what no single step shows: on the whole it falls
        progress.add(np.zeros(1), point(1 + wave * rate**i, 1.0))
        if i < 40:
            assert not progress.stalls(1000)  # too early to tell
    assert progress.stalls(1000) is stalls
    assert progress.stalls(10)  # not in ten steps
