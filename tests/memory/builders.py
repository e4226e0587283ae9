"""Signatures and episodes in few words. Holds no test."""

import copy
import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, get_args

from episodic_absa.memory.advice.advisory_builder import Spoken, Voice
from episodic_absa.schemas.absa import ModeratorSummary, StructuralRisk
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.vocabulary import (
    ActionTaken,
    AdoptReason,
    ChangeKind,
    EpisodeType,
    Language,
    LengthBucket,
    Polarity,
    RiskId,
    Severity,
    Structure,
)

EPISODE: dict[str, Any] = json.loads(Path(__file__).with_name("episode.json").read_text(encoding="utf-8"))
"""An episode in JSON, without its id."""
NEGATED: tuple[RiskId, ...] = ("NEGATION_SCOPE",)


def risks(*given: tuple[RiskId, Severity]) -> tuple[StructuralRisk, ...]:
    return tuple(
        StructuralRisk(id=f"r{n}", type=kind, severity=severity) for n, (kind, severity) in enumerate(given, 1)
    )


def moderated(*, adopted: bool, reason: AdoptReason | None = None) -> ModeratorSummary:
    return ModeratorSummary(
        label="neutral",
        selected_stage="stage2" if adopted else "stage1",
        adopt_reason=reason or ("debate_action" if adopted else "low_signal"),
    )


def signature(
    language: Language = "en",
    structures: tuple[Structure, ...] = ("negation",),
    *,
    bucket: LengthBucket = "short",
    n: int = 1,
) -> InputSignatureV1_1:
    return InputSignatureV1_1(
        language=language,
        detected_structure=structures,
        has_negation=None if language == "other" else "negation" in structures,
        num_aspects=n,
        length_bucket=bucket,
    )


def numbered(number: int, body: Mapping[str, Any]) -> EpisodicMemoryEntryV1_3:
    return EpisodicMemoryEntryV1_3.model_validate({**body, "episode_id": f"epi_{number:06d}"})


def snapshot(pairs: Mapping[str, Polarity]) -> dict[str, Any]:
    return {"aspects_norm": list(pairs), "polarities": dict(pairs), "confidence": 0.5}


def episode(
    n: int,
    *,
    kind: str = "neutral",
    by: str = "risk",
    before: int = 2,
    after: int | None = None,
    tags_before: tuple[RiskId, ...] = NEGATED,
    tags_after: tuple[RiskId, ...] = NEGATED,
    applied: bool = False,
    success: bool = False,
    harm: bool = False,
    conflict_resolved: bool | None = None,
    final: Mapping[str, Polarity] | None = None,
    stage1: Mapping[str, Polarity] | None = None,
    principle: str = "P-NEG-01",
    query: InputSignatureV1_1 | None = None,
    **fields: Any,
) -> EpisodicMemoryEntryV1_3:
    """Return an episode; by default the pair that it ends in is its own."""
    final = {f"term{n}": "positive"} if final is None else final
    after = before if after is None else after
    body = copy.deepcopy(EPISODE) | {"risk_type": "L3", **fields}
    body["outcome"] = {"by": by, "value": kind}
    body["input_signature"] = query or signature()
    body["case_summary"]["symptom"] = "risks=NEGATION_SCOPE; structure=negation; max_severity=mid"
    body["stage_snapshot"] = {"stage1": snapshot(final if stage1 is None else stage1), "final": snapshot(final)}
    body["correction"]["principle_id"] = principle
    body["evaluation"] = {
        "risk_before": {"severity_sum": before, "tags": tags_before},
        "risk_after": {"severity_sum": after, "tags": tags_after},
        "override_applied": applied,
        "override_success": success,
        "override_harm": harm,
    }
    body["outcome_delta"] = {"conflict_resolved": conflict_resolved, "delta_risk": after - before}
    body["provenance"]["source_id"] = f"u{n}"
    return numbered(n, body)


def texts_of(voice: Voice) -> Iterator[str]:
    """Yield every text that a message or a warning may hold beside the catalogue."""
    yield from (*voice.past_failure.values(), *voice.withheld.values())
    kinds: tuple[ChangeKind | None, ...] = (None, *get_args(ChangeKind))
    spoken: tuple[Spoken, ...] = get_args(Spoken)
    actions, outcomes = get_args(ActionTaken), get_args(EpisodeType)
    for language, kind, adopted, action, outcome in product(spoken, kinds, (True, False), actions, outcomes):
        changes = [{"kind": kind, "adopted": adopted}] if kind else []
        final: dict[str, Polarity] = {"food": "negative"} if adopted else {"food": "positive"}
        past = episode(1, kind=outcome, stage1={"food": "positive"}, final=final, changes=changes, action_taken=action)
        yield voice.past_case(past, language)
