"""
How many landmarks are enough
=============================

With m landmarks a fit holds one block of rows and m squared numbers instead of n squared. The
error falls quickly with m, then stays; how they are chosen matters while they are few. See
:doc:`/guide/landmarks`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from kernel_learn import KernelDiscriminant, Landmarks

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
COUNTS = [10, 20, 40, 80, 160, 320]

figure = plt.figure(figsize=(6.4, 3.8), layout="constrained")
panel = figure.subplots()
for rule, style in (("rpcholesky", "o-"), ("uniform", "s--"), ("kmeans", "^:")):
    models = [KernelDiscriminant(landmarks=Landmarks(rule, m), random_state=0) for m in COUNTS]
    errors = [1 - model.fit(X_train, y_train).score(X_test, y_test) for model in models]
    panel.loglog(COUNTS, errors, style, ms=5, label=f'"{rule}"')
exact = 1 - KernelDiscriminant(landmarks="all").fit(X_train, y_train).score(X_test, y_test)
panel.axhline(exact, color="0.6", lw=1, zorder=0)
panel.text(COUNTS[0], exact * 1.05, f"all {len(X_train)} rows", color="0.4", va="bottom")
panel.set_xticks(COUNTS, [str(count) for count in COUNTS])
panel.minorticks_off()
panel.set(xlabel="landmarks", ylabel="error on new digits")
panel.legend(frameon=False)
plt.show()
