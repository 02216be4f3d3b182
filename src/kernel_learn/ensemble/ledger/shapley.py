"""Which columns made a prediction: Shapley values of what an ensemble averages.

L(x), the averaged log-odds, or the predicted number before it is kept within what was seen, is a
sum over the members, so their values add up. Members whose kernel is a product or a sum over the
table's columns are exact (``criteria.shapley``); the others, and those that predict by the
logarithm of a number, are sampled together by permutations, with standard errors, or by all sets
of columns if these are few; so are models in leaves and of rows brought to length one
(``whole_rows``). Sums are exact in all cases.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.stacking import LinearMap
from kernel_learn.criteria.held_out.target_transforms import ValueMap
from kernel_learn.criteria.shapley import (
    MOST_ENUMERATED,
    Background,
    function_values,
    term_values,
)
from kernel_learn.ensemble.ingest import ColumnNames, column_groups
from kernel_learn.ensemble.ledger.row_log_odds import RowLogOdds
from kernel_learn.ensemble.ledger.whole_rows import SEED, table_values
from kernel_learn.ensemble.members import Ensemble, Member
from kernel_learn.ensemble.views import UnitRows
from kernel_learn.fitting.parameters import COLUMN_GROUPS, check_count
from kernel_learn.kernels import SharedStatistics, evaluate_shared
from kernel_learn.kernels.column_terms import ColumnTerm, column_terms
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.rows.access import row_blocks
from kernel_learn.rows.columns import as_rectangle
from kernel_learn.rows.table import Table

SHOWN_ROWS, SHOWN_COLUMNS = 5, 5
BLOCK_ENTRIES = 2**22

Groups = Mapping[str, ColumnNames]


@dataclass(frozen=True, eq=False, repr=False)
class ShapleyValues:
    """Values of columns: values.sum(axis=1) + base_values are the averaged log-odds L(x).

    Two classes: log p1/p0; more: log p of each class minus its mean over the classes.
    prior + fading * (L(x) - prior) are those of ``predict_proba``. Of numbers L(x) is the
    prediction before members are kept within what was seen, in units of y, prior the mean of y,
    and prior + fading * (L(x) - prior) what ``predict`` says: fading is 1 where nothing was cut.
    """

    values: Array  # (n, d), or (n, d, k) of several classes or targets
    base_values: Array  # (n,), or (n, k): the mean of L over the background rows
    data: Array  # (n, n_features) the rows explained
    feature_names: list[str]  # of the d players: columns, or groups of them
    standard_error: Array  # as values: of sampled ones, 0 where they are exact
    exact: bool  # whether nothing was sampled
    # (n,), (n, q) of several numbers; None in a file of before log-odds were averaged
    fading: Array | None
    prior: Array  # () or (k,)

    def to_shap(self) -> Any:
        """As a ``shap.Explanation``, for the plots of shap; needs the extra ``shap``."""
        try:
            import shap  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except ImportError as error:
            raise ImportError(
                "to_shap needs shap: pip install 'kernel-learn[shap]'. The values themselves are "
                "in .values, .base_values and .data."
            ) from error
        return shap.Explanation(
            values=self.values,
            base_values=self.base_values,
            data=self.data if self.data.shape[1] == len(self.feature_names) else None,
            feature_names=list(self.feature_names),
        )

    def __repr__(self) -> str:
        size = np.abs(self.values) if self.values.ndim == 2 else np.abs(self.values).max(axis=2)
        how = "exact" if self.exact else "in part sampled, see standard_error"
        lines = [f"Shapley values of {len(self.feature_names)} columns, {how}"]
        for i, own in enumerate(size[:SHOWN_ROWS]):
            first = np.argsort(-own, kind="stable")[:SHOWN_COLUMNS]
            told = ", ".join(f"{self.feature_names[j]} {_signed(self.values[i, j])}" for j in first)
            lines.append(f"row {i}: {told}")
        more = len(size) - SHOWN_ROWS
        return "\n".join([*lines, f"and {more} more rows"] if more > 0 else lines)


def _signed(value: Array) -> str:
    """A number with its sign; of several classes the largest."""
    return f"{np.atleast_1d(value)[np.abs(np.atleast_1d(value)).argmax()]:+.3g}"


@dataclass(frozen=True, eq=False)
class Explained:
    """New rows, the rows behind them, and the players."""

    ensemble: Ensemble
    table: Table
    background: Table | int  # an int where members see training rows by columns
    players: Sequence[Array]  # columns of the table, of each
    data: Array  # the rows as they were given
    names: list[str]  # of the players
    share: Array | None = None  # of the background rows of a table, None if all are alike


def is_background(background: object, owner: object) -> bool:
    """Whether the background is rows, and not how many of those known."""
    if background is None or isinstance(background, bool | float | int | np.number):
        check_count("background", background, owner)  # type: ignore[arg-type]
        return False
    return True


def players_of(
    X: Rows,  # as given, by whose names columns are found
    groups: Groups | None,
    known: Iterable[str] | None,  # names at fit
    owner: object,  # who is asked
) -> tuple[list[str], list[Array]]:
    """Names and columns of the players: groups, then every other column alone."""
    COLUMN_GROUPS.check("column_groups", groups, owner)
    names = [f"x{c}" for c in range(as_rectangle(X).shape[1])] if known is None else known
    alone = {str(name): np.array([c]) for c, name in enumerate(names)}
    together = {} if groups is None else column_groups(groups, X)
    inside = np.concatenate([*together.values(), np.empty(0, int)]).astype(int)
    if len(np.unique(inside)) < len(inside):
        raise ValueError("column_groups of shapley are players, and a column is in two of them.")
    alone = {name: own for name, own in alone.items() if own[0] not in inside}
    twice = sorted(set(together) & set(alone))
    if twice:
        raise ValueError(f"column_groups has {twice[0]!r}, which is also a column alone.")
    players = together | alone
    return list(players), list(players.values())


class MemberPart(NamedTuple):
    """What a member adds to L: weight'k(x, rows) + constant, and what becomes of that."""

    weight: Array  # (n, r)
    constant: Array  # (r,)
    then: Callable[[Array], Array] | None = None  # (., r) to (., r), None if L is linear in it


@dataclass(frozen=True, eq=False)
class Seen:
    """A part of L in the view of its member."""

    member: Member
    X: Array  # (n_new, d) new rows
    rows: Array  # (n, d) training rows
    background: Background
    part: MemberPart
    codes: tuple[int, ...]
    blocks: Sequence[Array]  # columns of each player
    terms: Sequence[ColumnTerm] | None = field(default=None)

    def __call__(self, X: Array) -> Array:
        """Of rows in the view, (n, r)."""
        found = np.tile(self.part.constant, (len(X), 1))
        for rows in row_blocks(len(X), max(1, BLOCK_ENTRIES // len(self.rows))):
            S = SharedStatistics(X[rows], self.rows, self.codes)
            found[rows] += evaluate_shared(self.member.kernel, S) @ self.part.weight
        return found if self.part.then is None else self.part.then(found)


def class_shapley(explained: Explained, odds: RowLogOdds) -> ShapleyValues:
    """Of log p1/p0, or of log p of each class minus its mean."""
    k = odds.log_odds.shape[1]
    out = np.array([[-1.0], [1.0]]) if k == 2 else np.eye(k) - 1 / k

    def parts(member: Member) -> Iterator[MemberPart]:
        model, map = member.models[0][0], member.maps[0]
        assert isinstance(map, LinearMap), "log-odds are linear in scores"
        share = explained.ensemble.weight_of(member)
        yield MemberPart(model.coef @ (share * map.coef @ out), share * map(model.intercept) @ out)

    def L(table: Table) -> Array:
        return explained.ensemble.pooled(table).log_odds @ out

    found = shapley_values(explained, parts, odds.prior @ out, L)
    found = replace(found, fading=odds.fading)
    return of_first(found) if k == 2 else found


def number_shapley(explained: Explained, *, single: bool) -> ShapleyValues:
    """Of predicted numbers before they are kept within what was seen."""
    ensemble = explained.ensemble
    targets = ensemble.targets
    assert isinstance(targets, NumberTargets), "numbers are predicted"
    prior = targets.value_mean
    found = shapley_values(
        explained,
        lambda member: value_parts(member, len(prior)),
        prior,
        lambda table: unbounded_values(ensemble, table),
    )
    L = found.base_values + found.values.sum(axis=1)
    fading = how_far(L, ensemble.values(explained.table), prior)
    if single:
        return replace(of_first(found), fading=fading[:, 0])
    return replace(found, fading=fading)


def unbounded_values(ensemble: Ensemble, table: Table) -> Array:
    """Predictions before members are kept within what was seen, (n_new, q)."""
    n_targets = ensemble.n_features
    found = np.zeros((len(table), n_targets))
    for leaf, member, K in ensemble.kernel_blocks(table):
        map, scores = member.map_in(leaf), member.model_in(leaf).scores(K)
        assert isinstance(map, ValueMap), "numbers are predicted"
        weight = np.broadcast_to(ensemble.weight_of(member), (n_targets,))
        for t in np.flatnonzero(weight).tolist():
            found[leaf.new, t] += weight[t] * map.unbounded(t, scores[:, map.columns[t]])
    return found


def how_far(L: Array, said: Array, prior: Array) -> Array:
    """fading of prior + fading (L - prior) = what is said; 1 where they differ by rounding."""
    cut = np.abs(L - said) > 1e-9 * (np.abs(said - prior) + np.abs(L - prior))
    return np.divide(said - prior, L - prior, out=np.ones_like(L), where=cut & (prior != L))


def value_parts(member: Member, n_targets: int) -> Iterator[MemberPart]:
    """Targets as they are in one linear part, every logarithm in one of its own."""
    model, map = member.models[0][0], member.maps[0]
    assert isinstance(map, ValueMap), "numbers are predicted"
    share = np.broadcast_to(member.share, (n_targets,))
    pull, constant = np.zeros((model.coef.shape[1], n_targets)), np.zeros(n_targets)
    for t, (column, transform) in enumerate(zip(map.columns, map.transforms, strict=True)):
        if not transform.is_log:
            pull[column, t] = share[t] * transform.scale
            constant[t] = share[t] * transform.back(model.intercept[column])
        elif share[t] > 0:
            yield log_part(member, t, n_targets)
    if pull.any():
        yield MemberPart(model.coef @ pull, constant)


def log_part(member: Member, target: int, n_targets: int) -> MemberPart:
    """One target by its logarithm."""
    model, map = member.models[0][0], member.maps[0]
    assert isinstance(map, ValueMap)
    column = map.columns[target]
    share = np.broadcast_to(member.share, (n_targets,))[target] * np.eye(n_targets)[target]
    return MemberPart(
        model.coef[:, [column]],
        model.intercept[[column]],
        lambda f: map.unbounded(target, f) * share,
    )


def of_first(found: ShapleyValues) -> ShapleyValues:
    """Of one output, without its axis."""
    return replace(
        found,
        values=found.values[:, :, 0],
        base_values=found.base_values[:, 0],
        standard_error=found.standard_error[:, :, 0],
        prior=found.prior[0],
    )


def shapley_values(
    explained: Explained,
    parts: Callable[[Member], Iterable[MemberPart]],
    prior: Array,
    whole: Callable[[Table], Array],  # L of the rows of a table
) -> ShapleyValues:
    """Values of the players, outputs last."""
    members = explained.ensemble.predicting
    if members and not can_explain(explained.ensemble):
        return values_of_whole_rows(explained, whole, prior)
    seen = [see(explained, member, part) for member in members for part in parts(member)]
    n, n_players = len(explained.data), len(explained.players)
    base = np.zeros(len(prior)) if seen else prior
    values = np.zeros((n, n_players, len(prior)))
    for one in seen:
        base = base + one.background.share @ one(one.background.rows)
        for term in one.terms or ():
            weight = one.part.weight
            values += term_values(term, one.X, one.rows, weight, one.background, one.blocks)
    error = np.zeros_like(values)
    sampled = [one for one in seen if one.terms is None]
    if sampled:
        more, error = sample_members(sampled, n_players)
        values += more
    tiled = np.tile(base, (n, 1))
    names = explained.names
    exact = not sampled or n_players <= MOST_ENUMERATED
    return ShapleyValues(values, tiled, explained.data, names, error, exact, None, prior)


def values_of_whole_rows(
    explained: Explained, whole: Callable[[Table], Array], prior: Array
) -> ShapleyValues:
    """Of a model whose columns have no part of their own."""
    behind, names, data = explained.background, explained.names, explained.data
    assert not isinstance(behind, int), "whole rows stand for unknown columns"
    share = explained.share
    share = np.full(len(behind), 1 / len(behind)) if share is None else share
    found = table_values(whole, explained.table, behind, share, explained.players, len(prior))
    base = np.tile(share @ whole(behind), (len(explained.table), 1))
    return ShapleyValues(found[0], base, data, names, found[1], found[2], None, prior)


def can_explain(ensemble: Ensemble) -> bool:
    """Whether columns have parts of their own: not in leaves, nor in rows of length one."""
    views = ensemble.training.views.values()
    unit_rows = any(isinstance(view.of_numbers, UnitRows) for view in views)
    return ensemble.forest is None and not unit_rows


def see(explained: Explained, member: Member, part: MemberPart) -> Seen:
    """A part in its member's view; its terms where it can be taken apart."""
    ensemble, background = explained.ensemble, explained.background
    training, view = ensemble.training, ensemble.training.views[member.plain_view]
    rows = member_rows(ensemble, member)
    if isinstance(background, int):
        some = slice(0, background)  # distinct rows stand in an order drawn by their contents
        weight = ensemble.targets.weight[some]
        behind = Background(rows[some], weight / weight.sum())
    else:
        Z = _scaled(training.new_rows(member, background), member)
        behind = Background(Z, np.full(len(Z), 1 / len(Z)))
    blocks = [np.flatnonzero(np.isin(view.owner, columns)) for columns in explained.players]
    terms = None
    if part.then is None:
        terms = column_terms(member.kernel, len(view.owner), view.categorical)
    new = _scaled(training.new_rows(member, explained.table), member)
    return Seen(member, new, rows, behind, part, view.categorical, blocks, terms)


def member_rows(ensemble: Ensemble, member: Member) -> Array:
    """The training rows as a member sees them."""
    known = ensemble.training.rows
    if member.view in known:
        return np.asarray(to_double(known[member.view]))
    return _scaled(known[member.plain_view], member)


def _scaled(rows: Rows, member: Member) -> Array:
    return np.asarray(scale_columns(to_double(rows), member.scales))


def sample_members(seen: Sequence[Seen], n_columns: int) -> tuple[Array, Array]:
    """Values and standard errors of the sum of several members, (n_new, n_columns, r) each.

    One sample for all of them: their views stand side by side. Few columns are not sampled.
    """
    ends = np.cumsum([0] + [one.rows.shape[1] for one in seen])
    spans = [slice(a, b) for a, b in pairwise(ends)]
    players = [
        np.concatenate([one.blocks[c] + span.start for one, span in zip(seen, spans, strict=True)])
        for c in range(n_columns)
    ]
    used = np.array([c for c in range(n_columns) if len(players[c])])
    both = Background(np.hstack([one.background.rows for one in seen]), seen[0].background.share)
    X = np.hstack([one.X for one in seen])
    shape = (len(X), n_columns, seen[0](X[:0]).shape[1])
    values, error = np.zeros(shape), np.zeros(shape)

    def f(rows: Array) -> Array:
        return np.sum([one(rows[:, span]) for one, span in zip(seen, spans, strict=True)], axis=0)

    own = [players[c] for c in used]
    for i, x in enumerate(X):
        values[i, used], error[i, used] = function_values(f, x, both, own, SEED)
    return values, error
