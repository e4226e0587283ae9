"""What a scorecard and a case trace take over from a sample's result."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.pipeline import builders
from tests.runs.derived_from import derived_from
from tests.schemas.json_schema_files import json_schemas

from episodic_absa.conditions import load_condition
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.memory_v1_1 import RiskVectorV1_1
from episodic_absa.schemas.run_files.scorecard import JudgedSentiment, Scorecard

b: Any = builders
CONDITION = load_condition("C2_silent", "v1_3")
RESOLVED = {"stage2_validator": {"consistency_score": 0.9, "resolved_risk_ids": ["r1"]}}
FLIP = {"aspect_term": "service", "action": "flip_polarity", "revised_polarity": "positive", "reason": "why-flip"}
LOST = {"aspect_term": "zebra", "action": "drop", "reason": "why-lost"}
MISMATCH = RiskVectorV1_1(severity_sum=3, tags=("POLARITY_MISMATCH",))


def run(folder: Path, *answers: dict[str, Any]) -> SampleResult:
    merged: dict[str, Any] = {}
    for table in answers:
        merged |= table
    result: SampleResult = b.run_sample(b.ScriptedBackend(merged), folder / "store.jsonl", condition="C2_silent")
    return result


def card_of(result: SampleResult) -> Scorecard:
    return derived_from(result, CONDITION).card


@pytest.mark.parametrize(
    ("reviews", "adopted", "after"),
    [([FLIP], True, RiskVectorV1_1(severity_sum=0, tags=())), ([], False, MISMATCH)],
    ids=["adopted", "not adopted"],
)
def test_the_risk_after_of_a_scorecard_is_validator2s_only_where_adopted(
    tmp_path: Path, reviews: list[dict[str, Any]], adopted: bool, after: RiskVectorV1_1
) -> None:
    card = card_of(run(tmp_path, b.RISKY_ANSWERS, RESOLVED, {"stage2_atsa": {"reviews": reviews}}))
    assert card.adoption is not None
    assert card.adoption.adopt is adopted
    assert card.risks_s2 == ()
    assert (card.risk_before, card.risk_after) == (MISMATCH, after)


def test_the_components_of_the_evidence_value_are_recorded(tmp_path: Path) -> None:
    result = run(tmp_path, b.RISKY_ANSWERS, RESOLVED, {"stage2_atsa": {"reviews": [FLIP]}})
    components = {"debate_support": 0, "validator_resolved": 1, "grounding": 0, "confidence_gain": 0.05}
    adoption = card_of(result).adoption
    assert adoption is not None
    assert (adoption.components, adoption.ev_score, adoption.ev_threshold) == (components, 0.35, 0.3)
    assert result.to_output()["adoption"]["components"] == components


def test_every_final_tuple_is_judged_in_its_order(tmp_path: Path) -> None:
    sentiments = [
        {"aspect_term": "", "polarity": "negative", "evidence": "never said", "confidence": 0.9},
        {"aspect_term": "service", "polarity": "negative", "evidence": "slow", "confidence": 0.7},
        {"aspect_term": "food", "polarity": "positive", "evidence": "delicious", "confidence": 0.8},
    ]
    result = run(tmp_path, {"atsa": {"sentiments": sentiments}})
    card = card_of(result)

    def judged(term: str, polarity: Any, *, grounded: bool, quoted: bool) -> JudgedSentiment:
        return JudgedSentiment(
            aspect_term=term, polarity=polarity, term_in_text=True, grounded=grounded, evidence_in_text=quoted
        )

    assert card.sentiments_judged == (
        judged("food", "positive", grounded=True, quoted=False),
        judged("service", "negative", grounded=True, quoted=True),
        judged("", "negative", grounded=False, quoted=False),
    )
    assert [final_tuple.aspect_term for final_tuple in card.final_tuples] == ["food", "service", ""]


def test_a_case_trace_obeys_its_schema_and_gives_a_reason_for_every_change(tmp_path: Path) -> None:
    result = run(tmp_path, b.RISKY_ANSWERS, RESOLVED, {"stage2_atsa": {"reviews": [FLIP, LOST]}})
    trace = derived_from(result, CONDITION).trace.case_trace.model_dump(mode="json")
    jsonschema.validate(trace, _schema("case_trace_v1_1.json"))
    (accepted,), (rejected,) = trace["override"]["accepted_changes"], trace["override"]["rejected_changes"]
    assert accepted == {"change_id": "chg_001", "reasoning": "why-flip"}
    assert rejected["change_id"] == "chg_002"
    assert rejected["reasoning"].startswith("why-lost | not applied: ")
    for place in ("accepted_changes", "rejected_changes"):
        silent = {**trace, "override": {**trace["override"], place: [{"change_id": "chg_001", "reasoning": ""}]}}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(silent, _schema("case_trace_v1_1.json"))


def _schema(name: str) -> Any:
    return json.loads(dict(json_schemas())[name])
