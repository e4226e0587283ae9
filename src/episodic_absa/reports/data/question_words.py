"""The words of a report about its question: what was asked before the first sample, and what was added later."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.runs.question import ExploratoryPart, PartKind, added_parts, parts_text
from episodic_absa.schemas.run_files.question import Question

_KOREAN: Final[dict[PartKind, str]] = {
    "no_question": "사전에 확정한 질문이 없습니다",
    "changed": "첫 샘플 뒤에 question.json이 바뀌었습니다",
    "pair": "추가한 비교 쌍 {}",
    "primary_metric": "추가한 주 지표 {}",
    "smallest_effect": "추가한 최소 효과 {}",
    "condition": "추가한 조건 {}",
    "order": "추가한 순서 {}",
    "seed": "추가한 시드 {}",
    "stratum": "추가한 층 구분 {}",
    "left_out": "제외한 {}",
    "unfinished": "끝나지 않은 조건 {}",
}


def question_notes(question: Question | None) -> tuple[Bilingual, ...]:
    """Return what a reader must know about the question of a grid before the figures."""
    parts = added_parts(question)
    if not parts:
        return ()
    if question is None:
        return (
            Bilingual(
                en="No question was fixed before the first sample (no question.json): every comparison is exploratory.",
                ko="첫 샘플 전에 확정한 질문(question.json)이 없습니다. 모든 비교는 탐색적입니다.",
            ),
        )
    added = _words(parts)
    return (
        Bilingual(
            en=f"Exploratory, because it was added after the question was fixed: {added.en}. "
            "The headline and the figures cover the orders and seeds that were asked for beforehand.",
            ko=f"질문을 확정한 뒤 추가하여 탐색적입니다: {added.ko}. "
            "첫 문장과 수치는 사전에 정한 순서와 시드만 다룹니다.",
        ),
    )


def exploratory_mark(parts: Sequence[ExploratoryPart]) -> Bilingual | None:
    """Return the mark of an exploratory comparison with its reasons; None for one that was asked beforehand."""
    if not parts:
        return None
    words = _words(parts)
    return Bilingual(en=f"Exploratory: {words.en}.", ko=f"탐색적 비교: {words.ko}.")


def _words(parts: Sequence[ExploratoryPart]) -> Bilingual:
    korean = [_KOREAN[part.kind].format(", ".join(part.values)) for part in parts]
    return Bilingual(en=parts_text(parts), ko="; ".join(korean))
