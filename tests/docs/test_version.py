"""The version has one home; what repeats it agrees with it."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import yaml

import episodic_absa

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_installed_package_has_the_version_of_pyproject() -> None:
    assert episodic_absa.__version__ == version("episodic-absa") == PROJECT["version"]


def test_no_source_file_repeats_the_version() -> None:
    sources = (ROOT / "src").rglob("*.py")
    assert [path.name for path in sources if f'"{PROJECT["version"]}"' in path.read_text(encoding="utf-8")] == []


def test_the_citation_names_the_version_and_the_licence_of_pyproject() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])


def test_the_changelog_has_a_section_for_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (.+)$", changelog, re.MULTILINE)
    assert sections[0] == "[Unreleased]"
    assert PROJECT["version"] in sections
