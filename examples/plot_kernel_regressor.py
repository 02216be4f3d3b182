"""
A regressor that needs no tuning
================================

Intervals that widen where values scatter, predicted against true values of rows that were held
out, and the error that the fit reports beside the error on new rows. See
:doc:`/methods/kernel_regressor`.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernel_learn import KernelRegressor

SIZES = [40, 80, 160, 320]


def draw_rows(n, seed):
    """A wave whose noise grows from left to right, and two columns that say nothing."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 3, size=(n, 3))
    return X, np.sin(3 * X[:, 0]) + X[:, 0] + (0.05 + 0.2 * X[:, 0]) * rng.normal(size=n)


X, y = draw_rows(max(SIZES), 0)
X_new, y_new = draw_rows(1000, 1)
models = [KernelRegressor(quality="fast").fit(X[:n], y[:n]) for n in SIZES]
model = models[-1]

figure = plt.figure(figsize=(10.6, 3.4), layout="constrained")
left, middle, right = figure.subplots(1, 3, width_ratios=[1.2, 1, 1])
line = np.column_stack([np.linspace(0, 3, 150), np.full((150, 2), 1.5)])
lower, upper = model.predict_interval(line, coverage=0.9).T
left.scatter(X[:, 0], y, s=7, color="0.6")
left.fill_between(line[:, 0], lower, upper, alpha=0.25, label="90 % intervals")
left.plot(line[:, 0], model.predict(line), label="predict")
left.set(title="KernelRegressor()", xlabel="first of three columns", ylabel="y")
left.legend(frameon=False, loc="upper left")

ends = [y.min(), y.max()]
middle.plot(ends, ends, "--", color="0.5", linewidth=0.8)
middle.scatter(model.held_out_prediction_, y, s=7)
middle.set(title="held-out rows", xlabel="predicted", ylabel="true")

errors = np.array([model.error_ for model in models])
low, high = np.array([model.error_interval_ for model in models]).T
right.errorbar(SIZES, errors, [errors - low, high - errors], fmt="o-", ms=4, capsize=2)
new = [np.sqrt(np.mean((y_new - model.predict(X_new)) ** 2)) for model in models]
right.plot(SIZES, new, "x--", ms=5)
right.set(title="what it says of itself", xlabel="training rows", xscale="log")
right.set(ylabel="RMSE", ylim=(0, None))
right.set_xticks(SIZES, [str(n) for n in SIZES])
right.minorticks_off()
right.legend(["on 1000 new rows", "held out, in fit"], frameon=False, loc="lower left")
plt.show()
