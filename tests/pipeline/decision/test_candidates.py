"""Which pairs are candidates, and what each witness says about them."""

from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.pipeline.decision import Claim, ReaderVoice, gather
from episodic_absa.pipeline.stage1 import FirstAnalysis
from episodic_absa.schemas.reader_view import ReaderView

b: Any = builders
TEXT = "음식은 맛있었지만 서비스가 느렸고 가격은 적당해요."


def first(*pairs: tuple[str, Any], text: str = b.TEXT, language: Any = "en") -> FirstAnalysis:
    items = [b.sentiment(term, polarity, text=text, evidence="great") for term, polarity in pairs]
    stage1 = b.stage1_of([b.aspect(term, text) for term, _ in pairs], items)
    return FirstAnalysis(text, language, stage1)


def heard(analysis: FirstAnalysis, *claims: Claim, reader: Any = None, own: bool = False) -> dict[tuple[str, str], str]:
    """Return who is for (+) and against (-) each candidate."""
    voice = ReaderVoice(reader, analysis.text, analysis.language)
    return {
        (candidate.aspect_term, candidate.polarity): " ".join(
            f"{witness.who}{'+' if witness.stance == 'for' else '-'}{'' if witness.p is None else witness.p}"
            for witness in candidate.witnesses
        )
        for candidate in gather(analysis, claims, voice, is_readers_own=own)
    }


FOOD, SERVICE = ("food", "positive"), ("service", "negative")


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (Claim("judge", "food", is_target=True, polarity="positive", of_polarity="positive"), {FOOD: "stage1+ judge+"}),
        (Claim("tan", "food", is_target=True, of_polarity="positive"), {FOOD: "stage1+ tan+"}),
        (Claim("tan", "food", is_target=False, of_polarity="positive"), {FOOD: "stage1+ tan-"}),
        (Claim("review", "food", is_target=True), {FOOD: "stage1+ review+"}),
        (Claim("review", "food", flips_without_polarity=True), {FOOD: "stage1+ review-"}),
        (
            Claim("cj", "food", polarity="neutral", of_polarity="positive"),
            {FOOD: "stage1+ cj-", ("food", "neutral"): "stage1- cj+"},
        ),
        (
            Claim("review", "food", is_target=True, polarity="negative"),
            {FOOD: "stage1+", ("food", "negative"): "stage1- review+"},
        ),
        (Claim("review", "price", is_target=True, polarity="positive"), {("price", "positive"): "review+"}),
        (Claim("review", "view", is_target=True, polarity="positive"), {("view", "positive"): "review+"}),
        (Claim("tan", "price", is_target=True), {}),
    ],
)
def test_a_claim_makes_a_candidate_or_speaks_about_one(claim: Claim, said: dict[Any, str]) -> None:
    expected = {FOOD: "stage1+", SERVICE: "stage1+"} | said
    assert heard(first(FOOD, SERVICE), claim) == expected


def test_a_claim_about_one_of_two_polarities_says_nothing_of_the_other() -> None:
    analysis = first(FOOD, ("food", "negative"))
    assert heard(analysis, Claim("tan", "food", is_target=False, of_polarity="negative")) == {
        FOOD: "stage1+",
        ("food", "negative"): "stage1+ tan-",
    }


def test_the_last_claim_of_a_witness_counts() -> None:
    said = [Claim("epm", "food", polarity=polarity, of_polarity="positive") for polarity in ("negative", "positive")]
    assert heard(first(FOOD), *said) == {("food", "negative"): "stage1-", FOOD: "stage1+ epm+"}


def test_the_reader_names_its_own_pairs_and_gives_every_other_one_a_probability() -> None:
    reader = b.TableReader(
        {"food": ReaderView(0.5, "positive", 0.8)}, finds={"price": ReaderView(0.9, "positive", 0.9)}
    )
    assert heard(first(FOOD, SERVICE), reader=reader) == {
        FOOD: "stage1+ reader-0.4",
        SERVICE: "stage1+",
        ("price", "positive"): "reader+0.81",
    }


def test_a_term_that_nobody_else_judges_has_the_readers_polarity() -> None:
    reader = b.TableReader({"price": ReaderView(0.5, "neutral", 0.9)})
    analysis, claim = first(FOOD), Claim("tan", "price", is_target=True)
    _, added = gather(analysis, [claim], ReaderVoice(reader, b.TEXT, "en"))
    assert (added.aspect_term, added.polarity, added.is_polarity_of_reader) == ("price", "neutral", True)
    judged = Claim("review", "price", is_target=True, polarity="positive")
    assert ("price", "neutral") not in heard(analysis, claim, judged, reader=reader)


def test_one_term_with_and_without_its_particle_is_one_candidate() -> None:
    analysis = first(("음식", "positive"), text=TEXT, language="ko")
    claims = [Claim(who, "가격은", is_target=True, polarity="positive") for who in ("tan", "review")]
    assert heard(analysis, *claims) == {("음식", "positive"): "stage1+", ("가격", "positive"): "tan+ review+"}


def test_where_the_answers_are_the_readers_own_they_count_once() -> None:
    reader = b.TableReader(finds={"food": ReaderView(0.9, "positive", 0.9)})
    claims = [Claim("judge", "food", is_target=True, polarity="positive", of_polarity="positive")]
    assert heard(first(FOOD), *claims, reader=reader, own=True) == {FOOD: "stage1+0.81"}


def test_a_language_that_the_reader_does_not_know_leaves_it_silent() -> None:
    reader = b.TableReader(finds={"food": ReaderView(0.9, "negative", 0.9)})
    assert heard(first(FOOD, language="other"), reader=reader) == {FOOD: "stage1+"}


def test_candidates_stand_in_text_order_and_those_without_a_place_last() -> None:
    claims = [Claim("review", term, is_target=True, polarity="neutral") for term in ("view", "price")]
    terms = [term for term, _ in heard(first(SERVICE, FOOD, ("", "positive")), *claims)]
    assert terms == ["food", "service", "price", "", "view"]
