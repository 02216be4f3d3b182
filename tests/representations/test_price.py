"""The price of a plan: counted as in the text, and about the time that a pass takes."""

import time

import numpy as np
import pytest

import kernel_learn as kl
from kernel_learn.kernels import Gaussian
from kernel_learn.representations.plan import Size, plan
from kernel_learn.representations.price import Price, calibrate


def test_operations_of_a_pass_are_counted():
    size = Size(n_rows=10**6, n_distinct=10**6, n_targets=2, row_bytes=200, itemsize=4)
    price = plan(size, 1000, memory_budget="4GB").price
    assert price.passes == 2
    assert price.bytes_read == 2 * 10**6 * 200
    per_row = 2 * 1000 * 50 + 2 * 1000**2 + 1002**2
    assert price.operations == pytest.approx(1e6 * per_row, rel=0.05)
    assert "2 passes over 1000000 rows (400 MB read), about" in str(price)
    once = plan(Size(100, 100, is_open=True, is_stream=True), 10, memory_budget="4GB").price
    assert once.passes == 1 and "1 pass" in str(once)
    more = plan(size, 2000, memory_budget="4GB").price
    assert 3 < more.seconds / price.seconds < 5


def test_a_calibration_takes_a_part_of_a_second_once():
    calibrate.cache_clear()
    start = time.perf_counter()
    rate = calibrate(4)
    assert time.perf_counter() - start < 2.0  # 0.2 s on an idle machine
    assert calibrate(4) is rate
    assert 0 < rate.operation < rate.value


@pytest.mark.slow
def test_expected_seconds_are_those_of_a_fit():
    """To a factor of four here: the machine of a test may be busy."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 20)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    model = kl.HSICSubspace(Gaussian(0.05), landmarks=500, random_state=0)
    start = time.process_time()
    model.fit(X, y)
    took = time.process_time() - start
    assert isinstance(model.plan_.price, Price)
    assert 1 / 4 < model.plan_.price.seconds / took < 4
