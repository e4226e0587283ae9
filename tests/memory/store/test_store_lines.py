"""A line of the store is the canonical JSON of its episode, whichever way it was written."""

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.stored_lines import entries_of

from episodic_absa.language import norm
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.episodes.leak_guard import stored_term
from episodic_absa.schemas import memory_v1_1, memory_v1_2
from episodic_absa.serialization.canonical_json import canonical_json

EPISODE = json.loads((Path(__file__).parents[1] / "episode.json").read_text("utf-8"))
CONFIDENCES = st.floats(0, 1) | st.sampled_from([0.0, -0.0, 1.0, 1e-6, 5e-5, 0.0001, 0.123456, 0.1234565])
TERMS = st.sampled_from(["episode_type", "음식", "a/b", "zeta", "alpha", "\U0001f600", "맛\u2028집"]) | st.text(
    max_size=8
)


def snapshot(terms: list[str], confidence: float) -> dict[str, Any]:
    stored = [term for term in map(norm, terms) if norm(term) == stored_term(term) == term]
    return {"aspects_norm": stored, "polarities": dict.fromkeys(stored, "negative"), "confidence": confidence}


@settings(max_examples=150, deadline=None)
@given(st.lists(TERMS, max_size=4), st.lists(TERMS, max_size=4), CONFIDENCES, CONFIDENCES)
def test_a_line_is_the_canonical_json_of_its_episode(
    before: list[str], after: list[str], sure_before: float, sure_after: float
) -> None:
    episode = copy.deepcopy(EPISODE)
    episode["stage_snapshot"] = {"stage1": snapshot(before, sure_before), "final": snapshot(after, sure_after)}
    with tempfile.TemporaryDirectory() as folder, MemoryStore(Path(folder) / "store.jsonl") as store:
        entry = store.append(episode)
        assert entries_of(Path(folder) / "store.jsonl") == [canonical_json(entry).encode()]
        assert store.get(entry.episode_id) == entry


EPISODE_PARTS = [
    memory_v1_1.EpisodeDraftV1_1,
    memory_v1_1.InputSignatureV1_1,
    memory_v1_1.CaseSummaryV1_1,
    memory_v1_1.StageSnapshotV1_1,
    memory_v1_1.SnapshotV1_1,
    memory_v1_1.CorrectionV1_1,
    memory_v1_1.EvaluationV1_1,
    memory_v1_1.RiskVectorV1_1,
    memory_v1_1.OutcomeDeltaV1_1,
    memory_v1_1.ProvenanceV1_1,
    memory_v1_2.EpisodeDraftV1_2,
    memory_v1_2.ChangeOutcomeV1_2,
    memory_v1_2.TallyV1_2,
    memory_v1_2.VerdictV1_2,
]


@pytest.mark.parametrize("model", EPISODE_PARTS)
def test_the_parts_of_an_episode_list_their_fields_in_canonical_order(model: type[BaseModel]) -> None:
    assert list(model.model_fields) == sorted(model.model_fields)
