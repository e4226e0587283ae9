"""Version 0.2's recordings of a real model replay today: every request is the same, and so are the final pairs.

Only the questions that follow from decisions may differ: the reader has a voice in those."""

from pathlib import Path

import pytest
from tests.goldens.differences import differences, told
from tests.goldens.grids import GRIDS
from tests.goldens.recordings import CONDITIONS, FOLLOWING, read_pairs, recorded_keys, replay
from tests.goldens.told_differences import agree


@pytest.mark.parametrize("rules", GRIDS)
def test_a_recording_of_0_2_replays_without_a_miss_and_ends_with_its_pairs(rules: str, tmp_path: Path) -> None:
    cells, noted = replay(rules, tmp_path)
    assert {question.split(": ")[1].split()[0] for question in noted.unanswered} <= {FOLLOWING}
    asked = {
        condition: {key for keys in noted.keys[condition].values() for role, key in keys if role != FOLLOWING}
        for condition in CONDITIONS[rules]
    }
    assert set().union(*asked.values()) == recorded_keys(rules)
    assert asked["C2_silent"] == asked["C2_eval_only"] == asked["C1"]
    agreed = agree(read_pairs(rules), cells)
    found = differences(agreed.golden, agreed.actual)
    assert not found, f"\n{told(found)}\nIf they are intended, tests/goldens/DIFFERENCES.md says what to do."
