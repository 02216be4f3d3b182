"""Subspace kernels by dependence on the labels: HSIC and uHSIC."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from kernel_learn.criteria.hsic import Dependence
from kernel_learn.criteria.labels import LabelKernel, label_factor
from kernel_learn.estimators.base import SubspaceTransformer
from kernel_learn.estimators.validation import (
    Array,
    Labelled,
    check_n_components,
    check_positive,
    validate_labelled,
)
from kernel_learn.solvers.eigen import solve_top_eigen


class RegularizationPath(NamedTuple):
    """Coefficients and criterion values for a list of ``reg``."""

    coefs: Array  # (n_regs, n_landmarks, n_components)
    values: Array  # (n_regs,)


class HSICSubspace(SubspaceTransformer):
    """Subspace kernel with the largest dependence on the labels (HSIC, uHSIC).

    Finds the few directions in the kernel's feature space whose kernel agrees
    best with the labels, in closed form: one Cholesky factorisation and an
    eigenproblem of the size of the number of classes (Chen et al. 2008,
    sections 3.1 and 4.2).

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn kernel, default="gaussian"
        See :mod:`kernel_learn.kernels`. ``"precomputed"``: X is a kernel matrix.
    n_components : int, default=None
        Number of features; None means n_classes - 1, the rank of centred labels.
    reg : float, default=1e-3
        Regularisation relative to the kernel: lambda = reg * tr(G) / n.
    uncorrelated : bool, default=False
        False: an orthogonal projection in feature space (HSIC). True: features
        that are uncorrelated on the training rows, up to ``reg`` (uHSIC).
    label_kernel : {"normalized", "indicator"}, callable or array, default="normalized"
        Similarity of labels. "normalized": each class counts the same;
        "indicator": each pair of equal labels counts the same; a function of
        two label arrays or a matrix over the classes (sorted) or the samples.
    landmarks : "auto", "all", int, str, Landmarks or array, default="auto"
        "auto": exact where that is affordable, else 1000 landmarks. "all":
        exact. A number, a rule ("uniform", "kmeans", "rpcholesky"),
        ``Landmarks(rule, count)``, or the rows (or their indices) themselves.
    memory_budget : int or str, default=None
        Bytes, or "2GB"; None means half of the free memory.
    random_state : int, RandomState or None, default=None
        For the choice of landmarks.

    Attributes
    ----------
    kernel_ : SubspaceKernel
        The learned kernel: ``kernel_(X, X_ref)`` on any rows; its features are
        those of ``transform``; ``kernel_.coef`` (n_landmarks, n_components)
        holds the coefficients W.
    base_kernel_ : Kernel
        The kernel with its rules resolved.
    reg_ : float
        lambda.
    objective_ : float
        tr(K_w H), the dependence of the learned kernel on the labels.
    eigenvalues_ : ndarray of shape (n_components_,)
        Each feature's share of ``objective_``.
    classes_ : ndarray of shape (n_classes,)
    n_components_ : int
    plan_ : Plan
        How the fit was carried out; ``print(model.plan_)``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernel_learn import HSICSubspace
    >>> X, y = load_wine(return_X_y=True)
    >>> model = HSICSubspace(uncorrelated=True).fit(scale(X), y)
    >>> model.transform(scale(X)).shape
    (178, 2)
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        n_components: int | None = None,
        reg: float = 1e-3,
        uncorrelated: bool = False,
        label_kernel: LabelKernel = "normalized",
        landmarks: Any = "auto",
        memory_budget: float | str | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.reg = reg
        self.uncorrelated = uncorrelated
        self.label_kernel = label_kernel
        self.landmarks = landmarks
        self.memory_budget = memory_budget
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the subspace.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or strings of shape (n_samples, ...)
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        reg = check_positive("reg", self.reg, self)
        data = validate_labelled(self, X, y, sample_weight)
        self.classes_ = data.classes
        criterion = self._criterion(data)
        self.reg_ = reg * criterion.sample.trace / criterion.sample.n
        B, M = criterion.candidates(self.reg_)
        result = solve_top_eigen(M, self._n_wanted(data))
        self._warn_if_fewer(result.point.shape[1])
        self.objective_ = result.value
        self.eigenvalues_ = result.values
        self._store_kernel(criterion.sample.expand(B @ result.point))
        return self

    def path(
        self, X: Any, y: Any, regs: Sequence[float], sample_weight: Any = None
    ) -> RegularizationPath:
        """Solutions for all ``regs`` from one eigendecomposition; the estimator stays as it is.

        The features of ``regs[i]`` are ``k(X_new, landmarks) @ coefs[i]`` less
        their training mean. The landmarks are the rows of X if the plan is
        exact. Where a solution has lower rank, its last columns are zero.

        Returns
        -------
        path : (coefs, values)
            Arrays (n_regs, n_landmarks, n_components) and (n_regs,).
        """
        regs = [check_positive("reg", reg, self) for reg in regs]
        worker = type(self)(**self.get_params(deep=False))
        data = validate_labelled(worker, X, y, sample_weight)
        criterion = worker._criterion(data, matrices=4.5, merge=False)
        sample = criterion.sample
        U, b, M = criterion.candidates_path([reg * sample.trace / sample.n for reg in regs])
        results = [solve_top_eigen(M_i, worker._n_wanted(data)) for M_i in M]
        n_columns = max(result.point.shape[1] for result in results)
        directions = np.zeros((b.shape[1], len(regs), n_columns))
        for i, result in enumerate(results):
            directions[:, i, : result.point.shape[1]] = b[i] @ result.point
        coef = sample.expand(U @ directions.reshape(len(directions), -1)).coef
        coefs = coef.reshape(len(coef), len(regs), n_columns).transpose(1, 0, 2)
        return RegularizationPath(coefs, np.array([result.value for result in results]))

    def _criterion(self, data: Labelled, **options: Any) -> Dependence:
        T, mixing = label_factor(self.label_kernel, data.labels, data.classes, data.weight)
        sample = self._represent(data, T, **options)
        return Dependence(sample, mixing, uncorrelated=self.uncorrelated)

    def _n_wanted(self, data: Labelled) -> int:
        return check_n_components(self.n_components, len(data.classes) - 1, self)

    def _warn_if_fewer(self, found: int) -> None:
        if self.n_components is not None and found < self.n_components:
            warnings.warn(
                f"n_components={self.n_components} directions were asked for, and the labels and "
                f"the kernel determine {found}; transform gives {found} columns.",
                UserWarning,
                stacklevel=3,
            )
