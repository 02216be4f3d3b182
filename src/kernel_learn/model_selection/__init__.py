"""Exact leave-one-out over regularisation paths."""

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
    "held_out_scores",
    "leave_groups_out",
    "leave_one_out",
    "search_leave_one_out",
]
