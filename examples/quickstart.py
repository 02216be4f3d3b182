"""Two learners without tuning beside a grid-searched SVC on held-out rows: what ``make run`` runs.

``KernelClassifier`` takes the table as it comes. The subspace is not tuned either:
Gaussian kernel of median width, as many features as the centred labels have
dimensions, then the nearest neighbours in those features. The SVC chooses C and
gamma by 5-fold cross-validation. All get the same rows.
"""

from pathlib import Path
from time import perf_counter

from matplotlib.figure import Figure
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kernel_learn as kl

PICTURE = Path("out", "embedding.png")
DATA_SETS = {"wine": load_wine, "digits": load_digits}


def split(load):
    """Rows and labels of a data set: 70 % to learn from, 30 % held out."""
    X, y = load(return_X_y=True)
    return train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)


def learned_subspace():
    return make_pipeline(
        StandardScaler(),
        kl.HSICSubspace(kernel="gaussian", uncorrelated=True),
        KNeighborsClassifier(n_neighbors=5),
    )


def tuned_svc(n_columns):
    grid = {
        "svc__C": [1, 10, 100],
        "svc__gamma": [factor / n_columns for factor in (0.1, 0.3, 1, 3)],
    }
    return GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=5)


def compare():
    """Print one line per data set and method: held-out accuracy and seconds to fit."""
    header = f"{'data':8}{'rows':>6}{'held out':>10}   {'method':34}{'accuracy':>9}{'fit':>10}"
    print(header, "-" * len(header), sep="\n")
    for name, load in DATA_SETS.items():
        X_train, X_test, y_train, y_test = split(load)
        methods = {
            "KernelClassifier()": kl.KernelClassifier(),
            "learned subspace, 5 neighbours": learned_subspace(),
            "SVC, grid-searched (12 x 5 fits)": tuned_svc(X_train.shape[1]),
        }
        for method, model in methods.items():
            start = perf_counter()
            model.fit(X_train, y_train)
            seconds = perf_counter() - start
            accuracy = model.score(X_test, y_test)
            print(
                f"{name:8}{len(X_train):6d}{len(X_test):10d}   {method:34}"
                f"{accuracy:9.3f}{seconds:8.3f} s"
            )


def draw(path):
    """The two learned features of wine: the rows they were learned from, and held-out rows."""
    X_train, X_test, y_train, y_test = split(load_wine)
    embedding = make_pipeline(
        StandardScaler(), kl.HSICSubspace(kernel="gaussian", n_components=2, uncorrelated=True)
    ).fit(X_train, y_train)

    figure = Figure(figsize=(9, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for panel, title, X, y in [
        (panels[0], "training rows", X_train, y_train),
        (panels[1], "held-out rows", X_test, y_test),
    ]:
        Z = embedding.transform(X)
        for label, cultivar in enumerate(load_wine().target_names):
            rows = y == label
            panel.scatter(Z[rows, 0], Z[rows, 1], s=22, label=cultivar)
        panel.set(title=f"{title} ({len(X)})", xlabel="feature 1")
    panels[0].set_ylabel("feature 2")
    panels[0].legend(frameon=False)
    figure.suptitle("wine in its learned subspace (uncorrelated HSIC, Gaussian kernel)")

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    compare()
    draw(PICTURE)
    print(f"\nThe learned 2-D embedding of wine is in {PICTURE}.")
