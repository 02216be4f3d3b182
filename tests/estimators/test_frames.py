"""Frames of every kind in every estimator, and lists of views."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import kernel_learn as kl
from extras import optional
from kernel_learn.fitting.row_validation import as_views
from kernel_learn.kernels import ColumnKernel, Gaussian, Hamming, Linear, Matching, Spectrum

pd = optional("pandas")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.8)
NAMES = ["a", "b", "c", "d"]
FAST = {name: {"max_iter": 3} for name in ("KernelLMNN", "KernelMCML", "KernelMMC", "KernelNCA")}
FAST |= {"ExpansionSVC": {"n_points": 4, "max_iter": 5}, "KernelClassifier": {"quality": "fast"}}
ESTIMATORS = sorted(
    name
    for name in kl.__all__
    if hasattr(getattr(kl, name), "fit")
    and name not in ("PairClassifier", "TableEncoder")  # pairs; tables, by their own tests
)
# Without a kernel of the user's, with points that are not rows of the sample, or with columns
# that are multiplied.
NO_COLUMNS = (
    "KernelClassifier",
    "KernelRegressor",
    "KernelDiscriminantQR",
    "ExpansionSVC",
    "FeatureScales",
)
BANKS = [
    name
    for name in ESTIMATORS
    if getattr(getattr(kl, name), "accepts_banks", False) and name not in NO_COLUMNS
]


def frame_of(library, columns):
    module = optional(library)
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


def numbers(library, A=X):
    return frame_of(library, {name: A[:, c] for c, name in enumerate(NAMES)})


def make(name, **options):
    kind = getattr(kl, name)
    seed = {"random_state": 0} if "random_state" in kind().get_params() else {}
    return kind(**FAST.get(name, {}), **seed, **options)


def outputs(model, rows):
    methods = ("transform", "predict", "predict_proba")
    return [np.asarray(getattr(model, name)(rows)) for name in methods if hasattr(model, name)]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_frame_of_numbers_is_an_array_with_names(name, library):
    expected = outputs(make(name).fit(X, Y), X[:9])
    model = make(name).fit(numbers(library), Y)
    assert list(model.feature_names_in_) == NAMES
    tolerance = 1e-3 if name == "AlignmentSubspace" else 1e-10  # a local search stops at its tol
    for now, then in zip(outputs(model, numbers(library, X[:9])), expected, strict=True):
        np.testing.assert_allclose(now, then, atol=tolerance)
    other = frame_of(library, {name: X[:, c] for c, name in enumerate("badc")})
    with pytest.raises(ValueError, match="feature names"):
        model.predict(other) if hasattr(model, "predict") else model.transform(other)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in NO_COLUMNS])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_columns_by_name(name, library):
    expected = outputs(make(name, kernel=ColumnKernel(Gaussian(), [0, 2])).fit(X, Y), X[:9])
    model = make(name, kernel=ColumnKernel(Gaussian(), ["a", "c"])).fit(numbers(library), Y)
    for now, then in zip(outputs(model, numbers(library, X[:9])), expected, strict=True):
        np.testing.assert_allclose(now, then, atol=1e-10)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_kernels_of_mixed_columns_agree_with_pandas(library):
    words = np.array(["red", "blue", "green"])[RNG.integers(0, 3, 60)].tolist()
    words[5] = None
    texts = ["".join(RNG.choice(list("abc"), 6)) for _ in range(60)]
    columns = {"x": X[:, 0], "k": RNG.integers(0, 9, 60), "word": words, "text": texts}
    bank = {
        "numbers": ColumnKernel(Gaussian(), slice("x", "k")),
        "word": ColumnKernel(Matching(), "word"),
        "text": ColumnKernel(Spectrum(2), "text"),
        "mixed": ColumnKernel(Hamming(categorical=["word"]), ["x", "word"]),
    }
    frames = [frame_of(one, columns) for one in ("pandas", library)]
    model, other = (kl.KernelDiscriminant(bank, reg=0.1).fit(frame, Y) for frame in frames)
    np.testing.assert_allclose(model.kernel_weights_, other.kernel_weights_, atol=1e-9)
    np.testing.assert_allclose(
        model.predict_proba(frames[0]), other.predict_proba(frames[1]), atol=1e-8
    )
    for kernel in bank.values():
        fitted = kernel.resolve(frames[0])
        np.testing.assert_allclose(fitted(frames[1]), fitted(frames[0]), atol=1e-12)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_missing_numbers_are_refused_by_name(library):
    columns = {"a": [1.0, None, 3.0, 4.0], "b": ["x", "y", "x", "y"]}
    model = kl.KernelDiscriminant(ColumnKernel(Gaussian(), "a"))
    with pytest.raises(ValueError, match="NaN: column 'a', first in row 1"):
        model.fit(frame_of(library, columns), [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"no columns \['z'\]"):
        kl.KernelDiscriminant(ColumnKernel(Linear(), "z")).fit(
            frame_of(library, columns), [0, 1, 0, 1]
        )


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_landmarks_as_a_frame_are_those_rows(library):
    same = kl.KernelDiscriminant(Gaussian(0.5), landmarks=X[:9]).fit(X, Y)
    model = kl.KernelDiscriminant(Gaussian(0.5), landmarks=numbers(library, X[:9]))
    model.fit(numbers(library), Y)
    rows = numbers(library, X[9:15])
    np.testing.assert_allclose(model.predict_proba(rows), same.predict_proba(X[9:15]), atol=1e-12)
    shown = model.shapley(rows, background=5).values
    np.testing.assert_allclose(shown, same.shapley(X[9:15], background=5).values, atol=1e-10)


def test_landmarks_of_a_table_have_its_columns():
    frame = frame_of("pandas", {"number": X[:, 0], "word": np.where(X[:, 1] > 0, "u", "v")})
    bank = [ColumnKernel(Gaussian(0.5), "number"), ColumnKernel(Matching(), "word")]
    model = kl.KernelDiscriminant(bank, reg=0.1, landmarks=frame[:9]).fit(frame, Y)
    by_place = kl.KernelDiscriminant(bank, reg=0.1, landmarks=np.arange(9)).fit(frame, Y)
    np.testing.assert_allclose(model.predict_proba(frame), by_place.predict_proba(frame), atol=1e-9)
    with pytest.raises(ValueError, match="landmarks has the columns word, number"):
        model.set_params(landmarks=frame[["word", "number"]][:9]).fit(frame, Y)


def test_numbers_beside_categories_must_be_numbers():
    frame = frame_of("pandas", {"word": ["u", "v"] * 30, "other": ["p", "q", "r"] * 20})
    with pytest.raises(ValueError, match="Column 'other' of X has 'p' in row 0"):
        kl.KernelDiscriminant(Hamming(0.3, ["word"])).fit(frame, Y)


class TestViews:
    views = (X[:, :3], X[:, 3:])
    new = (X[:9, :3], X[:9, 3:])

    @pytest.mark.parametrize("form", [list, tuple])
    @pytest.mark.parametrize("name", BANKS)
    def test_a_bank_takes_one_view_per_kernel(self, name, form):
        columns = [ColumnKernel(Gaussian(), slice(0, 3)), ColumnKernel(Linear(), [3])]
        expected = outputs(make(name, kernel=columns).fit(X, Y), X[:9])
        model = make(name, kernel=[Gaussian(), Linear()]).fit(form(self.views), Y)
        for rows in (form(self.new), X[:9]):
            for now, then in zip(outputs(model, rows), expected, strict=True):
                np.testing.assert_allclose(now, then, atol=1e-9)

    def test_frames_and_sparse_matrices_as_views(self):
        expected = kl.KernelDiscriminant([Linear(), Linear()], reg=0.1).fit(self.views, Y)
        frames = [pd.DataFrame(self.views[0], columns=list("abc")), self.views[1]]
        sparse_views = [sparse.csr_array(view) for view in self.views]
        for views in (frames, sparse_views):
            model = kl.KernelDiscriminant([Linear(), Linear()], reg=0.1).fit(views, Y)
            np.testing.assert_allclose(
                model.predict_proba(views), expected.predict_proba(self.views), atol=1e-8
            )

    def test_any_other_list_is_rows(self):
        assert as_views([[1.0, 2.0], [3.0, 4.0]]) is None
        assert as_views(X) is None
        assert as_views([X, X[:, :1]], 3) is None
        assert as_views([X[:, 0], X]) is None
        assert as_views([]) is None
        assert len(as_views([X, X])) == 2
        kl.KernelDiscriminant([Gaussian(), Linear()]).fit(X.tolist(), Y)

    def test_views_that_do_not_fit_are_refused(self):
        model = kl.KernelDiscriminant([Gaussian(), Linear()])
        with pytest.raises(ValueError, match="they need the same rows"):
            model.fit([X, X[:-1]], Y)
        model.fit(self.views, Y)
        with pytest.raises(ValueError, match=r"views with \[1, 3\] columns, .* had \[3, 1\]"):
            model.predict(self.views[::-1])
        with pytest.raises(ValueError):
            kl.KernelDiscriminant([Gaussian(), Linear(), Linear()]).fit(self.views, Y)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_points_move_among_named_columns(library):
    """And among their positions in an array in the same way."""
    frame = numbers(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        named = make("ExpansionSVC", kernel=ColumnKernel(Gaussian(), ["a", "c"])).fit(frame, Y)
        array = make("ExpansionSVC", kernel=ColumnKernel(Gaussian(), [0, 2])).fit(X, Y)
    np.testing.assert_allclose(named.expansion_points_, array.expansion_points_)
    np.testing.assert_allclose(named.predict_proba(frame), array.predict_proba(X))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_names_of_a_wide_frame_are_read_once(library, monkeypatch):
    """One reading of all names for each column made 6,000 genes and a category take minutes."""
    from kernel_learn.rows import columns as kinds

    columns = {f"gene_{i}": RNG.normal(size=30) for i in range(40)}
    frame = frame_of(library, columns | {"site": ["north", "south", "west"] * 10})
    calls = []
    monkeypatch.setattr(
        kinds, "column_names", lambda X, own=kinds.column_names: calls.append(1) or own(X)
    )
    reader = kinds.learn_table(frame, "auto")
    rows = reader.read(frame)
    assert len(calls) <= 3
    np.testing.assert_array_equal(rows.numbers, np.column_stack(list(columns.values())))
    assert reader.categories.tolist() == [40] and len(reader.levels[0]) == 3


def test_missing_numbers_are_named_by_column_and_row():
    frame = pd.DataFrame(X.copy(), columns=NAMES)
    frame.loc[7, "c"] = np.nan
    model = kl.KernelDiscriminant({"a": ColumnKernel(Gaussian(), ["a", "c"])})
    with pytest.raises(ValueError, match=r"contains NaN: column 'c', first in row 7\. Fill or"):
        model.fit(frame, Y)
    frame.loc[2, "a"] = np.inf
    with pytest.raises(ValueError, match=r"infinity: columns 'a', 'c', first in row 2\."):
        model.fit(frame, Y)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_labels_by_the_name_of_a_column(library):
    """``fit(frame, "label")``: the column is taken out of the rows, and the frame stays whole."""
    plain = {name: X[:, c] for c, name in enumerate(NAMES)}
    frame = frame_of(library, plain | {"label": Y, "count": np.arange(60.0) % 3 + 1})
    model = kl.KernelDiscriminant().fit(frame, "label", sample_weight="count")
    same = kl.KernelDiscriminant().fit(numbers(library), Y, np.arange(60.0) % 3 + 1)
    frame_new = numbers(library)
    np.testing.assert_allclose(
        model.decision_function(frame_new), same.decision_function(frame_new), atol=1e-9
    )
    assert model.feature_names_in_.tolist() == NAMES
    assert model.score(frame, "label", "count") == same.score(frame_new, Y, np.arange(60.0) % 3 + 1)
    assert frame.shape == (60, 6)


@pytest.mark.filterwarnings("ignore:.*stopped after.*iterations")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_takes_the_name_of_a_column(name):
    frame = pd.DataFrame(X, columns=NAMES)
    ask = "transform" if hasattr(make(name), "transform") else "predict"
    target = X[:, 0] if name.endswith("Regressor") else Y
    named = make(name).fit(frame.assign(label=target), y="label")
    same = make(name).fit(frame, target)
    np.testing.assert_allclose(getattr(named, ask)(frame), getattr(same, ask)(frame), atol=1e-6)


def test_partial_fit_by_the_name_of_a_column():
    frame = pd.DataFrame(X, columns=NAMES)
    named = kl.KernelDiscriminant(landmarks=10, random_state=0).partial_fit(
        frame.assign(label=Y), "label"
    )
    same = kl.KernelDiscriminant(landmarks=10, random_state=0).partial_fit(frame, Y)
    np.testing.assert_allclose(
        named.decision_function(frame), same.decision_function(frame), atol=1e-9
    )


def test_a_name_that_is_no_column():
    frame = pd.DataFrame(X, columns=NAMES)
    with pytest.raises(ValueError, match=r"y='labl' names no column of X, whose columns are 'a'"):
        kl.HSICSubspace().fit(frame, "labl")
