"""ATSA: matching to kept aspects, backfills, polarity counts."""

from typing import Any

import pytest

from episodic_absa.schemas.absa import AspectItem, Span
from episodic_absa.schemas.seed_answers import AnsweredSentiment, AtsaAnswer
from episodic_absa.seed import ProcessedAtsa, backfill, match_aspect, process_atsa

TEXT = "The battery life is long, the battery is cheap, the screen is dim and delivery was late."


def aspect(term: str, text: str = TEXT) -> AspectItem:
    start = text.index(term)
    return AspectItem(aspect_term=term, span=Span(start=start, end=start + len(term)))


def processed(sentiments: list[tuple[str, str | None]], aspects: list[AspectItem], text: str = TEXT) -> ProcessedAtsa:
    answered = tuple(AnsweredSentiment(aspect_term=term, polarity=polarity) for term, polarity in sentiments)
    return process_atsa(AtsaAnswer(sentiments=answered), aspects, text)


def real(result: ProcessedAtsa) -> list[tuple[str, str | None]]:
    return [(one.aspect_term, one.polarity) for one in result.atsa.sentiments if not one.is_backfilled]


@pytest.mark.parametrize("term", ["screen", "Screen", " SCREEN ", '"screen"', "screen."])
def test_a_sentiment_takes_term_and_span_of_the_aspect_with_the_same_key(term: str) -> None:
    result = processed([(term, "negative")], [aspect("screen")])
    (one,) = result.atsa.sentiments
    assert (one.aspect_term, one.span, one.polarity) == ("screen", aspect("screen").span, "negative")
    assert result.unmatched_terms == ()


def test_a_korean_particle_does_not_hinder_matching() -> None:
    text = "배터리가 오래 가요."
    result = processed([("배터리가", "positive")], [aspect("배터리", text)], text)
    assert real(result) == [("배터리", "positive")]
    assert result.atsa.sentiments[0].span == Span(start=0, end=3)


@pytest.mark.parametrize(
    ("term", "aspects", "matched"),
    [
        ("the screen", ["screen"], "screen"),
        ("life", ["battery life", "screen"], "battery life"),
        ("long battery life", ["battery", "battery life"], "battery life"),
        ("long battery life", ["battery life", "battery"], "battery life"),
        ("battery", ["battery life", "battery"], "battery"),
        ("batter", ["battery", "battery life"], "battery life"),
        ("screen and delivery", ["delivery", "screen"], "delivery"),
        ("zebra", ["screen"], None),
    ],
)
def test_equal_keys_win_then_the_longest_overlapping_aspect(term: str, aspects: list[str], matched: str | None) -> None:
    found = match_aspect(term, [aspect(one) for one in aspects], TEXT)
    assert (None if found is None else found.aspect_term) == matched


def test_among_aspects_of_equal_length_the_earliest_wins() -> None:
    text = "Cake shop, and pie shop, a cake and a pie shop visit."
    first, second = aspect("Cake", text), aspect("shop", text)
    found = match_aspect("cake shop", [first, second], text)
    assert found == first


def test_an_unmatched_term_of_the_text_stays() -> None:
    result = processed([("screen", "negative"), ("delivery", "negative")], [aspect("screen")])
    assert real(result) == [("screen", "negative"), ("delivery", "negative")]
    assert result.unmatched_terms == ()


def test_an_unmatched_term_takes_the_texts_own_characters() -> None:
    result = processed([("DELIVERY", "negative")], [])
    assert real(result) == [("delivery", "negative")]


def test_an_unmatched_term_outside_the_text_is_removed_and_logged() -> None:
    result = processed([("screen", "negative"), ("zebra", "positive")], [aspect("screen")])
    assert real(result) == [("screen", "negative")]
    assert result.unmatched_terms == ("zebra",)


@pytest.mark.parametrize("polarity", ["positive", "negative", "neutral", None])
def test_an_implicit_sentiment_is_always_kept(polarity: str | None) -> None:
    result = processed([("", polarity)], [aspect("screen")])
    assert ("", polarity) in real(result)
    implicit = next(one for one in result.atsa.sentiments if one.aspect_term == "")
    assert implicit.is_implicit
    assert implicit.span is None
    assert result.unmatched_terms == ()


def test_an_aspect_without_a_sentiment_gets_a_marked_neutral_backfill() -> None:
    result = processed([("screen", "negative")], [aspect("screen"), aspect("delivery")])
    (filled,) = [one for one in result.atsa.sentiments if one.is_backfilled]
    assert filled.aspect_term == "delivery"
    assert filled.span == aspect("delivery").span
    assert (filled.polarity, filled.confidence) == ("neutral", 0.5)
    assert filled.neutral_reason == "missing_atsa_for_aspect"
    assert filled == backfill(aspect("delivery"))


def test_a_sentiment_without_a_polarity_is_no_reason_for_a_backfill_and_stays_null() -> None:
    result = processed([("screen", "banana")], [aspect("screen")])
    (one,) = result.atsa.sentiments
    assert one.polarity is None
    assert not one.is_backfilled


def test_nothing_is_backfilled_without_aspects() -> None:
    assert processed([], []).atsa.sentiments == ()


def test_two_sentiments_of_one_aspect_are_both_kept() -> None:
    result = processed([("screen", "negative"), ("Screen", "positive")], [aspect("screen")])
    assert real(result) == [("screen", "negative"), ("screen", "positive")]


@pytest.mark.parametrize(
    ("words", "counts"),
    [
        (["positive"], (1, 0, 0)),
        (["POS", "neg", "Neutral"], (3, 0, 0)),
        (["positiv", "negativ", "neutral"], (3, 2, 0)),
        (["mixed"], (1, 0, 1)),
        (["positive", "postive", "mixed", "banana"], (4, 1, 2)),
        ([], (0, 0, 0)),
    ],
)
def test_polarity_words_are_counted_as_read_repaired_and_invalid(words: list[str], counts: tuple[int, ...]) -> None:
    result = processed([("screen", word) for word in words], [aspect("screen")])
    assert tuple(result.polarity_counts) == counts


def test_confidence_and_evidence_pass_through_and_confidence_defaults_to_a_half() -> None:
    answered: Any = (
        AnsweredSentiment(aspect_term="screen", polarity="negative", evidence="is dim", confidence=0.9),
        AnsweredSentiment(aspect_term="delivery", polarity="negative"),
    )
    result = process_atsa(AtsaAnswer(sentiments=answered), [aspect("screen"), aspect("delivery")], TEXT)
    assert [(one.evidence, one.confidence) for one in result.atsa.sentiments] == [("is dim", 0.9), ("", 0.5)]
