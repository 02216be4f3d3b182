"""
Which columns the kernel uses
=============================

Thirty columns of measurements and twenty of noise: scales of columns inside a Gaussian kernel
are learned by leave-one-out, and the noise is dropped. See :doc:`/methods/feature_scales`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from kernel_learn import FeatureScales
from kernel_learn.inspection import RelevanceDisplay

NOISE = 20


data = load_breast_cancer()
X, y = scale(data.data)[::2], data.target[::2]
noise = np.random.default_rng(0).normal(size=(len(X), NOISE))
model = FeatureScales().fit(np.hstack([X, noise]), y)
figure = plt.figure(figsize=(7.8, 3.4), layout="constrained")
bars, path = figure.subplots(1, 2)
names = [*data.feature_names, *(f"noise {i + 1}" for i in range(NOISE))]
RelevanceDisplay(relevance=model.scales_, names=names).plot(ax=bars, max_features=12)
bars.set_xlabel("scale")
steps = [step for step in model.path_ if step["penalty"] is not None]
path.plot([step["n_features"] for step in steps], [step["error"] for step in steps], "o-", ms=4)
path.axhline(model.path_[0]["error"], color="0.6", lw=0.8)
path.annotate("all columns alike", (0, model.path_[0]["error"]), (2, 4), textcoords="offset points")
path.set(xlabel="columns left", ylabel="squared error of rows left out", xlim=(0, None))
path.spines[["top", "right"]].set_visible(False)
plt.show()
