"""Applies one mutant in a copy of the sources and runs its tests against the copy."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.prohibitions.mutants import Mutant

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "episodic_absa"
TESTS_FAILED = 1


class StaleMutantError(AssertionError):
    """The source that a mutant breaks is gone or no longer unique."""


def place_of(mutant: Mutant, package: Path = PACKAGE) -> Path:
    """Return the one module that holds the mutant's snippet, relative to the package."""
    counts = {path: path.read_text("utf-8").count(mutant.old) for path in sorted(package.rglob("*.py"))}
    places = [str(path.relative_to(package)) for path, count in counts.items() if count]
    if sum(counts.values()) != 1:
        where = ", ".join(places) or "no module"
        raise StaleMutantError(
            f"the mutant {mutant.rule!r} is stale: {mutant.old!r} occurs {sum(counts.values())} times ({where}); "
            "write in tests/prohibitions/mutants.py how the rule reads now, so that it occurs once"
        )
    return Path(places[0])


def run_mutant(mutant: Mutant, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the mutant's tests against a copy of the package in which its rule is broken."""
    place = place_of(mutant)
    package = folder / "src" / "episodic_absa"
    # Compiled modules come along, but not that of the broken one.
    shutil.copytree(PACKAGE, package)
    module = package / place
    for compiled in (module.parent / "__pycache__").glob(f"{module.stem}.*"):
        compiled.unlink()
    module.write_text(module.read_text("utf-8").replace(mutant.old, mutant.new), "utf-8")
    compile(module.read_text("utf-8"), str(place), "exec")
    return run_tests(mutant.tests, package.parent)


def run_tests(tests: Sequence[str], sources: Path) -> subprocess.CompletedProcess[str]:
    """Run tests in a process of its own, against the package in `sources`."""
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not torture"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
