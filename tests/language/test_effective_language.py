import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.language import effective_language
from episodic_absa.vocabulary import Language


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


OTHER = """
La chambre était propre mais le petit déjeuner était froid. / Très bon hôtel, je recommande. /
El hotel es muy bonito y la comida estaba fría. / Das Essen war sehr gut, leider zu teuer! /
Schlechte Qualität, nie wieder! / Il cibo era ottimo. / Comida excelente, recomendo muito! /
Het eten was heerlijk en de bediening was vriendelijk. / Maten var mycket bra / Jedzenie było bardzo dobre /
Oda çok temizdi ama yemek kötü / Phòng rất sạch sẽ, nhân viên nhiệt tình /
Makanan enak banget, pelayanan juga bagus / iPhoneのバッテリーが最高です / 服务很好，房间 clean / อาหารอร่อยมาก
"""
ENGLISH = """
gud fone / batery dyes fast / no wifi / iPhone 12 Pro Max / Crème brûlée to die for /
La Casa de los Sabores is great / Le Petit Bistro was a letdown / Die hard fan of this hotel /
Con: the price. Pro: the design. / The ramen at 一蘭 was great / me gusta, great food and a nice place
"""


def texts(block: str) -> list[str]:
    return block.strip("\n").replace(" /\n", " / ").split(" / ")


@pytest.mark.parametrize("text", texts(OTHER))
def test_another_language_is_not_taken_for_english(text: str) -> None:
    assert effective_language(None, text) == "other"


@pytest.mark.parametrize("text", texts(ENGLISH))
def test_short_texts_names_and_typing_errors_stay_english(text: str) -> None:
    assert effective_language(None, text) == "en"


@pytest.mark.parametrize("text", ["배송 so fast, 좋아요", "The 비빔밥 was amazing", "le goût est 최고"])
def test_hangul_makes_a_mixed_text_korean(text: str) -> None:
    assert effective_language(None, text) == "ko"


@given(st.none() | st.text() | st.sampled_from(["unknown", "unknown-x", "_", "ko_", "en-"]), st.text())
def test_unknown_is_never_an_answer(code: str | None, text: str) -> None:
    assert effective_language(code, text) in {"ko", "en", "other"}
