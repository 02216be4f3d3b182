"""
Two kernel values per row
=========================

AKDA/QR uses class means only, so its cost is linear in the rows. Where a class is one cloud
that is enough; on the two moons RKDA does better. See :doc:`/methods/discriminant_qr`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from kernel_learn import KernelDiscriminant, KernelDiscriminantQR

GRID = np.meshgrid(np.linspace(-1.7, 2.7, 90), np.linspace(-1.3, 1.8, 70))


X, y = make_moons(200, noise=0.2, random_state=0)
models = {
    "AKDA/QR: 2 kernel values per row": KernelDiscriminantQR(n_components=1).fit(X, y),
    f"RKDA: {len(X)} kernel values per row": KernelDiscriminant().fit(X, y),
}
figure = plt.figure(figsize=(7.6, 3), layout="constrained")
for panel, (title, model) in zip(figure.subplots(1, 2), models.items(), strict=True):
    feature = model.transform(np.column_stack([g.ravel() for g in GRID]))[:, 0]
    means = [model.transform(X[y == label])[:, 0].mean() for label in (0, 1)]
    level = (feature - np.mean(means)) / (means[1] - means[0])  # -1/2, +1/2: the class means
    level = level.reshape(GRID[0].shape)
    panel.contourf(
        *GRID, level, [-9, -0.5, 0, 0.5, 9], colors=["#a8c8e4", "#dceaf5", "#fdeadb", "#fbcfa6"]
    )
    for label in (0, 1):
        panel.scatter(*X[y == label].T, s=7, color=f"C{label}")
    panel.set_title(title, fontsize=10)
    panel.set(aspect="equal", xticks=[], yticks=[])
centroids = models["AKDA/QR: 2 kernel values per row"].kernel_.landmarks
figure.axes[0].scatter(*centroids.T, s=190, marker="*", color=["C0", "C1"], ec="black")
plt.show()
