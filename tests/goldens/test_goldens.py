"""What both rule sets record, decide and ask is what it was, byte by byte, but for a told list."""

from pathlib import Path
from typing import Any

import pytest
from tests.goldens.differences import differences, told, without_rounding
from tests.goldens.files import DIFFERENCES, indexed, read_grid, state
from tests.goldens.grids import GRIDS, KEYS, UNANSWERED, UNREADABLE, run_grid
from tests.goldens.lines import Line, as_bytes
from tests.goldens.told_differences import TOLD_DIFFERENCES, ToldDifference, agree


@pytest.mark.parametrize("grid", GRIDS)
def test_a_run_equals_its_golden_but_for_the_told_differences(grid: str, tmp_path: Path) -> None:
    agreed = agree(read_grid(grid), without_rounding(read_grid(grid), run_grid(grid, tmp_path)))
    found = differences(agreed.golden, agreed.actual)
    assert not found, f"\n{told(found)}\nIf they are intended, tests/goldens/DIFFERENCES.md says what to do."
    for cell, lines in agreed.golden.items():
        assert as_bytes(lines) == as_bytes(agreed.actual[cell])


def test_every_told_difference_has_an_effect() -> None:
    committed = {cell: lines for grid in indexed() for cell, lines in read_grid(grid).items()}
    # An added field stands in no golden; only a run could show whether it is still added.
    told_of_goldens = [entry for entry in TOLD_DIFFERENCES if entry.change != "added"]
    assert agree(committed, {}, told_of_goldens).without_effect == []


def test_the_state_of_the_goldens_is_written_down() -> None:
    assert f"Goldens: {state()}" in DIFFERENCES.read_text("utf-8")


def test_the_goldens_hold_what_they_are_there_for() -> None:
    for grid, cells in ((grid, read_grid(grid)) for grid in GRIDS):
        outputs = values(cells[f"{grid}.C2"], "outputs.jsonl")
        ok = [output for output in outputs.values() if output["status"] == "ok"]
        assert {output["meta"]["language_code"] for output in ok} == {"en", "ko"}
        # Nobody changes what the reader says.
        assert {output["moderator"]["selected_stage"] for output in ok} == {"stage1"}
        assert {output["meta"]["store_decision"] for output in ok} == {"stored", "skipped"}
        memory = [output["meta"]["memory"] for output in ok]
        assert sum(read["retrieved_k"] > 0 for read in memory) > len(memory) / 2
        assert {read["injection_trigger_reason"] is None for read in memory} == {True, False}
        assert outputs[UNANSWERED[1]]["status"] == "error"
        asked = values(cells[f"{grid}.C2"], KEYS)[UNREADABLE[1]]
        assert sum(role == UNREADABLE[0] for role, _ in asked) == 2
        for unexposed in ("C2_silent", "C2_eval_only"):
            assert values(cells[f"{grid}.{unexposed}"], KEYS).items() >= values(cells[f"{grid}.C1"], KEYS).items()


def values(lines: list[Line], file: str) -> dict[str, Any]:
    return {line.name: line.value for line in lines if line.file == file}


GOLDEN = {"a.C1": [Line("outputs.jsonl", "u1", {"kept": 1, "old": [{"x": 1, "y": 2}], "name": "n"})]}


def changed(**fields: Any) -> dict[str, list[Line]]:
    [line] = GOLDEN["a.C1"]
    return {"a.C1": [line._replace(value={**line.value, **fields})]}


def test_numbers_that_differ_by_rounding_alone_are_no_difference() -> None:
    golden = {"a.C1": [Line("outputs.jsonl", "u1", {"p": [0.512, 2], "q": 0.3})]}
    near = {"a.C1": [Line("outputs.jsonl", "u1", {"p": [0.513, 2], "q": 0.3})]}
    far = {"a.C1": [Line("outputs.jsonl", "u1", {"p": [0.53, 2], "q": 0.3})]}
    assert without_rounding(golden, near) == golden
    assert without_rounding(golden, far) == far


def test_a_difference_names_review_place_and_both_values() -> None:
    [found] = differences(GOLDEN, changed(old=[{"x": 1, "y": "new"}]))
    assert str(found) == 'a.C1  u1  outputs.jsonl:old[].y\n    before: 2\n    after:  "new"'
    assert differences(GOLDEN, GOLDEN) == []
    [gone] = differences(GOLDEN, {"a.C1": []})
    assert (gone.path, gone.after) == ("", "(absent)")


@pytest.mark.parametrize(
    ("entry", "actual"),
    [
        (ToldDifference("dropped", "outputs.jsonl:old[].y", "why"), changed(old=[{"x": 1}])),
        (ToldDifference("added", "*.jsonl:new", "why"), changed(new=3)),
        (ToldDifference("renamed", "outputs.jsonl:old[].y", "why", to="z"), changed(old=[{"x": 1, "z": 2}])),
        (ToldDifference("changed", "outputs.jsonl:name", "why", cells="a.*", lines="u*"), changed(name="m")),
        (ToldDifference("dropped", "outputs.jsonl:", "why", lines="u1"), {"a.C1": []}),
    ],
)
def test_told_differences_are_allowed_and_no_others(entry: ToldDifference, actual: Any) -> None:
    assert differences(GOLDEN, actual)
    agreed = agree(GOLDEN, actual, [entry])
    assert differences(agreed.golden, agreed.actual) == []
    assert agreed.without_effect == []
    other = {cell: [line._replace(value={**line.value, "kept": 2}) for line in lines] for cell, lines in actual.items()}
    agreed = agree(GOLDEN, other, [entry])
    assert [found.path for found in differences(agreed.golden, agreed.actual)] == ["kept" for _ in actual["a.C1"]]
    elsewhere = entry._replace(cells="b.*")
    assert agree(GOLDEN, actual, [elsewhere]).without_effect == [elsewhere]
