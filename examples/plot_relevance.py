"""
Which columns mattered
======================

A fitted ``KernelClassifier`` measures how strongly its prediction changes with each column, on
average over the rows. Columns of noise, added here, show what no relevance looks like.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from kernel_learn import KernelClassifier
from kernel_learn.inspection import RelevanceDisplay

frame, y = load_wine(return_X_y=True, as_frame=True)
rng = np.random.default_rng(0)
noise = pd.DataFrame(rng.normal(size=(len(frame), 5)), columns=[f"noise {i}" for i in range(5)])
model = KernelClassifier().fit(pd.concat([frame, noise], axis=1), y)

figure = plt.figure(figsize=(7, 4.4), layout="constrained")
display = RelevanceDisplay.from_estimator(model, max_features=18, ax=figure.subplots())
display.ax_.set_title(f"held-out error {model.error_:.1%}")
plt.show()
