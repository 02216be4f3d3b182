"""Which way of assessing the procedure is nearest to its error, and what does it cost?

Tables of assessment.py, drawn again and again, with ``quality="fast"``. The error of the procedure
is that on new rows; each way estimates it from the rows that were fitted to.

    python benchmarks/assessment_ways.py --draws 20 [--tables "one of 50 columns"]
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from assessment import NEW_ROWS, NOISE, PAGE, SIGNALS, draw_classes, with_section

from kernel_learn import KernelClassifier
from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.folds import each_fold, stratified_folds
from kernel_learn.criteria.held_out.ridge import RIDGE_REGS, RidgeSolves, try_ridge
from kernel_learn.criteria.held_out.stacking import log_losses
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.assessment import predict_folds, refit_without
from kernel_learn.ensemble.candidates import grouped
from kernel_learn.ensemble.fit import fit_ensemble
from kernel_learn.ensemble.ingest import prepare
from kernel_learn.ensemble.members import Ensemble
from kernel_learn.ensemble.outcomes.base import Outcome, Said
from kernel_learn.ensemble.problem import Problem, fit_views, sample_of
from kernel_learn.ensemble.sample import FOLDS, Sample
from kernel_learn.estimators.kernel_classifier import figures_of, zero_one
from kernel_learn.papers.origin import made_now
from kernel_learn.representations.linalg import LEAST_SLACK

REPEATS = 3
BAGS = 200
CHANCE = "normal, 20 rows|normal, 60 rows|heavy tails, 100 rows|three classes, 90 rows"
SIGNAL = "linear, 40 rows|strong, 60 rows|products, 150 rows|one of 50 columns, 80 rows"
TABLES = {
    "labels by chance": {name: NOISE[name] for name in [*CHANCE.split("|"), "30 groups of 4"]},
    "signals": {name: SIGNALS[name] for name in [*SIGNAL.split("|"), "30 groups of 4"]},
}


def nested_error(problem: Problem, n_folds: int) -> float:
    """The whole procedure without each fold, judged on it."""
    folds = refit_without(problem, fit_ensemble, n_folds)
    proba = predict_folds(problem, folds, Ensemble.predict)
    return figures_of(proba, problem.targets)[0][0]


def kernel_values(sample: Sample, problem: Problem) -> Iterator[Array]:
    """Those of all rows, (n, n), candidate by candidate."""
    for group in grouped(problem.candidates, lambda one: one.view):
        for _, K in sample.view_rows(group[0].view).grams(group):
            yield K


def shares_of(outcome: Outcome, held: Sequence[Array], targets: Targets) -> Array:
    """What each candidate has in the average, by what it says of these rows, (candidates,)."""
    return outcome.predicting(held, outcome.weigh(np.array(held), targets), targets)


def safe_regs(K: Array, targets: Targets) -> tuple[Array, Array]:
    """Leave-one-out scores (R, n, k) of the regularisers at which these are more than rounding,
    and which these are, (R,) booleans.
    """
    ridge = try_ridge(K.copy(), targets, len(RIDGE_REGS))
    if ridge is None:
        return np.empty((0, *targets.Y.shape)), np.zeros(len(RIDGE_REGS), dtype=bool)
    scores, least = ridge.held_out(RIDGE_REGS)
    return scores[least > LEAST_SLACK], least > LEAST_SLACK


def scores_without_blocks(K: Array, targets: Targets, blocks: Array) -> tuple[Array, Array]:
    """Scores without each block, of its rows by all others, of these without each row besides,
    (blocks, R, n, k); and which regularisers are safe, (R,).
    """
    safe = safe_regs(K, targets)[1]
    scores = np.zeros((len(np.unique(blocks)), len(RIDGE_REGS), *targets.Y.shape))
    for r in np.flatnonzero(safe):
        try:
            without = RidgeSolves(K.copy(), targets).without_folds(float(RIDGE_REGS[r]), blocks)
            for own, found in zip(scores[:, r], without, strict=True):
                own[:] = found
        except np.linalg.LinAlgError:
            safe[r] = False
    return scores, safe


def block_proba(problem: Problem, blocks: Array) -> Array:
    """What is said of each block by choices and scores to which its labels are not known, (n, k).

    Nothing is fitted again: scores without a block are exact, and so are those of other rows
    without it and themselves. Views and widths of kernels are those of all rows, without labels.
    """
    sample = sample_of(problem, fit_views(problem))
    targets, outcome = sample.targets, sample.outcome
    tried = [scores_without_blocks(K, targets, blocks) for K in kernel_values(sample, problem)]
    proba = np.empty(targets.Y.shape)
    for block, (inside, outside) in enumerate(each_fold(blocks)):
        some, held, said = targets.take(inside), [], []
        folds = stratified_folds(some, FOLDS)
        for scores, safe in tried:
            own = outcome.moved(scores[block][:, inside], some)
            chosen = outcome.choose(own, some, folds, safe)
            if chosen is not None:
                held.append(chosen.said.held)
                said.append(outcome.say(chosen.map, scores[block][chosen.best, outside]))
        proba[outside] = outcome.average(said, shares_of(outcome, held, some), some)
    return proba


def block_error(problem: Problem, n_blocks: int) -> float:
    """The same as an error; as many blocks as rows are blocks of one row, or of one group."""
    blocks = stratified_folds(problem.targets, n_blocks)
    return figures_of(block_proba(problem, blocks), problem.targets)[0][0]


class Choices:
    """Leave-one-out predictions of all kernels at all regularisers, from which some rows choose.

    The rows choose a regulariser for each kernel by the log loss, then the kernels' weights;
    or, ``alone``, the one kernel and regulariser of least log loss.
    """

    def __init__(self, problem: Problem, *, alone: bool = False) -> None:
        self.alone = alone
        sample = sample_of(problem, fit_views(problem))
        self.targets, self.outcome, self.folds = sample.targets, sample.outcome, sample.folds
        said = [self._said(K) for K in kernel_values(sample, problem)]
        self.said = [own for own in said if own]
        self.losses = [[self._sums(log_losses(one.held)) for one in own] for own in self.said]

    def _said(self, K: Array) -> list[Said]:
        """By one kernel at each regulariser."""
        scores = self.outcome.moved(safe_regs(K, self.targets)[0], self.targets)
        return [self.outcome.fit(own, self.targets, self.folds).said for own in scores]

    def _sums(self, losses: Array) -> Array:
        """Of each row by the classes that it has, (n,)."""
        return np.sum(self.targets.counts * losses, axis=1)

    def wrong(self, rows: Array) -> Array:
        """The weight of each row that is wrong if these choose, some more than once, (n,)."""
        times = np.bincount(rows, minlength=self.targets.n)
        seen = np.flatnonzero(times)
        some = Targets(self.targets.counts[seen] * times[seen, None])
        losses = [np.array(own) @ times for own in self.losses]
        said = [own[loss.argmin()] for own, loss in zip(self.said, losses, strict=True)]
        if self.alone:
            said = [said[np.argmin([loss.min() for loss in losses])]]
        shares = shares_of(self.outcome, [one.held[seen] for one in said], some)
        return self._sums(zero_one(self.outcome.average(said, shares, some)))

    def units(self) -> list[Array]:
        """Rows that stay together: groups, and each row of none."""
        own = np.concatenate([[], *self.targets.groups])
        alone = np.setdiff1d(np.arange(self.targets.n), own)
        return [*self.targets.groups, *alone[:, None]]


Wrong = Callable[[Array], Array]  # see Choices.wrong


def minimum_bias(wrong: Wrong, folds: Array, weight: Array) -> float:
    """How much too small the error of what all rows chose is (Tibshirani and Tibshirani, 2009):
    the mean over folds of its error there less that of what the fold itself chose.
    """
    by_all = wrong(np.arange(len(folds)))
    gaps = [(by_all - wrong(fold))[fold].sum() / weight[fold].sum() for _, fold in each_fold(folds)]
    return float(np.mean(gaps))


def out_of_bag_error(
    wrong: Wrong, units: Sequence[Array], weight: Array, n_bags: int, seed: int = 0
) -> float:
    """Units drawn with replacement choose, those not drawn judge (Tsamardinos et al., 2018)."""
    rng, mistakes, judged = np.random.default_rng(seed), 0.0, 0.0
    for _ in range(n_bags):
        bag = rng.integers(len(units), size=len(units))
        others = np.setdiff1d(np.arange(len(units)), bag)
        if len(others):
            rows = np.concatenate([units[u] for u in others])
            mistakes += wrong(np.concatenate([units[u] for u in bag]))[rows].sum()
            judged += weight[rows].sum()
    return float(mistakes / judged)


def corrected_error(loo_error: float, choices: Choices) -> float:
    """Leave-one-out and the bias of its minimum."""
    return loo_error + minimum_bias(choices.wrong, choices.folds, choices.targets.weight)


def bootstrap_error(choices: Choices) -> float:
    """Out of bags of leave-one-out predictions."""
    return out_of_bag_error(choices.wrong, choices.units(), choices.targets.weight, BAGS)


# Of the error by leave-one-out and the problem, its rows in several orders: folds differ.
WAYS: dict[str, Callable[[float, Sequence[Problem]], float]] = {
    "leave-one-out": lambda loo, orders: loo,
    "nested, 5 folds": lambda loo, orders: nested_error(orders[0], 5),
    "nested, 5 folds, 3 times": lambda loo, orders: np.mean([nested_error(p, 5) for p in orders]),
    "nested, 10 folds": lambda loo, orders: nested_error(orders[0], 10),
    "5 blocks": lambda loo, orders: block_error(orders[0], 5),
    "10 blocks": lambda loo, orders: block_error(orders[0], 10),
    "blocks of one row": lambda loo, orders: block_error(orders[0], orders[0].targets.n),
    "corrected": lambda loo, orders: corrected_error(loo, Choices(orders[0])),
    "corrected, best alone": lambda loo, orders: corrected_error(
        loo, Choices(orders[0], alone=True)
    ),
    "bootstrap": lambda loo, orders: bootstrap_error(Choices(orders[0])),
    "bootstrap, best alone": lambda loo, orders: bootstrap_error(Choices(orders[0], alone=True)),
}
PRODUCT = "nested, 5 folds"


def timed(function: Callable[[], float | KernelClassifier]) -> tuple[float, float]:
    """What it gives, and the seconds of processor time that it takes."""
    start = time.process_time()
    return function(), time.process_time() - start


def measure(draw: Callable, rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """One draw: the error on new rows and that by each way; the seconds of the fit, and of each."""
    X, y, groups = draw_classes(draw, rng)
    model, fit_seconds = timed(
        lambda: KernelClassifier(quality="fast", assess=False).fit(X, y, groups=groups)
    )
    X_new, y_new, _ = draw(rng, NEW_ROWS)
    errors, seconds = [float(np.mean(model.predict(X_new) != y_new))], [fit_seconds]
    orders = [prepare(model, X, y, None, groups, seed).problem for seed in range(REPEATS)]
    for way in WAYS.values():
        error, cost = timed(lambda way=way: way(model.loo_error_, orders))
        errors.append(error)
        seconds.append(cost)
    return errors, seconds


def measure_table(tables: dict[str, Callable], name: str, n_draws: int) -> tuple[Array, Array]:
    """Errors and seconds of the draws that assessment.py makes, (draws, 1 + ways) each."""
    seed = list(tables).index(name)
    found = [measure(tables[name], np.random.default_rng([seed, i])) for i in range(n_draws)]
    errors, seconds = zip(*found, strict=True)
    return np.array(errors), np.array(seconds)


def with_error(values: Array) -> str:
    """The mean of values of draws, in per cent, and its standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{100 * np.mean(values):.1f} ± {100 * error:.1f}"


def summary_lines(found: dict[str, Array], seconds: Array) -> Iterator[str]:
    """Of each way: bias, how far off it is, how much less so than the product's way, cost.

    a - b = (a^2 - b^2) / (a + b): the difference of two roots of mean squares as a mean over draws.
    """
    groups = {title: errors[:, 1:] - errors[:, :1] for title, errors in found.items()}
    squares = np.concatenate(list(groups.values())) ** 2
    off = np.sqrt(squares.mean(axis=0))
    product = list(WAYS).index(PRODUCT)
    costs = seconds[:, 1:].sum(axis=0) / seconds[:, 0].sum()
    yield (
        "| way | " + " | ".join(f"bias, {title}" for title in groups) + " | off by | less | cost |"
    )
    yield "|---" * (len(groups) + 4) + "|"
    for m, way in enumerate(WAYS):
        cells = [with_error(deviations[:, m]) for deviations in groups.values()]
        gain = (squares[:, product] - squares[:, m]) / max(off[product] + off[m], 1e-12)
        cells += [f"{100 * off[m]:.1f}", "" if m == product else with_error(gain)]
        yield f"| {way} | {' | '.join(cells)} | {costs[m]:.1f} |"


def table_head() -> str:
    return f"| table | expected error, % | {' | '.join(WAYS)} |\n" + "|---" * (len(WAYS) + 2) + "|"


def table_line(name: str, errors: Array) -> str:
    """The mean over draws of the error on new rows, and of the error by each way."""
    return f"| {name} | {' | '.join(f'{100 * x:.1f}' for x in errors.mean(axis=0))} |"


TITLE = "## Ways that were compared\n"
WORDS = f"""The error of the procedure, estimated from its rows by

- leave-one-out, which chose the members (`loo_error_`);
- the whole procedure repeated without each of five folds (`error_`), the mean of three such
  divisions, and without each of ten folds;
- blocks: scores without a block of rows, and of all other rows without that block and themselves,
  exactly and without a refit; the other rows choose regularisers, discriminants and weights, and
  the block judges. Views and widths of kernels are those of all rows, without labels. Blocks of
  one row are leave-two-out (of one group where there are groups);
- leave-one-out, its minimum corrected (Tibshirani and Tibshirani, 2009): to `loo_error_` is
  added how much worse, on each of five folds, the choice of all rows is than the fold's own;
- bootstrap (Tsamardinos, Greasidou and Borboudakis, 2018): {BAGS} times, rows drawn with
  replacement choose among the same predictions, and those not drawn judge.

In the last two a choice is a regulariser for each kernel and the weights of kernels, or the one
best kernel and regulariser ("best alone", as in these papers), among leave-one-out predictions
that stay as they are. Bias is the mean over draws of the estimate less the error of the draw's own
fit on 2000 new rows; "off by" is the root mean square of that difference over all draws; "less" by
how much that is below the one of nested five folds, on the same draws; all in per cent of the rows,
± a standard error. Cost is processor time in units of one fit without an assessment.
"""


def origin(asked: argparse.Namespace) -> str:
    more = "" if asked.tables == [""] else " --tables " + " ".join(f'"{t}"' for t in asked.tables)
    return (
        f"```\npython benchmarks/assessment_ways.py --draws {asked.draws}{more}\n```\n\n"
        f"Origin: {'; '.join(made_now().values())}; "
        f"{time.process_time():.0f} s of processor time.\n"
    )


def as_tables(asked: argparse.Namespace) -> str:
    """The ways in all draws, then table by table."""
    lines, found, seconds = [table_head()], {}, []
    for title, tables in TABLES.items():
        all_tables = NOISE if title == "labels by chance" else SIGNALS
        chosen = [name for name in tables if any(part in name for part in asked.tables)]
        lines += [f"| **{title}** |{' |' * (len(WAYS) + 1)}"] * bool(chosen)
        parts = []
        for name in chosen:
            errors, cost = measure_table(all_tables, name, asked.draws)
            parts.append(errors)
            seconds.append(cost)
            lines.append(table_line(name, errors))
            print(lines[-1], flush=True)
        if parts:
            found[title] = np.concatenate(parts)
    summary = "\n".join(summary_lines(found, np.concatenate(seconds)))
    print(summary)
    return f"{summary}\n\nThe means over draws, table by table:\n\n" + "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--tables", nargs="*", default=[""], help="those whose names contain these")
    parser.add_argument("--output", type=Path, default=PAGE)
    asked = parser.parse_args()
    tables = as_tables(asked)
    page = asked.output.read_text(encoding="utf-8") if asked.output.exists() else ""
    text = with_section(page, TITLE, f"{WORDS}\n{origin(asked)}\n{tables}")
    asked.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
