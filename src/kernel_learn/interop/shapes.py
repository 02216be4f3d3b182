"""What the arrays of each type in a model file must satisfy, as one line for each type.

``coef:nk offset:k`` says: ``coef`` is a matrix, ``offset`` a vector as long as it is wide. A letter
is one number within an object: p is ``n_features_in_`` where the object has it. Arrays that an
object lacks, or holds None for, are not asked about. After the letters:

- ``*``: further dimensions as they come; in front of all others, any array or number
- ``!``: of any type, not only numbers; numbers are finite all the same
- ``?``: may be infinite or missing
- ``+``: not negative
- ``/``: ascending from row to row
- ``<k``: whole numbers from 0 to k - 1
- ``=k``: the number k itself, or none
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class ArrayRule(NamedTuple):
    """What one attribute must be."""

    attribute: str  # dots lead into the objects that it holds
    dimensions: str
    is_any_type: bool
    may_miss: bool
    is_positive: bool  # or zero
    ascends: bool
    below: str  # the letter that entries stay below, if they are positions
    equals: str  # the letter whose number it is


RULE = re.compile(
    r"(?P<name>[\w.]+):(?P<dims>[a-z]*\*?)(?P<flags>[!?+/]*)(?:<(?P<below>[a-z]))?(?:=(?P<equals>[a-z]))?"
)

# By the names that files know them by.
OURS = {
    "AlignmentSubspace": "classes_:c! kernel_weights_:m",
    "BlockOneHot": "blocks_:b",
    "ClassProbabilities": "indices:m classes:m! labels:n!",
    "ClippedScores": "medians_:p centre_:p factor_:p+",
    "ColumnScales": "scales:d relevance:d?",
    "Combination": "weights:m+",
    "Dual": "coef:nk intercept:k",
    "EncodedColumn": "shift:s factor:f",
    "Ensemble": "shares:m+",
    "ExpansionSVC": "classes_:c! expansion_points_:n*! coef_:rn intercept_:r "
    "_calibration.fading.prior:c",
    "Fading": "prior:k",
    "FeatureScales": "classes_:c! scales_:p+",
    "FittedEnsemble": "held:nk proba:nk",
    "Fold": "rows:n",
    "GivenRows": "distinct:n labels:n weight:n keys:n rows:d*! sample_weight:n groups:n!",
    "GraphDeformed": "X_graph:n*! factor:nn",
    "HSICSubspace": "classes_:c! eigenvalues_:k kernel_weights_:m _shares:m kernel_.coef:nk",
    "HeldOutScores": "scores:m? labels:m mass:m rows:m",
    "InductiveKernel": "classes_:c! multipliers_:m metric_:ll",
    "KernelClassifier": "classes_:c! _first:m loo_proba_:nc held_out_proba_:hc? "
    "_calibration.fading.prior:c",
    "KernelDiscriminant": "classes_:c! priors_:c means_:ck kernel_.coef:nk kernel_weights_:m "
    "_shares:m _neighbor.classes_:c! _log_odds.coef:kc _log_odds.intercept:c "
    "_calibration.fading.prior:c",
    "KernelDiscriminantQR": "classes_:c! kernel_.coef:nk",
    "KernelIndex": "features_:nk",
    "KernelLMNN": "classes_:c!",
    "KernelMCML": "classes_:c!",
    "KernelMMC": "classes_:c!",
    "KernelNCA": "classes_:c!",
    "KernelOrthogonalCentroid": "classes_:c! kernel_.coef:nk",
    "KernelPLS": "classes_:c! kernel_.coef:nk loadings_:kt intercept_:t "
    "_calibration.fading.prior:c",
    "KernelPLSRegressor": "kernel_.coef:nk loadings_:kt intercept_:t",
    "KernelRCA": "classes_:c!",
    "KernelRegressor": "_first:m loo_prediction_:n* loo_rmse_:* held_out_prediction_:n* error_:* "
    "error_interval_:*",
    "LabelTargets": "there:nl+ weight:n+ given:n+ Y:nl mean:l strata:n",
    "LinearInequalities": "bounds:b? pairs:m* weight:m owner:m<b",
    "LinearMap": "coef:jk intercept:k",
    "LowRank": "landmarks:n*! coef:nk",
    "Member": "scales:d share:* regs:c",
    "MultiKernelSVC": "classes_:c! kernel_weights_:m dual_coef_:rs intercept_:r support_:s "
    "_shares:m _support_rows:s*! _calibration.fading.prior:c",
    "NormalScores": "medians_:p knots_:qp/ ranks_:qp+/ mean_:p scale_:p+",
    "NumberTargets": "values:mq row:m/ count:m+ unseen:u given:n+ seen:mc weight:n+ Y:nc mean:c "
    "within:c judging:j",
    "Pairs": "similar:r*! dissimilar:t*!",
    "PairClassifier": "classes_:c! held_out_distances_:n?",
    "Probe": "owner:d held:nq held_rows:n sample_rows:s reference_rows:r",
    "Quadruplets": "quadruplets:r*!",
    "ColumnUnits": "mean:d scale:d+",
    "ReferenceRows": "rows:m*! weight:m+",
    "HeldOutResiduals": "sizes:mq mass:m",
    "SmearingResiduals": "values:r shares:r",
    "RidgeRows": "Y:nq weight:n distinct:m<n labels:m<q counted:m sample_weight:m T:qj mean:q "
    "groups:m<m",
    "Sample": "folds:n targets.counts:nc",
    "ScaledKernel": "scales:d+",
    "Similarities": "similar:r*! dissimilar:t*!",
    "StackedSubspaceKernel": "landmarks:n*! coef:mk offset:k",
    "SubspaceKernel": "landmarks:n*! coef:nk offset:k",
    "SubspaceSVC": "classes_:c! kernel_weights_:m _shares:m kernel_.coef:nk coef_:rk intercept_:r "
    "support_:s dual_coef_:rs _log_odds.coef:kc _log_odds.intercept:c _calibration.fading.prior:c",
    "Table": "numbers:na? others:nb! place:w",
    "TableModel": "classes_:c! labels_:n<c row_keys_:u",
    "TableReader": "numbers:a categories:b",
    "TableView": "numbers:a categories:b owner:d",
    "Targets": "counts:nc+ class_factors:c+ given:n+ weight:n+ majority:n<c Y:nc+ mean:c+ prior:c+",
    "TransformedKernel": "landmarks:n*! coef:nk weights:k",
    "Tree": "directions:md thresholds:m below:m above:m",
    "Triplets": "triplets:r*!",
    "UniformScores": "medians_:p knots_:qp/ ranks_:qp+/",
    "UnitRows": "factor_:p+",
    "ValueMap": "columns:q low:q high:q",
    "ZScores": "medians_:p mean_:p scale_:p+",
}

# Of scikit-learn: types whose code is NumPy's, which looks at every position itself, or for which
# ``foreign_state`` looks at what compiled code would not.
LINEAR = "classes_:c! coef_:rp intercept_:*"
SUPPORT_VECTORS = "classes_:c! support_:s _n_support:t _intercept_:i intercept_:i _probA:a _probB:a"
SKLEARN = {
    "calibration.CalibratedClassifierCV": "classes_:c!",
    "calibration._CalibratedClassifier": "classes:c!",
    "calibration._SigmoidCalibration": "a_:* b_:*",
    "calibration._TemperatureScaling": "beta_:*",
    "compose._column_transformer.ColumnTransformer": "",
    "compose._target.TransformedTargetRegressor": "",
    "decomposition._kernel_pca.KernelPCA": "X_fit_:np eigenvectors_:nk eigenvalues_:k "
    "X_transformed_fit_:nk dual_coef_:n*",
    "decomposition._pca.PCA": "components_:kp mean_:p explained_variance_:k singular_values_:k",
    "decomposition._truncated_svd.TruncatedSVD": "components_:kp",
    "discriminant_analysis.LinearDiscriminantAnalysis": f"{LINEAR} means_:cp priors_:c xbar_:p "
    "scalings_:ps",
    "ensemble._stacking.StackingClassifier": "classes_:c!",
    "ensemble._stacking.StackingRegressor": "",
    "ensemble._voting.VotingClassifier": "classes_:c!",
    "ensemble._voting.VotingRegressor": "",
    "feature_extraction.text.CountVectorizer": "",
    "feature_extraction.text.TfidfTransformer": "idf_:p",
    "feature_extraction.text.TfidfVectorizer": "_tfidf.idf_:v",
    "feature_selection._univariate_selection.SelectKBest": "scores_:p? pvalues_:p?",
    "feature_selection._univariate_selection.SelectPercentile": "scores_:p? pvalues_:p?",
    "feature_selection._variance_threshold.VarianceThreshold": "variances_:p?",
    "frozen._frozen.FrozenEstimator": "",
    "impute._base.MissingIndicator": "features_:f<p",
    "impute._base.SimpleImputer": "statistics_:p!",
    "impute._knn.KNNImputer": "_fit_X:np? _mask_fit_X:np _valid_mask:p",
    "isotonic.IsotonicRegression": "X_thresholds_:q/ y_thresholds_:q X_min_:* X_max_:*",
    "kernel_approximation.Nystroem": "components_:mp normalization_:mm _n_features_out:=m",
    "kernel_approximation.RBFSampler": "random_weights_:pk random_offset_:k _n_features_out:=k",
    "linear_model._base.LinearRegression": "",
    "linear_model._logistic.LogisticRegression": LINEAR,
    "linear_model._logistic.LogisticRegressionCV": LINEAR,
    "linear_model._ridge.Ridge": "",
    "linear_model._ridge.RidgeCV": "",
    "linear_model._ridge.RidgeClassifier": "classes_:c! coef_:* intercept_:*",
    "metrics._scorer._CurveScorer": "",
    "metrics._scorer._Scorer": "",
    "model_selection._classification_threshold.FixedThresholdClassifier": "",
    "model_selection._classification_threshold.TunedThresholdClassifierCV": "",
    "naive_bayes.GaussianNB": "classes_:c! theta_:cp var_:cp class_prior_:c class_count_:c",
    "neighbors._classification.KNeighborsClassifier": "classes_:c! _fit_X:np _y:n<c",
    "neighbors._nearest_centroid.NearestCentroid": "classes_:c! centroids_:cp class_prior_:c+ "
    "deviations_:cp within_class_std_dev_:p+",
    "neighbors._regression.KNeighborsRegressor": "_fit_X:np _y:n*",
    "neighbors._unsupervised.NearestNeighbors": "_fit_X:np",
    "pipeline.FeatureUnion": "",
    "pipeline.Pipeline": "",
    "preprocessing._data.Binarizer": "",
    "preprocessing._data.KernelCenterer": "K_fit_rows_:p K_fit_all_:*",
    "preprocessing._data.MaxAbsScaler": "scale_:p? max_abs_:p?",
    "preprocessing._data.MinMaxScaler": "min_:p? scale_:p? data_min_:p? data_max_:p?",
    "preprocessing._data.Normalizer": "",
    "preprocessing._data.PowerTransformer": "lambdas_:p?",
    "preprocessing._data.QuantileTransformer": "quantiles_:qp?/ references_:q/",
    "preprocessing._data.RobustScaler": "center_:p? scale_:p?",
    "preprocessing._data.StandardScaler": "mean_:p? scale_:p? var_:p?",
    "preprocessing._encoders.OneHotEncoder": "drop_idx_:p! _drop_idx_after_grouping:p!",
    "preprocessing._encoders.OrdinalEncoder": "",
    "preprocessing._function_transformer.FunctionTransformer": "",
    "preprocessing._label.LabelBinarizer": "classes_:c!",
    "preprocessing._label.LabelEncoder": "classes_:c!",
    "random_projection.GaussianRandomProjection": "components_:kp n_components_:=k "
    "_n_features_out:=k",
    "svm._classes.LinearSVC": LINEAR,
    "svm._classes.NuSVC": SUPPORT_VECTORS,
    "svm._classes.SVC": SUPPORT_VECTORS,
    "utils._metadata_requests.MetadataRequest": "",
    "utils._metadata_requests.MethodMetadataRequest": "",
}
SKRUB = {
    "skrub._gap_encoder.GapEncoder": "W_:kv A_:kv B_:kv vocabulary:v!",
    "skrub._squashing_scaler.SquashingScaler": "robust_cols_:p minmax_cols_:p zero_cols_:p",
}


def parse_rules(line: str) -> tuple[ArrayRule, ...]:
    """One rule for each word of a line."""
    rules = []
    for word in line.split():
        match = RULE.fullmatch(word)
        if match is None:
            raise ValueError(f"{word!r} is no rule for an array.")
        flags = match["flags"]
        rules.append(
            ArrayRule(
                match["name"],
                match["dims"],
                "!" in flags,
                "?" in flags,
                "+" in flags,
                "/" in flags,
                match["below"] or "",
                match["equals"] or "",
            )
        )
    return tuple(rules)


def rules_of_types(homes: Mapping[str, str]) -> Mapping[str, tuple[ArrayRule, ...]]:
    """The rules of every type by its full name; ``homes``: where each class of ours lives."""
    ours = {f"{homes[name]}.{name}": line for name, line in OURS.items()}
    sklearn = {f"sklearn.{name}": line for name, line in SKLEARN.items()}
    lines = ours | sklearn | SKRUB
    return MappingProxyType({name: parse_rules(line) for name, line in lines.items()})
