"""A model's report: one HTML file that needs no network. Needs ``kernel-learn[cli]``.

``kernel_learn.report(model, X, y)`` shows it in a notebook: the package is its own function.
"""

import sys
from types import ModuleType
from typing import Any

from kernel_learn.namespaces import list_only
from kernel_learn.report.facts import gather_facts, judge_new_rows
from kernel_learn.report.notebook import ReportPage, make_report
from kernel_learn.report.page import render

__all__ = ["ReportPage", "gather_facts", "judge_new_rows", "make_report", "render"]

__dir__ = list_only(__all__)


class CallablePackage(ModuleType):
    """A package that can be called."""

    def __call__(self, *args: Any, **options: Any) -> ReportPage:
        return make_report(*args, **options)


sys.modules[__name__].__class__ = CallablePackage
