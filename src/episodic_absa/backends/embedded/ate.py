"""ATE: the targets that opinions are said of, with their exact characters."""

from typing import Final

from episodic_absa.backends.embedded.reading import Reading, Target
from episodic_absa.backends.embedded.text_reading import read_text
from episodic_absa.language import norm
from episodic_absa.schemas.answers import AnsweredAspect, AnsweredSpan, AteAnswer
from episodic_absa.schemas.role_inputs import AteInputs

_CONFIDENCE: Final = {"subject": 0.92, "topic": 0.92, "object": 0.88, "bare": 0.82}
_UNSPOKEN: Final = 0.5
_MAX_TARGETS: Final = 190
"""Two judgements each, and those without a target, must fit into one answer."""


def answer_ate(inputs: AteInputs) -> AteAnswer:
    """Name every target once, where it is first judged."""
    reading = read_text(inputs.text, inputs.language)
    return AteAnswer(aspects=tuple(_aspect(reading, target) for target in extracted_targets(reading)))


def extracted_targets(reading: Reading) -> list[Target]:
    """Return targets that an opinion is said of; in a text without opinions, its plain subjects."""
    judged = sorted(reading.opinions_of)
    if not reading.opinions:
        judged = [
            index
            for index, target in enumerate(reading.targets)
            if target.is_nameable and target.case in ("subject", "topic")
        ]
    unique: dict[str, Target] = {}
    for index in judged:
        target = reading.targets[index]
        unique.setdefault(norm(target.term), target)
    return list(unique.values())[:_MAX_TARGETS]


def _aspect(reading: Reading, target: Target) -> AnsweredAspect:
    is_judged = bool(reading.opinions)
    return AnsweredAspect(
        aspect_term=target.term,
        span=AnsweredSpan(start=target.start, end=target.end),
        confidence=_CONFIDENCE.get(target.case, 0.75) if is_judged else _UNSPOKEN,
        rationale=f"{target.case} that an opinion is said of" if is_judged else f"{target.case} of a statement",
    )
