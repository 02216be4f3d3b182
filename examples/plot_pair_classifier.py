"""
Are these two alike
===================

Distances of pairs of wines before and after a kernel is learned from 300 pairs, and the
threshold on them. No class label is used. See :doc:`/methods/pair_classifier`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale
from sklearn.utils import shuffle

from kernel_learn import InductiveKernel, PairClassifier

COLORS = {"same": "#0072B2", "different": "#E69F00"}


def draw(ax, distances, same, title):
    bins = np.linspace(0, np.quantile(distances, 0.99), 40)
    for name, chosen in (("same", same), ("different", ~same)):
        ax.hist(distances[chosen], bins, alpha=0.7, color=COLORS[name], label=name)
    ax.set(xlabel="squared distance", yticks=[], title=title)
    ax.spines[["top", "right", "left"]].set_visible(False)


X, y = shuffle(*load_wine(return_X_y=True), random_state=0)
X, rng = scale(X), np.random.default_rng(0)
known, new = rng.integers(0, 120, (300, 2)), rng.integers(120, len(X), (1500, 2))
new = new[new[:, 0] != new[:, 1]]
same, same_new = (y[pairs[:, 0]] == y[pairs[:, 1]] for pairs in (known, new))
model = PairClassifier(InductiveKernel()).fit(X, known, same)
X_a, X_b = X[new[:, 0]], X[new[:, 1]]
figure = plt.figure(figsize=(7.8, 2.8), layout="constrained")
before, after = figure.subplots(1, 2)
draw(before, np.sum((X_a - X_b) ** 2, axis=1), same_new, "before learning")
draw(after, model.threshold_ - model.decision_function(X_a, X_b), same_new, "after learning")
after.axvline(model.threshold_, color="0.3", lw=1)
after.set_title(f"after learning: {model.score(X_a, X_b, same_new):.0%} right")
before.legend(frameon=False)
plt.show()
