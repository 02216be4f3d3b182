"""What a model file may hold: fully qualified names, each with the one way to build it.

A reader of files builds what is named here, types of scikit-learn for which
``shapes`` has rules, and what the user names, whatever skops trusts by
itself. No name stands for a whole module, and none may be called with what a
file says: ours are filled attribute by attribute, functions are only looked
up.
"""

from collections.abc import Mapping, Set
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import special

from kernel_learn.interop import shapes

Nodes = list[dict[str, Any]]  # of a schema of skops
OBJECT, FUNCTION = "ObjectNode", "FunctionNode"

# Where each of our classes lives today. A file knows a class by its own name alone,
# ``kernel_learn.KernelDiscriminant``: a class that moves needs a new line here and nothing else.
HOMES = {
    "criteria.constraints": "ClassProbabilities ConstraintSet Pairs Similarities Triplets",
    "criteria.general_forms.linear_constraints": "LinearInequalities Quadruplets",
    "criteria.held_out.column_scales": "ColumnScales",
    "criteria.held_out.conformal": "HeldOutScores",
    "criteria.held_out.fading": "Fading",
    "criteria.held_out.label_targets": "LabelMap LabelTargets",
    "criteria.held_out.number_targets": "NumberTargets",
    "criteria.held_out.leave_out": "RidgeRows",
    "criteria.held_out.ridge": "Dual",
    "criteria.held_out.stacking": "LinearMap",
    "criteria.held_out.target_transforms": "SmearingResiduals Transform ValueMap",
    "criteria.held_out.targets": "Targets",
    "ensemble.assessment": "Assessment Fold",
    "ensemble.encoded_columns": "EncodedColumn",
    "ensemble.fitted": "FittedEnsemble Probe",
    "ensemble.deduplicate": "GivenRows",
    "ensemble.ledger.forgetting": "Forgotten",
    "ensemble.members": "Ensemble Member TrainingRows",
    "ensemble.plan": "EnsemblePlan",
    "ensemble.sample": "Sample",
    "ensemble.trees": "Forest Tree",
    "ensemble.views": "BlockOneHot ClippedScores NormalScores RawView TableView UniformScores "
    "UnitRows ZScores",
    "estimators.alignment": "AlignmentSubspace",
    "estimators.centroid": "KernelOrthogonalCentroid",
    "estimators.discriminant": "KernelDiscriminant",
    "estimators.discriminant_qr": "KernelDiscriminantQR",
    "estimators.expansion": "ExpansionSVC",
    "estimators.feature_scales": "FeatureScales",
    "estimators.hsic": "HSICSubspace",
    "estimators.inductive": "InductiveKernel",
    "estimators.kernel_classifier": "KernelClassifier",
    "estimators.kernel_regressor": "KernelRegressor",
    "estimators.lmnn": "KernelLMNN",
    "estimators.mcml": "KernelMCML",
    "estimators.mmc": "KernelMMC",
    "estimators.multi_kernel_svc": "MultiKernelSVC",
    "estimators.nca": "KernelNCA",
    "estimators.pairs": "PairClassifier",
    "estimators.pipeline": "Pipeline",
    "estimators.pls": "KernelPLS KernelPLSRegressor",
    "estimators.rca": "KernelRCA",
    "estimators.subspace_svc": "SubspaceSVC",
    "estimators.table_encoder": "TableEncoder",
    "fitting.uncertainty": "Calibration ColumnUnits HeldOutResiduals ReferenceRows",
    "interop.earlier": "EarlierFit EarlierPlan EarlierRecord",
    "kernels.additive": "Additive PairwiseAnova",
    "kernels.arc_cosine": "ArcCosine",
    "kernels.bank": "Combination StackedSubspaceKernel",
    "kernels.categorical": "Hamming Matching",
    "kernels.columns": "ColumnKernel",
    "kernels.covariance": "CovarianceFunction",
    "kernels.deformed": "GraphDeformed",
    "kernels.dot_product": "Cosine Linear Polynomial",
    "kernels.low_rank": "LowRank",
    "kernels.precomputed": "Precomputed",
    "kernels.resolve": "GaussianProcessKernel PairwiseKernel",
    "kernels.scaled": "ScaledKernel",
    "kernels.stationary": "ChiSquared Exponential Gaussian Laplacian Matern",
    "kernels.strings": "Spectrum Subsequence",
    "kernels.subspace": "SubspaceKernel",
    "kernels.transformed": "TransformedKernel",
    "kernels.viewed": "ViewKernel",
    "neighbors.kernel_index": "KernelGraph KernelIndex",
    "representations.landmarks": "Landmarks",
    "representations.plan": "Plan",
    "representations.price": "Price",
    "rows.columns": "ReadRows TableReader",
    "rows.table": "Table",
    "streams.column_summaries": "ColumnSummary PartSums TableSummary",
    "tables.columns": "Columns",
    "tables.model": "TableModel",
}
OURS = MappingProxyType(
    {name: f"kernel_learn.{home}" for home, names in HOMES.items() for name in names.split()}
)

# What became of the classes of earlier files, see ``interop.earlier``.
EARLIER = {
    "EarlierFit": "Fitted",
    "EarlierPlan": "ClassifierPlan",
    "EarlierRecord": "Candidate KernelFeatures LeafKernel LeafMachine LeafMember Machine Part "
    "WeightedKernel",
}
RENAMED = {old: name for name, olds in EARLIER.items() for old in olds.split()}

# Of others, where our models hold them.
PROCESSES = (
    "ConstantKernel DotProduct ExpSineSquared Exponentiation Matern Product RBF RationalQuadratic "
    "Sum WhiteKernel"
)
OTHERS = {
    "numpy.dtype": "DTypeNode",
    "polars.datatypes.classes.Datetime": OBJECT,
    "scipy.sparse._csr.csr_array": "SparseMatrixNode",
    "scipy.sparse._csr.csr_matrix": "SparseMatrixNode",
    **{f"sklearn.gaussian_process.kernels.{name}": OBJECT for name in PROCESSES.split()},
}

# Numbers, texts and what holds them. Scalars of NumPy are arrays without dimensions, and types.
SCALARS = (
    "bool bool_ float16 float32 float64 int16 int32 int64 int8 str_ uint16 uint32 uint64 uint8"
)
# What a threshold is tuned for, and what a search was scored by: looked up, never called by load.
SCORES = (
    "accuracy_score balanced_accuracy_score f1_score fbeta_score matthews_corrcoef precision_score "
    "recall_score"
)
# By which columns were selected: the same.
SELECTIONS = "chi2 f_classif f_regression r_regression"
ARRAY, TYPE = "NdArrayNode", "TypeNode"
PLAIN = {
    "builtins.bool": {TYPE},
    "builtins.dict": {"DictNode"},
    "builtins.float": {TYPE},
    "builtins.int": {TYPE},
    "builtins.list": {"ListNode"},
    "builtins.set": {"SetNode"},
    "builtins.slice": {"SliceNode"},
    "builtins.str": {"JsonNode", TYPE},
    "builtins.tuple": {"TupleNode"},
    "collections.OrderedDict": {"DictNode"},
    "numpy.ndarray": {ARRAY},
    "numpy.random._generator.Generator": {"RandomGeneratorNode"},
    "numpy.random.mtrand.RandomState": {"RandomStateNode"},
    "sklearn.utils._bunch.Bunch": {"DictNode"},
    **{f"numpy.{name}": {ARRAY, TYPE} for name in SCALARS.split()},
    **{f"sklearn.metrics._classification.{name}": {FUNCTION} for name in SCORES.split()},
    **{
        f"sklearn.feature_selection._univariate_selection.{name}": {FUNCTION}
        for name in SELECTIONS.split()
    },
}

# What skrub's TableVectorizer and its encoders are made of, for each version that was looked at.
SKRUB = {
    "0.11": {
        "skrub._apply_to_cols.ApplyToCols": OBJECT,
        "skrub._apply_to_each_col.ApplyToEachCol": OBJECT,
        "skrub._check_input.CheckInputDataFrame": OBJECT,
        "skrub._clean_categories.CleanCategories": OBJECT,
        "skrub._clean_null_strings.CleanNullStrings": OBJECT,
        "skrub._dataframe._common.is_any_date": FUNCTION,
        "skrub._dataframe._common.is_categorical": FUNCTION,
        "skrub._dataframe._common.is_numeric": FUNCTION,
        "skrub._datetime_encoder.DatetimeEncoder": OBJECT,
        "skrub._datetime_encoder._CircularEncoder": OBJECT,
        "skrub._drop_uninformative.DropUninformative": OBJECT,
        "skrub._duration_to_float.DurationToFloat": OBJECT,
        "skrub._gap_encoder.GapEncoder": OBJECT,
        "skrub._minhash_encoder.MinHashEncoder": OBJECT,
        "skrub._squashing_scaler.SquashingScaler": OBJECT,
        "skrub._string_encoder.StringEncoder": OBJECT,
        "skrub._table_vectorizer.Cleaner": OBJECT,
        "skrub._table_vectorizer.PassThrough": OBJECT,
        "skrub._table_vectorizer.ShortReprDict": OBJECT,
        "skrub._table_vectorizer.TableVectorizer": OBJECT,
        "skrub._table_vectorizer._created_by_predicate": FUNCTION,
        "skrub._to_categorical.ToCategorical": OBJECT,
        "skrub._to_datetime.ToDatetime": OBJECT,
        "skrub._to_float.ToFloat": OBJECT,
        "skrub._to_str.ToStr": OBJECT,
        "skrub._utils.LRUDict": OBJECT,
        "skrub.selectors._base.All": OBJECT,
        "skrub.selectors._base.And": OBJECT,
        "skrub.selectors._base.Cols": OBJECT,
        "skrub.selectors._base.Filter": OBJECT,
        "skrub.selectors._base.Sub": OBJECT,
        "skrub.selectors._selectors._cardinality_below": FUNCTION,
    }
}


@cache
def trusted_names() -> Mapping[str, str]:
    """Each name that a file may hold beside skops' own, and the loader that builds it."""
    return MappingProxyType(
        {f"{home}.{name}": OBJECT for name, home in OURS.items()}
        | OTHERS
        | SKRUB.get(minor_version("skrub"), {})
    )


def loaders_of(name: str) -> Set[str]:
    """How a file may build this: what is plain, ours, or has rules for its arrays; else not."""
    known = trusted_names()
    if name in known:
        return {known[name]}
    if name in PLAIN:
        return PLAIN[name]
    if is_ufunc(name):
        return {FUNCTION}
    return {OBJECT} if name.removeprefix("sklearn.") in shapes.SKLEARN else set()


def is_ufunc(name: str) -> bool:
    """Whether it is a function of numbers of NumPy or SciPy, looked up and not called."""
    home, _, last = name.rpartition(".")
    found = {"numpy": np, "scipy.special": special}.get(home)
    return isinstance(getattr(found, last, None), np.ufunc)


def minor_version(package: str) -> str:
    """The first two numbers of an installed version, nothing if it is not installed."""
    try:
        return ".".join(version(package).split(".")[:2])
    except PackageNotFoundError:
        return ""


def to_stable_names(nodes: Nodes) -> None:
    """Turn where our classes live into the names by which files know them, in place."""
    for node in nodes:
        if OURS.get(node.get("__class__", "")) == node.get("__module__"):
            node["__module__"] = "kernel_learn"


def to_todays_homes(nodes: Nodes) -> None:
    """Turn names of our classes into where they live, in place.

    Files from before 0.2 name the module in which a class lived then.
    """
    for node in nodes:
        if str(node.get("__module__")).partition(".")[0] != "kernel_learn":
            continue
        name = str(node.get("__class__"))
        name = RENAMED.get(name, name)
        if name in OURS:
            node["__class__"], node["__module__"] = name, OURS[name]
