"""Model files of earlier versions: records that are no more, and what they become.

A file of an earlier version names its records. Those that are no more are read as they were
written, and the record that holds them, the last to be read, becomes that of today.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kernel_learn.ensemble.candidates import SCALED
from kernel_learn.ensemble.fitted import FittedEnsemble
from kernel_learn.ensemble.members import Ensemble, Member, TrainingRows
from kernel_learn.ensemble.plan import EnsemblePlan
from kernel_learn.ensemble.trees import Forest


class EarlierRecord:
    """A record as it was written: attributes and nothing else."""


class EarlierPlan:
    """A plan of the classifier in the words of plans for landmarks."""

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        form: Any = "exact" if state["representation"] == "gram" else state["representation"]
        is_read = form == "landmarks"
        same = "n_rows n_given narrow_rows bytes_needed budget reason bytes_least disk_bytes"
        become(
            self,
            EnsemblePlan(
                representation=form,
                screen_rows=state["pool_rows"],
                leaf_rows=0 if is_read else state["block_rows"],
                trees=1 if form == "exact" else state["trees"],
                tried_per_member=state["tried_per_member"],
                most_views=state["views"],
                n_landmarks=state["n_landmarks"] if is_read else None,
                subsample_rows=state["few_rows"],
                block_rows=state["block_rows"] if is_read else 0,
                **{name: state[name] for name in same.split()},
            ),
        )


class EarlierFit:
    """A fitted classifier whose members stood in five records."""

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        machine, kernels = state["machine"], state["machine"].kernels
        rows = {view + SCALED if scaled else view: Z for view, scaled, Z in kernels.rows}
        known = TrainingRows(kernels.views, rows, kernels.targets)
        members = todays_members(machine, kernels, state["members"])
        ensemble = Ensemble(kernels.reader, members, known, known)
        if hasattr(machine, "trees"):
            own = TrainingRows(machine.views, machine.rows, machine.targets)
            view, scales = machine.guide
            forest = Forest(view, scales, machine.trees, machine.leaf_rows)
            ensemble = replace(ensemble, training=own, forest=forest)
        if hasattr(kernels, "_discriminant"):  # had been worked out
            vars(ensemble)["discriminant"] = kernels._discriminant
        same = (state[name] for name in ("proba", "probe", "plan", "judged", "held"))
        become(self, FittedEnsemble(ensemble, *same))


def todays_members(machine: Any, kernels: Any, told: Sequence[Member]) -> list[Member]:
    """Members as they predict, and after them those that were only told of.

    Those that were told of stand by decreasing weight, those that predict in another order.
    """
    has_trees = hasattr(machine, "trees")
    trees: list[list[Any]] = [machine.members if has_trees else machine.parts]
    if has_trees:
        numbers = range(len(machine.trees))
        trees = [[one for one in machine.members if one.tree == t] for t in numbers]
    fits = list(zip(*trees, strict=True))  # of each kernel, one per tree
    order = sorted(range(len(fits)), key=lambda i: -fits[i][0].weight)
    predicting = {}
    for i, member in zip(order, told, strict=False):
        predicting[i] = replace(
            member,
            scales=kernels.parts[i].scales,
            share=member.weight if has_trees else fits[i][0].weight,
            factor=kernels.parts[i].factor,
            models=[one.models if has_trees else [one.model] for one in fits[i]],
            maps=[one.second for one in fits[i]],
        )
    return [*(predicting[i] for i in range(len(fits))), *told[len(fits) :]]


def become(record: Any, other: Any) -> None:
    """Turn a record into another, in place: a reader of files holds it already."""
    record.__class__ = type(other)
    vars(record).update(vars(other))
