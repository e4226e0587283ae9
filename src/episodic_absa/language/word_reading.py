"""Reads the words of a model's answer: polarities, labels, verdicts. An unreadable word is missing, never neutral."""

from typing import Final, Literal, NamedTuple

from episodic_absa.language.terms import norm
from episodic_absa.vocabulary import POLARITIES, Polarity, SentenceLabel

Action = Literal["keep", "drop", "flip", "wrong"]

_SHORT_FORMS: Final[dict[str, Polarity]] = {"pos": "positive", "neg": "negative", "neu": "neutral"}
_FARTHEST_REPAIR: Final = 2
_WORDS: Final[dict[Action, str]] = {
    "keep": "keep kept keeps retain ok okay correct right yes true valid accept confirm confirmed agree unchanged same "
    "no_change 유지 유지함 유지합니다 맞음 맞다 맞습니다 옳음 정확 확인 인정 그대로 변경_없음 변경없음",
    "drop": "drop dropped drops remove removed delete deleted discard discarded reject rejected exclude omit "
    "not_a_target no_target 삭제 삭제함 삭제합니다 제거 제거함 제거합니다 제외 버림 탈락 대상_아님 대상아님",
    "flip": "flip flipped flip_polarity change changed reverse reversed invert opposite revise switch "
    "뒤집기 반전 반대 변경 수정 바꿈",
    "wrong": "wrong incorrect invalid mistake error 틀림 틀렸음 틀립니다 오류 잘못",
}
_ACTIONS: Final[dict[str, Action]] = {word: action for action, words in _WORDS.items() for word in words.split()}


class PolarityReading(NamedTuple):
    """The polarity of a word, and how it was read."""

    polarity: Polarity | None
    how: Literal["exact", "repaired", "invalid"]


class PolarityCounts(NamedTuple):
    """How many polarity words were read, repaired and unreadable."""

    read_n: int = 0
    repaired_n: int = 0
    invalid_n: int = 0

    def plus(self, other: "PolarityCounts") -> "PolarityCounts":
        """Return the sums of both."""
        return PolarityCounts(*map(sum, zip(self, other, strict=True)))

    def after(self, reading: PolarityReading) -> "PolarityCounts":
        """Return the counts with one more word."""
        return self.plus(PolarityCounts(1, reading.how == "repaired", reading.how == "invalid"))


NOTHING_READ: Final = PolarityCounts()


def read_polarity(word: str | None) -> PolarityReading:
    """Return the polarity of a full or short form, in any case.

    A word one or two letters away from exactly one full form is repaired; any other word is invalid.
    """
    folded = (word or "").strip().lower()
    if folded in POLARITIES:
        return PolarityReading(folded, "exact")
    if folded in _SHORT_FORMS:
        return PolarityReading(_SHORT_FORMS[folded], "exact")
    # Imported here: a model that spells its words right never needs it.
    from rapidfuzz.distance.Levenshtein import distance

    # The cutoff makes every word that is too far away equally far.
    distances = sorted((distance(folded, polarity, score_cutoff=_FARTHEST_REPAIR), polarity) for polarity in POLARITIES)
    (nearest, polarity), (next_nearest, _), *_ = distances
    if nearest <= _FARTHEST_REPAIR and nearest < next_nearest:
        return PolarityReading(polarity, "repaired")
    return PolarityReading(None, "invalid")


def read_label(word: str | None) -> SentenceLabel | None:
    """Return the sentence label of a word, a polarity or mixed; None if it cannot be read."""
    if word is None:
        return None
    return "mixed" if word.strip().lower() == "mixed" else read_polarity(word).polarity


def read_action(word: str | None) -> Action | None:
    """Return what a verdict asks for: keep, drop, flip, or wrong if it says no more; None if it cannot be read."""
    return _ACTIONS.get(norm(word).replace(" ", "_"))
