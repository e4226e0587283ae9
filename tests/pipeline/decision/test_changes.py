"""Which changes are proposed, by whom, and in which order."""

from typing import Any

import pytest
from tests.pipeline import builders as b

from episodic_absa.pipeline.decision import Claim, changes_of
from episodic_absa.schemas.reader_view import ReaderView

TEXT = b.TEXT
FIRST = b.first_of(
    b.stage1_of(
        [b.aspect("food"), b.aspect("service")], [b.sentiment("food", "positive"), b.sentiment("service", "negative")]
    )
)
FLIP = ("flip", "food", "positive", "negative")
DROP = ("drop", "food", "positive", None)
ADD = ("add", "price", None, "positive")


def changes(*claims: Claim, first: Any = FIRST, **reading: Any) -> list[Any]:
    found = changes_of(claims, first, **reading)
    return [(change.kind, change.aspect_term, change.from_polarity, change.to_polarity) for change in found]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (Claim("epm", "food", polarity="negative", of_polarity="positive"), [FLIP]),
        (Claim("review", "food", polarity="negative"), [FLIP]),
        (Claim("tan", "food", is_target=False), [DROP]),
        (Claim("judge", "food", is_target=False, of_polarity="positive"), [DROP]),
        (Claim("review", "food", flips_without_polarity=True), [("flip", "food", "positive", None)]),
        (Claim("review", "price", is_target=True, polarity="positive"), [ADD]),
        (Claim("tan", "price", is_target=True), [("add", "price", None, None)]),
        (Claim("judge", "price", polarity="positive"), [ADD]),
        # An added pair whose opposite Stage1 holds: the decision refuses it as a conflict.
        (Claim("review", "food", is_target=True, polarity="negative"), [("add", "food", None, "negative")]),
        (Claim("review", "food", is_target=True, polarity="positive"), []),
        (Claim("epm", "food", polarity="positive", of_polarity="positive"), []),
        (Claim("tan", "food", is_target=True, of_polarity="positive"), []),
        (Claim("review", "food", is_target=True), []),
        (Claim("tan", "garden", is_target=False), []),
        (Claim("cj", "food", is_target=False, of_polarity="negative"), []),
    ],
)
def test_a_claim_asks_for_the_change_that_it_means_or_for_none(claim: Claim, expected: Any) -> None:
    assert changes(claim) == expected


def test_equal_changes_are_one_change_and_ids_follow_the_text() -> None:
    claims = (
        Claim("tan", "price", is_target=True),
        Claim("tan", "service", is_target=False),
        Claim("cj", "food", polarity="negative"),
        Claim("cj", "service", is_target=False),
        Claim("judge", "food", polarity="negative"),
        Claim("review", "service", is_target=False),
    )
    assert [(change.change_id, change.kind, change.aspect_term) for change in changes_of(claims, FIRST)] == [
        ("chg_001", "flip", "food"),
        ("chg_002", "drop", "service"),
        ("chg_003", "add", "price"),
    ]


def test_an_implicit_pair_is_flipped_and_dropped_like_others() -> None:
    first = b.first_of(b.stage1_of([], [b.sentiment("", "positive")]))
    claims = Claim("cj", "", polarity="negative"), Claim("cj", "", is_target=False)
    assert changes(*claims, first=first) == [("flip", "", "positive", "negative"), ("drop", "", "positive", None)]


def test_a_term_with_two_polarities_is_edited_pair_by_pair() -> None:
    pairs = [b.sentiment("food", "positive"), b.sentiment("food", "negative")]
    first = b.first_of(b.stage1_of([b.aspect("food")], pairs))
    assert changes(Claim("tan", "food", is_target=False), first=first) == [DROP, ("drop", "food", "negative", None)]
    named = Claim("cj", "food", is_target=False, of_polarity="negative")
    assert changes(named, first=first) == [("drop", "food", "negative", None)]
    assert changes(Claim("review", "food", polarity="negative"), first=first) == [FLIP]


def test_an_added_term_keeps_the_words_of_the_text_and_has_no_place_outside_it() -> None:
    claims = Claim("tan", "PRICE", is_target=True), Claim("tan", "garden", is_target=True)
    price, garden = changes_of(claims, FIRST)
    assert (price.aspect_term, price.to_span) == ("price", b.span_of("price"))
    assert (garden.aspect_term, garden.to_span) == ("garden", None)


@pytest.mark.parametrize(
    ("reader", "more", "polarity"),
    [
        (None, (), None),
        (b.TableReader({"price": ReaderView(0.8, "neutral", 0.7)}), (), "neutral"),
        (
            b.TableReader({"price": ReaderView(0.8, "neutral", 0.7)}),
            (Claim("review", "price", is_target=True, polarity="negative"),),
            "negative",
        ),
    ],
)
def test_a_term_that_is_only_named_takes_the_polarity_of_stage2_else_of_the_reader(
    reader: Any, more: Any, polarity: Any
) -> None:
    (change,) = changes_of((Claim("tan", "price", is_target=True), *more), FIRST, reader=reader)
    assert (change.to_polarity, change.is_polarity_of_reader) == (polarity, polarity == "neutral")


def test_korean_terms_are_matched_without_their_particle() -> None:
    text = "음식이 맛있고 가격은 비싸요"
    stage1 = b.stage1_of([b.aspect("음식", text)], [b.sentiment("음식", "positive", text=text)])
    claims = Claim("review", "가격은", is_target=True, polarity="negative"), Claim("tan", "음식", is_target=False)
    assert changes(*claims, first=b.first_of(stage1, text, "ko")) == [
        ("drop", "음식", "positive", None),
        ("add", "가격", None, "negative"),
    ]


def test_more_changes_than_ids_are_cut() -> None:
    terms = [f"w{number}" for number in range(1200)]
    claims = [Claim("tan", term, is_target=True) for term in terms]
    found = changes_of(claims, b.first_of(b.stage1_of(), " ".join(terms)))
    assert (len(found), found[0].aspect_term, found[-1].change_id) == (999, "w0", "chg_999")
