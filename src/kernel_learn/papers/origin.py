"""What made a record: code, date, versions. No name of a machine and no path."""

import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kernel_learn._version import __version__

LIBRARIES = ("numpy", "scipy", "scikit-learn")


@cache
def code_version() -> str:
    """The commit of the code ("-dirty": changed since), or the version of what is installed."""
    here = Path(__file__).resolve().parent
    command = ["git", "-C", str(here), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        tracked = ["git", "-C", str(here), "ls-files", "--error-unmatch", "origin.py"]
        subprocess.run(tracked, capture_output=True, check=True)
        found = subprocess.run(command, capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return f"version {__version__}"
    return found.stdout.strip()


def library_version(name: str) -> str:
    """The name and version of a library as it is installed."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name} (unknown)"


def made_now() -> dict[str, str]:
    """What a record says about its making."""
    versions = [f"Python {platform.python_version()}", *map(library_version, LIBRARIES)]
    return {
        "commit": code_version(),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": ", ".join(versions),
    }
