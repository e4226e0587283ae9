import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_absa.language import find_aspect_term, find_polarity_word, forms


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("This is positive.", "positive"),
        ("NEGATIVE", "negative"),
        ("rather negatively put", "negatively"),
        ("two positives", "positives"),
        ("its positivity", "positivity"),
        ("all negativities", "negativities"),
        ("neutrality holds", "neutrality"),
        ("action: neutral_fallback", "neutral"),
        ("polarity=POS", "pos"),
        ("neg", "neg"),
        ("(neu)", "neu"),
        ("non-negative", "negative"),
        ("neg2", "neg"),
        ("negative로 바꿔라", "negative"),
        ("긍정으로 본다", "긍정"),
        ("비긍정적이다", "긍정"),
        ("부정적", "부정"),
        ("중립", "중립"),
        (unicodedata.normalize("NFD", "부정적"), "부정"),
        ("부\u200b정적", "부정"),
        ("긍\u3164정", "긍정"),
        ("\u200d".join(unicodedata.normalize("NFD", "중립")), "중립"),
        ("ｎｅｇａｔｉｖｅ", "negative"),
        ("posi\u200dtive", "positive"),
        ("neu\u00adtral", "neutral"),
        ("𝐩𝐨𝐬𝐢𝐭𝐢𝐯𝐞", "positive"),
    ],
)
def test_a_label_word_is_found_in_any_dress(message: str, word: str) -> None:
    assert find_polarity_word(message) == word


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Compare the position and the possible post",
        "a negated clause, negation, negotiate, neglect",
        "a neuron, neutron, neural",
        "compost, expose, oppositive",
        "'안', '못', '-지 않-'이 어느 서술어에 걸리는지 먼저 찾고 그 범위 안만 판단하라.",
        "Find the predicate that the negating word governs and judge only what lies inside that scope.",
        "[risk: NEGATION_SCOPE; action: fallback; risk change: lower; conflict resolved: n/a]",
        "[경고: 이 조언과 동일한 aspect·polarity 조합으로 과거 실패/리스크 악화 사례가 있습니다.]",
        "일부 정보만 확인하라",
    ],
)
def test_other_words_pass(message: str) -> None:
    assert find_polarity_word(message) is None


@settings(deadline=None)  # the first example reads the lexicon
@given(st.sampled_from(forms("polarity", "words")), st.text(alphabet=" .,_-()0123456789가"), st.booleans())
def test_every_listed_form_is_found_between_separators(word: str, around: str, upper: bool) -> None:
    assert find_polarity_word(around + (word.upper() if upper else word) + around) == word


@settings(deadline=None)  # the first example reads the lexicon
@given(st.text())
def test_any_text_can_be_checked(message: str) -> None:
    find_polarity_word(message)
    assert find_aspect_term(message, []) is None


@pytest.mark.parametrize(
    ("message", "terms", "found"),
    [
        ("check the battery first", ["screen", "battery"], "battery"),
        ("check the BATTERY", ["Battery"], "Battery"),
        ("check the batteries", ["battery"], None),
        ("the battery_life fell", ["battery life"], "battery life"),
        ("the battery  life fell", ["battery life"], "battery life"),
        ("the battery of life", ["battery life"], None),
        ("battery", ["battery life"], None),
        ("wi fi is slow", ["Wi-Fi"], "Wi-Fi"),
        ("음식 확인", ["음식"], "음식"),
        ("음식은 확인", ["음식"], "음식"),
        ("음식을 먼저", ["음식"], "음식"),
        ("음식의 평가", ["음식"], "음식"),
        ("음식 확인", ["음식은"], "음식은"),
        ("음식이 나쁘다", ["음식은"], "음식은"),
        ("음식점 확인", ["음식"], None),
        ("배달음식 확인", ["음식"], None),
        ("가게 분위기가 좋다", ["가게 분위기"], "가게 분위기"),
        ("UI가 느리다", ["ui"], "ui"),
        ("맛은 확인", ["맛"], None),
        ("a b c", ["a"], None),
        ("a", ["(a)"], None),
        ("휴 하고 쉬었다", ["휴가"], None),
        ("plan C", ["C++"], None),
        ("learn c++ now", ["C++"], "C++"),
        ("C++는 빠르다", ["C++"], "C++"),
        ("A/S는 느리다", ["A/S"], "A/S"),
        ("음식 맛은 확인", ["음식 맛"], "음식 맛"),
        ("음식 맛 확인", ["음식 맛은"], "음식 맛은"),
        (unicodedata.normalize("NFD", "음식은"), ["음식"], "음식"),
        ("음\u200b식은", ["음식"], "음식"),
        ("anything", ["", "  ", "?!"], None),
        ("", ["battery"], None),
    ],
)
def test_an_aspect_term_is_found_as_whole_tokens(message: str, terms: list[str], found: str | None) -> None:
    assert find_aspect_term(message, terms) == found


@settings(deadline=None)  # the first example reads the lexicon
@given(
    st.from_regex(r"[a-z]{2,8}( [a-z]{2,8}){0,2}", fullmatch=True),
    st.sampled_from(["", *"은는이가을를"]),
    st.text(),
)
def test_a_term_set_apart_in_a_message_never_slips_through(term: str, particle: str, around: str) -> None:
    assert find_aspect_term(f"{around} . {term}{particle} . {around}", [term]) == term
