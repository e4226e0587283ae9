"""The scores of one sample: what counts as a hit."""

import pytest
from tests.metrics.hand_made_cards import Pairs, make_card, make_tuple, make_tuples

from episodic_absa.metrics.per_sample.gold_and_predictions import valid_gold
from episodic_absa.metrics.per_sample.pair_scores import PAIR_SCORES

GOLD: Pairs = (("food", "positive"), ("staff", "negative"), ("", "negative"))


@pytest.mark.parametrize(
    ("metric", "found", "score"),
    [
        ("tuple_f1_explicit", [("Food ", "positive"), ("staff", "negative")], 1.0),
        ("tuple_f1_explicit", [("food", "positive")], 2 / 3),
        ("tuple_f1_explicit", [("food", "negative")], 0.0),
        ("tuple_f1_explicit", [("seafood", "positive")], 0.0),
        ("tuple_f1_explicit", [("food", "positive"), ("", "negative"), ("", "positive")], 2 / 3),
        ("tuple_f1_explicit", [], 0.0),
        ("tuple_precision_explicit", [("food", "positive"), ("bar", "positive")], 1 / 2),
        ("tuple_precision_explicit", [], 0.0),
        ("tuple_recall_explicit", [("food", "positive"), ("bar", "positive")], 1 / 2),
        ("tuple_f1_overall", GOLD, 1.0),
        ("tuple_f1_overall", [("food", "positive"), ("room", "negative")], 2 / 5),
        ("tuple_f1_implicit", [("", "negative"), ("food", "positive")], 1.0),
        ("tuple_f1_implicit", [("", "positive")], 0.0),
        ("tuple_f1_lenient", [("food", "positive"), ("room", "negative")], 4 / 5),
        # The one implicit gold pair takes one prediction, not two.
        ("tuple_f1_lenient", [("room", "negative"), ("bed", "negative")], 2 / 5),
        # A prediction that met its own gold is not free for another.
        ("tuple_f1_lenient", [("staff", "negative")], 2 / 4),
        ("tuple_f1_lenient", [("", "negative"), ("room", "negative")], 2 / 5),
        ("exact_match", GOLD, 1.0),
        ("exact_match", GOLD[:2], 0.0),
        ("implicit_invalid_pred_rate", [("", "positive")], 0.0),
        ("implicit_invalid_pred_rate", GOLD[:2], 1.0),
        ("generalized_f1@0.95", GOLD, 1.0),
    ],
)
def test_a_sample_scores(metric: str, found: Pairs, score: float) -> None:
    gold = valid_gold(make_card(gold=GOLD))
    assert gold is not None
    assert PAIR_SCORES[metric](make_tuples(found), gold) == pytest.approx(score)


def test_a_representative_is_explicit_sure_and_first() -> None:
    gold = valid_gold(make_card(gold=[("food", "positive")]))
    assert gold is not None
    surer = make_tuple("food", "positive", confidence=0.9), make_tuple("food", "negative", confidence=0.8)
    assert PAIR_SCORES["tuple_f1_overall"](surer, gold) == pytest.approx(2 / 3)
    assert PAIR_SCORES["tuple_f1_after_rep"](surer, gold) == 1.0
    unsure = make_tuple("food", "positive", confidence=0.1), make_tuple("food", "negative", confidence=0.8)
    assert PAIR_SCORES["tuple_f1_after_rep"](unsure, gold) == 0.0
