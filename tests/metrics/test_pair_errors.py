"""The error taxonomy: which class a pair falls into."""

import pytest
from hypothesis import given
from tests.metrics import oracles
from tests.metrics.drawn_cards import ok_card, some_tuples, valid_gold
from tests.metrics.hand_made_cards import NO_POLARITY, Pairs, make_card

from episodic_absa.metrics import PairErrors, pair_errors
from episodic_absa.schemas.absa import FinalTuple, Span
from episodic_absa.schemas.gold import GoldTuple


@pytest.mark.parametrize(
    ("final", "gold", "expected"),
    [
        ([("Food", "positive")], [("food", "positive")], PairErrors(right=1)),
        ([("food", "negative")], [("food", "positive")], PairErrors(polarity=1)),
        ([("food", "positive"), ("food", "negative")], [("food", "positive")], PairErrors(right=1, spurious=1)),
        ([("service", "positive")], [("services", "positive")], PairErrors(boundary=1)),
        ([("service", "negative")], [("table service", "positive")], PairErrors(boundary=1)),
        ([("서비스", "negative")], [("고객서비스", "negative")], PairErrors(boundary=1)),
        ([("pen", "positive")], [("open kitchen", "positive")], PairErrors(missed=1, spurious=1)),
        ([("", "positive")], [("", "negative")], PairErrors(polarity=1)),
        ([("", "positive")], [("food", "positive")], PairErrors(missed=1, spurious=1)),
        ([], [("food", "positive")], PairErrors(missed=1)),
        ([("food", "positive")], [], PairErrors(spurious=1)),
        # One to one: the equal polarity is joined first, the other prediction has no partner.
        (
            [("wine", "negative"), ("list", "positive")],
            [("wine list", "positive")],
            PairErrors(missed=0, spurious=1, boundary=1),
        ),
    ],
)
def test_a_pair_falls_into_one_class(final: Pairs, gold: Pairs, expected: PairErrors) -> None:
    assert pair_errors(make_card(final, gold)) == expected


@pytest.mark.parametrize(("start", "expected"), [(5, PairErrors(boundary=1)), (40, PairErrors(missed=1, spurious=1))])
def test_spans_decide_where_both_are_known(start: int, expected: PairErrors) -> None:
    final = FinalTuple(
        aspect_term="menu", polarity="positive", confidence=1, grounding="explicit", span=Span(start=9, end=13)
    )
    gold = GoldTuple(aspect_term="dinner menu", polarity="positive", span=Span(start=start, end=start + 11))
    card = make_card([("menu", "positive")], []).model_copy(update={"final_tuples": (final,), "gold_tuples": (gold,)})
    assert pair_errors(card) == expected


def test_a_failed_sample_and_one_without_valid_gold_have_no_classes() -> None:
    assert pair_errors(make_card([("food", "positive")])) is None
    assert pair_errors(make_card([], []).model_copy(update={"gold_tuples": (NO_POLARITY,)})) is None
    assert pair_errors(make_card([], [("food", "positive")]).model_copy(update={"status": "error"})) is None


@given(final=some_tuples, gold=valid_gold)
def test_no_pair_is_lost_and_none_is_counted_twice(final: tuple[FinalTuple, ...], gold: tuple[GoldTuple, ...]) -> None:
    card = ok_card().model_copy(update={"final_tuples": final, "gold_tuples": gold})
    errors = pair_errors(card)
    assert errors is not None
    assert min(errors) >= 0
    assert errors.predicted == len(oracles.pairs(final))
    assert errors.gold == len(oracles.gold_pairs(card))
