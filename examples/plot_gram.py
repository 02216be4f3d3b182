"""
A kernel matrix before and after learning
=========================================

Rows in the order of their classes. In the base kernel a wine resembles its neighbours; in the
learned kernel it resembles its cultivar, also on rows that were not in the fit.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from kernel_learn import HSICSubspace
from kernel_learn.inspection import GramDisplay

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
scaler = StandardScaler().fit(X_train)
model = HSICSubspace(uncorrelated=True, reg=0.1).fit(scaler.transform(X_train), y_train)

GramDisplay.from_estimator(model, scaler.transform(X_test), y_test)
plt.show()
