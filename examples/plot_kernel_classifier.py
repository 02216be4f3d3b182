"""
A classifier that needs no tuning
=================================

Probabilities on the two moons, the members that were averaged, and the error that the fit
reports beside the error on new rows. See :doc:`/methods/kernel_classifier`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from kernel_learn import KernelClassifier
from kernel_learn.inspection import MembersDisplay

GRID = np.meshgrid(np.linspace(-2, 3, 90), np.linspace(-1.7, 2.2, 70))
SIZES = [20, 40, 80, 160, 320]


X, y = make_moons(320, noise=0.3, random_state=0)
X_new, y_new = make_moons(2000, noise=0.3, random_state=1)
models = [KernelClassifier().fit(X[:n], y[:n]) for n in SIZES]

figure = plt.figure(figsize=(10.6, 3.4), layout="constrained")
left, middle, right = figure.subplots(1, 3, width_ratios=[1.2, 1, 1])
p = models[-1].predict_proba(np.column_stack([g.ravel() for g in GRID]))[:, 1]
levels = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1]
shades = left.contourf(*GRID, p.reshape(GRID[0].shape), levels, cmap="RdBu_r", alpha=0.6)
figure.colorbar(shades, ax=left, label="p(red | x)", shrink=0.85)
for label, color in ((0, "C0"), (1, "C3")):
    left.scatter(*X[y == label].T, s=9, color=color)
left.set(title="KernelClassifier()", aspect="equal", xticks=[], yticks=[])

MembersDisplay.from_estimator(models[-1], max_members=8, ax=middle)
middle.tick_params(labelsize="small")
middle.set_title("the heaviest members")

held_out = [model.loo_error_ for model in models]
spread = [model.loo_error_se_ for model in models]
right.errorbar(SIZES, held_out, spread, fmt="o-", ms=4, capsize=2, label="held out, in fit")
errors = [1 - model.score(X_new, y_new) for model in models]
right.plot(SIZES, errors, "x--", ms=5, label="on 2000 new rows")
right.set(title="what it says of itself", xlabel="training rows", xscale="log")
right.set(ylabel="error", ylim=(0, 0.3))
right.set_xticks(SIZES, [str(n) for n in SIZES])
right.minorticks_off()
right.legend(frameon=False, loc="lower left")
plt.show()
