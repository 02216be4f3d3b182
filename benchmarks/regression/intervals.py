"""Do intervals contain a new number as often as asked? Halves of the regression tables.

    KERNEL_LEARN_DATA=FOLDER python benchmarks/regression/intervals.py --splits 2 --catboost

For each table, splits into halves as in ``compare.py``: the share of test rows inside the interval
where 80, 90 and 95 % were asked for, by ``predict_interval`` ("loo" and "cv+"), by split conformal
prediction with the same learner, which gives half of the training rows away, and by CatBoost's
quantiles, conformalised likewise; and the mean width at 90 % in standard deviations of the test
rows. Writes the part of docs/results/coverage.md that is about numbers; ``--recount`` writes its
summary anew, from its table.
"""

import argparse
import os
import re
import time
import warnings
from pathlib import Path

import numpy as np
from chance import below_by_chance
from compare import CatBoost, read_table, splits

from kernel_learn import KernelRegressor
from kernel_learn.papers.origin import made_now

COVERAGES = (0.8, 0.9, 0.95)
MOST_ROWS = 600  # of a table; of more, so many are drawn
METHODS = ("loo", "cv+", "split", "catboost")
PAGE = Path(__file__).parents[2] / "docs" / "results" / "coverage.md"
HEADING = "## Do intervals contain a new number as often as asked?\n"


def fast():
    return KernelRegressor(quality="fast")


def split_conformal(X, y, T):
    """Half of the rows fit, the other half says how far values lie: coverage -> intervals."""
    order = np.random.default_rng(0).permutation(len(y))
    a, b = order[: len(y) // 2], order[len(y) // 2 :]
    model = KernelRegressor(quality="fast", assess=False).fit(X.iloc[a], y[a])
    sizes, f = np.sort(np.abs(y[b] - model.predict(X.iloc[b]))), model.predict(T)

    def ends(coverage):
        k = int(np.ceil(round(coverage * (len(b) + 1), 9)))
        reach = sizes[k - 1] if k <= len(b) else np.inf
        return np.c_[f - reach, f + reach]

    return ends


def catboost_quantiles(X, y, T):
    """Its joint quantile loss on half of the rows, moved out by the other half (CQR)."""
    order = np.random.default_rng(0).permutation(len(y))
    a, b = order[: len(y) // 2], order[len(y) // 2 :]
    shares = sorted(end for c in COVERAGES for end in ((1 - c) / 2, (1 + c) / 2))
    told = ",".join(f"{share:.6g}" for share in shares)
    model = CatBoost(f"MultiQuantile:alpha={told}").fit(X.iloc[a], y[a])
    held, new = (np.sort(model.predict(rows), axis=1) for rows in (X.iloc[b], T))

    def ends(coverage):
        low = int(np.abs(np.array(shares) - (1 - coverage) / 2).argmin())
        high, k = len(shares) - 1 - low, int(np.ceil(round(coverage * (len(b) + 1), 9)))
        sizes = np.sort(np.maximum(held[:, low] - y[b], y[b] - held[:, high]))
        reach = sizes[k - 1] if k <= len(b) else np.inf
        return np.c_[new[:, low] - reach, new[:, high] + reach]

    return ends


def measure(path, n_splits, catboost):
    """{(method, coverage): (share inside, width)} of a table, and its number of test rows."""
    X, y = read_table(path)
    if len(y) > MOST_ROWS:
        some = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        X, y = X.iloc[some].reset_index(drop=True), y[some]
    found, n_test = {}, 0
    for seed, train, test in splits(len(y), n_splits, inner=False):
        A, b, T = X.iloc[train].reset_index(drop=True), y[train], X.iloc[test]
        model = fast().fit(A, b)
        ways = {
            "loo": model.predict_interval,
            "cv+": lambda T, c, model=model: model.predict_interval(T, c, method="cv+"),
        }
        split = split_conformal(A, b, T)
        ways["split"] = lambda T, c, split=split: split(c)
        if catboost and seed == 0:
            quantiles = catboost_quantiles(A, b, T)
            ways["catboost"] = lambda T, c, quantiles=quantiles: quantiles(c)
        n_test += len(test)
        for name, way in ways.items():
            for coverage in COVERAGES:
                low, high = way(T, coverage).T
                inside = np.mean((low <= y[test]) & (y[test] <= high))
                pair = (inside, np.mean(high - low) / y[test].std())
                found.setdefault((name, coverage), []).append(pair)
    return {key: np.mean(pairs, axis=0) for key, pairs in found.items()}, n_test


def line_of(name, n, found):
    cells = [name, str(n)]
    for method in METHODS:
        cells += [f"{found[method, c][0]:.3f}" if (method, c) in found else "" for c in COVERAGES]
        cells.append(f"{found[method, 0.9][1]:.2f}" if (method, 0.9) in found else "")
    return "| " + " | ".join(cells) + " |"


def summary(lines, splits):
    """Mean coverages, how many tables are below by more than .04, and widths beside ours."""
    words = []
    for method in METHODS:
        parts = []
        for coverage in COVERAGES:
            own = [(f[method, coverage][0], n) for f, n in lines if (method, coverage) in f]
            if not own:
                break
            times = 1 if method == "catboost" else splits  # it has the rows of the first split
            part = 0.5 if method in ("catboost", "split") else 1.0  # of the half that is learned
            shares = [(s, times * [(int(part * n / splits), n // splits)]) for s, n in own]
            mean = np.mean([s for s, _ in own])
            parts.append(f"{coverage:.2f}: {mean:.3f} ({below_by_chance(shares, coverage)})")
        if parts:
            words.append(f"- {method}: " + "; ".join(parts) + width_of(method, lines))
    return "\n".join(words)


def width_of(method, lines):
    both = [(f["loo", 0.9][1], f[method, 0.9][1]) for f, _ in lines if (method, 0.9) in f]
    ours, theirs = np.array([pair for pair in both if np.isfinite(pair).all()]).T
    if method == "loo":
        return f"; width at .90 {ours.mean():.2f} standard deviations"
    ratio = np.exp(np.log(ours / theirs).mean())
    return f"; loo is {ratio:.2f} times as wide (geometric mean, {len(ours)} tables)"


CHANCE = """"By chance" is how many tables would be below if the coverage were exact: the
coverage of one fit varies with its held-out rows, by a beta distribution."""
TEXT = """
Half of each regression table (at most {rows} rows) is for training, the other half for testing;
{splits} splits, of CatBoost the first alone. The columns are the share of test rows inside the
interval where 80, 90 and 95 % were asked for, and the mean width at 90 % in standard deviations
of the test rows. "loo" and "cv+": the two methods of `predict_interval`, for
`KernelRegressor(quality="fast")`; "split": split conformal prediction with the same learner,
fitted to half of the training rows; "catboost": its quantiles, learned on half of the training
rows and conformalised by the other half. Widths are infinite where a part of a small table has
too few rows for such a coverage. {chance}

```
python benchmarks/regression/intervals.py --splits {splits}{more}
```

Origin: {origin}; {seconds:.0f} s of processor time.
"""


def recount(page):
    """The summary of a page anew, from its table."""
    others, heading, part = page.read_text("utf-8").partition(HEADING)
    splits = int(re.search(r"--splits (\d+)", part)[1])
    lines = []
    for line in part.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 18 and cells[1].isdigit():
            found = {}
            for i, method in enumerate(METHODS):
                own = cells[2 + 4 * i : 6 + 4 * i]
                n = int(cells[1]) // (splits if method == "catboost" else 1)
                for coverage, share in zip(COVERAGES, own[:3], strict=True):
                    if share:  # three digits: the count of rows behind them
                        found[method, coverage] = (round(float(share) * n) / n, float(own[3]))
            lines.append((found, int(cells[1])))
    part = re.sub(r"such a coverage\.\n\n", f"such a coverage. {CHANCE}\n\n", part)
    start, end = part.index("\n- loo"), part.index("\n\n| table")
    part = part[:start] + "\n" + summary(lines, splits) + part[end:]
    page.write_text(others + heading + part, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--recount", action="store_true", help="of the page's table, no fits")
    parser.add_argument("--catboost", action="store_true")
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--output", type=Path, default=PAGE)
    asked = parser.parse_args()
    if asked.recount:
        recount(asked.output)
        return
    warnings.simplefilter("ignore")
    folder = Path(os.environ["KERNEL_LEARN_DATA"]) / "regression"
    table, lines = [], []
    for path in sorted(folder.glob("*.csv")):
        if asked.tables and path.stem not in asked.tables:
            continue
        found, n = measure(path, asked.splits, asked.catboost)
        lines.append((found, n))
        table.append(line_of(path.stem, n, found))
        print(table[-1], flush=True)
    head = "| table | test rows " + "".join(f"| {m} 80 | 90 | 95 | width " for m in METHODS)
    text = TEXT.format(
        rows=MOST_ROWS,
        chance=CHANCE,
        splits=asked.splits,
        more=" --catboost" if asked.catboost else "",
        origin="; ".join(made_now().values()),
        seconds=time.process_time(),
    )
    told = summary(lines, asked.splits)
    part = f"{HEADING}{text}\n{told}\n\n{head}|\n|{'---|' * 18}\n" + "\n".join(table)
    others = asked.output.read_text("utf-8").partition(HEADING)[0] if asked.output.exists() else ""
    asked.output.write_text(f"{others}{part}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
