"""``kernel-learn compare`` on a table that is read in blocks."""

from collections.abc import Sequence

from kernel_learn.cli.reading import Given
from kernel_learn.cli.session import Session
from kernel_learn.cli.training import LearningTable
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.comparing import Leaderboard
from kernel_learn.tables.comparing_blocks import compare_in_blocks
from kernel_learn.tables.comparing_numbers import NumberLeaderboard
from kernel_learn.tables.methods import CLASSES, Roster, check_method, find_estimator
from kernel_learn.tables.names import MEAN
from kernel_learn.tables.number_methods import NUMBERS
from kernel_learn.tables.streaming import HeldShare, reads_blocks

# They need the shares of the classes or the mean and no more, which a sample has.
BASELINES = ("majority class", MEAN)
USUAL = {CLASSES.auto: "KernelDiscriminant", NUMBERS.auto: "KernelPLSRegressor"}


def compare_large(
    run: Session,
    given: Given,
    training: LearningTable,
    methods: Sequence[str],
    named: Sequence[str],
    settings: Sequence[str],
    metric: str,
    roster: Roster,
) -> Leaderboard | NumberLeaderboard:
    """The methods that are fitted in blocks, on all rows but a test share; says which are not."""
    usual = [*methods, USUAL[roster.auto]]
    able = [name for name in dict.fromkeys(usual) if is_able(name, roster)]
    if refused := [own for own in (check_method(n, roster) for n in named) if own not in able]:
        run.warn(
            f"Not compared, as a table larger than memory is not fitted by it in blocks: "
            f"{', '.join(refused)}."
        )
    if not able:
        raise TableError("None of these methods is fitted in blocks; raise --memory.")
    assert training.source is not None and given.target is not None
    sample = training.frame.assign(**{given.target: training.y})
    with run.progress("comparing", training.n_rows, "rows") as step:
        return compare_in_blocks(
            training.source,
            sample,
            training.columns,
            able,
            target=given.target,
            n_rows=training.n_rows,
            test=HeldShare.of(training.n_rows, given.seed),
            seed=given.seed,
            settings=settings,
            memory=given.memory,
            metric=metric,
            told=lambda method, rows: step(rows, method),
            roster=roster,
        )


def is_able(method: str, roster: Roster) -> bool:
    """Whether a method has an answer for a table that comes in blocks."""
    is_own = method not in roster.others
    return method in BASELINES or (is_own and reads_blocks(find_estimator(method)))
