"""The commit of this package's source, if it runs from a checkout."""

import shutil
import subprocess
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

_TIMEOUT_S: Final = 5


@cache
def source_commit() -> str | None:
    """Return the commit, followed by `-dirty` if files changed since; None for an installed package."""
    return commit_of(Path(str(files("episodic_absa"))).parents[1])


def commit_of(checkout: Path) -> str | None:
    """Return the commit of a checkout; None if the directory is no checkout or git is not installed."""
    git = shutil.which("git")
    if git is None or not (checkout / ".git").exists():
        return None
    command = [git, "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        described = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)  # noqa: S603 - git, on our own checkout
    except (OSError, subprocess.SubprocessError):
        return None
    return described.stdout.strip() or None
