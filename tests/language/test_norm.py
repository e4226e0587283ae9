import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from episodic_absa.language import norm, norm_key


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (None, ""),
        ("", ""),
        ("  Battery\t\nLife ", "battery life"),
        ('"Battery"', "battery"),
        ("“화면”", "화면"),
        ("‘화면’,", "화면"),
        ("「메뉴」", "메뉴"),
        ("『메뉴』!", "메뉴"),
        ("`api`", "api"),
        ("([{<screen>}])", "screen"),
        ("screen.,;:!?", "screen"),
        ("( screen )", "screen"),
        ("wi-fi", "wi-fi"),
        ("don't", "don't"),
        ("C++", "c++"),
        ("?!", ""),
        (unicodedata.normalize("NFD", "떡볶이"), "떡볶이"),
        ("CAFE\u0301", "café"),
        ("음식은", "음식은"),
    ],
)
def test_norm_gives_the_comparable_form(raw: str | None, expected: str) -> None:
    assert norm(raw) == expected


@given(st.text() | st.text(alphabet="aA .,;:!?'\"‘”「`(<\u0301\u0130\u03a3\u037e\u1fef\u00a0음\u1100\u1161"))
@example("\u0130.")
@example("(\u0301a)")
def test_norm_is_idempotent(raw: str) -> None:
    assert norm(norm(raw)) == norm(raw)


@given(st.text())
def test_without_a_text_the_key_is_the_norm_form(term: str) -> None:
    assert norm_key(term) == norm(term)


@pytest.mark.parametrize(
    ("term", "text", "key"),
    [
        ("떡볶이", "떡볶이 맛있어요", "떡볶이"),
        ("떡볶이", "떡볶이가 맛있어요", "떡볶이"),
        ("종이", "종이가 얇아요", "종이"),
        ("종이", "포장 종이 얇아요", "종이"),
        ("휴가", "휴가 때", "휴가"),
        ("평가", "평가 좋아요", "평가"),
        ("평가", "평가가 갈려요", "평가"),
        ("아이", "아이가 좋아해요", "아이"),
        ("종이가", "종이가 얇아요", "종이"),
        ("음식은", "음식은 별로", "음식"),
        ("음식은", None, "음식은"),
        ("음식은", "가격이 비싸요", "음식은"),
        ("가격을", "갑자기 가격을 올렸어요", "가격"),
        ("'UI가'", "ui가 예뻐요", "ui"),
        ("가게 분위기는", "가게  분위기는 좋아요", "가게 분위기"),
        ("칼국수는", "😀👨\u200d👩\u200d👧 칼국수는 굿", "칼국수"),
        (unicodedata.normalize("NFD", "음식은"), unicodedata.normalize("NFD", "음식은 별로"), "음식"),
        ("음식", "음식은 별로", "음식"),
        ("는", "는 별로", "는"),
        (None, "음식은 별로", ""),
        ("screen", "The screen is big", "screen"),
    ],
)
def test_a_particle_leaves_the_key_only_where_the_text_has_one(term: str | None, text: str | None, key: str) -> None:
    assert norm_key(term, text) == key
