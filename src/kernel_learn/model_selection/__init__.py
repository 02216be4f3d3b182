"""Exact leave-one-out over regularisation paths; cross-validation on sources."""

from importlib import import_module
from typing import Any

from kernel_learn.model_selection.leave_one_out import (
    HeldOut,
    LeaveOneOutPath,
    cross_validate_generally,
    held_out_scores,
    leave_groups_out,
    leave_one_out,
    search_leave_one_out,
)

__all__ = [
    "HeldOut",
    "LeaveOneOutPath",
    "cross_validate_generally",
    "cross_validate_source",
    "held_out_scores",
    "leave_groups_out",
    "leave_one_out",
    "search_leave_one_out",
]


def __getattr__(name: str) -> Any:
    # by name: it fits estimators, and nothing here knows them
    if name == "cross_validate_source":
        return import_module(
            "kernel_learn.estimators.source_cross_validation"
        ).cross_validate_source
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
