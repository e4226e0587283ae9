import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_absa.language import (
    detect_structures,
    find_contrasts,
    find_ironies,
    find_negations,
    first_contrast_marker,
)
from episodic_absa.vocabulary import Language


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("배송이 안 왔어요", ["안"]),
        ("안 좋아요.", ["안"]),
        ("냄새가 안나요", ["안"]),
        ("향이 안좋아요", ["안"]),
        ("블루투스 연결이 안돼서 반품했어요", ["안"]),
        ("환불이 안됩니다", ["안"]),
        ("버튼이 안눌려요", ["안"]),
        ("다시는 안가요", ["안"]),
        ("아이가 안먹네요", ["안"]),
        ("하나도 안매워요", ["안"]),
        ("화면이 안보여요", ["안"]),
        ("물이 잘 안나와요", ["안"]),
        ("사이즈가 안맞아서 교환했어요", ["안"]),
        ("한 번도 못 먹어 봤어요", ["못"]),
        ("짜서 못먹겠어요", ["못"]),
        ("결국 못썼어요", ["못"]),
        ("직원이 친절하지 않아요", ["-지 않-"]),
        ("맛있지는 않네요", ["-지 않-"]),
        ("그렇게 비싸진 않습니다", ["-지 않-"]),
        ("잠기질 않아요", ["-지 않-"]),
        ("편하지도 않고 예쁘지도 않고", ["-지 않-", "-지 않-"]),
        ("맵지않은 떡볶이", ["-지 않-"]),
        ("양이 적지가 않아요", ["-지 않-"]),
        ("가격이 만만치 않네요", ["-지 않-"]),
        ("기대에 미치지 못했어요", ["-지 못하-"]),
        ("제대로 즐기지 못하고 나왔습니다", ["-지 못하-"]),
        ("추천하지는 못합니다", ["-지 못하-"]),
        ("따라가질 못해요", ["-지 못하-"]),
        ("편치 못한 자리", ["-지 못하-"]),
        ("맛이 없어요", ["없-"]),
        ("맛없는 커피", ["없-"]),
        ("AS없음", ["없-"]),
        ("직원이 없으니 답답해요", ["없-"]),
        ("쓸데없이 큰 가방", ["없-"]),
        ("이건 아니에요", ["아니"]),
        ("싼 게 아닌 것 같아요", ["아닌"]),
        ("정품이 아닙니다", ["아닙"]),
        ("안 맵지 않아요", ["안", "-지 않-"]),
        ("'안'이 빠졌어요", ["안"]),
        ("충전이 안 됨🙁 속도도 안나옴", ["안", "안"]),
    ],
)
def test_korean_negation_is_found(text: str, forms: list[str]) -> None:
    assert [cue.form for cue in find_negations(text, "ko")] == forms


ONLY_LOOK_NEGATIVE = """
세안 후에 바르면 촉촉해요 / 매일 세안  / 세안 / 한 달 동안 잘 썼어요 / 그동안 고마웠어요 / 안경 닦기 좋아요 / 새 안경 /
안경이 예뻐요 / 안내가 친절해요 / 친절한 안내 감사합니다 / 안내해 주셨어요 / 안전하게 도착했어요 / 안녕하세요 사장님 /
술안주로 좋고 안주가 푸짐해요 / 안방에 두었어요 / 안심하고 먹여요 / 안심 스테이크가 부드러워요 / 착용감이 안정적이에요 /
안색이 밝아졌어요 / 안마 의자가 시원해요 / 안과 선생님이 친절해요 / 안감이 부드러워요 / 안쪽까지 깨끗해요 /
가방 안에 쏙 들어가요 / 안드로이드 앱도 빨라요 / 안타까운 이야기 / 안쓰러운 마음 / 안간힘을 썼어요 /
안동찜닭 최고 / 못난이 감자가 귀여워요 / 맛집 못지않게 훌륭해요 / 호텔 못지 않은 서비스 / 못을 박았어요 / 잘못 배송 /
틀림없이 좋아할 거예요 / 틀림 없이 맛집 /
끊임없이 손이 가요 / 변함없는 맛 / 변함 없는 친절 / 맛있고 친절해요 / No good, don't
"""


@pytest.mark.parametrize("text", ONLY_LOOK_NEGATIVE.strip("\n").replace(" /\n", " / ").split(" / "))
def test_korean_words_that_only_look_negative_are_left_alone(text: str) -> None:
    assert find_negations(text, "ko") == ()


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("The soup was not hot.", ["not"]),
        ("I don't like the screen", ["n't"]),
        ("I don\u2019t like the screen", ["n't"]),
        ("Can't recommend it", ["n't"]),
        ("I cannot recommend it", ["cannot"]),
        ("NEVER again", ["never"]),
        ("No, thank you", ["no"]),
        ("Arrived without a charger", ["without"]),
        ("The battery hardly lasts a day", ["hardly"]),
        ("It isn't bad, not at all", ["n't", "not"]),
        ("It wouldn't've helped", ["n't"]),
        ("There is nothing to say", []),
        ("The button is a nice touch", []),
        ("A knot in the rope", []),
        ("Another notable phone", []),
        ("Noble nowhere know", []),
        ("n't", []),
        ("안 좋아요", []),
    ],
)
def test_english_negation_is_word_bounded(text: str, forms: list[str]) -> None:
    assert [cue.form for cue in find_negations(text, "en")] == forms


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("음식은 맛있지만 서비스는 별로예요", ["-지만"]),
        ("좋아하지만 비싸요", ["-지만"]),
        ("하지만 배터리가 아쉬워요", ["하지만"]),
        ("맛있다. 그러나 비싸다.", ["그러나"]),
        ("근데 배송이 느려요", ["근데"]),
        ("근데요 배송이 느려요", ["근데"]),
        ("그런데 포장이 엉망", ["그런데"]),
        ("그런데도 손님이 많아요", ["그런데"]),
        ("값은 싼 반면 질은 낮아요", ["반면"]),
        ("반면에 향은 좋아요", ["반면"]),
        ("오히려 더 시끄러워요", ["오히려"]),
        ("다만, 양이 적어요", ["다만"]),
        ("색은 좋은데 질이 나빠요", ["-은데"]),
        ("맛은 있는데 비싸요", ["-는데"]),
        ("기대했는데, 실망", ["-는데"]),
        ("신상인데 낡아 보여요", ["-인데"]),
        ("UI는 옛날식인데 빨라요", ["-인데"]),
        ("화면은 큰데 무거워요", ["-ㄴ데"]),
        ("예쁜데 약해요", ["-ㄴ데"]),
        ("빠르긴 한데 뜨거워요", ["-ㄴ데"]),
        ("비싸던데 살 만해요", ["-ㄴ데"]),
        ("물이 차가운데 시원해서 좋아요", ["-ㄴ데"]),
        ("맛있지만 비싼데 근데 또 가요", ["-지만", "-ㄴ데", "근데"]),
        ("가운데 자리가 좋아요", []),
        ("방 한가운데 놓았어요", []),
        ("세 개 가운데", []),
        ("여러 제품들가운데", []),
        ("반면교사로 삼았어요", []),
        ("직접 다만들었어요", []),
        ("가격이 좋은데요", []),
        ("이런 데 처음", []),
        ("맛있고 친절해요", []),
        ("good but slow", []),
    ],
)
def test_korean_contrast_is_found(text: str, forms: list[str]) -> None:
    assert [cue.form for cue in find_contrasts(text, "ko")] == forms


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("Good food but slow service", ["but"]),
        ("However, the room was small", ["however"]),
        ("ALTHOUGH cheap, it works", ["although"]),
        ("Nice though", ["though"]),
        ("Small yet comfy", ["yet"]),
        ("While the screen shines, the sound is thin", ["while"]),
        ("Great camera;but heavy", ["but"]),
        ("The button works", []),
        ("Butter and yeti, thoughtful, awhile, meanwhile", []),
        ("맛있지만 비싸요", []),
    ],
)
def test_english_contrast_is_word_bounded(text: str, forms: list[str]) -> None:
    assert [cue.form for cue in find_contrasts(text, "en")] == forms


@pytest.mark.parametrize(
    ("text", "language", "forms"),
    [
        ("퍽이나 친절하시네요", "ko", ["퍽이나"]),
        ("어련하시겠어요", "ko", ["어련하시"]),
        ("이 값에 잘도 팔리겠네요", "ko", ["잘도"]),
        ("눈물 나게 고맙네요", "ko", ["눈물 나게 고맙"]),
        ("눈물나게 고마워서 말이 안 나와요", "ko", ["눈물 나게 고맙"]),
        ("눈물  나게고마우신 사장님", "ko", ["눈물 나게 고맙"]),
        ("잘도착했어요", "ko", []),
        ("눈물이 나요", "ko", []),
        ("정말 고맙습니다", "ko", []),
        ("Yeah right, five stars", "en", ["yeah right"]),
        ("Yeah,  right.", "en", ["yeah right"]),
        ("Thanks for nothing!", "en", ["thanks for nothing"]),
        ("Oh, great, it broke", "en", ["oh great"]),
        ("Just what I\nneeded", "en", ["just what i needed"]),
        ("Lovely service /s", "en", ["/s"]),
        ("Lovely service /S \n", "en", ["/s"]),
        ("/s is what they say", "en", []),
        ("See http://shop/s", "en", []),
        ("Yeah rightly so", "en", []),
        ("yeahright", "en", []),
        ("Thanks for nothing", "ko", []),
        ("퍽이나", "en", []),
    ],
)
def test_irony_cues_are_conservative(text: str, language: Language, forms: list[str]) -> None:
    assert [cue.form for cue in find_ironies(text, language)] == forms


@pytest.mark.parametrize(
    ("text", "language", "structures"),
    [
        ("", "ko", ("none",)),
        ("맛있어요", "ko", ("none",)),
        ("맛있지만 친절하지 않아요", "ko", ("negation", "contrast")),
        ("퍽이나 맛있겠네요, 근데 안 먹어요", "ko", ("negation", "contrast", "irony")),
        ("Oh great, but not for me", "en", ("negation", "contrast", "irony")),
        ("Great phone", "en", ("none",)),
        ("맛있지만 안 가요", "en", ("none",)),
        ("not good but cheap", "ko", ("none",)),
        ("맛있지만 안 가요, not good but cheap", "other", ("none",)),
    ],
)
def test_structures_are_listed_in_order_and_by_the_effective_language(
    text: str, language: Language, structures: tuple[str, ...]
) -> None:
    assert detect_structures(text, language) == structures


@pytest.mark.parametrize(
    ("text", "language", "marker"),
    [
        ("하지만 별로", "ko", "하지만"),
        ("좋은데 비싸요", "ko", "-은데"),
        ("큰데 무거워요", "ko", "-ㄴ데"),
        ("근데 별로", "ko", "근데"),
        ("그런데 별로", "ko", "그런데"),
        ("비싸지만 좋아요. 하지만 늦어요", "ko", "-지만"),
        ("신상인데 하지만", "ko", "-인데"),
        ("좋아요", "ko", None),
        ("Though small, but nice", "en", "though"),
        ("but small, though nice", "en", "but"),
        ("nice", "en", None),
        ("but 하지만", "other", None),
    ],
)
def test_first_contrast_marker_is_the_first_by_position(text: str, language: Language, marker: str | None) -> None:
    assert first_contrast_marker(text, language) == marker


def test_cues_point_into_the_composed_text() -> None:
    text = "😀 음식은 맛있지만 친절하지  않아요"
    (contrast,) = find_contrasts(unicodedata.normalize("NFD", text), "ko")
    (negation,) = find_negations(text, "ko")
    assert text[contrast.start : contrast.end] == "지만"
    assert text[negation.start : negation.end] == "지  않"
    assert (contrast.kind, negation.kind) == ("contrast", "negation")


_PIECES = st.sampled_from(
    ["안", "못", "지", " 않", "못해", "없", "틀림", "하지만", "은데", "큰데",
     "가운데", " ", ",", "not", "n't", "but", "/s", "잘도"]
)  # fmt: skip


@settings(deadline=None)  # the first example reads the lexicon
@given(st.lists(_PIECES).map("".join) | st.text(), st.sampled_from(["ko", "en", "other"]))
def test_cues_are_sorted_inside_the_text_and_never_overlap(text: str, language: Language) -> None:
    length = len(unicodedata.normalize("NFC", text))
    for find in (find_negations, find_contrasts, find_ironies):
        last_end = 0
        for cue in find(text, language):
            assert last_end <= cue.start < cue.end <= length
            last_end = cue.end


@settings(deadline=None)  # the first example reads the lexicon
@given(st.text(), st.sampled_from(["ko", "en", "other"]))
def test_none_stands_alone(text: str, language: Language) -> None:
    structures = detect_structures(text, language)
    assert structures
    assert len(set(structures)) == len(structures)
    assert ("none" in structures) == (structures == ("none",))
    assert (first_contrast_marker(text, language) is not None) == ("contrast" in structures)


@pytest.mark.parametrize(
    "unit",
    ["unit", "지", "지 ", " ", "안", "못 ", "틀림", "없", "눈물", "눈물 ",
     "데", "은데", "yeah ", "oh,", "/s ", "n't", "not", "'", "a"],
)  # fmt: skip
@pytest.mark.parametrize("language", ["ko", "en"])
def test_long_input_takes_linear_time(unit: str, language: Language) -> None:
    head = {"ko": "눈물지", "en": "yeah"}[language]
    text = head + unit * (100_000 // len(unit))
    started = time.process_time()
    detect_structures(text, language)
    # Quadratic matching would take minutes. Time of this process alone: a busy machine does not count.
    assert time.process_time() - started < 10
