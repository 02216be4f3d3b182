"""Exact leave-one-out over regularisation paths."""

from kernel_learn.model_selection.leave_one_out import (
    LeaveOneOutPath,
    leave_groups_out,
    leave_one_out,
    search_leave_one_out,
)

__all__ = ["LeaveOneOutPath", "leave_groups_out", "leave_one_out", "search_leave_one_out"]
