"""Named methods are the estimators they stand for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from kernel_learn import InductiveKernel, presets
from kernel_learn.kernels import Gaussian

X, y = load_wine(return_X_y=True)
X = scale(X)


ALIASES = {
    "frob_lr": "frobenius_low_rank",
    "itml_lr_post": "itml_low_rank_after",
    "itml_lr_pre": "itml_low_rank_first",
    "trace_ssikdr": "low_rank_trace",
}
OWN = sorted(set(presets.__all__) - {"pola_pairs", *ALIASES})


@pytest.mark.parametrize("paper", ALIASES)
def test_names_of_the_papers_stay(paper):
    assert getattr(presets, paper) is getattr(presets, ALIASES[paper])


@pytest.mark.parametrize("name", OWN)
def test_each_preset_fits(name):
    model = getattr(presets, name)(random_state=0).fit(X, y)
    assert isinstance(model, InductiveKernel)
    assert model.gap_ <= 1e-6 * model.objective_
    assert (model.rank_ == 2) == ("low_rank" in name) or name == "low_rank_trace"


def test_parameters_go_through():
    model = presets.itml(Gaussian(0.3), slack=3.0, n_constraints=17, random_state=0).fit(X, y)
    assert model.base_kernel_.gamma == 0.3
    assert model.n_constraints_ == 17
    assert presets.frob_lr(5).n_components == 5
    assert presets.trace_ssikdr(tau=0.4).tau == 0.4


def test_low_rank_before_and_after_differ_and_are_what_they_say():
    after = presets.itml_lr_post(3, Gaussian(0.05), random_state=0).fit(X, y)
    whole = presets.itml(Gaussian(0.05), random_state=0).fit(X, y)
    w, U = np.linalg.eigh(whole.kernel_(X))
    assert_allclose(after.kernel_(X), (U[:, -3:] * w[-3:]) @ U[:, -3:].T, atol=1e-5)
    before = presets.itml_lr_pre(3, Gaussian(0.05), random_state=0).fit(X, y)
    assert np.linalg.matrix_rank(before.kernel_(X), tol=1e-6) == 3
    assert before.metric_.shape == (3, 3)
    frob = presets.frob_lr(3, Gaussian(0.05), random_state=0).fit(X, y)
    w, U = np.linalg.eigh(presets.pola(Gaussian(0.05), random_state=0).fit(X, y).metric_)
    assert_allclose(frob.kernel_.coef.shape, (len(X), 3))
    assert np.sum(frob.metric_ * ((U[:, -3:] * w[-3:]) @ U[:, -3:].T)) == pytest.approx(
        np.sum(w[-3:] ** 2), rel=1e-6
    )


def test_polas_own_bounds():
    pairs = presets.pola_pairs([[0, 1], [2, 3]], [[0, 100], [5, 120]], threshold=3.0)
    model = presets.pola(slack=1e3).fit(X, constraints=pairs)
    d = model.distance(X)
    assert d[0, 1] <= 2.01
    assert d[0, 100] >= 3.99
