"""
Alignment, and how it overfits
==============================

SKFE maximises the alignment of a subspace kernel with the labels. Without regularisation it
reaches high values for random labels too; ``reg`` is what makes the figure mean
something. See :doc:`/methods/alignment_subspace`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from kernel_learn import AlignmentSubspace

REGS = np.geomspace(1e-3, 10, 9)


def alignment(K, y):
    """<K, YY'> / (|K| |YY'|), uncentred as in the paper."""
    Y = np.eye(3)[y]
    return np.sum((K @ Y) * Y) / np.linalg.norm(K) / np.linalg.norm(Y.T @ Y)


def curves(X, y):
    """Alignment on the training rows and on held-out rows for each reg."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    models = [AlignmentSubspace(reg=reg, max_iter=2000).fit(X_train, y_train) for reg in REGS]
    return (
        [model.alignment_ for model in models],
        [alignment(model.kernel_(X_test), y_test) for model in models],
    )


X, y = load_wine(return_X_y=True)
X, permuted = scale(X), np.random.default_rng(0).permutation(y)
figure = plt.figure(figsize=(6.4, 3.8), layout="constrained")
panel = figure.subplots()
for labels, name, color in ((y, "true labels", "C0"), (permuted, "permuted labels", "C3")):
    train, test = curves(X, labels)
    panel.semilogx(REGS, train, "x-", color=color, label=f"{name}, training rows")
    panel.semilogx(REGS, test, "o--", color=color, label=f"{name}, held-out rows")
counts = np.bincount(y)
constant = np.linalg.norm(counts) / counts.sum()
panel.axhline(constant, color="0.6", lw=1, zorder=0)
panel.text(REGS[0], constant + 0.01, "a constant kernel", color="0.4", fontsize=9)
panel.axvline(AlignmentSubspace().reg, color="0.6", lw=1, ls=":", zorder=0)
panel.text(AlignmentSubspace().reg * 1.1, 0.22, "default", color="0.4", fontsize=9)
panel.set(xlabel="reg", ylabel="alignment with the labels", ylim=(0.15, 1.03))
figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=9)
plt.show()
