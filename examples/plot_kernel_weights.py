"""
Weights of ten kernels, and their certificates
==============================================

Three criteria weigh ten Gaussian widths on digits; three solvers close the certified gap of the
same convex problem. See :doc:`/methods/kernel_weights`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from kernel_learn import HSICSubspace, KernelDiscriminant, MultiKernelSVC
from kernel_learn.inspection import ConvergenceDisplay
from kernel_learn.kernels import gaussian_bank

BANK = gaussian_bank(10, low=0.1, high=100.0)
MODELS = {
    "HSIC_mkl": HSICSubspace(BANK, uncorrelated=True),
    "SDP_theta,lambda": KernelDiscriminant(BANK, reg="learn"),
    "SM1": MultiKernelSVC(BANK, C=10),
}


X, y = load_digits(return_X_y=True)
X, y = X[:400] / 16, y[:400]
figure = plt.figure(figsize=(7.8, 3.2), layout="constrained")
weights, gaps = figure.subplots(1, 2)
positions = np.arange(len(BANK))
for i, (name, model) in enumerate(MODELS.items()):
    model.fit(X, y)
    weights.bar(positions + 0.27 * (i - 1), model.kernel_weights_, width=0.27, label=name)
weights.set_xticks(positions, [f"{1 / k.gamma:.2g}" for k in BANK.values()])
weights.tick_params(axis="x", labelsize=7)
weights.set_xlabel("sigma")
weights.set_ylabel("kernel_weights_")
weights.legend(frameon=False, fontsize=8)
for solver in ("newton", "silp", "bundle"):
    model = HSICSubspace(BANK, uncorrelated=True, solver=solver).fit(X, y)
    ConvergenceDisplay.from_estimator(model, kind="gap", name=solver, ax=gaps)
gaps.axhline(1e-6, color="0.6", lw=0.8)
gaps.set_xlabel("evaluations of the criterion")
gaps.set(ylabel="certified relative gap (HSIC_mkl)", ylim=(1e-12, 10))
plt.show()
