"""Which changes are proposed, by whom, and in which order."""

from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.pipeline.decision.changes import ProposedChange, changes_of
from episodic_absa.pipeline.decision.claims import Stage1Pairs, read_claims
from episodic_absa.schemas.reader_view import ReaderView

b: Any = builders
TEXT = b.TEXT


def stage1(*proposals: Any) -> Any:
    return b.stage1_of(
        [b.aspect("food"), b.aspect("service")],
        [b.sentiment("food", "positive"), b.sentiment("service", "negative")],
        proposals=proposals,
    )


def proposed_changes(first: Any, debate: Any, ate: Any, atsa: Any, text: str, **reading: Any) -> Any:
    pairs = Stage1Pairs(first, text)
    return changes_of(read_claims(pairs, debate, ate, atsa), pairs, **reading)


def changes(first: Any = None, debate: Any = None, ate: Any = (), atsa: Any = (), text: str = TEXT) -> list[Any]:
    found = proposed_changes(first or stage1(), debate, ate, atsa, text)
    return [(change.kind, change.aspect_term, change.from_polarity, change.to_polarity) for change in found]


def said(who: str, *edits: Any) -> Any:
    return b.debate_of({who: edits})


FLIP = ("flip", "food", "positive", "negative")
DROP = ("drop", "food", "positive", None)
ADD = ("add", "price", None, "positive")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"debate": said("epm", b.edit("set_polarity", "food", "negative"))}, FLIP),
        ({"debate": said("epm", b.edit("confirm_tuple", "food", polarity="negative"))}, FLIP),
        ({"debate": said("tan", b.edit("drop_tuple", "food"))}, DROP),
        ({"debate": said("cj", b.edit("drop_tuple", "Food."))}, DROP),
        ({"debate": b.debate_of(patch=[b.ruling("set_polarity", "food", "negative")])}, FLIP),
        ({"debate": b.debate_of(patch=[b.ruling("drop_tuple", "food")])}, DROP),
        ({"ate": [b.ate_verdict("drop", "food")]}, DROP),
        ({"atsa": [b.atsa_verdict("drop", "food")]}, DROP),
        ({"atsa": [b.atsa_verdict("flip_polarity", "food", "negative")]}, FLIP),
        ({"first": stage1(b.proposal("DROP_ASPECT", "food"))}, DROP),
        ({"atsa": [b.atsa_verdict("add", "price", "positive")]}, ADD),
        ({"debate": said("tan", b.edit("confirm_tuple", "price", polarity="positive"))}, ADD),
        ({"debate": b.debate_of(patch=[b.ruling("set_polarity", "price", "positive")])}, ADD),
        # The synonyms of the lexicon name the Stage1 term.
        ({"debate": said("cj", b.edit("drop_tuple", "meal"))}, DROP),
    ],
)
def test_each_source_can_ask_for_a_change(given: Any, expected: Any) -> None:
    assert changes(**given) == [expected]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"debate": said("epm", b.edit("set_polarity", "food", "positive"))},
        {"debate": said("tan", b.edit("confirm_tuple", "food"))},
        {"debate": said("cj", b.edit("drop_tuple", "garden"))},
        {"debate": said("cj", b.edit("merge_tuples", "food"), b.edit("set_aspect_ref", "food", "service"))},
        {"debate": b.debate_of(patch=[b.ruling("confirm_tuple", "price")])},
        {"ate": [b.ate_verdict("keep", "food"), b.ate_verdict("revise_span", "food")]},
        {"atsa": [b.atsa_verdict("keep", "food"), b.atsa_verdict("reduce_confidence", "food")]},
        {"atsa": [b.atsa_verdict("add", "food", "positive")]},
        {"first": stage1(b.proposal("CHECK_SPAN", "food"))},
    ],
)
def test_what_confirms_or_means_nothing_is_no_change(given: Any) -> None:
    assert changes(**given) == []


def test_equal_changes_are_one_change_and_ids_follow_the_text() -> None:
    debate = b.debate_of(
        {
            "tan": [b.edit("confirm_tuple", "price"), b.edit("drop_tuple", "service")],
            "cj": [b.edit("set_polarity", "food", "negative"), b.edit("drop_tuple", "service")],
        },
        patch=[b.ruling("set_polarity", "food", "negative")],
    )
    found = proposed_changes(stage1(), debate, [b.ate_verdict("drop", "service")], [], TEXT)
    assert [(change.change_id, change.kind, change.aspect_term) for change in found] == [
        ("chg_001", "flip", "food"),
        ("chg_002", "drop", "service"),
        ("chg_003", "add", "price"),
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"atsa": [b.atsa_verdict("flip_polarity", "food")]},
        {"debate": said("cj", b.edit("set_polarity", "food", "unclear"))},
        {"debate": b.debate_of(patch=[b.ruling("set_polarity", "food")])},
        {"first": stage1(b.proposal("FLIP_POLARITY", "food"))},
    ],
)
def test_a_flip_without_a_polarity_is_proposed_without_one_and_the_inverse_is_not_taken(given: Any) -> None:
    assert changes(**given) == [("flip", "food", "positive", None)]


def test_an_implicit_pair_is_flipped_and_dropped_like_others() -> None:
    first = b.stage1_of([], [b.sentiment("", "positive")])
    debate = said("cj", b.edit("set_polarity", "", "negative"), b.edit("drop_tuple", ""))
    assert changes(first, debate) == [("flip", "", "positive", "negative"), ("drop", "", "positive", None)]


def test_a_backfill_is_no_pair_and_a_polarity_for_it_is_an_added_pair() -> None:
    first = b.stage1_of([b.aspect("food")], [b.sentiment("food", "neutral", backfilled=True)])
    assert changes(first, said("cj", b.edit("drop_tuple", "food"))) == []
    assert changes(first, said("epm", b.edit("set_polarity", "food", "positive"))) == [
        ("add", "food", None, "positive")
    ]


def test_a_term_with_two_polarities_is_edited_pair_by_pair() -> None:
    first = b.stage1_of([b.aspect("food")], [b.sentiment("food", "positive"), b.sentiment("food", "negative")])
    assert changes(first, said("tan", b.edit("drop_tuple", "food"))) == [DROP, ("drop", "food", "negative", None)]
    named = said("cj", b.edit("drop_tuple", "food", polarity="negative"))
    assert changes(first, named) == [("drop", "food", "negative", None)]
    assert changes(first, said("epm", b.edit("set_polarity", "food", "negative"))) == [FLIP]


def test_an_added_term_keeps_the_words_of_the_text_and_has_no_place_outside_it() -> None:
    debate = said("tan", b.edit("confirm_tuple", "PRICE", polarity="positive"), b.edit("confirm_tuple", "garden"))
    price, garden = proposed_changes(stage1(), debate, [], [], TEXT)
    assert (price.aspect_term, price.to_span) == ("price", b.span_of("price"))
    assert (garden.aspect_term, garden.to_span) == ("garden", None)


class ScriptedReader:
    """Has one view of every term."""

    def view(self, text: str, language: str, term: str) -> ReaderView | None:
        return ReaderView(0.8, "neutral", 0.7) if language == "en" and term in text else None


@pytest.mark.parametrize(
    ("reader", "atsa", "polarity"),
    [
        (None, (), None),
        (ScriptedReader(), (), "neutral"),
        (ScriptedReader(), (b.atsa_verdict("add", "price", "negative"),), "negative"),
    ],
)
def test_a_term_that_is_only_named_takes_the_polarity_of_stage2_else_of_the_reader(
    reader: Any, atsa: Any, polarity: Any
) -> None:
    debate = said("tan", b.edit("confirm_tuple", "price"))
    (change,) = proposed_changes(stage1(), debate, [], atsa, TEXT, reader=reader, language="en")
    assert change.to_polarity == polarity


def test_a_revised_span_is_a_change_with_the_words_that_stand_there() -> None:
    start = TEXT.index("service was")
    verdict = b.ate_verdict("revise_span", "service", (start, start + 11))
    (change,) = proposed_changes(stage1(), None, [verdict], [], TEXT)
    assert (change.kind, change.aspect_term, change.to_term) == ("span", "service", "service was")
    (outside,) = proposed_changes(stage1(), None, [b.ate_verdict("revise_span", "service", (900, 905))], [], TEXT)
    assert outside == ProposedChange("chg_001", "span", "service")


def test_korean_terms_are_matched_without_their_particle() -> None:
    text = "음식이 맛있고 가격은 비싸요"
    first = b.stage1_of([b.aspect("음식", text)], [b.sentiment("음식", "positive", text=text)])
    debate = said("tan", b.edit("drop_tuple", "음식이"), b.edit("confirm_tuple", "가격은", polarity="negative"))
    assert changes(first, debate, text=text) == [
        ("drop", "음식", "positive", None),
        ("add", "가격", None, "negative"),
    ]


def test_more_changes_than_ids_are_cut() -> None:
    terms = [f"w{number}" for number in range(1200)]
    debate = said("tan", *(b.edit("confirm_tuple", term) for term in terms))
    found = proposed_changes(b.stage1_of(), debate, [], [], " ".join(terms))
    assert (len(found), found[0].aspect_term, found[-1].change_id) == (999, "w0", "chg_999")
