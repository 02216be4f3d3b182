"""Whether an estimator has the manners that all others here have, and scikit-learn's."""

import copy
import inspect
import pickle
import re
import warnings

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_checks

from kernel_learn.arrays import Array, LabelsLike, Rows, RowsLike
from kernel_learn.testing.kernel import check_kernel
from kernel_learn.testing.promise import Promise
from kernel_learn.testing.solver import KNOWN


def check_estimator(
    estimator: BaseEstimator,
    X: RowsLike | None = None,
    y: LabelsLike | None = None,
    *,
    scikit_learn: bool = True,
    rtol: float = 1e-6,
) -> None:
    """Raise AssertionError with a sentence that names the first promise the estimator breaks.

    The promises of this package come first: what ``fit`` may write to, a refused fit that changes
    nothing, rows in any order, a learned kernel that is the features' own, honest bounds. Then
    scikit-learn's ``check_estimator`` is run.

    Parameters
    ----------
    estimator : estimator
        A transformer or classifier, not fitted; one that learns from rows and labels.
    X : array-like, optional
        Rows to fit, at most a few hundred; by default sixty of four columns.
    y : array-like, optional
        Their labels; by default three classes.
    scikit_learn : bool
        Whether scikit-learn's own checks are run too; they take seconds.
    rtol : float
        How far features of the same rows in another order may be apart.

    Examples
    --------
    >>> import kernel_learn as kl
    >>> from kernel_learn.testing import check_estimator
    >>> check_estimator(kl.KernelOrthogonalCentroid(random_state=0), scikit_learn=False)
    """
    promise = Promise(type(estimator).__name__, rtol)
    if X is None:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 4))
        y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check_words(promise, estimator)
        fitted = check_fit(promise, estimator, X, np.asarray(y))
        check_refused(promise, fitted)
        check_same_model(promise, fitted, X)
        check_row_order(promise, estimator, fitted, X, np.asarray(y))
        check_learned_kernel(promise, fitted, X)
        check_figures(promise, fitted)
        if scikit_learn:
            estimator_checks.check_estimator(clone(estimator), on_skip=None)


def check_words(promise: Promise, estimator: BaseEstimator) -> None:
    """Every parameter is in the docstring, and in the table of what it may be, if there is one."""
    names = set(inspect.signature(type(estimator).__init__).parameters) - {"self"}
    text = inspect.getdoc(type(estimator)) or ""
    section = text.partition("Parameters\n")[2].partition("Attributes\n")[0]
    described = set(re.findall(r"\w+", " ".join(re.findall(r"^[\w, ]+(?= :|$)", section, re.M))))
    missing = sorted(names - described)
    promise(not missing, "the docstring must name every parameter", f"{missing} are not in it")
    table = getattr(type(estimator), "_parameters", None)
    if table is not None:
        missing = sorted(names - set(table))
        promise(not missing, "_parameters must say what each may be", f"{missing} are not in it")


def check_fit(promise: Promise, estimator: BaseEstimator, X: Rows, y: Array) -> BaseEstimator:
    """fit returns the estimator, writes neither to its parameters nor to rows and labels."""
    model = clone(estimator)
    before = copy.deepcopy(model.get_params(deep=False))
    X_before, y_before = copy.deepcopy(X), copy.deepcopy(y)
    result = model.fit(X, y)
    promise(result is model, "fit must return the estimator")
    changed = [k for k, v in model.get_params(deep=False).items() if repr(v) != repr(before[k])]
    promise(not changed, "fit must leave parameters as they were given", f"it changed {changed}")
    promise(np.array_equal(X, X_before), "fit must not write to X", "it did")
    promise(np.array_equal(y, y_before), "fit must not write to y", "it did")
    odd = [k for k in vars(model) if k not in before and not k.endswith("_") and k[0] != "_"]
    promise(not odd, "what fit learns must end with an underscore", f"{odd} do not")
    return model


def check_refused(promise: Promise, fitted: BaseEstimator) -> None:
    """A fit that is refused raises ValueError and leaves what was learned."""
    before = dict(vars(fitted))
    bad = np.full((10, fitted.n_features_in_), np.nan)
    try:
        fitted.fit(bad, np.arange(10) % 2)
    except ValueError:
        pass
    else:
        promise(False, "rows of NaN must be refused by a ValueError", "they are taken")
    after = vars(fitted)
    kept = before.keys() == after.keys() and all(before[k] is after[k] for k in before)
    promise(kept, "a refused fit must leave the estimator as it was", "something has changed")


def check_same_model(promise: Promise, fitted: BaseEstimator, X: Rows) -> None:
    """A copy through pickle gives the same answers, to the last bit."""
    try:
        again = pickle.loads(pickle.dumps(fitted))
    except (pickle.PicklingError, AttributeError):
        return  # of a class that no module holds: not the estimator's fault
    for name in answers(fitted):
        one, other = getattr(fitted, name)(X), getattr(again, name)(X)
        promise(np.array_equal(one, other), f"{name} must survive pickling", "it differs")


def check_row_order(
    promise: Promise, estimator: BaseEstimator, fitted: BaseEstimator, X: Rows, y: Array
) -> None:
    """The order in which rows are given does not matter."""
    order = np.random.default_rng(1).permutation(len(y))
    other = clone(estimator).fit(np.asarray(X)[order], np.asarray(y)[order])
    for name in answers(fitted):
        one, two = (np.asarray(getattr(model, name)(X)) for model in (fitted, other))
        if one.dtype.kind not in "fiu":
            same = bool(np.array_equal(one, two))
        else:
            bound = promise.rtol * max(float(np.abs(one).max(initial=0.0)), 1e-300)
            same = one.shape == two.shape and float(np.abs(one - two).max(initial=0.0)) <= bound
        promise(
            same,
            f"{name} must not depend on the order of the rows (with random_state set)",
            "it does",
        )


def check_learned_kernel(promise: Promise, fitted: BaseEstimator, X: Rows) -> None:
    """kernel_ is a kernel, and where there are features it is their inner product."""
    kernel = getattr(fitted, "kernel_", None)
    if kernel is None:
        return
    check_kernel(kernel, np.asarray(X)[:12], rtol=1e-8)
    if not hasattr(fitted, "transform") or getattr(kernel, "alpha", False):
        return
    F = np.asarray(fitted.transform(X))
    K = kernel(X)
    error = float(np.abs(F @ F.T - K).max())
    promise(
        error <= 1e-6 * max(float(np.abs(K).max()), 1e-300),
        "kernel_(X) must be transform(X) @ transform(X).T",
        f"they differ by {error:.3g}",
    )


def check_figures(promise: Promise, fitted: BaseEstimator) -> None:
    """Histories speak one language, bounds are in order, weights are not negative."""
    strange = {key for step in getattr(fitted, "history_", None) or () for key in step} - KNOWN
    promise(not strange, f"history_ may say {sorted(KNOWN)}", f"it says {sorted(strange)} too")
    gap = getattr(fitted, "gap_", None)
    if gap is not None and np.isfinite(gap):
        promise(gap >= 0, "gap_ must not be negative", f"it is {float(gap):.3g}")
    lower, upper = (getattr(fitted, name, None) for name in ("lower_bound_", "upper_bound_"))
    if lower is not None and upper is not None:
        slack = 1e-9 * max(abs(float(upper)), 1.0)
        promise(lower <= upper + slack, "lower_bound_ must not be above upper_bound_")
    weights = getattr(fitted, "kernel_weights_", None)
    if weights is not None:
        promise(np.all(np.asarray(weights) >= 0), "kernel_weights_ must not be negative")
        names = getattr(fitted, "kernel_names_", weights)
        promise(len(names) == len(weights), "kernel_names_ must name each kernel weight")


def answers(fitted: BaseEstimator) -> list[str]:
    """The methods that say something of rows."""
    wanted = ("transform", "predict", "predict_proba", "decision_function")
    return [name for name in wanted if hasattr(fitted, name)]
