"""`make checklist`: only a mark on a test that runs counts, and an item without one fails."""

import io
from pathlib import Path

import pytest
from tests.checklist_coverage import ITEM_COUNT, Coverage, marks_of, read_coverage, show

ABOVE = "# CHECKLIST 7, 9\ndef test_it() -> None:\n    assert True\n"


def items_that_count(source: str) -> list[int]:
    return [item for mark in marks_of(source, "test_x.py") if not mark.defect for item in mark.items]


def defects_of(source: str) -> list[str]:
    return [mark.defect for mark in marks_of(source, "test_x.py") if mark.defect]


@pytest.mark.parametrize(
    "source",
    [
        ABOVE,
        "# Why.\n" + ABOVE,
        "# CHECKLIST 7, 9\n@mark\n@other(\n    1,\n)\ndef test_it() -> None:\n    assert True\n",
        "@mark\n# CHECKLIST 7, 9\ndef test_it() -> None:\n    assert True\n",
        "def test_it(\n    a: int,\n) -> None:  # CHECKLIST 7, 9\n    assert a\n",
        "def test_it() -> None:\n    # CHECKLIST 7, 9\n    assert True\n",
        "class TestIt:\n    # CHECKLIST 7, 9\n    async def test_it(self) -> None:\n        assert True\n",
        "# CHECKLIST 7, 9\n@pytest.mark.torture\n@pytest.mark.skipif(here)\ndef test_it() -> None:\n    assert True\n",
    ],
)
def test_a_mark_counts_above_or_inside_a_test(source: str) -> None:
    assert items_that_count(source) == [7, 9]
    assert defects_of(source) == []


def test_a_range_names_each_of_its_items() -> None:
    assert items_that_count(ABOVE.replace("7, 9", "7-9, 12")) == [7, 8, 9, 12]


@pytest.mark.parametrize(
    ("source", "defect"),
    [
        (ABOVE.replace("test_it", "helper"), "it stands on no test function"),
        (ABOVE.replace("\ndef", "\n\n\ndef"), "it stands on no test function"),
        (ABOVE.replace("\ndef", "\nTABLE = 1\ndef"), "it stands on no test function"),
        (ABOVE.replace("def", "class Test:\n    pass\n\n\ndef"), "it stands on no test function"),
        ("def helper() -> None:\n    # CHECKLIST 7\n    def test_it() -> None: ...\n", "it stands on no test function"),
        ("class Helper:\n    # CHECKLIST 7\n    def test_it(self) -> None: ...\n", "it stands on no test function"),
        (ABOVE.replace("def", '@pytest.mark.skip(reason="later")\ndef'), "its test is skipped or expected to fail"),
        (ABOVE.replace("def", "@pytest.mark.xfail\ndef"), "its test is skipped or expected to fail"),
        ("pytestmark = pytest.mark.skip\n\n\n" + ABOVE, "its test is skipped or expected to fail"),
        (ABOVE.replace("7, 9", str(ITEM_COUNT + 1)), f"it names no item from 1 to {ITEM_COUNT}"),
        (ABOVE.replace("7, 9", "0"), f"it names no item from 1 to {ITEM_COUNT}"),
        (ABOVE.replace("7, 9", "seven"), f"it names no item from 1 to {ITEM_COUNT}"),
    ],
)
def test_a_mark_that_proves_nothing_is_a_defect(source: str, defect: str) -> None:
    assert items_that_count(source) == []
    assert defects_of(source) == [defect]


def test_a_mark_in_a_string_is_no_mark() -> None:
    assert list(marks_of(f"TEXT = {ABOVE!r}\n", "test_x.py")) == []


def test_files_are_read_at_every_depth_and_helpers_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "test_one.py").write_text(ABOVE, "utf-8")
    (tmp_path / "builders.py").write_text(ABOVE.replace("7, 9", "8"), "utf-8")
    coverage = read_coverage(tmp_path)
    assert coverage.tests == {7: ["deep/test_one.py::test_it"], 9: ["deep/test_one.py::test_it"]}
    assert coverage.defects == []
    assert coverage.without_test() == [item for item in range(1, ITEM_COUNT + 1) if item not in (7, 9)]


def test_the_last_line_counts_the_items_with_a_test() -> None:
    out = io.StringIO()
    coverage = Coverage({item: ["test_x.py::test_it"] for item in range(1, ITEM_COUNT + 1)}, [])
    show(coverage, out)
    lines = out.getvalue().splitlines()
    assert lines[-1] == f"{ITEM_COUNT} of {ITEM_COUNT} items have a test."
    assert coverage.without_test() == []


def test_every_item_has_a_test_and_every_mark_counts() -> None:
    coverage = read_coverage()
    assert coverage.without_test() == []
    assert coverage.defects == []
