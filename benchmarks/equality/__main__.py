"""Does a change of the code change what is computed? Every estimator, recorded and compared.

    python benchmarks/equality record FOLDER [--only TEXT]
    python benchmarks/equality compare FOLDER_A FOLDER_B [--texts]

``record`` fits every public estimator on small fixed data, as arrays and as streams, by the public
interface alone, with whatever kernel_learn is importable, and writes what came out: an .npz and a
.json per case. ``compare`` compares two such folders bit by bit; it ends with 1 if anything
differs but texts, which are counted (and printed with ``--texts``). One thread, so that sums are
added up in one order.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from comparing import compare
from recording import file_name, run_case, write

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def start_with_one_thread():
    """Start this program anew if its libraries, which ask as they are loaded, may take more."""
    if not ONE_THREAD.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})


def all_cases():
    """{name: function of a record}."""
    import array_cases
    import classifier_cases
    import command_cases
    import kernel_cases
    import leaving_cases
    import stream_cases

    modules = (
        kernel_cases,
        array_cases,
        stream_cases,
        classifier_cases,
        command_cases,
        leaving_cases,
    )
    return {name: function for module in modules for name, function in module.cases().items()}


def record(out, only=""):
    """Run the cases and write what came out."""
    import kernel_learn

    print(f"kernel-learn {kernel_learn.__version__} in {Path(kernel_learn.__file__).parent}")
    out.mkdir(parents=True, exist_ok=True)
    total, raised = 0.0, 0
    cases = {name: function for name, function in all_cases().items() if only in name}
    for name, function in cases.items():
        with tempfile.TemporaryDirectory(prefix="equality-") as folder:
            found = run_case(name, function, Path(folder))
        write(found, name, out)
        total, raised = total + found.seconds, raised + (found.error is not None)
        said = f"  raised {found.error}: {found.texts['error'][:90]}" if found.error else ""
        print(f"{found.seconds:7.2f} s  {len(found.arrays):4} arrays  {name}{said}", flush=True)
    assert len({file_name(name) for name in cases}) == len(cases), "two cases share a file"
    print(f"{len(cases)} cases, {raised} of them raised; {total:.0f} s of processor time")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run all cases")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--only", default="", help="cases whose name contains this")
    comparing = commands.add_parser("compare", help="compare two records")
    comparing.add_argument("first", type=Path)
    comparing.add_argument("second", type=Path)
    comparing.add_argument("--texts", action="store_true", help="print texts that differ, too")
    arguments = parser.parse_args()
    if arguments.command == "record":
        start_with_one_thread()
        record(arguments.folder, arguments.only)
    elif not compare(arguments.first, arguments.second, arguments.texts):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
