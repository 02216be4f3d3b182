"""
Dependence on the labels as a picture
=====================================

HSIC and uHSIC give k - 1 features for k classes. Filled: training rows; hollow: rows held out.
With too little regularisation the training rows of a class coincide and the others do not. See
:doc:`/methods/hsic_subspace`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale

from kernel_learn import HSICSubspace
from kernel_learn.inspection import EmbeddingDisplay

MODELS = {
    "HSIC, reg = 0.001": HSICSubspace(reg=1e-3),
    "uHSIC, reg = 0.001": HSICSubspace(reg=1e-3, uncorrelated=True),
    "uHSIC, reg = 1": HSICSubspace(reg=1.0, uncorrelated=True),
}


X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    scale(X), y, test_size=0.5, stratify=y, random_state=0
)
figure = plt.figure(figsize=(7.8, 3.3), layout="constrained")
for panel, (title, model) in zip(figure.subplots(1, 3), MODELS.items(), strict=True):
    F_train, F_test = model.fit(X_train, y_train).transform(X_train), model.transform(X_test)
    display = EmbeddingDisplay.from_estimator(
        model, X_train, y_train, X_new=X_test, y_new=y_test, ax=panel
    )
    display.ax_.get_legend().remove()
    score = KNeighborsClassifier(1).fit(F_train, y_train).score(F_test, y_test)
    panel.set_title(f"{title}\nheld-out 1-NN accuracy {score:.3f}", fontsize=10)
    panel.set_box_aspect(1)
    panel.set_ylabel("")
figure.axes[0].set_ylabel("feature 2")
for look, label in (({"color": "0.4"}, "training"), ({"fc": "none", "ec": "0.4"}, "held out")):
    figure.axes[0].scatter([], [], s=24, label=label, **look)
handles, names = figure.axes[0].get_legend_handles_labels()
figure.legend(handles[-2:], names[-2:], loc="outside lower center", ncols=2, frameon=False)
plt.show()
