"""Advisories: type, evidence, strength, relevance and message, to the letter."""

import json
from pathlib import Path
from statistics import pvariance
from typing import get_args

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import episodic_absa
from episodic_absa.language import find_polarity_word
from episodic_absa.memory import AdvisoryBuilder, PrincipleCatalogue, load_catalogue
from episodic_absa.schemas.memory_v1_1 import (
    AdvisoryConstraintsV1_1,
    AdvisoryV1_1,
    AnchorStatsV1_1,
    CaseSummaryV1_1,
    CorrectionV1_1,
    EvaluationV1_1,
    EvidenceV1_1,
    InputSignatureV1_1,
    OutcomeDeltaV1_1,
    ProvenanceV1_1,
    RiskVectorV1_1,
    SnapshotV1_1,
    StageSnapshotV1_1,
)
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3, OutcomeV1_3
from episodic_absa.vocabulary import (
    ActionTaken,
    EpisodeType,
    Language,
    LengthBucket,
    RiskId,
    RiskType,
    Structure,
)

SCHEMA = Path(episodic_absa.__file__).parent / "schemas" / "json" / "advisory_v1_1.json"
WARNING_EN = " [Warning: the same aspect-polarity combination failed or raised risk before. Check the evidence.]"
WARNING_KO = " [경고: 이 조언과 동일한 aspect·polarity 조합으로 과거 실패/리스크 악화 사례가 있습니다. 증거 확인 권장.]"
CATALOGUE = load_catalogue()


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


def episode(
    n: int,
    *,
    kind: EpisodeType = "neutral",
    before: int = 2,
    after: int = 2,
    tags_before: tuple[RiskId, ...] = ("NEGATION_SCOPE",),
    tags_after: tuple[RiskId, ...] = ("NEGATION_SCOPE",),
    applied: bool = False,
    success: bool = False,
    risk_type: RiskType | None = "L3",
    action: ActionTaken = "abstain",
    conflict_resolved: bool | None = None,
    principle: str = "P-NEG-01",
    query: InputSignatureV1_1 | None = None,
    symptom: str = "risks=NEGATION_SCOPE; structure=negation; max_severity=mid",
    rationale: str = "proposals=none; action=abstain; adopt=low_signal",
) -> EpisodicMemoryEntryV1_3:
    snapshot = SnapshotV1_1(aspects_norm=(f"term{n}",), polarities={f"term{n}": "positive"}, confidence=0.5)
    return EpisodicMemoryEntryV1_3(
        episode_id=f"epi_{n:06d}",
        outcome=OutcomeV1_3(by="risk", value=kind),
        error_category=("negation",),
        risk_type=risk_type,
        action_taken=action,
        input_signature=query or signature(),
        case_summary=CaseSummaryV1_1(target_aspect_type=f"term{n}", symptom=symptom, rationale_summary=rationale),
        stage_snapshot=StageSnapshotV1_1(stage1=snapshot, final=snapshot),
        correction=CorrectionV1_1(
            corrective_principle="p", applicable_conditions=("language=en",), principle_id=principle
        ),
        evaluation=EvaluationV1_1(
            risk_before=RiskVectorV1_1(severity_sum=before, tags=tags_before),
            risk_after=RiskVectorV1_1(severity_sum=after, tags=tags_after),
            override_applied=applied,
            override_success=success,
            override_harm=False,
        ),
        outcome_delta=OutcomeDeltaV1_1(conflict_resolved=conflict_resolved, delta_risk=after - before),
        provenance=ProvenanceV1_1(
            source_id=f"u{n}", created_from_split="train", used_in_eval=False, sample_index=n, seed=1
        ),
    )


def advise(
    *episodes: EpisodicMemoryEntryV1_3,
    query: InputSignatureV1_1 | None = None,
    tokens: frozenset[str] = frozenset(),
    catalogue: PrincipleCatalogue = CATALOGUE,
) -> tuple[AdvisoryV1_1, ...]:
    build = AdvisoryBuilder(catalogue).build_from_episodes(episodes, query or signature(), query_tokens=tokens)
    return tuple(advisory for advisory in build.advisories if isinstance(advisory, AdvisoryV1_1))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (episode(1), "consistency_anchor"),
        (episode(1, kind="success", before=3, after=1), "consistency_anchor"),
        (episode(1, kind="success", before=3, after=1, applied=True, success=True), "successful_override"),
        (episode(1, kind="harm", before=1, after=2), "failed_override_warning"),
        (episode(1, applied=True), "failed_override_warning"),
        (episode(1, kind="success", before=3, after=1, applied=True, success=False), "failed_override_warning"),
        (episode(1, before=0, after=0, tags_before=(), tags_after=()), "consistency_anchor"),
    ],
)
def test_the_type_of_an_advisory_follows_from_its_episode(entry: EpisodicMemoryEntryV1_3, expected: str) -> None:
    (advisory,) = advise(entry)
    assert advisory.advisory_type == expected


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_there_is_one_advisory_per_episode_numbered_in_rank_order(n: int) -> None:
    entries = [episode(9 - i) for i in range(n)]
    advisories = advise(*entries)
    assert [a.advisory_id for a in advisories] == [f"adv_{i:06d}" for i in range(1, n + 1)]
    assert [a.evidence.source_episode_ids for a in advisories] == [(e.episode_id,) for e in entries]
    assert [a.schema_version for a in advisories] == ["1.1"] * n


@pytest.mark.parametrize(
    "entry",
    [
        episode(
            7,
            kind="success",
            before=5,
            after=1,
            tags_before=("CONTRAST_SCOPE", "IRONY"),
            tags_after=("OTHER",),
            applied=True,
            success=True,
            principle="P-CON-03",
        ),
        episode(
            7,
            kind="harm",
            before=5,
            after=9,
            tags_before=("CONTRAST_SCOPE", "IRONY"),
            tags_after=("OTHER",),
            principle="P-CON-03",
        ),
    ],
)
def test_the_evidence_of_an_override_shows_the_risks_before_and_after_and_no_stats(
    entry: EpisodicMemoryEntryV1_3,
) -> None:
    (advisory,) = advise(entry)
    assert advisory.evidence == EvidenceV1_1(
        source_episode_ids=("epi_000007",),
        risk_tags=("CONTRAST_SCOPE", "IRONY"),
        principle_id="P-CON-03",
        risk_before_tags=("CONTRAST_SCOPE", "IRONY"),
        risk_after_tags=("OTHER",),
        stats=None,
    )


def test_the_evidence_of_an_anchor_is_its_stats_over_all_retrieved_episodes() -> None:
    entries = [
        episode(1, before=4, after=4, tags_before=("IRONY", "OTHER")),
        episode(2, kind="success", before=4, after=1),
        episode(3, kind="success", before=6, after=1, applied=True, success=True, principle="P-CON-03"),
    ]
    anchor = advise(*entries)[0]
    assert anchor.evidence.risk_tags == ("IRONY", "OTHER")
    assert anchor.evidence.risk_before_tags == ()
    assert anchor.evidence.risk_after_tags == ()
    stats = anchor.evidence.stats
    assert stats is not None
    assert stats.historical_count == 3
    assert stats.consistency_score == pytest.approx(2 / 3, abs=1e-6)
    assert stats.variance == pytest.approx(pvariance([0, -3, -5]), abs=1e-6)


def test_the_stats_of_a_single_anchor() -> None:
    (anchor,) = advise(episode(1))
    assert anchor.evidence.stats == AnchorStatsV1_1(historical_count=1, consistency_score=1.0, variance=0.0)


def test_withheld_episodes_still_count_in_the_stats_and_in_the_strength() -> None:
    entries = [episode(1, kind="harm", before=2, after=3), episode(2)]
    build = AdvisoryBuilder(CATALOGUE).build_from_episodes(entries, signature(), prohibit_dangerous=True)
    (anchor,) = build.advisories
    assert anchor.evidence.stats == AnchorStatsV1_1(historical_count=2, consistency_score=1.0, variance=0.25)
    assert anchor.strength == "moderate"


@pytest.mark.parametrize(
    ("principles", "strengths"),
    [
        (["P-NEG-01"], ["weak"]),
        (["P-NEG-01", "P-CON-01"], ["weak", "weak"]),
        (["P-NEG-01", "P-NEG-01"], ["moderate", "moderate"]),
        (["P-NEG-01", "P-CON-01", "P-IRO-01"], ["weak", "weak", "weak"]),
        (["P-NEG-01", "P-CON-01", "P-NEG-01"], ["moderate", "weak", "moderate"]),
        (["P-NEG-01", "P-NEG-01", "P-NEG-01"], ["strong", "strong", "strong"]),
    ],
)
def test_strength_counts_the_retrieved_episodes_of_one_principle(principles: list[str], strengths: list[str]) -> None:
    advisories = advise(*(episode(i, principle=p) for i, p in enumerate(principles, 1)))
    assert [a.strength for a in advisories] == strengths


@pytest.mark.parametrize(
    ("query", "stored", "overlap", "most"),
    [
        (signature(), signature(), 3, 3),
        (signature(), signature(bucket="long"), 2, 3),
        (signature(), signature(bucket="long", n=4), 1, 3),
        (signature(), signature(structures=("none",), bucket="long", n=4), 0, 3),
        (signature(structures=("none",)), signature(structures=("none",)), 3, 3),
        (signature(structures=("negation", "contrast")), signature(), 3, 4),
        (signature(structures=("negation", "contrast")), signature(structures=("negation", "contrast")), 4, 4),
        (signature(structures=("negation", "contrast", "irony")), signature(structures=("irony",), n=2), 2, 5),
        (signature(), signature(structures=("negation", "contrast", "irony")), 3, 3),
    ],
)
@pytest.mark.parametrize(
    ("tokens", "lexical"),
    [
        (frozenset(), 0.0),
        (frozenset({"negation_scope"}), 1.0),
        (frozenset({"negation_scope", "flip_polarity"}), 0.5),
        (frozenset({"irony", "flip_polarity", "drop_aspect", "negation_scope"}), 0.25),
        (frozenset({"irony"}), 0.0),
        (frozenset({"low_signal", "max_severity"}), 1.0),
    ],
)
def test_relevance_weighs_overlap_and_lexical_share(
    query: InputSignatureV1_1,
    stored: InputSignatureV1_1,
    overlap: int,
    most: int,
    tokens: frozenset[str],
    lexical: float,
) -> None:
    (advisory,) = advise(episode(1, query=stored), query=query, tokens=tokens)
    assert advisory.relevance_score == pytest.approx(0.7 * overlap / most + 0.3 * lexical, abs=1e-6)


BRACKETS = [
    (
        {"risk_type": "L3", "action": "polarity_flip", "before": 2, "after": 1},
        " [risk: L3; action: polarity_flip; risk change: lower; conflict resolved: n/a]",
    ),
    (
        {"risk_type": "conflict", "action": "abstain", "conflict_resolved": False},
        " [risk: conflict; action: abstain; risk change: same; conflict resolved: no]",
    ),
    (
        {"risk_type": "conflict", "action": "defer", "conflict_resolved": True},
        " [risk: conflict; action: defer; risk change: same; conflict resolved: yes]",
    ),
    (
        {"risk_type": "implicit", "action": "confidence_reduce"},
        " [risk: implicit; action: confidence_reduce; risk change: same; conflict resolved: n/a]",
    ),
    (
        {"risk_type": None, "action": "neutral_fallback"},
        " [risk: none; action: fallback; risk change: same; conflict resolved: n/a]",
    ),
]


@pytest.mark.parametrize(("given_episode", "bracket"), BRACKETS)
@pytest.mark.parametrize("language", ["en", "ko", "other"])
@pytest.mark.parametrize("principle", ["P-NEG-01", "P-GEN-01"])
def test_the_message_is_the_principle_and_its_bracket_to_the_letter(
    given_episode: dict[str, object], bracket: str, language: Language, principle: str
) -> None:
    entry = episode(1, principle=principle, **given_episode)  # type: ignore[arg-type]
    (advisory,) = advise(entry, query=signature(language))
    texts = CATALOGUE.get(principle)
    assert texts is not None
    assert advisory.message == (texts.text_ko if language == "ko" else texts.text_en) + bracket


@pytest.mark.parametrize(("language", "warning"), [("en", WARNING_EN), ("ko", WARNING_KO), ("other", WARNING_EN)])
def test_a_demoted_message_ends_with_the_past_failure_text_to_the_letter(language: Language, warning: str) -> None:
    entry = episode(1, kind="harm", before=1, after=3, action="polarity_flip", principle="P-OVE-01")
    (advisory,) = advise(entry, query=signature(language))
    texts = CATALOGUE.get("P-OVE-01")
    assert texts is not None
    assert advisory.message == (
        (texts.text_ko if language == "ko" else texts.text_en)
        + " [risk: L3; action: polarity_flip; risk change: higher; conflict resolved: n/a]"
        + warning
    )


@pytest.mark.parametrize("principle", [p.principle_id for p in CATALOGUE])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_message_of_every_principle_is_short_and_free_of_labels(principle: str, language: Language) -> None:
    for action in get_args(ActionTaken):
        entry = episode(1, kind="harm", before=1, after=3, action=action, principle=principle)
        (advisory,) = advise(entry, query=signature(language))
        assert 1 <= len(advisory.message) <= 800
        assert find_polarity_word(advisory.message) is None
        for word in ("gold", "accuracy", "correct answer", "정답", "정확도"):
            assert word not in advisory.message.lower()


@pytest.mark.parametrize("principle", [p.principle_id for p in CATALOGUE])
def test_every_anti_pattern_is_short_and_free_of_labels(principle: str) -> None:
    entry = CATALOGUE.get(principle)
    assert entry is not None
    for text in (entry.anti_pattern_en, entry.anti_pattern_ko):
        assert text is None or (len(text) <= 200 and find_polarity_word(text) is None)


@pytest.mark.parametrize("constraint", ["no_label_hint", "no_forcing", "no_confidence_boost"])
def test_no_constraint_can_be_switched_off(constraint: str) -> None:
    (advisory,) = advise(episode(1))
    assert getattr(advisory.constraints, constraint) is True
    with pytest.raises(ValidationError):
        AdvisoryConstraintsV1_1.model_validate({constraint: False})
    document = advisory.model_dump(mode="json")
    document["constraints"][constraint] = False
    with pytest.raises(ValidationError):
        AdvisoryV1_1.model_validate(document)


@pytest.mark.parametrize("constraint", ["no_label_hint", "no_forcing", "no_confidence_boost"])
def test_the_json_schema_refuses_a_constraint_that_is_false(constraint: str) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    (advisory,) = advise(episode(1))
    document = advisory.model_dump(mode="json")
    jsonschema.validate(document, schema)
    document["constraints"][constraint] = False
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)


@pytest.mark.parametrize("key", ["mode_decision", "accuracy", "correctness", "gold", "label", "polarity"])
@pytest.mark.parametrize("place", [(), ("evidence",), ("evidence", "stats"), ("constraints",)])
def test_no_part_of_an_advisory_can_carry_a_decision_or_an_answer(key: str, place: tuple[str, ...]) -> None:
    (advisory,) = advise(episode(1))
    document = advisory.model_dump(mode="json")
    part = document
    for step in place:
        part = part[step]
    assert key not in part
    part[key] = None
    with pytest.raises(ValidationError):
        AdvisoryV1_1.model_validate(document)


PRINCIPLES = st.sampled_from([p.principle_id for p in CATALOGUE])


@st.composite
def retrieved(draw: st.DrawFn) -> list[EpisodicMemoryEntryV1_3]:
    entries = []
    for n in range(1, draw(st.integers(1, 3)) + 1):
        before, after = draw(st.integers(0, 9)), draw(st.integers(0, 9))
        applied = draw(st.booleans())
        entries.append(
            episode(
                n,
                kind="harm" if after > before else "success" if after < before else "neutral",
                before=before,
                after=after,
                applied=applied,
                success=applied and draw(st.booleans()),
                action=draw(st.sampled_from(get_args(ActionTaken))),
                principle=draw(PRINCIPLES),
            )
        )
    return entries


@given(entries=retrieved(), language=st.sampled_from(["ko", "en", "other"]), block=st.booleans())
def test_whatever_was_retrieved_every_advisory_keeps_the_rules(
    entries: list[EpisodicMemoryEntryV1_3], language: Language, block: bool
) -> None:
    build = AdvisoryBuilder(CATALOGUE).build_from_episodes(
        entries, signature(language), query_tokens=frozenset({"negation_scope"}), prohibit_dangerous=block
    )
    by_id = {e.episode_id: e for e in entries}
    assert len(build.advisories) == len(entries) - build.blocked_advisory_n
    assert len(build.warnings) == build.blocked_advisory_n
    assert build.blocked_advisory_n == 0 or block
    assert build.demoted_advisory_n == 0 or not block
    for advisory in build.advisories:
        source = by_id[advisory.evidence.source_episode_ids[0]]
        assert advisory.evidence.principle_id == source.correction.principle_id
        assert advisory.evidence.risk_tags == source.evaluation.risk_before.tags
        assert (advisory.evidence.stats is not None) == (advisory.advisory_type == "consistency_anchor")
        assert 0 <= advisory.relevance_score <= 1
        assert find_polarity_word(advisory.message) is None
        demoted = "[Warning:" in advisory.message or "[경고:" in advisory.message
        assert not (demoted and block)
