"""
A kernel learned from pairs, on new digits
==========================================

A kernel is learned from 1500 pairs of 200 digits ("these two show the same", "these two do
not") and applied to 1597 other digits. On the right: kernel PCA of the base kernel. See
:doc:`/methods/inductive_kernel`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import kernel_learn as kl
from kernel_learn.inspection import EmbeddingDisplay
from kernel_learn.kernels import LowRank


def learn():
    """{method: (embedding of the unseen digits, 5-NN accuracy there)} and their labels."""
    X, y = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    seen, unseen = order[:200], order[200:]
    model = kl.InductiveKernel(
        regularizer="trace", n_components=2, n_constraints=1500, random_state=0
    ).fit(X[seen], y[seen])
    pca = LowRank("gaussian", 2).resolve(X[seen])
    embeddings = {}
    for method, transform in {"learned": model.transform, "kernel PCA": pca.transform}.items():
        knn = KNeighborsClassifier(5).fit(transform(X[seen]), y[seen])
        Z = transform(X[unseen])
        embeddings[method] = Z, knn.score(Z, y[unseen])
    return embeddings, y[unseen]


embeddings, labels = learn()
figure = plt.figure(figsize=(10, 4.6), layout="constrained")
for panel, (method, (Z, accuracy)) in zip(figure.subplots(1, 2), embeddings.items(), strict=True):
    EmbeddingDisplay.from_predictions(Z, labels, ax=panel).ax_.get_legend().remove()
    panel.set(title=f"{method}: 5-NN accuracy {accuracy:.2f}", xticks=[], yticks=[])
    panel.set(xlabel="", ylabel="")
figure.legend(*panel.get_legend_handles_labels(), loc="outside right center", frameon=False)
figure.suptitle(f"{len(labels)} digits that were not seen, two dimensions")
plt.show()
