"""Counts which checklist items have a test: `make checklist`. Tests name items in comments, `# CHECKLIST 109, 110`."""

import re
import sys
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent
ITEM_COUNT = 228
DESIGN = TESTS.parent.parent / "shared" / "design" / "CHECKLIST.md"
_MARK = re.compile(r"#\s*CHECKLIST\s+((?:\d+(?:\s*-\s*\d+)?[,\s]*)+)")
_ITEM = re.compile(r"^(\d+)\. (.*?)(?: — .*)?$", re.MULTILINE)


def covered_items(folder: Path = TESTS) -> dict[int, set[str]]:
    """Return for each item the test files that name it."""
    covered: dict[int, set[str]] = defaultdict(set)
    for path in sorted(folder.rglob("test_*.py")):
        for mark in _MARK.findall(path.read_text(encoding="utf-8")):
            for part in re.findall(r"\d+(?:\s*-\s*\d+)?", mark):
                first, _, last = part.partition("-")
                for item in range(int(first), int(last or first) + 1):
                    covered[item].add(str(path.relative_to(folder)))
    return covered


def main() -> None:
    """Print every item with its tests, then those without."""
    covered = covered_items()
    texts = dict(_ITEM.findall(DESIGN.read_text(encoding="utf-8"))) if DESIGN.exists() else {}
    out = sys.stdout
    for item in range(1, ITEM_COUNT + 1):
        files = ", ".join(sorted(covered.get(item, ()))) or "-"
        out.write(f"{item:4d}  {files:60.60}  {texts.get(str(item), '')[:90]}\n")
    missing = [item for item in range(1, ITEM_COUNT + 1) if item not in covered]
    out.write(f"\n{ITEM_COUNT - len(missing)} of {ITEM_COUNT} items have a test.\n")
    if missing:
        out.write(f"Without one: {', '.join(map(str, missing))}\n")


if __name__ == "__main__":
    main()
