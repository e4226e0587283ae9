"""The numbers of a summary, and what it leaves out."""

import doctest
from datetime import date
from importlib import import_module

import pytest
from tests.reports.summary.review_making import hostile_reviews, make_review

from episodic_absa.errors import ConfigError
from episodic_absa.reports.summary import Candidate, Tally, excerpt, summarise, typical, words_at

REVIEWS = [
    make_review("Service good, services good.", ("Service", "positive"), ("services", "positive"), date="2026-01-05"),
    make_review("service bad but service kind", ("service", "negative"), ("service", "positive"), date="2026-01-20"),
    make_review("Price was fair.", ("Price", "neutral"), date="2026-03-01"),
    make_review("It came on Monday.", date="someday soon"),
    make_review("Great!", ("", "positive"), date="2026-03-02"),
]


@pytest.mark.parametrize("name", ["dates", "mentions", "summary_building", "summary_page", "term_groups"])
def test_the_examples_of_a_module_hold(name: str) -> None:
    results = doctest.testmod(import_module(f"episodic_absa.reports.summary.{name}"))
    assert results.attempted > 0
    assert results.failed == 0


def test_a_review_counts_once_per_aspect_and_polarity() -> None:
    summary = summarise(REVIEWS, failed_n=2)
    assert (summary.reviews_n, summary.opinion_n, summary.failed_n) == (7, 4, 2)
    assert summary.overall == Tally(positive=3, negative=1, neutral=1)
    tallies = {aspect.name: aspect.tally for aspect in summary.aspects}
    assert tallies == {"service": Tally(2, 1, 0), "Price": Tally(0, 0, 1), "": Tally(1, 0, 0)}
    assert dict(summary.labels) == {"positive": 2, "mixed": 1, "neutral": 1, "negative": 0, "none": 1}


def test_bins_hold_every_mention_with_a_date_and_empty_ones_are_kept() -> None:
    over_time = summarise(REVIEWS).over_time
    assert over_time is not None
    assert (over_time.column, over_time.unit, over_time.unread_n) == ("date", "week", 1)
    assert (over_time.first, over_time.last) == (date(2026, 1, 5), date(2026, 3, 2))
    assert [period.tallies[0].mentions for period in over_time.bins] == [1, 0, 2, 0, 0, 0, 0, 1, 1]


def test_a_named_date_column_must_exist_and_hold_dates() -> None:
    with pytest.raises(ConfigError, match="no column 'when'; choose one of date"):
        summarise(REVIEWS, date_column="when")
    with pytest.raises(ConfigError, match="column 'day'"):
        summarise([make_review("a", day="x"), make_review("b", day="y")], date_column="day")


def test_an_unknown_polarity_names_the_review_and_not_its_text() -> None:
    with pytest.raises(ValueError, match=r"^review 1 has an unknown polarity; use one of positive, negative, neutral$"):
        summarise([make_review("secret", ("secret", "meh"))])


def test_most_reviews_decide_the_language_of_the_page() -> None:
    korean = make_review("서비스가 좋아요.", ("서비스", "positive"), language="ko")
    assert summarise([korean, korean, *REVIEWS[:1]]).is_korean
    assert not summarise([korean, *REVIEWS[:1]]).is_korean
    assert not summarise([]).is_korean


def test_quotes_are_confident_and_of_middle_length() -> None:
    lengths = (5, 500, 50, 51, 49, 52)
    candidates = [Candidate(place, 0, 0.9, length, f"text {length}") for place, length in enumerate(lengths)]
    unsure = [Candidate(9, 0, 0.1, 50, "unsure"), *(Candidate(place, 0, 0.2, 50, f"low {place}") for place in (7, 8))]
    chosen = typical([*unsure, *candidates, candidates[2]], 3)
    assert [candidate.length for candidate in chosen] == [50, 51, 49]
    assert chosen == typical([*reversed(candidates), *unsure], 3)


def test_an_excerpt_holds_the_evidence_wherever_it_is() -> None:
    text = f"{'before ' * 100}the lamp flickers{' after' * 100}"
    part = excerpt(text, *words_at("lamp flickers", "lamp", text), 80)
    assert part.text[part.start : part.end] == "lamp flickers"
    assert len(part.text) <= 80
    assert part.cut_before
    assert part.cut_after
    assert not part.text.startswith("efore")
    assert words_at("not there", "lamp", text) == words_at("lamp", "", text)
    assert words_at("not there", "", text) == (0, 0)


def test_what_a_page_gets_of_hostile_reviews_is_short_and_controls_nothing() -> None:
    summary = summarise(hostile_reviews() * 3, source="a\x00b.csv")
    quotes = [quote for aspect in summary.aspects for side in aspect.quotes.values() for quote in side]
    shown = [
        *(quote.text for quote in quotes),
        *(review.text for review in summary.searched),
        *(mark.term for review in summary.searched for mark in review.marks),
        *(aspect.name for aspect in summary.aspects),
        *(value.name for column in summary.columns for value in column.values),
        summary.source,
    ]
    assert max(map(len, shown)) <= 600
    assert not set("\x00\x1b\u202e\u2066\ud800") & set("".join(shown))


def test_what_is_left_out_is_counted() -> None:
    reviews = [make_review(f"thing{number}", (f"thing{number}", "positive")) for number in range(230)]
    summary = summarise(reviews)
    assert len(summary.aspects) == 200
    assert summary.rest.groups_n == 30
    assert summary.rest.tally == Tally(positive=30)
    assert summary.overall == Tally(positive=230)
    searched = summarise([make_review("t" * 590)] * 9000).searched
    assert len(searched) == 5_000_000 // 590
    assert searched[0].review == 1
    assert searched[-1].review > 8900
