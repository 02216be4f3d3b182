"""Models find their columns by name, whatever else a table holds."""

import json
from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")

from kernel_learn import HSICSubspace, InductiveKernel, KernelClassifier  # noqa: E402
from kernel_learn.constraints import Pairs  # noqa: E402
from kernel_learn.tables import TableError, TableModel, look_at_columns  # noqa: E402

rng = np.random.default_rng(0)
N = 80
Y = rng.choice(["sick", "well"], N)
SICK = Y == "sick"
FRAME = pd.DataFrame(
    {
        "marker": SICK + 0.3 * rng.normal(size=N),
        "age": rng.integers(20, 90, N),
        "sex": rng.choice(["f", "m", None], N),
        "seen": pd.date_range("2020-01-01", periods=N, freq="3D").astype(str),
        "note": [
            f"{'pain in the chest' if s else 'nothing to report'} on day {i}"
            for i, s in enumerate(SICK)
        ],
        "treated": rng.random(N) > 0.5,
    }
)
FRAME.loc[::9, "age"] = np.nan


def fast():
    return KernelClassifier(quality="fast", max_members=3)


@pytest.fixture(scope="module")
def light():
    return TableModel(fast()).fit(FRAME, Y)


@pytest.fixture(scope="module")
def full():
    return TableModel(LogisticRegression(), encoding="full").fit(FRAME, Y)


@pytest.fixture(params=["light", "full"])
def model(request):
    return request.getfixturevalue(request.param)


def test_only_dates_and_text_are_encoded_for_the_classifier(light):
    names = list(light.estimator_.feature_names_in_)
    assert {"marker", "age", "sex", "treated"} <= set(names)
    assert "seen" not in names and "seen_year" in names
    assert ("note" not in names and "note_00" in names) or "note_0" in names
    assert light.score(FRAME, Y) > 0.95


def test_everything_is_scaled_numbers_for_others(full):
    rows = full.encode(FRAME)
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-4)


def test_order_and_other_columns_do_not_matter(model):
    shuffled = FRAME[FRAME.columns[::-1]].assign(extra=1.0)
    np.testing.assert_array_equal(model.predict_proba(shuffled), model.predict_proba(FRAME))
    assert model.extra_columns(shuffled) == ["extra"]


def test_columns_that_were_left_out_are_none_of_the_unknown_ones():
    frame = FRAME.assign(nr=np.arange(len(FRAME)), same=1, asked=Y, target=Y)
    columns = look_at_columns(frame.drop(columns="target"), drop=["asked"])
    assert (columns.ids, columns.constants, columns.dropped) == (["nr"], ["same"], ["asked"])
    model = TableModel(fast())
    model.fit_encoder(frame, columns)
    assert model.extra_columns(frame.assign(other=0)) == ["other"]


def test_missing_columns_are_named(model):
    with pytest.raises(TableError, match="lacks the columns 'age', 'sex'"):
        model.predict(FRAME.drop(columns=["age", "sex"]))


def test_unseen_levels_dates_and_words_work(model):
    new = FRAME.head(4).assign(sex="x", seen="not a date", note="entirely other words", age=np.nan)
    assert np.isfinite(model.predict_proba(new)).all()


def test_numbers_that_are_words_are_named(model):
    wrong = FRAME.head(3).assign(marker=["1.5", "high", "2"])
    with pytest.raises(TableError, match="Column 'marker' holds 'high' in row 1"):
        model.predict(wrong)
    right = FRAME.head(3).assign(marker=FRAME["marker"].head(3).astype(str))
    np.testing.assert_allclose(
        model.predict_proba(right), model.predict_proba(FRAME.head(3)), rtol=1e-6
    )


def test_levels_are_what_is_written_not_how(light):
    """A block of a CSV file in which all levels look like numbers is read as numbers."""
    frame = pd.DataFrame({"level": ["1", "2", "x"] * 20, "z": rng.normal(size=60)})
    y = np.where(frame["level"] == "1", "a", "b")
    model = TableModel(fast()).fit(frame, y)
    as_numbers = pd.DataFrame({"level": [1, 2, 1], "z": [0.0, 0.0, 0.0]})
    as_floats = as_numbers.assign(level=[1.0, 2.0, 1.0])
    assert model.predict(as_numbers).tolist() == ["a", "b", "a"]
    assert model.predict(as_floats).tolist() == ["a", "b", "a"]


def test_groups_reach_the_classifier():
    groups = np.arange(N) // 4
    alone = TableModel(fast()).fit(FRAME, Y)
    together = TableModel(fast()).fit(FRAME, Y, groups)
    assert not np.array_equal(alone.estimator_.loo_proba_, together.estimator_.loo_proba_)
    TableModel(SVC(), encoding="full").fit(FRAME, Y, groups)  # which has no use for them


def test_kernels_from_labels_and_pairs():
    model = TableModel(HSICSubspace(), encoding="full").fit(FRAME, Y)
    assert model.transform(FRAME).shape == (N, 1)
    assert not hasattr(model, "predict_proba")
    alike = np.flatnonzero(SICK)[:6].reshape(3, 2)
    unlike = np.column_stack([np.flatnonzero(SICK)[:3], np.flatnonzero(~SICK)[:3]])
    pairs = Pairs(similar=alike, dissimilar=unlike)
    learned = TableModel(InductiveKernel(), encoding="full").fit(FRAME, constraints=pairs)
    assert len(learned.transform(FRAME)) == N


def test_sparse_tables_go_by_name():
    data = np.zeros((40, 2000))
    data[np.arange(40), np.arange(40) % 7] = 1.0
    y = np.where(np.arange(40) % 7 < 3, "a", "b")
    frame = pd.DataFrame.sparse.from_spmatrix(
        __import__("scipy.sparse").sparse.csr_matrix(data), columns=[str(i) for i in range(2000)]
    )
    model = TableModel(fast()).fit(frame, y)
    assert model.score(frame, y) == 1.0
    narrow = frame.iloc[:, :7]  # a file that ends at its last entry
    np.testing.assert_allclose(model.predict_proba(narrow), model.predict_proba(frame))
    assert model.has_seen(frame).all()


def test_rows_that_were_seen(light):
    assert light.has_seen(FRAME).all()
    assert not light.has_seen(FRAME.assign(marker=FRAME["marker"] + 1)).any()


def test_inputs_are_unchanged_and_clones_are_unfitted(light):
    before = FRAME.copy()
    light.predict(FRAME)
    pd.testing.assert_frame_equal(FRAME, before)
    assert not hasattr(clone(light), "estimator_")
    with pytest.raises(ValueError, match="choose one of"):
        TableModel(fast(), encoding="heavy").fit(FRAME, Y)


def test_a_notebook_shows_the_verdict_or_the_summary_and_the_columns(light):
    shown = light._repr_html_()
    assert light.estimator_.summary_.splitlines()[1] in shown and len(shown) < 10_000
    assert "<td>classes</td><td>sick, well</td>" in shown
    judged = deepcopy(light)
    judged.facts_ = json.dumps({"verdict": ["There is <signal>."], "n_rows": N})
    shown = judged._repr_html_()
    assert "<p>There is &lt;signal&gt;.</p>" in shown and f"<td>rows</td><td>{N}</td>" in shown
    assert light.estimator_.summary_.splitlines()[1] not in shown
    assert "<style>" in clone(light)._repr_html_()  # not fitted: scikit-learn's diagram
