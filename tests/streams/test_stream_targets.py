"""Numbers, several numbers and sets of labels that come in blocks."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kernel_learn as kl
from kernel_learn.kernels import Gaussian, gaussian_bank
from streams.test_streams import blocks_of, few_held  # noqa: F401

rng = np.random.default_rng(0)
N = 1500
X = rng.normal(size=(N, 3))
X[700:760] = X[:60]  # some rows come twice, with other targets
y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=N)
Y2 = np.column_stack([y, 50 * X[:, 1] ** 2 + 7])
Y01 = (X + 0.3 * rng.normal(size=(N, 3)) > [0.0, 0.5, 1.0]).astype(int)
W = rng.integers(0, 3, N).astype(float)
X_NEW = rng.normal(size=(30, 3))
TARGETS = {"number": y, "numbers": Y2, "sets": Y01}
MODELS = {
    "hsic": lambda: kl.HSICSubspace(landmarks=40, random_state=0),
    "width and reg": lambda: kl.HSICSubspace(
        Gaussian("loo"), reg="loo", uncorrelated=True, landmarks=40, random_state=0
    ),
    "linear": lambda: kl.HSICSubspace(landmarks=40, random_state=0, label_kernel="linear"),
    "by loo": lambda: kl.HSICSubspace(
        gaussian_bank(3, relative=True), weights="loo", landmarks=40, random_state=0
    ),
    "alignment": lambda: kl.AlignmentSubspace(landmarks=40, random_state=0, tol=1e-7),
    "pls": lambda: kl.KernelPLSRegressor(landmarks=40, random_state=0),
    "pls of any": lambda: kl.KernelPLS(landmarks=40, random_state=0, n_components=3),
}


def model_of(name, kind):
    model = MODELS[name]()
    if name == "pls of any" and kind != "sets":  # a classifier, which is to be told
        model.set_params(target_type="numbers")
    return model


def same(one, other, name):
    close = 1e-4 if name in ("alignment", "by loo") else 1e-6
    A, B = (np.abs(model.transform(X_NEW)) for model in (one, other))
    assert_allclose(A, B, atol=close * np.abs(A).max())
    assert getattr(one, "target_type_", None) == getattr(other, "target_type_", None)


@pytest.mark.usefixtures("few_held")
@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("name", MODELS)
def test_a_stream_gives_what_its_rows_give(name, kind):
    targets = TARGETS[kind]
    expected = model_of(name, kind).fit(X, targets, sample_weight=W)
    for size in (170, 1500):
        found = model_of(name, kind).fit(lambda size=size: blocks_of(X, targets, W, size))
        same(found, expected, name)
    order = rng.permutation(N)
    found = model_of(name, kind).fit(lambda: blocks_of(X[order], targets[order], W[order]))
    same(found, expected, name)
    if name == "pls of any":
        score = expected.score(X, targets, sample_weight=W)
        assert found.score(lambda: blocks_of(X, targets, W)) == pytest.approx(score, rel=1e-9)


@pytest.mark.parametrize("name", ["hsic", "alignment"])
def test_few_rows_of_a_source_are_as_an_array(name):
    for targets in TARGETS.values():
        same(
            MODELS[name]().fit(lambda own=targets: blocks_of(X, own)),
            MODELS[name]().fit(X, targets),
            name,
        )


@pytest.mark.usefixtures("few_held")
@pytest.mark.parametrize("label_kernel", ["normalized", "linear"])
def test_an_exact_fit_of_a_stream_of_few_distinct_rows(label_kernel):
    """What is left of its rows are sums: how numbers vary is read once more."""
    few = rng.integers(0, 80, N)
    rows = X[:80][few]
    make = lambda: kl.HSICSubspace(landmarks="all", label_kernel=label_kernel)  # noqa: E731
    for targets in (y, Y2):
        found = make().fit(lambda own=targets: blocks_of(rows, own))
        assert found.plan_.representation == "gram"
        expected = make().fit(rows, targets)
        same(found, expected, "hsic")
        assert found.objective_ == pytest.approx(expected.objective_, rel=1e-8)


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("name", ["hsic", "alignment", "pls"])
def test_rows_one_block_after_the_other(name, kind):
    targets, landmarks = TARGETS[kind], X[:40]
    make = lambda: MODELS[name]().set_params(kernel=Gaussian(0.3), landmarks=landmarks)  # noqa: E731
    grown, a, b = make(), make(), make()
    for rows, own in blocks_of(X, targets):
        grown.partial_fit(rows, own)
    expected = make().fit(X, targets)
    same(grown, expected, name)
    a.partial_fit(X[:900], targets[:900])
    b.partial_fit(X[900:], targets[900:])
    same(a.fit(a.state_ + b.state_), expected, name)


@pytest.mark.usefixtures("few_held")
def test_checkpoints_of_numbers(tmp_path):
    def breaking():
        for i, block in enumerate(blocks_of(X, Y2)):
            if i == 5 and breaking.fails:
                raise KeyboardInterrupt
            yield block

    breaking.fails = True
    expected = MODELS["hsic"]().fit(X, Y2)
    with pytest.raises(KeyboardInterrupt):
        MODELS["hsic"]().fit(breaking, checkpoint=tmp_path / "state")
    breaking.fails = False
    same(MODELS["hsic"]().fit(breaking, checkpoint=tmp_path / "state"), expected, "hsic")


def test_whole_numbers_of_a_source():
    counts = np.argsort(np.argsort(y[:60])) // 2
    with pytest.warns(UserWarning, match="taken as numbers"):
        found = kl.HSICSubspace().fit(lambda: blocks_of(X[:60], counts, size=7))
    assert found.target_type_ == "numbers"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = kl.HSICSubspace(target_type="numbers").fit(lambda: blocks_of(X[:60], counts, size=7))
    assert_array_equal(told.transform(X_NEW), found.transform(X_NEW))


@pytest.mark.usefixtures("few_held")
def test_whole_numbers_of_a_large_source_are_classes():
    counts = np.arange(N) // 3
    with pytest.warns(UserWarning, match="taken as classes: it has 500 different"):
        found = kl.HSICSubspace(landmarks=10, n_components=1).fit(lambda: blocks_of(X, counts))
    assert len(found.classes_) == 500


BAD = {
    "real after whole": (
        {},
        [(X[:50], np.arange(50) % 3), (X[50:90], y[50:90])],
        "Block 1.*target_type='numbers'",
    ),
    "a hole": ({}, [(X[:50], y[:50]), (X[50:52], [0.5, np.nan])], "Block 1, row 1.*NaN"),
    "another width": ({}, [(X[:50], Y2[:50]), (X[50:90], y[50:90])], "Block 1.*it has 1 target"),
    "other values": (
        {},
        [(X[:50], Y01[:50]), (X[50:52], [[0, 1, 0], [0, 2, 1]])],
        "Block 1, row 1",
    ),
    "lists": ({}, [(X[:2], np.array([{"a"}, {"b"}], dtype=object))], "MultiLabelBinarizer"),
    "texts": ({"target_type": "numbers"}, [(X[:2], ["a", "b"])], "Block 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_blocks(name):
    options, blocks, said = BAD[name]
    model = kl.HSICSubspace(**options)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=said):
        model.fit(lambda: iter(blocks))
    assert vars(model) == before


@pytest.mark.usefixtures("few_held")
@pytest.mark.parametrize("label_kernel", ["gaussian", lambda a, b: np.outer(a, b)])
def test_label_kernels_that_need_all_rows(label_kernel):
    model = kl.HSICSubspace(label_kernel=label_kernel, landmarks=20)
    with pytest.raises(ValueError, match="compares the targets of all rows"):
        model.fit(lambda: blocks_of(X, y))
    if isinstance(label_kernel, str):
        assert not hasattr(model, "partial_fit")


def test_dask():
    da = pytest.importorskip("dask.array")
    for targets in TARGETS.values():
        found = MODELS["hsic"]().fit(da.from_array(X, chunks=(400, 3)), da.from_array(targets))
        same(found, MODELS["hsic"]().fit(X, targets), "hsic")
