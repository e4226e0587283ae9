"""A broken rule: what is replaced in the package, and the test that must notice it."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """One rule, broken by one replacement, and the test that must fail for it."""

    rule: str
    old: str
    """A piece of the package that occurs once in the searched files: it names its own place, wherever it moves."""
    new: str
    test: str
    """What pytest is given: `file::test_name`."""
    entry: int | None = None
    """The entry of "Things that must never happen" that the rule enforces; None for a rule outside that list."""
    files: str = "*.py"
    """Which files of the package are searched."""


def mutant(rule: str, old: str, new: str, test: str, *, entry: int | None = None, files: str = "*.py") -> Mutant:
    """Return a mutant; `test` is a path below the folder of all tests, with the name of a test."""
    return Mutant(rule, old, new, f"tests/{test}", entry, files)
