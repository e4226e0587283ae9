"""docs/specification states the values that the package has, and each rule has a name of its own."""

import re
from pathlib import Path

import pytest
from tests.docs.page_blocks import ROOT, name_of
from tests.docs.specification_values import StatedValue, stated_values

SPECIFICATION = sorted((ROOT / "docs" / "specification").glob("*.md"))
WITH_RULES = [page for page in SPECIFICATION if "- **" in page.read_text("utf-8")]


@pytest.mark.parametrize("page", SPECIFICATION, ids=name_of)
def test_the_values_on_the_page_are_those_of_the_package(page: Path) -> None:
    assert [value for value in stated_values(page.read_text("utf-8")) if not value.holds()] == []


def test_every_page_of_rules_has_values_that_are_compared() -> None:
    assert len(WITH_RULES) >= 7
    counts = {page.stem: len(list(stated_values(page.read_text("utf-8")))) for page in WITH_RULES}
    assert [page for page, count in counts.items() if count < 2] == []
    assert sum(counts.values()) > 60


def test_a_value_that_drifts_is_noticed() -> None:
    (right,) = stated_values("at least 0.9<!-- = SURE_READER --> sure")
    (wrong,) = stated_values("at least 0.8<!-- = SURE_READER --> sure")
    assert right == StatedValue("0.9", "SURE_READER")
    assert (right.holds(), wrong.holds()) == (True, False)


@pytest.mark.parametrize("page", WITH_RULES, ids=name_of)
def test_the_rules_of_a_page_are_numbered_without_gaps(page: Path) -> None:
    names = re.findall(r"^- \*\*([A-Z])(\d+)\*\*", page.read_text("utf-8"), re.MULTILINE)
    assert len({letter for letter, _ in names}) == 1
    assert [int(number) for _, number in names] == list(range(1, len(names) + 1))


def test_the_pages_do_not_share_a_letter() -> None:
    letters = [re.findall(r"^- \*\*([A-Z])1\*\*", page.read_text("utf-8"), re.MULTILINE) for page in WITH_RULES]
    assert len({letter for page_letters in letters for letter in page_letters}) == len(WITH_RULES)


def test_a_rule_that_a_page_names_exists() -> None:
    text = "\n".join(page.read_text("utf-8") for page in SPECIFICATION)
    defined = set(re.findall(r"^- \*\*([A-Z]\d+)\*\*", text, re.MULTILINE))
    named = set(re.findall(r"\[([A-Z]\d+)\]\(|\*\*([A-Z]\d+)\*\*", text))
    assert {first or second for first, second in named} - defined == set()
