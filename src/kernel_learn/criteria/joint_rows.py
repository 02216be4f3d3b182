"""Training rows of the joint problem: representation, labels and prices, for any reg and C."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.stacking import fit_centroids
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.criteria.joint_problem import JointProblem, RowMap, map_rows, shrink_spectrum
from kernel_learn.criteria.labels import label_factor
from kernel_learn.representations.base import Combined, Eigenpairs
from kernel_learn.representations.gram import Gram
from kernel_learn.representations.linalg import eigh_positive
from kernel_learn.representations.sources import one_hot
from kernel_learn.solvers.joint import solve_exact
from kernel_learn.solvers.margin import one_vs_rest_signs

# Machines of the parts need not be exact to the last digit where they are dear.
PART_TOL = 1e-3


@dataclass(frozen=True)
class JointRows:
    """Training rows ready for any reg and C: representation, labels, prices."""

    sample: Combined
    X: Rows
    labels: Array  # (n,)
    n_classes: int
    weight: Array  # (n,), how many rows a row stands for
    price: Array  # (n_classes,)
    inverse: Array  # original row -> row
    share: Array  # of each original row in the weight of the row that stands for it
    kept: Array  # original rows of positive weight
    n_components: int
    uncorrelated: bool
    weights_lower: float | None = None  # bound over all weights of a bank, if they were learned
    weights_searched: bool = False  # by a descent that proves nothing by itself
    units: tuple[Array, ...] = ()  # rows that are left out together

    @property
    def spectrum(self) -> Eigenpairs:
        """Of the sample's operator."""
        return self.sample.spectrum

    def on_axes(self, scale: Array) -> Array:
        """Scores of the rows on the principal axes of the sample, times a scale, (n, r)."""
        if not isinstance(self.sample, Gram):
            return np.asarray(self._feature_axes * scale)
        axes = self.spectrum.U * (np.sqrt(self.spectrum.w) * scale)
        if np.any(self.weight != 1.0):
            axes /= self.sample.root_weight[:, None]
        return np.asarray(axes)

    @cached_property
    def _feature_axes(self) -> Array:
        w, U = self.spectrum.w, self.spectrum.U
        scores = self.sample.expand(U / np.sqrt(self.sample.spectral_inner(w))).transform(self.X)
        return np.asarray(scores, dtype=np.float64)

    @cached_property
    def label_factor(self) -> Array:
        """The centred factor L of the normalised label kernel, for the rows as they are."""
        _, mixing = label_factor("normalized", self.labels, np.arange(self.n_classes), self.weight)
        T = one_hot(self.labels, self.n_classes)
        T = T - (self.weight / self.weight.sum()) @ T
        return np.asarray(self.weight[:, None] * (T @ mixing))

    def lam(self, reg: float) -> float:
        """The regularisation that is ``reg`` relative to the kernel."""
        return reg * self.sample.trace / self.sample.n

    def problem(self, lam: float, C: float) -> tuple[JointProblem, RowMap]:
        """The joint problem, and what its coordinates are in the sample's terms."""
        w, U = self.spectrum.w, self.spectrum.U
        coordinates = map_rows(self.sample, w, U, lam, self.uncorrelated)
        F = self.on_axes(np.sqrt(coordinates.spectrum / w))
        Khat = F @ F.T if isinstance(self.sample, Gram) else None
        return JointProblem(F, self.signs, self.boxes(C), self.n_components, Khat), coordinates

    @property
    def signs(self) -> Array:
        """One machine per class, or one for two classes."""
        return one_vs_rest_signs(self.labels, self.n_classes)

    def boxes(self, C: float) -> Array:
        """The price of each row's margin error."""
        return np.asarray(C * self.price[self.labels] * self.weight)

    @property
    def is_closed(self) -> bool:
        """Whether there are as many directions as machines."""
        return self.n_components >= (1 if self.n_classes == 2 else self.n_classes)

    @property
    def targets(self) -> Targets:
        """Labels with their weights."""
        return Targets(one_hot(self.labels, self.n_classes) * self.weight[:, None], self.units)

    def score_fold(self, inside: Array, outside: Array, reg: float, C: float) -> Array:
        """What subspace and machines of some rows say of others, (len(outside), n_machines).

        With fewer directions than machines (len(outside), 2 n_classes): and what the class
        means in the subspace say.
        """
        weight = self.weight[inside]
        F, F_new = features_of_part(
            self.products(inside, inside),
            self.products(outside, inside),
            weight,
            reg,
            self.uncorrelated,
        )
        if not F.shape[1]:  # all rows of the part are the same: one feature, always zero
            F, F_new = np.zeros((len(inside), 1)), np.zeros((len(outside), 1))
        boxes = self.boxes(C)[inside]
        problem = JointProblem(F, self.signs[inside], boxes, self.n_components, F @ F.T)
        solution = solve_exact(problem, tol=PART_TOL, bound=False)
        E = solution.directions
        values = F_new @ (E @ solution.coef.T) + solution.machines.intercept
        if self.is_closed:
            return np.asarray(values)
        centroids = fit_centroids(F @ E, self.targets.counts[inside])
        return np.hstack([values, centroids(F_new @ E)])

    def products(self, rows: Array, others: Array) -> Array:
        """Inner products of centred rows."""
        if not isinstance(self.sample, Gram):
            return np.asarray(self._feature_axes[rows] @ self._feature_axes[others].T)
        root = self.sample.root_weight
        return np.asarray(
            self.sample.operator[np.ix_(rows, others)] / np.outer(root[rows], root[others])
        )


def features_of_part(
    G: Array,  # (n, n), of the rows of the part
    G_new: Array,  # (m, n), of other rows with them
    weight: Array,  # (n,)
    reg: float,
    uncorrelated: bool,
) -> tuple[Array, Array]:
    """F with F F' = Khat of these rows alone, and the same features of the other rows."""
    share, root = weight / weight.sum(), np.sqrt(weight)
    mean = G @ share
    G_new = G_new - (G_new @ share)[:, None] - mean + share @ mean
    G = G - mean[:, None] - mean + share @ mean
    w, U = eigh_positive(G * np.outer(root, root))
    h = shrink_spectrum(w, reg * float(w.sum()) / float(weight.sum()), uncorrelated)
    return U * np.sqrt(h) / root[:, None], (G_new * root) @ (U * (np.sqrt(h) / w))
