"""Weights as counts: who is told that they were normalised, and at which scale they stay."""

import warnings

import numpy as np
import pytest

from kernel_learn.fitting.weights import at_safe_scale, training_weights, warn_of_normalised


def test_rows_that_count_for_less_than_half_their_number_are_named():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for total in (5.0, 9.9, 10.0, 11.0):
            warn_of_normalised(10, total)
        assert training_weights([0.0, 0.5, 1.5, 1.0], 4).tolist() == [0.0, 0.5, 1.5, 1.0]
    with pytest.warns(UserWarning, match=r"weights of 10 rows sum to 4\.99"):
        warn_of_normalised(10, 4.99)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1.0, 1e-6, 0.0], [1.0, 1e-6, 0.0]),  # as they are
        ([1.0, 1e-20, 0.0], [1.0, 1e-12, 0.0]),  # beside the heaviest
        ([0.1, 0.3], [0.25, 0.75]),  # one row together at the least
        ([1e9, 3e9], [5e7, 1.5e8]),  # 1e8 on average at the most
        ([1e308, 1e308], [1e8, 1e8]),
    ],
)
def test_a_scale_at_which_one_can_compute(given, expected):
    np.testing.assert_allclose(at_safe_scale(np.array(given)), expected, rtol=1e-12)
