"""
How many scores: kernel partial least squares
=============================================

Scores are taken one after the other, and one fit gives the predictions with the first 1, 2, ...
of them. See :doc:`/methods/kernel_pls`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes, load_digits
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from kernel_learn import KernelPLS, KernelPLSRegressor
from kernel_learn.kernels import Gaussian


def predictions(model, X):
    """Predicted targets with the first 1, 2, ... scores: one fit gives them all."""
    F = model.transform(X)
    terms = F[:, :, None] * model.loadings_  # (n, l, q)
    return (model.intercept_ + np.cumsum(terms, axis=1)).transpose(1, 0, 2)


figure = plt.figure(figsize=(8, 3.3), layout="constrained")
left, right = figure.subplots(1, 2)

X, y = load_diabetes(return_X_y=True)
rows = train_test_split(scale(X), y, test_size=0.5, random_state=0)
model = KernelPLSRegressor(Gaussian(0.01), n_components=20).fit(rows[0], rows[2])
for X_part, y_part, style, name in (
    (rows[0], rows[2], "x-", "training rows"),
    (rows[1], rows[3], "o--", "held-out rows"),
):
    scores = [r2_score(y_part, p) for p in predictions(model, X_part)]
    left.plot(range(1, 21), scores, style, ms=5, label=name)
left.set(title="diabetes, one real target", xlabel="number of scores", ylabel="$R^2$")
left.set(xticks=[1, 5, 10, 15, 20])
left.legend(frameon=False)

X, y = load_digits(return_X_y=True)
rows = train_test_split(X[:1000], y[:1000], test_size=0.5, random_state=0)
classifier = KernelPLS(n_components=40).fit(rows[0], rows[2])
for X_part, y_part, style in ((rows[0], rows[2], "x-"), (rows[1], rows[3], "o--")):
    errors = [np.mean(p.argmax(axis=1) != y_part) for p in predictions(classifier, X_part)]
    right.plot(range(1, 41), errors, style, ms=4)
right.set(title="digits, ten classes", xlabel="number of scores", ylabel="error rate")
right.axvline(10, color="0.6", lw=1, ls=":", zorder=0)
right.text(10.5, 0.7, "default: one per class", color="0.4", fontsize=9)
plt.show()
