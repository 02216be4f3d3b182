"""From what a user writes to a kernel: the only file that reads kernel strings."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sklearn.gaussian_process.kernels import Kernel as SklearnGPKernel
from sklearn.metrics.pairwise import kernel_metrics

from kernel_learn.kernels.adapters import FunctionKernel, GaussianProcessKernel, PairwiseKernel
from kernel_learn.kernels.additive import Additive, PairwiseAnova
from kernel_learn.kernels.arc_cosine import ArcCosine
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.categorical import Hamming, Matching
from kernel_learn.kernels.dot_product import Cosine, Linear, Polynomial
from kernel_learn.kernels.precomputed import Precomputed
from kernel_learn.kernels.stationary import ChiSquared, Exponential, Gaussian, Laplacian, Matern
from kernel_learn.kernels.strings import Spectrum, Subsequence

NAMES: dict[str, Callable[[], Kernel]] = {
    "gaussian": Gaussian,
    "exponential": Exponential,
    "matern": Matern,
    "linear": Linear,
    "cosine": Cosine,
    "chi_squared": ChiSquared,
    "arc_cosine": ArcCosine,
    "additive": Additive,
    "pairwise_anova": PairwiseAnova,
    "matching": Matching,
    "hamming": Hamming,
    "spectrum": Spectrum,
    "subsequence": Subsequence,
    "precomputed": Precomputed,
    # scikit-learn's own names keep scikit-learn's own defaults
    "rbf": lambda: Gaussian(gamma="auto"),
    "laplacian": lambda: Laplacian(gamma="auto"),
    "poly": lambda: Polynomial(degree=3, gamma="auto", coef0=1.0),
    "polynomial": lambda: Polynomial(degree=3, gamma="auto", coef0=1.0),
    "chi2": lambda: ChiSquared(gamma=1.0),
}


def as_kernel(spec: Any) -> Kernel:
    """One kernel from a name, a Kernel, a scikit-learn kernel or a function.

    Parameters
    ----------
    spec : str, Kernel, scikit-learn kernel or callable
        What the user wrote.
    """
    if isinstance(spec, Kernel):
        return spec
    if isinstance(spec, str):
        return _named(spec)
    if isinstance(spec, SklearnGPKernel):
        return GaussianProcessKernel(spec)
    if callable(spec) and not isinstance(spec, type):
        return FunctionKernel(spec)
    if is_bank(spec):
        raise ValueError(
            f"kernel is a bank of {len(spec)} kernels, and one kernel is needed here. Choose one."
        )
    raise ValueError(
        f"kernel={spec!r} is not a kernel. Give a name ({', '.join(sorted(NAMES))}), an object of "
        "kernel_learn.kernels (an instance, not the class), a scikit-learn kernel, or a function "
        "k(X, X_ref)."
    )


def as_bank(spec: Any, X: Any = None) -> tuple[list[str], list[Kernel]] | None:
    """Names and kernels of a bank; None if the user gave one kernel.

    A precomputed kernel and a stack X of matrices (n, n, p) are a bank of p layers.
    """
    if is_bank(spec):
        names, specs = named_kernels(spec)
        if not specs:
            raise ValueError("kernel is an empty bank; give at least one kernel.")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(
                f"kernel is a bank with several kernels of the name {', '.join(twice)} (names are "
                "read as strings). Give each its own name."
            )
        return names, [as_kernel(kernel) for kernel in specs]
    if spec == "precomputed" or isinstance(spec, Precomputed):
        kernel = as_kernel(spec)
        if isinstance(kernel, Precomputed) and kernel.layer is None and getattr(X, "ndim", 2) == 3:
            layers = range(X.shape[2])
            if not layers:
                raise ValueError(
                    f"X is a stack of no kernel matrices (shape {X.shape}); a stack is (n, n, p) "
                    "with p of at least 1."
                )
            return [f"kernel_{i}" for i in layers], [
                Precomputed(psd=kernel.psd, layer=i) for i in layers
            ]
    return None


def is_bank(spec: Any) -> bool:
    """Whether several kernels were given: a dict, a list or a tuple."""
    return isinstance(spec, Mapping | list | tuple)


def named_kernels(bank: Mapping[str, Any] | Sequence[Any]) -> tuple[list[str], list[Any]]:
    """Names and kernels of a bank in the user's order; a list is numbered."""
    if isinstance(bank, Mapping):
        return [str(name) for name in bank], list(bank.values())
    return [f"kernel_{i}" for i in range(len(bank))], list(bank)


def _named(name: str) -> Kernel:
    if name in NAMES:
        return NAMES[name]()
    if name in kernel_metrics():
        return PairwiseKernel(name)
    known = sorted({*NAMES, *kernel_metrics()})
    raise ValueError(f"kernel={name!r} is not known. Known names: {', '.join(known)}.")
