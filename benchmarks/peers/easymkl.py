"""EasyMKL of MKLpy on ten Gaussian kernels; runs in MKLpy's own environment."""

import numpy as np
import torch
from measuring import measure
from MKLpy.algorithms import EasyMKL
from sklearn.metrics.pairwise import rbf_kernel

torch.set_num_threads(1)
WIDTHS = np.logspace(-2, 1, 10)


def work(X, y):
    def grams(A):
        return [torch.tensor(rbf_kernel(A, X, gamma=g / X.shape[1])) for g in WIDTHS]

    model = EasyMKL(lam=0.1).fit(grams(X), y)
    return lambda X_new: model.predict(grams(X_new))


measure("EasyMKL", work)
