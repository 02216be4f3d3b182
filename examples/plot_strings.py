"""
Sequences without any columns
=============================

Two families of sequences over four letters share a motif each, at any place. A spectrum kernel
counts the substrings that two of them have in common; no alignment and no table is needed. See
:doc:`/tutorials/strings`.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernel_learn import KernelDiscriminant
from kernel_learn.inspection import EmbeddingDisplay
from kernel_learn.kernels import Spectrum, Subsequence

MOTIFS = ["GATTACA", "CCATGGT", None]
rng = np.random.default_rng(0)


def sequence(motif):
    """Sixty letters by chance, the motif somewhere among them with one letter changed."""
    letters = rng.choice(list("ACGT"), size=60)
    if motif:
        start = rng.integers(0, 60 - len(motif))
        letters[start : start + len(motif)] = list(motif)
        letters[start + rng.integers(len(motif))] = rng.choice(list("ACGT"))
    return "".join(letters)


y = rng.integers(0, 3, size=240)
X = np.array([sequence(MOTIFS[label]) for label in y], dtype=object)
names = np.array(["GATTACA", "CCATGGT", "neither"])[y]
print(X[0], names[0])

KERNELS = {
    "Spectrum(2)": Spectrum(2),
    "Spectrum(4)": Spectrum(4),
    "Subsequence(4)": Subsequence(4, decay=0.5),
}
figure = plt.figure(figsize=(8.8, 3.3), layout="constrained")
for panel, (title, kernel) in zip(figure.subplots(1, 3), KERNELS.items(), strict=True):
    model = KernelDiscriminant(kernel).fit(X[:160], names[:160])
    EmbeddingDisplay.from_estimator(model, X[160:], names[160:], ax=panel)
    score = model.score(X[160:], names[160:])
    panel.set_title(f"{title}: {score:.0%} right", fontsize=10)
    if title != "Spectrum(2)":
        panel.get_legend().remove()
plt.show()
