"""Advisories: type, evidence, strength, relevance and message, to the letter."""

import json
from pathlib import Path
from statistics import pvariance
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.memory.builders import episode, signature

import episodic_absa
from episodic_absa.language import find_polarity_word
from episodic_absa.memory import AdvisoryBuilder, PrincipleCatalogue, load_catalogue
from episodic_absa.schemas.memory_v1_1 import (
    AdvisoryConstraintsV1_1,
    AdvisoryV1_1,
    AnchorStatsV1_1,
    EvidenceV1_1,
    InputSignatureV1_1,
)
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.vocabulary import ActionTaken, Language

SCHEMA = Path(episodic_absa.__file__).parent / "schemas" / "json" / "advisory_v1_1.json"
WARNING_EN = " [Warning: the same aspect-polarity combination failed or raised risk before. Check the evidence.]"
WARNING_KO = " [경고: 이 조언과 동일한 aspect·polarity 조합으로 과거 실패/리스크 악화 사례가 있습니다. 증거 확인 권장.]"
CATALOGUE = load_catalogue()


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


OVERRIDE: dict[str, Any] = {
    "before": 5,
    "tags_before": ("CONTRAST_SCOPE", "IRONY"),
    "tags_after": ("OTHER",),
    "principle": "P-CON-03",
}


@pytest.mark.parametrize(
    "entry",
    [
        episode(7, kind="success", after=1, applied=True, success=True, **OVERRIDE),
        episode(7, kind="harm", after=9, **OVERRIDE),
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


def test_withheld_episodes_still_count_in_the_stats_and_in_the_strength() -> None:
    (single,) = advise(episode(1))
    assert single.evidence.stats == AnchorStatsV1_1(historical_count=1, consistency_score=1.0, variance=0.0)
    entries = [episode(1, kind="harm", after=3), episode(2)]
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


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"action_taken": "polarity_flip", "after": 1}, "L3; polarity_flip; lower; n/a"),
        ({"risk_type": "conflict", "conflict_resolved": False}, "conflict; abstain; same; no"),
        ({"risk_type": "conflict", "action_taken": "defer", "conflict_resolved": True}, "conflict; defer; same; yes"),
        ({"risk_type": "implicit", "action_taken": "confidence_reduce"}, "implicit; confidence_reduce; same; n/a"),
        ({"risk_type": None, "action_taken": "neutral_fallback"}, "none; fallback; same; n/a"),
        ({"kind": "harm", "after": 3, "action_taken": "polarity_flip"}, "L3; polarity_flip; higher; n/a"),
    ],
)
@pytest.mark.parametrize("language", ["en", "ko", "other"])
@pytest.mark.parametrize("principle", ["P-NEG-01", "P-GEN-01", "P-OVE-01"])
def test_the_message_is_the_principle_its_bracket_and_the_note_on_a_failure_to_the_letter(
    fields: dict[str, Any], said: str, language: Language, principle: str
) -> None:
    (advisory,) = advise(episode(1, principle=principle, **fields), query=signature(language))
    texts = CATALOGUE.get(principle)
    assert texts is not None
    risk, action, change, resolved = said.split("; ")
    bracket = f" [risk: {risk}; action: {action}; risk change: {change}; conflict resolved: {resolved}]"
    note = "" if change != "higher" else WARNING_KO if language == "ko" else WARNING_EN
    assert advisory.message == (texts.text_ko if language == "ko" else texts.text_en) + bracket + note


@pytest.mark.parametrize("principle", [p.principle_id for p in CATALOGUE])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_message_of_every_principle_is_short_and_free_of_labels(principle: str, language: Language) -> None:
    for action in get_args(ActionTaken):
        entry = episode(1, kind="harm", before=1, after=3, action_taken=action, principle=principle)
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
def test_no_constraint_can_be_switched_off_in_the_model_or_in_the_json_schema(constraint: str) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    (advisory,) = advise(episode(1))
    assert getattr(advisory.constraints, constraint) is True
    with pytest.raises(ValidationError):
        AdvisoryConstraintsV1_1.model_validate({constraint: False})
    document = advisory.model_dump(mode="json")
    jsonschema.validate(document, schema)
    document["constraints"][constraint] = False
    with pytest.raises(ValidationError):
        AdvisoryV1_1.model_validate(document)
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
                action_taken=draw(st.sampled_from(get_args(ActionTaken))),
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
