"""The models are frozen, refuse what they do not know, and agree with the shipped JSON Schema files."""

import copy
import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from tests.schemas.json_schema_files import SCHEMA_FOLDER

from episodic_absa.schemas.memory_v1_1 import (
    AdvisoryBundleMetaV1_1,
    AdvisoryBundleV1_1,
    AdvisoryConstraintsV1_1,
    AdvisoryV1_1,
    EpisodicMemoryEntryV1_1,
    EvidenceV1_1,
    InputSignatureV1_1,
)
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2, EpisodicMemoryEntryV1_2, TallyV1_2, VerdictV1_2
from episodic_absa.serialization.canonical_json import canonical_json

EPISODE: dict[str, Any] = {
    **json.loads(Path(__file__).parents[1].joinpath("memory", "episode.json").read_text(encoding="utf-8")),
    "schema_version": "1.1",
    "episode_type": "neutral",
    "episode_id": "epi_000001",
}
del EPISODE["outcome"]
STATS: dict[str, Any] = {"historical_count": 2, "consistency_score": 0.5, "variance": 0.25}
EVIDENCE: dict[str, Any] = {
    "source_episode_ids": ["epi_000001"],
    "risk_tags": ["CONTRAST_SCOPE", "IRONY"],
    "principle_id": "P-GEN-01",
    "risk_before_tags": [],
    "risk_after_tags": [],
    "stats": STATS,
}
CONSTRAINTS: dict[str, Any] = {"no_label_hint": True, "no_forcing": True, "no_confidence_boost": True}
ADVISORY: dict[str, Any] = {
    "schema_version": "1.1",
    "advisory_id": "adv_000001",
    "advisory_type": "consistency_anchor",
    "message": "Look twice.",
    "strength": "weak",
    "relevance_score": 0.5,
    "evidence": EVIDENCE,
    "constraints": CONSTRAINTS,
}
META: dict[str, Any] = {"memory_mode": "on", "topk": 3, "masked_injection": False, "retrieval_executed": True}
BUNDLE: dict[str, Any] = {
    "schema_version": "1.1",
    "memory_on": True,
    "retrieved": [ADVISORY],
    "warnings": ["Do not hurry."],
    "meta": META,
}
CHANGE: dict[str, Any] = {"adopted": True, "kind": "flip", "outcome": "confirmed", "outcome_by": "reader"}
EPISODE_1_2: dict[str, Any] = {
    **EPISODE,
    "schema_version": "1.2",
    "changes": [CHANGE],
    "outcome": "confirmed",
    "outcome_by": "reader",
}
TALLY: dict[str, Any] = {
    "kind": "tally",
    "language": "en",
    "schema_version": "1.2",
    "source_id": "r1",
    "terms": ["room"],
}
VERDICT: dict[str, Any] = {
    "aspect": None,
    "kind": "verdict",
    "schema_version": "1.2",
    "source_id": "r1",
    "verdict": "right",
}
OBJECTS: dict[type[BaseModel], dict[str, Any]] = {
    InputSignatureV1_1: EPISODE["input_signature"],
    EpisodicMemoryEntryV1_1: EPISODE,
    EpisodicMemoryEntryV1_2: EPISODE_1_2,
    ChangeOutcomeV1_2: CHANGE,
    TallyV1_2: TALLY,
    VerdictV1_2: VERDICT,
    EvidenceV1_1: EVIDENCE,
    AdvisoryConstraintsV1_1: CONSTRAINTS,
    AdvisoryV1_1: ADVISORY,
    AdvisoryBundleMetaV1_1: META,
    AdvisoryBundleV1_1: BUNDLE,
}
FILES: dict[type[BaseModel], str] = {
    InputSignatureV1_1: "input_signature_v1_1.json",
    EpisodicMemoryEntryV1_1: "episodic_memory_entry_v1_1.json",
    EpisodicMemoryEntryV1_2: "episodic_memory_entry_v1_2.json",
    ChangeOutcomeV1_2: "change_outcome_v1_2.json",
    TallyV1_2: "tally_v1_2.json",
    VerdictV1_2: "verdict_v1_2.json",
    EvidenceV1_1: "evidence_v1_1.json",
    AdvisoryConstraintsV1_1: "advisory_constraints_v1_1.json",
    AdvisoryV1_1: "advisory_v1_1.json",
    AdvisoryBundleMetaV1_1: "advisory_bundle_meta_v1_1.json",
    AdvisoryBundleV1_1: "advisory_bundle_v1_1.json",
}
each_model = pytest.mark.parametrize("model", list(OBJECTS), ids=lambda model: model.__name__)


@functools.cache
def validator_of(model: type[BaseModel]) -> Any:
    schema = json.loads((SCHEMA_FOLDER / FILES[model]).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def schema_accepts(model: type[BaseModel], value: Any) -> bool:
    return bool(validator_of(model).is_valid(value))


def model_accepts(model: type[BaseModel], value: Any) -> bool:
    """Ask in both ways a value may come: as Python objects and as JSON text."""
    answers = set()
    readers: tuple[Callable[[], object], ...] = (
        lambda: model.model_validate(value),
        lambda: model.model_validate_json(json.dumps(value)),
    )
    for reader in readers:
        try:
            reader()
            answers.add(True)
        except ValidationError:
            answers.add(False)
    (answer,) = answers
    return answer


def dict_places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        if path[-1:] != ("polarities",):
            yield path
        for key, child in value.items():
            yield from dict_places(child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from dict_places(child, (*path, index))


def changed(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    tree = copy.deepcopy(value)
    there = tree
    for key in path[:-1]:
        there = there[key]
    there[path[-1]] = new
    return tree


@each_model
def test_a_valid_object_is_accepted_by_model_and_schema_and_comes_back_the_same(model: type[BaseModel]) -> None:
    value = OBJECTS[model]
    assert schema_accepts(model, value)
    assert model_accepts(model, value)
    written = json.loads(canonical_json(model.model_validate(value)))
    assert written == value
    assert schema_accepts(model, written)


@each_model
def test_an_unknown_key_is_refused_at_every_depth_by_model_and_schema(model: type[BaseModel]) -> None:
    for path in dict_places(OBJECTS[model]):
        for key in ("surprise", "accuracy", "mode_decision", "correctness", "gold", "created_at"):
            value = changed(OBJECTS[model], (*path, key), 1)
            assert not model_accepts(model, value), (path, key)
            assert not schema_accepts(model, value), (path, key)


@each_model
def test_a_model_cannot_be_changed(model: type[BaseModel]) -> None:
    value = model.model_validate(OBJECTS[model])
    for name in model.model_fields:
        with pytest.raises(ValidationError):
            setattr(value, name, getattr(value, name))


REFUSED: list[tuple[type[BaseModel], tuple[str | int, ...], Any]] = [
    *[(AdvisoryConstraintsV1_1, (name,), bad) for name in CONSTRAINTS for bad in (False, None, 1, "true")],
    *[(AdvisoryBundleV1_1, ("retrieved", 0, "constraints", name), False) for name in CONSTRAINTS],
    *[(EpisodicMemoryEntryV1_1, ("provenance", "has_gold"), bad) for bad in (True, None, 0, "false")],
    *[
        (EpisodicMemoryEntryV1_1, ("episode_id",), bad)
        for bad in ("epi_1", "epi_00001", "EPI_000001", "epi_00000a", "epi_000001 ", "xepi_000001", "", 1, None)
    ],
    (EpisodicMemoryEntryV1_1, ("schema_version",), "1.0"),
    (EpisodicMemoryEntryV1_1, ("schema_version",), 1.1),
    (EpisodicMemoryEntryV1_1, ("provenance", "version"), "1.2"),
    (EpisodicMemoryEntryV1_1, ("episode_type",), "failure"),
    (EpisodicMemoryEntryV1_1, ("error_category",), []),
    (EpisodicMemoryEntryV1_1, ("error_category",), ["typo"]),
    (EpisodicMemoryEntryV1_1, ("risk_type",), "none"),
    (EpisodicMemoryEntryV1_1, ("action_taken",), "flip"),
    (EpisodicMemoryEntryV1_1, ("case_summary", "symptom"), "x" * 501),
    (EpisodicMemoryEntryV1_1, ("case_summary", "rationale_summary"), "x" * 501),
    (EpisodicMemoryEntryV1_1, ("correction", "corrective_principle"), "x" * 401),
    (EpisodicMemoryEntryV1_1, ("correction", "anti_pattern"), "x" * 201),
    (EpisodicMemoryEntryV1_1, ("correction", "applicable_conditions"), []),
    (EpisodicMemoryEntryV1_1, ("stage_snapshot", "final", "confidence"), 1.01),
    (EpisodicMemoryEntryV1_1, ("stage_snapshot", "final", "confidence"), -0.01),
    (EpisodicMemoryEntryV1_1, ("stage_snapshot", "final", "confidence"), "0.5"),
    (EpisodicMemoryEntryV1_1, ("stage_snapshot", "final", "polarities"), {"battery": "mixed"}),
    (EpisodicMemoryEntryV1_1, ("stage_snapshot", "final", "polarities"), {"battery": None}),
    (EpisodicMemoryEntryV1_1, ("evaluation", "risk_before", "severity_sum"), -1),
    (EpisodicMemoryEntryV1_1, ("evaluation", "risk_before", "tags"), ["IRONY", "IRONY"]),
    (EpisodicMemoryEntryV1_1, ("evaluation", "risk_before", "tags"), ["NEGATION"]),
    (EpisodicMemoryEntryV1_1, ("evaluation", "override_applied"), "yes"),
    (EpisodicMemoryEntryV1_1, ("evaluation", "override_applied"), None),
    (EpisodicMemoryEntryV1_1, ("outcome_delta", "delta_risk"), 0.5),
    (EpisodicMemoryEntryV1_1, ("provenance", "created_from_split"), "dev"),
    (EpisodicMemoryEntryV1_1, ("provenance", "sample_index"), -1),
    (EpisodicMemoryEntryV1_1, ("provenance", "source_id"), None),
    (EpisodicMemoryEntryV1_2, ("schema_version",), "1.1"),
    (EpisodicMemoryEntryV1_2, ("outcome",), "success"),
    (EpisodicMemoryEntryV1_2, ("outcome_by",), "gold"),
    (EpisodicMemoryEntryV1_2, ("changes",), [{**CHANGE, "polarity": "positive"}]),
    (EpisodicMemoryEntryV1_2, ("changes",), [{**CHANGE, "aspect_term": "room"}]),
    (ChangeOutcomeV1_2, ("kind",), "merge"),
    (ChangeOutcomeV1_2, ("outcome_by",), "person"),
    (ChangeOutcomeV1_2, ("adopted",), 1),
    (VerdictV1_2, ("verdict",), "positive"),
    (VerdictV1_2, ("source_id",), ""),
    (VerdictV1_2, ("kind",), "tally"),
    (TallyV1_2, ("language",), "fr"),
    (InputSignatureV1_1, ("language",), "fr"),
    (InputSignatureV1_1, ("language",), "unknown"),
    (InputSignatureV1_1, ("detected_structure",), []),
    (InputSignatureV1_1, ("detected_structure",), ["none", "negation"]),
    (InputSignatureV1_1, ("detected_structure",), ["contrast", "negation"]),
    (InputSignatureV1_1, ("detected_structure",), ["negation", "negation"]),
    (InputSignatureV1_1, ("num_aspects",), -1),
    (InputSignatureV1_1, ("length_bucket",), "tiny"),
    *[(AdvisoryV1_1, ("advisory_id",), bad) for bad in ("adv_1", "adv_0000001", "adv_00000x", "")],
    (AdvisoryV1_1, ("advisory_type",), "hint"),
    (AdvisoryV1_1, ("message",), ""),
    (AdvisoryV1_1, ("message",), "x" * 801),
    (AdvisoryV1_1, ("strength",), "high"),
    (AdvisoryV1_1, ("relevance_score",), 1.5),
    (AdvisoryV1_1, ("relevance_score",), -0.1),
    (EvidenceV1_1, ("stats", "historical_count"), 0),
    (EvidenceV1_1, ("stats", "consistency_score"), 1.1),
    (EvidenceV1_1, ("stats", "variance"), -0.1),
    (EvidenceV1_1, ("stats",), {"historical_count": 1, "consistency_score": 1.0}),
    (EvidenceV1_1, ("risk_tags",), ["L3"]),
    (EvidenceV1_1, ("source_episode_ids",), ["7"]),
    (AdvisoryBundleV1_1, ("retrieved",), [ADVISORY] * 4),
    (AdvisoryBundleV1_1, ("warnings",), ["x"] * 6),
    (AdvisoryBundleV1_1, ("warnings",), ["x" * 201]),
    (AdvisoryBundleV1_1, ("memory_on",), "on"),
    (AdvisoryBundleMetaV1_1, ("memory_mode",), True),
    (AdvisoryBundleMetaV1_1, ("memory_mode",), "enabled"),
    (AdvisoryBundleMetaV1_1, ("topk",), 4),
    (AdvisoryBundleMetaV1_1, ("topk",), -1),
]


@pytest.mark.parametrize(
    ("model", "path", "bad"),
    REFUSED,
    ids=[f"{m.__name__}-{'.'.join(map(str, p))}-{str(b)[:12]}" for m, p, b in REFUSED],
)
def test_a_value_outside_the_specification_is_refused_by_model_and_schema(
    model: type[BaseModel], path: tuple[str | int, ...], bad: Any
) -> None:
    value = changed(OBJECTS[model], path, bad)
    assert not model_accepts(model, value)
    assert not schema_accepts(model, value)


@pytest.mark.parametrize("name", ["risk_tags", "risk_before_tags", "risk_after_tags"])
def test_risk_tags_must_be_sorted(name: str) -> None:
    assert not model_accepts(EvidenceV1_1, {**EVIDENCE, name: ["IRONY", "CONTRAST_SCOPE"]})


ACCEPTED: list[tuple[type[BaseModel], tuple[str | int, ...], Any]] = [
    (EpisodicMemoryEntryV1_1, ("episode_id",), "epi_1000000"),
    (EpisodicMemoryEntryV1_1, ("case_summary", "symptom"), "x" * 500),
    (EpisodicMemoryEntryV1_1, ("correction", "anti_pattern"), None),
    (EpisodicMemoryEntryV1_1, ("correction", "anti_pattern"), "가" * 200),
    (EpisodicMemoryEntryV1_1, ("outcome_delta", "delta_risk"), -7),
    (EpisodicMemoryEntryV1_1, ("outcome_delta", "conflict_resolved"), False),
    (EpisodicMemoryEntryV1_1, ("provenance", "seed"), -1),
    (InputSignatureV1_1, ("has_negation",), None),
    (InputSignatureV1_1, ("contrast_marker",), "하지만"),
    (InputSignatureV1_1, ("detected_structure",), ["negation", "contrast", "irony"]),
    (AdvisoryV1_1, ("message",), "x" * 800),
    (AdvisoryV1_1, ("relevance_score",), 1.0),
    (EvidenceV1_1, ("stats",), None),
    (AdvisoryBundleV1_1, ("warnings",), ["x" * 200] * 5),
    (AdvisoryBundleV1_1, ("retrieved",), [ADVISORY] * 3),
    (AdvisoryBundleMetaV1_1, ("topk",), 0),
]


@pytest.mark.parametrize(("model", "path", "good"), ACCEPTED)
def test_a_value_at_the_edge_of_the_specification_is_accepted_by_model_and_schema(
    model: type[BaseModel], path: tuple[str | int, ...], good: Any
) -> None:
    value = changed(OBJECTS[model], path, good)
    assert model_accepts(model, value)
    assert schema_accepts(model, value)


def test_constraints_are_true_without_being_said() -> None:
    assert AdvisoryConstraintsV1_1().model_dump() == CONSTRAINTS
    bare = {name: value for name, value in ADVISORY.items() if name != "constraints"}
    assert AdvisoryV1_1.model_validate(bare).constraints == AdvisoryConstraintsV1_1()


@pytest.mark.parametrize(
    "path", [path for path in dict_places(EPISODE) if path], ids=lambda path: ".".join(map(str, path))
)
def test_no_block_of_an_entry_may_be_missing(path: tuple[str | int, ...]) -> None:
    tree = copy.deepcopy(EPISODE)
    there = tree
    for key in path[:-1]:
        there = there[str(key)]
    del there[str(path[-1])]
    assert not model_accepts(EpisodicMemoryEntryV1_1, tree)
    assert not schema_accepts(EpisodicMemoryEntryV1_1, tree)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e6, 1e6) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


def rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6) + 0.0  # nought has no sign
    if isinstance(value, dict):
        return {key: rounded(child) for key, child in value.items()}
    return [rounded(child) for child in value] if isinstance(value, list) else value


@given(json_values)
def test_canonical_json_is_sorted_compact_unescaped_and_rounded_to_six_places(value: Any) -> None:
    text = canonical_json(value)
    assert text == json.dumps(rounded(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert "\n" not in text
    assert canonical_json(json.loads(text)) == text
