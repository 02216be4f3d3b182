"""Learned weights of kernels as bars."""

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array
from kernel_learn.inspection.drawing import Axes, Option, bar_height, draw_bars, make_axes
from kernel_learn.inspection.reading import find_fitted


class KernelWeightsDisplay:
    """How much each kernel of a bank counts.

    Parameters
    ----------
    weights : ndarray of shape (n_kernels,)
        Of the kernels as given.
    names : list of str
        Of the kernels.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn import HSICSubspace
    >>> from kernel_learn.inspection import KernelWeightsDisplay
    >>> from kernel_learn.kernels import gaussian_bank
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HSICSubspace(gaussian_bank(5), uncorrelated=True).fit(X, y)
    >>> display = KernelWeightsDisplay.from_estimator(model)
    """

    def __init__(self, *, weights: Array, names: list[str]) -> None:
        self.weights = weights
        self.names = names

    def plot(self, ax: Axes | None = None, *, max_kernels: int = 20, **options: Option) -> Self:
        """Draw the weights, those of the heaviest kernels where there are many.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None: a new figure.
        max_kernels : int
            At most so many bars, in the order of the bank.
        **options
            For ``Axes.barh``.
        """
        heaviest = np.argsort(-self.weights, kind="stable")[:max_kernels]
        shown = np.sort(heaviest)
        ax = make_axes(ax, bar_height(len(shown)))
        draw_bars(ax, self.weights[shown], [self.names[i] for i in shown], **options)
        ax.set_xlabel("weight of the kernel")
        if len(shown) < len(self.weights):
            ax.set_title(f"the heaviest {len(shown)} of {len(self.weights)}", fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        ax: Axes | None = None,
        max_kernels: int = 20,
        **options: Option,
    ) -> Self:
        """Draw ``kernel_weights_`` of a fitted estimator, Pipeline or search."""
        step = find_fitted(estimator, "kernel_weights_", display=cls.__name__).step
        names = [str(name) for name in step.kernel_names_]
        display = cls(weights=np.asarray(step.kernel_weights_, dtype=float), names=names)
        return display.plot(ax, max_kernels=max_kernels, **options)
