"""
Three sensors, and how much each is trusted
===========================================

Three sensors record the same events: one well, one with noise, one not at all. One kernel for
each, and the weights are learned together with the subspace. Learned weights that fit
(``"criterion"``) are compared with weights chosen by leave-one-out (``"loo"``). See
:doc:`/tutorials/sensors`.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernel_learn import KernelDiscriminant
from kernel_learn.kernels import ColumnKernel, Gaussian

rng = np.random.default_rng(0)
y = rng.integers(0, 3, size=300)
angle = 2 * np.pi * y / 3
signal = np.column_stack([np.cos(angle), np.sin(angle)])
good = signal + rng.normal(scale=0.6, size=(300, 2))
poor = signal + rng.normal(scale=1.6, size=(300, 2))
dead = rng.normal(size=(300, 2))
X = np.hstack([good, poor, dead])
BANK = {
    "good sensor": ColumnKernel(Gaussian(), [0, 1]),
    "poor sensor": ColumnKernel(Gaussian(), [2, 3]),
    "dead sensor": ColumnKernel(Gaussian(), [4, 5]),
}
MODELS = {
    "all columns, one kernel": KernelDiscriminant(Gaussian()),
    "uniform weights": KernelDiscriminant(BANK, weights="uniform"),
    "learned with reg": KernelDiscriminant(BANK, reg="learn"),
    'weights="loo"': KernelDiscriminant(BANK, weights="loo"),
}

figure = plt.figure(figsize=(8.4, 3.4), layout="constrained")
bars, errors = figure.subplots(1, 2, width_ratios=[1.3, 1])
train = np.arange(300) < 150
for i, (name, model) in enumerate(MODELS.items()):
    model.fit(X[train], y[train])
    error = 1 - model.score(X[~train], y[~train])
    errors.barh(i, error, color=f"C{i}")
    errors.text(error, i, f" {error:.2f}", va="center")
    if i:
        weights = model.kernel_weights_ / model.kernel_weights_.sum()
        bars.bar(np.arange(3) + 0.27 * (i - 2), weights, width=0.25, color=f"C{i}", label=name)
bars.set_xticks(range(3), list(BANK))
bars.set(ylabel="share of the weight")
bars.legend(frameon=False, fontsize=9)
errors.set_yticks(range(len(MODELS)), list(MODELS))
errors.invert_yaxis()
errors.set(xlabel="error on new rows", xlim=(0, 0.4))
for panel in (bars, errors):
    panel.spines[["top", "right"]].set_visible(False)
plt.show()
