"""Nothing that is not closed enters a store over SQL, whoever appends or imports."""

from pathlib import Path
from typing import Any

import pytest
from tests.store.places import draft, opened_at

from episodic_absa.errors import LeakageError
from episodic_absa.memory.advice.principles import load_catalogue
from episodic_absa.memory.episodes.leak_guard import store_guard
from episodic_absa.schemas.stored.memory_v1_3 import AnsweredPairV1_3, AnswerV1_3, VerdictV1_3
from episodic_absa.serialization.canonical_json import canonical_json

GUARD = store_guard(load_catalogue(), context={"kind": ("billing", "outage")})
SENTENCE = "the room that we had booked was cold"
JUDGED = {"aspects_norm": [SENTENCE], "confidence": 0.5, "polarities": {SENTENCE: "negative"}}


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"case_summary__symptom": SENTENCE}, "case_summary.symptom"),
        ({"case_summary__rationale_summary": SENTENCE}, "case_summary.rationale_summary"),
        ({"case_summary__target_aspect_type": SENTENCE}, "case_summary.target_aspect_type"),
        ({"correction__corrective_principle": SENTENCE}, "correction.corrective_principle"),
        ({"correction__applicable_conditions": [SENTENCE]}, "correction.applicable_conditions"),
        ({"input_signature__contrast_marker": SENTENCE}, "input_signature.contrast_marker"),
        ({"stage_snapshot": {"final": JUDGED, "stage1": JUDGED}}, "stage_snapshot.stage1"),
        ({"action_taken": "room_was_cold"}, "action_taken"),
        ({"context": {"kind": "room_was_cold"}}, "context"),
        ({"context": {"mood": "billing"}}, "context"),
        ({"context": {"gold": "billing"}}, "context"),
    ],
)
def test_an_episode_with_open_words_is_refused_on_append_and_on_import(
    tmp_path: Path, changed: dict[str, Any], field: str
) -> None:
    hostile = draft(1, **changed)
    path = tmp_path / "store.sqlite"
    with opened_at(path, guard=GUARD) as store, pytest.raises(LeakageError) as error:
        store.append(hostile)
    assert error.value.field == field
    assert not path.exists()
    file = tmp_path / "imported.jsonl"
    file.write_text(canonical_json({**hostile.model_dump(mode="json"), "episode_id": "epi_000001"}) + "\n")
    with opened_at(file, guard=GUARD) as store, pytest.raises(LeakageError):
        len(store)
    assert list(tmp_path.iterdir()) == [file]


def test_closed_words_are_admitted(tmp_path: Path) -> None:
    with opened_at(tmp_path / "store.sqlite", guard=GUARD) as store:
        store.append(draft(1, context={"kind": "billing"}))
        store.append_verdict(VerdictV1_3(source_id="r", aspect="room", verdict="right"))
        store.append_verdict(VerdictV1_3(source_id="r", verdict="all_right"))
        assert len(store) == 1


def test_a_verdict_and_an_answer_hold_short_terms_alone(tmp_path: Path) -> None:
    pairs = (AnsweredPairV1_3(aspect=SENTENCE, p=0.5, polarity="negative"),)
    with opened_at(tmp_path / "store.sqlite", guard=GUARD) as store:
        with pytest.raises(LeakageError):
            store.append_verdict(VerdictV1_3(source_id="r", aspect=SENTENCE, verdict="right"))
        with pytest.raises(LeakageError):
            store.append_answers([AnswerV1_3(source_id="r", language="en", pairs=pairs)])
        assert not store.exists()
