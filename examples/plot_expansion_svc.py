"""
Five points instead of fifty support vectors
============================================

The sparse large margin classifier keeps a fixed number of points and moves them. Predictions
cost five kernel values per row here. See :doc:`/methods/expansion_svc`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from kernel_learn import ExpansionSVC

GRID = np.meshgrid(np.linspace(-1.9, 2.9, 90), np.linspace(-1.5, 2.0, 70))


X, y = make_moons(200, noise=0.2, random_state=0)
X_new, y_new = make_moons(2000, noise=0.2, random_state=1)
options = {"n_points": 5, "C": 10.0, "random_state": 0}
still = ExpansionSVC(**options, move_points=False).fit(X, y)
moved = ExpansionSVC(**options).fit(X, y)
svc = SVC(C=10.0, gamma=moved.base_kernel_.gamma).fit(X, y)
panels = [
    ("5 cluster centres", still, still.expansion_points_),
    ("5 points, moved", moved, moved.expansion_points_),
    (f"SVC: {len(svc.support_)} support vectors", svc, svc.support_vectors_),
]
figure = plt.figure(figsize=(8.4, 2.6), layout="constrained")
for panel, (title, model, points) in zip(figure.subplots(1, 3), panels, strict=True):
    scores = model.decision_function(np.column_stack([g.ravel() for g in GRID]))
    panel.contourf(
        *GRID,
        scores.reshape(GRID[0].shape),
        levels=[-99, -1, 0, 1, 99],
        colors=["#a8c8e4", "#dceaf5", "#fdeadb", "#fbcfa6"],
    )
    for label in (0, 1):
        panel.scatter(*X[y == label].T, s=5, color=f"C{label}", lw=0)
    panel.scatter(*points.T, s=40, marker="o", fc="none", ec="black", lw=1.1)
    score = model.score(X_new, y_new)
    panel.set_title(f"{title}\naccuracy on new rows {score:.3f}", fontsize=10)
    panel.set(aspect="equal", xticks=[], yticks=[])
for start, end in zip(still.expansion_points_, moved.expansion_points_, strict=True):
    figure.axes[1].annotate("", end, start, arrowprops={"arrowstyle": "->", "color": "0.2"})
plt.show()
