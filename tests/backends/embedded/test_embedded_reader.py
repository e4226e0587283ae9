"""The embedded reader: a witness that reads the text itself, in both languages, with probabilities that hold."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.backends.embedded.role_chain import Row, table

from episodic_absa.backends.embedded import EmbeddedEngine, EmbeddedReader
from episodic_absa.backends.embedded.embedded_reader import place_of_term, rules_view, weights_view
from episodic_absa.backends.embedded.reader_calibration import (
    CALIBRATION_FILE,
    SCORES,
    UNCALIBRATED,
    MonotoneMap,
    shipped_calibration,
)
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.vocabulary import POLARITIES, Language, Polarity

ENGINE = EmbeddedEngine()
READER = EmbeddedReader(ENGINE)
ROWS = [*table("sentence_table.yaml"), *table("second_table.yaml")]
CHANGES: list[tuple[Polarity | None, Polarity | None]] = [
    (before, after) for before in (*POLARITIES, None) for after in (*POLARITIES, None)
]


def seen(text: str, language: Language, term: str) -> ReaderView:
    view = READER.view(text, language, term)
    assert view is not None
    return view


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        (
            "The room was clean but the staff was rude.",
            "en",
            {"room": "positive", "staff": "negative"},
        ),
        ("음식은 맛있지만 서비스가 별로였어요.", "ko", {"음식": "positive", "서비스": "negative"}),
    ],
)
def test_the_reader_judges_each_term_and_finds_the_pairs_itself(
    text: str, language: Language, expected: dict[str, str]
) -> None:
    assert {term: seen(text, language, term).polarity for term in expected} == expected
    pairs = READER.pairs(text, language)
    assert {pair.term: pair.view.polarity for pair in pairs} == expected
    for pair in pairs:
        assert text[pair.start : pair.end] == pair.term
        assert pair.view == seen(text, language, pair.term)


@pytest.mark.parametrize(
    ("text", "language", "written", "bare"),
    [
        ("음식은 맛있지만 서비스가 별로였어요.", "ko", "음식은", "음식"),
        ("음식은 맛있지만 서비스가 별로였어요.", "ko", "서비스가", "서비스"),
        ("The room was clean but the staff was rude.", "en", "Room", "room"),
        ("The room was clean but the staff was rude.", "en", "  staff. ", "staff"),
    ],
)
def test_a_term_with_a_particle_or_in_capitals_is_the_same_term(
    text: str, language: Language, written: str, bare: str
) -> None:
    assert READER.view(text, language, written) == READER.view(text, language, bare)


@pytest.mark.parametrize(
    ("text", "language", "term"),
    [
        ("The room was clean.", "en", "pool"),
        ("The room was clean.", "en", ""),
        ("The room was clean.", "en", " . "),
        ("음식이 맛있어요.", "ko", "서비스"),
        ("Das Zimmer war sauber.", "other", "Zimmer"),
        ("", "en", "room"),
    ],
)
def test_there_is_no_view_of_a_term_that_the_text_does_not_hold(text: str, language: Language, term: str) -> None:
    assert READER.view(text, language, term) is None
    assert READER.other_half(text, language, term, "positive", "negative") is None


def test_only_korean_and_english_are_read() -> None:
    assert [language for language in ("ko", "en", "other") if READER.reads(language)] == ["ko", "en"]
    assert READER.pairs("Das Zimmer war sauber.", "other") == ()


@pytest.mark.parametrize(
    ("text", "language", "piece", "whole"),
    [
        ("The party was great.", "en", "art", "party"),
        ("서비스가 별로였어요.", "ko", "서비", "서비스"),
    ],
)
def test_a_piece_of_a_word_is_hardly_a_target(text: str, language: Language, piece: str, whole: str) -> None:
    assert seen(text, language, piece).p_target < 0.1 < seen(text, language, whole).p_target


def test_what_nobody_judges_is_a_less_likely_target_than_what_is_judged() -> None:
    text = "My wife and I went there on Saturday and the pasta was delicious."
    assert seen(text, "en", "Saturday").p_target < 0.2 < 0.5 < seen(text, "en", "pasta").p_target


@pytest.mark.parametrize("row", ROWS[::5], ids=lambda row: row.id)
def test_every_view_is_a_pair_of_probabilities(row: Row) -> None:
    for term in {*row.text.split(), *(term for term, _ in row.expected)}:
        view = READER.view(row.text, row.language, term)
        if view is not None:
            assert 0.0 <= view.p_target <= 1.0
            assert 0.0 <= view.p_polarity <= 1.0
            assert view.polarity in POLARITIES


def test_a_text_that_says_both_of_one_term_makes_neither_side_sure() -> None:
    text = "The pasta was delicious, but later the pasta was terrible."
    assert seen(text, "en", "pasta").p_polarity < 0.9


@pytest.mark.parametrize("text", ["\ud800 good food", "\x00", "😀😀👍", "İstanbul is GREAT but İ is bad", "가" * 3000])
@pytest.mark.parametrize("language", ["ko", "en"])
def test_odd_texts_are_read_too(text: str, language: Language) -> None:
    READER.pairs(text, language)
    for term in text.split():
        READER.view(text, language, term)
        READER.other_half(text, language, term, "positive", None)


BOX = "This phone has a good battery and the seller was nice, the box was fine."


@pytest.mark.parametrize(
    ("text", "language", "term", "change", "half"),
    [
        # The weights read the whole negation, the rules at first only what stands right beside the word.
        ("I don't think the curry is good.", "en", "curry", ("positive", "negative"), "rules"),
        ("I don't think the curry is good.", "en", "curry", ("negative", "positive"), "weights"),
        ("터치감이 좋다고는 할 수 없어요", "ko", "터치감", ("positive", "negative"), "rules"),
        ("퀴즈가 쉬워서 도움이 안 됐어요", "ko", "퀴즈", ("neutral", "positive"), "rules"),
        # An opinion is tied to the box, of which the tagger thinks little; of the hotel it is the other way round.
        (BOX, "en", "box", ("positive", None), "rules"),
        ("호텔에서 사흘 동안 잠을 못 잤어요.", "ko", "호텔", ("negative", None), "weights"),
        # An added pair needs both: a target and its polarity.
        (BOX, "en", "box", (None, "positive"), "weights"),
        # Both halves propose it, or neither.
        ("My headphones keep disconnecting.", "en", "headphones", ("positive", None), None),
        ("Our server forgot the appetizers twice.", "en", "server", (None, "negative"), None),
        ("The staff was rude.", "en", "staff", ("positive", "negative"), None),
        ("The staff was rude.", "en", "staff", ("negative", "positive"), None),
        ("The staff was rude.", "en", "staff", ("negative", None), None),
        ("직원이 불친절했어요.", "ko", "직원", ("positive", "negative"), None),
        ("The staff was rude.", "en", "staff", ("negative", "negative"), None),
    ],
)
def test_the_other_half_is_the_one_that_did_not_propose_the_change(
    text: str, language: Language, term: str, change: tuple[Polarity | None, Polarity | None], half: str | None
) -> None:
    plain = EmbeddedReader(ENGINE, UNCALIBRATED)
    reading = ENGINE.read(text, language)
    place = place_of_term(reading, term)
    assert place is not None
    view = plain.other_half(text, language, term, *change)
    expected = {"rules": rules_view(reading, place), "weights": weights_view(reading, place)}.get(half or "")
    if expected is None:
        assert view is None
    else:
        assert view is not None
        assert view.polarity == expected.polarity
        assert (view.p_target, view.p_polarity) == pytest.approx((expected.target, expected.confidence), abs=1e-4)


@pytest.mark.parametrize("row", ROWS[::4], ids=lambda row: row.id)
def test_the_other_half_never_holds_the_proposed_polarity_of_a_flip(row: Row) -> None:
    for term, _ in row.expected:
        for before, after in CHANGES:
            view = READER.other_half(row.text, row.language, term, before, after)
            if view is not None and before is not None and after is not None:
                assert view.polarity != after


def test_threads_may_share_a_reader() -> None:
    reader = EmbeddedReader(EmbeddedEngine())
    questions = [(row.text, row.language, term) for row in ROWS[:40] for term, _ in row.expected] * 3
    expected = [READER.view(*question) for question in questions]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda question: reader.view(*question), questions)) == expected


def test_five_terms_of_a_text_are_one_reading() -> None:
    engine = EmbeddedEngine()
    text = "The room, the bed, the pool and the bar were great but the staff was rude."
    for term in ("room", "bed", "pool", "bar", "staff"):
        assert EmbeddedReader(engine).view(text, "en", term) is not None
    assert engine.kept_readings == 1


def test_the_fingerprint_is_the_engines() -> None:
    assert READER.fingerprint == ENGINE.fingerprint


def test_the_tables_rise_and_hold_probabilities() -> None:
    calibration = shipped_calibration()
    assert set(calibration.maps) == {(language, kind) for language in ("ko", "en") for kind in SCORES}
    for table_of_scores in calibration.maps.values():
        scores, probabilities = table_of_scores
        assert len(scores) == len(probabilities) >= 1
        assert list(scores) == sorted(set(scores))
        assert list(probabilities) == sorted(probabilities)
        assert 0.0 < probabilities[0] <= probabilities[-1] < 1.0


def test_a_map_is_a_line_between_its_points_and_flat_outside() -> None:
    table_of_scores = MonotoneMap((0.2, 0.6), (0.1, 0.5))
    assert [table_of_scores(score) for score in (0.0, 0.2, 0.4, 0.6, 1.3)] == [0.1, 0.1, 0.3, 0.5, 0.5]
    assert [MonotoneMap()(score) for score in (-0.5, 0.25, 1.2)] == [0.0, 0.25, 1.0]


def test_the_calibration_error_on_texts_left_out_is_small() -> None:
    figures = json.loads(CALIBRATION_FILE.read_text("utf-8"))["expected_calibration_error"]
    held_out = [line for line in figures if line["texts"] in ("all", "en", "ko")]
    assert len(held_out) == 3
    for line in held_out:
        assert line["pair_after"] <= 0.08
        assert line["polarity_of_gold_term_after"] <= 0.08
        assert line["target_after"] <= 0.08
