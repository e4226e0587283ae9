"""Tests that need an extra are skipped where it is not installed; a list of them lets a second run do exactly these."""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

EXTRAS: Final = {
    "anthropic": ("anthropic",),
    "browser": ("playwright",),
    "docs": ("furo", "myst_parser", "sphinx"),
    "examples": ("ipykernel", "langgraph", "nbclient", "pandas"),
    "excel": ("openpyxl",),
    "google": ("google.genai",),
    "pandas": ("pandas",),
    "parquet": ("pyarrow",),
    "postgres": ("psycopg",),
    "ray": ("ray",),
}
"""What the tests import of each extra that some of them need."""
_REASON: Final = "needs the extra"


def reason_without_extra(extra: str) -> str | None:
    """Say why a test that needs an extra cannot run here, None if it can."""
    missing = [package for package in EXTRAS[extra] if not _is_installed(package)]
    if not missing:
        return None
    return f"{_REASON} {extra} ({', '.join(missing)} not installed): python .ci/lock.py install dev {extra}"


def require_extra(extra: str) -> None:
    """Skip the test unless the packages of an extra are installed."""
    if (reason := reason_without_extra(extra)) is not None:
        pytest.skip(reason)


def _is_installed(package: str) -> bool:
    """Return whether a package can be imported; a parent that is absent is an error to find_spec."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


class SkippedForExtras:
    """Writes the ids of the tests that were skipped for want of an extra, one to a line for `pytest @FILE`."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._ids: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that was skipped for that reason."""
        if report.skipped and isinstance(report.longrepr, tuple) and _REASON in report.longrepr[2]:
            self._ids.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the list, also if it is empty."""
        self._file.write_text("".join(f"{test}\n" for test in sorted(self._ids)), encoding="utf-8")
