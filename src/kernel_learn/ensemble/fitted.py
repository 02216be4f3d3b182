"""What came of a fit, and what is kept of its rows to be asked later."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.column_scales import ColumnScales, learn_scales
from kernel_learn.criteria.held_out.folds import stratified_rows
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.permutation import permutation_p_value
from kernel_learn.criteria.held_out.ridge import RIDGE_REGS, RidgePath
from kernel_learn.criteria.held_out.targets import RowTargets
from kernel_learn.ensemble.candidates import Candidate, candidates
from kernel_learn.ensemble.cross_validation import scales_of_folds
from kernel_learn.ensemble.ledger.jackknife import HELD_NUMBERS, Jackknife, without_each
from kernel_learn.ensemble.members import Ensemble, Member
from kernel_learn.ensemble.outcomes.spread import Spread, fit_spread, held_out_scales
from kernel_learn.ensemble.plan import EnsemblePlan
from kernel_learn.ensemble.sample import Sample
from kernel_learn.ensemble.views import TableView
from kernel_learn.fitting.uncertainty import ColumnUnits, ReferenceRows
from kernel_learn.kernels import Gaussian, Kernel
from kernel_learn.representations.plan import COMPARED_ROWS
from kernel_learn.rows.access import is_sparse, row_blocks, take_rows
from kernel_learn.rows.table import Table

# Rows on which the permutation test and the relevance of columns are worked out.
PROBE_ROWS = 1000
PERMUTATIONS = 200
SHUFFLES = 19  # of columns: one of twenty tables without signal has a column called relevant


@dataclass(frozen=True)
class FittedEnsemble:
    """The ensemble and what is said of it."""

    ensemble: Ensemble
    held: Array  # (n, k) predictions of the distinct rows, held out
    probe: "Probe"
    plan: EnsemblePlan  # as it was carried out
    held_rows: Array | None = None  # the distinct rows that these are of, None for all
    known_rows: Array | None = None  # those that the ensemble holds, None for all
    cross_chosen: Array | None = None  # proba, each fold's by what was chosen without it
    unseen: Array | None = None  # rows on which no kernel was chosen, None: all had a part in it

    @property
    def members(self) -> list[Member]:
        """By decreasing weight."""
        return sorted(self.ensemble.members, key=lambda member: -member.weight)

    @cached_property
    def jackknife(self) -> Jackknife:
        """The ensemble without each row that is held out, or its group; in no file."""
        rows = self.probe.held_rows
        return without_each(self.ensemble, np.arange(len(self.held)) if rows is None else rows)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "jackknife"}

    def intervals(self, table: Table, coverage: float) -> Array:
        """Of numbers, (n_new, q, 2), see ``criteria.held_out.intervals``."""
        targets, own = self.probe.sample.targets, self.probe.held_rows
        assert isinstance(targets, NumberTargets)
        s = self.probe.spread_of(table)
        found = np.empty((*s.shape, 2))
        if self.known_rows is None:
            unit = self.jackknife.unit_of[targets.row if own is None else own[targets.row]]
            parts = self.jackknife.blocks(table)
        else:  # on landmarks, by moments of so many rows that one changes nothing to be seen
            unit, said = (
                np.zeros(len(targets.row), dtype=int),
                self.ensemble.predict(table)[:, None],
            )
            size = max(1, HELD_NUMBERS // len(unit))
            parts = ((rows, said[rows]) for rows in row_blocks(len(said), size))
        for rows, said in parts:
            for target, scale in enumerate(self.probe.spread.scales):
                found[rows, target] = scale.intervals(
                    said[:, :, target], unit, s[rows, target], coverage
                )
        return found


@dataclass(frozen=True)
class Probe:
    """Some rows, kept to say which columns matter and whether there is any signal."""

    sample: Sample
    owner: Array  # the table's column behind each column of the view
    view: str
    n_columns: int
    learned: Sequence[ColumnScales] | None = None
    reference: ReferenceRows | None = None  # None in earlier files, and where all rows are alike
    reference_view: TableView | None = None  # that its rows are in
    held: Array | None = None  # held-out predictions of numbers of the sample's rows, (n, q)
    held_rows: Array | None = None  # which of all distinct rows the sample's are, None for all
    fitted_view: TableView | None = None  # in which the sample's rows are, where new ones follow
    # Once rows were forgotten: which of all distinct rows are left in both, None: as drawn.
    sample_rows: Array | None = None
    reference_rows: Array | None = None

    @cached_property
    def spread(self) -> Spread:
        """How far numbers lie from their predictions; in no file."""
        return fit_spread(*self._residuals)

    @property
    def value_scales(self) -> Array:
        """How far each value lies from its prediction, by others, (m, q); 1 if not all are here."""
        kernel, rows, targets, held = self._residuals
        if self.held_rows is not None:
            return np.ones(targets.values.shape)
        return held_out_scales(kernel, rows, targets, held)

    @property
    def row_scales(self) -> Array:
        """How far the values of each of the sample's rows lie from it, by other rows, (n, q)."""
        targets = self._residuals[2]
        found = np.empty((targets.n, targets.n_targets))
        found[targets.row] = held_out_scales(*self._residuals)  # one for all values of a row
        return found

    @property
    def _residuals(self) -> tuple[Kernel, Rows, NumberTargets, Array]:
        view, targets = self.sample.view_rows(self.view), self.sample.targets
        assert isinstance(targets, NumberTargets) and self.held is not None
        return view.kernel(Candidate(self.view, "linlap", 1.0)), view.rows, targets, self.held

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "spread"}

    def spread_of(self, table: Table) -> Array:
        """How far new rows lie from their predictions, in units of the residuals, (n_new, q)."""
        assert self.fitted_view is not None, "kept with predictions of numbers"
        return self.spread.values(self.fitted_view.rows(table))

    @cached_property
    def relevance(self) -> tuple[Array, Array]:
        """Share of each column in the mean squared gradient, and its deviation over the folds."""
        learned = self.learned or scales_of_folds(self.sample, self.view)
        sums = np.array([np.bincount(self.owner, s.relevance, self.n_columns) for s in learned])
        totals = sums.sum(axis=1, keepdims=True)
        shares = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
        return shares[0], shares[1:].std(axis=0)

    @cached_property
    def relevant(self) -> Array:
        """Columns that matter more than every shuffled copy of a column, (n_columns,) booleans.

        In ``SHUFFLES`` fits all columns stand beside copies whose rows are shuffled: were the
        labels by chance, the largest of them all would be one of the table's own columns in one
        of SHUFFLES + 1 cases. None where shuffled labels are predicted as well as these.
        """
        if not self._has_signal():
            return np.zeros(self.n_columns, dtype=bool)
        rng, targets = np.random.default_rng(0), self.sample.targets
        runs = [self._beside_copies(_shuffled_rows(targets, rng)) for _ in range(SHUFFLES)]
        return np.asarray(np.all([own > copies.max() for own, copies in runs], axis=0))

    def _has_signal(self) -> bool:
        try:
            return self.p_value(PERMUTATIONS, 0) <= 1 / (SHUFFLES + 1)
        except ValueError:  # labels differ within groups, which cannot be shuffled
            return True

    def _beside_copies(self, rows: Array) -> tuple[Array, Array]:
        """Mean squared gradients of columns and of their copies with these rows, (n_columns,)."""
        Z, blocks = self.sample.views[self.view], self.sample.blocks.get(self.view)
        if blocks is not None:
            blocks = np.concatenate([blocks, blocks + blocks.max() + 1])
        both = [Z, take_rows(Z, rows)]
        joined = sparse.hstack(both, format="csr") if is_sparse(Z) else np.hstack(both)
        own, copies = np.split(learn_scales(joined, self.sample.targets, blocks).relevance, 2)
        size = self.n_columns
        return np.bincount(self.owner, own, size), np.bincount(self.owner, copies, size)

    def p_value(self, n_permutations: int, seed: int) -> float:
        """Of a kernel that has not seen the labels: wide, narrow and linear on this view."""
        view, targets = self.sample.view_rows(self.view), self.sample.targets
        K = np.zeros((targets.n, targets.n))
        for candidate in candidates(self.view, "rbf1 rbf10 lin"):
            K_one = view.gram(view.kernel(candidate))
            K += K_one / (np.trace(K_one) or 1.0)
        path = RidgePath(K, targets.as_given())  # factors of classes go with the labels
        rng = np.random.default_rng(seed)
        return permutation_p_value(path, RIDGE_REGS, n_permutations, rng)


def _shuffled_rows(targets: RowTargets, rng: np.random.Generator) -> Array:
    """A row for each row, drawn without order; rows of a group come from one other group."""
    if not targets.groups:
        return rng.permutation(targets.n)
    alone = np.setdiff1d(np.arange(targets.n), np.concatenate(targets.groups))
    units = [*targets.groups, *alone[:, None]]
    rows = np.empty(targets.n, dtype=int)
    for unit, other in zip(units, rng.permutation(len(units)), strict=True):
        rows[unit] = np.resize(units[other], len(unit))
    return rows


def make_probe(
    sample: Sample,
    views: Mapping[str, TableView],
    learned: Mapping[str, Sequence[ColumnScales]],
    n_columns: int,  # of the table
    held: Array | None = None,  # (n, q) predictions of numbers, of the rows or the subsample
    unseen: Array | None = None,  # those of them that have learned nothing, None for all
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
    if isinstance(sample.targets, NumberTargets) and held is not None:
        known = np.arange(sample.targets.n) if sample.subsample is None else sample.subsample
        some = (np.arange(len(known)) if unseen is None else unseen)[:PROBE_ROWS]
        if len(some) < sample.targets.n:
            small = small.take(known[some])
        small = replace(small, targets=small.targets.as_given())
        view = views[name]
        own = Probe(small, view.owner, name, n_columns, held=held[some], fitted_view=view)
        own = replace(own, held_rows=known[some] if len(some) < sample.targets.n else None)
    else:
        if sample.targets.n > PROBE_ROWS or sample.subsample is not None:
            small = small.take(stratified_rows(sample.targets, PROBE_ROWS))
        own = Probe(small, views[name].owner, name, n_columns, learned.get(name))
    plain = "z" if "z" in views else name  # z-scores know no bounds
    return replace(own, reference=rows_to_compare(sample, plain), reference_view=views[plain])


def rows_to_compare(sample: Sample, name: str) -> ReferenceRows | None:
    """Some rows in a view, if there are any that differ."""
    rows = np.arange(sample.targets.n) if sample.subsample is None else sample.subsample
    rows = rows[stratified_rows(sample.targets.take(rows), COMPARED_ROWS)]
    targets = sample.targets.take(rows)
    Z = take_rows(sample.views[name], rows)
    if len(rows) < 2 or not np.ptp(Gaussian(1.0)(Z)):
        return None
    return ReferenceRows(Gaussian(), Z, targets.weight, targets.groups, ColumnUnits())
