"""Every ratio that was asked for, one line each: ``name ratio limit ok|SHORT``.

    python benchmarks/speed [--full] [--only TEXT] [--growth PICTURE]

Ratios are of CPU times within one run on one thread, so that a busy machine
disturbs both sides; a limit is the most that a ratio may be. By default the
sizes are small and the whole takes some minutes; ``--full`` takes full
sizes, and the cases that need them. Cases of real data need
KERNEL_LEARN_DATA and are left out, with a line that says so, where it is not set.
"""

import argparse
import importlib
import os
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]


@dataclass(frozen=True)
class Case:
    """A function of a module that reports ratios; other sizes for the quick run."""

    name: str  # module.function
    quick: dict = field(default_factory=dict)
    full_only: bool = False
    needs_data: bool = False


CASES = [
    Case("foundation.gram"),
    Case("foundation.gram_of_many_columns", {"n": 2000}),
    Case("foundation.gram_of_sparse_rows", needs_data=True),
    Case("foundation.fit", full_only=True),
    Case("foundation.path", full_only=True),
    Case("foundation.transform", full_only=True),
    Case("feature_extraction.main", full_only=True),
    Case("floor.reg_by_leave_one_out", {"n": 2000}),
    Case("floor.reg_with_landmarks", {"n": 20_000, "landmarks": 300}),
    Case("floor.bank_against_its_kernels", {"n": 15_000, "landmarks": 100}),
    Case("floor.keys_against_a_fit", {"n": 100_000}),
    Case("kernel_weights.against_silp", {"n": 500}),
    Case("kernel_weights.against_one_step"),
    Case("kernel_weights.against_the_sdp", full_only=True),
    Case("kernel_weights.reg_of_a_bank", {"n": 800}),
    Case("kernel_weights.against_easymkl", full_only=True, needs_data=True),
    Case("joint.against_machines", full_only=True),
    Case("joint.satimage", needs_data=True),
    Case("joint.few_directions", needs_data=True),
    Case("metric.growth", full_only=True),
    Case("metric.seconds", full_only=True),
    Case("metric.gradient_of_neighbours"),
    Case("inductive.linear_logdet", full_only=True),
    Case("inductive.satimage", {"n": 500}, needs_data=True),
    Case("inductive.mnist", full_only=True, needs_data=True),
    Case("classifier.against_the_search", {"names": ("wine", "cancer")}),
    Case("classifier.fading", {}),
    Case("ledger.shapley"),
    Case("ledger.forget"),
    Case("classifier.threads", {}),
    Case("classifier.time_budget"),
    Case("classifier.aims", {"sizes": (250, 500, 1000)}),
    Case("classifier.new_rows", {}),
    Case("classifier.classes", full_only=True),
    Case("classifier.jobs", {"sizes": (500,)}),
    Case("classifier.many_rows", full_only=True, needs_data=True),
    Case("scale.throughput", full_only=True),
    Case("scale.growth", {"n": 300_000, "landmarks": 300}),
    Case("scale.bank", full_only=True, needs_data=True),
    Case("scale.against_peers", full_only=True, needs_data=True),
    Case("processes.two_workers", {"rows": 60_000, "landmarks": 300, "block": 5000}),
    Case("processes.start_of_the_command"),
    Case("processes.one_row_of_onnx"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="full sizes")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--growth", type=Path, help="draw growth over rows to this picture instead")
    arguments = parser.parse_args()
    if arguments.growth:
        importlib.import_module("growth").draw(arguments.growth, full=arguments.full)
        return
    print(f"{'name':90} {'ratio':>8} {'limit':>6}", flush=True)
    for case in CASES:
        if arguments.only not in case.name or (case.full_only and not arguments.full):
            continue
        if case.needs_data and not os.environ.get("KERNEL_LEARN_DATA"):
            print(f"{case.name}: left out, it needs KERNEL_LEARN_DATA")
            continue
        module, function = case.name.split(".")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = getattr(importlib.import_module(module), function)
            run(**({} if arguments.full else case.quick))


if __name__ == "__main__":
    main()
