"""InductiveKernel on sources: constrained rows by their number, landmarks from the summary."""

import numpy as np
import pytest

import kernel_learn as kl
from kernel_learn.constraints import ClassProbabilities, Pairs, Triplets
from kernel_learn.kernels import ColumnKernel, Gaussian
from kernel_learn.streams import gather

rng = np.random.default_rng(0)
N = 900
X = rng.normal(size=(N, 3))
Y = (X[:, 0] > 0).astype(int)
TOUCHED = rng.choice(N, 40, replace=False)
LEFT, RIGHT = TOUCHED[:20], TOUCHED[20:]
ALIKE = Y[LEFT] == Y[RIGHT]
PAIRS = np.column_stack([LEFT, RIGHT])
GIVEN = Pairs(similar=PAIRS[ALIKE], dissimilar=PAIRS[~ALIKE]) + Triplets(TOUCHED[:9].reshape(3, 3))


def blocks(labels=True, size=70):
    for i in range(0, N, size):
        part = slice(i, i + size)
        yield (X[part], Y[part]) if labels else X[part]


def make(**options):
    return kl.InductiveKernel(Gaussian(0.3), **{"landmarks": X[:30], "random_state": 0, **options})


@pytest.mark.parametrize("held", [200, 20_000])
def test_constraints_by_number_are_those_of_the_array(held, monkeypatch):
    whole = make().fit(X, constraints=GIVEN)
    monkeypatch.setattr(gather, "CAPACITY", held)
    passes = []

    def counted():
        passes.append(1)
        yield from blocks(labels=False)

    stream = make().fit(counted, constraints=GIVEN)
    assert len(passes) == 1
    np.testing.assert_allclose(stream.transform(X[:20]), whole.transform(X[:20]), atol=1e-6)
    assert stream.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    once = make().fit(blocks(labels=False), constraints=GIVEN)
    np.testing.assert_allclose(once.transform(X[:20]), stream.transform(X[:20]), atol=1e-9)


def test_constraints_are_drawn_from_the_labels_of_the_summary(monkeypatch):
    monkeypatch.setattr(gather, "CAPACITY", 200)
    model = make(n_constraints=200).fit(blocks)
    assert model.classes_.tolist() == [0, 1]
    whole = make(n_constraints=200).fit(X, Y)  # all rows are in the summary
    np.testing.assert_allclose(model.kernel_(X[:9]), whole.kernel_(X[:9]), atol=1e-6)


def test_what_is_wrong_is_said(monkeypatch):
    monkeypatch.setattr(gather, "CAPACITY", 200)
    with pytest.raises(ValueError, match="name row 900, and the source has 900 rows"):
        make().fit(blocks, constraints=Pairs(similar=[[3, 900]]))
    with pytest.raises(ValueError, match="ClassProbabilities are of all labelled rows"):
        given = ClassProbabilities([0, 1], [0, 1], labels=Y)
        make().fit(blocks, constraints=given)
    with pytest.raises(ValueError, match="pass it alone"):
        make().fit(blocks, Y)
    with pytest.raises(ValueError, match="has no labels"):
        make().fit(lambda: blocks(labels=False))
    with pytest.raises(ValueError, match="keeps all rows"):
        kernel = ColumnKernel(Gaussian(0.3), [0, 1])
        kl.InductiveKernel(kernel).fit(blocks, constraints=GIVEN)
    with pytest.raises(ValueError, match="its source has weights"):
        make().fit(lambda: ((A, b, 2.0 * np.ones(len(b))) for A, b in blocks()))
