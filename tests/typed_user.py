"""A user's program, for the type checker alone: ``mypy --strict`` has nothing to say about it."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import kernel_learn as kl
from kernel_learn import constraints, metrics, presets
from kernel_learn.datasets import CsvSource, NpySource, ParquetSource
from kernel_learn.inspection import EmbeddingDisplay, KernelWeightsDisplay
from kernel_learn.kernels import (
    ColumnKernel,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    Spectrum,
    gaussian_bank,
)
from kernel_learn.testing import check_kernel

Rows = NDArray[np.float64]


class Shifted(Kernel):
    """A kernel of the user's own."""

    def __init__(self, shift: float = 1.0) -> None:
        self.shift = shift

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Rows:
        other = X if X_ref is None else X_ref
        return np.asarray(X @ other.T + self.shift)

    def diag(self, X: Rows) -> Rows:
        return np.asarray((X * X).sum(axis=1) + self.shift)


def classify(X: Rows, y: NDArray[np.int_], weights: Rows) -> float:
    model = kl.KernelClassifier(quality="fast", random_state=0).fit(X, y, sample_weight=weights)
    shares: Rows = model.predict_proba(X[:2])
    print(shares.shape, model.predict(X), model.classes_, model.decision_function(X).max())
    error: float = model.loo_error_
    return error


def learn_weights(X: Rows, y: NDArray[np.int_]) -> Rows:
    bank: list[Kernel] = [Gaussian(0.1), Linear(), Polynomial(degree=2), Shifted()]
    model = kl.KernelDiscriminant(kernel=bank, reg="learn").fit(X, y)
    machine = kl.MultiKernelSVC(kernel={"a": Gaussian(1.0), "b": Linear()}, C=10.0).fit(X, y)
    print(machine.predict(X), machine.score(X, y), sorted(gaussian_bank(5)))
    KernelWeightsDisplay.from_estimator(model)
    weights: Rows = model.kernel_weights_
    return weights


def embed(X: Rows, y: NDArray[np.int_]) -> Rows:
    columns = ColumnKernel(Gaussian("scale"), [0, 1])
    print(kl.AlignmentSubspace(kernel=columns).fit(X, y).get_feature_names_out())
    print(kl.KernelPLS(n_components=2).fit(X, y).transform(X).shape)
    EmbeddingDisplay.from_estimator(kl.HSICSubspace(landmarks=20).fit(X, y), X, y)
    Z: Rows = kl.HSICSubspace(n_components=2, landmarks=kl.Landmarks("kmeans", 20)).fit_transform(
        X, y
    )
    return Z


def choose(X: Rows, y: NDArray[np.int_]) -> Rows:
    """Kernels, landmarks, seeds, budgets and weights as people give them."""
    rng = np.random.RandomState(0)
    model = kl.KernelDiscriminant(
        kernel={"a": "gaussian", "b": Linear()}, landmarks="kmeans", random_state=rng
    )
    model.fit(X.tolist(), y.tolist(), sample_weight=np.ones(len(X)))
    few = kl.HSICSubspace(lambda A, B: A @ B.T, landmarks=X[:5], memory_budget="1GB", reg=[0.1, 1])
    few.fit(sparse.csr_array(X), list(map(str, y)))
    return few.transform(X[:3])


def certify(X: Rows, y: NDArray[np.int_]) -> tuple[float, float]:
    model = kl.SubspaceSVC(C=10.0, class_weight="balanced").fit(X, y)
    lower: float = model.lower_bound_
    upper: float = model.upper_bound_
    return lower, upper


def compare_pairs(X: Rows, y: NDArray[np.int_]) -> NDArray[np.bool_]:
    pairs = np.array([[0, 1], [2, 3], [4, 5], [6, 7]])
    model = kl.PairClassifier().fit(X, pairs, [True, True, False, False])
    alike: NDArray[np.bool_] = model.predict(X, X)
    side = constraints.Pairs(similar=pairs[:2], dissimilar=pairs[2:])
    print(kl.InductiveKernel(kernel="linear").fit(X, constraints=side).transform(X))
    print(presets.itml().fit(X, y))
    return alike


def read(folder: Path) -> kl.KernelDiscriminant:
    model = kl.KernelDiscriminant(landmarks=1000)
    model.fit(ParquetSource(folder, target="label"))
    model.fit(CsvSource(folder / "rows.csv", target="label"))
    model.fit(NpySource(folder / "X.npy", folder / "y.npy"))
    return model


def keep(model: kl.HSICSubspace, path: Path) -> str:
    kl.save(model, path)
    print(kl.load(path), kl.describe(path), kl.__version__)
    kl.export_onnx(model, path.with_suffix(".onnx"))
    return str(path)


def measure(X: Rows, y: NDArray[np.int_]) -> float:
    check_kernel(Gaussian(0.1), X)
    print(kl.KernelDiscriminant(kernel=Spectrum(3)).fit(["abca", "bcab"], [0, 1]))
    print(metrics.hsic_test(X, y).p_value, metrics.centered_alignment(X, y))
    return metrics.hsic(X, y)
