"""The label of a whole text: what tuples and text say together."""

import pytest
from tests.backends.embedded.role_chain import ENGINE

from episodic_absa.backends.embedded.judgement.sentence_label import sentence_label
from episodic_absa.schemas.absa import SentimentItem
from episodic_absa.vocabulary import Language, Polarity


def item(term: str, polarity: Polarity, confidence: float, evidence: str = "") -> SentimentItem:
    return SentimentItem(aspect_term=term, polarity=polarity, confidence=confidence, evidence=evidence)


def test_two_sure_sides_make_a_text_mixed() -> None:
    reading = ENGINE.read("The food was great but the service was slow.", "en")
    assert sentence_label(reading, [item("food", "positive", 0.95), item("service", "negative", 0.94)])[0] == "mixed"


def test_a_weak_second_side_does_not_make_a_text_mixed() -> None:
    reading = ENGINE.read("The food was great and the table was small.", "en")
    assert sentence_label(reading, [item("food", "positive", 0.95), item("table", "negative", 0.45)])[0] == "positive"


def test_a_neutral_tuple_takes_no_side() -> None:
    reading = ENGINE.read("We sat at the table and the soup was wonderful.", "en")
    judged = [item("soup", "positive", 0.9)]
    assert sentence_label(reading, judged)[0] == sentence_label(reading, [*judged, item("table", "neutral", 0.97)])[0]


def test_the_label_is_stated_no_less_surely_than_the_surest_tuple_it_weighed() -> None:
    reading = ENGINE.read("We sat at the table and the soup was wonderful.", "en")
    label, confidence = sentence_label(reading, [item("soup", "positive", 0.6), item("table", "neutral", 0.97)])
    assert (label, confidence) == ("positive", 0.97)


def test_without_tuples_the_label_states_its_own_probability() -> None:
    label, confidence = sentence_label(ENGINE.read("진짜 별로였어요", "ko"), [])
    assert label == "negative"
    assert 0.5 < confidence < 1.0


@pytest.mark.parametrize(("text", "language"), [("", "en"), ("Das Essen war gut.", "other")])
def test_where_nothing_is_known_the_label_is_neutral_at_even_odds(text: str, language: Language) -> None:
    assert sentence_label(ENGINE.read(text, language), []) == ("neutral", 0.5)


def test_hundreds_of_tuples_do_not_overflow() -> None:
    reading = ENGINE.read("The soup was wonderful.", "en")
    assert sentence_label(reading, [item("soup", "negative", 0.9)] * 400)[0] == "negative"
