"""
What three classifiers make of three shapes
===========================================

``KernelClassifier`` without any setting, a support vector machine and nearest neighbours
with their defaults. The shade is the probability, the number the accuracy on new rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles, make_classification, make_moons
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernel_learn import KernelClassifier

TABLES = {
    "moons": make_moons(200, noise=0.3, random_state=0),
    "circles": make_circles(200, noise=0.2, factor=0.4, random_state=1),
    "clouds": make_classification(
        200, n_features=2, n_redundant=0, n_clusters_per_class=1, class_sep=0.9, random_state=3
    ),
}
MODELS = {
    "KernelClassifier()": KernelClassifier(),
    "SVC()": make_pipeline(StandardScaler(), SVC()),
    "KNeighborsClassifier(5)": make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
}

figure = plt.figure(figsize=(8.4, 7.4), layout="constrained")
panels = figure.subplots(len(TABLES), len(MODELS))
for row, (name, (X, y)) in zip(panels, TABLES.items(), strict=True):
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    grid = np.meshgrid(np.linspace(low[0], high[0], 60), np.linspace(low[1], high[1], 60))
    points = np.column_stack([g.ravel() for g in grid])
    for panel, (title, model) in zip(row, MODELS.items(), strict=True):
        model.fit(X_train, y_train)
        if hasattr(model, "predict_proba"):
            shade = model.predict_proba(points)[:, 1]
        else:
            shade = 1 / (1 + np.exp(-3 * model.decision_function(points)))
        levels = np.linspace(0, 1, 11)
        panel.contourf(*grid, shade.reshape(grid[0].shape), levels, cmap="RdBu_r", alpha=0.7)
        for label, color in ((0, "C0"), (1, "C3")):
            panel.scatter(*X_train[y_train == label].T, s=12, color=color, ec="white", lw=0.4)
        panel.text(
            0.97, 0.03, f"{model.score(X_test, y_test):.2f}", transform=panel.transAxes, ha="right"
        )
        panel.set(xticks=[], yticks=[])
        if row is panels[0]:
            panel.set_title(title)
    row[0].set_ylabel(name)
plt.show()
