"""The report says what the model found, escapes what users write, and stays small and whole."""

import json
import re

import numpy as np
import pytest
from scipy import stats
from sklearn.svm import LinearSVC

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")
pytest.importorskip("jinja2")

from kernel_learn import HSICSubspace, KernelClassifier, MultiKernelSVC, report  # noqa: E402
from kernel_learn.kernels import gaussian_bank  # noqa: E402
from kernel_learn.report import gather_facts, judge_new_rows, render  # noqa: E402
from kernel_learn.report.facts import (  # noqa: E402
    calibration,
    evaluate_probabilities,
    find_neighbours,
    headline_of,
    independent_rows,
    wilson,
)
from kernel_learn.report.page import confusion_cells  # noqa: E402
from kernel_learn.report.placing import place_rows  # noqa: E402
from kernel_learn.tables import TableModel, look_at_columns  # noqa: E402
from kernel_learn.tables.deciding import Wish  # noqa: E402

EVIL = "<script>alert('x')</script><img src=x onerror=alert(1)>\"'&$"
rng = np.random.default_rng(0)


def small_table(n=90, evil=False):
    y = np.array(["a", "b", "c"])[np.arange(n) % 3]
    means = 1.5 * np.eye(3)[np.arange(n) % 3]
    frame = pd.DataFrame(rng.normal(size=(n, 3)) + means, columns=["u", "v", "w"])
    frame["level"] = rng.choice(["x", "y", None], n)
    frame["patient_id"] = [f"P{i}" for i in range(n)]
    if evil:
        frame = frame.rename(columns={"u": EVIL, "level": f"{EVIL} level"})
        frame[f"{EVIL} level"] = rng.choice([EVIL, "y"], n)
        frame["text"] = [f"{EVIL} number {i} of many such cells" for i in range(n)]
        y = np.where(y == "a", EVIL, y)
    return frame, y


def fitted(estimator=None, evil=False, groups=None, **options):
    frame, y = small_table(evil=evil)
    estimator = KernelClassifier(quality="fast") if estimator is None else estimator
    model = TableModel(estimator, target=EVIL if evil else "kind", **options)
    model.fit(frame, y, groups, columns=look_at_columns(frame, y))
    facts = gather_facts(
        model,
        frame,
        y,
        method=EVIL if evil else type(estimator).__name__,
        groups=groups,
        command=f"kernel-learn fit {EVIL}" if evil else "kernel-learn fit table.csv",
        files=[EVIL] if evil else ["table.csv"],
        notes=[EVIL] if evil else [],
    )
    return model, frame, y, json.loads(json.dumps(facts))


@pytest.fixture(scope="module")
def classifier():
    return fitted()


@pytest.fixture(scope="module")
def board():
    row = {"accuracy": 0.9, "low": 0.8, "high": 0.95, "log_loss": 0.3, "seconds": 1.0}
    row |= {"difference": [0.0, 0.0, 0.0], "failure": None}
    failed = dict.fromkeys(row) | {"method": "broken", "failure": f"because {EVIL}"}
    rows = [row | {"method": EVIL}, row | {"method": "majority class", "accuracy": 0.4}, failed]
    return {"rows": rows, "n_rows": 90, "n_folds": 5, "n_repeats": 2}


@pytest.fixture(scope="module")
def evil_page(board):
    _, frame, _, facts = fitted(evil=True)
    file = {"name": EVIL, "bytes": 12345, "rows": 90}
    return render(facts, frame=frame, leaderboard=board, model_file=file)


def parse(page):
    html5lib = pytest.importorskip("html5lib")
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)


def test_held_out_figures_are_those_of_the_model(classifier):
    model, _, _, facts = classifier
    held_out = facts["held_out"]
    low, high = model.estimator_.error_interval_
    assert held_out["accuracy"] == pytest.approx(1 - model.estimator_.error_)
    assert (held_out["low"], held_out["high"]) == pytest.approx((1 - high, 1 - low))
    assert held_out["log_loss"] == pytest.approx(model.estimator_.log_loss_)
    assert held_out["p_value"] == model.estimator_.permutation_p_value()
    said = model.estimator_.held_out_proba_.argmax(axis=1)
    table = np.zeros((3, 3), dtype=int)
    for truth, guess in zip(model.labels_, said, strict=True):
        table[truth, guess] += 1
    assert held_out["confusion"] == table.tolist()
    assert held_out["naive_accuracy"] == pytest.approx(1 / 3)
    page = render(facts).replace("\u00a0", " ")
    assert f"{100 * held_out['accuracy']:.1f} %" in page and "33.3 %" in page
    headline = model.estimator_.summary_.splitlines()[1].partition(", log loss")[0]
    assert headline.startswith("Error by nested cross-validation: ") and headline in page


def test_holes_of_a_column_are_its_share_of_missing_cells(classifier):
    _, frame, _, facts = classifier
    found = {column["name"]: column["missing"] for column in facts["data"]}
    assert found["u"] == 0.0 and found["level"] == frame["level"].isna().mean() > 0.2


def test_rows_are_placed_within_one():
    frame, y = small_table()
    model = TableModel(HSICSubspace(n_components=2), encoding="full").fit(frame, y)
    found, F = place_rows(model, model.encode(frame), y), model.transform(frame)
    assert found["scale"] == pytest.approx(np.abs(F).max())
    place = np.array([point[:2] for point in found["points"]])
    np.testing.assert_allclose(place, F / np.abs(F).max(), atol=1e-3)


def test_the_majority_is_in_the_table_of_methods_and_not_in_their_picture(classifier, board):
    *_, facts = classifier
    page = render(facts, leaderboard=board)
    picture, table = page.split('aria-label="Accuracy of each method')[1].split("<table", 1)
    assert "majority class" not in picture and "majority class" in table


def test_wilson_interval():
    low, high = wilson(0.9, 50)
    expected = stats.binomtest(45, 50).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx(tuple(expected), abs=1e-4)
    assert wilson(1.0, 20)[1] == 1.0


def test_groups_count_as_one_each():
    right = np.repeat([True, False, True, True], 25)
    groups = np.repeat(np.arange(4), 25)
    assert independent_rows(right, groups) == pytest.approx(4)
    alone = np.arange(100)
    assert independent_rows(right, alone) == pytest.approx(100)
    P = np.where(right[:, None], [0.9, 0.1], [0.1, 0.9])
    labels = np.zeros(100, dtype=int)
    wide, narrow = (
        evaluate_probabilities(P, labels, "k", groups),
        evaluate_probabilities(P, labels, "k"),
    )
    assert wide["high"] - wide["low"] > 2 * (narrow["high"] - narrow["low"])


def test_judgement_by_hand():
    """Three rows of the first class and one of the second; losses log 2, log 2, log 4, log 4."""
    P = np.array([[0.5, 0.5], [0.5, 0.5], [0.25, 0.75], [0.75, 0.25]])
    found = evaluate_probabilities(P, np.array([0, 0, 0, 1]), "k")
    assert found["confusion"] == [[2, 1], [1, 0]] and found["right"] == 2
    assert found["log_loss"] == pytest.approx(1.5 * np.log(2))
    assert found["naive_log_loss"] == pytest.approx(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))
    spread = np.sqrt(4 * (np.log(2) / 2) ** 2 / 3)
    reach = found["log_loss_high"] - found["log_loss"]
    assert reach == pytest.approx(1.96 * spread / 2)
    cells = confusion_cells({"classes": ["a", "b"], "held_out": found})
    assert [row["recall"] for row in cells["rows"]] == pytest.approx([2 / 3, 0.0])
    names, table = [f"class {i}" for i in range(25)], np.zeros((25, 25), dtype=int)
    table[3, 4], table[7, 2], table[1, 1] = 2, 5, 9
    pairs = confusion_cells({"classes": names, "held_out": {"confusion": table.tolist()}})["pairs"]
    assert [(pair["truth"], pair["count"]) for pair in pairs] == [("class 7", 5), ("class 3", 2)]


def test_weights_are_repetitions():
    """Of shares, losses and what is always said; rows are counted once, and known as few."""
    P = rng.dirichlet(np.ones(3), size=40)
    labels, weight = rng.integers(3, size=40), rng.integers(0, 4, size=40)
    again = np.repeat(np.arange(40), weight)
    found = evaluate_probabilities(P, labels, "k", weight=weight)
    expected = evaluate_probabilities(P[again], labels[again], "k")
    keys = ("accuracy", "error", "log_loss", "balanced_accuracy", "naive_class")
    for key in (*keys, "naive_accuracy", "naive_log_loss"):
        assert found[key] == pytest.approx(expected[key]), key
    assert found["weighted"] and not expected["weighted"]
    said = P.argmax(axis=1)
    assert (found["n"], found["right"]) == (40, np.sum(said == labels))
    assert np.sum(found["confusion"]) == 40
    n = weight.sum() ** 2 / np.sum(weight**2)
    assert (found["low"], found["high"]) == wilson(found["accuracy"], n)
    assert found["error_interval"] == [1 - found["high"], 1 - found["low"]]
    assert found["log_loss_low"] < found["log_loss"] < found["log_loss_high"]
    (one,) = calibration(P[:20], said[:20] == labels[:20], weight=weight[:20])
    assert one["count"] == np.sum(weight[:20] > 0)
    assert one["right"] == pytest.approx(np.average(said[:20] == labels[:20], weights=weight[:20]))
    own = independent_rows(said == labels, np.arange(40), weight)
    centred = weight * ((said == labels) - found["accuracy"])
    spread = found["accuracy"] * found["error"]
    assert own == pytest.approx(spread * weight.sum() ** 2 / np.sum(centred**2))


def test_one_rounding_of_one_error():
    """1 - (1 - 3/80) is below 3/80, and 3.75 lies between two figures of one digit."""
    P = np.eye(2)[np.r_[np.ones(3, dtype=int), np.zeros(77, dtype=int)]]
    found = evaluate_probabilities(P, np.zeros(80, dtype=int), "leave-one-out")
    assert str(headline_of(found)).startswith("Error by leave-one-out: 3.8 % (")
    again = headline_of(json.loads(json.dumps(found)))
    assert again.error == 3 / 80 and again.interval == tuple(found["error_interval"])
    before = {key: found[key] for key in ("kind", "n", "accuracy", "low", "high", "log_loss")}
    assert headline_of(before).error == pytest.approx(3 / 80)  # of files that know no error


def test_rows_that_were_not_judged_are_told_apart():
    X = rng.normal(size=(1050, 2))
    y = np.where(X[:, 0] + rng.normal(size=1050) > 0, "yes", "no")
    model = KernelClassifier(quality="fast", max_members=1).fit(X, y)
    page = " ".join(report(model, X, y).html.replace("\u202f", "").replace("\u00a0", " ").split())
    right = model.classes_[model.held_out_proba_.argmax(axis=1)] == y
    assert f"{right.sum()} were right: {100 * right.mean():.1f} %." in page
    judged = model._headline.n_rows
    assert 500 < judged < 550
    assert f"The error is that of {judged} of them, on which no kernel was chosen." in page
    loss, low, high = map(
        float, re.search(r"Log loss</dt><dd>([\d.]+)<small>([\d.]+) to ([\d.]+)", page).groups()
    )
    assert loss == pytest.approx(model.log_loss_, abs=5e-4)
    assert (low + high) / 2 == pytest.approx(loss, abs=1e-3)


def test_calibration_of_honest_probabilities():
    p = rng.uniform(0.5, 1, 4000)
    bins = calibration(np.column_stack([p, 1 - p]), rng.random(4000) < p)
    assert len(bins) == 8 and sum(b["count"] for b in bins) == 4000
    assert all(b["low"] - 0.02 <= b["said"] <= b["high"] + 0.02 for b in bins)


def test_neighbours_are_the_most_alike(classifier):
    model, frame, _, _ = classifier
    rows = model.encode(frame)
    near, alike = find_neighbours(model, rows, np.array([3, 7]))
    K = model.estimator_.kernel_(rows)
    K = K / np.sqrt(np.outer(np.diag(K), np.diag(K)))
    np.fill_diagonal(K, -np.inf)
    for i, row in enumerate((3, 7)):
        assert set(near[i]) == set(np.argsort(-K[row])[:5])
        np.testing.assert_allclose(alike[i], np.sort(K[row])[::-1][:5])


def test_surprising_rows_come_with_their_cells_only_where_the_table_is(classifier):
    model, frame, _, facts = classifier
    worst = [issue.row for issue in model.estimator_.label_issues(10)]
    assert [one["row"] for one in facts["surprising"]] == worst
    cell = f"{frame['u'].iloc[facts['surprising'][0]['row']]:.4g}"
    assert cell in render(facts, frame=frame)
    assert "P3" not in json.dumps(facts)  # no identifier of a row is kept in a model


def test_every_question_has_its_section(classifier, board):
    page = render(classifier[3], leaderboard=board)
    ids = re.findall(r'<section id="(\w+)">', page)
    words = ("well", "errors", "mattered", "rows", "honest", "sets", "chosen", "data", "repeat")
    assert tuple(ids) == words
    parse(page)


def test_certificate_and_weights_of_a_bank():
    _, _, _, facts = fitted(MultiKernelSVC(gaussian_bank(4)), encoding="full")
    page = render(facts)
    assert "Is the optimum proven?" in page and "gaussian_0.1" in page
    assert facts["held_out"]["log_loss"] < 1.1 and "Are the probabilities calibrated" in page
    assert facts["certificate"]["gaps"][-1] <= 1e-6
    parse(page)


def test_a_classifier_without_probabilities():
    _, _, _, facts = fitted(LinearSVC(), encoding="full")
    page = render(facts)
    assert facts["held_out"]["log_loss"] is None and "Are the probabilities calibrated" not in page
    parse(page)


def test_a_kernel_without_classes():
    frame, y = small_table()
    model = TableModel(HSICSubspace(), encoding="full").fit(frame, y)
    del model.classes_
    page = render(gather_facts(model, frame, y, method="HSICSubspace"))
    assert "A kernel learned by HSICSubspace" in page and "How well" not in page
    parse(page)


def test_groups_of_one_label_are_shuffled():
    _, _, _, facts = fitted(groups=np.arange(90) // 9 * 3 + np.arange(90) % 3)
    assert 0 < facts["held_out"]["p_value"] <= 0.05
    assert "Error by nested cross-validation" in render(facts)


def test_grouped_rows_have_no_p_value():
    _, _, _, facts = fitted(groups=np.arange(90) // 3)
    assert facts["held_out"]["p_value"] is None
    page = render(facts)
    assert "Error by nested cross-validation" in page and "labels were not shuffled" in page
    parse(page)


def test_new_rows_lead_and_training_rows_do_not_count(classifier):
    model, frame, y, facts = classifier
    other, other_y = small_table(30)
    both = pd.concat([other, frame.head(10)], ignore_index=True)
    labels = np.array([*other_y, *y[:10]], dtype=object)
    labels[0] = "unheard of"
    judged = judge_new_rows(model, facts, both, labels)
    new = judged["new_rows"]
    assert (new["n"], new["unknown"], new["seen"]) == (29, 1, 10)
    said = model.predict(other[1:])
    assert new["accuracy"] == pytest.approx(np.mean(said == other_y[1:]))
    page = render(judged)
    assert "29 rows that the model had never seen" in page
    parse(page)
    assert "new_rows" not in judge_new_rows(model, facts, frame, y)


def test_what_users_write_is_escaped(evil_page):
    """No element and no attribute comes from a table, a file name or a label."""
    document = parse(evil_page)
    assert list(document.iter("img")) == []
    assert len(list(document.iter("script"))) == 1
    assert EVIL not in evil_page and "&lt;script&gt;alert" in evil_page
    handlers = [k for e in document.iter() for k in e.attrib if str(k).startswith("on")]
    assert handlers == []


def test_a_page_is_the_same_every_time_and_has_each_id_once(classifier, board, evil_page):
    facts = classifier[3]
    assert render(facts, leaderboard=board) == render(facts, leaderboard=board)
    ids = re.findall(r' id="([^"]*)"', evil_page)
    assert len(ids) == len(set(ids)) > 10
    used = re.findall(r'<use [^>]*href="#([^"]*)"', evil_page)
    assert len(used) > 90 and set(used) <= set(ids)


def test_nothing_is_loaded(evil_page):
    addresses = set(re.findall(r"https?://[\w./]+", evil_page))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in evil_page
    assert not re.search(r'<link|src="|@import|url\(', evil_page.replace("&#34;", ""))


def test_many_classes_are_shown_as_pairs():
    n = 300
    y = np.array([f"class {i:02d}" for i in np.arange(n) % 30])
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["u", "v", "w"])
    model = TableModel(KernelClassifier(quality="fast", max_members=1)).fit(frame, y)
    page = render(gather_facts(model, frame, y, method="KernelClassifier"))
    assert "mistaken for each other most often" in page
    picture = page.split('aria-label="True classes against')[1].split("</svg>")[0]
    words = re.findall(r">(class \d\d|others)</text>", picture)
    assert len(words) == 41 and len(set(words)) == 21  # the worst 20 on two sides, and the others
    whole = page.split('<table id="confusion-data"')[1].split("</table>")[0]
    assert whole.count("<tr>") == 31 and whole.count("<td") == 900
    listed = re.search(
        r"The (\d+) classes without a name in the picture</summary>(.*?)</ul>", page, re.S
    )
    names = re.findall(r"<li>(.*?)</li>", listed[2])
    assert len(names) == int(listed[1])
    drawn = page.split('aria-label="Rows by')[1].split("</svg>")[0]
    labelled = {f"class {i:02d}" for i in range(30)} - set(names)
    assert 3 <= len(labelled) <= 14 and len(names) + len(labelled) == 30
    assert all(f">{name}</text>" in drawn for name in labelled)
    assert_pictures_are_described(page)
    parse(page)


def assert_pictures_are_described(page):
    """Every picture names a table that is on the page."""
    pictures = re.findall(r"<svg [^>]*>", page)
    tables = set(re.findall(r'<table [^>]*id="([\w-]+)"', page))
    described = [re.search(r'aria-describedby="([\w-]+)"', one) for one in pictures]
    assert pictures and all(found and found[1] in tables for found in described)


def test_two_classes_have_curves_with_the_operating_point():
    frame, y = small_table()
    y = np.where(y == "a", "yes", "no")
    model = TableModel(KernelClassifier(quality="fast")).fit(frame, y)
    wish = Wish(threshold=0.3)
    facts = gather_facts(model, frame, y, method="KernelClassifier", wish=wish)
    P, labels = model.estimator_.held_out_proba_, model.labels_
    said = np.where(P[:, 1] >= 0.3, 1, 0)
    table = [[int(np.sum((labels == i) & (said == j))) for j in (0, 1)] for i in (0, 1)]
    assert facts["held_out"]["confusion"] == table
    page = render(facts)
    point = f"threshold 0.3: {table[1][1]} of 30 found, {table[0][1]} false alarms"
    assert page.count(point) == 2  # on both curves
    assert "ROC curve of yes" in page and "Precision and recall of yes" in page
    assert_pictures_are_described(page)
    parse(page)


def test_every_picture_has_its_table(classifier, board):
    assert_pictures_are_described(render(classifier[3], leaderboard=board))
    _, _, _, facts = fitted(MultiKernelSVC(gaussian_bank(4)), encoding="full")
    assert_pictures_are_described(render(facts))


def test_ten_thousand_rows_stay_below_three_megabytes():
    n = 10_000
    y = rng.choice(["left", "right"], n)
    frame = pd.DataFrame(rng.normal(size=(n, 40))).rename(columns=lambda i: f"column number {i}")
    frame["column number 0"] += 2 * (y == "left")
    model = TableModel(HSICSubspace(landmarks=50), encoding="full").fit(frame, y)
    del model.classes_
    facts = gather_facts(model, frame, y, method="HSICSubspace")
    page = render(facts)
    assert len(facts["embedding"]["points"]) == 2000
    assert len(page.encode()) < 3_000_000
    assert "2\u202f000 of 10\u202f000 rows are shown" in page


def wide_noise(n=40, d=300):
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(n, d))).add_prefix("gene_")
    frame["sample"] = [f"P{i}" for i in range(n)]
    y = np.random.default_rng(4).permutation(np.repeat(["case", "control"], n // 2))
    model = TableModel(KernelClassifier(quality="fast"), target="kind")
    model.fit(frame, y, columns=look_at_columns(frame, y))
    return model, frame, y


def test_rows_of_a_wide_table_stand_where_they_were_put_while_held_out():
    """Rows the model has seen coincide by class: the picture would tell noise apart."""
    model, frame, y = wide_noise()
    facts = json.loads(json.dumps(gather_facts(model, frame, y, method="KernelClassifier")))
    found = facts["embedding"]
    place = found["scale"] * np.array([point[0] for point in found["points"]])
    rows = [point[-1] for point in found["points"]]
    P = model.estimator_.held_out_proba_[rows]
    odds = np.log(P[:, 0] / P[:, 1])
    assert abs(np.corrcoef(place, odds)[0, 1]) > 1 - 1e-5
    page = render(facts)
    assert "while it was held out. (The learned features" in page and "held-out log ratio" in page
    new = judge_new_rows(model, facts, shifted(frame), y)
    assert len(new["new_rows"]["points"]) == len(frame)


def shifted(frame):
    return frame.assign(gene_0=frame["gene_0"] + 1.0)


def test_of_many_columns_those_are_listed_that_matter():
    model, frame, y = wide_noise()
    facts = gather_facts(model, frame, y, method="KernelClassifier")
    shown = [column["name"] for column in facts["data"]]
    assert len(shown) == 60 and "sample" in shown
    relevance = model.estimator_.feature_relevance_
    assert {f"gene_{i}" for i in np.argsort(-relevance)[:59]} == set(shown) - {"sample"}
    assert "The 60 columns that were left out or matter most, of 301." in render(facts)


def test_doubts_stand_beside_the_figure(classifier):
    _, _, _, facts = classifier
    doubt = "All rows with the same &#39;who&#39; have the same &#39;kind&#39;."
    page = render({**facts, "warnings": ["All rows with the same 'who' have the same 'kind'."]})
    assert page.count(doubt) == 1
    assert page.index('id="well"') < page.index(doubt) < page.index('id="errors"')
    assert 'class="notes"' not in render({**facts, "warnings": []})
