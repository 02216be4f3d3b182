"""The first feature of AKDA/QR and of RKDA on the two moons: writes discriminant_qr.png."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_moons

from kernel_learn import KernelDiscriminant, KernelDiscriminantQR

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "images"
GRID = np.meshgrid(np.linspace(-1.7, 2.7, 90), np.linspace(-1.3, 1.8, 70))


def main():
    X, y = make_moons(200, noise=0.2, random_state=0)
    models = {
        "AKDA/QR: 2 kernel values per row": KernelDiscriminantQR(n_components=1).fit(X, y),
        f"RKDA: {len(X)} kernel values per row": KernelDiscriminant().fit(X, y),
    }
    figure = Figure(figsize=(7.6, 3), layout="constrained")
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
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / "discriminant_qr.png", dpi=110, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main()
