"""The row of a sample in the explorer."""

from tests.metrics.hand_made_cards import make_card

from episodic_absa.reports.data.report_samples import answer_of


def test_a_condition_differs_by_its_final_pairs_and_not_by_its_label() -> None:
    card = make_card([("food", "positive")], None)
    other = card.model_copy(update={"label": "negative" if card.label != "negative" else "positive"})
    assert answer_of(card, count_backfilled=False) == answer_of(other, count_backfilled=False)
