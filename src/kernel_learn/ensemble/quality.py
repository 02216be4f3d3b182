"""How much is tried: the candidates and members of each quality."""

from collections.abc import Mapping
from dataclasses import dataclass

from kernel_learn.ensemble.candidates import Candidate, Loss, candidates

PLAIN = {
    "fast": {
        "z": "rbf1 rbf3 rbf10 lap1 lap3 lin",
        "q": "rbf3 lap1 lap3 lin",
        "u": "anova",
    },
    "balanced": {
        "z": "rbf1 rbf3 rbf10 lap1 lap3 lin poly3 arc",
        "q": "rbf1 rbf3 exp1 lap1 lap3 lin",
        "u": "anova add",
        "c": "rbf1 rbf3 lin",
    },
}
LEARNED: dict[str, dict[str, str]] = {
    "fast": {},
    "balanced": {"z": "rbf1 exp1 lap1 lap3", "q": "rbf1 exp1 lap1 lap3"},
}
# For tables that follow rules: on 18 sets, in splits of training rows, the squared hinge lowered
# the log loss by 4 % at 8 % more time (by half on balance-scale); one-vs-one ridge did not pay.
MACHINES: dict[str, dict[Loss, str]] = {
    "fast": {},
    "balanced": {"hinge": "arc rbf10"},
}
MOST_MACHINE_CLASSES = 12


@dataclass(frozen=True)
class Quality:
    """What a quality stands for."""

    screen: int  # rows on which all candidates are tried, if there are more
    keep: int  # candidates that are then fitted to all rows
    leaf_members: int  # members that are fitted in leaves
    trees: int  # of leaves


# A third quality (all candidates on 1000 rows, three divisions into folds) took three times as
# long and was no better in splits of the training rows of 21 sets (error -0.4 +- 1.3 %).
QUALITIES = {
    "fast": Quality(400, 4, 2, 1),
    "balanced": Quality(400, 8, 4, 4),
}

# For numbers: plain kernels, and kernels whose scales are learned by marginal likelihood, alone
# and with a linear part.
NUMBER_PLAIN = {
    "fast": {"z": "lin", "q": "linlap1"},
    "balanced": {"z": "lin linlap1", "q": "lin linlap1", "u": "pairs"},
}
LIKELIHOOD = {
    "fast": "matern+lin",
    "balanced": "gauss gauss+lin matern matern+lin exp exp+lin",
}
NUMBER_QUALITIES = {
    "fast": Quality(500, 2, 2, 1),
    "balanced": Quality(500, 4, 4, 2),
}


@dataclass(frozen=True)
class TableViews:
    """Which views a table, or a group of its columns, has."""

    numbers: bool = True
    categories: bool = False
    is_sparse: bool = False
    prefix: str = ""  # of their names

    def some(self, kernels: Mapping[str, str]) -> dict[str, str]:
        """Those of them that a bank names, with its kernels."""
        found = dict(kernels)
        if self.is_sparse:  # ranks do not keep zero zero
            found.pop("u", None)
        if not self.numbers:  # all views but codes and blocks of ones are the same
            for name in ("q", "c"):
                found.pop(name, None)
        return found


def bank(quality: str, views: TableViews, n_classes: int | None = 2) -> list[Candidate]:
    """The candidates of a quality on the views that a table has; None: there are no classes."""
    plain, prefix = views.some(PLAIN[quality]), views.prefix
    if views.categories:
        plain["u"] = plain["u"] + " ham0.3"
    found: list[Candidate] = []
    for view, kernels in plain.items():
        found += candidates(prefix + view, kernels)
    for loss, kernels in MACHINES[quality].items():
        if n_classes is not None and n_classes <= MOST_MACHINE_CLASSES:
            found += candidates(f"{prefix}z", kernels, loss=loss)
            if views.categories:
                found += candidates(f"{prefix}u", "ham0.3 anova", loss=loss)
    for view, kernels in views.some(LEARNED[quality]).items():
        found += candidates(prefix + view, kernels, learned=True)
    return found


def number_bank(quality: str, views: TableViews) -> list[Candidate]:
    """The candidates of a quality for targets that are numbers."""
    found: list[Candidate] = []
    for view, kernels in views.some(NUMBER_PLAIN[quality]).items():
        found += candidates(views.prefix + view, kernels)
    found += candidates(f"{views.prefix}z", LIKELIHOOD[quality], loss="likelihood")
    return found
