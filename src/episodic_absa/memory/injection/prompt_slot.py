"""What a prompt shows of a bundle. Seed prompts show all of it, prompts v3 its sentences.

The embedded engine is given the whole bundle as typed values; nobody parses sentences.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from episodic_absa.memory.advice.advisory_builder import OUTCOME_MARK
from episodic_absa.schemas.memory_v1_2 import AnyAdvisory, AnyBundle
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import Language, Strength

STRENGTH_ORDER: Final[dict[Strength, int]] = {"weak": 0, "moderate": 1, "strong": 2}
SHORTEST_PRINCIPLE: Final = 40
CUT_MARK: Final = "…"
HOW_TO_READ: Final = {
    "en": "Notes from earlier analyses; they do not know this review. Weigh them, then decide by the exact quotation. "
    "Targets are numbered in the order of the first analysis.",
    "ko": "앞선 분석에서 얻은 참고 사항이며 이 리뷰를 두고 한 말이 아니다. 참고하되 정확한 인용으로 판단하라. "
    "대상 번호는 첫 분석의 순서이다.",
}
"""Stands in the slot itself: a prompt without memory does not change."""


def prompt_slot(slot: Mapping[str, Any], language: Language) -> dict[str, Any]:
    """Return what a prompt shows of a dumped bundle: the whole of 1.1, the sentences of 1.2.

    Args:
        slot: the bundle as JSON values.
        language: the language of the sample.
    """
    if slot["schema_version"] == "1.1":
        return dict(slot)
    sentences = {
        "advice": [
            {"message": advisory["message"], "strength": advisory["strength"]} for advisory in slot["retrieved"]
        ],
        "warnings": list(slot["warnings"]),
    }
    shown = {key: value for key, value in sentences.items() if value}
    return {"how_to_read": HOW_TO_READ["ko" if language == "ko" else "en"], **shown}


def shrink_to_cap(bundle: AnyBundle, chars_cap: int, language: Language = "en") -> AnyBundle | None:
    """Return the bundle shrunk until what a prompt shows of it fits the cap, None if nothing fits.

    The order is fixed: fewer advisories down to one, a shorter message, fewer warnings.
    """

    def excess() -> int:
        return len(canonical_json(prompt_slot(bundle.model_dump(mode="json"), language))) - chars_cap

    while excess() > 0 and len(bundle.retrieved) > 1:
        advisories: Sequence[AnyAdvisory] = bundle.retrieved
        weakest = min(
            reversed(advisories), key=lambda advisory: (STRENGTH_ORDER[advisory.strength], advisory.relevance_score)
        )
        kept = tuple(advisory for advisory in advisories if advisory is not weakest)
        bundle = bundle.model_copy(update={"retrieved": kept})
    if (over := excess()) > 0 and bundle.retrieved:
        bundle = bundle.model_copy(update={"retrieved": (_with_shorter_principle(bundle.retrieved[0], by=over),)})
    while excess() > 0 and bundle.warnings:
        bundle = bundle.model_copy(update={"warnings": bundle.warnings[:-1]})
    return bundle if excess() <= 0 and (bundle.retrieved or bundle.warnings) else None


def _with_shorter_principle(advisory: AnyAdvisory, *, by: int) -> AnyAdvisory:
    """Cut the principle. The bracketed outcome stays whole."""
    outcome_mark = OUTCOME_MARK if advisory.schema_version == "1.1" else " ["
    shorter = _shorter_principle(advisory.message, outcome_mark, by=by)
    return advisory if shorter is None else advisory.model_copy(update={"message": shorter})


def _shorter_principle(message: str, mark: str, *, by: int) -> str | None:
    """Return a message whose principle is cut at a word boundary, to 40 characters or more; None if it cannot be.

    What begins with `mark` stays whole.
    """
    principle, begins, outcome = message.partition(mark)
    boundaries = [
        position for position, character in enumerate(principle) if character == " " and position >= SHORTEST_PRINCIPLE
    ]
    if not boundaries:
        return None
    wanted = len(principle) - by - len(CUT_MARK)
    cut = max((boundary for boundary in boundaries if boundary <= wanted), default=boundaries[0])
    shorter = principle[:cut].rstrip() + CUT_MARK + begins + outcome
    return shorter if len(shorter) < len(message) else None
