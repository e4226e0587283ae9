"""ATSA: matching to kept aspects, backfills, polarity counts."""

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
