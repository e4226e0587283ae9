"""Shows which checklist items have a test: `make checklist`. It fails when an item has none or a mark proves nothing.

A mark is a comment, `# CHECKLIST 109, 110`, directly above a test function, on its signature or inside it.
"""

import ast
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

TESTS = Path(__file__).parent
ITEM_COUNT = 267
DESIGN = TESTS.parent.parent / "shared" / "design" / "CHECKLIST.md"
_MARK = re.compile(r"#\s*CHECKLIST\s+(.*)")
_NUMBERS = re.compile(r"\d+(?:\s*-\s*\d+)?(?:\s*,\s*\d+(?:\s*-\s*\d+)?)*")
_ITEM = re.compile(r"^(\d+)\. (.*?)(?: — .*)?$", re.MULTILINE)
_NEVER_RUN = ("skip", "xfail")

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Mark(NamedTuple):
    """One comment that names checklist items."""

    place: str
    items: tuple[int, ...]
    defect: str
    """Why the mark proves nothing; "" for a mark on a test that runs."""


class Coverage(NamedTuple):
    """The tests of each item, and the marks that count for none."""

    tests: dict[int, list[str]]
    defects: list[Mark]

    def without_test(self) -> list[int]:
        """Return the items that must have a test and have none."""
        return [item for item in range(1, ITEM_COUNT + 1) if item not in self.tests]


def read_coverage(folder: Path = TESTS) -> Coverage:
    """Return what the marks of all test files below a folder prove."""
    tests: dict[int, list[str]] = {}
    defects = []
    for path in sorted(folder.rglob("test_*.py")):
        for mark in marks_of(path.read_text(encoding="utf-8"), str(path.relative_to(folder))):
            if mark.defect:
                defects.append(mark)
                continue
            for item in mark.items:
                tests.setdefault(item, []).append(mark.place)
    return Coverage(tests, defects)


def marks_of(source: str, name: str) -> Iterator[Mark]:
    """Return the marks of one test file."""
    tree = ast.parse(source)
    functions = list(_functions(tree))
    module_never_runs = any(_names_module_mark(node) and _never_runs(node.value) for node in _assignments(tree.body))
    lines = source.splitlines()
    for line, numbers in _comments(source):
        items = _items(numbers)
        owner = next((each for each in functions if _first_line(each, lines) <= line <= (each.end_lineno or 0)), None)
        place = f"{name}:{line}" if owner is None else f"{name}::{owner.name}"
        if not items:
            defect = f"it names no item from 1 to {ITEM_COUNT}"
        elif owner is None:
            defect = "it stands on no test function"
        elif module_never_runs or any(_never_runs(decorator) for decorator in owner.decorator_list):
            defect = "its test is skipped or expected to fail"
        else:
            defect = ""
        yield Mark(place, items, defect)


def _comments(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(iter(source.splitlines(keepends=True)).__next__):
        if token.type == tokenize.COMMENT and (mark := _MARK.match(token.string)):
            yield token.start[0], mark[1].strip()


def _items(numbers: str) -> tuple[int, ...]:
    """Return the items that a mark names, none where it is not a list of known items."""
    items: list[int] = []
    if not _NUMBERS.fullmatch(numbers):
        return ()
    for part in numbers.split(","):
        first, _, last = part.partition("-")
        items += range(int(first), int(last or first) + 1)
    return tuple(items) if items and all(1 <= item <= ITEM_COUNT for item in items) else ()


def _functions(node: ast.Module | ast.ClassDef) -> Iterator[Function]:
    """Return the functions that pytest collects: in a module, or in a class named Test..."""
    for child in node.body:
        if isinstance(child, Function) and child.name.startswith("test_"):
            yield child
        elif isinstance(child, ast.ClassDef) and child.name.startswith("Test"):
            yield from _functions(child)


def _first_line(function: Function, lines: Sequence[str]) -> int:
    """Return where a function begins, its decorators and the comments directly above them included."""
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    return first


def _assignments(body: Sequence[ast.stmt]) -> Iterator[ast.Assign]:
    return (node for node in body if isinstance(node, ast.Assign))


def _names_module_mark(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets)


def _never_runs(expression: ast.expr) -> bool:
    """Return whether a decorator keeps its test from running everywhere; a skipif names where it runs."""
    return any(isinstance(node, ast.Attribute) and node.attr in _NEVER_RUN for node in ast.walk(expression))


def show(coverage: Coverage, out: TextIO) -> None:
    """Print every item with its tests, then what is missing."""
    texts = dict(_ITEM.findall(DESIGN.read_text(encoding="utf-8"))) if DESIGN.exists() else {}
    for item in range(1, ITEM_COUNT + 1):
        tests = coverage.tests.get(item, [])
        files = ", ".join(sorted({test.partition("::")[0] for test in tests}))
        shown = files or "-"
        out.write(f"{item:4d} {len(tests):3d}  {shown:60.60}  {texts.get(str(item), '')[:90]}\n")
    missing = coverage.without_test()
    out.write(f"\n{ITEM_COUNT - len(missing)} of {ITEM_COUNT} items have a test.\n")
    if missing:
        out.write(f"Without one: {', '.join(map(str, missing))}\n")
    out.writelines(f"{mark.place}: the mark does not count, {mark.defect}.\n" for mark in coverage.defects)


def main() -> int:
    """Print the coverage; return 1 when an item has no test or a mark does not count."""
    coverage = read_coverage()
    show(coverage, sys.stdout)
    return 1 if coverage.without_test() or coverage.defects else 0


if __name__ == "__main__":
    sys.exit(main())
