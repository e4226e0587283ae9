"""Which changes of Stage1's pairs decided candidates amount to, and how they are told."""

from typing import Any

import pytest
from hypothesis import given, settings
from tests.pipeline import builders
from tests.pipeline.decision.test_weighing import CONSERVATIVE, candidate, gathered

from episodic_absa.final_tuples import extract_tuples, pairs
from episodic_absa.pipeline.decision import Candidate, apply_changes, changes_of, weigh
from episodic_absa.pipeline.decision.changes import explained, patch_log_of
from episodic_absa.schemas.run_files.candidate_record import DecisionRecord

b: Any = builders


def changes(*candidates: Candidate) -> list[tuple[str, str, bool, bool]]:
    found = changes_of(weigh(candidates, CONSERVATIVE))
    return [(change.kind, change.aspect_term, change.is_proposed, change.is_made) for change in found]


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        ([("food", "positive", "stage1+ judge+")], []),
        ([("food", "positive", "stage1+ tan-")], [("drop", "food", True, False)]),
        ([("food", "positive", "stage1+ tan- judge-")], [("drop", "food", True, True)]),
        (
            [("food", "positive", "stage1+ epm- judge-"), ("food", "negative", "stage1- epm+ judge+")],
            [("flip", "food", True, True)],
        ),
        (
            [("food", "positive", "stage1+ judge-"), ("food", "negative", "stage1- judge+")],
            [("flip", "food", True, False)],
        ),
        ([("service", "negative", "reader+.95")], [("add", "service", False, True)]),
        ([("service", "negative", "reader+.3")], []),
        ([("service", "negative", "tan+ review+")], [("add", "service", True, True)]),
    ],
)
def test_what_candidates_amount_to(candidates: list[Any], expected: list[Any]) -> None:
    assert changes(*(candidate(*fields) for fields in candidates)) == expected


@settings(max_examples=200, deadline=None)
@given(gathered())
def test_stage1_with_the_made_changes_holds_exactly_the_candidates_that_are_in(candidates: list[Candidate]) -> None:
    records = weigh(candidates, CONSERVATIVE)
    held = [b.sentiment(record.aspect_term, record.polarity) for record in records if record.is_of_stage1]
    stage1 = b.stage1_of([b.aspect(item.aspect_term) for item in held], held)
    made = [change for change in changes_of(records) if change.is_made]
    aspects, sentiments = apply_changes(stage1, made)
    taken = {(record.aspect_term, record.polarity) for record in records if record.is_in}
    assert pairs(extract_tuples(sentiments)) == taken
    assert {aspect.aspect_term for aspect in aspects} == {term for term, _ in taken}


def test_every_change_is_told_with_its_witnesses_and_its_reason() -> None:
    records = weigh(
        [candidate("food", "positive", "stage1+ tan-"), candidate("service", "negative", "reader+.95")], CONSERVATIVE
    )
    decision = DecisionRecord(weights="conservative", tau=0.45, candidates=records)
    found = changes_of(records)
    (made,), (refused,) = (explained(found, decision, made=is_made) for is_made in (True, False))
    assert made.change_id == "chg_002"
    assert made.reasoning.startswith("add service negative: p 0.")
    assert "for: reader 0.95; against: nobody" in made.reasoning
    assert refused.reasoning.startswith("drop food positive: p 0.")
    assert "for: Stage1; against: TAN" in refused.reasoning
    assert [(entry.what, entry.applied, entry.reason) for entry in patch_log_of(found)] == [("drop", False, "likely")]
