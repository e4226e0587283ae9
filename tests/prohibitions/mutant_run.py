"""Applies one mutant in a copy of the package and runs its test against the copy."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

from defusedxml import ElementTree
from tests.prohibitions.mutant import Mutant

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = ROOT / "src" / "episodic_absa"
TESTS_FAILED: Final = 1
_BROKEN_CODE: Final = re.compile(r"\b(Syntax|Indentation|Import|ModuleNotFound|Name|UnboundLocal)Error\b")
"""A test that fails for one of these says nothing about the rule."""


class StaleMutantError(AssertionError):
    """The source that a mutant breaks is gone or no longer unique."""


class Noticed(NamedTuple):
    """How the test of a mutant ended."""

    returncode: int
    failed: tuple[str, ...]
    """The tests that failed, without their parameters."""
    reasons: tuple[str, ...]
    """Why they failed, in the same order."""
    errors: tuple[str, ...]
    """Tests that could not be set up or collected."""
    output: str

    def problem(self, mutant: Mutant) -> str | None:
        """Return why this is no proof that the test notices the mutant; None if it is one."""
        name = mutant.test.partition("::")[2]
        if self.errors:
            return f"{', '.join(self.errors)} could not run"
        if self.returncode != TESTS_FAILED or not self.failed:
            return f"no test failed (pytest ended with {self.returncode})"
        if name not in self.failed:
            return f"{', '.join(self.failed)} failed, not {name}"
        broken = [reason for reason in self.reasons if _BROKEN_CODE.search(reason)]
        return f"the mutant does not run: {broken[0]}" if broken else None


def place_of(mutant: Mutant, package: Path = PACKAGE) -> Path:
    """Return the one file that holds the mutant's snippet, relative to the package."""
    counts = {path: content.count(mutant.old) for path, content in _contents(package, mutant.files).items()}
    places = [str(path.relative_to(package)) for path, count in counts.items() if count]
    if sum(counts.values()) != 1:
        where = ", ".join(places) or "no file"
        raise StaleMutantError(
            f"the mutant {mutant.rule!r} is stale: {mutant.old!r} occurs {sum(counts.values())} times ({where}); "
            "write in tests/prohibitions how the rule reads now, so that it occurs once"
        )
    return Path(places[0])


@cache
def _contents(package: Path, pattern: str) -> dict[Path, str]:
    return {path: path.read_text("utf-8") for path in sorted(package.rglob(pattern))}


def run_mutant(mutant: Mutant, folder: Path) -> Noticed:
    """Run the mutant's test against a copy of the package in which its rule is broken."""
    place = place_of(mutant)
    package = folder / "src" / "episodic_absa"
    # Compiled modules come along, but not that of the broken one.
    shutil.copytree(PACKAGE, package)
    broken = package / place
    for compiled in (broken.parent / "__pycache__").glob(f"{broken.stem}.*"):
        compiled.unlink()
    content = broken.read_text("utf-8").replace(mutant.old, mutant.new)
    broken.write_text(content, "utf-8")
    if broken.suffix == ".py":
        compile(content, str(place), "exec")
    return run_tests([mutant.test], package.parent, folder / "result.xml")


def run_tests(tests: Sequence[str], sources: Path, result: Path) -> Noticed:
    """Run tests in a process of its own, against the package in `sources`."""
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "tests.prohibitions.first_counterexample"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, f"--junitxml={result}", *tests],
        cwd=ROOT,
        # With one seed of hashes, an order that depends on them is the same in every run.
        env={**os.environ, "PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    cases = list(ElementTree.parse(result).iter("testcase")) if result.exists() else []
    failures = [(_name(case), failure) for case in cases for failure in case.iter("failure")]
    return Noticed(
        done.returncode,
        failed=tuple(name for name, _ in failures),
        reasons=tuple(failure.get("message", "") for _, failure in failures),
        errors=tuple(_name(case) for case in cases if case.find("error") is not None),
        output=done.stdout[-3000:] + done.stderr[-1000:],
    )


def _name(case: Element) -> str:
    return str(case.get("name", "")).partition("[")[0]
