"""Methods of the literature as configured estimators.

Each function returns an :class:`~kernel_learn.InductiveKernel`; keyword
arguments go through to it, so anything can be set otherwise.

>>> from kernel_learn import presets
>>> presets.low_rank_trace(tau=0.2).regularizer
'trace'
"""

from typing import Any

from numpy.typing import ArrayLike

from kernel_learn.criteria.constraints import Pairs
from kernel_learn.estimators.inductive import InductiveKernel
from kernel_learn.kernels.base import KernelLike
from kernel_learn.kernels.low_rank import LowRank
from kernel_learn.namespaces import list_only

__all__ = [
    "frob_lr",
    "frobenius_low_rank",
    "itml",
    "itml_low_rank_after",
    "itml_low_rank_first",
    "itml_lr_post",
    "itml_lr_pre",
    "low_rank_trace",
    "pola",
    "pola_pairs",
    "trace_ssikdr",
]

__dir__ = list_only(__all__)


def itml(kernel: KernelLike = "gaussian", **parameters: Any) -> InductiveKernel:
    """ITML (Davis et al. 2007): logdet, pair distances at the 5th and 95th percentiles.

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        The base kernel.
    **parameters : optional
        Others of :class:`InductiveKernel`.
    """
    return InductiveKernel(
        kernel, **{"regularizer": "logdet", "constraints": "pairs", **parameters}
    )


def pola(kernel: KernelLike = "gaussian", **parameters: Any) -> InductiveKernel:
    """|W|^2/2 with pair distances (Shalev-Shwartz et al. 2004); "Frob" in Jain et al., Table 1.

    Bounds are the 5th and 95th percentiles, as in that table. For POLA's own,
    d <= b - 1 and d >= b + 1, pass ``pola_pairs(similar, dissimilar, b)`` to ``fit``.

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        The base kernel.
    **parameters : optional
        Others of :class:`InductiveKernel`.
    """
    return InductiveKernel(kernel, **{"regularizer": "pola", **parameters})


def pola_pairs(similar: ArrayLike, dissimilar: ArrayLike, threshold: float = 2.0) -> Pairs:
    """Pairs with POLA's bounds: d <= threshold - 1 if similar, d >= threshold + 1 if not.

    Parameters
    ----------
    similar : array-like of shape (n_pairs, 2)
        Pairs that are alike.
    dissimilar : array-like of shape (n_pairs, 2)
        Pairs that are not.
    threshold : float, default=2.0
        Of the squared distance.
    """
    return Pairs(similar, dissimilar, similar_max=threshold - 1, dissimilar_min=threshold + 1)


def low_rank_trace(kernel: KernelLike = "gaussian", **parameters: Any) -> InductiveKernel:
    """tau tr W + |W|^2/2, of low rank: Trace-SSIKDR (Jain et al. 2010).

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        The base kernel.
    **parameters : optional
        Others of :class:`InductiveKernel`.
    """
    return InductiveKernel(kernel, **{"regularizer": "trace", **parameters})


def frobenius_low_rank(
    n_components: int = 2, kernel: KernelLike = "gaussian", **parameters: Any
) -> InductiveKernel:
    """``pola`` cut to the top eigenvectors of W: Frob LR (Jain et al. 2010).

    Parameters
    ----------
    n_components : int, default=2
        The rank.
    kernel : str or Kernel, default="gaussian"
        The base kernel.
    **parameters : optional
        Others of :class:`InductiveKernel`.
    """
    defaults = {"regularizer": "pola", "components": "metric", "n_components": n_components}
    return InductiveKernel(kernel, **{**defaults, **parameters})


def itml_low_rank_first(
    n_components: int = 2, kernel: KernelLike = "gaussian", **parameters: Any
) -> InductiveKernel:
    """The base kernel cut to low rank first, then ITML: ITML LR-pre (Jain et al. 2010).

    Parameters
    ----------
    n_components : int, default=2
        The rank.
    kernel : str or Kernel, default="gaussian"
        The base kernel.
    **parameters : optional
        Others of :class:`InductiveKernel`.
    """
    return itml(LowRank(kernel, n_components), **parameters)


def itml_low_rank_after(
    n_components: int = 2, kernel: KernelLike = "gaussian", **parameters: Any
) -> InductiveKernel:
    """ITML, then the top eigenvectors of its matrix: ITML LR-post (Jain et al. 2010).

    Parameters
    ----------
    n_components : int, default=2
        The rank.
    kernel : str or Kernel, default="gaussian"
        The base kernel.
    **parameters : optional
        Others of :class:`InductiveKernel`.
    """
    return itml(kernel, **{"n_components": n_components, **parameters})


# by the names in the tables of Jain et al. 2010
trace_ssikdr, frob_lr = low_rank_trace, frobenius_low_rank
itml_lr_pre, itml_lr_post = itml_low_rank_first, itml_low_rank_after
