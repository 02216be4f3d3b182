"""Labels by chance and known signals: what is said of them is true as often as it says.

The tables are those of ``benchmarks/assessment.py``, which draws each of them more often.
"""

import sys
from importlib import util
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from kernel_learn import KernelClassifier

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "assessment.py"
spec = util.spec_from_file_location("assessment_benchmark", SCRIPT)
tables = util.module_from_spec(spec)
sys.modules[spec.name] = tables
spec.loader.exec_module(tables)

SMALL = {"quality": "fast"}
PERMUTATIONS = 39
# Draws of each of the twelve tables; of the wide one fewer, for the time it takes.
DRAWS, WIDE_DRAWS, INTERVAL_DRAWS = 8, 2, 2


@pytest.mark.slow
def test_p_values_of_labels_by_chance_are_uniform():
    found = []
    for seed, (name, draw) in enumerate(tables.NOISE.items()):
        for i in range(WIDE_DRAWS if "6000" in name else DRAWS):
            X, y, groups = tables.draw_classes(draw, np.random.default_rng([7, seed, i]))
            model = KernelClassifier(**SMALL, max_members=1, assess=False)
            model.fit(X, y, groups=groups)
            found.append(model.permutation_p_value(PERMUTATIONS))
    p = np.array(found)
    assert np.sum(p <= 0.05) <= stats.binom.ppf(0.999, len(p), 0.05)
    # uniform on 1/40, ..., 1: the distance of Kolmogorov and Smirnov, at one in a thousand
    grid = np.arange(1, PERMUTATIONS + 2) / (PERMUTATIONS + 1)
    distance = np.abs((p[:, None] <= grid).mean(axis=0) - grid).max()
    assert distance < stats.kstwobign.ppf(0.999) / np.sqrt(len(p))


PAGE = Path(__file__).parents[2] / "docs" / "results" / "assessment.md"


def expected_errors():
    """(is noise, name, the procedure's expected error at this number of rows), as the page has it.

    The mean over 40 draws of the error on 2000 new rows.
    """
    noise, found = False, []
    fast = PAGE.read_text(encoding="utf-8").partition("## With the default quality")[0]
    for line in fast.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells[:1] in (["**labels by chance**"], ["**signals**"]):
            noise = "chance" in cells[0]
        if len(cells) == 9 and cells[1].isdigit():
            found.append((noise, cells[0], float(cells[2]) / 100))
    return found


@pytest.mark.slow
def test_intervals_contain_the_error_of_the_procedure():
    """And no column is called relevant where labels are by chance, but in one of twenty tables."""
    inside, relevant, widths = [], [], []
    for number, (is_noise, name, expected) in enumerate(expected_errors()):
        large = tables.LARGE_NOISE if is_noise else tables.LARGE
        draw = (large | (tables.NOISE if is_noise else tables.SIGNALS))[name]
        for i in range(1 if name in large or "6000" in name else INTERVAL_DRAWS):
            X, y, groups = tables.draw_classes(draw, np.random.default_rng([11, number, i]))
            model = KernelClassifier(**SMALL).fit(X, y, groups=groups)
            low, high = model.error_interval_
            inside.append(low <= expected <= high)
            widths.append(high - low)
            if is_noise:
                relevant.append(model.relevant_features_.any())
    assert len(inside) > 30
    assert sum(inside) >= stats.binom.ppf(0.001, len(inside), 0.93)
    assert sum(relevant) <= stats.binom.ppf(0.999, len(relevant), 0.05)
    assert np.mean(widths) < 0.35
