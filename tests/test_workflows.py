"""What runs on the forge runs here: its commands exist, its Pythons are those we promise."""

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="workflows are read by PyYAML")

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
JOBS = {
    f"{file.stem}: {name}": job
    for file in FILES
    for name, job in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].items()
}
TOOLS = {
    "build",
    "pip",
    "pytest",
}  # what a job calls without make: other versions than make installs
NEWEST = "3.x"
# one job hands files over, and runs nothing
RUN = [name for name in JOBS if name != "release: publish"]


def promised():
    """The versions of Python among the classifiers."""
    classifiers = PROJECT["project"]["classifiers"]
    return re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))


def commands(job):
    """The lines a job runs, as words."""
    steps = [step["run"] for step in job["steps"] if "run" in step]
    return [shlex.split(line) for step in steps for line in step.splitlines() if line.strip()]


def versions(job):
    """The Pythons a job is run with."""
    (asked,) = [
        step["with"]["python-version"]
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/setup-python")
    ]
    return job["strategy"]["matrix"]["python"] if "matrix.python" in asked else [asked]


def check_command(words):
    match words:
        case ["make", target, *_]:
            assert target in TARGETS, f"the Makefile has no {target}"
        case ["bash", script]:
            assert (ROOT / script).is_file()
        case ["python", "-m", tool, *rest]:
            assert tool in TOOLS
            for extras in re.findall(r"\.\[([\w,]+)\]", " ".join(rest)):
                assert set(extras.split(",")) <= set(PROJECT["project"]["optional-dependencies"])
        case _:
            pytest.fail(f"not a command of this project: {shlex.join(words)}")


def test_every_way_of_running_the_suite_has_its_job():
    assert list(JOBS) == [
        *("ci: all", "ci: newest", "ci: lowest", "ci: noextras", "ci: docs", "ci: wheel"),
        "nightly: development",
        *("release: build", "release: publish", "release: site"),
    ]
    for target in ("test-lowest", "test-noextras", "test-wheel", "docs"):
        assert any(["make", target] in commands(job) for job in JOBS.values())


@pytest.mark.parametrize("name", RUN)
def test_the_commands_of_a_job_exist(name):
    assert commands(JOBS[name])
    for words in commands(JOBS[name]):
        check_command(words)


def test_the_commands_of_the_local_script_exist():
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    called = [shlex.split(line) for line in lines if line.startswith("make ")]
    assert [words[1] for words in called] == ["test", "lint", "types"]
    assert {words[1] for words in called} <= TARGETS


@pytest.mark.parametrize("name", RUN)
def test_jobs_run_a_promised_python(name):
    assert set(versions(JOBS[name])) <= {*promised(), NEWEST}


def test_every_promised_python_is_run():
    assert versions(JOBS["ci: newest"]) == [*promised(), NEWEST]
    assert versions(JOBS["ci: lowest"]) == promised()[:1]


def test_one_lowest_python_everywhere():
    (lowest, *_) = promised()
    assert PROJECT["project"]["requires-python"] == f">={lowest}"
    assert PROJECT["tool"]["mypy"]["python_version"] == lowest
    assert f"Python {lowest}+" in (ROOT / "Makefile").read_text()


def test_hooks_run_what_lint_and_types_run():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    entries = {hook["id"]: hook["entry"] for repo in hooks for hook in repo["hooks"]}
    assert list(entries) == ["ruff-check", "ruff-format", "codespell", "mypy"]
    recipe = (ROOT / "Makefile").read_text().split("\nlint:")[1].split("\n\n")[0]
    for name in ("ruff-check", "ruff-format", "codespell"):
        tool = entries[name].removeprefix(".venv/bin/python -m ").removesuffix(" --force-exclude")
        assert f"$(PY) -m {tool}" in recipe
    assert entries["mypy"] == "make types"


def test_a_tag_must_name_the_version():
    """The script of the release, with a tag that is right and one that is not."""
    bash = shutil.which("bash")
    version = re.search(r'"(.*)"', (ROOT / "src/kernel_learn/_version.py").read_text())[1]
    for tag, code in ((f"v{version}", 0), ("v9.9.9", 1)):
        done = subprocess.run(
            [bash, ".github/check_tag.sh"], cwd=ROOT, env={**os.environ, "GITHUB_REF_NAME": tag}
        )
        assert done.returncode == code
