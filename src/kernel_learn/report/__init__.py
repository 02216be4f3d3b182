"""A model's report: one HTML file that needs no network. Needs ``kernel-learn[cli]``."""

from kernel_learn.report.facts import gather_facts, judge_new_rows
from kernel_learn.report.page import render

__all__ = ["gather_facts", "judge_new_rows", "render"]
