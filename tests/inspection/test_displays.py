"""Pictures show the numbers of the estimators they are drawn from."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernel_learn as kl
from kernel_learn import inspection
from kernel_learn.inspection.convergence import relative_gaps
from kernel_learn.inspection.drawing import (
    COLORS,
    draw_bars,
    draw_intervals,
    draw_reliability,
    format_percent,
)
from kernel_learn.inspection.reading import some_rows
from kernel_learn.inspection.regularization_path import leave_one_out_errors
from kernel_learn.kernels import Gaussian, Linear, gaussian_bank
from oracles import naive

plt = pytest.importorskip("matplotlib.pyplot")
to_rgb = pytest.importorskip("matplotlib.colors").to_rgb

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def bank_model():
    return kl.HSICSubspace(gaussian_bank(4), uncorrelated=True).fit(X, y)


@pytest.fixture(scope="module")
def classifier():
    frame = load_wine(as_frame=True)
    return kl.KernelClassifier(quality="fast").fit(frame.data, frame.target)


def widths(display):
    return [bar.get_width() for bar in display.ax_.patches]


def words(ticks):
    return [tick.get_text() for tick in ticks]


def test_weights_are_those_of_the_estimator(bank_model):
    display = inspection.KernelWeightsDisplay.from_estimator(bank_model)
    assert widths(display) == pytest.approx(bank_model.kernel_weights_)
    assert words(display.ax_.get_yticklabels()) == list(bank_model.kernel_names_)
    assert display.figure_ is display.ax_.figure


def test_of_many_kernels_the_heaviest_are_drawn(bank_model):
    display = inspection.KernelWeightsDisplay.from_estimator(bank_model, max_kernels=2)
    kept = np.sort(np.argsort(-bank_model.kernel_weights_)[:2])
    assert widths(display) == pytest.approx(bank_model.kernel_weights_[kept])


def test_a_pipeline_and_a_search_are_looked_into():
    pipe = make_pipeline(
        StandardScaler(), kl.HSICSubspace(gaussian_bank(3)), KNeighborsClassifier(1)
    )
    search = GridSearchCV(pipe, {"hsicsubspace__reg": [0.1, 1.0]}, cv=2).fit(X, y)
    display = inspection.KernelWeightsDisplay.from_estimator(search)
    assert widths(display) == pytest.approx(search.best_estimator_[1].kernel_weights_)
    shown = inspection.EmbeddingDisplay.from_estimator(search, X, y)
    F = search.best_estimator_[:2].transform(X)
    np.testing.assert_allclose(shown.features, F)


def test_what_is_not_there_is_named():
    with pytest.raises(ValueError, match="draws members_, and KernelDiscriminant has none"):
        inspection.MembersDisplay.from_estimator(kl.KernelDiscriminant().fit(X, y))


def test_axes_given_are_used(bank_model):
    figure, ax = plt.subplots()
    display = inspection.KernelWeightsDisplay.from_estimator(bank_model, ax=ax, color="red")
    assert display.ax_ is ax and display.figure_ is figure
    assert ax.patches[0].get_facecolor() == (1, 0, 0, 1)


def test_members(classifier):
    display = inspection.MembersDisplay.from_estimator(classifier, max_members=3)
    assert widths(display) == pytest.approx([m.weight for m in classifier.members_[:3]])
    errors = [f"{100 * m.error:.1f} %" for m in classifier.members_[:3]]
    assert words(display.ax_.texts) == errors


def test_relevance_falls_and_has_its_spread(classifier):
    display = inspection.RelevanceDisplay.from_estimator(classifier, max_features=5)
    order = np.argsort(-classifier.feature_relevance_, kind="stable")[:5]
    assert widths(display) == pytest.approx(classifier.feature_relevance_[order])
    shown = words(display.ax_.get_yticklabels())
    assert shown[0] == classifier.feature_names_in_[order[0]]
    (whiskers,) = display.ax_.collections
    ends = [segment[1, 0] - segment[0, 0] for segment in whiskers.get_segments()]
    std = classifier.feature_relevance_std_[order]
    low = np.minimum(classifier.feature_relevance_[order], std)
    assert ends == pytest.approx(low + std)


def test_scales_of_columns_are_drawn_by_size():
    class Scales(kl.KernelDiscriminant):
        @property
        def scales_(self):
            return np.array([0.5, -2.0, 0.0, 1.0])

    display = inspection.RelevanceDisplay.from_estimator(Scales().fit(X, y))
    assert widths(display) == pytest.approx([2.0, 1.0, 0.5, 0.0])
    assert words(display.ax_.get_yticklabels()) == ["x1", "x3", "x0", "x2"]


def test_scales_of_feature_scales():
    model = kl.FeatureScales().fit(X, y)
    display = inspection.RelevanceDisplay.from_estimator(model)
    assert widths(display) == pytest.approx(np.sort(np.abs(model.scales_))[::-1])


def test_bounds_and_gap(bank_model):
    display = inspection.ConvergenceDisplay.from_estimator(bank_model)
    lines = {line.get_label(): line.get_ydata() for line in display.lines_}
    np.testing.assert_array_equal(lines["value"], [s["value"] for s in bank_model.history_])
    np.testing.assert_array_equal(lines["lower bound"], [s["lower"] for s in bank_model.history_])
    display.plot(kind="gap", name="newton")
    assert display.ax_.get_yscale() == "log"
    assert words(display.ax_.get_legend().get_texts()) == ["newton"]
    step = bank_model.history_[0]
    first = display.lines_[0].get_ydata()[0]
    assert first == pytest.approx((step["value"] - step["lower"]) / step["value"])


def test_gaps_take_the_best_bounds_so_far():
    history = [{"lower": 1.0, "upper": 4.0}, {"lower": 0.0, "upper": 2.0}]
    np.testing.assert_allclose(relative_gaps(history), [3 / 4, 1 / 2])
    np.testing.assert_allclose(relative_gaps(history[::-1]), [1.0, 1 / 2])


def test_a_gap_of_zero_has_a_place_on_its_logarithmic_axis():
    steps = [{"value": 1.0, "lower": 1.0}]
    shown = inspection.ConvergenceDisplay(history=steps).plot(kind="gap")
    assert shown.lines_[0].get_ydata()[0] == 1e-16


def test_the_last_of_several_steps_is_looked_into():
    first, last = kl.HSICSubspace(gaussian_bank(3)), kl.KernelDiscriminant(gaussian_bank(2))
    pipe = make_pipeline(first, last).fit(X, y)
    shown = inspection.KernelWeightsDisplay.from_estimator(pipe)
    assert widths(shown) == pytest.approx(last.kernel_weights_)


def test_gradient_of_a_local_search():
    model = kl.AlignmentSubspace(max_iter=2000).fit(X, y)
    display = inspection.ConvergenceDisplay.from_estimator(model, kind="gradient")
    assert len(display.lines_[0].get_ydata()) == len(model.history_)
    with pytest.raises(ValueError, match="nothing to draw for kind='gap'"):
        display.plot(kind="gap")
    with pytest.raises(ValueError, match="choose one of"):
        display.plot(kind="loss")


def test_embedding_in_a_plane():
    model = kl.HSICSubspace(uncorrelated=True).fit(X[::2], NAMES[::2])
    display = inspection.EmbeddingDisplay.from_estimator(
        model, X[::2], NAMES[::2], X_new=X[1::2], y_new=NAMES[1::2]
    )
    drawn = np.concatenate(
        [c.get_offsets() for c in display.ax_.collections if len(c.get_offsets())]
    )
    both = np.concatenate([model.transform(X[::2]), model.transform(X[1::2])])
    np.testing.assert_allclose(np.sort(drawn, axis=0), np.sort(both, axis=0))
    legend = words(display.ax_.get_legend().get_texts())
    assert legend == ["setosa", "versicolor", "virginica", "training", "new"]


def test_embedding_in_one_dimension_has_a_strip_for_each_class():
    model = kl.KernelDiscriminant().fit(X[50:], NAMES[50:])
    display = inspection.EmbeddingDisplay.from_estimator(model, X[50:], NAMES[50:])
    assert words(display.ax_.get_yticklabels()) == ["versicolor", "virginica"]
    F = model.transform(X[50:])[:, 0]
    for place, strip in enumerate(display.ax_.collections):
        at = np.asarray(strip.get_offsets())
        assert np.all(np.abs(at[:, 1] - place) < 0.31)
        np.testing.assert_allclose(at[:, 0], F[NAMES[50:] == ["versicolor", "virginica"][place]])


def test_embedding_in_pairs():
    model = kl.KernelPLS(n_components=5).fit(X, y)
    display = inspection.EmbeddingDisplay.from_estimator(model, X, y, max_components=3)
    assert display.ax_.shape == (2, 2)
    assert display.ax_[1, 0].get_ylabel() == "feature 3"
    figure, ax = plt.subplots()
    inside = inspection.EmbeddingDisplay.from_estimator(model, X, y, ax=ax)
    assert inside.figure_ is figure and inside.ax_.shape == (3, 3)


def test_embedding_without_labels_and_of_features_at_hand():
    display = inspection.EmbeddingDisplay.from_predictions(X[:, :2])
    np.testing.assert_array_equal(display.ax_.collections[0].get_offsets(), X[:, :2])
    assert display.ax_.get_legend() is None


def test_labels_with_dollars_are_words_not_mathematics(tmp_path):
    labels = np.where(y == 0, "$\\oops", "a $ b $")
    display = inspection.EmbeddingDisplay.from_predictions(X[:, :2], labels)
    display.figure_.savefig(tmp_path / "picture.png")


def test_path_is_the_fit_s_own():
    model = kl.KernelDiscriminant().fit(X, y)
    display = inspection.RegularizationPathDisplay.from_estimator(model)
    curve = display.ax_.get_lines()[0]
    np.testing.assert_array_equal(curve.get_xdata(), model.loo_regs_)
    finite = np.where(np.isfinite(model.loo_errors_), model.loo_errors_, np.nan)
    np.testing.assert_array_equal(curve.get_ydata(), finite)
    assert display.best_ == (0, int(np.nanargmin(finite)))


def test_path_by_hand():
    """Each row left out by a refit of ridge regression with intercept."""
    few, labels = X[::6], y[::6]
    K, n = Gaussian(0.3)(few), len(few)
    Y = np.eye(3)[labels]
    P = np.eye(n) - 1 / n
    lam = 0.1 * np.trace(P @ K @ P) / n
    total = 0.0
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        system = np.block([[K[np.ix_(rest, rest)] + lam * np.eye(n - 1), np.ones((n - 1, 1))],
                           [np.ones((1, n - 1)), np.zeros((1, 1))]])  # fmt: skip
        solution = np.linalg.solve(system, np.vstack([Y[rest], np.zeros((1, 3))]))
        total += np.sum((Y[i] - K[i, rest] @ solution[:-1] - solution[-1]) ** 2)
    found = leave_one_out_errors(K, labels, np.array([0.1]))
    assert found[0] == pytest.approx(total / n, rel=1e-8)


def test_path_along_widths():
    model = make_pipeline(StandardScaler(), kl.KernelDiscriminant()).fit(X, y)
    display = inspection.RegularizationPathDisplay.from_estimator(
        model, X, y, gamma_factors=[0.1, 1.0], regs=[0.01, 0.1, 1.0]
    )
    assert display.errors.shape == (2, 3)
    gamma = model[-1].base_kernel_.gamma
    np.testing.assert_allclose(display.gammas, [0.1 * gamma, gamma])
    alone = inspection.RegularizationPathDisplay.from_estimator(model, X, y, regs=[0.1])
    assert alone.errors[list(alone.gammas).index(gamma)] == pytest.approx(display.errors[1, 1])


def test_path_of_a_kernel_without_width():
    model = kl.KernelDiscriminant(Linear()).fit(X, y)
    display = inspection.RegularizationPathDisplay.from_estimator(model, X, y)
    assert display.errors.shape[0] == 1
    with pytest.raises(ValueError, match="Linear has no width"):
        inspection.RegularizationPathDisplay.from_estimator(model, X, y, gamma_factors=[1])


def test_gram_is_ordered_by_class():
    shuffled = np.random.default_rng(0).permutation(len(X))
    model = kl.HSICSubspace(Gaussian(0.3)).fit(X, y)
    display = inspection.GramDisplay.from_estimator(model, X[shuffled], y[shuffled])
    before, after = (np.asarray(ax.images[0].get_array()) for ax in display.ax_)
    order = shuffled[np.argsort(y[shuffled], kind="stable")]
    np.testing.assert_allclose(before, naive.gram(naive.gaussian, X[order], gamma=0.3))
    F = model.transform(X[order])
    np.testing.assert_allclose(after, F @ F.T, atol=1e-12)
    ends = [line.get_ydata()[0] for line in display.ax_[0].lines if line.get_ydata()[0] > 1]
    assert ends == [49.5, 99.5]  # between classes, not around all


def test_gram_of_a_classifier_on_a_frame(classifier):
    frame = load_wine(as_frame=True)
    display = inspection.GramDisplay.from_estimator(
        classifier, frame.data, frame.target, max_rows=60
    )
    assert len(display.ax_) == 1
    assert display.ax_[0].images[0].get_array().shape == (60, 60)


def test_some_rows_keep_the_shares():
    labels = np.repeat(["a", "b"], [900, 100])
    rows = some_rows(labels, 50)
    assert len(np.unique(rows)) == 50
    assert np.sum(labels[rows] == "b") in (4, 5, 6)
    counts = [np.sum(labels[some_rows(labels, 50, seed)] == "b") for seed in range(10)]
    assert min(counts) >= 4 and max(counts) <= 6


def test_matplotlib_is_imported_by_the_first_picture():
    code = "import sys, kernel_learn.inspection; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_matplotlib_the_extra_is_named(bank_model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"kernel-learn\[plot\]"):
        inspection.KernelWeightsDisplay.from_estimator(bank_model)


def test_classes_have_the_colours_of_their_order():
    order = ["virginica", "none of these", "setosa", "versicolor"]
    display = inspection.EmbeddingDisplay(features=X[:, :2], labels=NAMES, classes=order).plot()
    assert words(display.ax_.get_legend().get_texts()) == ["virginica", "setosa", "versicolor"]
    colors = [points.get_facecolor()[0, :3] for points, _, _ in display.points_]
    expected = [to_rgb(COLORS[i]) for i in (0, 2, 3)]
    np.testing.assert_allclose(colors, expected)


def test_points_know_their_rows():
    display = inspection.EmbeddingDisplay(
        features=X[::2, :2], labels=NAMES[::2], new_features=X[1::2, :2], new_labels=NAMES[1::2]
    ).plot()
    assert [is_new for _, _, is_new in display.points_] == 3 * [False, True]
    for points, rows, is_new in display.points_:
        np.testing.assert_array_equal(points.get_offsets(), X[int(is_new) :: 2, :2][rows])


def test_intervals_stand_from_the_top_with_their_ends():
    _, ax = plt.subplots()
    low, high = np.array([0.8, 0.5]), np.array([1.0, 0.7])
    points = draw_intervals(ax, ["first $", "second"], np.array([0.9, 0.6]), low, high)
    np.testing.assert_array_equal(points.get_offsets(), [[0.9, 0], [0.6, 1]])
    ends = [line[:, 0] for line in ax.collections[0].get_segments()]
    np.testing.assert_array_equal(ends, np.column_stack([low, high]))
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert words(ax.get_yticklabels()) == [r"first \$", "second"]
    assert format_percent(0.956, 0) == "95.6 %"


def test_reliability_has_shares_intervals_and_the_honest_line():
    _, ax = plt.subplots()
    stated, right = np.array([0.71, 0.95]), np.array([0.6, 1.0])
    low, high = np.array([0.42, 0.8]), np.array([0.75, 1.0])
    points = draw_reliability(ax, stated, right, low, high)
    np.testing.assert_array_equal(points.get_offsets(), np.column_stack([stated, right]))
    ends = [line[:, 1] for line in ax.collections[0].get_segments()]
    np.testing.assert_array_equal(ends, np.column_stack([low, high]))
    np.testing.assert_allclose(ax.get_lines()[0].get_xydata(), [[0.4, 0.4], [1.0, 1.0]])


def test_notes_stand_at_the_ends_of_whiskers():
    _, ax = plt.subplots()
    values, spread = np.array([0.5, 0.2]), np.array([0.1, 0.3])
    draw_bars(ax, values, ["a", "b" * 30], spread, notes=["x", "y"])
    assert [text.xy for text in ax.texts] == [(0.6, 0), (0.5, 1)] and words(ax.texts) == ["x", "y"]
    assert words(ax.get_yticklabels())[1] == "b" * 14 + "…" + "b" * 7
    (whiskers,) = ax.collections
    ends = [segment[:, 0] for segment in whiskers.get_segments()]
    np.testing.assert_allclose(ends, [[0.4, 0.6], [0.0, 0.5]])


def test_columns_have_the_names_that_the_step_before_gives():
    frame = load_iris(as_frame=True)
    pipe = make_pipeline(StandardScaler(), kl.FeatureScales()).fit(frame.data, frame.target)
    display = inspection.RelevanceDisplay.from_estimator(pipe)
    assert sorted(words(display.ax_.get_yticklabels())) == sorted(frame.data.columns)
