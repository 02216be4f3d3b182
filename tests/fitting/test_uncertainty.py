"""Sets, novelty and fading of every classifier with probabilities."""

from importlib import import_module

import numpy as np
import pytest
from scipy.special import kolmogorov
from scipy.stats import kstest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

import kernel_learn as kl
from kernel_learn.criteria.held_out.folds import stratified_folds
from kernel_learn.criteria.held_out.leave_out import LeaveOut, squared
from kernel_learn.criteria.held_out.stacking import centered, softmax
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.datasets import Blocks
from kernel_learn.fitting import uncertainty
from kernel_learn.fitting.probabilities import fit_sharpness
from kernel_learn.kernels import ColumnKernel, Gaussian, Linear, Spectrum
from kernel_learn.rows.groups import shared_places
from kernel_learn.rows.keys import row_keys

X, y = load_wine(return_X_y=True)
X = scale(X)
train, test = np.arange(0, 178, 2), np.arange(1, 178, 2)
FAR = np.random.default_rng(0).uniform(-50, 50, (300, 13))
CLASSIFIERS = [
    kl.KernelDiscriminant(),
    kl.KernelDiscriminant(landmarks=40, random_state=0),
    kl.KernelPLS(),
    kl.SubspaceSVC(),
    kl.SubspaceSVC(landmarks=40, loss="squared_hinge", random_state=0),
    kl.MultiKernelSVC([Gaussian(), Linear()]),
    kl.ExpansionSVC(random_state=0),
    kl.KernelClassifier(quality="fast"),
]


@pytest.fixture(scope="module", params=CLASSIFIERS, ids=lambda model: repr(model)[:40])
def fitted(request):
    return request.param.fit(X[train], y[train])


def test_sets_hold_the_true_class(fitted):
    for coverage in (0.8, 0.95):
        sets = fitted.predict_set(X[test], coverage)
        assert sets.shape == (len(test), 3) and sets.dtype == bool
        assert sets.any(axis=1).all()
        assert sets[np.arange(len(test)), y[test]].mean() > coverage - 0.06
    small, large = fitted.predict_set(X[test], 0.5), fitted.predict_set(X[test], 0.97)
    assert (small <= large).all()


@pytest.mark.parametrize("landmarks", ["all", 50])
@pytest.mark.parametrize("uncorrelated", [True, False])
def test_machines_in_blocks_are_judged_on_rows_they_have_not_seen(landmarks, uncorrelated):
    """Scores of the rows that were fitted to gave sets that held the class of 8 in 10."""
    rng = np.random.default_rng(0)
    covers, told, errors = [], [], []
    for _ in range(4):
        labels = rng.integers(0, 3, 1000)
        rows = np.hstack([np.eye(3)[labels], np.zeros((1000, 3))])
        rows = rows + 0.6 * rng.standard_normal((1000, 6))
        model = kl.SubspaceSVC(
            loss="squared_hinge", uncorrelated=uncorrelated, landmarks=landmarks, random_state=0
        ).fit(rows[:200], labels[:200])
        sets = model.predict_set(rows[200:], 0.9)
        covers.append(sets[np.arange(800), labels[200:]].mean())
        told.append(model._held_out_error)
        errors.append(np.mean(model.predict(rows[200:]) != labels[200:]))
    assert 0.87 < np.mean(covers) < 0.94
    assert abs(np.mean(told) - np.mean(errors)) < 0.03


def test_by_class(fitted):
    sets = fitted.predict_set(X[test], 0.9, by_class=True)
    for c in range(3):
        assert sets[y[test] == c, c].mean() > 0.8


def test_too_few_rows_exclude_nothing(fitted):
    with pytest.warns(UserWarning, match="needs 999 rows .* there are fewer: nothing can be"):
        assert fitted.predict_set(X[test], 0.999).all()
    with pytest.warns(UserWarning, match="needs 99 rows .* class 0 has fewer"):
        assert fitted.predict_set(X[test], 0.99, by_class=True).all()


def test_far_rows_are_novel_and_known_ones_uniform(fitted):
    p = fitted.novelty(FAR)
    assert (p <= 1 / 80).mean() > 0.99
    assert kstest(fitted.novelty(X[test]), "uniform").pvalue > 1e-3


@pytest.mark.parametrize("model", [kl.KernelDiscriminant(), kl.KernelPLS()])
def test_novelty_of_new_rows_is_uniform(model):
    """20 tables: the distance of Kolmogorov and Smirnov, for so many new and known rows."""
    p = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = rng.standard_t(3 + seed, size=(500, 2 + seed)) @ rng.normal(size=(2 + seed, 4))
        novelty = model.fit(rows[:200], rows[:200, 0] > 0).novelty(rows[200:])
        p.append(kolmogorov(np.sqrt(200 * 300 / 500) * kstest(novelty, "uniform").statistic))
    assert min(p) > 1e-3 and np.mean(np.array(p) < 0.05) <= 0.15 and np.median(p) > 0.2


def test_far_away_probabilities_fade_to_the_class_shares(fitted):
    P = fitted.predict_proba(FAR)
    assert P.max(axis=1).mean() <= 0.55
    surplus = []
    for seed in range(5):
        drifted = X[test] + 2 * np.random.default_rng(seed).choice([-1, 1], 13)
        accuracy = np.mean(fitted.predict(drifted) == y[test])
        surplus.append(fitted.predict_proba(drifted).max(axis=1).mean() - accuracy)
    assert np.mean(surplus) <= 0.15
    drifted = X[test] + 2
    accuracy = np.mean(fitted.predict(drifted) == y[test])
    assert fitted.predict_proba(drifted).max(axis=1).mean() <= accuracy + 0.2


def test_novelty_and_fading_do_not_depend_on_units():
    units = 10.0 ** np.arange(-6, 7)
    plain = kl.KernelDiscriminant(Linear()).fit(X[train], y[train])
    other = kl.KernelDiscriminant(Linear()).fit(X[train] * units, y[train])
    np.testing.assert_allclose(other.novelty(X[test] * units), plain.novelty(X[test]))
    less = plain._calibration.reference.less_known(FAR)
    known = other._calibration.reference.less_known(FAR * units)
    np.testing.assert_allclose(known, less, rtol=1e-6)
    same = np.c_[X, np.full(178, 3.0)]
    constant = kl.KernelDiscriminant().fit(same[train], y[train])
    assert (constant.novelty(same[test] + 9 * np.eye(14)[13]) < 0.05).all()


def test_heavy_tails_are_not_far_away():
    """A value ten times as far out as any before is nothing rare in a column of heavy tails."""
    rng = np.random.default_rng(0)
    rows = rng.standard_t(1.5, size=(900, 4))
    labels = (rows[:, 0] > 0).astype(int)
    model = kl.KernelClassifier(quality="fast", assess="loo").fit(rows[:200], labels[:200])
    less = model._fitted.probe.reference.less_known(model._reference_rows(rows[200:]))
    assert np.mean(less > 1.2) < 0.015  # of numbers as they are 0.021
    assert model.predict_proba(np.full((1, 4), 1e6)).max() < 0.6


def test_columns_of_tables_are_compared_in_their_own_units():
    pd = pytest.importorskip("pandas")
    kernel = ColumnKernel(Gaussian(), ["a", "b"])
    units = np.array([10.0, 0.5])
    plain, other = (
        kl.KernelDiscriminant(kernel).fit(pd.DataFrame(Z[train], columns=["a", "b"]), y[train])
        for Z in (X[:, :2], X[:, :2] * units)
    )
    frame = pd.DataFrame(X[test][:, :2], columns=["a", "b"])
    np.testing.assert_allclose(other.novelty(frame * units), plain.novelty(frame))


def test_nothing_is_excluded_far_away(fitted):
    assert fitted.predict_set(FAR, 0.5).all(axis=1).mean() > 0.99
    assert fitted.predict_set(X[test], 0.8).sum(axis=1).mean() < 1.2
    if isinstance(fitted, kl.KernelClassifier):
        assert fitted.predict_set(FAR, method="cv+").all()


def test_files_give_equal_sets_and_novelty(fitted, tmp_path):
    pytest.importorskip("skops")
    kl.save(fitted, tmp_path / "model.skops")
    loaded = kl.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict_set(X[test]), fitted.predict_set(X[test]))
    np.testing.assert_array_equal(loaded.novelty(X[test]), fitted.novelty(X[test]))


def test_what_no_method_has_is_refused(fitted):
    with pytest.raises(ValueError, match="between 0 and 1"):
        fitted.predict_set(X[test], 1.0)
    with pytest.raises(ValueError, match="'loo' or 'cv\\+'"):
        fitted.predict_set(X[test], method="split")


def test_two_rows_of_a_class_among_a_thousand():
    rng = np.random.default_rng(0)
    rows = np.append(rng.normal(size=998), [5.9, 6.1])[:, None]
    labels = np.append(np.zeros(998, int), [1, 1])
    P = kl.KernelDiscriminant().fit(rows, labels).predict_proba(np.array([[2.0], [3.0], [6.0]]))
    assert P.min() > 1 / (55 * 1000)


@pytest.mark.parametrize("few", [2, 5, 10])
@pytest.mark.parametrize("model", [kl.KernelDiscriminant(), kl.KernelPLS(), kl.SubspaceSVC()])
def test_new_rows_of_a_class_of_few_are_not_taken_for_strangers(model, few):
    """Nor its own rows, of which there are always two to compare with."""
    rng = np.random.default_rng(few)
    rows = np.r_[rng.normal(size=(600, 4)), 3 + rng.normal(size=(few, 4))]
    model.fit(rows, np.arange(600 + few) >= 600)
    new = 3 + rng.normal(size=(300, 4))
    L = model._logits(new)
    unfaded = np.log1p(np.exp(L[:, 0] - L[:, 1])).mean()
    assert -model.predict_log_proba(new)[:, 1].mean() < unfaded + 0.1
    P = model.predict_proba(rows[600:])
    np.testing.assert_array_equal(P.argmax(axis=1) == 1, model.predict(rows[600:]))
    assert model.predict_proba(rows[600:] * 30).max() < 0.999


@pytest.mark.parametrize("n_classes", [2, 40, 200])
def test_new_rows_are_compared_with_so_many_and_with_every_class(n_classes):
    rng = np.random.default_rng(0)
    labels = np.r_[np.repeat(np.arange(1, n_classes), 2), np.zeros(700, int)]
    rows = rng.normal(size=(len(labels), 3)) + 5 * labels[:, None]
    reference = uncertainty.reference_of(
        Gaussian(), uncertainty.ArraySource(rows, labels, n_classes=n_classes)
    )
    assert 200 < len(reference.rows) <= 250
    seen = np.unique(np.rint(reference.rows.mean(axis=1) / 5))
    assert n_classes == 200 or set(range(n_classes)) <= set(seen.astype(int))


@pytest.mark.parametrize("weight", [1.0, 1e-3, 1e7])
@pytest.mark.parametrize("d", [1, 5, 300])
def test_rows_well_known_by_few_of_those_compared_need_no_others(d, weight):
    """What few rows say, in single precision, is never above what all say."""
    rng = np.random.default_rng(d)
    rows, new = rng.normal(size=(400, d)), 1.5 * rng.normal(size=(300, d))
    weights = np.where(np.arange(400) % 2, weight, 1.0)
    model = kl.KernelDiscriminant().fit(rows, rows[:, 0] > 0, sample_weight=weights)
    reference = model._calibration.reference
    new[:20] = rows[:20]
    new[20] = 1e200
    Z = reference.place(new)
    known = reference._known(reference.variance, *reference.compare(Z, reference.placed))
    few, half, every = (screen(Z) for screen in reference.screens)
    for least in (few, half, every):
        assert (least < known + uncertainty.ROUNDED / 2).all()
    assert np.mean(few > reference.usual) < np.mean(half > reference.usual)
    if weight <= 1:
        np.testing.assert_allclose(every, known, atol=uncertainty.ROUNDED / 2)
    less = reference.less_known(new)
    np.testing.assert_allclose(less, reference._less_known(Z), rtol=1e-9)
    assert less[20] > 1 and np.mean(less > 1) < 0.99


def test_strings_are_screened_by_their_own_kernel():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcd"[: 2 + i % 3]), 12)) for i in range(240)]
    model = kl.KernelDiscriminant(Spectrum(2)).fit(words[:160], np.arange(160) % 2)
    reference, new = model._calibration.reference, [*words[160:], "zzzz"]
    (screen,) = reference.screens
    assert 0.1 < np.mean(screen(new) > reference.usual) < 1
    less = reference.less_known(new)
    assert less[-1] > 1
    np.testing.assert_allclose(less, reference._less_known(new), rtol=1e-9)


def test_strings_by_their_own_kernel_and_matrices_not_at_all():
    words = [
        "".join(np.random.default_rng(i).choice(list("ab" if i % 2 else "ac"), 9))
        for i in range(40)
    ]
    model = kl.KernelDiscriminant(Spectrum(2)).fit(words, np.arange(40) % 2)
    p = model.novelty(["zzzzzzzzz", words[0]])
    assert p[0] < p[1]
    K = np.exp(-0.05 * ((X[train, None] - X[None, train]) ** 2).sum(-1))
    model = kl.KernelDiscriminant("precomputed").fit(K, y[train])
    assert model.predict_set(K).shape == (89, 3)
    with pytest.raises(ValueError, match="precomputed"):
        model.novelty(K)


@pytest.mark.slow
def test_groups_are_left_out_together():
    """Repeated measures: rows of one person vouch for each other, a new person has none."""
    covers: list[list[float]] = [[], []]
    who = np.repeat(np.arange(60), 5)
    seen, new = who < 40, who >= 40
    for draw in range(4):
        rng = np.random.default_rng(draw)
        label = rng.integers(0, 2, 60)[who]
        rows = rng.normal(size=(60, 8))[who] + 0.1 * rng.normal(size=(300, 8))
        for cover, groups in zip(covers, (None, who[seen]), strict=True):
            model = kl.KernelClassifier(quality="fast").fit(rows[seen], label[seen], groups=groups)
            sets = model.predict_set(rows[new], 0.9)
            cover.append(sets[np.arange(new.sum()), label[new]].mean())
    assert np.mean(covers[0]) < 0.7 and np.mean(covers[1]) > 0.85


PLS = [{}, {"n_components": 3}, {"landmarks": 40, "random_state": 0}]


def numbers(n, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 4))
    noise = rng.normal(size=(n, 2))
    return A, np.c_[A[:, 0] + np.sin(2 * A[:, 1]), A[:, 2] ** 2] + [0.5, 1.0] * noise


@pytest.mark.parametrize("options", PLS, ids=str)
def test_intervals_of_partial_least_squares(options, tmp_path):
    """As often as asked; of the values of repeated rows, not of their means; in files, too."""
    pytest.importorskip("skops")
    covers = []
    for seed in range(6):
        A, Y = numbers(150, seed)
        T, Z = numbers(600, 100 + seed)
        A[50:100] = A[:50]
        Y[50:100] = Y[:50] + np.random.default_rng(seed).normal(size=(50, 2)) / 2
        model = kl.KernelPLSRegressor(**options).fit(A, Y)
        ends = model.predict_interval(T, 0.8)
        assert ends.shape == (600, 2, 2)
        covers.append(((ends[..., 0] <= Z) & (ends[..., 1] >= Z)).mean(axis=0))
    assert (np.abs(np.mean(covers, axis=0) - 0.8) < 0.06).all()
    np.testing.assert_allclose(ends.mean(axis=2), model.predict(T))
    assert (model.novelty(30 * T) <= model.novelty_floor()).all()
    kl.save(model, tmp_path / "model.skops")
    loaded = kl.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict_interval(T), model.predict_interval(T))
    np.testing.assert_array_equal(loaded.novelty(T), model.novelty(T))
    single = kl.KernelPLSRegressor(**options).fit(A, Y[:, 0])
    assert single.predict_interval(T).shape == (600, 2)
    with pytest.warns(UserWarning, match="needs 999 rows .* intervals are infinite"):
        assert np.isinf(single.predict_interval(T, 0.999)).all()
    with pytest.raises(ValueError, match="keeps no models of folds"):
        single.predict_interval(T, method="cv+")
    parts = single.predict_interval(Blocks([(T[:200], None), (T[200:], None)]))
    np.testing.assert_allclose(np.concatenate(list(parts)), single.predict_interval(T))


@pytest.fixture
def up_to_three(monkeypatch):
    monkeypatch.setattr(import_module("kernel_learn.estimators.pls"), "MOST_COMPONENTS", 3)


def sizes_by_refits(A, Y, groups=None, **options):
    """Of each row without it (its group), with the number that suits the rows of other folds."""
    of = np.arange(len(A)) if groups is None else groups
    table = np.empty((3, len(A)))
    for g in np.unique(of):
        out = of == g
        for a in range(3):
            fit = kl.KernelPLSRegressor(Gaussian(0.1), n_components=a + 1, **options)
            table[a, out] = np.abs(Y[out] - fit.fit(A[~out], Y[~out]).predict(A[out]))
    order = np.lexsort((of, row_keys(A)))
    folds, sizes = np.empty(len(A), dtype=int), np.empty(len(A))
    targets = Targets(np.ones((len(A), 1)), shared_places(of[order]))
    folds[order] = stratified_folds(targets, 5)
    for fold in range(5):
        own, inside = folds == fold, folds != fold
        sizes[own] = table[(table[:, inside] ** 2).sum(axis=1).argmin(), own]
    return sizes


def test_intervals_of_a_chosen_number_are_by_rows_left_out(up_to_three):
    A, Y = numbers(60, 0)
    model = kl.KernelPLSRegressor(Gaussian(0.1)).fit(A, Y[:, 0])
    sizes = sizes_by_refits(A, Y[:, 0])
    np.testing.assert_allclose(model._calibration.sizes[:, 0], sizes, atol=1e-8)
    ends = model.predict_interval(A, 0.9)
    np.testing.assert_allclose(np.ptp(ends, axis=1) / 2, np.sort(sizes)[54], rtol=1e-8)  # 55 of 61


@pytest.mark.parametrize("chunk", [None, 25])
def test_on_landmarks_residuals_are_those_of_the_landmarks(chunk, up_to_three):
    """Of the kernel itself they were too small: 77 % where 90 % were asked for."""
    A, Y = numbers(60, 0)
    given = np.random.default_rng(1).normal(size=(6, 4))
    rows = (A, Y[:, 0]) if chunk is None else (Blocks(in_blocks(A, Y[:, 0], chunk)),)
    model = kl.KernelPLSRegressor(Gaussian(0.1), landmarks=given).fit(*rows)
    sizes = sizes_by_refits(A, Y[:, 0], landmarks=given)
    np.testing.assert_allclose(np.sort(model._calibration.sizes[:, 0]), np.sort(sizes), atol=1e-8)


def in_blocks(A, Y, chunk):
    return [(A[i : i + chunk], Y[i : i + chunk]) for i in range(0, len(A), chunk)]


LANDMARKS = [
    (kl.KernelPLS(Gaussian(0.1), n_components=3), 1e-8),
    # machines of four folds are solved to 1e-3
    (kl.MultiKernelSVC([Gaussian(0.1), Linear()], loss="squared_hinge", weights=[1, 0.1]), 5e-3),
]


@pytest.mark.parametrize(("model", "atol"), LANDMARKS, ids=["KernelPLS", "MultiKernelSVC"])
def test_on_landmarks_held_out_scores_are_those_of_the_landmarks(model, atol):
    """Of fits to four folds with the same landmarks."""
    given = np.random.default_rng(1).normal(size=(5, 13))
    model = clone(model).set_params(landmarks=given).fit(X[train], y[train])
    targets = Targets(np.eye(3)[y[train]])
    order = np.argsort(row_keys(X[train]))  # as the folds are made
    folds = np.empty(89, dtype=int)
    folds[order] = stratified_folds(targets.take(order), 5)
    scores = np.empty((89, 3))
    for fold in range(5):
        part = clone(model).fit(X[train][folds != fold], y[train][folds != fold])
        scores[folds == fold] = part.decision_function(X[train][folds == fold])
    P = softmax(model._calibration.fading(centered(model.sharpness_ * scores)))
    np.testing.assert_allclose(
        np.sort(1 - P[np.arange(89), y[train]]), np.sort(model._calibration.held.scores), atol=atol
    )


@pytest.mark.slow
@pytest.mark.parametrize("n_points", [10, 30])
def test_points_are_moved_without_the_rows_that_they_are_judged_on(n_points):
    """With points that all labels had moved sets of 80 % held 77 %."""
    covers = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        A = rng.normal(size=(400, 4))
        means = np.c_[1.5 * np.sin(2 * A[:, 0]), A[:, 1] * A[:, 2], 0.7 * A[:, 3]]
        label = (means + 0.7 * rng.gumbel(size=(400, 3))).argmax(axis=1)
        model = kl.ExpansionSVC(n_points=n_points, max_iter=1000, random_state=0)
        model.fit(A[:150], label[:150])
        sets = model.predict_set(A[150:], 0.8)
        covers.append(sets[np.arange(250), label[150:]].mean())
    assert abs(np.mean(covers) - 0.8) < 2.5 * np.std(covers) / np.sqrt(30)


GROUPED = [
    kl.KernelDiscriminant(),
    kl.KernelDiscriminant(landmarks=30, random_state=0),
    kl.KernelDiscriminant([Gaussian(), Linear()], weights="loo"),
    kl.KernelDiscriminant(Gaussian("loo"), reg=0.1),
    kl.KernelPLS(),
    kl.KernelPLS(landmarks=30, random_state=0),
    kl.SubspaceSVC(),
    kl.SubspaceSVC(reg="loo", landmarks=30, random_state=0),
    kl.SubspaceSVC(loss="squared_hinge", landmarks=30, random_state=0),
    kl.MultiKernelSVC([Gaussian(), Linear()]),
    kl.MultiKernelSVC([Gaussian(), Linear()], loss="squared_hinge", landmarks=30, random_state=0),
    kl.ExpansionSVC(n_points=5, tol=0.05, random_state=0),
    kl.KernelPLSRegressor(),
    kl.KernelPLSRegressor(n_components=4),
    kl.KernelPLSRegressor(landmarks=30, random_state=0),
]
# With tol=0.05 it stops before it has learned the persons.
JUDGED = [m for m in GROUPED if not isinstance(m, kl.ExpansionSVC)]
JUDGED.append(kl.ExpansionSVC(n_points=8, random_state=0))
WHO = np.repeat(np.arange(60), 5)


def persons(seed):
    """Five rows of each of 60 persons, whose labels and numbers are by chance."""
    rng = np.random.default_rng(seed)
    label, value = rng.integers(0, 2, 60)[WHO], rng.normal(size=60)[WHO]
    rows = rng.normal(size=(60, 8))[WHO] + 0.1 * rng.normal(size=(300, 8))
    return rows, label, value + 0.1 * rng.normal(size=300)


def holds(model, rows, label, value, coverage=0.9):
    """How often sets hold the label, intervals the value."""
    if isinstance(model, kl.KernelPLSRegressor):
        low, high = model.predict_interval(rows, coverage).T
        return ((low <= value) & (value <= high)).mean()
    return model.predict_set(rows, coverage)[np.arange(len(rows)), label].mean()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:ExpansionSVC stopped after 100 iterations")
@pytest.mark.parametrize("model", JUDGED, ids=lambda model: repr(model)[:60])
def test_a_new_group_is_held_as_often_as_asked(model, tmp_path):
    """Rows of one person vouch for each other, and row-wise sets fail for new persons."""
    pytest.importorskip("skops")
    seen, new, alone, together = WHO < 40, WHO >= 40, [], []
    p_values = []
    for seed in range(8):
        rows, label, value = persons(seed)
        told = value if isinstance(model, kl.KernelPLSRegressor) else label
        for groups, found in ((None, alone), (WHO[seen], together)):
            model.fit(rows[seen], told[seen], groups=groups)
            found.append(holds(model, rows[new], label[new], value[new]))
        p_values.append(model.novelty(rows[new][::5]))
    assert np.mean(alone) < 0.75
    assert np.mean(together) > 0.9 - 3 * np.std(together) / np.sqrt(8) - 0.01
    assert abs(np.mean(np.concatenate(p_values)) - 0.5) < 0.1
    assert model.novelty_floor() == pytest.approx(1 / 41)
    kl.save(model, tmp_path / "model.skops")
    loaded = kl.load(tmp_path / "model.skops")
    assert holds(loaded, rows[new], label[new], value[new]) == together[-1]
    np.testing.assert_array_equal(loaded.novelty(rows[new]), model.novelty(rows[new]))


@pytest.mark.parametrize("model", GROUPED, ids=lambda model: repr(model)[:60])
def test_groups_of_one_row_are_rows(model):
    rows, label, value = (part[::3] for part in persons(0))
    told = value if isinstance(model, kl.KernelPLSRegressor) else label
    own = clone(model).fit(rows, told, groups=np.random.default_rng(0).permutation(100))
    plain = clone(model).fit(rows, told)
    if isinstance(model, kl.KernelPLSRegressor):
        np.testing.assert_allclose(own.predict_interval(X_NEW), plain.predict_interval(X_NEW))
    else:
        np.testing.assert_allclose(own.predict_proba(X_NEW), plain.predict_proba(X_NEW), atol=1e-6)
        np.testing.assert_array_equal(own.predict_set(X_NEW), plain.predict_set(X_NEW))
    np.testing.assert_allclose(own.novelty(X_NEW), plain.novelty(X_NEW))


X_NEW = np.random.default_rng(9).normal(size=(40, 8))


def test_intervals_of_groups_are_by_refits_without_them(up_to_three):
    A, Y = numbers(60, 0)
    groups = np.random.default_rng(2).integers(0, 25, 60)
    model = kl.KernelPLSRegressor(Gaussian(0.1)).fit(A, Y[:, 0], groups=groups)
    sizes = sizes_by_refits(A, Y[:, 0], groups)
    np.testing.assert_allclose(model._calibration.sizes[:, 0], sizes, atol=1e-8)
    mass = 1 / np.bincount(groups)[groups]
    order = np.argsort(sizes)
    n = len(np.unique(groups))
    place = np.flatnonzero(np.cumsum(mass[order]) >= 0.9 * (n + 1) - 1e-6)[0]
    ends = model.predict_interval(A, 0.9)
    np.testing.assert_allclose(np.ptp(ends, axis=1) / 2, sizes[order[place]], rtol=1e-8)
    with pytest.warns(UserWarning, match=r"needs 99 rows \(or groups\)"):
        assert np.isinf(model.predict_interval(A, 0.99)).all()


def test_no_group_is_on_both_sides_of_a_fold(monkeypatch):
    """And no class is lost to the rows that learn."""
    rows, label, _ = persons(0)
    label = np.where(WHO == 3, 2, label)  # a class of one group
    label[WHO == 7] = [3, 3, 0, 1, 0]  # one in parts of two groups, which are of others, too
    label[WHO == 12] = [3, 0, 0, 1, 0]
    seen = []

    def spy(targets, score_fold, n_rows=400):
        assert len(targets.groups) == 60

        def watched(inside, outside):
            of = np.full(targets.n, -1)
            for g, own in enumerate(targets.groups):
                of[own] = g
            assert not np.intersect1d(of[inside], of[outside]).size
            assert len(np.unique(targets.majority[inside])) == 4
            seen.append(len(outside))
            return score_fold(inside, outside)

        return fit_sharpness(targets, watched, n_rows)

    for name in ("subspace_svc", "expansion", "pls"):
        module = import_module(f"kernel_learn.estimators.{name}")
        monkeypatch.setattr(module, "fit_sharpness", spy)
    monkeypatch.setattr(import_module("kernel_learn.fitting.block_mkl"), "fit_sharpness", spy)
    for model in (kl.SubspaceSVC(), kl.ExpansionSVC(n_points=3), kl.KernelPLS()):
        model.fit(rows, label, groups=WHO)
    kl.MultiKernelSVC([Gaussian()]).fit(rows, label, groups=WHO)
    assert len(seen) == 20 and 200 < sum(seen) / 4 < 300


def test_what_has_no_groups_is_refused_by_a_sentence():
    for model in (kl.HSICSubspace(), kl.AlignmentSubspace(), kl.KernelDiscriminantQR()):
        with pytest.raises(TypeError, match=f"{type(model).__name__}.fit takes no groups"):
            model.fit(X[train], y[train], groups=train // 5)
    blocks = Blocks([(X[train[:50]], y[train[:50]]), (X[train[50:]], y[train[50:]])])
    for model in (kl.KernelDiscriminant(), kl.SubspaceSVC(), kl.KernelPLS(), kl.MultiKernelSVC()):
        with pytest.raises(ValueError, match="which have no groups"):
            model.fit(blocks, groups=train // 5)
        with pytest.raises(ValueError, match="All rows are of one group"):
            model.fit(X[train], y[train], groups=np.zeros(89))
        with pytest.raises(ValueError, match="groups has 88 entries, and there are 89 rows"):
            model.fit(X[train], y[train], groups=np.arange(88))
        with pytest.raises(ValueError, match="rows without a group"):
            model.fit(X[train], y[train], groups=[None, *range(88)])
    with pytest.raises(ValueError, match="which have no groups"):
        kl.KernelDiscriminant().fit(X[train], y[train], groups=train // 5, checkpoint="nowhere")


def test_the_ledger_knows_groups():
    """A model that forgets rows is the fit of the others with their groups."""
    rows, label, _ = (part[:120] for part in persons(0))
    of = WHO[:120]
    model = kl.KernelDiscriminant().fit(rows, label, groups=of)
    gone = np.r_[0:5, 17, 44]
    stay = np.setdiff1d(np.arange(120), gone)
    other = model.forget(gone, choices="again")
    fresh = kl.KernelDiscriminant().fit(rows[stay], label[stay], groups=of[stay])
    np.testing.assert_allclose(other.predict_proba(X_NEW), fresh.predict_proba(X_NEW))
    np.testing.assert_array_equal(other.predict_set(X_NEW), fresh.predict_set(X_NEW))
    K = np.array(model.kernel_.kernel(rows))
    found = LeaveOut(K.copy(), np.eye(2)[label], np.ones(120), model.reg_, model._ridge_rows.units)
    np.testing.assert_allclose(model.row_values_, found.values(squared), rtol=1e-6)
    on = kl.KernelDiscriminant(landmarks=20, random_state=0).fit(rows, label, groups=of)
    assert on.forget(gone).predict_set(X_NEW).shape == (40, 2)
    with pytest.raises(ValueError, match="fitted with groups"):
        _ = on.row_values_


def test_sources_give_sets_block_by_block():
    model = kl.KernelDiscriminant().fit(X[train], y[train])
    source = Blocks([(X[test[:50]], None), (X[test[50:]], None)])
    sets = np.concatenate(list(model.predict_set(source)))
    np.testing.assert_array_equal(sets, model.predict_set(X[test]))
    p = np.concatenate(list(model.novelty(source)))
    np.testing.assert_allclose(p, model.novelty(X[test]))


@pytest.mark.parametrize(
    "model", [kl.KernelPLS(), kl.MultiKernelSVC([Gaussian(), Linear()], loss="squared_hinge")]
)
def test_shares_are_those_of_all_rows_of_a_stream(model):
    """And not of the few hundred whose held-out scores say how sharp scores are."""
    rng = np.random.default_rng(0)
    rows, rare = rng.normal(size=(1200, 3)), np.arange(1200) % 40 == 0
    parts = [(rows[i : i + 400], rare[i : i + 400]) for i in range(0, 1200, 400)]
    model.set_params(landmarks=40, random_state=0).fit(Blocks(parts))
    far = model.predict_proba(np.full((1, 3), 1e4))
    assert far[0, 1] == pytest.approx(30.5 / 1201, rel=1e-3)
    assert model._calibration.fading.lead == pytest.approx(np.log(50 * 1200))


def test_sets_of_models_that_chose_inside_the_folds():
    model = kl.KernelClassifier(quality="fast").fit(X[train], y[train])
    sets = model.predict_set(X[test], 0.9, method="cv+")
    assert sets[np.arange(len(test)), y[test]].mean() > 0.9
    assert sets.sum(axis=1).mean() < 1.2
    for other in (kl.KernelClassifier(quality="fast", assess="loo"), kl.KernelDiscriminant()):
        with pytest.raises(ValueError, match="keeps no models of folds"):
            other.fit(X[train], y[train]).predict_set(X[test], method="cv+")
    rows = np.random.default_rng(0).normal(size=(1100, 2))
    model = kl.KernelClassifier(quality="fast").fit(rows, rows[:, 0] > 0)
    with pytest.raises(ValueError, match="keeps them of at most 1000 distinct rows"):
        model.predict_set(rows[:5], method="cv+")
