"""
Subspace and machine together, with a proof
===========================================

Left: held-out rows in the first two features of ``SubspaceSVC``. Right: both bounds of each
round of the alternation of Chen et al. (2008), and the value that the exact method proves. See
:doc:`/methods/subspace_svc`.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import kernel_learn as kl
from kernel_learn.inspection import ConvergenceDisplay, EmbeddingDisplay

ROUNDS = 10


def fit(X, y):
    """The exact solution and ten rounds of the alternation."""
    exact = kl.SubspaceSVC(C=10, reg=0.1).fit(X, y)
    rounds = kl.SubspaceSVC(C=10, reg=0.1, method="alternating", max_iter=ROUNDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        rounds.fit(X, y)
    return exact, rounds


X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
scaler = StandardScaler().fit(X_train)
exact, rounds = fit(scaler.transform(X_train), y_train)
print(f"held-out accuracy {exact.score(scaler.transform(X_test), y_test):.3f}")
print(f"value {exact.upper_bound_:.6g}, lower bound {exact.lower_bound_:.6g}")

figure = plt.figure(figsize=(9.5, 4.0), layout="constrained")
left, right = figure.subplots(1, 2)
cultivars = load_wine().target_names[y_test]
EmbeddingDisplay.from_estimator(
    exact, scaler.transform(X_test), cultivars, max_components=2, ax=left
)
left.set_title("held-out rows")
ConvergenceDisplay.from_estimator(rounds, name="alternation", ax=right)
right.axhline(exact.upper_bound_, color="black", label="exact: both bounds")
right.set_yscale("symlog", linthresh=100)
right.set(title="bounds", xlabel="round")
right.legend(frameon=False)
plt.show()
