"""Stage1's answers are read as the original rules read the same words in their longer form."""

from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_absa.language import nearest_occurrence
from episodic_absa.pipeline.stage1 import pairs_of, remaining_risks, risks_of, targets_of
from episodic_absa.schemas.answers import NamedRisk, Pair, RisksAnswer
from episodic_absa.schemas.seed_answers import (
    AnsweredAspect,
    AnsweredRisk,
    AnsweredSentiment,
    AnsweredSpan,
    AteAnswer,
    AtsaAnswer,
    Validator2Answer,
    ValidatorAnswer,
)
from episodic_absa.seed import process_ate, process_atsa, process_validator, process_validator2
from episodic_absa.vocabulary import RISK_IDS, Language

TEXTS = (
    "The soup was not warm, but the bread and the AS desk were great.",
    "음식은 맛있지만 직원이 친절하지 않았어요. 뷰는 좋아요.",
    "Plain tea.",
)
WORDS = ("soup", "The Soup", "bread", "AS", "a", "음식은", "음식", "직원이", "뷰", "하지만", "zebra", "", "'", "tea")
ALLOWED = frozenset({"a"})
TEXT = st.sampled_from(TEXTS)
LANGUAGE = st.sampled_from(get_args(Language))
PAIR = st.builds(
    Pair,
    term=st.sampled_from(WORDS),
    polarity=st.sampled_from(("positive", "negativ", "no idea")),
    quote=st.sampled_from(("great", "never said", "")),
)
RISK = st.builds(
    NamedRisk,
    type=st.sampled_from((*RISK_IDS, "negation", "who knows")),
    quote=st.sampled_from(("but", "not", "않", "", "x")),
)
RISKS = st.lists(RISK, max_size=4)


def answered(risks: list[NamedRisk], text: str) -> tuple[AnsweredRisk, ...]:
    places = [nearest_occurrence(risk.quote, text, 0) if risk.quote else None for risk in risks]
    scopes = [AnsweredSpan(start=place[0], end=place[1]) if place else None for place in places]
    return tuple(
        AnsweredRisk(type=risk.type, scope=scope, description=risk.quote)
        for risk, scope in zip(risks, scopes, strict=True)
    )


@settings(max_examples=200, deadline=None)
@given(text=TEXT, language=LANGUAGE, named=st.lists(PAIR, max_size=5), with_spans=st.booleans())
def test_targets_and_pairs_are_those_of_the_longer_form(
    text: str, language: Any, named: list[Pair], with_spans: bool
) -> None:
    long = AteAnswer(aspects=tuple(AnsweredAspect(aspect_term=pair.term) for pair in named))
    targets = targets_of([pair.term for pair in named], text, language, with_spans=with_spans, allowlist=ALLOWED)
    expected = process_ate(long, text, language, span_repair=with_spans, allowlist=ALLOWED)
    assert targets.aspects == expected.aspects
    # A term of quotation marks alone names nothing; the longer form lists it as refused.
    assert targets.drops == tuple(drop for drop in expected.drops if drop.aspect_term != "'")
    sentiments = AtsaAnswer(
        sentiments=tuple(
            AnsweredSentiment(
                aspect_term=pair.term, polarity=pair.polarity, evidence=pair.quote if pair.quote in text else ""
            )
            for pair in named
        )
    )
    read, judged = pairs_of(named, targets.aspects, text), process_atsa(sentiments, targets.aspects, text)
    assert read.sentiments == tuple(item for item in judged.atsa.sentiments if not item.is_backfilled)
    assert (read.unmatched_terms, read.polarity_counts) == (judged.unmatched_terms, judged.polarity_counts)


@settings(max_examples=200, deadline=None)
@given(text=TEXT, language=LANGUAGE, first=RISKS, then=RISKS, n=st.integers(0, 3))
def test_risks_are_those_of_the_longer_form(
    text: str, language: Any, first: list[NamedRisk], then: list[NamedRisk], n: int
) -> None:
    found = risks_of(RisksAnswer(risks=tuple(first), label="mixed"), text, language, target_n=n)
    long = ValidatorAnswer(structural_risks=answered(first, text), consistency_score=0.5, suggested_label="mixed")
    assert found == process_validator(long, text, language, aspect_n=n)
    stage1 = found.structural_risks
    again = risks_of(RisksAnswer(risks=tuple(then)), text, "other", target_n=9)
    types = {risk.type for risk in again.structural_risks}
    resolved = tuple(risk.id for risk in stage1 if risk.type not in types)
    long2 = Validator2Answer(structural_risks=answered(then, text), consistency_score=0.5, resolved_risk_ids=resolved)
    assert remaining_risks(RisksAnswer(risks=tuple(then)), text, language, stage1, target_n=n) == process_validator2(
        long2, text, language, stage1_risks=stage1, patched_aspect_n=n
    )
