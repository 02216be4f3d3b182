"""Kernel values between rows that come and rows that are known, as ONNX."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.interop.onnx.graph import Graph, Value
from kernel_learn.kernels.additive import Additive, PairwiseAnova
from kernel_learn.kernels.arc_cosine import ArcCosine
from kernel_learn.kernels.bank import Combination, StackedSubspaceKernel
from kernel_learn.kernels.base import Kernel, KernelLike
from kernel_learn.kernels.columns import ColumnKernel, find_columns
from kernel_learn.kernels.dot_product import Cosine, Linear, Polynomial
from kernel_learn.kernels.low_rank import LowRank
from kernel_learn.kernels.pairwise import unit_rows
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.kernels.scaled import ScaledKernel
from kernel_learn.kernels.stationary import Exponential, Gaussian, Laplacian, Matern
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.kernels.transformed import TransformedKernel
from kernel_learn.rows.access import dense, row_blocks
from kernel_learn.rows.table import Table

# Columns whose differences are held at a time, n x n_ref of each.
CHUNK = 16


class OnnxExportError(ValueError):
    """A model, or a part of it, that has no form in ONNX."""


class PairStatistics:
    """Statistics of all pairs of rows X (n, d) and known rows Z (m, d); each is computed once."""

    def __init__(self, g: Graph, X: Value, Z: Array) -> None:
        self.g, self.X, self.Z = g, X, np.asarray(dense(Z), dtype=np.float64)
        self._found: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._found:
            self._found[name] = getattr(self, name)()
        return self._found[name]

    def dot(self) -> Value:
        return self.g("MatMul", self.X, self.Z.T)

    def lengths(self) -> Value:
        """|x|^2, (n, 1)."""
        return self.g.row_sums(self.g("Mul", self.X, self.X))

    def sqeuclidean(self) -> Value:
        """|x|^2 + |z|^2 - 2 x'z about the mean of the known rows: an offset costs no digits."""
        g, mean = self.g, self.Z.mean(axis=0)
        X, Z = g("Sub", self.X, mean[None, :]), self.Z - mean
        D = g("Add", g("MatMul", X, -2.0 * Z.T), g.row_sums(g("Mul", X, X)))
        return g("Max", g("Add", D, np.sum(Z**2, axis=1)[None, :]), 0.0)

    def euclidean(self) -> Value:
        """From differences: a root takes half the digits of a rounded zero."""
        squares = [self.g("Mul", D, D) for D in self._differences]
        return self.g("Sqrt", self._summed(squares))

    def manhattan(self) -> Value:
        return self._summed([self.g("Abs", D) for D in self._differences])

    @cached_property
    def _differences(self) -> list[Value]:
        """x_c - z_c, (n, m, CHUNK) for some columns c at a time."""
        g, found = self.g, []
        for part in row_blocks(self.Z.shape[1], CHUNK):
            columns = np.arange(part.start, part.stop)
            X = g("Unsqueeze", g.columns(self.X, columns), np.array([1]))
            found.append(g("Sub", X, self.Z[None, :, columns]))
        return found

    def _summed(self, parts: list[Value]) -> Value:
        return self.g.total([self.g("ReduceSum", D, np.array([2]), keepdims=0) for D in parts])


def pairs(g: Graph, X: Value, Z: Rows) -> PairStatistics:
    """The statistics of X and Z, shared by all kernels on these rows."""
    # Z stays, so that its id stays its own
    return g.once(("pairs", X, id(Z)), lambda: (PairStatistics(g, X, Z), Z))[0]


def kernel_values(g: Graph, kernel: KernelLike, X: Value, Z: Rows) -> Value:
    """k(x, z) for all pairs, (n, m)."""
    kernel = as_kernel(kernel)
    form = FORMS.get(type(kernel))
    if form is None:
        raise OnnxExportError(
            f"{_name(kernel)} has no form in ONNX. Kernels that have one: "
            f"{', '.join(sorted(known.__name__ for known in FORMS))}."
        )
    if isinstance(Z, Table) and not isinstance(kernel, ColumnKernel | Combination):
        Z = _matrix(g, Z)
    return form(g, kernel, X, Z)


def _matrix(g: Graph, table: Table) -> Array:
    """All columns of a table, which must be numbers; the same array each time."""
    return g.once(("matrix", id(table)), lambda: (np.asarray(dense(table.matrix())), table))[0]


def _name(kernel: Kernel) -> str:
    function = getattr(kernel, "function", None)
    if function is not None:
        name = getattr(function, "__name__", type(function).__name__)
        return f"The kernel function {name} is code, which"
    return f"The kernel {type(kernel).__name__}"


def _exp(statistic: str) -> Callable[..., Value]:
    def values(g: Graph, kernel: Kernel, X: Value, Z: Rows) -> Value:
        return g("Exp", g("Mul", pairs(g, X, Z)[statistic], -float(kernel.gamma)))

    return values


def _matern(g: Graph, kernel: Matern, X: Value, Z: Rows) -> Value:
    t = g("Mul", pairs(g, X, Z)["euclidean"], kernel.scale)
    decay = g("Exp", g("Neg", t))
    if kernel.nu == 0.5:
        return decay
    polynomial = (1.0, 1.0) if kernel.nu == 1.5 else (1.0, 1.0, 1.0 / 3.0)
    return g("Mul", g.polynomial(t, polynomial), decay)


def _linear(g: Graph, kernel: Linear, X: Value, Z: Rows) -> Value:
    return pairs(g, X, Z)["dot"]


def _polynomial(g: Graph, kernel: Polynomial, X: Value, Z: Rows) -> Value:
    known = float(kernel.gamma) * pairs(g, X, Z).Z.T
    base = g("Add", g("MatMul", X, known), float(kernel.coef0))
    found = base
    for _ in range(kernel.degree - 1):
        found = g("Mul", found, base)
    return found


def _cosine(g: Graph, kernel: Cosine, X: Value, Z: Rows) -> Value:
    length = g("Sqrt", pairs(g, X, Z)["lengths"])
    safe = g("Where", g("Greater", length, 0.0), length, 1.0)
    unit = np.asarray(dense(unit_rows(np.asarray(dense(Z), dtype=np.float64))))
    return g("MatMul", g("Div", X, safe), unit.T)


def _arc_cosine(g: Graph, kernel: ArcCosine, X: Value, Z: Rows) -> Value:
    both, bias = pairs(g, X, Z), float(kernel.bias)
    known = np.sum(both.Z**2, axis=1)[None, :] + bias
    root = g("Sqrt", g("Mul", g("Add", both["lengths"], bias), known))
    product = g("Add", both["dot"], bias)
    safe = g("Where", g("Greater", root, 0.0), root, 1.0)
    cosine = g("Max", g("Min", g("Div", product, safe), 1.0), -1.0)
    angle = g.acos(cosine)
    bent = g("Add", g("Sin", angle), g("Mul", g("Sub", np.pi, angle), cosine))
    return g("Mul", bent, g("Div", root, np.pi))


def _additive(g: Graph, kernel: Additive, X: Value, Z: Rows) -> Value:
    both = _plain_columns(g, kernel, X, Z)
    return g("Sub", 1.0, g("Div", both["manhattan"], float(both.Z.shape[1])))


def _anova(g: Graph, kernel: PairwiseAnova, X: Value, Z: Rows) -> Value:
    both = _plain_columns(g, kernel, X, Z)
    d, D1 = float(both.Z.shape[1]), both["manhattan"]
    S1 = g("Sub", d, D1)
    S2 = g("Add", g("Sub", d, g("Mul", D1, 2.0)), both["sqeuclidean"])
    return g.scaled(g("Sub", g("Mul", S1, S1), S2), 1.0 / max(d * (d - 1.0), 1.0), X)


def _plain_columns(g: Graph, kernel: Kernel, X: Value, Z: Rows) -> PairStatistics:
    if kernel.categorical is not None:
        raise OnnxExportError(
            f"{type(kernel).__name__}(categorical=...) compares categories, which have no form in "
            "ONNX here. Encode them as numbers before the model."
        )
    return pairs(g, X, Z)


def _combination(g: Graph, kernel: Combination, X: Value, Z: Rows) -> Value:
    used = [(one, float(w)) for one, w in zip(kernel.kernels, kernel.weights, strict=True) if w]
    if not used:
        return g.like_rows(X, np.zeros(Z.shape[0]))
    return g.total([g.scaled(kernel_values(g, one, X, Z), w, X) for one, w in used])


def _column_kernel(g: Graph, kernel: ColumnKernel, X: Value, Z: Rows) -> Value:
    found = np.arange(Z.shape[1])[find_columns(Z, kernel.columns)]

    def both() -> tuple[Value, Rows]:
        if kernel.base.input != "vectors":
            kernel_values(g, kernel.base, X, Z)  # refused by its name
        known = Z.select(found).matrix() if isinstance(Z, Table) else Z[:, found]
        return g.columns(X, found), known

    return kernel_values(g, kernel.base, *g.once(("columns", X, id(Z), *found.tolist()), both))


def scaled_columns(g: Graph, X: Value, scales: Array) -> Value:
    """The columns whose scale is not zero, times their scales."""
    kept = np.flatnonzero(scales)
    own = np.asarray(scales, dtype=np.float64)[None, kept]
    key = ("scaled columns", X, np.asarray(scales).tobytes())
    return g.once(key, lambda: g("Mul", g.columns(X, kept), own))


def _scaled_kernel(g: Graph, kernel: ScaledKernel, X: Value, Z: Rows) -> Value:
    key = ("scaled rows", id(Z), np.asarray(kernel.scales).tobytes())
    known, _ = g.once(key, lambda: (kernel.scaled(Z), Z))
    return kernel_values(g, kernel.kernel, scaled_columns(g, X, kernel.scales), known)


def feature_values(g: Graph, kernel: Kernel, X: Value) -> Value:
    """f(x) = coef'k(x, landmarks) - offset of a learned kernel, (n, r)."""
    if isinstance(kernel, StackedSubspaceKernel):
        kernels: Any = kernel.kernel
        coefs = kernel.coef.reshape(len(kernels.kernels), -1, kernel.coef.shape[1])
        parts = [
            g("MatMul", kernel_values(g, one, X, kernel.landmarks), coef)
            for one, coef in zip(kernels.kernels, coefs, strict=True)
        ]
        return g("Sub", g.total(parts), np.asarray(kernel.offset, dtype=np.float64))
    if isinstance(kernel, SubspaceKernel):
        K = kernel_values(g, kernel.kernel, X, kernel.landmarks)
        return g.linear(K, kernel.coef, -kernel.offset)
    base = kernel.base if isinstance(kernel, LowRank) else kernel.kernel
    return g("MatMul", kernel_values(g, base, X, kernel.landmarks), kernel.coef)


def _learned(g: Graph, kernel: Kernel, X: Value, Z: Rows) -> Value:
    return g("MatMul", feature_values(g, kernel, X), np.asarray(kernel.transform(Z)).T)


def _transformed(g: Graph, kernel: TransformedKernel, X: Value, Z: Rows) -> Value:
    right = (kernel.features(Z) * kernel.weights).T
    K = g("MatMul", feature_values(g, kernel, X), right)
    if not kernel.alpha:
        return K
    return g("Add", K, g.scaled(kernel_values(g, kernel.kernel, X, Z), float(kernel.alpha), X))


FORMS: dict[type, Callable[..., Value]] = {
    Additive: _additive,
    ArcCosine: _arc_cosine,
    ColumnKernel: _column_kernel,
    Combination: _combination,
    Cosine: _cosine,
    Exponential: _exp("euclidean"),
    Gaussian: _exp("sqeuclidean"),
    Laplacian: _exp("manhattan"),
    Linear: _linear,
    LowRank: _learned,
    Matern: _matern,
    PairwiseAnova: _anova,
    Polynomial: _polynomial,
    ScaledKernel: _scaled_kernel,
    StackedSubspaceKernel: _learned,
    SubspaceKernel: _learned,
    TransformedKernel: _transformed,
}
