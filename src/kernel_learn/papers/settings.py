"""Every parameter of every estimator that a protocol uses, as it was when its page was made.

A default that changes in the package changes no page: protocols build their
estimators with ``frozen``, and a test says so.
"""

from typing import Any

from sklearn.base import BaseEstimator

from kernel_learn.estimators.alignment import AlignmentSubspace
from kernel_learn.estimators.centroid import KernelOrthogonalCentroid
from kernel_learn.estimators.discriminant import KernelDiscriminant
from kernel_learn.estimators.discriminant_qr import KernelDiscriminantQR
from kernel_learn.estimators.hsic import HSICSubspace
from kernel_learn.estimators.inductive import InductiveKernel
from kernel_learn.estimators.multi_kernel_svc import MultiKernelSVC
from kernel_learn.estimators.pls import KernelPLS
from kernel_learn.estimators.subspace_svc import SubspaceSVC
from kernel_learn.kernels.base import KernelsLike

# What many of them have.
LANDMARKS = {"landmarks": "auto", "memory_budget": None, "random_state": None}
STREAMED = {**LANDMARKS, "verbose": 0}
WEIGHTS = {"weights": "learn", "solver": "auto", "tol": 1e-06, "max_iter": 100}

FROZEN: dict[type, dict[str, object]] = {
    AlignmentSubspace: {
        **STREAMED,
        "weights": "loo",
        "label_kernel": "auto",
        "target_type": "auto",
        "n_components": None,
        "reg": 0.05,
        "center": False,
        "criterion": "alignment",
        "init": "koc",
        "tol": 0.0001,
        "max_iter": 500,
    },
    HSICSubspace: {
        **STREAMED,
        **WEIGHTS,
        "n_components": None,
        "reg": 0.001,
        "uncorrelated": False,
        "label_kernel": "normalized",
        "target_type": "auto",
        "unlabeled": "raise",
    },
    InductiveKernel: {
        **LANDMARKS,
        "regularizer": "logdet",
        "penalty": "squared_hinge",
        "constraints": "pairs",
        "n_constraints": None,
        "slack": 1.0,
        "tau": 0.01,
        "unlabeled": -1,
        "n_components": None,
        "components": "kernel",
        "solver": "quasi-newton",
        "tol": 1e-06,
        "max_iter": None,
    },
    KernelDiscriminant: {
        **STREAMED,
        **WEIGHTS,
        "class_weight": None,
        "n_components": None,
        "reg": "loo",
        "decision": "auto",
        "priors": None,
        "criterion": "discriminant",
        "coupling": "exact",
        "unlabeled": "raise",
    },
    KernelDiscriminantQR: {
        "n_components": None,
        "reg": 0.001,
        "weights": "loo",
        "memory_budget": None,
        "verbose": 0,
    },
    KernelOrthogonalCentroid: {**STREAMED, "clusters_per_class": 1, "weights": "loo"},
    KernelPLS: {
        **STREAMED,
        "n_components": None,
        "target_type": "classes",
        "weights": "loo",
        "unlabeled": "raise",
    },
    MultiKernelSVC: {
        **LANDMARKS,
        **WEIGHTS,
        "class_weight": None,
        "loss": "hinge",
        "C": 1.0,
        "landmarks": "all",
    },
    SubspaceSVC: {
        **LANDMARKS,
        **WEIGHTS,
        "C": 1.0,
        "loss": "hinge",
        "reg": 0.01,
        "uncorrelated": True,
        "n_components": None,
        "method": "exact",
        "class_weight": None,
        "max_iter": None,
    },
}
# Presets choose these themselves.
OF_PRESETS = ("regularizer", "constraints", "components", "n_components")


def frozen(kind: type, kernel: KernelsLike, **given: object) -> BaseEstimator:
    """An estimator with every parameter passed: those given, the others as they were."""
    return kind(kernel, **{**FROZEN[kind], **given})


def frozen_preset(**given: object) -> dict[str, Any]:
    """Parameters of a preset of ``InductiveKernel``: those given, the others as they were."""
    settings = FROZEN[InductiveKernel]
    return {name: settings[name] for name in settings if name not in OF_PRESETS} | given
