"""Every public estimator on arrays, sparse rows, strings and frames that memory holds."""

import fixed_data as data
import numpy as np
from sklearn.base import clone

import kernel_learn as kl
from kernel_learn import presets
from kernel_learn.constraints import ClassProbabilities, Pairs, Similarities, Triplets
from kernel_learn.kernels import (
    ColumnKernel,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Spectrum,
)

BANK = [Gaussian(0.02), Gaussian(0.2), Linear()]
NAMED = {"narrow": Gaussian(0.2), "wide": Gaussian(0.02)}
COLUMNS = {
    "numbers": ColumnKernel(Gaussian(), ["p", "q"]),
    "words": ColumnKernel(Spectrum(3), "word"),
}
# What is free differs from run to run, and plans print it: every estimator is told. Where nothing
# is said of the seed, the generator of NumPy's module draws, each time others.
SAID = {"memory_budget": "1GB", "random_state": 0}

MODELS = [
    ("AlignmentSubspace", kl.AlignmentSubspace(), data.wine),
    ("AlignmentSubspace centred", kl.AlignmentSubspace(center=True, reg=0.1), data.iris),
    ("AlignmentSubspace landmarks", kl.AlignmentSubspace(landmarks=15, random_state=0), data.wine),
    ("AlignmentSubspace radius", kl.AlignmentSubspace(criterion="radius_margin"), data.iris),
    ("AlignmentSubspace texts", kl.AlignmentSubspace("linear", n_components=1), data.named_wine),
    ("ExpansionSVC", kl.ExpansionSVC(n_points=5, random_state=0), data.wine),
    (
        "ExpansionSVC kept points",
        kl.ExpansionSVC(n_points=6, move_points=False, init="uniform", random_state=0),
        data.cancer,
    ),
    (
        "ExpansionSVC balanced",
        kl.ExpansionSVC(Matern(0.05), n_points=4, class_weight="balanced", random_state=1),
        data.named_wine,
    ),
    ("FeatureScales", kl.FeatureScales(), data.wine),
    (
        "FeatureScales aligned",
        kl.FeatureScales("linear", criterion="alignment", n_features=3),
        data.wine,
    ),
    ("FeatureScales laplacian", kl.FeatureScales(Laplacian(0.1), max_iter=10), data.cancer),
    ("HSICSubspace", kl.HSICSubspace(), data.wine),
    ("HSICSubspace texts", kl.HSICSubspace("rbf", n_components=1), data.named_wine),
    ("HSICSubspace uncorrelated", kl.HSICSubspace(uncorrelated=True, reg="loo"), data.wine),
    ("HSICSubspace linear", kl.HSICSubspace("linear"), data.cancer),
    ("HSICSubspace indicator", kl.HSICSubspace(Laplacian(), label_kernel="indicator"), data.iris),
    ("HSICSubspace polynomial", kl.HSICSubspace(Polynomial(2)), data.iris),
    ("HSICSubspace landmarks", kl.HSICSubspace(landmarks=15, random_state=0), data.digits),
    ("HSICSubspace kmeans", kl.HSICSubspace(landmarks="kmeans", random_state=0), data.iris),
    (
        "HSICSubspace uniform",
        kl.HSICSubspace(landmarks=kl.Landmarks("uniform", 12), random_state=0),
        data.iris,
    ),
    (
        "HSICSubspace stratified",
        kl.HSICSubspace(landmarks=kl.Landmarks("stratified", 12), random_state=0),
        data.iris,
    ),
    (
        "HSICSubspace random",
        kl.HSICSubspace(landmarks=kl.Landmarks("random", 12), random_state=0),
        data.iris,
    ),
    ("HSICSubspace bank", kl.HSICSubspace(BANK, uncorrelated=True), data.wine),
    ("HSICSubspace named bank", kl.HSICSubspace(NAMED), data.wine),
    ("HSICSubspace uniform bank", kl.HSICSubspace(BANK, weights="uniform"), data.wine),
    (
        "HSICSubspace aligned bank",
        kl.HSICSubspace(BANK, uncorrelated=True, weights="alignment"),
        data.wine,
    ),
    (
        "HSICSubspace bank landmarks",
        kl.HSICSubspace(BANK, uncorrelated=True, landmarks=12, random_state=0),
        data.wine,
    ),
    ("HSICSubspace sparse", kl.HSICSubspace(), data.sparse_rows),
    ("HSICSubspace strings", kl.HSICSubspace(Spectrum(3)), data.strings),
    ("HSICSubspace frame", kl.HSICSubspace(COLUMNS), data.records),
    ("KernelDiscriminant", kl.KernelDiscriminant(), data.wine),
    ("KernelDiscriminant texts", kl.KernelDiscriminant(reg=0.01), data.named_wine),
    ("KernelDiscriminant regs", kl.KernelDiscriminant(reg=[1e-3, 1e-2, 1e-1]), data.cancer),
    ("KernelDiscriminant gcv", kl.KernelDiscriminant(reg="gcv", landmarks=20), data.digits),
    (
        "KernelDiscriminant neighbour",
        kl.KernelDiscriminant(reg=0.01, decision="nearest_neighbor"),
        data.wine,
    ),
    (
        "KernelDiscriminant priors",
        kl.KernelDiscriminant(priors=[0.6, 0.2, 0.2], class_weight="balanced"),
        data.wine,
    ),
    (
        "KernelDiscriminant class weights",
        kl.KernelDiscriminant(class_weight={0: 2.0, 1: 1.0, 2: 0.5}),
        data.wine,
    ),
    ("KernelDiscriminant landmarks", kl.KernelDiscriminant(landmarks=20), data.digits),
    ("KernelDiscriminant all rows", kl.KernelDiscriminant(landmarks="all"), data.iris),
    ("KernelDiscriminant bank", kl.KernelDiscriminant(BANK), data.wine),
    ("KernelDiscriminant bank loo", kl.KernelDiscriminant(BANK, weights="loo"), data.wine),
    ("KernelDiscriminant bank reg", kl.KernelDiscriminant(BANK, reg="learn"), data.wine),
    ("KernelDiscriminant given weights", kl.KernelDiscriminant(BANK, weights=[1, 2, 0]), data.wine),
    ("KernelDiscriminant sparse", kl.KernelDiscriminant(), data.sparse_rows),
    ("KernelDiscriminant strings", kl.KernelDiscriminant(Spectrum(3)), data.strings),
    ("KernelDiscriminant frame", kl.KernelDiscriminant(COLUMNS), data.records),
    ("KernelDiscriminantQR", kl.KernelDiscriminantQR(), data.wine),
    ("KernelDiscriminantQR digits", kl.KernelDiscriminantQR("rbf", n_components=3), data.digits),
    ("KernelOrthogonalCentroid", kl.KernelOrthogonalCentroid(), data.wine),
    (
        "KernelOrthogonalCentroid clusters",
        kl.KernelOrthogonalCentroid(clusters_per_class=2, random_state=0),
        data.named_wine,
    ),
    (
        "KernelOrthogonalCentroid landmarks",
        kl.KernelOrthogonalCentroid(landmarks=15, random_state=0),
        data.digits,
    ),
    ("KernelPLS", kl.KernelPLS(), data.wine),
    ("KernelPLS texts", kl.KernelPLS("linear", n_components=2), data.named_wine),
    ("KernelPLS landmarks", kl.KernelPLS(landmarks=20, random_state=0), data.digits),
    ("KernelRegressor", kl.KernelRegressor(quality="fast"), data.values),
    ("KernelPLSRegressor", kl.KernelPLSRegressor(n_components=4), data.values),
    ("KernelPLSRegressor landmarks", kl.KernelPLSRegressor(landmarks=20), data.values),
    ("MultiKernelSVC", kl.MultiKernelSVC(), data.wine),
    ("MultiKernelSVC bank", kl.MultiKernelSVC(BANK), data.named_wine),
    ("MultiKernelSVC balanced", kl.MultiKernelSVC(BANK, class_weight="balanced"), data.wine),
    (
        "MultiKernelSVC squared hinge",
        kl.MultiKernelSVC(BANK, loss="squared_hinge", C="learn"),
        data.cancer,
    ),
    (
        "MultiKernelSVC landmarks",
        kl.MultiKernelSVC(BANK[:2], loss="squared_hinge", landmarks=10, random_state=0),
        data.wine,
    ),
    ("MultiKernelSVC sparse", kl.MultiKernelSVC(), data.sparse_rows),
    ("MultiKernelSVC frame", kl.MultiKernelSVC(COLUMNS), data.records),
    ("SubspaceSVC", kl.SubspaceSVC(), data.wine),
    ("SubspaceSVC texts", kl.SubspaceSVC(uncorrelated=False, C=10.0), data.named_wine),
    ("SubspaceSVC linear", kl.SubspaceSVC("linear"), data.cancer),
    ("SubspaceSVC landmarks", kl.SubspaceSVC(landmarks=15, random_state=0), data.digits),
    (
        "SubspaceSVC squared hinge",
        kl.SubspaceSVC(loss="squared_hinge", landmarks=15, random_state=0),
        data.wine,
    ),
    (
        "SubspaceSVC few directions",
        kl.SubspaceSVC(n_components=1, class_weight="balanced"),
        data.wine,
    ),
    ("SubspaceSVC alternating", kl.SubspaceSVC(method="alternating"), data.iris),
    ("SubspaceSVC bank", kl.SubspaceSVC(BANK), data.wine),
    ("SubspaceSVC loo", kl.SubspaceSVC(reg="loo"), data.iris),
    ("InductiveKernel", kl.InductiveKernel(random_state=0), data.iris),
    (
        "InductiveKernel triplets",
        kl.InductiveKernel("linear", regularizer="frobenius", constraints="triplets"),
        data.iris,
    ),
    (
        "InductiveKernel trace",
        kl.InductiveKernel(regularizer="trace", landmarks=15, random_state=0),
        data.wine,
    ),
    (
        "InductiveKernel similarity",
        kl.InductiveKernel(regularizer="pola", constraints="similarity", n_components=1),
        data.iris,
    ),
    ("KernelLMNN", kl.KernelLMNN(max_iter=100), data.iris),
    ("KernelLMNN landmarks", kl.KernelLMNN(landmarks=15, random_state=0, n_neighbors=2), data.wine),
    ("KernelMCML", kl.KernelMCML(max_iter=50), data.iris),
    ("KernelMMC", kl.KernelMMC(landmarks=10, random_state=0), data.iris),
    ("KernelNCA", kl.KernelNCA(max_iter=50, random_state=0), data.iris),
    ("KernelNCA texts", kl.KernelNCA("linear", n_components=1, max_iter=50), data.named_wine),
    ("KernelRCA", kl.KernelRCA(), data.iris),
    ("KernelRCA linear", kl.KernelRCA("linear", n_components=2), data.wine),
    ("preset itml", presets.itml(random_state=0), data.iris),
    ("preset pola", presets.pola(random_state=0), data.iris),
    ("preset trace_ssikdr", presets.trace_ssikdr(tau=0.1, random_state=0), data.iris),
    ("preset frob_lr", presets.frob_lr(random_state=0), data.iris),
    ("preset itml_lr_pre", presets.itml_lr_pre(random_state=0), data.iris),
    ("preset itml_lr_post", presets.itml_lr_post(random_state=0), data.iris),
]
WEIGHTED = [
    ("AlignmentSubspace", kl.AlignmentSubspace()),
    ("ExpansionSVC", kl.ExpansionSVC(n_points=4, random_state=0)),
    ("FeatureScales", kl.FeatureScales(max_iter=10)),
    ("HSICSubspace", kl.HSICSubspace(BANK)),
    ("KernelClassifier", kl.KernelClassifier(quality="fast", max_members=2)),
    ("KernelDiscriminant", kl.KernelDiscriminant(landmarks=20)),
    ("KernelDiscriminantQR", kl.KernelDiscriminantQR()),
    ("KernelOrthogonalCentroid", kl.KernelOrthogonalCentroid()),
    ("KernelPLS", kl.KernelPLS()),
    ("MultiKernelSVC", kl.MultiKernelSVC(BANK, class_weight="balanced")),
    ("SubspaceSVC", kl.SubspaceSVC(BANK)),
]
PRECOMPUTED = [
    ("HSICSubspace", kl.HSICSubspace("precomputed")),
    ("KernelDiscriminant", kl.KernelDiscriminant("precomputed")),
    ("KernelPLS", kl.KernelPLS("precomputed")),
    ("MultiKernelSVC", kl.MultiKernelSVC("precomputed", loss="squared_hinge")),
    ("SubspaceSVC", kl.SubspaceSVC("precomputed")),
    ("InductiveKernel", kl.InductiveKernel("precomputed", solver="bregman", n_constraints=20)),
    ("KernelRCA", kl.KernelRCA("precomputed")),
]


def prepared(model):
    """A copy with its memory and its seed said."""
    model = clone(model)
    given = model.get_params(deep=False)
    said = {name: value for name, value in SAID.items() if given.get(name, "none") is None}
    return model.set_params(**said)


def fit_plainly(record, model, rows):
    """fit(X, y), and what the model says of new rows."""
    model = prepared(model).fit(rows.X, rows.y)
    record.add_model(model, rows.X_new)
    for name in ("score", "distance"):
        if hasattr(model, name):
            given = (rows.X, rows.y) if name == "score" else (rows.X_new,)
            record.add(f"{name}()", getattr(model, name)(*given))
    if hasattr(model, "get_feature_names_out"):
        record.add("feature names", model.get_feature_names_out())


def fit_weighted(record, model):
    rows = data.wine()
    model = prepared(model).fit(rows.X, rows.y, sample_weight=data.weights(len(rows.y)))
    record.add_model(model, rows.X_new)


def fit_precomputed(record, model):
    rows = data.iris()
    kernel = Gaussian(0.3)
    model = prepared(model).fit(kernel(rows.X), rows.y)
    record.add_model(model, kernel(rows.X_new, rows.X))


def fit_stack_of_matrices(record):
    rows = data.iris()
    stack = [np.stack([k(A, rows.X) for k in BANK], axis=-1) for A in (rows.X, rows.X_new)]
    model = prepared(kl.KernelDiscriminant("precomputed")).fit(stack[0], rows.y)
    record.add_model(model, stack[1])


def fit_views(record):
    """A list of arrays, one for each kernel of the bank."""
    rows = data.wine()
    model = prepared(kl.KernelDiscriminant([Gaussian(), Linear()]))
    model.fit([rows.X[:, :5], rows.X[:, 5:]], rows.y)
    record.add_model(model, [rows.X_new[:, :5], rows.X_new[:, 5:]])


def fit_single(record, model):
    """float32 rows."""
    rows = data.wine()
    model = prepared(model).fit(rows.X.astype(np.float32), rows.y)
    record.add_model(model, rows.X_new.astype(np.float32))


def take_paths(record):
    """Regularisation and margin paths."""
    rows = data.iris()
    record.add("hsic", prepared(kl.HSICSubspace()).path(rows.X, rows.y, [0.01, 0.1, 1.0]))
    margin = prepared(kl.SubspaceSVC()).path(rows.X, rows.y, [0.1, 1.0], [0.01, 0.1])
    record.add("margin", margin)


def given_constraints():
    """Constraints by the numbers of rows, with the learners that take them."""
    y = data.iris().y
    similar, dissimilar = data.pairs_of(y)
    triplets = Triplets(data.triplets_of(y))
    pairs = Pairs(similar, dissimilar)
    some = np.where(np.arange(len(y)) % 2 == 0, y, -1)
    inductive = kl.InductiveKernel(random_state=0)
    return {
        "InductiveKernel pairs": (inductive, pairs),
        "InductiveKernel bounds": (
            kl.InductiveKernel(slack=0.1),
            Pairs(similar, dissimilar, similar_max=0.5, dissimilar_min=1.0),
        ),
        "InductiveKernel pairs and triplets": (inductive, pairs + triplets),
        "InductiveKernel similarities": (inductive, Similarities(similar, dissimilar)),
        "InductiveKernel probabilities": (
            inductive,
            ClassProbabilities([0, 1, 2], y[:3], labels=y, at_least=0.6),
        ),
        "InductiveKernel bregman": (kl.InductiveKernel("linear", solver="bregman"), pairs),
        "InductiveKernel pola pairs": (presets.pola(), presets.pola_pairs(similar, dissimilar)),
        "KernelLMNN triplets": (kl.KernelLMNN(max_iter=100), triplets),
        "KernelMMC pairs": (kl.KernelMMC(), pairs),
        "KernelRCA pairs": (kl.KernelRCA(), pairs),
        "KernelRCA chunklets": (kl.KernelRCA("linear"), some),
        "KernelMMC chunklets": (kl.KernelMMC("linear"), some),
    }


def fit_constraints(record, name):
    rows = data.iris()
    model, constraints = given_constraints()[name]
    model = prepared(model).fit(rows.X, constraints=constraints)
    record.add_model(model, rows.X_new)


def fit_unlabelled(record):
    rows = data.iris()
    y = np.where(np.arange(len(rows.y)) % 3 == 0, rows.y, -1)
    model = prepared(kl.InductiveKernel(unlabeled=-1, random_state=0)).fit(rows.X, y)
    record.add_model(model, rows.X_new)


def fit_pairs(record, learner=None, threshold="accuracy"):
    rows = data.iris()
    similar, dissimilar = data.pairs_of(rows.y)
    pairs = np.concatenate([similar, dissimilar])
    same = np.arange(len(pairs)) < len(similar)
    model = kl.PairClassifier(learner and prepared(learner), threshold, cv=3)
    model.fit(rows.X, pairs, same)
    record.add_model(model, rows.X_new, methods=())
    if learner is not None:  # a default one plans with what is free
        record.add_model(model.learner_, rows.X_new, prefix="learner: ")
    for name in ("predict", "decision_function"):
        record.add(f"{name}()", getattr(model, name)(rows.X_new, rows.X_new[::-1]))


def refuse(record):
    """Errors are sentences, and are recorded too."""
    kl.KernelDiscriminant(reg=-1.0).fit(data.iris().X, data.iris().y)


def cases():
    found = {
        f"array: {name}": lambda record, m=model, d=rows: fit_plainly(record, m, d())
        for name, model, rows in MODELS
    }
    found |= {
        f"weights: {name}": lambda record, m=model: fit_weighted(record, m)
        for name, model in WEIGHTED
    }
    found |= {
        f"precomputed: {name}": lambda record, m=model: fit_precomputed(record, m)
        for name, model in PRECOMPUTED
    }
    found |= {
        f"constraints: {name}": lambda record, n=name: fit_constraints(record, n)
        for name in given_constraints()
    }
    return found | {
        "precomputed: a stack": fit_stack_of_matrices,
        "views": fit_views,
        "float32: KernelDiscriminant": lambda record: fit_single(
            record, kl.KernelDiscriminant(landmarks=20)
        ),
        "float32: SubspaceSVC": lambda record: fit_single(record, kl.SubspaceSVC()),
        "paths": take_paths,
        "constraints: unlabelled rows": fit_unlabelled,
        "pairs: PairClassifier": fit_pairs,
        "pairs: PairClassifier f1": lambda record: fit_pairs(record, kl.KernelMMC("linear"), "f1"),
        "pairs: PairClassifier share": lambda record: fit_pairs(record, kl.KernelRCA(), 0.1),
        "refused": refuse,
    }
