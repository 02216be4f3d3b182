"""The distribution says one version everywhere, ships what it promises, and names no machine."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

import kernel_learn

ROOT = Path(__file__).parents[1]

EXTRAS = {
    "autogluon",
    "sdp",
    "dask",
    "plot",
    "cli",
    "parquet",
    "excel",
    "spss",
    "files",
    "onnx",
    "index",
    "shap",
}
EXTRAS |= {"all", "test", "dev", "docs"}

MACHINE_PATH = re.compile(rb"(?<![\w.~-])/(?:home|Users|root|work)\b|\b[A-Z]:\\Users\b")
REGISTRY = re.compile(
    rb"\b(?:pypi|pythonhosted|anaconda|npmjs|debian)\.(?:org|com|net|io)\b|\bcrates\.io\b"
    rb"|--(?:(?:extra-)?index-url|find-links)\b"
)


def run(*command: str | Path, **env: str) -> str:
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this source tree, unpacked."""
    pytest.importorskip("hatchling", reason="wheels are built by hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    (archive,) = folder.glob("*.whl")
    assert archive.stat().st_size < 1.5e6
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder / "unpacked")
    return folder / "unpacked"


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    (path,) = wheel.glob("*.dist-info/METADATA")
    return Parser().parsestr(path.read_text(encoding="utf-8"))


def test_one_version(metadata):
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (cited,) = re.findall(r"^version: (.+)$", citation, flags=re.MULTILINE)
    assert metadata["Version"] == kernel_learn.__version__ == cited


def test_metadata(metadata):
    assert metadata["Name"] == "kernel-learn"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Requires-Python"] == ">=3.11"
    assert set(metadata.get_all("Provides-Extra")) == EXTRAS


def test_the_recipe_for_conda_says_what_the_wheel_says(metadata):
    recipe = (ROOT / "conda-recipe/meta.yaml").read_text(encoding="utf-8")
    assert re.findall(r'set version = "(.+)"', recipe) == [kernel_learn.__version__]
    assert f"summary: {metadata['Summary']}\n" in recipe
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"abstract: {metadata['Summary']}.\n" in citation
    required = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    (run_with,) = re.findall(r"  run:\n((?:    - .+\n)+)", recipe)
    asked = {line.strip("- ").replace(" ", "") for line in run_with.splitlines()}
    assert asked == {*required, f"python{metadata['Requires-Python']}"}


def test_only_four_packages_are_required(metadata):
    required = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    names = {re.match(r"[\w-]+", line)[0] for line in required}
    assert names == {"numpy", "scipy", "scikit-learn", "threadpoolctl"}


def test_wheel_holds_the_typed_package_and_nothing_else(wheel):
    assert {path.name.partition("-")[0] for path in wheel.iterdir()} == {"kernel_learn"}
    assert (wheel / "kernel_learn" / "py.typed").is_file()
    source = ROOT / "src"
    assert {path.relative_to(wheel) for path in wheel.glob("kernel_learn/**/*.py")} == {
        path.relative_to(source) for path in source.glob("kernel_learn/**/*.py")
    }


def test_wheel_imports(wheel):
    code = "import kernel_learn; print(kernel_learn.__file__)"
    assert Path(run(sys.executable, "-c", code, PYTHONPATH=str(wheel)).strip()).is_relative_to(
        wheel
    )


def test_constraints_are_names_and_versions():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert pins
    assert [pin for pin in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", pin)] == []


@pytest.mark.skipif(
    not (ROOT / ".git").exists() or shutil.which("git") is None, reason="not a git work tree"
)
@pytest.mark.parametrize(
    "pattern", [MACHINE_PATH, REGISTRY], ids=["machine path", "package registry"]
)
def test_no_file_names_a_machine(pattern):
    """Nothing that is committed, or would be by ``git add .``, works on one machine only."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    files = [ROOT / name for name in listed.split("\0") if name]
    found = [
        f"{path.relative_to(ROOT)}: {match[0].decode()}"
        for path in files
        if path.is_file()
        for match in pattern.finditer(path.read_bytes())
    ]
    assert found == []
