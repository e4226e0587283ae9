"""What a bundle says about its past is true, names no term and no label, and agrees with itself."""

import copy
import json
from collections.abc import Mapping
from itertools import count, product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator
from tests.memory.builders import texts_of
from tests.schemas.json_schema_files import json_schemas

from episodic_absa.conditions import load_condition
from episodic_absa.final_tuples import asked_targets
from episodic_absa.language import find_polarity_word
from episodic_absa.memory import (
    AdvisoryBuilder,
    EpisodicMemorySettings,
    EpisodicOrchestrator,
    MemoryStore,
    SignatureBuilder,
    load_catalogue,
)
from episodic_absa.memory.advice.outcome_advice import OUTCOME_VOICE, one_voice
from episodic_absa.memory.injection.prompt_slot import HOW_TO_READ, prompt_slot
from episodic_absa.schemas.absa import AspectItem, SentimentItem, Stage1Ate, Stage1Atsa, ValidatorOutput
from episodic_absa.schemas.memory_v1_2 import AdvisoryV1_2, bundle_of
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3, VerdictV1_3
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import Language

BASE: dict[str, Any] = json.loads(Path(__file__).parents[1].joinpath("episode.json").read_text(encoding="utf-8"))
TEXTS: dict[Language, str] = {
    "en": "The soup was hot, but the waiter was slow.",
    "ko": "방은 깨끗하지만 조식은 별로였어요.",
}
TARGETS: dict[Language, tuple[str, ...]] = {"en": ("soup", "waiter"), "ko": ("방", "조식")}
CATALOGUE = load_catalogue().in_v3_wording()


class Past(NamedTuple):
    """One changed sample of the past."""

    kind: str
    outcome: str
    risk: str = "none"
    action: str = "polarity_flip"


def draft(uid: str, past: Past, language: Language = "en") -> dict[str, Any]:
    body = copy.deepcopy(BASE)
    signature = SignatureBuilder().build(TEXTS[language], language, 2)
    value = {"confirmed": "success", "contradicted": "harm", "open": "neutral"}[past.outcome]
    body |= {"action_taken": past.action, "outcome": {"by": "reader", "value": value}}
    body["changes"] = [{"adopted": True, "kind": past.kind}]
    body["input_signature"] = signature.model_dump(mode="json")
    body["correction"]["applicable_conditions"] = [f"language={language}", "structure=contrast", f"risk={past.risk}"]
    # Each case has a pair of its own, so that a contradicted one makes no other dangerous.
    term = f"t{uid.rpartition('-')[2]}"
    for stage in body["stage_snapshot"].values():
        stage |= {"aspects_norm": [term], "polarities": {term: "positive"}}
    body["provenance"]["source_id"] = uid
    return body


def fill(path: Path, pasts: Mapping[Past, int], language: Language = "en") -> None:
    numbers = count()
    with MemoryStore(path) as store:
        for past, times in pasts.items():
            for _ in range(times):
                uid = f"{language}-{next(numbers)}"
                store.append(draft(uid, past, language))


def read(
    path: Path, language: Language = "en", uid: str = "now", *, cap: int | None = None, **settings: Any
) -> dict[str, Any]:
    sentiments = tuple(
        SentimentItem(aspect_term=term, polarity="positive", confidence=0.8, evidence=term)
        for term in TARGETS[language]
    )
    aspects = tuple(AspectItem(aspect_term=term) for term in TARGETS[language])
    with MemoryStore(path) as store:
        memory = EpisodicOrchestrator(
            load_condition("C2"), store, settings=EpisodicMemorySettings(firewall="strict", **settings), chars_cap=cap
        )
        slot, _, meta = memory.get_slot_payload_for_current_sample(
            TEXTS[language],
            Stage1Ate(aspects=aspects),
            Stage1Atsa(sentiments=sentiments),
            ValidatorOutput(),
            language,
            sample_id=uid,
        )
    assert asked_targets(sentiments) == list(TARGETS[language])
    assert meta.offered_principles == tuple(dict.fromkeys(a["evidence"]["principle_id"] for a in slot["retrieved"]))
    return slot


def test_a_prompt_shows_sentences_and_the_bundle_keeps_the_values(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    contradicted, confirmed = Past("flip", "contradicted"), Past("drop", "confirmed", action="defer")
    fill(path, {Past("flip", "open"): 1, contradicted: 1, confirmed: 1})
    slot = read(path)
    shown = prompt_slot(slot, "en")
    assert set(shown) == {"how_to_read", "advice", "warnings"}
    assert shown["advice"] == [{"message": a["message"], "strength": a["strength"]} for a in slot["retrieved"]]
    assert prompt_slot(slot, "ko")["how_to_read"] == HOW_TO_READ["ko"]
    ids = [advisory["advisory_id"] for advisory in slot["retrieved"]]
    assert ids == [f"adv_{number:06d}" for number in range(1, len(ids) + 1)]
    schema = Draft202012Validator(json.loads(json_schemas()["advisory_bundle_v1_2.json"]))
    assert not list(schema.iter_errors(slot))
    assert bundle_of(slot).model_dump(mode="json") == slot
    # The cap counts what is shown, and the last advisory is shortened before it goes.
    whole = len(canonical_json(shown))
    assert read(path, cap=whole) == slot
    kept_n = []
    for cap in range(whole - 1, 330, -90):
        smaller = read(path, cap=cap)
        assert len(canonical_json(prompt_slot(smaller, "en"))) <= cap
        kept_n.append(len(smaller["retrieved"]))
    assert kept_n == sorted(kept_n, reverse=True)
    assert kept_n[-1] == 1


def test_a_bundle_has_one_advisory_per_principle_and_one_direction() -> None:
    outcomes, risks = ("confirmed", "contradicted", "open"), ("none", "NEGATION_SCOPE", "CONTRAST_SCOPE", "conflict")
    cases = [
        Past("flip", outcome, risk, action)
        for outcome, risk, action in product(outcomes, risks, ("polarity_flip", "defer", "abstain"))
    ]
    episodes = [
        EpisodicMemoryEntryV1_3.model_validate(draft(f"en-{n}", past) | {"episode_id": f"epi_{n + 1:06d}"})
        for n, past in enumerate(cases)
    ]
    signature = SignatureBuilder().build(TEXTS["en"], "en", 2)
    builder = AdvisoryBuilder(CATALOGUE, OUTCOME_VOICE)
    for start in range(len(episodes)):
        retrieved = [episodes[(start + step) % len(episodes)] for step in (0, 1, 13)]
        build = builder.build_from_episodes(retrieved, signature)
        advisories = [advisory for advisory in build.advisories if isinstance(advisory, AdvisoryV1_2)]
        voice = one_voice(advisories, CATALOGUE)
        principles = [advisory.evidence.principle_id for advisory in voice.advisories]
        assert voice.advisories[0] is advisories[0], "the best ranked stays"
        assert len(set(principles)) == len(principles) == 3 - voice.repeated_n - voice.opposed_n
        assert len({CATALOGUE.get(principle_id).expects for principle_id in principles}) == 1  # type: ignore[union-attr]
        said = {"neutral": "whether this was right is open", "success": "this was confirmed"}
        for advisory, episode in zip(advisories, retrieved, strict=True):
            outcome = said.get(episode.outcome.value, "this was contradicted")
            assert f"; {outcome}]" in advisory.message
            assert "risk" not in advisory.message


@pytest.mark.parametrize(("cases_n", "strength"), [(1, "weak"), (2, "moderate"), (3, "strong")])
def test_advice_is_the_stronger_the_more_cases_share_its_principle(tmp_path: Path, cases_n: int, strength: str) -> None:
    path = tmp_path / "store.jsonl"
    fill(path, {Past("drop", "confirmed", action="defer"): 3 - cases_n, Past("flip", "confirmed"): cases_n})
    strengths = {advisory["evidence"]["principle_id"]: advisory["strength"] for advisory in read(path)["retrieved"]}
    assert strengths["P-STB-03"] == strength


def test_the_outcome_that_counts_chooses_the_principle(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    fill(path, {Past("flip", "open", "CONTRAST_SCOPE"): 1})
    assert read(path)["retrieved"][0]["evidence"]["principle_id"] == "P-CON-01"
    with MemoryStore(path) as store:
        store.append_verdict(VerdictV1_3(source_id="en-0", verdict="right"))
    (confirmed,) = read(path)["retrieved"]
    assert confirmed["evidence"]["principle_id"] == "P-CON-03"
    assert confirmed["message"].endswith(" [Similar case: a judgement was changed; this was confirmed]")
    with MemoryStore(path) as store:
        store.append_verdict(VerdictV1_3(source_id="en-0", verdict="wrong"))
    # Contradicted advice is withheld: only the warning of its principle is left.
    blocked = read(path, dangerous_advice="block")
    assert (blocked["retrieved"], blocked["warnings"]) == ([], [CATALOGUE.get("P-CON-02").anti_pattern_en])  # type: ignore[union-attr]
    (demoted,) = read(path, dangerous_advice="demote")["retrieved"]
    assert demoted["advisory_type"] == "failed_override_warning"


def test_no_text_of_rules_v2_names_a_label_or_speaks_of_a_risk_as_an_outcome() -> None:
    principles = [text for principle in CATALOGUE for text in (principle.text_en, principle.text_ko)]
    texts = [*principles, *texts_of(OUTCOME_VOICE), *HOW_TO_READ.values()]
    assert not [text for text in texts if find_polarity_word(text)]
    assert not [text for text in texts if "risk" in text or "위험이 줄" in text or "위험이 커" in text]
    assert len({text for text in principles if "confirmed" in text}) > 5
