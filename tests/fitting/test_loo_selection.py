"""reg="loo" and gamma="loo": what is chosen, by refits; what they must not depend on."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

import kernel_learn as kl
from kernel_learn.fitting import loo_selection
from kernel_learn.fitting.loo_selection import WIDTHS, choose_width
from kernel_learn.kernels import ColumnKernel, Gaussian, Laplacian, Matern, gaussian_bank
from kernel_learn.representations import ArraySource
from oracles import classifier as oracle

X, Y = load_wine(return_X_y=True)
X, Y = scale(X)[::3], Y[::3]
MAKERS = {
    "discriminant": kl.KernelDiscriminant,
    "hsic": kl.HSICSubspace,
    "uhsic": lambda *a, **o: kl.HSICSubspace(*a, uncorrelated=True, **o),
    "svc": kl.SubspaceSVC,
}


def left_out_errors(kernel, reg, weight=None):
    """Mean squared errors of n refits for every width around the median."""
    counts = np.eye(3)[Y] * (1.0 if weight is None else weight[:, None])
    w = counts.sum(axis=1)
    median = type(kernel)("median").resolve(X, weight).gamma
    errors = []
    for c in WIDTHS:
        K = type(kernel)(c * median)(X)
        m = K @ w / w.sum()
        lam = reg * (w @ np.diagonal(K) - w @ m) / w.sum()
        scores = oracle.ridge_left_out(K, counts, lam, [[i] for i in range(len(Y))])
        errors.append(np.sum(w[:, None] * (counts / w[:, None] - scores) ** 2) / w.sum())
    return errors, median


@pytest.mark.parametrize("kernel", [Gaussian("loo"), Laplacian("loo"), Matern("loo")], ids=repr)
@pytest.mark.parametrize("reg", [1e-3, 1.0])
def test_the_width_is_that_of_refits(kernel, reg):
    weight = np.random.default_rng(0).integers(1, 4, size=len(Y)).astype(float)
    errors, median = left_out_errors(kernel, reg, weight)
    source = ArraySource(X, Y, weight, n_classes=3)
    found = choose_width(kernel, source, [reg])
    assert found.gamma == pytest.approx(WIDTHS[int(np.argmin(errors))] * median)
    many = np.repeat(np.arange(len(Y)), weight.astype(int))
    again = choose_width(kernel, ArraySource(X[many], Y[many], n_classes=3), [reg])
    assert again.gamma == pytest.approx(found.gamma)


@pytest.mark.parametrize("name", MAKERS)
def test_a_width_is_chosen(name):
    """An estimator with gamma="loo" is the one with that width; reg has its part in it."""
    rows = np.random.default_rng(0).normal(size=(60, 1))
    labels = (np.sin(6 * rows[:, 0]) > 0).astype(int)  # narrow kernels
    for reg in (1e-4, "loo"):
        model = MAKERS[name](Gaussian("loo"), reg=reg).fit(rows, labels)
        assert model.kernel.gamma == "loo"
        given = MAKERS[name](model.base_kernel_, reg=reg).fit(rows, labels)
        np.testing.assert_allclose(model.transform(rows), given.transform(rows), atol=1e-8)
        share = model.base_kernel_.gamma / Gaussian("median").resolve(rows).gamma
        assert np.isclose(share, WIDTHS).any() and share > 1


def test_the_rows_that_choose_a_width_are_few(monkeypatch):
    monkeypatch.setattr(loo_selection, "CHOICE_ROWS", 20)
    source = ArraySource(X, Y, n_classes=3)
    few = source.summary.rows[:20]
    found = choose_width(Gaussian("loo"), source, [1e-2])
    part = ArraySource(X[few], Y[few], n_classes=3)
    chosen = choose_width(Gaussian("loo"), part, [1e-2])
    medians = [Gaussian("median").resolve(rows).gamma for rows in (X, X[few])]
    assert found.gamma / medians[0] == pytest.approx(chosen.gamma / medians[1])


@pytest.mark.parametrize("name", ["hsic", "uhsic", "svc"])
def test_reg_by_leave_one_out(name):
    model = MAKERS[name](Gaussian(0.01), reg="loo").fit(X, Y)
    assert len(model.loo_regs_) == len(model.loo_errors_) == 25
    expected = kl.KernelDiscriminant(Gaussian(0.01)).fit(X, Y)
    np.testing.assert_allclose(model.loo_errors_, expected.loo_errors_, rtol=1e-6)
    assert model.reg_ == pytest.approx(expected.reg_)
    best = float(model.loo_regs_[np.argmin(model.loo_errors_)])
    given = MAKERS[name](Gaussian(0.01), reg=best).fit(X, Y)
    np.testing.assert_allclose(model.transform(X), given.transform(X), rtol=1e-6, atol=1e-9)
    assert given.loo_regs_ is None
    two = MAKERS[name](Gaussian(0.01), reg=[1e-5, best]).fit(X, Y)
    assert two.reg_ == pytest.approx(model.reg_) and len(two.loo_regs_) == 2
    with pytest.raises(ValueError, match=r"'loo'(, 'gcv')? or a list of positive numbers"):
        MAKERS[name](reg="learn").fit(X, Y)


def test_reg_by_leave_one_out_with_a_bank():
    bank = gaussian_bank(3, 0.3, 30, relative=True)
    for model in (kl.HSICSubspace(bank, reg="loo"), kl.SubspaceSVC(bank, reg="loo")):
        with pytest.raises(ValueError, match="weights='loo'"):
            model.fit(X, Y)
        model.set_params(weights="loo").fit(X, Y)
        assert len(model.loo_regs_) == 25 and len(model.history_) > 2


def test_elsewhere_a_sentence():
    for model in (
        kl.MultiKernelSVC(Gaussian("loo")),
        kl.KernelPLS(Gaussian("loo")),
        kl.KernelDiscriminant([Gaussian("loo"), Gaussian(1.0)]),
        kl.KernelDiscriminant(ColumnKernel(Gaussian("loo"), [0, 1])),
    ):
        with pytest.raises(ValueError, match="SubspaceSVC with this kernel alone"):
            model.fit(X, Y)


def test_rules_can_be_searched():
    search = GridSearchCV(
        kl.KernelDiscriminant(), {"kernel": [Gaussian("loo"), Gaussian("2 * median")]}, cv=2
    ).fit(X, Y)
    assert search.best_score_ > 0.8
