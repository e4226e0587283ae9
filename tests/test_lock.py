"""The lock pins and hashes everything, names no place, and fits the ranges; the audit tells what does not."""

import platform
import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from tests.warm_python import run_warm

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / ".ci" / "lock.py"
THIS_PYTHON = (
    f"{platform.python_implementation()} {sys.version_info[0]}.{sys.version_info[1]} on {sys.platform} "
    f"{platform.machine()}"
)
HASH = "--hash=sha256:" + "a" * 64
LOCK = f"""# made for: {THIS_PYTHON}

# needed by: build
hatchling==1.33.0 \\
    {HASH}
# needed by: project
numpy==2.4.6 \\
    {HASH} \\
    --hash=sha256:{"b" * 64}
# needed by: dev
pytest==9.2.0 {HASH}
"""
PROJECT = """
[build-system]
requires = ["hatchling>=1.25,<2"]

[project]
dependencies = ["numpy>=2.1,<3"]

[project.optional-dependencies]
dev = ["pytest>=8.3,<10"]
"""


def audit(folder: Path, lock: str, project: str, *options: str) -> tuple[int, str]:
    """Return the exit code of an audit, and what it says."""
    (folder / "lock.txt").write_text(lock, encoding="utf-8")
    (folder / "pyproject.toml").write_text(project, encoding="utf-8")
    files = ("--lock", folder / "lock.txt", "--project", folder / "pyproject.toml")
    done = run_warm([SCRIPT, *files, "audit", *options], loads_engine=False)
    return done.returncode, done.stdout + done.stderr


def test_the_lock_of_the_project_is_whole() -> None:
    done = run_warm([SCRIPT, "audit", "--lock-only"], loads_engine=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "pinned and hashed" in done.stdout


def test_a_lock_that_fits_has_no_problem(tmp_path: Path) -> None:
    assert audit(tmp_path, LOCK, PROJECT, "--lock-only") == (
        0,
        "lock.txt: 3 packages, pinned and hashed, within the ranges of pyproject.toml.\n",
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f"requests>=2 {HASH}", "does not pin one version: requests>=2"),
        (f"requests==2.* {HASH}", "does not pin one version: requests==2.*"),
        (f"requests {HASH}", "does not pin one version: requests"),
        ("requests==2.34.2", "requests==2.34.2 has no hash"),
        ("requests==2.34.2 --hash=sha256:abc", "requests==2.34.2 has no hash"),
        ("requests==2.34.2 --hash=md5:" + "a" * 32, "requests==2.34.2 has no hash"),
        ("--index-url https://packages.example/simple", "names a place or an option of pip: --index-url"),
        ("--find-links /opt/wheels", "names a place or an option of pip: --find-links"),
        ("-e .", "names a place or an option of pip: -e ."),
        ("./wheels/requests-2.34.2-py3-none-any.whl", "names a place or an option of pip: ./wheels"),
        (f"requests @ https://packages.example/requests.whl {HASH}", "names a place or an option of pip: requests @"),
        (f"requests==2.34.2 --global-option=x {HASH}", "names a place or an option of pip: requests==2.34.2"),
    ],
)
def test_a_line_that_is_not_pinned_hashed_and_without_a_place_is_told(tmp_path: Path, line: str, problem: str) -> None:
    code, said = audit(tmp_path, f"{LOCK}# needed by: dev\n{line}\n", PROJECT, "--lock-only")
    assert code == 1
    assert problem in said


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("numpy>=2.1,<3", "numpy>=2.1,<2.4", "project needs numpy<2.4,>=2.1 and lock.txt holds 2.4.6"),
        ("numpy>=2.1,<3", "scipy>=1,<2", "project needs scipy<2,>=1 and lock.txt does not hold it"),
        ("numpy>=2.1,<3", "pytest>=8,<10", "project needs pytest and lock.txt does not say so"),
        ("hatchling>=1.25,<2", "hatchling>=2,<3", "build needs hatchling<3,>=2 and lock.txt holds 1.33.0"),
        ("pytest>=8.3,<10", "pytest>=8.3", "pytest>=8.3 (dev) has no upper bound in pyproject.toml"),
    ],
)
def test_a_range_that_the_lock_does_not_fit_is_told(tmp_path: Path, before: str, after: str, problem: str) -> None:
    code, said = audit(tmp_path, LOCK, PROJECT.replace(before, after), "--lock-only")
    assert (code, said) == (1, f"{problem}\n")


def test_what_is_installed_in_another_version_or_needs_what_is_not_locked_is_told(tmp_path: Path) -> None:
    code, said = audit(tmp_path, LOCK.replace("pytest==9.2.0", "pytest==8.3.0"), PROJECT)
    assert code == 1
    assert f"pytest {version('pytest')} is installed and lock.txt holds 8.3.0" in said
    assert re.search(r"pytest needs pluggy\S+ and lock.txt does not hold it", said)
    assert f"pydantic {version('pydantic')} is installed and lock.txt does not hold it" in said


def test_what_the_project_needs_and_nobody_installed_is_told(tmp_path: Path) -> None:
    lock = f"{LOCK}# needed by: project\nmade-up==1.0 {HASH}\n"
    assert "made-up is not installed and project needs it" in audit(tmp_path, lock, PROJECT)[1]


def test_a_lock_for_another_python_is_compared_with_the_ranges_only(tmp_path: Path) -> None:
    lock = LOCK.replace(THIS_PYTHON, "CPython 3.4 on plan9 mips")
    code, said = audit(tmp_path, lock, PROJECT)
    assert code == 0
    assert f"made for CPython 3.4 on plan9 mips; what is installed for {THIS_PYTHON} is not compared" in said


def test_an_extra_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    done = run_warm([SCRIPT, "install", "dev", "devel"], cwd=tmp_path, loads_engine=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "pyproject.toml has no extra devel; it has anthropic" in done.stderr
