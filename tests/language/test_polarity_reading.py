"""How a polarity word is read. Missing is never neutral."""

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_absa.language import read_label, read_polarity

FULL = ("positive", "negative", "neutral")
SHORT = {"pos": "positive", "neg": "negative", "neu": "neutral"}
How = Literal["exact", "repaired", "invalid"]


def levenshtein(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (letter != other))
    return row[-1]


def oracle(word: str) -> tuple[str | None, How]:
    low = word.lower()
    if low in FULL or low in SHORT:
        return SHORT.get(low, low), "exact"
    distances = sorted((levenshtein(low, full), full) for full in FULL)
    if 1 <= distances[0][0] <= 2 and distances[0][0] < distances[1][0]:
        return distances[0][1], "repaired"
    return None, "invalid"


WORDS: list[tuple[str, str | None, How]] = [
    ("positive POSITIVE pos", "positive", "exact"),
    ("negative Negative NEG", "negative", "exact"),
    ("neutral nEuTrAl Neu", "neutral", "exact"),
    ("positiv postive posittve positivee POZITIV positives", "positive", "repaired"),
    ("negitive negtve relative native", "negative", "repaired"),
    ("nuetral netral neutrall", "neutral", "repaired"),
    ("mixed po posi none null good negatively-so 긍정", None, "invalid"),
]


@pytest.mark.parametrize(
    ("word", "polarity", "how"),
    [("", None, "invalid"), *((word, *row) for words, *row in WORDS for word in words.split())],
)
def test_a_polarity_word_is_taken_repaired_or_refused(word: str, polarity: str | None, how: str) -> None:
    reading = read_polarity(word)
    assert (reading.polarity, reading.how) == (polarity, how)
    assert oracle(word) == (polarity, how)


def test_a_missing_polarity_is_null_and_not_neutral() -> None:
    assert read_polarity(None).polarity is None


@st.composite
def misspelt(draw: st.DrawFn) -> str:
    word = draw(st.sampled_from([*FULL, *SHORT]))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(word)))
        cut = draw(st.integers(0, 1))
        word = word[:at] + draw(st.sampled_from(["", "a", "e", "i", "t", "v", "z"])) + word[at + cut :]
    return draw(st.sampled_from([word, word.upper(), word.capitalize()]))


@settings(max_examples=250, deadline=None)
@given(misspelt())
def test_reading_agrees_with_the_levenshtein_oracle(word: str) -> None:
    reading = read_polarity(word)
    assert (reading.polarity, reading.how) == oracle(word)


@pytest.mark.parametrize("word", ["positive", "negative", "neutral", "mixed"])
def test_a_sentence_label_may_be_mixed(word: str) -> None:
    assert read_label(word) == word
    assert read_label(word.upper()) == word


@pytest.mark.parametrize("word", [None, "", "whatever", "none"])
def test_an_unreadable_sentence_label_is_null(word: str | None) -> None:
    assert read_label(word) is None
