"""
Are the probabilities calibrated
================================

Of the rows to which a model gives 80 %, four in five should be of that class. Probabilities of
``KernelClassifier`` come from scores of held-out rows, so they are calibrated without a
further calibration. See :doc:`/guide/probabilities`.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

from kernel_learn import KernelClassifier, KernelDiscriminant, SubspaceSVC

X, y = make_classification(
    3000, n_features=10, n_informative=4, n_redundant=4, flip_y=0.1, random_state=0
)
X_train, y_train, X_test, y_test = X[:400], y[:400], X[400:], y[400:]
MODELS = [KernelClassifier(), KernelDiscriminant(), SubspaceSVC(C=1), GaussianNB()]

figure = plt.figure(figsize=(8.4, 4), layout="constrained")
curve, counts = figure.subplots(1, 2)
for i, model in enumerate(MODELS):
    proba = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    name = f"{type(model).__name__}: log loss {log_loss(y_test, proba):.2f}"
    CalibrationDisplay.from_predictions(
        y_test, proba, n_bins=8, strategy="quantile", name=name, ax=curve, color=f"C{i}"
    )
    counts.hist(proba, bins=25, range=(0, 1), histtype="step", color=f"C{i}", lw=1.4)
curve.set(xlabel="probability that is given", ylabel="share that came true")
curve.legend(frameon=False, fontsize=8, loc="upper left")
counts.set(xlabel="probability that is given", ylabel="rows", yscale="log")
plt.show()
