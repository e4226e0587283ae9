"""docs/extending.md names files that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "episodic_absa"
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
_FILE = r"(?:[\w.]+/)*[\w.]+\.(?:py|ya?ml|md|toml|txt|jinja|json|js)"
IN_THE_ROOT = ("CHANGELOG.md", "src/", "pyproject.toml", "docs/", "tests/", "examples/", "training/")


def named_files() -> set[str]:
    in_prose = re.findall(rf"`(?:python )?((?:[\w.]+/)+|{_FILE})`", PAGE)
    in_examples = [name for name, is_new in re.findall(rf"^ # ({_FILE})(.*\(new\))?", PAGE, re.MULTILINE) if not is_new]
    # The prompts of a speaker ISC stand for some that do not exist yet.
    return {name for name in (*in_prose, *in_examples) if "isc." not in name}


@pytest.mark.parametrize("name", sorted(named_files()))
def test_every_file_named_on_the_page_exists(name: str) -> None:
    home = ROOT if name.startswith(IN_THE_ROOT) else PACKAGE
    assert (home / name).exists()


@pytest.mark.parametrize(
    "extension",
    [
        "backend",
        "condition flag",
        "principle",
        "metric",
        "loader",
        "debate speaker",
        "type of risk",
        "field of an episode",
        "provider",
        "plot",
        "CLI command",
        "language",
    ],
)
def test_every_kind_of_extension_stands_in_the_table(extension: str) -> None:
    assert re.search(rf"^\| an? {extension}\b", PAGE, re.MULTILINE)


def test_the_common_extensions_touch_at_most_three_files() -> None:
    rows = re.findall(r"^\| an? ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)
    few = {what: files for what, files in rows if not re.match(r"\d|many|none", files)}
    assert few
    assert {what: files for what, files in few.items() if len(files.split(",")) > 3} == {}
