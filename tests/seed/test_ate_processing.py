"""ATE: particles, span repair, second-aspect guess, filter and drop reasons."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_absa.language import guess_second_aspect
from episodic_absa.schemas.absa import Drop, Span, Stage1Ate
from episodic_absa.schemas.seed_answers import AnsweredAspect, AnsweredSpan, AteAnswer
from episodic_absa.seed import is_valid_target, process_ate

Given = tuple[str, tuple[int, int] | None]


def processed(
    text: str, *given_aspects: Given, language: Any = "en", span_repair: bool = True, allowlist: Any = frozenset()
) -> Stage1Ate:
    aspects = tuple(
        AnsweredAspect(
            aspect_term=term, span=None if span is None else AnsweredSpan(start=span[0], end=span[1]), confidence=0.9
        )
        for term, span in given_aspects
    )
    return process_ate(AteAnswer(aspects=aspects), text, language, span_repair=span_repair, allowlist=allowlist)


def terms_and_spans(ate: Stage1Ate) -> list[tuple[str, tuple[int, int] | None]]:
    return [(one.aspect_term, None if one.span is None else (one.span.start, one.span.end)) for one in ate.aspects]


@pytest.mark.parametrize(
    ("text", "term", "span", "kept", "kept_span"),
    [
        ("배터리가 오래 가요.", "배터리가", (0, 4), "배터리", (0, 3)),
        ("화면은 밝아요.", "화면은", (0, 3), "화면", (0, 2)),
        ("배터리를 바꿨어요.", "배터리를", (0, 4), "배터리", (0, 3)),
        ("음식이 맛있어요.", "음식이", (0, 3), "음식", (0, 2)),
        ("가게는 넓어요.", "가게는", (0, 3), "가게", (0, 2)),
        ("직원을 칭찬합니다.", "직원을", (0, 3), "직원", (0, 2)),
        ("떡볶이 맛있어요.", "떡볶이", (0, 3), "떡볶이", (0, 3)),
        ("종이 질이 좋아요.", "종이", (0, 2), "종이", (0, 2)),
        ("휴가 일정이 좋아요.", "휴가", (0, 2), "휴가", (0, 2)),
        ("평가 점수가 높아요.", "평가", (0, 2), "평가", (0, 2)),
        ("아이 옷이 예뻐요.", "아이", (0, 2), "아이", (0, 2)),
    ],
)
def test_a_particle_goes_only_where_it_is_one(
    text: str, term: str, span: tuple[int, int], kept: str, kept_span: tuple[int, int]
) -> None:
    ate = processed(text, (term, span), language="ko")
    assert terms_and_spans(ate) == [(kept, kept_span)]
    assert ate.span_repaired == 0
    assert ate.drops == ()


REPEATED = "battery ok. screen fine. battery bad. price ok. battery dead."
PLACES = (0, 25, 48)


@settings(max_examples=60, deadline=None)
@given(st.integers(-10, 100), st.integers(-10, 100))
def test_span_repair_always_finds_a_nearest_occurrence(start: int, end: int) -> None:
    ate = processed(REPEATED, ("battery", (start, end)))
    ((term, span),) = terms_and_spans(ate)
    assert term == "battery"
    assert span is not None
    right = start in PLACES and end == start + 7
    assert ate.span_repaired == (0 if right else 1)
    assert abs(span[0] - start) == min(abs(place - start) for place in PLACES)
    assert span[1] == span[0] + 7


@pytest.mark.parametrize(
    ("text", "language", "guess"),
    [
        ("음식은 좋지만 직원이 불친절해요.", "ko", "직원"),
        ("화면은 밝아요. 하지만 배터리가 약해요.", "ko", "배터리"),
        ("가격은 싼데 서비스가 별로예요.", "ko", "서비스"),
        ("The food was great but the service was slow.", "en", "service"),
        ("The room was fine, however the shower leaked.", "en", "shower"),
        ("Nice screen though the speakers are weak.", "en", "speakers"),
        ("The screen is nice but the battery life is short.", "en", "life"),
        ("Good food but service was slow.", "en", "service"),
        ("Nice but the staff at the bar were rude.", "en", "staff"),
        ("Good food but slow service.", "en", "service"),
        ("Good food but the very slow service annoyed us.", "en", "service"),
        ("Nice screen, however, the battery drains.", "en", "battery"),
    ],
)
def test_the_second_aspect_is_a_noun_behind_the_marker(text: str, language: Any, guess: str) -> None:
    found = guess_second_aspect(text, language)
    assert found is not None
    assert text[found[0] : found[1]] == guess


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("음식은 좋지만 비싸요.", "ko"),
        ("음식은 좋지만 너무 매워요.", "ko"),
        ("The food was great but", "en"),
        ("The food was great but it was.", "en"),
        ("The food was great, but still.", "en"),
        ("Good food but expensive.", "en"),
        ("Nice food but they overcharge.", "en"),
        ("Good food but a little pricey.", "en"),
        ("The food was great and the service was slow.", "en"),
        ("음식이 좋고 직원이 친절해요.", "ko"),
        ("Das Essen war gut but the service", "other"),
        ("음식은 좋지만 직원이 불친절해요.", "other"),
    ],
)
def test_without_a_noun_behind_a_marker_there_is_no_guess(text: str, language: Any) -> None:
    assert guess_second_aspect(text, language) is None


@pytest.mark.parametrize(
    ("text", "language", "first", "second"),
    [
        ("The food was great but the service was slow.", "en", "food", "service"),
        ("음식은 좋지만 직원이 불친절해요.", "ko", "음식", "직원"),
    ],
)
def test_a_guess_joins_a_single_aspect_with_half_confidence_and_its_origin(
    text: str, language: Any, first: str, second: str
) -> None:
    ate = processed(text, (first, None), language=language)
    assert [one.aspect_term for one in ate.aspects] == [first, second]
    guessed = ate.aspects[1]
    start = text.index(second)
    assert guessed.span == Span(start=start, end=start + len(second))
    assert (guessed.confidence, guessed.origin) == (0.5, "second_aspect_guess")
    assert ate.aspects[0].origin == "model"


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("The food was great but the service was slow.", "en", ("food", "great")),
        ("The food was great and the service was slow.", "en", ("food",)),
        ("음식은 좋지만 비싸요.", "ko", ("음식",)),
        ("The food was great but the service was slow.", "other", ("food",)),
    ],
)
def test_no_guess_with_two_aspects_without_a_marker_or_in_another_language(
    text: str, language: Any, terms: tuple[str, ...]
) -> None:
    ate = processed(text, *((term, None) for term in terms), language=language)
    assert [one.aspect_term for one in ate.aspects] == list(terms)
    assert all(one.origin == "model" for one in ate.aspects)


@pytest.mark.parametrize("term", ["뷰", "AS", "as", "ui", "UI", "앱", "app", "맛집", "food", "it"])
def test_a_target_is_valid_by_length_or_by_the_allowlist(term: str) -> None:
    assert is_valid_target(term)


@pytest.mark.parametrize("term", ["맛", "a", "ㅋㅋ", "ㅎㅎ", "ㅠㅠ", "아", "야", "언제", "하지만", "그러나"])
def test_a_short_or_stopped_word_is_no_target(term: str) -> None:
    assert not is_valid_target(term)


@pytest.mark.parametrize(
    ("text", "language", "term", "span", "reason"),
    [
        ("the food was fine", "en", "zebra", (0, 5), "alignment_failure"),
        ("the food was fine", "en", "zebra", None, "semantic_hallucination"),
        ("the food was fine", "en", "f", (4, 5), "filter_rejection"),
        ("the food was fine", "en", "f", None, "filter_rejection"),
        ("정말 ㅋㅋ 좋아요", "ko", "ㅋㅋ", (3, 5), "filter_rejection"),
        ("하지만 좋아요", "ko", "하지만", (0, 3), "filter_rejection"),
        # First match: misaligned before invalid, invalid before hallucinated.
        ("the food was fine", "en", "z", (0, 1), "alignment_failure"),
        ("the food was fine", "en", "z", None, "filter_rejection"),
        ("정말 좋아요", "ko", "ㅋㅋ", (0, 2), "alignment_failure"),
        ("정말 좋아요", "ko", "ㅋㅋ", None, "filter_rejection"),
    ],
)
def test_a_dropped_term_carries_the_first_reason_that_fits(
    text: str, language: Any, term: str, span: tuple[int, int] | None, reason: Any
) -> None:
    ate = processed(text, (term, span), language=language)
    assert ate.aspects == ()
    assert ate.drops == (Drop(aspect_term=term, drop_reason=reason),)
    assert ate.span_repaired == 0


@pytest.mark.parametrize(
    ("term", "span", "kept", "drops"),
    [
        ("food", (4, 8), [("food", (4, 8))], []),
        ("food", (5, 9), [], [("food", "alignment_failure")]),
        ("food", (0, 4), [], [("food", "alignment_failure")]),
        ("food", (4, 400), [], [("food", "alignment_failure")]),
        ("food", None, [("food", None)], []),
        ("zebra", None, [], [("zebra", "semantic_hallucination")]),
        ("f", (4, 5), [], [("f", "filter_rejection")]),
    ],
)
def test_without_span_repair_counting_is_strict(
    term: str,
    span: tuple[int, int] | None,
    kept: list[tuple[str, tuple[int, int] | None]],
    drops: list[tuple[str, str]],
) -> None:
    ate = processed("the food was fine", (term, span), span_repair=False)
    assert terms_and_spans(ate) == kept
    assert [(one.aspect_term, one.drop_reason) for one in ate.drops] == drops
    assert ate.span_repaired == 0


WORDS = st.sampled_from(["food", "Food", "service", "zebra", "f", "price", "ㅋㅋ", "but"])
SPANS = st.none() | st.tuples(st.integers(-3, 60), st.integers(-3, 60))


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(WORDS, SPANS), max_size=5))
def test_every_kept_aspect_is_exactly_what_its_span_marks(answered: list[Given]) -> None:
    text = "The food was fine but the service slow, the price fair."
    ate = processed(text, *answered)
    for one in ate.aspects:
        assert one.span is not None
        assert text[one.span.start : one.span.end] == one.aspect_term
        assert is_valid_target(one.aspect_term)
    model_made = [one for one in ate.aspects if one.origin == "model"]
    assert len(model_made) + len(ate.drops) <= len(answered)
