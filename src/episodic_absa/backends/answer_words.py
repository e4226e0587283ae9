"""The names and words that small models use in short answers, for those that were asked for."""

from typing import Final

from episodic_absa.vocabulary import SentenceLabel

TERM_NAMES: Final[tuple[str, ...]] = (
    "term", "target", "aspect_term", "aspect", "pair", "name", "용어", "대상", "속성", "측면", "타깃", "타겟", "항목",
)  # fmt: skip
QUOTE_NAMES: Final[tuple[str, ...]] = (
    "quote", "evidence", "reason", "quotes", "quotation", "인용", "인용문", "인용구", "근거", "이유", "표현", "text",
)  # fmt: skip
POLARITY_NAMES: Final[tuple[str, ...]] = ("polarity", "sentiment", "극성", "감성", "감정")
REVISED_NAMES: Final[tuple[str, ...]] = ("should_be", "new_polarity", "revised_polarity", "correct_polarity")
VERDICT_NAMES: Final[tuple[str, ...]] = (
    *REVISED_NAMES, "verdict", "decision", "action", "ruling",
    "judgement", "judgment", "판정", "결정", "판단", "조치", "수정", "label", "라벨", "레이블",
)  # fmt: skip
TYPE_NAMES: Final[tuple[str, ...]] = ("type", "risk", "risk_type", "kind", "유형", "위험", "종류")
LABEL_NAMES: Final[tuple[str, ...]] = ("label", "sentence_label", "overall", "overall_label", "라벨", "레이블", "전체")
ADD_NAMES: Final[tuple[str, ...]] = ("add", "added", "additions", "missing", "추가")
LIST_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "pairs": ("쌍", "쌍들"),
    "terms": ("용어", "용어들"),
    "judgements": ("judgments", "판단", "판정"),
    "targets": ("대상", "대상들"),
    "wrong": ("wrong_pairs", "오류", "틀린_쌍"),
    "decisions": ("결정", "판정"),
    "verdicts": ("판정", "판정들"),
    "risks": ("위험", "위험들"),
}
NOTHING: Final = frozenset(
    (
        "",
        "none",
        "null",
        "nothing",
        "n/a",
        "empty",
        "no",
        "없음",
        "없습니다",
        "없다",
        "해당없음",
        "해당 없음",
        "[]",
        "{}",
    )
)
"""What a model writes for an empty list."""
KOREAN_LABELS: Final[dict[str, SentenceLabel]] = {
    "긍정": "positive",
    "긍정적": "positive",
    "부정": "negative",
    "부정적": "negative",
    "중립": "neutral",
    "중립적": "neutral",
    "복합": "mixed",
    "복합적": "mixed",
    "혼합": "mixed",
    "혼재": "mixed",
}
