"""How a text is read: the cases that decide what an opinion is said of and which way it points."""

import subprocess
import sys

import pytest
from tests.backends.embedded.role_chain import first_look

from episodic_absa.backends.embedded import EmbeddedEngine
from episodic_absa.backends.embedded.text_reading import read_text
from episodic_absa.vocabulary import Language


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("서비스는 친절했지만 음식은 별로였어", "ko", {("서비스", "positive"), ("음식", "negative")}),
        (
            "The battery lasts long, but the screen is too dark.",
            "en",
            {("battery", "positive"), ("screen", "negative")},
        ),
        ("음식이 안 좋아요", "ko", {("음식", "negative")}),
        ("음식이 나쁘지 않아요", "ko", {("음식", "positive")}),
        ("The coffee is not bad.", "en", {("coffee", "positive")}),
        ("The food was not good at all.", "en", {("food", "negative")}),
        ("다시는 안 가요", "ko", {("", "negative")}),
        ("눈치 보지 않아도 돼서 편해요", "ko", {("", "positive")}),
        ("Never coming back.", "en", {("", "negative")}),
        ("It would be nice if the room had a window.", "en", {("", "negative")}),
        ("배터리가 오래 갔으면 좋겠어요", "ko", {("배터리", "negative")}),
        ("I wish the screen were brighter.", "en", {("screen", "negative")}),
        ("음식이 맛있나요?", "ko", {("음식", "neutral")}),
        ("Is the food good?", "en", {("food", "neutral")}),
        ("아이폰보다 화면이 선명해요", "ko", {("화면", "positive")}),
        ("The phone is better than my old one.", "en", {("phone", "positive")}),
        ("음식과 서비스가 훌륭했어요", "ko", {("음식", "positive"), ("서비스", "positive")}),
        (
            "The staff, the food, and the view were amazing.",
            "en",
            {("staff", "positive"), ("food", "positive"), ("view", "positive")},
        ),
        ("배터리가 길어요", "ko", {("배터리", "positive")}),
        ("웨이팅이 길어요", "ko", {("웨이팅", "negative")}),
        ("Although the room was small, the bed was comfy.", "en", {("room", "negative"), ("bed", "positive")}),
        ("The store opens at nine.", "en", {("store", "neutral")}),
    ],
)
def test_a_case_of_the_rules(text: str, language: Language, expected: set[tuple[str, str]]) -> None:
    assert {(one.aspect_term, one.polarity) for one in first_look(text, language).atsa.sentiments} == expected


def test_confidence_follows_the_strength_of_the_words() -> None:
    strong, weak, silent = (
        first_look(text, "en").atsa.sentiments[0].confidence
        for text in ("The food was terrible.", "The food was slightly salty.", "The store opens at nine.")
    )
    assert strong >= 0.85 > weak >= 0.55 > silent >= 0.4


def test_a_marker_before_both_clauses_puts_them_on_two_sides() -> None:
    reading = read_text("Although the room was small, the bed was comfy.", "en")
    assert [clause.side for clause in reading.clauses] == [0, 1]


def test_a_text_is_read_once() -> None:
    text = "The tea was lovely, and this sentence occurs nowhere else."
    engine = EmbeddedEngine()
    assert engine.read(text, "en") is engine.read(text, "en")


def test_importing_the_engine_loads_no_analyser_and_no_lexicon() -> None:
    code = (
        "import sys, episodic_absa.backends.embedded;"
        "sys.exit(any(name.startswith(('kiwipiepy', 'vader')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
