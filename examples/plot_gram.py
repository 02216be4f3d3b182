"""
A kernel matrix before and after learning
=========================================

Rows in the order of their classes. The base kernel sees a wine in its neighbours; the learned
kernel sees its cultivar, on rows that it was not shown too.
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
