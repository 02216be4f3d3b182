"""Exact leave-one-out over regularisation paths; cross-validation on sources."""

from kernel_learn.model_selection.leave_one_out import (
    HeldOut,
    LeaveOneOutPath,
    cross_validate_generally,
    held_out_scores,
    leave_groups_out,
    leave_one_out,
    search_leave_one_out,
)
from kernel_learn.namespaces import import_when_asked, list_only

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

__dir__ = list_only(__all__)
__getattr__ = import_when_asked(  # by name: it fits estimators, and nothing here knows them
    __name__, {"cross_validate_source": "estimators.source_cross_validation"}
)
