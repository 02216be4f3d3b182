"""What came of a fit, and what is kept of its rows to be asked later."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.column_scales import ColumnScales
from kernel_learn.criteria.held_out.folds import stratified_rows
from kernel_learn.criteria.held_out.permutation import permutation_p_value
from kernel_learn.criteria.held_out.ridge import RIDGE_REGS, RidgePath
from kernel_learn.ensemble.candidates import candidates
from kernel_learn.ensemble.cross_validation import Sample, scales_of_folds
from kernel_learn.ensemble.members import Ensemble, Member
from kernel_learn.ensemble.plan import EnsemblePlan
from kernel_learn.ensemble.views import TableView
from kernel_learn.rows.access import is_sparse

# Rows on which the permutation test and the relevance of columns are worked out.
PROBE_ROWS = 1000


@dataclass(frozen=True)
class FittedEnsemble:
    """The ensemble and what is said of it."""

    ensemble: Ensemble
    proba: Array  # (n, k) of the distinct rows, held out
    probe: "Probe"
    plan: EnsemblePlan  # as it was carried out
    proba_rows: Array | None = None  # the distinct rows that proba is of, None for all
    known_rows: Array | None = None  # those that the ensemble holds, None for all

    @property
    def members(self) -> list[Member]:
        """By decreasing weight."""
        return sorted(self.ensemble.members, key=lambda member: -member.weight)


@dataclass(frozen=True)
class Probe:
    """Some rows, kept to say which columns matter and whether there is any signal."""

    sample: Sample
    owner: Array  # the table's column behind each column of the view
    view: str
    n_columns: int
    learned: Sequence[ColumnScales] | None = None

    @cached_property
    def relevance(self) -> tuple[Array, Array]:
        """Share of each column in the mean squared gradient, and its deviation over the folds."""
        learned = self.learned or scales_of_folds(self.sample, self.view)
        sums = np.array([np.bincount(self.owner, s.relevance, self.n_columns) for s in learned])
        totals = sums.sum(axis=1, keepdims=True)
        shares = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
        return shares[0], shares[1:].std(axis=0)

    def p_value(self, n_permutations: int, seed: int) -> float:
        """Of a kernel that has not seen the labels: wide, narrow and linear on this view."""
        view, targets = self.sample.view_rows(self.view), self.sample.targets
        K = np.zeros((targets.n, targets.n))
        for candidate in candidates(self.view, "rbf1 rbf10 lin"):
            K_one = view.gram(view.kernel(candidate))
            K += K_one / (np.trace(K_one) or 1.0)
        path = RidgePath(K, targets.without_class_factors())  # they go with the labels
        rng = np.random.default_rng(seed)
        return permutation_p_value(path, RIDGE_REGS, n_permutations, rng)


def make_probe(
    sample: Sample,
    views: Mapping[str, TableView],
    learned: Mapping[str, Sequence[ColumnScales]],
    n_columns: int,  # of the table
) -> Probe:
    """One view of all columns on at most ``PROBE_ROWS`` rows: normal scores, if rows are dense.

    In z-scores a noisy column with a few extreme entries looks relevant, as a fit remembers the
    labels of these rows, and hides what the others say from the permutation test.
    """
    name = "z" if "z" in views else next(iter(views))
    if "q" in views and not is_sparse(sample.views["q"]):
        name = "q"
    small = replace(
        sample, views={name: sample.views[name]}, categorical={}, blocks={name: sample.blocks[name]}
    )
    if sample.targets.n > PROBE_ROWS or sample.subsample is not None:
        small = small.take(stratified_rows(sample.targets, PROBE_ROWS))
    return Probe(small, views[name].owner, name, n_columns, learned.get(name))
