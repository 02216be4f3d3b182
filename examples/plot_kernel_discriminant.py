"""
Regularisation by leave-one-out
===============================

RKDA chooses its regularisation by exact leave-one-out: one eigendecomposition serves all
values. The curve is compared with the error on new rows. See
:doc:`/methods/kernel_discriminant`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from kernel_learn import KernelDiscriminant
from kernel_learn.inspection import RegularizationPathDisplay

GRID = np.meshgrid(np.linspace(-2, 3, 90), np.linspace(-1.7, 2.2, 70))


X, y = make_moons(200, noise=0.3, random_state=0)
X_new, y_new = make_moons(2000, noise=0.3, random_state=1)
model = KernelDiscriminant().fit(X, y)

figure = plt.figure(figsize=(8.4, 3.4), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
p = model.predict_proba(np.column_stack([g.ravel() for g in GRID]))[:, 1]
levels = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1]
shades = left.contourf(*GRID, p.reshape(GRID[0].shape), levels, cmap="RdBu_r", alpha=0.6)
figure.colorbar(shades, ax=left, label="p(red | x)", shrink=0.85)
for label, color in ((0, "C0"), (1, "C3")):
    left.scatter(*X[y == label].T, s=9, color=color)
left.set(title='reg="loo"', aspect="equal", xticks=[], yticks=[])

RegularizationPathDisplay.from_estimator(model, ax=right, label="leave-one-out squared error")
errors = [1 - KernelDiscriminant(reg=reg).fit(X, y).score(X_new, y_new) for reg in model.loo_regs_]
right.loglog(model.loo_regs_, errors, "x--", ms=5, label="error rate on 2000 new rows")
right.set(title="one decomposition, 25 values of reg", ylabel="")
right.legend(frameon=False)
plt.show()
