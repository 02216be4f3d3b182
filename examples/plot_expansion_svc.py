"""Five points that move, and the support vectors of an SVC: writes expansion_svc.png."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from kernel_learn import ExpansionSVC

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "images"
GRID = np.meshgrid(np.linspace(-1.9, 2.9, 90), np.linspace(-1.5, 2.0, 70))


def main():
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
    figure = Figure(figsize=(8.4, 2.6), layout="constrained")
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
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / "expansion_svc.png", dpi=110, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main()
