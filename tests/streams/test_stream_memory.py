"""What a fit on a stream holds does not grow with the stream, and is what its plan says."""

import tracemalloc

import numpy as np
import pytest

import kernel_learn as kl
from kernel_learn.kernels import Gaussian


def blocks(n, size=4000):
    for i in range(0, n, size):
        X = np.random.default_rng(i).normal(size=(size, 10))
        yield X, (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)


def peak_of(work):
    tracemalloc.start()
    result = work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, result


@pytest.mark.parametrize(
    ("kind", "once"),
    [(kl.HSICSubspace, True), (kl.HSICSubspace, False), (kl.KernelDiscriminant, False)],
)
def test_memory_does_not_grow_with_the_rows(kind, once):
    def fit(n):
        model = kind(Gaussian(0.1), landmarks=50, random_state=0)
        return model.fit(blocks(n) if once else lambda: blocks(n))

    (few, _), (many, model) = peak_of(lambda: fit(60_000)), peak_of(lambda: fit(120_000))
    assert model.plan_.n_rows == 120_000
    assert many < 1.1 * few + 1e6
    assert many < 1.2 * model.plan_.bytes_needed + 8e6


def test_results_hold_a_block_at_a_time(tmp_path):
    model = kl.KernelDiscriminant(Gaussian(0.1), landmarks=50, reg=0.01, random_state=0)
    model.fit(next(blocks(4000))[0], next(blocks(4000))[1])
    model.score(lambda: blocks(8000))
    for work in (
        lambda n: model.score(lambda: blocks(n)),
        lambda n: model.transform(lambda: blocks(n), out=tmp_path / "out.npy"),
        lambda n: sum(len(block) for block in model.predict_proba(lambda: blocks(n))),
    ):
        (few, _), (many, _) = peak_of(lambda w=work: w(8000)), peak_of(lambda w=work: w(40_000))
        assert many < 1.1 * few + 3e5
