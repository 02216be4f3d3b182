"""MKLpy and metric-learn beside us, each in an environment of its own.

    python benchmarks/peers [--rows 500] [--environments out/peers] [--only mklpy]

MKLpy is under the GPL and metric-learn needs an older scikit-learn: neither is
imported here. Their scripts run in other processes, in virtual environments
that are made once under ``--environments``, read the rows from a file and
print their figures as JSON. One thread, CPU time. Lines: ``name ratio limit ok|SHORT``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from timing import report_ratio  # noqa: E402

# name -> what pip installs, script of the peer, script of ours, and the limit asked for
PEERS = {
    "mklpy": (["MKLpy", "cvxopt", "torch==2.13.0"], "easymkl.py", "our_machine.py"),
    "metric-learn": (["metric-learn", "scikit-learn<1.6"], "lmnn.py", "our_lmnn.py"),
}


def environment(folder, name):
    """The Python of a peer's environment, made if it is not there."""
    home = folder / name
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *PEERS[name][0]]
        subprocess.run(install, check=True)
    return python


def rows(n):
    """Rows of satimage, or made ones, z-scored."""
    if os.environ.get("KERNEL_LEARN_DATA"):
        from kernel_learn.datasets import find_data

        X, y = find_data().load("satimage")
    else:
        rng = np.random.default_rng(0)
        y = rng.integers(0, 6, 2 * n)
        X = rng.normal(size=(2 * n, 36)) + rng.normal(size=(6, 36))[y]
    chosen = np.random.default_rng(0).permutation(len(y))[: 2 * n]
    X, y = X[chosen].astype(float), np.unique(y[chosen], return_inverse=True)[1]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def write_rows(file, n):
    """n rows to learn from and n new ones, for the scripts."""
    X, y = rows(n)
    np.savez(file, X=X[:n], y=y[:n], X_new=X[n:], y_new=y[n:])
    return file


def run(python, script, file):
    """The figures that a script prints: seconds, bytes, error."""
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    found = subprocess.run(
        [str(python), str(HERE / script), str(file)],
        env={**os.environ, **one},
        capture_output=True,
        text=True,
    )
    if found.returncode:
        raise SystemExit(f"{script} failed:\n{found.stderr[-2000:]}")
    return json.loads(found.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--environments", type=Path, default=Path("out/peers"))
    parser.add_argument("--only", choices=sorted(PEERS))
    arguments = parser.parse_args()
    n = arguments.rows
    with tempfile.TemporaryDirectory() as folder:
        file = write_rows(Path(folder) / "rows.npz", n)
        for name in [arguments.only] if arguments.only else PEERS:
            _, theirs, ours = PEERS[name]
            peer = run(environment(arguments.environments, name), theirs, file)
            mine = run(sys.executable, ours, file)
            for what in ("seconds", "bytes"):
                label = f"{mine['name']} / {peer['name']}, n={n}: {what}"
                report_ratio(label, mine[what] / peer[what], 1.0)
            for found in (mine, peer):
                print(
                    f"  {found['name']}: {found['seconds']:.2f} s, {found['bytes'] / 1e6:.0f} MB, "
                    f"error {100 * found['error']:.2f} % of {n} new rows"
                )


if __name__ == "__main__":
    main()
