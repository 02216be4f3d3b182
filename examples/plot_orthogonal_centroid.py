"""
One and two centroids per class
===============================

Class centroids in feature space, orthonormalised, are the cheapest subspace there is. A class
that is curved needs two of them. See :doc:`/methods/orthogonal_centroid`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from kernel_learn import KernelOrthogonalCentroid
from kernel_learn.kernels import Gaussian

GRID = np.meshgrid(np.linspace(-1.7, 2.7, 180), np.linspace(-1.3, 1.8, 140))


X, y = make_moons(300, noise=0.2, random_state=0)
X_new, y_new = make_moons(2000, noise=0.2, random_state=1)
figure = plt.figure(figsize=(7.6, 3.2), layout="constrained")
for panel, clusters in zip(figure.subplots(1, 2, sharey=True), (1, 2), strict=True):
    centroids = KernelOrthogonalCentroid(Gaussian(0.3), clusters_per_class=clusters, random_state=0)
    model = make_pipeline(centroids, KNeighborsClassifier(15)).fit(X, y)
    regions = model.predict(np.column_stack([g.ravel() for g in GRID])).reshape(GRID[0].shape)
    panel.contourf(*GRID, regions, levels=[-0.5, 0.5, 1.5], colors=["#cfe2f1", "#fde0c5"])
    for label in (0, 1):
        panel.scatter(*X[y == label].T, s=7, color=f"C{label}")
    title = f"clusters_per_class = {clusters}\naccuracy on new rows "
    panel.set_title(f"{title}{model.score(X_new, y_new):.2f}", fontsize=10)
    panel.set(xticks=[], yticks=[], aspect="equal")
plt.show()
