"""Reads the action words of a model's verdicts. A word that no table knows is no verdict."""

from typing import Final, Literal

from episodic_absa.language.normalisation import norm

Action = Literal["keep", "drop", "flip", "wrong"]

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


def read_action(word: str | None) -> Action | None:
    """Return what a verdict asks for: keep, drop, flip, or wrong if it says no more; None if it cannot be read."""
    return _ACTIONS.get(norm(word).replace(" ", "_"))
