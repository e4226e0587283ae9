import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.language import effective_language
from episodic_absa.vocabulary import Language


# CHECKLIST 36
@pytest.mark.parametrize(
    ("code", "text", "language"),
    [
        ("ko", "good", "ko"),
        ("KO_kr", "good", "ko"),
        ("ko-KR", "good", "ko"),
        ("en", "좋아요", "en"),
        ("en-US", "좋아요", "en"),
        ("EN", "", "en"),
        ("other", "좋아요", "other"),
        ("ja", "좋아요", "other"),
        ("zh-Hans", "good", "other"),
        ("kor", "좋아요", "other"),
        (None, "좋아요", "ko"),
        ("", "good", "en"),
        ("unknown", "good 좋아요", "ko"),
        ("UNKNOWN", "123 !!", "other"),
        (None, "ㅋㅋㅋ wow", "ko"),
        (None, unicodedata.normalize("NFD", "좋아요"), "ko"),
        (None, "Überraschung", "en"),
        (None, "très", "en"),
        (None, "ｇｏｏｄ", "en"),
        (None, "とても良い", "other"),
        (None, "хорошо", "other"),
        (None, "×÷ 5", "other"),
        (None, "😀", "other"),
        (None, "", "other"),
    ],
)
def test_the_code_decides_and_a_missing_code_is_detected(code: str | None, text: str, language: Language) -> None:
    assert effective_language(code, text) == language


# CHECKLIST 36
@given(st.none() | st.text() | st.sampled_from(["unknown", "unknown-x", "_", "ko_", "en-"]), st.text())
def test_unknown_is_never_an_answer(code: str | None, text: str) -> None:
    assert effective_language(code, text) in {"ko", "en", "other"}
