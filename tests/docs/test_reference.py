"""The documentation and the program name the same commands, options, keys and public names."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.docs.model_keys import config_keys
from tests.docs.page_blocks import PAGES, PROGRAM, ROOT, SITE, Command, blocks, commands_of, name_of
from tests.docs.reference_tables import PAGES_WITH_TABLES, REFERENCE, commands, with_tables

import episodic_absa
from episodic_absa.conditions import load_conditions
from episodic_absa.memory.advice.principles import Principle
from episodic_absa.runs.config import ExperimentFile
from episodic_absa.schemas.overlays import AdviceOverlay

COMMANDS = dict(commands())
OPTIONS = {words: {option for p in command.params for option in p.opts} for words, command in COMMANDS.items()}
KEYS = {key.name for key in config_keys()}
PARTS = {key.rsplit(".", count)[0] for key in KEYS for count in range(3)}
BLOCKS = {key.partition(".")[0] for key in KEYS if "." in key}
HELP = {"--help", "-h"}
OF_SCRIPTS = {
    option
    for folder in ("benchmarks", "training", "tests/torture", "tests/goldens")
    for script in (ROOT / folder).rglob("*.py")
    for option in re.findall(r'"(--[a-z][a-z-]+)"', script.read_text("utf-8"))
}
OF_OTHERS = {"--strict"}
"""Options of other programs that pages name."""


@pytest.mark.parametrize("page", PAGES_WITH_TABLES, ids=name_of)
def test_the_tables_are_those_of_the_program(page: Path) -> None:
    text = page.read_text("utf-8")
    assert with_tables(text) == text, "rewrite the tables: python -m tests.docs.reference_tables"


def test_every_key_of_an_experiment_file_is_explained() -> None:
    assert [key.name for key in config_keys() if not key.meaning] == []


def test_every_command_stands_on_the_page_about_the_command_line() -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    table = page.partition("| Command |")[2].partition("\n\n")[0]
    named = set(re.findall(r"^\| `([a-z]+)` \|", table, re.MULTILINE))
    assert named == {words.split()[1] for words in COMMANDS if " " in words}


def test_every_optional_package_stands_on_the_page_about_the_command_line() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    table = (ROOT / "docs" / "cli.md").read_text("utf-8").partition("| Extra |")[2]
    rows = re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == extras.keys() - {"dev"}


def test_every_public_name_stands_on_the_page_of_the_api() -> None:
    page = (REFERENCE / "api.md").read_text("utf-8")
    assert sorted(re.findall(r"^\.\. auto\w+:: (\w+)$", page, re.MULTILINE)) == episodic_absa.__all__


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_on_the_page_exist_with_their_options(page: Path) -> None:
    ours = [command for command in commands_of(page) if command.is_ours]
    assert [command.words for command in ours if unknown_options(command)] == []


def unknown_options(command: Command) -> set[str]:
    words = max((known for known in COMMANDS if f"{' '.join(command.words)} ".startswith(f"{known} ")), key=len)
    given = {word.partition("=")[0] for word in command.words if re.match(r"--?[a-z]", word)}
    return given - OPTIONS[words] - OPTIONS[PROGRAM] - HELP


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_options_in_the_prose_of_the_page_exist(page: Path) -> None:
    in_code = " ".join(re.findall(r"`([^`\n]+)`", page.read_text("utf-8")))
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", in_code))
    assert named - set().union(*OPTIONS.values()) - HELP - OF_SCRIPTS - OF_OTHERS == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_keys_in_the_prose_of_the_page_exist(page: Path) -> None:
    in_code = re.findall(r"`([^`\n]+)`", page.read_text("utf-8"))
    named = {match[0] for text in in_code if (match := re.match(rf"(?:{'|'.join(BLOCKS)})\.[a-z0-9_.]+", text))}
    files = {name for name in named if re.search(r"\.(?:py|ya?ml|jsonl?|csv|md)$", name)}
    assert named - files - KEYS - PARTS == set()


@pytest.mark.parametrize("page", SITE, ids=name_of)
def test_settings_on_the_page_can_be_read(page: Path, tmp_path: Path) -> None:
    for block in blocks(page):
        if block.language == "json":
            json.loads(block.body)
        elif block.language in ("yaml", "yml"):
            read_settings(yaml.safe_load(block.body), block.body, tmp_path)


def read_settings(document: Any, text: str, folder: Path) -> None:
    """Read a block as what it is: principles, conditions, retired principles or a part of an experiment."""
    if isinstance(document, list):
        for entry in document:
            Principle.model_validate(entry)
    elif "retired" in document:
        assert all(re.fullmatch(r"[A-Z]-[A-Z]+(?:-\d+)?", name) for name in document["retired"])
    elif set(document) == {"advice"}:
        AdviceOverlay.model_validate(document["advice"])
    elif "version" in document:
        (folder / "conditions.yaml").write_text(text, "utf-8")
        load_conditions(folder / "conditions.yaml")
    else:
        whole = {"run_id": "page", "data": {}} | document
        whole["data"] = {"allowed_roots": ["."]} | whole["data"]
        ExperimentFile.model_validate(whole)
