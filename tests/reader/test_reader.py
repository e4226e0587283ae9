"""The reader through its door: what it says of a text depends on that text alone, whatever the text is."""

import random
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from subprocess import run

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_absa import InputError
from episodic_absa.language import norm
from episodic_absa.reader.reader import Reader, default_reader, read
from episodic_absa.reader.reading import DIGITS, LABELS, OVERLAP, TOPICS, WINDOW, windows
from episodic_absa.reader.readings import Reading
from episodic_absa.vocabulary import POLARITIES, Language

TEXTS = (
    "The room was clean, but the staff was rude.",
    "방은 깨끗했지만 직원이 불친절했어요.",
    "I would not call the soup hot 😡, the bread was fine.",
    "배터리는 오래가요 👍 화면은 어두워요",
    "Opening hours: nine to five.",
    "가" * 300,
    "The soup was cold. " * 120,
)
BLANK = ("", " ", "\n\t")
EMOJI = ("😀👍", "👨\u200d👩\u200d👧", "🏳️\u200d🌈", "\u202eroom")
ODD = (*BLANK, *EMOJI, "\ud800", "clean \udfff room", "a\0b", "N/A", "ㅋㅋㅋㅋ", "!!!", "5/5")
OTHERS = ("Das Zimmer war sauber.", "部屋はきれいでした。", "Ни один", "१२३")


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_reads_the_same_alone_and_in_any_company_order_and_number_of_threads(text: str) -> None:
    alone = Reader(threads=1).read(text)
    for threads in (1, 2, 5):
        company = random.Random(threads).sample(TEXTS, len(TEXTS))
        readings = list(Reader(threads=threads).read_many(company))
        assert readings[company.index(text)] == alone


def test_many_threads_that_ask_at_once_get_the_same_answers() -> None:
    fresh = Reader()
    with ThreadPoolExecutor(6) as pool:
        asked = list(pool.map(fresh.read, TEXTS * 3))
    assert asked == [default_reader().read(text) for text in TEXTS] * 3


def check(reading: Reading, text: str) -> None:
    """What holds of every reading."""
    ends = [
        (pair.start, pair.end) for pair in sorted((*reading.pairs, *reading.candidates), key=lambda pair: pair.start)
    ]
    assert all(end <= start for (_, end), (start, _) in pairwise(ends))
    terms = [norm(pair.term) for pair in (*reading.pairs, *reading.candidates)]
    assert len(terms) == len(set(terms))
    for pair in (*reading.pairs, *reading.candidates):
        assert text[pair.start : pair.end] == pair.term != ""
        assert pair.polarity in POLARITIES
        assert pair.topic in TOPICS
        assert 0.0 <= pair.p <= 1.0 == round(1.0, DIGITS)
        assert pair.p == round(pair.p, DIGITS)
    assert reading.label in (*LABELS, None)
    assert (reading.opinion is None) or not reading.pairs


@pytest.mark.parametrize("text", [*TEXTS, *ODD])
@pytest.mark.parametrize("language", ["en", "ko", None])
def test_every_text_has_a_reading_whose_terms_stand_in_it(text: str, language: Language | None) -> None:
    check(default_reader().read(text, language), text)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120), st.sampled_from(["en", "ko", "other"]))
def test_any_text_is_read(text: str, language: Language) -> None:
    check(default_reader().read(text, language), text)


@pytest.mark.parametrize("text", BLANK)
def test_a_text_without_a_word_judges_nothing(text: str) -> None:
    reading = default_reader().read(text, "en")
    assert (reading.pairs, reading.candidates, reading.label) == ((), (), "none")


@pytest.mark.parametrize("text", ["없음", "없습니다.", "asdf", "N/A", "해당 없음", "1234"])
def test_a_korean_filler_judges_nothing(text: str) -> None:
    reading = default_reader().read(text, "ko")
    assert (reading.pairs, reading.label) == ((), "none")


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("직원 👎", ("직원", "negative")),
        ("직원 👎🏽", ("직원", "negative")),
        ("배송 👍", ("배송", "positive")),
        ("화면 😡", ("화면", "negative")),
    ],
)
def test_an_emoji_beside_a_korean_noun_judges_it_in_any_colour(text: str, pair: tuple[str, str]) -> None:
    assert [(found.term, found.polarity) for found in default_reader().read(text).pairs] == [pair]


@pytest.mark.parametrize("text", OTHERS)
def test_a_text_in_another_language_is_not_read(text: str) -> None:
    assert read(text) == Reading("other")
    assert default_reader().view(text, "other", text[:3]) is None
    assert default_reader().pairs(text, "other") == ()
    assert not default_reader().reads("other")


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="must be a string, got bytes"):
        read(b"x")  # type: ignore[arg-type]


def test_windows_cover_every_token_once_or_twice_and_their_number_is_linear() -> None:
    for length in (0, 1, WINDOW, WINDOW + 1, 1000, 20_000):
        parts = windows(length)
        assert parts[0][0] == 0
        assert parts[-1][1] == length
        assert all(end - start <= WINDOW for start, end in parts)
        assert all(left[1] - right[0] == OVERLAP for left, right in pairwise(parts))
        assert len(parts) <= 1 + length / (WINDOW - OVERLAP)


@pytest.mark.parametrize("sentence", ["The room was clean. ", "방이 깨끗했어요. "])
def test_a_review_of_20_000_characters_is_read_in_windows(sentence: str) -> None:
    text = (sentence * 20_000)[:20_000]
    check(default_reader().read(text), text)


@pytest.mark.parametrize("text", TEXTS[:4])
def test_a_named_pair_and_its_view_agree(text: str) -> None:
    reading = read(text)
    pairs = default_reader().pairs(text, reading.language)
    assert [(pair.term, pair.start, pair.end) for pair in pairs] == [pair[:3] for pair in reading.pairs]
    for own, pair in zip(pairs, reading.pairs, strict=True):
        assert own.view.polarity == pair.polarity
        assert own.view.p_of(pair.polarity) == pytest.approx(pair.p, abs=0.002)
        assert default_reader().view(text, reading.language, pair.term.upper()) == own.view


def test_any_term_of_a_text_has_a_view_and_no_other() -> None:
    text = TEXTS[0]
    view = default_reader().view(text, "en", "clean")
    assert view is not None
    assert 0.0 <= view.p_target <= 1.0
    assert 1 / 3 <= view.p_polarity <= 1.0
    for absent in ("minibar", "", "...", "taff"):
        found = default_reader().view(text, "en", absent)
        assert (found is None) == (absent != "taff")  # a part of a word stands in the text


@pytest.mark.parametrize("text", TEXTS[:2])
def test_decomposed_letters_read_like_composed_ones(text: str) -> None:
    decomposed = unicodedata.normalize("NFD", text)
    assert [pair.polarity for pair in read(decomposed, read(text).language).pairs] == [
        pair.polarity for pair in read(text).pairs
    ]


def test_nothing_heavy_is_loaded_before_a_text_is_read() -> None:
    code = "import sys; from episodic_absa.reader.reader import default_reader; default_reader()"
    code += "; print({'onnxruntime', 'tokenizers'} & {*sys.modules})"
    assert run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_a_thing_that_a_fact_merely_names_is_hardly_a_target() -> None:
    view = default_reader().view("The developer is a two-person studio from Ghent.", "en", "Ghent")
    assert view is not None
    assert view.p_target < 0.1
