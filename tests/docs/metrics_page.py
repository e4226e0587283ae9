"""The tables of docs/metrics.md, made from the definitions. Run `python tests/docs/metrics_page.py` to rewrite them."""

import re
from pathlib import Path
from typing import Any, Final

import episodic_absa.metrics.definitions as definitions
from episodic_absa.serialization.yaml_file import read_yaml_file

PAGE: Final = Path(__file__).parents[2] / "docs" / "metrics.md"
_ENTRIES: Final = Path(definitions.__file__).with_name("definitions.yaml")
_TABLE: Final = re.compile(r"<!-- (\w+): from definitions\.yaml -->\n.*?\n<!-- end -->", re.DOTALL)
_BETTER: Final = {"higher": "higher", "lower": "lower", "": ""}


def with_tables(page: str) -> str:
    """Return the page with every table rewritten from the definitions."""
    return _TABLE.sub(lambda match: _marked(match[1]), page)


def groups_on(page: str) -> list[str]:
    """Return the groups that have a table on the page."""
    return [match[1] for match in _TABLE.finditer(page)]


def _marked(group: str) -> str:
    rows = [_row(entry) for entry in read_yaml_file(_ENTRIES) if _group_of(entry) == group]
    head = ["| Metric | Kind | Wanted | Definition |", "|---|---|---|---|"]
    return "\n".join([f"<!-- {group}: from definitions.yaml -->", *head, *rows, "<!-- end -->"])


def _group_of(entry: dict[str, Any]) -> str:
    return "sample" if entry.get("scope") == "sample" else str(entry["group"])


def _row(entry: dict[str, Any]) -> str:
    marks = {"s1": "¹", "baseline": "²"}
    name = entry["metric"].replace("{member}", f"<{entry.get('over')}>")
    noted = "".join(marks[variant] for variant in entry.get("also", ()))
    sentence = entry["definition"].replace("{member}", f"<{entry.get('over')}>").replace("<", "&lt;")
    return f"| `{name}`{noted} | {entry['kind']} | {_BETTER[entry.get('better', '')]} | {sentence} |"


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
