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

OBJECT, FUNCTION = "ObjectNode", "FunctionNode"

OURS = (
    "kernel_learn.criteria.column_scales.ColumnScales",
    "kernel_learn.criteria.constraints.ConstraintSet",
    "kernel_learn.criteria.constraints.Pairs",
    "kernel_learn.criteria.constraints.Similarities",
    "kernel_learn.criteria.constraints.Triplets",
    "kernel_learn.criteria.ridge.Dual",
    "kernel_learn.criteria.second_level.LinearMap",
    "kernel_learn.criteria.targets.Targets",
    "kernel_learn.estimators.alignment.AlignmentSubspace",
    "kernel_learn.estimators.centroid.KernelOrthogonalCentroid",
    "kernel_learn.estimators.discriminant.KernelDiscriminant",
    "kernel_learn.estimators.discriminant_qr.KernelDiscriminantQR",
    "kernel_learn.estimators.expansion.ExpansionSVC",
    "kernel_learn.estimators.feature_scales.FeatureScales",
    "kernel_learn.estimators.features.KernelFeatures",
    "kernel_learn.estimators.features.WeightedKernel",
    "kernel_learn.estimators.hsic.HSICSubspace",
    "kernel_learn.estimators.inductive.InductiveKernel",
    "kernel_learn.estimators.judging.Sample",
    "kernel_learn.estimators.kernel_classifier.KernelClassifier",
    "kernel_learn.estimators.leaves.LeafKernel",
    "kernel_learn.estimators.leaves.LeafMachine",
    "kernel_learn.estimators.leaves.LeafMember",
    "kernel_learn.estimators.machine.Machine",
    "kernel_learn.estimators.machine.Part",
    "kernel_learn.estimators.members.Candidate",
    "kernel_learn.estimators.metric.KernelLMNN",
    "kernel_learn.estimators.metric.KernelMCML",
    "kernel_learn.estimators.metric.KernelMMC",
    "kernel_learn.estimators.metric.KernelNCA",
    "kernel_learn.estimators.metric.KernelRCA",
    "kernel_learn.estimators.multi_kernel_svc.MultiKernelSVC",
    "kernel_learn.estimators.pairs.PairClassifier",
    "kernel_learn.estimators.pls.KernelPLS",
    "kernel_learn.estimators.pls.KernelPLSRegressor",
    "kernel_learn.estimators.problem.Fitted",
    "kernel_learn.estimators.problem.Probe",
    "kernel_learn.estimators.quality.ClassifierPlan",
    "kernel_learn.estimators.report.Member",
    "kernel_learn.estimators.subspace_svc.SubspaceSVC",
    "kernel_learn.estimators.table.TableReader",
    "kernel_learn.estimators.table_views.RawView",
    "kernel_learn.estimators.table_views.TableView",
    "kernel_learn.estimators.trees.Tree",
    "kernel_learn.estimators.views.BlockOneHot",
    "kernel_learn.estimators.views.ClippedScores",
    "kernel_learn.estimators.views.NormalScores",
    "kernel_learn.estimators.views.UniformScores",
    "kernel_learn.estimators.views.UnitRows",
    "kernel_learn.estimators.views.ZScores",
    "kernel_learn.kernels.adapters.GaussianProcessKernel",
    "kernel_learn.kernels.adapters.PairwiseKernel",
    "kernel_learn.kernels.additive.Additive",
    "kernel_learn.kernels.additive.PairwiseAnova",
    "kernel_learn.kernels.arc_cosine.ArcCosine",
    "kernel_learn.kernels.bank.Combination",
    "kernel_learn.kernels.categorical.Hamming",
    "kernel_learn.kernels.categorical.Matching",
    "kernel_learn.kernels.columns.ColumnKernel",
    "kernel_learn.kernels.deformed.GraphDeformed",
    "kernel_learn.kernels.dot_product.Cosine",
    "kernel_learn.kernels.dot_product.Linear",
    "kernel_learn.kernels.dot_product.Polynomial",
    "kernel_learn.kernels.low_rank.LowRank",
    "kernel_learn.kernels.precomputed.Precomputed",
    "kernel_learn.kernels.scaled.ScaledKernel",
    "kernel_learn.kernels.stationary.ChiSquared",
    "kernel_learn.kernels.stationary.Exponential",
    "kernel_learn.kernels.stationary.Gaussian",
    "kernel_learn.kernels.stationary.Laplacian",
    "kernel_learn.kernels.stationary.Matern",
    "kernel_learn.kernels.strings.Spectrum",
    "kernel_learn.kernels.strings.Subsequence",
    "kernel_learn.kernels.subspace.StackedSubspaceKernel",
    "kernel_learn.kernels.subspace.SubspaceKernel",
    "kernel_learn.kernels.table.Table",
    "kernel_learn.kernels.transformed.TransformedKernel",
    "kernel_learn.kernels.viewed.ViewKernel",
    "kernel_learn.representations.landmarks.Landmarks",
    "kernel_learn.representations.plan.Plan",
    "kernel_learn.representations.price.Price",
    "kernel_learn.tables.columns.Columns",
    "kernel_learn.tables.model.TableModel",
)

# Of others, where our models hold them.
OTHERS = {
    "numpy.dtype": "DTypeNode",
    "polars.datatypes.classes.Datetime": OBJECT,
    "scipy.sparse._csr.csr_array": "SparseMatrixNode",
    "scipy.sparse._csr.csr_matrix": "SparseMatrixNode",
    "sklearn.gaussian_process.kernels.ConstantKernel": OBJECT,
    "sklearn.gaussian_process.kernels.DotProduct": OBJECT,
    "sklearn.gaussian_process.kernels.ExpSineSquared": OBJECT,
    "sklearn.gaussian_process.kernels.Exponentiation": OBJECT,
    "sklearn.gaussian_process.kernels.Matern": OBJECT,
    "sklearn.gaussian_process.kernels.Product": OBJECT,
    "sklearn.gaussian_process.kernels.RBF": OBJECT,
    "sklearn.gaussian_process.kernels.RationalQuadratic": OBJECT,
    "sklearn.gaussian_process.kernels.Sum": OBJECT,
    "sklearn.gaussian_process.kernels.WhiteKernel": OBJECT,
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

# Names in files of earlier versions and where they stand now: a class that moves is entered
# here under its old name, so that files written before the move stay readable.
ALIASES: Mapping[str, str] = MappingProxyType({})


def trusted_names() -> Mapping[str, str]:
    """Each name that a file may hold beside skops' own, and the loader that builds it."""
    return MappingProxyType(
        dict.fromkeys(OURS, OBJECT) | OTHERS | SKRUB.get(minor_version("skrub"), {})
    )


def minor_version(package: str) -> str:
    """The first two numbers of an installed version, nothing if it is not installed."""
    try:
        return ".".join(version(package).split(".")[:2])
    except PackageNotFoundError:
        return ""


def rename(nodes: list[dict[str, Any]]) -> bool:
    """Turn names of earlier versions into today's, in place; whether there were any."""
    found = False
    for node in nodes:
        new = ALIASES.get(f"{node.get('__module__')}.{node.get('__class__')}")
        if new is not None:
            node["__module__"], _, node["__class__"] = new.rpartition(".")
            found = True
    return found
