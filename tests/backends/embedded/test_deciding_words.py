"""The words that decide a label stand in the text, in its order, and are at most two."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.backends.embedded.role_chain import ENGINE

from episodic_absa.backends.embedded.judgement.deciding_words import deciding_words
from episodic_absa.vocabulary import Language

TEXTS = (
    "The waiter was slow, rude and we will never come back.",
    "정말 최악이었고 다시는 가지 않겠어요.",
    "What a lovely, wonderful evening!",
)
SOME_TEXT = st.lists(
    st.sampled_from(["slow,", "rude", "lovely", "not", "최악이에요", "좋아요!", "the", "😀", "\u200b", "a\tb", "\n"]),
    max_size=8,
).map(" ".join)


@settings(max_examples=40, deadline=None)
@given(SOME_TEXT, st.sampled_from(["positive", "negative"]), st.sampled_from(get_args(Language)))
def test_deciding_words_stand_in_the_text_in_its_order(text: str, label: str, language: Language) -> None:
    words = deciding_words(ENGINE.read(text, language), label)
    assert len(words) <= 2
    place = 0
    for word in words:
        assert word
        place = text.index(word, place) + len(word)


@pytest.mark.parametrize(
    ("text", "language", "label", "expected"),
    [
        (TEXTS[0], "en", "negative", "slow"),
        (TEXTS[1], "ko", "negative", "최악이었고"),
        (TEXTS[2], "en", "positive", "wonderful"),
    ],
)
def test_they_are_the_words_that_speak_for_the_label(text: str, language: Language, label: str, expected: str) -> None:
    assert expected in " ".join(deciding_words(ENGINE.read(text, language), label))


@pytest.mark.parametrize("label", ["neutral", "mixed", None])
def test_a_label_that_takes_no_side_is_decided_by_no_words(label: str | None) -> None:
    assert deciding_words(ENGINE.read(TEXTS[0], "en"), label) == ()
