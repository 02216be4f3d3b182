"""LMNN of metric-learn, linear; runs in metric-learn's own environment."""

from measuring import measure
from metric_learn import LMNN
from sklearn.neighbors import KNeighborsClassifier


def work(X, y):
    model = LMNN(n_neighbors=3).fit(X, y)
    nearest = KNeighborsClassifier(3).fit(model.transform(X), y)
    return lambda X_new: nearest.predict(model.transform(X_new))


measure("metric-learn LMNN", work)
