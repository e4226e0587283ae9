"""Values on pages that are compared with the program: `0.5<!-- = NAME -->`.

NAME is a constant at the top of a module (`SURE_READER`), with the name of the module before it if several have one
(`power.FEWEST_ORDERS`); a field's default (`PipelineSettings.ev_weights`); or a key of a file
(`gate_rules.yaml:unsure_from`). `[x]` behind it takes an element, `-` before it the negative value. The source of the
package is read and nothing of it imported, so that a value may move to another module.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.docs.page_blocks import ROOT

from episodic_absa.serialization.yaml_file import read_yaml_file

PACKAGE: Final = ROOT / "src" / "episodic_absa"
_MARK: Final = re.compile(r"([^\s|(]+)<!-- = (-?)([\w.:]+)(?:\[(\w+)\])? -->")


class StatedValue(NamedTuple):
    """A value that a page states, and what it is said to be."""

    stated: str
    name: str
    is_negative: bool = False
    element: str | None = None

    def holds(self) -> bool:
        """Return whether the program has this value."""
        value = value_of(self.name)
        if self.element is not None:
            value = value[int(self.element) if self.element.isdecimal() else self.element]
        if isinstance(value, str):
            return self.stated == f"`{value}`"
        return float(self.stated.replace(",", "")) == float(-value if self.is_negative else value)


def stated_values(page: str) -> Iterator[StatedValue]:
    """Yield the marked values of a page."""
    for stated, sign, name, element in _MARK.findall(page):
        yield StatedValue(stated, name, bool(sign), element or None)


def value_of(name: str) -> Any:
    """Return the value of that name; a KeyError says that the package has none, or several."""
    file, _, keys = name.partition(":")
    if keys:
        value: Any = data_of(file)
        for key in keys.split("."):
            value = value[key]
        return value
    place, _, own = name.rpartition(".")
    found = {repr(value): value for where, value in _named_values().get(own, ()) if place in ("", where)}
    if len(found) != 1:
        raise KeyError(f"{name} has {len(found)} values in the package")
    return next(iter(found.values()))


def data_of(name: str) -> Any:
    """Return the content of a YAML file of the package."""
    (path,) = PACKAGE.rglob(name)
    return read_yaml_file(path)


@cache
def _named_values() -> dict[str, list[tuple[str, Any]]]:
    """Return the literal values of the package by name, each with its module or class."""
    values: dict[str, list[tuple[str, Any]]] = {}
    for path in PACKAGE.rglob("*.py"):
        module = ast.parse(path.read_text("utf-8"))
        for where, statement in _assignments(module, path):
            if isinstance(statement.target, ast.Name) and statement.value is not None:
                try:
                    value = ast.literal_eval(statement.value)
                except ValueError:
                    continue
                values.setdefault(statement.target.id, []).append((where, value))
    return values


def _assignments(module: ast.Module, path: Path) -> Iterator[tuple[str, ast.AnnAssign]]:
    for statement in module.body:
        if isinstance(statement, ast.AnnAssign):
            yield path.stem, statement
        elif isinstance(statement, ast.ClassDef):
            yield from ((statement.name, inner) for inner in statement.body if isinstance(inner, ast.AnnAssign))
