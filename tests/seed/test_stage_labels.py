"""The scorecard and the moderator read a stage's label with one rule."""

from pathlib import Path
from typing import Any

import pytest
from tests.pipeline import builders as b
from tests.runs.derived_from import derived_from

from episodic_absa.conditions import load_condition
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.seed import stage_label

# The sentiments stand in the reverse of their order in the text, and share the highest confidence.
TIED_ANSWERS: dict[str, dict[str, Any]] = {
    "atsa": {
        "sentiments": [
            {"aspect_term": "service", "polarity": "negative", "confidence": 0.8},
            {"aspect_term": "food", "polarity": "positive", "confidence": 0.8},
        ]
    }
}
RESOLVED_RISK: dict[str, dict[str, Any]] = {
    **TIED_ANSWERS,
    "validator": {
        "consistency_score": 0.4,
        "structural_risks": [{"type": "POLARITY_MISMATCH", "severity": "high"}],
    },
    "stage2_atsa": {
        "reviews": [{"aspect_term": "price", "action": "add", "revised_polarity": "neutral", "reason": "r"}]
    },
    "stage2_validator": {"consistency_score": 0.9, "resolved_risk_ids": ["r1"]},
}
TIED_AFTER_STAGE2: dict[str, dict[str, Any]] = {
    **RESOLVED_RISK,
    "stage2_atsa": {
        "reviews": [
            {"aspect_term": "service", "action": "flip_polarity", "revised_polarity": "negative", "reason": "r"},
            {"aspect_term": "food", "action": "flip_polarity", "revised_polarity": "positive", "reason": "r"},
        ]
    },
}


def scored(result: SampleResult) -> Scorecard:
    return derived_from(result, load_condition("C1", "v1_3")).card


def test_an_unchanged_tie_gives_both_stages_the_same_label(tmp_path: Path) -> None:
    card = scored(b.run_sample(b.ScriptedBackend(TIED_ANSWERS), tmp_path / "store.jsonl"))
    assert (card.label_s1, card.label_s2, card.label) == ("negative", "negative", "negative")
    assert card.stage_delta is not None
    assert not card.stage_delta.label_changed


@pytest.mark.parametrize("answers", [TIED_ANSWERS, RESOLVED_RISK, TIED_AFTER_STAGE2])
def test_the_scorecard_has_the_labels_the_moderator_reads(answers: dict[str, Any], tmp_path: Path) -> None:
    result = b.run_sample(b.ScriptedBackend(answers), tmp_path / "store.jsonl")
    card = scored(result)
    assert card.label_s1 == stage_label(result.stage1.atsa.sentiments).label
    assert card.label_s2 == stage_label(result.patched_sentiments).label


def test_an_adopted_tie_is_decided_by_the_earliest_sentiment(tmp_path: Path) -> None:
    result = b.run_sample(b.ScriptedBackend(TIED_AFTER_STAGE2), tmp_path / "store.jsonl")
    card = scored(result)
    assert result.adoption.adopt
    assert (result.moderator.label_source, card.label, card.label_s2) == ("stage2", "negative", "negative")
