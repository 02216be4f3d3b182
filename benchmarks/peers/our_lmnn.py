"""KernelLMNN, linear."""

from measuring import measure
from sklearn.neighbors import KNeighborsClassifier

from kernel_learn import KernelLMNN


def work(X, y):
    model = KernelLMNN("linear").fit(X, y)
    nearest = KNeighborsClassifier(3).fit(model.transform(X), y)
    return lambda X_new: nearest.predict(model.transform(X_new))


measure("KernelLMNN", work)
