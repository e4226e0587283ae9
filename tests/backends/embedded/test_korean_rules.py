"""What the Korean rules read, without weights: which phrases an opinion is said of, and which way it points."""

import pytest

from episodic_absa.backends.embedded.korean.korean_reader import read_korean
from episodic_absa.backends.embedded.reading import polarity_of


def said(text: str) -> set[tuple[str, str]]:
    """Return what the rules say of each phrase; the key "" holds opinions without a target."""
    reading = read_korean(text)
    totals: dict[str, float] = {}
    for opinion in reading.opinions:
        for term in [reading.targets[index].term for index in opinion.targets] or [""]:
            totals[term] = totals.get(term, 0.0) + opinion.first
    return {(term, polarity_of(total)) for term, total in totals.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("맛, 양, 가격 모두 만족합니다", {("맛", "positive"), ("양", "positive"), ("가격", "positive")}),
        ("단추랑 지퍼 둘 다 튼튼해요", {("단추", "positive"), ("지퍼", "positive")}),
        ("설명도 상담도 대충대충이에요", {("설명", "negative"), ("상담", "negative")}),
        ("사진이랑 색이 달라요", {("색", "negative")}),
    ],
)
def test_every_conjunct_is_a_target(text: str, expected: set[tuple[str, str]]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("서비스에 만족해요", {("서비스", "positive")}),
        ("친절하게 상담해 주셨어요", {("상담", "positive")}),
        ("점심 특선이 가성비 좋아요", {("가성비", "positive")}),
        ("쿠폰이 적용이 안 돼요", {("쿠폰", "negative")}),
        ("음식에서 벌레가 나왔어요", {("음식", "negative")}),
        ("여기 진짜 맛집이네요", {("맛집", "positive")}),
        ("허리가 너무 커요", {("허리", "negative")}),
        ("오래 앉으면 허리가 아파요", {("", "negative")}),
        ("광고 없이 볼 수 있어서 좋아요", {("", "positive")}),
    ],
)
def test_the_target_is_named_where_the_clause_names_it(text: str, expected: set[tuple[str, str]]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("주차 공간이 좁아요", "주차 공간"),
        ("포장 상태가 좋아요", "포장 상태"),
        ("아침 식사가 훌륭했어요", "아침 식사"),
        ("배우들 연기가 어색해요", "배우들 연기"),
        ("용량 대비 가격이 착해요", "가격"),
        ("세정력이 좋아요", "세정력"),
        ("앰플이 순해요", "앰플"),
        ("키감이 쫀득해요", "키감"),
        ("펌이 하루 만에 풀렸어요", "펌"),
        ("곰팡이 냄새가 심해요", "곰팡이 냄새"),
        ("가이드님이 친절해요", "가이드님"),
        ("직원분들이 친절해요", "직원분들"),
    ],
)
def test_a_compound_is_named_whole(text: str, term: str) -> None:
    assert {found for found, _ in said(text)} == {term}


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("영화가 전작만 못해요", "negative"),
        ("앰플이 덜 자극적이에요", "positive"),
        ("음악이 좋지도 나쁘지도 않아요", "neutral"),
        ("직원이 친절한 것도 아니에요", "negative"),
        ("고기가 입에서 살살 녹아요", "positive"),
        ("옷에 손이 안 가요", "negative"),
        ("가격이 착해요", "positive"),
        ("가격이 사악해요", "negative"),
        ("전원이 안 켜져요", "negative"),
        ("손잡이가 부러졌어요", "negative"),
        ("환불을 안 해 줘요", "negative"),
        ("음식이 한 시간이나 늦게 나왔어요", "negative"),
        ("보풀이 금방 일어나요", "negative"),
        ("보풀이 안 일어나요", "positive"),
        ("화질 미쳤음", "positive"),
    ],
)
def test_litotes_idioms_and_events_count_as_what_they_amount_to(text: str, polarity: str) -> None:
    assert {found for _, found in said(text)} == {polarity}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("아이라이너도 섀도우도 금방 번져요", {"아이라이너", "섀도우"}),
        ("디자인도 난이도도 좋아요", {"디자인", "난이도"}),
        ("사찰과 전통시장, 수목원 모두 가볼 만해요", {"사찰", "전통시장", "수목원"}),
        ("허리, 기장 다 딱 맞아요", {"허리", "기장"}),
        ("충전 속도 답답할 정도로 느려요", {"충전 속도"}),
    ],
)
def test_every_noun_of_a_list_is_a_target_whatever_hides_its_end(text: str, terms: set[str]) -> None:
    assert {found for found, _ in said(text)} == terms


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("립밤은 없으면 못 살아요", "positive"),
        ("오케스트라는 빠지는 데가 없었어요", "positive"),
        ("일출이 장관이었습니다", "positive"),
        ("로그인이 않되요", "negative"),
        ("방이 크지도 작지도 않아요", "neutral"),
        ("메뉴가 특별할 것 없었어요", "neutral"),
    ],
)
def test_what_customers_say_without_an_opinion_word_counts(text: str, polarity: str) -> None:
    assert {found for _, found in said(text)} == {polarity}
