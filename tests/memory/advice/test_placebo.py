"""Placebo texts say nothing, name no label, and come in almost any length."""

import re

import pytest

from episodic_absa.language import detect_structures, find_aspect_term, find_polarity_word
from episodic_absa.memory import load_catalogue
from episodic_absa.memory.advice.placebo import (
    PLACEBO_PRINCIPLE,
    compose_placebo,
    placebo_advisories,
    placebo_texts,
)
from episodic_absa.schemas.memory_v1_1 import AdvisoryBundleMetaV1_1, AdvisoryBundleV1_1, AdvisoryV1_1, EvidenceV1_1
from episodic_absa.vocabulary import Language

META = AdvisoryBundleMetaV1_1(memory_mode="on", topk=3, masked_injection=False, retrieval_executed=True)
TASK_WORDS = {
    "en": r"(?i)\b(review|judg|quot|target|evidence|clause|risk|opinion|sentiment|aspect|change|keep|word|text)",
    "ko": r"판단|인용|대상|근거|위험|의견|바꾸|고치|확인|읽|리뷰|감성|극성|수정|단서|마라|하라",
}


def bundle(*messages: str, warnings: tuple[str, ...] = ()) -> AdvisoryBundleV1_1:
    return AdvisoryBundleV1_1(
        memory_on=True,
        retrieved=tuple(
            AdvisoryV1_1(
                advisory_id=f"adv_{rank:06d}",
                advisory_type="failed_override_warning",
                message=message,
                strength="moderate",
                relevance_score=0.5,
                evidence=EvidenceV1_1(
                    source_episode_ids=("epi_000001",), risk_tags=("NEGATION_SCOPE",), principle_id="P-NEG-01"
                ),
            )
            for rank, message in enumerate(messages, start=1)
        ),
        warnings=warnings,
        meta=META,
    )


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_text_is_free_of_labels_cues_and_the_task(language: Language) -> None:
    texts = placebo_texts(language)
    assert len(set(texts)) == len(texts) >= 30
    for text in texts:
        assert find_polarity_word(text) is None
        assert detect_structures(text, language) == ("none",)
        assert re.search(TASK_WORDS[language], text) is None


@pytest.mark.parametrize("language", ["en", "ko"])
def test_any_length_of_a_message_is_met_within_a_tenth_and_three_characters(language: Language) -> None:
    shortest = 20 if language == "en" else 17
    for chars in range(shortest, 761, 7):
        for uid in ("a", "b"):
            assert abs(len(compose_placebo(language, chars, uid)) - chars) <= min(chars / 10, 3), chars
    assert len(compose_placebo(language, 2000, "a")) == 760


def test_the_length_of_warnings_goes_to_the_last_message() -> None:
    first, last = placebo_advisories(
        bundle("m" * 140, "n" * 200, warnings=("w" * 60,)), "en", "r", [], match_chars=True
    )
    assert len(first.message) == pytest.approx(140, abs=3)
    assert len(last.message) == pytest.approx(260, abs=3)


def test_texts_depend_on_the_key_and_name_no_aspect_of_the_sample() -> None:
    messages = {compose_placebo("en", 150, f"review-{number}") for number in range(20)}
    assert len(messages) > 15
    terms = ["week", "year", "the alphabet", "Moon"]
    assert all(find_aspect_term(compose_placebo("en", 300, str(number), terms), terms) is None for number in range(20))
    everything = [word for text in placebo_texts("en") for word in text.split()]
    assert compose_placebo("en", 100, "review-1", everything)


def test_a_placebo_looks_like_advice_and_has_no_content_for_the_embedded_engine() -> None:
    shown = bundle("m" * 140, "n" * 200, warnings=("w" * 60,))
    placebos = placebo_advisories(shown, "en", "review-1", ["screen"], match_chars=True)
    assert load_catalogue().get(PLACEBO_PRINCIPLE) is None
    assert abs(sum(len(placebo.message) for placebo in placebos) - 400) <= 40
    for placebo, replaced in zip(placebos, shown.retrieved, strict=True):
        assert (placebo.strength, placebo.relevance_score) == (replaced.strength, replaced.relevance_score)
        assert placebo.evidence.source_episode_ids == replaced.evidence.source_episode_ids
    tags = [placebo.evidence.risk_tags for placebo in placebos]
    assert tags == [()] * len(placebos) != [advisory.evidence.risk_tags for advisory in shown.retrieved]


def test_warnings_alone_become_one_placebo_and_length_can_be_left_free() -> None:
    (alone,) = placebo_advisories(bundle(warnings=("w" * 60, "v" * 60)), "ko", "r", [], match_chars=True)
    assert abs(len(alone.message) - 120) <= 12
    (free,) = placebo_advisories(bundle("m" * 500), "en", "r", [], match_chars=False)
    assert free.message in placebo_texts("en")
