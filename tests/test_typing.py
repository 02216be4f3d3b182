"""Types as a user meets them: a strict checker has nothing to say about a program of theirs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kernel_learn as kl
import typed_user

PROGRAM = Path(__file__).with_name("typed_user.py")
OPTIONS = ["--strict", "--config-file=", "--follow-imports=silent", "--ignore-missing-imports"]


def check(program):
    """What ``mypy --strict`` says, the package's own lines and settings left out."""
    pytest.importorskip("mypy", reason="types are checked by mypy")
    source = Path(kl.__file__).parents[1]
    path = {} if source.name == "site-packages" else {"MYPYPATH": str(source)}
    return subprocess.run(
        [sys.executable, "-m", "mypy", *OPTIONS, str(program)],
        capture_output=True,
        text=True,
        env=os.environ | path,
        cwd=PROGRAM.parents[1],
    )


@pytest.mark.slow
def test_a_users_program_is_typed():
    run = check(PROGRAM)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow
def test_a_users_mistakes_are_found(tmp_path):
    """The hints say something: wrong names, wrong values and wrong results are errors."""
    program = tmp_path / "mistaken.py"
    program.write_text(
        "import kernel_learn as kl\n"
        "model = kl.KernelClassifier(qualty='fast')\n"
        "word: str = model.fit([[0.0]], [0]).predict([[0.0]])\n"
        "kl.HSICSubspace().fit([[0.0]], [0], sample_wieght=[1.0])\n"
        "kl.kernels.Gaussian(gama=1.0)\n"
        "kl.HSICSubspace(kernel=3)\n"
        "kl.KernelDiscriminant(landmarks=None)\n"
        "kl.KernelLMNN(random_state='seven', memory_budget='2GB')\n"
        "kl.SubspaceSVC().fit(None, [0])\n"
    )
    run = check(program)
    errors = [line for line in run.stdout.splitlines() if ": error: " in line]
    assert [int(line.split(":")[1]) for line in errors] == [2, 3, 4, 5, 6, 7, 8, 9], run.stdout


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_users_program_runs(rng, tmp_path):
    """What is typed is also true: the names and arguments are those of the package."""
    for package in ("matplotlib", "pyarrow", "skops", "skl2onnx"):
        pytest.importorskip(package)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    assert 0 <= typed_user.classify(X, y, rng.uniform(1, 2, 60)) <= 1
    assert typed_user.learn_weights(X, y).shape == (4,)
    assert typed_user.embed(X, y).shape == (60, 2)
    assert typed_user.choose(X, y).shape == (3, 2)
    assert typed_user.certify(X, y)[0] > 0
    assert typed_user.compare_pairs(X, y).shape == (60,)
    assert Path(typed_user.keep(kl.HSICSubspace().fit(X, y), tmp_path / "model.skops")).exists()
    assert typed_user.measure(X, y) > 0
