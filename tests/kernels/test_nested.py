"""Parameters of kernels by name: through words, objects, dicts and lists; nothing is written."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernel_learn import HSICSubspace, KernelDiscriminant, KernelPLS
from kernel_learn.kernels import ColumnKernel, Gaussian, Linear

X, y = load_iris(return_X_y=True)


def test_name_of_a_kernel():
    model = HSICSubspace("gaussian")
    assert model.get_params()["kernel__gamma"] == Gaussian().gamma
    model.set_params(kernel__gamma=0.3, reg=0.1)
    assert isinstance(model.kernel, Gaussian) and model.kernel.gamma == 0.3 and model.reg == 0.1
    with pytest.raises(ValueError, match="width"):
        model.set_params(kernel__width=1)


def test_object_is_replaced_not_written_to():
    kernel = Gaussian(0.1)
    model = HSICSubspace(kernel)
    model.set_params(kernel__gamma=0.3)
    assert kernel.gamma == 0.1 and model.kernel.gamma == 0.3 and model.kernel is not kernel
    inner = ColumnKernel(Gaussian(0.1), [0])
    model = HSICSubspace(inner).set_params(kernel__kernel__gamma=0.3)
    assert inner.kernel.gamma == 0.1 and model.kernel.kernel.gamma == 0.3
    gp = RBF(1.0)
    model = HSICSubspace(gp).set_params(kernel__length_scale=2.0)
    assert gp.length_scale == 1.0 and model.kernel.length_scale == 2.0


def test_dict_bank():
    bank = {"view0": Gaussian(0.1), "view1": "gaussian", "view1__more": Linear(), 7: Linear()}
    before = dict(bank)
    model = HSICSubspace(bank)
    assert model.get_params()["kernel__view0__gamma"] == 0.1
    assert model.get_params()["kernel__view1__gamma"] == Gaussian().gamma
    model.set_params(kernel__view0__gamma=0.3, kernel__view1__gamma=2.0, kernel__view1__more="rbf")
    assert bank == before and bank["view0"].gamma == 0.1
    assert list(model.kernel) == list(bank)
    assert model.kernel["view0"].gamma == 0.3 and model.kernel["view1"].gamma == 2.0
    assert model.kernel["view1__more"] == "rbf" and model.kernel[7] is bank[7]
    with pytest.raises(ValueError, match="kernel__view9__gamma names no kernel of the bank"):
        model.set_params(kernel__view9__gamma=1.0)


@pytest.mark.parametrize("kind", [list, tuple])
def test_numbered_bank(kind):
    bank = kind([Gaussian(0.1), Linear()])
    model = HSICSubspace(bank).set_params(kernel__kernel_0__gamma=0.3)
    assert type(model.kernel) is kind and model.kernel[0].gamma == 0.3 and bank[0].gamma == 0.1
    model.set_params(kernel=bank, kernel__kernel_1=Gaussian(5.0))  # the new bank, then its member
    assert model.kernel[1].gamma == 5.0 and model.kernel[0] is bank[0]


def test_function_has_no_parameters():
    model = HSICSubspace(lambda X, X_ref: X @ X_ref.T)
    assert not [name for name in model.get_params() if name.startswith("kernel__")]
    with pytest.raises(ValueError, match="no parameters that can be set by name: gamma"):
        model.set_params(kernel__gamma=1.0)


def test_clones_and_wrong_kernels_are_still_shown():
    model = clone(HSICSubspace({"a": "gaussian"})).set_params(kernel__a__gamma=0.5)
    assert clone(model).kernel["a"].gamma == 0.5
    for wrong in ("gaussin", None, 3, {"a": "gaussin"}, []):
        assert HSICSubspace(wrong).get_params()["kernel"] is wrong  # fit refuses it, not this


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        ("gaussian", "kernel__gamma"),
        (
            {"view0": ColumnKernel(Gaussian(), [0, 1]), "view1": "linear"},
            "kernel__view0__kernel__gamma",
        ),
        ({"view0": "gaussian", "view1": "linear"}, "kernel__view0__gamma"),
    ],
)
def test_grid_search(kernel, name):
    model = KernelDiscriminant(kernel, reg=1e-2) if isinstance(kernel, dict) else KernelPLS(kernel)
    pipe = make_pipeline(StandardScaler(), model)
    step = type(model).__name__.lower()
    search = GridSearchCV(pipe, {f"{step}__{name}": [1e-6, 0.5]}, cv=3).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] > 0.9 and scores[0] != scores[1]
    assert search.best_params_ == {f"{step}__{name}": 0.5} or np.isclose(*scores, atol=0.1)
    assert model.kernel == kernel
