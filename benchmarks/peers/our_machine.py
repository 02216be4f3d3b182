"""MultiKernelSVC on the ten Gaussian kernels that EasyMKL has."""

import numpy as np
from measuring import measure

from kernel_learn import MultiKernelSVC
from kernel_learn.kernels import Gaussian

WIDTHS = np.logspace(-2, 1, 10)


def work(X, y):
    bank = [Gaussian(g / X.shape[1]) for g in WIDTHS]
    return MultiKernelSVC(bank).fit(X, y).predict


measure("MultiKernelSVC", work)
