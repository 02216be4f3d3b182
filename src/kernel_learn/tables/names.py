"""The names of methods and metrics: a wrong one is refused before anything else is imported."""

from collections.abc import Sequence

from kernel_learn.streams.readers import TableError

AUTO = "KernelClassifier"
CLASSIFIERS = (
    "KernelClassifier",
    "KernelDiscriminant",
    "SubspaceSVC",
    "MultiKernelSVC",
    "ExpansionSVC",
    "KernelPLS",
)
# These give features; the five nearest neighbours in them decide.
TRANSFORMERS = (
    "HSICSubspace",
    "AlignmentSubspace",
    "KernelOrthogonalCentroid",
    "KernelDiscriminantQR",
    "InductiveKernel",
    "KernelLMNN",
    "KernelMCML",
    "KernelMMC",
    "KernelNCA",
    "KernelRCA",
)
# Of others, to compare with.
RIVALS = (
    "SVC, tuned",
    "logistic regression",
    "gradient boosting",
    "LightGBM",
    "CatBoost",
    "majority class",
)
METRICS = ("auto", "accuracy", "balanced", "auc", "logloss", "f1", "average-precision")

NUMBER_AUTO, MEAN = "KernelRegressor", "mean"
REGRESSORS = ("KernelRegressor", "KernelPLSRegressor")
NUMBER_TRANSFORMERS = ("HSICSubspace", "AlignmentSubspace")
NUMBER_RIVALS = (
    "SVR, tuned",
    "ridge",
    "random forest",
    "gradient boosting",
    "LightGBM",
    "CatBoost",
    MEAN,
)
MEASURES = ("rmse", "mae", "r2")


def as_typed(names: Sequence[str]) -> str:
    """Names in a row; those of several words in quotes, as a terminal wants them."""
    return ", ".join(f"'{name}'" if " " in name else name for name in names)


def refuse_unknown(methods: Sequence[str], metric: str = "auto") -> None:
    """Refuse methods and metrics that are none, whatever the target is."""
    names = [*CLASSIFIERS, *TRANSFORMERS, *RIVALS]
    names += [*REGRESSORS, *NUMBER_TRANSFORMERS, *NUMBER_RIVALS]
    both = list(dict.fromkeys(names))
    known = {name.lower() for name in ["auto", *both]}
    for method in methods:
        if method.lower() not in known:
            raise TableError(f"{method!r} is not a method; choose one of {as_typed(both)}.")
    metrics = dict.fromkeys([*METRICS, *MEASURES])
    if metric not in metrics:
        raise TableError(f"--metric {metric}: choose one of {', '.join(metrics)}.")


def task_of_names(methods: Sequence[str], metric: str = "auto") -> str:
    """``regress`` where a method or the metric is for numbers alone, else ``auto``."""
    refuse_unknown(methods, metric)
    known = {name.lower() for name in ["auto", *CLASSIFIERS, *TRANSFORMERS, *RIVALS]}
    both = metric in METRICS and all(method.lower() in known for method in methods)
    return "auto" if both else "regress"
