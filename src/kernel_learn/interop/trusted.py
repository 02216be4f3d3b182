"""What a model file may hold: fully qualified names, each with the one way to build it.

A reader of files builds what is named here and what skops trusts by itself
(numbers, texts, arrays, scikit-learn's estimators), and nothing else. No name
stands for a whole module, and none may be called with what a file says: ours
are filled attribute by attribute, functions are only looked up.
"""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any

Nodes = list[dict[str, Any]]  # of a schema of skops
OBJECT, FUNCTION = "ObjectNode", "FunctionNode"

# Where each of our classes lives today. A file knows a class by its own name alone,
# ``kernel_learn.KernelDiscriminant``: a class that moves needs a new line here and nothing else.
HOMES = {
    "criteria.constraints": "ConstraintSet Pairs Similarities Triplets",
    "criteria.held_out.column_scales": "ColumnScales",
    "criteria.held_out.ridge": "Dual",
    "criteria.held_out.stacking": "LinearMap",
    "criteria.held_out.targets": "Targets",
    "ensemble.cross_validation": "Sample",
    "ensemble.fitted": "FittedEnsemble Probe",
    "ensemble.members": "Ensemble Member TrainingRows",
    "ensemble.plan": "EnsemblePlan",
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
    "estimators.lmnn": "KernelLMNN",
    "estimators.mcml": "KernelMCML",
    "estimators.mmc": "KernelMMC",
    "estimators.multi_kernel_svc": "MultiKernelSVC",
    "estimators.nca": "KernelNCA",
    "estimators.pairs": "PairClassifier",
    "estimators.pls": "KernelPLS KernelPLSRegressor",
    "estimators.rca": "KernelRCA",
    "estimators.subspace_svc": "SubspaceSVC",
    "interop.earlier": "EarlierFit EarlierPlan EarlierRecord",
    "kernels.additive": "Additive PairwiseAnova",
    "kernels.arc_cosine": "ArcCosine",
    "kernels.bank": "Combination StackedSubspaceKernel",
    "kernels.categorical": "Hamming Matching",
    "kernels.columns": "ColumnKernel",
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
    "representations.landmarks": "Landmarks",
    "representations.plan": "Plan",
    "representations.price": "Price",
    "rows.columns": "TableReader",
    "rows.table": "Table",
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


def trusted_names() -> Mapping[str, str]:
    """Each name that a file may hold beside skops' own, and the loader that builds it."""
    return MappingProxyType(
        {f"{home}.{name}": OBJECT for name, home in OURS.items()}
        | OTHERS
        | SKRUB.get(minor_version("skrub"), {})
    )


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
