"""A text that tells, plans or asks holds no opinion, however many products it mentions."""

import pytest

from episodic_absa.backends.embedded import EmbeddedEngine
from episodic_absa.backends.embedded.model.weighing import weigh, without_opinion
from episodic_absa.schemas.role_inputs import AtsaInputs
from episodic_absa.vocabulary import Language

ENGINE = EmbeddedEngine()


def judged(text: str, language: Language) -> list[tuple[str, str]]:
    """Return what Stage1 shows of a text."""
    sentiments = ENGINE.answer("atsa", AtsaInputs(text=text, language=language, aspects=None)).sentiments
    return [(sentiment.aspect_term, sentiment.polarity) for sentiment in sentiments]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("We took the morning train with two kids and a cello.", "en"),
        ("It comes with a charger, a cable and a case.", "en"),
        ("Does the blue one come with a lid?", "en"),
        ("I ordered a medium in green and a large in grey.", "en"),
        ("Closed on Mondays and on public holidays.", "en"),
        ("어제 노트북이랑 마우스를 주문했어요", "ko"),
        ("다음 주말에 부모님 모시고 가려고 예약했습니다.", "ko"),
        ("이 제품은 세탁기에 돌려도 되나요?", "ko"),
        ("상자 안에 케이블과 설명서가 들어 있습니다.", "ko"),
        ("평일은 열 시에 열고 일요일은 쉽니다.", "ko"),
    ],
)
def test_facts_plans_and_questions_are_shown_as_nothing(text: str, language: Language) -> None:
    assert judged(text, language) == []


@pytest.mark.parametrize(
    ("text", "language", "pairs"),
    [
        ("The lid cracked on the second day.", "en", [("lid", "negative")]),
        ("Never again.", "en", [("", "negative")]),
        ("뚜껑이 이틀 만에 깨졌어요", "ko", [("뚜껑", "negative")]),
        ("다시는 안 갑니다", "ko", [("", "negative")]),
    ],
)
def test_a_short_complaint_is_still_shown(text: str, language: Language, pairs: list[tuple[str, str]]) -> None:
    assert judged(text, language) == pairs


def test_a_text_of_a_trained_domain_is_always_taken_to_judge() -> None:
    text = "The hotel room was on the third floor and the hotel staff carried our bags to the room after check-in."
    reading = ENGINE.read(text, "en")
    assert weigh(reading).domain == "hotel"
    assert without_opinion(reading) == 0.0
