"""Tables of the documentation, made from the program. `python -m tests.docs.reference_tables` rewrites them."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import typer
from tests.docs.model_keys import block_meanings, config_keys, line_fields
from tests.docs.specification_tables import SPECIFICATION_TABLES
from typer.core import TyperGroup

from episodic_absa.cli.app import app

_DOCS: Final = Path(__file__).parents[2] / "docs"
REFERENCE: Final = _DOCS / "reference"
PAGES_WITH_TABLES: Final = sorted([*REFERENCE.glob("*.md"), *(_DOCS / "specification").glob("*.md")])
_MARKED: Final = re.compile(r"<!-- ([\w ]+): from the program -->\n.*?<!-- end -->", re.DOTALL)
_PROGRAM: Final = "episodic-absa"


def with_tables(page: str) -> str:
    """Return the page with everything between its marks rewritten from the program."""
    return _MARKED.sub(lambda mark: f"<!-- {mark[1]}: from the program -->\n{_TABLES[mark[1]]()}\n<!-- end -->", page)


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command with the words that call it, groups included, the program first."""
    program = typer.main.get_command(app)
    yield from _below(program, _PROGRAM)


def _below(command: Any, words: str) -> Iterator[tuple[str, Any]]:
    yield words, command
    for name, inner in (command.commands if isinstance(command, TyperGroup) else {}).items():
        yield from _below(inner, f"{words} {name}")


def _command_sections() -> str:
    return "\n".join(_section(words, command) for words, command in commands()).rstrip()


def _section(words: str, command: Any) -> str:
    context = command.context_class(command, info_name=words)
    head = words.removeprefix(f"{_PROGRAM} ")
    usage = command.get_usage(context).removeprefix("Usage: ")
    records = [parameter.get_help_record(context) for parameter in command.params]
    rows = [f"| `{_cell(name)}` | {_cell(meaning)} |" for name, meaning in records]
    table = ["| Argument or option | Meaning |", "|---|---|", *rows, ""] if rows else []
    return "\n".join([f"## {head}", "", _sentences(command.help), "", "```text", usage, "```", "", *table])


def _sentences(text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text or ""))


def _cell(text: str) -> str:
    return " ".join(text.replace("<list[str]>", "").split()).replace("|", "\\|")


def _key_sections() -> str:
    blocks = {"": "Beside the blocks", **block_meanings()}
    keys = list(config_keys())
    sections = []
    for block, meaning in blocks.items():
        inside = [key for key in keys if (key.name.partition(".")[0] if "." in key.name else "") == block]
        rows = [f"| `{key.name}` | {_cell(key.form)} | {key.default} | {_yaml_words(key.meaning)} |" for key in inside]
        head = [f"### {block}", "", meaning, ""] if block else [f"### {meaning}", ""]
        sections.append("\n".join([*head, "| Key | Value | Default | Meaning |", "|---|---|---|---|", *rows, ""]))
    return "\n".join(sections).rstrip()


def _yaml_words(meaning: str) -> str:
    """Return what a docstring says, in the words of a YAML file."""
    return re.sub(r"\b(None|True|False)\b", lambda word: {"None": "null"}.get(word[1], word[1].lower()), _cell(meaning))


def _line_sections() -> str:
    sections = []
    for file, model, fields in line_fields():
        rows = [f"| `{field.name}` | {_cell(field.form)} | {_cell(field.meaning)} |" for field in fields]
        head = [f"### {file}: {model}", "", "| Field | Value | Meaning |", "|---|---|---|"]
        sections.append("\n".join([*head, *rows, ""]))
    return "\n".join(sections).rstrip()


_TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "commands": _command_sections,
    "config keys": _key_sections,
    "lines": _line_sections,
    **SPECIFICATION_TABLES,
}


if __name__ == "__main__":
    for path in PAGES_WITH_TABLES:
        path.write_text(with_tables(path.read_text("utf-8")), "utf-8")
