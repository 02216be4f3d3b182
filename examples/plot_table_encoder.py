"""
Mixed columns on one scale
==========================

A table of numbers in several units, categories and missing cells: what
:class:`kernel_learn.TableEncoder` makes of it, and distances before and after. See
:doc:`/methods/table_encoder`.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from kernel_learn import KernelDiscriminant, TableEncoder, make_pipeline

rng = np.random.default_rng(0)
n = 300
colour = rng.choice(["red", "green", "blue"], n)
size, income = rng.normal(size=n), 1000 * rng.normal(40, 9, size=n)
y = np.where((colour == "red") == (size > 0), "yes", "no")
size[rng.random(n) < 0.1] = np.nan
table = np.column_stack([income.astype(object), size, colour])
codes = np.unique(colour, return_inverse=True)[1]
plain = np.column_stack([income, np.nan_to_num(size), codes])  # by hand, each in its own unit

encoder = TableEncoder().fit(table)
encoded = encoder.transform(table)

figure = plt.figure(figsize=(10.6, 3.4), layout="constrained")
left, middle, right = figure.subplots(1, 3, width_ratios=[1.2, 1, 0.8])
shades = left.imshow(encoded[:25], aspect="auto", cmap="RdBu_r", vmin=-2.5, vmax=2.5)
names = [
    name.replace("x0", "income").replace("x1", "size").replace("x2", "colour")
    for name in map(str, encoder.get_feature_names_out())
]
left.set_xticks(range(len(names)), names, rotation=40, ha="right", fontsize="small")
left.set(title="25 encoded rows", ylabel="row")
figure.colorbar(shades, ax=left, shrink=0.85)


def distances(X):
    """Between all pairs of 100 rows, each over their mean."""
    D = np.linalg.norm(X[:100, None] - X[None, :100], axis=2)[np.triu_indices(100, 1)]
    return D / D.mean()


gap = np.abs(income[:100, None] - income[None, :100])[np.triu_indices(100, 1)] / 1000
for rows, label in ((plain, "as it is"), (encoded, "encoded")):
    middle.scatter(gap, distances(rows), s=2, label=label)
middle.set(title="distances", xlabel="difference of incomes (thousands)", ylabel="distance / mean")
middle.legend(frameon=False, markerscale=4)

warnings.filterwarnings("ignore", message=".*times as wide as")  # which this picture shows
shares = [
    model.fit(rows[:200], y[:200]).score(rows[200:], y[200:])
    for model, rows in (
        (KernelDiscriminant(), plain),
        (make_pipeline(TableEncoder(), KernelDiscriminant()), table),
    )
]
right.bar(["as it is", "encoded"], shares, width=0.6, color=["C0", "C1"])
right.set(title="KernelDiscriminant", ylabel="accuracy on new rows", ylim=(0, 1))
plt.show()
