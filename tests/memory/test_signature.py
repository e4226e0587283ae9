"""The signature of a text, by tables of Korean and English sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.memory import SignatureBuilder
from episodic_absa.vocabulary import Language, Structure

NONE: tuple[Structure, ...] = ("none",)
NEGATION: tuple[Structure, ...] = ("negation",)
CONTRAST: tuple[Structure, ...] = ("contrast",)
IRONY: tuple[Structure, ...] = ("irony",)

KOREAN: list[tuple[str, tuple[Structure, ...], str | None]] = [
    ("음식이 맛있어요", NONE, None),
    ("배송이 안 왔어요", NEGATION, None),
    ("배송을 못 받았어요", NEGATION, None),
    ("친절하지 않아요", NEGATION, None),
    ("음식을 먹지 못했어요", NEGATION, None),
    ("소리가 들리지 못하네요", NEGATION, None),
    ("재미가 없어요", NEGATION, None),
    ("진짜 맛없어요", NEGATION, None),
    ("이건 장점이 아니에요", NEGATION, None),
    ("좋은 제품이 아닌 것 같아요", NEGATION, None),
    ("추천할 만한 곳이 아닙니다", NEGATION, None),
    ("틀림없이 좋아요", NONE, None),
    ("끊임없이 찾게 돼요", NONE, None),
    ("변함없는 맛이에요", NONE, None),
    ("세안 후에 촉촉해요", NONE, None),
    ("일주일 동안 썼어요", NONE, None),
    ("안경이 예뻐요", NONE, None),
    ("안내가 친절해요", NONE, None),
    ("음식은 맛있어요 하지만 비싸요", CONTRAST, "하지만"),
    ("음식은 맛있어요 그러나 비싸요", CONTRAST, "그러나"),
    ("음식은 맛있어요 근데 비싸요", CONTRAST, "근데"),
    ("음식은 맛있어요 그런데 비싸요", CONTRAST, "그런데"),
    ("음식은 맛있고 반면 가격은 비싸요", CONTRAST, "반면"),
    ("기대보다 오히려 튼튼해요", CONTRAST, "오히려"),
    ("다만 가격이 비싸요", CONTRAST, "다만"),
    ("음식은 맛있지만 비싸요", CONTRAST, "-지만"),
    ("음식은 맛있는데 비싸요", CONTRAST, "-는데"),
    ("디자인은 좋은데 무거워요", CONTRAST, "-은데"),
    ("유명한 식당인데 비싸요", CONTRAST, "-인데"),
    ("디자인은 예쁜데 무거워요", CONTRAST, "-ㄴ데"),
    ("가운데 자리가 넓어요", NONE, None),
    ("배송이 안 왔지만 친절해요", ("negation", "contrast"), "-지만"),
    ("디자인은 좋은데 하지만 비싸요", CONTRAST, "-은데"),
    ("퍽이나 친절하네요", IRONY, None),
    ("어련하시겠어요", IRONY, None),
    ("잘도 도착했네요", IRONY, None),
    ("눈물 나게 고맙네요", IRONY, None),
    ("퍽이나 친절하지만 배송은 안 왔어요", ("negation", "contrast", "irony"), "-지만"),
    ("food was not good but cheap", NONE, None),
]

ENGLISH: list[tuple[str, tuple[Structure, ...], str | None]] = [
    ("The food was great.", NONE, None),
    ("The food was not great.", NEGATION, None),
    ("The food wasn't great.", NEGATION, None),
    ("I never go there.", NEGATION, None),
    ("There was no service.", NEGATION, None),
    ("It came without a cable.", NEGATION, None),
    ("You can hardly hear it.", NEGATION, None),
    ("I cannot recommend it.", NEGATION, None),
    ("NOT great.", NEGATION, None),
    ("There is nothing like the button.", NONE, None),
    ("A notable knot of butter.", NONE, None),
    ("Nobody noticed the yeti.", NONE, None),
    ("Good food but slow service", CONTRAST, "but"),
    ("Good food. However, slow service", CONTRAST, "however"),
    ("Although cheap, it works", CONTRAST, "although"),
    ("Good food, though slow", CONTRAST, "though"),
    ("Cheap yet sturdy", CONTRAST, "yet"),
    ("The screen is bright while the sound is thin", CONTRAST, "while"),
    ("Good food BUT slow service", CONTRAST, "but"),
    ("Slow, however cheap, but fine", CONTRAST, "however"),
    ("Fine but slow, however cheap", CONTRAST, "but"),
    ("Thoughtful staff", NONE, None),
    ("Yeah right, quick delivery", IRONY, None),
    ("Thanks for nothing", IRONY, None),
    ("Oh great, it broke", IRONY, None),
    ("A broken cup, just what I needed", IRONY, None),
    ("What a lovely queue /s", IRONY, None),
    ("It moves 5 m/s on the table", NONE, None),
    ("Oh great, it was cheap but never came", ("negation", "contrast", "irony"), "but"),
    ("음식은 맛있지만 안 좋아요", NONE, None),
]


@pytest.mark.parametrize(("text", "structures", "marker"), KOREAN)
def test_the_signature_of_a_korean_text(text: str, structures: tuple[Structure, ...], marker: str | None) -> None:
    signature = SignatureBuilder().build(text, "ko", 1)
    assert (signature.language, signature.detected_structure, signature.contrast_marker) == ("ko", structures, marker)
    assert signature.has_negation is ("negation" in structures)


@pytest.mark.parametrize(("text", "structures", "marker"), ENGLISH)
def test_the_signature_of_an_english_text(text: str, structures: tuple[Structure, ...], marker: str | None) -> None:
    signature = SignatureBuilder().build(text, "en", 1)
    assert (signature.language, signature.detected_structure, signature.contrast_marker) == ("en", structures, marker)
    assert signature.has_negation is ("negation" in structures)


@pytest.mark.parametrize("text", ["not good but cheap", "안 좋지만 싸요", "pas mal, mais cher", "12345"])
def test_a_text_of_another_language_has_no_structures_and_an_unknown_negation(text: str) -> None:
    signature = SignatureBuilder().build(text, "other", 0)
    assert signature.detected_structure == ("none",)
    assert signature.contrast_marker is None
    assert signature.has_negation is None


@pytest.mark.parametrize(
    ("length", "bucket"),
    [(1, "short"), (49, "short"), (50, "medium"), (199, "medium"), (200, "long"), (5000, "long")],
)
@pytest.mark.parametrize("letter", ["x", "맛"])
@pytest.mark.parametrize("margin", ["", "   \n\t"])
def test_the_length_bucket_counts_characters_after_strip(length: int, bucket: str, letter: str, margin: str) -> None:
    language: Language = "en" if letter == "x" else "ko"
    signature = SignatureBuilder().build(margin + letter * length + margin, language, 0)
    assert signature.length_bucket == bucket


@pytest.mark.parametrize("n", [0, 1, 7])
def test_the_signature_carries_the_number_of_aspects(n: int) -> None:
    assert SignatureBuilder().build("Good food", "en", n).num_aspects == n


PIECES = st.sampled_from(
    ["food", "not", "but", "yeah right", "맛", "안", "좋지만", "없어요", "퍽이나", "예쁜데", "하지만", "/s", "…", "  "]
)


@given(pieces=st.lists(PIECES, max_size=12), language=st.sampled_from(["ko", "en", "other"]), n=st.integers(0, 9))
def test_every_signature_is_consistent_in_itself(pieces: list[str], language: Language, n: int) -> None:
    signature = SignatureBuilder().build(" ".join(pieces), language, n)
    tags = signature.detected_structure
    assert tags == tuple(tag for tag in ("negation", "contrast", "irony") if tag in tags) or tags == ("none",)
    assert (signature.contrast_marker is not None) == ("contrast" in tags)
    assert signature.has_negation == (None if language == "other" else "negation" in tags)
    assert signature.num_aspects == n


@given(secret=st.text(alphabet="qzxjkw", min_size=6, max_size=40))
def test_no_word_of_the_text_enters_the_signature(secret: str) -> None:
    for language in ("ko", "en", "other"):
        assert secret not in SignatureBuilder().build(f"{secret} but {secret}", language, 1).model_dump_json()
